//! Why a word of the vocabulary could not be read.
//!
//! None of these errors knows a file: the strings come from configurations, lock files and command lines, and whoever read
//! them adds the place. Errors about version constraints say which bytes of the string are at fault.

use super::Hostname;
use crate::span::{Explain, Span};

/// Why a hostname was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostnameError {
    /// Nothing stands before, between or after dots.
    #[error("a hostname has no empty parts")]
    EmptyLabel,
    /// A label is written in Punycode.
    #[error("`{0}` must be written in Unicode, not in Punycode")]
    Punycode(String),
    /// What follows the colon is no port.
    #[error("`{0}` is not a port between 0 and 65535")]
    BadPort(String),
    /// The name breaks the rules for internationalized domain names.
    #[error("a hostname has letters, digits and inner hyphens only")]
    NotAHostname,
}

impl Explain for HostnameError {}

/// A provider's source address could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read provider source address `{source_text}`")]
pub struct AddressError {
    /// What was written.
    pub source_text: String,
    /// What is wrong with it.
    #[source]
    pub problem: AddressProblem,
}

/// What is wrong with a provider's source address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressProblem {
    /// Nothing stands before, between or after the slashes.
    #[error("a source address has no empty parts")]
    EmptyPart,
    /// More than host, namespace and type.
    #[error("a source address has one to three parts, not {0}")]
    TooManyParts(usize),
    /// The host is not a hostname.
    #[error(transparent)]
    Hostname(#[from] HostnameError),
    /// The namespace or the type breaks the rules for labels.
    #[error("`{0}` must consist of letters, digits and single inner hyphens")]
    BadPart(String),
    /// The type repeats the prefix of repository names.
    #[error("the type must not start with `{prefix}`")]
    RedundantPrefix {
        /// The prefix in question.
        prefix: &'static str,
        /// The source as it was probably meant.
        suggestion: Option<String>,
    },
    /// The namespace `-` exists on the engine's default host only.
    #[error("the namespace `-` exists on `{default}` only, not on `{host}`")]
    LegacyHost {
        /// The host as given.
        host: Hostname,
        /// The engine's default host.
        default: &'static str,
    },
}

impl Explain for AddressError {
    fn hint(&self) -> Option<String> {
        if self.source_text.contains("://") {
            return Some("a source is `HOST/NAMESPACE/TYPE`, without `https://`".into());
        }
        match &self.problem {
            AddressProblem::RedundantPrefix { suggestion, .. } => suggestion
                .as_ref()
                .map(|source| format!("write `{source}`")),
            AddressProblem::BadPart(part)
                if self.source_text.split('/').count() == 2 && part.contains('.') =>
            {
                Some("a source with a host has three parts: `HOST/NAMESPACE/TYPE`".into())
            }
            _ => None,
        }
    }
}

/// A version could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read version `{text}`")]
pub struct VersionError {
    /// What was written.
    pub text: String,
    /// What is wrong with it.
    #[source]
    pub problem: VersionProblem,
}

impl Explain for VersionError {
    fn hint(&self) -> Option<String> {
        self.problem.hint()
    }
}

/// What is wrong with a version, alone or in a constraint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VersionProblem {
    /// There is nothing.
    #[error("a version number is missing")]
    Empty,
    /// A `v` stands before the number.
    #[error("a version has no prefix `v`")]
    Prefix,
    /// Something else stands where a number is needed; empty at the end of the text.
    #[error("{}", expected_number(.0))]
    NoNumber(String),
    /// A fourth number.
    #[error("a version has at most three numbers")]
    TooManyNumbers,
    /// A number outside the range that the engines can store.
    #[error("`{0}` is too large for a version number")]
    NumberTooLarge(String),
    /// Text that no version can go on with.
    #[error("`{}` cannot stand there in a version", visible(.0))]
    Unexpected(String),
}

