//! The `tflock index keygen` command: creates a key in two files in the working directory.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::display::visible_name;
use crate::index::{KeyError, SignerKey};
use crate::span::Explain;

use super::super::{CommandError, DONE, Invocation};

#[derive(Debug, thiserror::Error)]
enum KeygenError {
    #[error("cannot create the key `{name}`")]
    Key { name: String, source: KeyError },
    #[error("cannot write the key file `{}`", path.display())]
    Write { path: PathBuf, source: io::Error },
}

impl Explain for KeygenError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Key { .. } => Some("use a name such as `example.com/index`".to_owned()),
            Self::Write { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => {
                Some("choose a different name: tflock never replaces a key".to_owned())
            }
            Self::Write { .. } => None,
        }
    }
}

pub(super) fn command(name: &str, invocation: Invocation<'_>) -> Result<u8, CommandError> {
    let key = SignerKey::generate(name).map_err(|source| KeygenError::Key {
        name: visible_name(name).into_owned(),
        source,
    })?;
    let stem = name.replace(['/', '\\'], "-");
    let [public, secret] = ["pub", "key"].map(|ending| PathBuf::from(format!("{stem}.{ending}")));
    let directory = &invocation.environment.working_directory;
    write(directory, &secret, &key.secret_text(), 0o600)?;
    write(directory, &public, &key.verifier().to_string(), 0o666)?;
    invocation.printer.report(&format!(
        "{verifier}\n\
         created {public}, for `--index-key` and `TFLOCK_INDEX_KEYS`\n\
         created {secret}, for `TFLOCK_INDEX_SIGNING_KEY`; keep it secret, and out of the repository\n",
        verifier = key.verifier(),
        public = public.display(),
        secret = secret.display(),
    ));
    Ok(DONE)
}

/// Creates a file with the permissions `mode`, minus the umask. Fails if the file exists.
fn write(directory: &Path, path: &Path, text: &str, mode: u32) -> Result<(), KeygenError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    let file = options.open(directory.join(path));
    let written = file.and_then(|mut file| writeln!(file, "{text}"));
    written.map_err(|source| KeygenError::Write {
        path: path.to_path_buf(),
        source,
    })
}
