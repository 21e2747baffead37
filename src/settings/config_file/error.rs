//! Errors in a config file.

use std::path::PathBuf;

use crate::access::LinkError;
use crate::cli::has_option;
use crate::git::GitError;
use crate::locking::SignersError;
use crate::options::{ValueError, is_layered_option, nearest, quoted_list};
use crate::span::{Explain, Place};

use super::{MAX_BYTES, NAME, keys};

#[derive(Debug, thiserror::Error)]
pub enum ConfigFileError {
    #[error("cannot read the config file `{}`", path.display())]
    Read { path: PathBuf, source: LinkError },
    #[error("cannot read the config file `{}`: it is larger than {MAX_BYTES} bytes", path.display())]
    TooLarge { path: PathBuf },
    #[error("cannot read `.tflock.toml` files at the revision that `--changed` compares with")]
    Revision(#[source] Box<GitError>),
    #[error("the config file is not valid TOML: {problem}")]
    Syntax { problem: String, place: Box<Place> },
    #[error("`{key}` is not a valid key in `{NAME}`")]
    UnknownKey { key: String, place: Box<Place> },
    #[error(
        "cannot use `{key}`: config files cannot choose a hash index or the keys that it trusts"
    )]
    Index { key: String, place: Box<Place> },
    /// The type of the value is not the one that the key requires.
    #[error("cannot use `{key}`: expected {expected}, found {found}")]
    Type {
        key: String,
        expected: &'static str,
        found: &'static str,
        place: Box<Place>,
    },
    /// The value has the correct type but is invalid.
    #[error("cannot use `{key} = {text}`")]
    Value {
        key: String,
        text: String,
        source: ValueError,
        place: Box<Place>,
    },
    /// With this value, unverified packages would be accepted.
    #[error(
        "cannot use `{key} = {text}`: config files can make trust settings stricter, but not looser"
    )]
    LoosensTrust {
        key: String,
        text: String,
        place: Box<Place>,
    },
    #[error("invalid entry in `[signers]`")]
    Signers {
        source: SignersError,
        place: Box<Place>,
    },
}

impl Explain for ConfigFileError {
    fn place(&self) -> Option<&Place> {
        match self {
            Self::Read { .. } | Self::TooLarge { .. } | Self::Revision(_) => None,
            Self::Syntax { place, .. }
            | Self::UnknownKey { place, .. }
            | Self::Index { place, .. }
            | Self::Type { place, .. }
            | Self::Value { place, .. }
            | Self::LoosensTrust { place, .. }
            | Self::Signers { place, .. } => Some(place),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownKey { key, .. } => Some(unknown_key_hint(key)),
            Self::Index { .. } => Some(
                "use the command line or the environment: otherwise, anyone who can change the repository could choose the key"
                    .to_owned(),
            ),
            Self::Value { text, source, .. } => source.hint(text.trim_matches('"')),
            Self::LoosensTrust { key, text, .. } => Some(format!(
                "to accept a changed package in one run, use `--{key} {}` on the command line",
                text.trim_matches(['"', '\''])
            )),
            Self::Signers { source, .. } => source.hint(),
            Self::Revision(source) => source.hint(),
            _ => None,
        }
    }
}

fn unknown_key_hint(key: &str) -> String {
    let option = key.to_lowercase().replace('_', "-");
    if has_option(&option) && !is_layered_option(&option) {
        return format!("set `--{option}` on the command line: config files cannot set it");
    }
    let keys = keys();
    match nearest(key, keys.iter().copied()) {
        Some(word) => format!("did you mean `{word}`?"),
        None => format!("the valid keys are {}", quoted_list(&keys)),
    }
}
