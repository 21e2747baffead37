//! The settings of hash indexes.
//!
//! They come from the command line and the environment only. A repository must not be able to choose which index or which key is
//! trusted, so config files cannot set them, and key files inside the repository are refused.

use std::fmt;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::access::{find_repository, open_regular, repository_root};
use crate::buckets::CloudEnvironment;
use crate::cli::{IndexAccessArgs, IndexArgs};
use crate::index::{AddressFault, IndexAddress, KeyError, SignerKey, VerifierKey};
use crate::redacted_url::RedactedUrl;
use crate::span::Explain;

use super::{Environment, SettingsError, TreeSettings};

const INDEX_VARIABLE: &str = "TFLOCK_INDEX";
const KEYS_VARIABLE: &str = "TFLOCK_INDEX_KEYS";
const SIGNING_KEY_VARIABLE: &str = "TFLOCK_INDEX_SIGNING_KEY";

/// The prefixes of the environment variables that configure object store clients.
const CLOUD_VARIABLES: [&str; 4] = ["AWS_", "AZURE_", "GOOGLE_", "STORAGE_EMULATOR_HOST"];

/// The maximum size of a key file, in bytes.
const MAX_KEY_FILE_BYTES: u64 = 4096;

/// The indexes of a run, and the keys that it trusts.
#[derive(Clone, Default)]
pub struct IndexSettings {
    /// The indexes, in the order in which they are searched.
    pub addresses: Vec<IndexAddress>,
    /// Whether hashes are read from the indexes. False for `verify --no-cache`, which uses only hashes that it computes itself.
    pub is_read: bool,
    pub keys: Vec<VerifierKey>,
    /// The key that signs new records in the first index. `None` if the run adds no records.
    pub signer: Option<Arc<SignerKey>>,
    /// The percentage of packages that are downloaded although an index has them.
    pub audit: Option<u8>,
    pub no_download: bool,
    pub clouds: CloudEnvironment,
}

impl fmt::Debug for IndexSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexSettings")
            .field("addresses", &self.addresses)
            .field("keys", &self.keys)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, thiserror::Error)]
pub enum IndexSettingsError {
    #[error("cannot use the hash index `{address}`")]
    Address {
        address: RedactedUrl,
        source: AddressFault,
    },
    #[error("cannot use the key in `{option}`")]
    Key {
        option: &'static str,
        source: KeyError,
    },
    #[error("cannot read the key file `{}` of `{option}`", path.display())]
    KeyFile {
        option: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error(
        "cannot use the key file `{}` of `{option}`: it is inside the repository `{}`, whose authors could replace it",
        path.display(), repository.display()
    )]
    KeyInRepository {
        option: &'static str,
        path: PathBuf,
        repository: PathBuf,
    },
    #[error("cannot use `{user}`: {fault}")]
    Use {
        /// The option or command that requires an index.
        user: &'static str,
        fault: IndexUseFault,
    },
}

/// The reason why an option or a command cannot use an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexUseFault {
    NoIndex,
    NoTrustedKey,
    NoSigningKey,
    WebServer,
}

impl fmt::Display for IndexUseFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoIndex => "no index is set",
            Self::NoTrustedKey => "no key is trusted",
            Self::NoSigningKey => "`TFLOCK_INDEX_SIGNING_KEY` is not set",
            Self::WebServer => "tflock cannot write to a web server",
        })
    }
}

impl Explain for IndexSettingsError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Address { .. } => {
                "use an address such as `s3://BUCKET/PREFIX`, `gs://BUCKET`, `az://CONTAINER`, `https://HOST/PATH` or `file:///DIRECTORY`"
            }
            Self::KeyInRepository { .. } => {
                "move the file out of the repository, or pass the key itself"
            }
            Self::Use { fault, .. } => fault.hint(),
            Self::Key { .. } | Self::KeyFile { .. } => return None,
        };
        Some(hint.to_owned())
    }
}

