//! `.tflock.toml`: the settings of a repository or a part of it (docs/reference/config-file.md).
//!
//! All files from a directory up to the root of its repository apply. Outside of a repository, only a file in PATH itself
//! applies, so a file in a shared parent directory has no effect.
//!
//! | key | which file counts |
//! | --- | --- |
//! | `signers` | each on its own: a package must satisfy all of them; with `-r` also files between PATH and the directory |
//! | `missing-platform`, `missing-module` | the file with the strictest value |
//! | `jobs` | the file with the smallest value |
//! | all others | the nearest file that sets it |
//!
//! So a file in a subdirectory never permits what a file above it forbids.
//!
//! Files that an untrusted tree cannot change take precedence: the file of `--config`, and with `--untrusted` and `--changed` the
//! files of the revision. With `--untrusted`, the files of the tree can only tighten trust ([`OptionLayer::without_loosening`]).
//!
//! ```toml
//! platforms = ["linux_amd64", "darwin_arm64"]
//! ignore-paths = ["^examples/"]      # regular expressions, on paths relative to this file
//! create = "auto"                    # auto, always, never
//! engine = "auto"                    # auto, terraform, tofu
//! missing-platform = "error"         # error, warn
//! missing-module = "error"           # error, warn
//! mismatch = "error"                 # no other value: a file may tighten trust and never loosen it
//! prune = false
//! jobs = 8
//!
//! [signers]                          # whose keys may sign; the narrowest pattern counts
//! "hashicorp/*" = ["C874 011F 0AB4 0511 0D02  1055 3436 5D94 72D7 468F"]
//! ```
//!
//! `mismatch = "replace"` is refused like `"add"`: it would silently record a package that was uploaded again instead of the
//! reviewed one.

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
    /// The file as messages name it.
    pub shown: PathBuf,
    /// The directory that `ignore-paths` are relative to, without links.
    pub directory: PathBuf,
    pub options: OptionLayer,
    pub signers: Option<Sourced<Signers>>,
}

/// The rules of all `[signers]`. `files` begins with the nearest file; the rules of the farthest file are applied first.
pub(super) fn signer_rules(files: &[Arc<ConfigFile>]) -> SignerRules {
    let signers = files.iter().rev().filter_map(|file| file.signers.as_ref());
    signers.map(|signers| signers.value.clone()).collect()
}

/// All keys, in alphabetical order.
fn keys() -> Vec<&'static str> {
    let mut keys = option_keys();
    keys.push("signers");
    keys.sort_unstable();
    keys
}

/// Reads an opened file. Messages name it `shown`.
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
