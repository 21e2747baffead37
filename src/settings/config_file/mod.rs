//! Config files (`.tflock.toml`): the settings of a repository or of one of its subdirectories (see docs/reference/config-file.md).
//!
//! All files from a directory up to the repository root apply. Outside a repository, only a file in PATH itself applies, so a file in
//! a shared parent directory has no effect.
//!
//! | key | which file takes effect |
//! | --- | --- |
//! | `signers` | every file: a package must satisfy all of them; with `-r`, including files between PATH and the directory |
//! | `missing-platform`, `missing-module`, `unknown-unit` | the file with the strictest value |
//! | `jobs` | the file with the smallest value |
//! | all others | the nearest file that sets the key |
//!
//! As a result, a file in a subdirectory never permits what a file above it forbids.
//!
//! Files that an untrusted tree cannot change take precedence: the `--config` file and, with `--untrusted` and `--changed`, the files of
//! the revision. With `--untrusted`, the files of the tree can only make settings stricter ([`OptionLayer::without_loosening`]).
//!
//! ```toml
//! platforms = ["linux_amd64", "darwin_arm64"]
//! ignore-paths = ["^examples/"]      # regular expressions for paths relative to this file
//! create = "auto"                    # auto, always, never
//! engine = "auto"                    # auto, terraform, tofu
//! missing-platform = "error"         # error, warn
//! missing-module = "error"           # error, warn
//! unknown-unit = "warn"              # error, warn
//! mismatch = "error"                 # the only value: a file can make trust settings stricter, but not looser
//! prune = false
//! jobs = 8
//!
//! [signers]                          # the keys that may sign; the most specific pattern applies
//! "hashicorp/*" = ["C874 011F 0AB4 0511 0D02  1055 3436 5D94 72D7 468F"]
//! ```
//!
//! Both `mismatch = "replace"` and `mismatch = "add"` are refused: they would silently record a package that was uploaded again,
//! although only the original one was reviewed.

mod error;
mod levels;
mod read;
#[cfg(test)]
mod tests;
mod trusted;

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::access::LinkError;
use crate::locking::{SignerRules, Signers};
use crate::options::{OptionLayer, Sourced, option_keys};

pub use error::ConfigFileError;
pub use levels::{ConfigFiles, ConfigTexts};
pub(super) use trusted::{RevisionTexts, read_named};

/// The name of a config file.
pub const NAME: &str = crate::walk::CONFIG_FILE_NAME;

/// The maximum size of a config file, in bytes: enough for thousands of signers.
const MAX_BYTES: u64 = 1024 * 1024;

/// The values that one file sets.
#[derive(Clone, Debug, Default)]
pub struct ConfigFile {
    /// The path of the file as shown in messages.
    pub shown: PathBuf,
    /// The directory to which `ignore-paths` are relative, without symlinks.
    pub directory: PathBuf,
    pub options: OptionLayer,
    pub signers: Option<Sourced<Signers>>,
}

/// Collects the rules of all `[signers]` tables. `files` starts with the nearest file; the rules of the farthest file are applied first.
pub(super) fn signer_rules(files: &[Arc<ConfigFile>]) -> SignerRules {
    let signers = files.iter().rev().filter_map(|file| file.signers.as_ref());
    signers.map(|signers| signers.value.clone()).collect()
}

/// Returns all keys in alphabetical order.
fn keys() -> Vec<&'static str> {
    let mut keys = option_keys();
    keys.push("signers");
    keys.sort_unstable();
    keys
}

/// Reads an open file, up to the size limit. Error messages refer to the file as `shown`.
fn read_bounded(opened: Result<File, LinkError>, shown: &Path) -> Result<Vec<u8>, ConfigFileError> {
    let path = shown.to_path_buf();
    let mut bytes = Vec::new();
    let read = opened.and_then(|file| Ok(file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?));
    match read {
        Err(source) => Err(ConfigFileError::Read { path, source }),
        Ok(_) if bytes.len() as u64 > MAX_BYTES => Err(ConfigFileError::TooLarge { path }),
        Ok(_) => Ok(bytes),
    }
}