impl IndexUseFault {
    pub(super) const fn of(self, user: &'static str) -> IndexSettingsError {
        IndexSettingsError::Use { user, fault: self }
    }

    const fn hint(self) -> &'static str {
        match self {
            Self::NoIndex => "name the index with `--index` or `TFLOCK_INDEX`",
            Self::NoTrustedKey => {
                "use `--index-key` or `TFLOCK_INDEX_KEYS` to name the key that signs the records of the index"
            }
            Self::NoSigningKey => {
                "create a key with `tflock index keygen NAME`, and set the variable to the key or to the path of its file"
            }
            Self::WebServer => {
                "name the bucket or the directory that the web server serves, as the first `--index`"
            }
        }
    }
}

impl IndexSettings {
    /// Merges the command line and the environment. `tree` determines the repositories in which key files are refused.
    pub(super) fn resolve(
        args: &IndexArgs,
        environment: &Environment,
        tree: &TreeSettings,
    ) -> Result<Self, SettingsError> {
        let writer = args.push.then_some("--index-push");
        let access = Self::resolve_access(&args.access, writer, environment, tree)?;
        Ok(Self {
            audit: args.audit,
            no_download: args.no_download,
            ..access
        })
    }

    /// Like [`IndexSettings::resolve`], but only for the options that all commands with hash indexes share. `writer` is the option
    /// or command that adds records or signatures, and therefore requires a signing key and an index to which tflock can write.
    pub(super) fn resolve_access(
        args: &IndexAccessArgs,
        writer: Option<&'static str>,
        environment: &Environment,
        tree: &TreeSettings,
    ) -> Result<Self, SettingsError> {
        let keys = KeySource { environment, tree };
        let settings = Self {
            addresses: addresses(args, environment)?,
            is_read: true,
            keys: keys.verifiers(&args.keys)?,
            signer: None,
            audit: None,
            no_download: false,
            clouds: cloud_environment(environment),
        };
        let Some(user) = writer else {
            return Ok(settings);
        };
        let signer = Some(Arc::new(keys.signer(user)?));
        match settings.first_address(user)? {
            IndexAddress::Web(_) => Err(IndexUseFault::WebServer.of(user).into()),
            _ => Ok(Self { signer, ..settings }),
        }
    }

    /// Returns the first index. Without an index, the error says that `user` requires one.
    pub(super) fn first_address(
        &self,
        user: &'static str,
    ) -> Result<&IndexAddress, IndexSettingsError> {
        let first = self.addresses.first();
        first.ok_or_else(|| IndexUseFault::NoIndex.of(user))
    }
}

impl From<IndexSettingsError> for SettingsError {
    fn from(error: IndexSettingsError) -> Self {
        Self::Index(Box::new(error))
    }
}

fn addresses(
    args: &IndexAccessArgs,
    environment: &Environment,
) -> Result<Vec<IndexAddress>, IndexSettingsError> {
    let variable = environment.non_empty(INDEX_VARIABLE);
    let texts = either(&args.indexes, variable);
    let parse = |text: &str| {
        IndexAddress::parse(text).map_err(|source| IndexSettingsError::Address {
            address: RedactedUrl::parse(text),
            source,
        })
    };
    texts.into_iter().map(parse).collect()
}

/// Returns the values from the command line or, if it has none, those in the environment variable, separated by commas.
fn either<'a>(arguments: &'a [String], variable: Option<&'a str>) -> Vec<&'a str> {
    if arguments.is_empty() {
        let parts = variable.into_iter().flat_map(|list| list.split(','));
        return parts
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .collect();
    }
    arguments.iter().map(String::as_str).collect()
}

/// Returns the part of the environment that object store clients may read.
pub(super) fn cloud_environment(environment: &Environment) -> CloudEnvironment {
    let is_cloud = |name: &str| CLOUD_VARIABLES.iter().any(|start| name.starts_with(start));
    let variables = environment.iter().filter(|(name, _)| is_cloud(name));
    let owned = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    CloudEnvironment {
        variables: owned.collect(),
        home: environment.home(),
    }
}

