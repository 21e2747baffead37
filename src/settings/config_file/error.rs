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
    /// The file cannot be read.
    #[error("cannot read the config file `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system, or a link that leads too far.
        source: LinkError,
    },
    /// The file is too large.
    #[error("cannot read the config file `{}`: it has more than {MAX_BYTES} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The files of the revision that `--changed` compares with cannot be read.
    #[error("cannot read the config files of the revision that `--changed` compares with")]
    Revision(#[source] Box<GitError>),
    /// The text is not TOML.
    #[error("cannot read the config file as TOML: {problem}")]
    Syntax {
        /// The error of the parser.
        problem: String,
        /// Where.
        place: Box<Place>,
    },
    #[error("`{key}` is not a key of `{NAME}`")]
    UnknownKey {
        /// As written.
        key: String,
        /// Where.
        place: Box<Place>,
    },
    /// The value has another type than the key.
    #[error("cannot use `{key}`: expected {expected}, found {found}")]
    Type {
        key: String,
        /// The type of the key.
        expected: &'static str,
        /// The type of the value.
        found: &'static str,
        /// Where.
        place: Box<Place>,
    },
    /// The value has the right type, but is invalid.
    #[error("cannot use `{key} = {text}`")]
    Value {
        key: String,
        /// As written.
        text: String,
        /// The reason.
        source: ValueError,
        /// Where.
        place: Box<Place>,
    },
    /// The value would accept unverified packages.
    #[error(
        "cannot use `{key} = {text}` in a config file, which may tighten trust and never loosen it"
    )]
    LoosensTrust {
        key: String,
        /// As written.
        text: String,
        /// Where.
        place: Box<Place>,
    },
    /// An invalid entry of `[signers]`.
    #[error("cannot use this entry of `[signers]`")]
    Signers {
        /// The reason.
        source: SignersError,
        /// Where.
        place: Box<Place>,
    },
}

impl Explain for ConfigFileError {
    fn place(&self) -> Option<&Place> {
        match self {
            Self::Read { .. } | Self::TooLarge { .. } | Self::Revision(_) => None,
            Self::Syntax { place, .. }
            | Self::UnknownKey { place, .. }
            | Self::Type { place, .. }
            | Self::Value { place, .. }
            | Self::LoosensTrust { place, .. }
            | Self::Signers { place, .. } => Some(place),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownKey { key, .. } => Some(unknown_key_hint(key)),
            Self::Value { text, source, .. } => source.hint(text.trim_matches('"')),
            Self::LoosensTrust { key, text, .. } => Some(format!(
                "to accept a changed package in one run, use `--{key} {}` on the command line",
                text.trim_matches(['"', '\''])
            )),
            Self::Signers { source, .. } => source.hint(),
            Self::Revision(source) => source.hint(),
            Self::Read { .. } | Self::TooLarge { .. } | Self::Syntax { .. } | Self::Type { .. } => {
                None
            }
        }
    }
}

fn unknown_key_hint(key: &str) -> String {
    let option = key.to_lowercase().replace('_', "-");
    if has_option(&option) && !is_layered_option(&option) {
        return format!("`--{option}` is an option of the command line only");
    }
    let keys = keys();
    match nearest(key, keys.iter().copied()) {
        Some(word) => format!("did you mean `{word}`?"),
        None => format!("the keys are {}", quoted_list(&keys)),
    }
}
