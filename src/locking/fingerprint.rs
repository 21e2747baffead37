//! OpenPGP key fingerprints, and errors in `[signers]`.

use std::fmt;
use std::str::FromStr;

use crate::cli_config::{Pattern, PatternProblem};
use crate::span::Explain;

/// The possible numbers of hex digits in a fingerprint: 40 (OpenPGP version 4) or 64 (version 6).
const FINGERPRINT_DIGITS: [usize; 2] = [40, 64];

/// The fingerprint of a primary key, in upper-case hex digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fingerprint(pub(super) String);

impl FromStr for Fingerprint {
    type Err = SignersError;

    /// Parses hex digits in either case, with or without the spaces that `gpg` prints.
    fn from_str(text: &str) -> Result<Self, SignersError> {
        let digits: String = text.chars().filter(|digit| *digit != ' ').collect();
        let wrong = |problem| SignersError::Fingerprint {
            text: text.to_owned(),
            problem,
        };
        if !digits.chars().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(wrong("it does not consist of hexadecimal digits"));
        }
        if digits.len() == 8 || digits.len() == 16 {
            return Err(wrong(
                "it is a key ID, and a key with the same ID can be forged",
            ));
        }
        if !FINGERPRINT_DIGITS.contains(&digits.len()) {
            return Err(wrong("it has neither 40 nor 64 digits"));
        }
        Ok(Self(digits.to_ascii_uppercase()))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The reason why an entry in `[signers]` is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignersError {
    /// The key of a `[signers]` entry is not a valid provider pattern.
    #[error("invalid provider pattern `{text}`")]
    Pattern {
        text: String,
        #[source]
        problem: PatternProblem,
    },
    /// A different entry has the same pattern, possibly in a different case.
    #[error("the signers of `{pattern}` are listed twice")]
    Twice { pattern: Pattern },
    /// A value is not a fingerprint.
    #[error("invalid key fingerprint `{text}`: {problem}")]
    Fingerprint { text: String, problem: &'static str },
}

impl Explain for SignersError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Pattern { .. } => Some("write a pattern such as `NAMESPACE/TYPE` or `HOST/NAMESPACE/*`".to_owned()),
            Self::Fingerprint { .. } => Some(
                "run `gpg --show-keys --fingerprint KEY.asc`, or `tflock lock -v` for the signer of each package"
                    .to_owned(),
            ),
            Self::Twice { .. } => None,
        }
    }
}