/// Reads keys from options, environment variables and key files.
struct KeySource<'a> {
    environment: &'a Environment,
    tree: &'a TreeSettings,
}

impl KeySource<'_> {
    fn verifiers(&self, arguments: &[String]) -> Result<Vec<VerifierKey>, IndexSettingsError> {
        let option = if arguments.is_empty() {
            KEYS_VARIABLE
        } else {
            "--index-key"
        };
        let texts = either(arguments, self.environment.non_empty(KEYS_VARIABLE));
        let key = |text: &str| {
            match VerifierKey::parse(text) {
                Err(KeyError::VerifierForm) => VerifierKey::parse(&self.read(option, text)?),
                parsed => parsed,
            }
            .map_err(|source| IndexSettingsError::Key { option, source })
        };
        texts.into_iter().map(key).collect()
    }

    fn signer(&self, user: &'static str) -> Result<SignerKey, IndexSettingsError> {
        let option = SIGNING_KEY_VARIABLE;
        let text = self.environment.non_empty(option);
        let text = text.ok_or_else(|| IndexUseFault::NoSigningKey.of(user))?;
        match SignerKey::parse(text) {
            Err(KeyError::SignerForm) if !text.contains('+') => {
                SignerKey::parse(&self.read(option, text)?)
            }
            parsed => parsed,
        }
        .map_err(|source| IndexSettingsError::Key { option, source })
    }

    /// Reads a key file that is outside of all repositories that the run processes.
    fn read(&self, option: &'static str, path: &str) -> Result<String, IndexSettingsError> {
        let path = PathBuf::from(path);
        let error = |source| IndexSettingsError::KeyFile {
            option,
            path: path.clone(),
            source,
        };
        let file = self.environment.working_directory.join(&path);
        let file = file.canonicalize().map_err(error)?;
        if let Some(repository) = self.repositories().find(|tree| file.starts_with(tree)) {
            return Err(IndexSettingsError::KeyInRepository {
                option,
                path,
                repository,
            });
        }
        let mut text = String::new();
        let read = open_regular(&file)
            .and_then(|opened| opened.take(MAX_KEY_FILE_BYTES).read_to_string(&mut text));
        read.map_err(error)?;
        Ok(text)
    }

    /// Returns the roots of the repositories that the run processes. A path outside any repository counts as a repository of its own.
    fn repositories(&self) -> impl Iterator<Item = PathBuf> {
        let paths = self.tree.areas.iter().flat_map(|area| &area.real_paths);
        let here = self.environment.working_directory.canonicalize().ok();
        let here = here.and_then(|here| find_repository(&here).map(Path::to_path_buf));
        paths.map(|path| repository_root(path)).chain(here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let variables = variables.iter();
        let variables = variables.map(|(name, value)| (name.into(), value.into()));
        Environment::new(variables, "/here".into())
    }

    #[test]
    fn the_command_line_takes_precedence_over_the_environment() {
        let variable = Some("a, b,,c ");
        assert_eq!(either(&[], variable), ["a", "b", "c"]);
        assert_eq!(either(&["x,y".to_owned()], variable), ["x,y"]);
        assert!(either(&[], None).is_empty());
    }

    #[test]
    fn an_invalid_address_is_shown_without_secrets() {
        let args = IndexAccessArgs {
            indexes: vec!["https://user:secret@host.test/?sig=secret".to_owned()],
            ..IndexAccessArgs::default()
        };
        let error = addresses(&args, &environment(&[])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot use the hash index `https://host.test/`"
        );
    }

    #[test]
    fn only_variables_of_clouds_are_passed_on() {
        let variables = [("AWS_REGION", "r"), ("HOME", "/h"), ("GOOGLE_BUCKET", "b")];
        let names: Vec<_> = cloud_environment(&environment(&variables))
            .variables
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["AWS_REGION", "GOOGLE_BUCKET"]);
    }
}
