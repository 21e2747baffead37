//! What is wrong with a config file.

use std::path::PathBuf;

use crate::access::LinkError;
use crate::git::GitError;
use crate::locking::SignersError;
use crate::provider::PlatformError;
use crate::span::{Explain, Place};

use super::{KEYS, MAX_BYTES, NAME};
use crate::settings::error::platform_hint;
use crate::settings::suggest::nearest;

/// Options that only the command line has, for those who look for them in the file.
const ONLY_TYPED: [&str; 25] = [
    "allow-env",
    "allow-host",
    "allow-read",
    "changed",
    "check",
    "config",
    "diff",
    "failed",
    "format",
    "fs-mirror",
    "min-age",
    "net-mirror",
    "no-cache",
    "no-tests",
    "offline",
    "provider",
    "recursive",
    "refresh",
    "source",
    "test-directory",
    "trust-registry-hashes",
    "untrusted",
    "upgrade",
    "var",
    "var-file",
];

/// Why a config file cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum ConfigFileError {
    /// The file cannot be read.
    #[error("cannot read the config file `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Where its link leads, or what the system says.
        source: LinkError,
    },
    /// The file is too large to be one.
    #[error("cannot read the config file `{}`: it has more than {MAX_BYTES} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The files of the revision that `--changed` compares with cannot be read.
    #[error("cannot read the config files of the revision that `--changed` compares with")]
    Revision(#[source] Box<GitError>),
    /// The text is no TOML.
    #[error("cannot read the config file as TOML: {problem}")]
    Syntax {
        /// What the parser says.
        problem: String,
        /// Where.
        place: Box<Place>,
    },
    /// There is no such key.
    #[error("`{key}` is no key of `{NAME}`")]
    UnknownKey {
        /// As written.
        key: String,
        /// Where.
        place: Box<Place>,
    },
    /// The value has another type than the key.
    #[error("cannot use `{key}`: expected {expected}, found {found}")]
    Type {
        /// The key.
        key: String,
        /// What it holds.
        expected: &'static str,
        /// What is there.
        found: &'static str,
        /// Where.
        place: Box<Place>,
    },
    /// The value is none of those that the key has.
    #[error("cannot use `{key} = {text}`")]
    Value {
        /// The key.
        key: &'static str,
        /// As written.
        text: String,
        /// What is wrong with it.
        source: ValueError,
        /// Where.
        place: Box<Place>,
    },
    /// The value would accept what nothing vouches for.
    #[error(
        "cannot use `mismatch = \"{text}\"` in a config file, which may tighten trust and never loosen it"
    )]
    LoosensTrust {
        /// As written.
        text: String,
        /// Where.
        place: Box<Place>,
    },
    /// An entry of `[signers]` cannot be used.
    #[error("cannot use this entry of `[signers]`")]
    Signers {
        /// What is wrong with it.
        source: SignersError,
        /// Where.
        place: Box<Place>,
    },
}

/// What is wrong with a value of the right type.
#[derive(Debug, thiserror::Error)]
pub enum ValueError {
    /// It is none of the words.
    #[error("the values are {}", words(.0))]
    Word(Vec<&'static str>),
    /// It is no platform.
    #[error(transparent)]
    Platform(#[from] PlatformError),
    /// It is no regular expression.
    #[error(transparent)]
    Pattern(Box<regex::Error>),
    /// It is too small or too large.
    #[error("it is not from 1 to {0}")]
    Range(u16),
    /// There is nothing in the list.
    #[error("it names no platform")]
    Empty,
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
            Self::Value { text, source, .. } => {
                let text = text.trim_matches('"');
                match source {
                    ValueError::Word(words) => {
                        let known = words.iter().copied();
                        nearest(text, known).map(|word| format!("did you mean `{word}`?"))
                    }
                    ValueError::Platform(_) => platform_hint(text),
                    ValueError::Empty => {
                        Some("leave the key out to lock for this machine's platform".to_owned())
                    }
                    ValueError::Pattern(_) | ValueError::Range(_) => None,
                }
            }
            Self::LoosensTrust { text, .. } => Some(format!(
                "whoever finds a package changed decides for that run: `--mismatch {text}` on the command line"
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
    if ONLY_TYPED.contains(&option.as_str()) {
        return format!("`--{option}` is an option of the command line only");
    }
    match nearest(key, KEYS) {
        Some(word) => format!("did you mean `{word}`?"),
        None => format!("the keys are {}", words(&KEYS)),
    }
}

/// `a`, `b` and `c`, each in backticks.
fn words(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}