fn expected_number(found: &str) -> String {
    if found.is_empty() {
        "a number is missing at the end".into()
    } else {
        format!("a number is needed in place of `{}`", visible(found))
    }
}

/// The text with unusual white space and control characters spelled out.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        if char != ' ' && (char.is_whitespace() || char.is_control()) {
            shown.extend(char.escape_default());
        } else {
            shown.push(char);
        }
    }
    shown
}

impl VersionProblem {
    fn hint(&self) -> Option<String> {
        let wildcard = |text: &str| text.trim_start_matches('.').starts_with(['*', 'x', 'X']);
        match self {
            Self::Prefix => Some("leave out the `v`".into()),
            Self::NoNumber(found) if found == "latest" => {
                Some("to allow every version, leave the constraint out".into())
            }
            Self::NoNumber(found) | Self::Unexpected(found) if wildcard(found) => {
                Some("there are no wildcards: `~> 1.2` allows every 1.x from 1.2.0 on, `~> 1.2.0` every 1.2.x".into())
            }
            Self::Unexpected(found) if found.starts_with(['<', '>', '=', '!', '~']) => {
                Some("separate constraints with commas".into())
            }
            Self::Unexpected(found) if found.starts_with("||") => {
                Some("there is no way to write alternatives: all constraints must hold".into())
            }
            _ => None,
        }
    }
}

/// A version constraint could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read version constraint `{text}`")]
pub struct ConstraintError {
    /// All of the string.
    pub text: String,
    /// The bytes of `text` that are at fault; possibly none, where something is missing.
    pub span: Span,
    /// What is wrong there.
    #[source]
    pub problem: ConstraintProblem,
}

impl Explain for ConstraintError {
    fn hint(&self) -> Option<String> {
        self.problem.hint()
    }
}

/// What is wrong with a version constraint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConstraintProblem {
    /// There is nothing, or nothing between, before or after commas.
    #[error("a constraint is missing")]
    Empty,
    /// Not one of `=`, `!=`, `>`, `>=`, `<`, `<=`, `~>`.
    #[error("`{0}` is not an operator")]
    UnknownOperator(String),
    /// More than one space, or another kind of space, behind the operator.
    #[error("only a single space may stand between operator and version")]
    Spacing,
    /// The version is at fault.
    #[error(transparent)]
    Version(#[from] VersionProblem),
    /// Readable, but not in the only form that a lock file may have.
    #[error("in a lock file it must be written `{canonical}`")]
    NotCanonical {
        /// That form.
        canonical: String,
    },
}

impl ConstraintProblem {
    fn hint(&self) -> Option<String> {
        let instead = match self {
            Self::Version(problem) => return problem.hint(),
            Self::UnknownOperator(operator) => match operator.as_str() {
                "^" | "~" | "~=" | "~>=" | "=~" | "^=" => "~>",
                "==" | "===" => "=",
                "=>" => ">=",
                "=<" => "<=",
                "!" | "!==" | "<>" => "!=",
                _ => return None,
            },
            _ => return None,
        };
        Some(format!("write `{instead}`"))
    }
}

/// A platform could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read platform `{0}`: it must be two words around one `_`, as in `linux_amd64`")]
pub struct PlatformError(pub String);

impl Explain for PlatformError {
    fn hint(&self) -> Option<String> {
        let dashed = self.0.replace(['-', '/'], "_");
        let meant =
            dashed.split('_').filter(|part| !part.is_empty()).count() == 2 && dashed != self.0;
        meant.then(|| format!("write `{dashed}`"))
    }
}

/// A hash or digest could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HashError {
    /// No scheme before the value.
    #[error("cannot read hash `{0}`: it must be a scheme, a colon and a value, as in `h1:...`")]
    NoScheme(String),
    /// Not 64 hexadecimal digits.
    #[error("cannot read SHA-256 digest `{0}`: it must have 64 hexadecimal digits")]
    BadDigest(String),
}

impl Explain for HashError {}
