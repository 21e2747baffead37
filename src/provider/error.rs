//! Why an address, version, constraint, platform or hash is invalid.
//!
//! These errors do not name a file: the strings come from configurations, lock files and command lines, and the caller adds the
//! position. Errors about version constraints contain the range of the invalid bytes.

use super::Hostname;
use crate::span::{Explain, Span};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostnameError {
    /// One of the labels, which are separated by dots, is empty.
    #[error("a hostname must not have empty parts")]
    EmptyLabel,
    /// A label is in Punycode.
    #[error("`{0}` must be written in Unicode, not in Punycode")]
    Punycode(String),
    #[error("`{0}` is not a valid port (0 to 65535)")]
    BadPort(String),
    /// The name breaks the rules for internationalized domain names.
    #[error("a hostname must consist of letters, digits and inner hyphens")]
    NotAHostname,
}

impl Explain for HostnameError {}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read provider source address `{source_text}`")]
pub struct AddressError {
    pub source_text: String,
    #[source]
    pub problem: AddressProblem,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressProblem {
    /// One of the parts, which are separated by slashes, is empty.
    #[error("a source address must not have empty parts")]
    EmptyPart,
    #[error("a source address must have one to three parts, but this one has {0}")]
    TooManyParts(usize),
    #[error(transparent)]
    Hostname(#[from] HostnameError),
    /// The namespace or the type breaks the rules for labels.
    #[error("`{0}` must consist of letters, digits and single inner hyphens")]
    BadPart(String),
    /// The namespace contains underscores. One of them is its first or last character, or the namespace breaks another rule.
    #[error("`{0}` must consist of letters, digits, single inner hyphens and inner underscores")]
    BadNamespace(String),
    /// The type starts with a prefix that belongs in repository names only, such as `terraform-provider-`.
    #[error("the type must not start with `{prefix}`")]
    RedundantPrefix {
        prefix: &'static str,
        /// The source without `prefix`.
        suggestion: Option<String>,
    },
    #[error("the namespace `-` exists only on `{default}`, not on `{host}`")]
    LegacyHost {
        host: Hostname,
        default: &'static str,
    },
}

impl Explain for AddressError {
    fn hint(&self) -> Option<String> {
        if self.source_text.contains("://") {
            return Some("write a source as `HOST/NAMESPACE/TYPE`, without `https://`".into());
        }
        match &self.problem {
            AddressProblem::RedundantPrefix { suggestion, .. } => suggestion
                .as_ref()
                .map(|source| format!("write `{source}`")),
            AddressProblem::BadPart(part)
                if self.source_text.split('/').count() == 2 && part.contains('.') =>
            {
                Some("to include a host, write three parts: `HOST/NAMESPACE/TYPE`".into())
            }
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read version `{text}`")]
pub struct VersionError {
    pub text: String,
    #[source]
    pub problem: VersionProblem,
}

impl Explain for VersionError {
    fn hint(&self) -> Option<String> {
        self.problem.hint()
    }
}

/// The reason why a version, or the version in a constraint, is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VersionProblem {
    #[error("a version number is missing")]
    Empty,
    #[error("a version must not start with `v`")]
    Prefix,
    /// The text found instead of a number; empty at the end of the version.
    #[error("{}", expected_number(.0))]
    NoNumber(String),
    #[error("a version must not have more than three numbers")]
    TooManyNumbers,
    /// A number exceeds the integer range of Terraform and OpenTofu.
    #[error("`{0}` is too large for a version number")]
    NumberTooLarge(String),
    /// Text after the valid part of a version.
    #[error("`{}` is not allowed there in a version", visible(.0))]
    Unexpected(String),
}

fn expected_number(found: &str) -> String {
    if found.is_empty() {
        "a number is missing at the end".into()
    } else {
        format!("expected a number instead of `{}`", visible(found))
    }
}

/// Escapes control characters, and white space other than a space.
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
            Self::Prefix => Some("omit the `v`".into()),
            Self::NoNumber(found) if found == "latest" => {
                Some("omit the constraint to allow every version".into())
            }
            Self::NoNumber(found) | Self::Unexpected(found) if wildcard(found) => {
                Some("there are no wildcards: `~> 1.2` allows every 1.x from 1.2.0 on, `~> 1.2.0` every 1.2.x".into())
            }
            Self::Unexpected(found) if found.starts_with(['<', '>', '=', '!', '~']) => {
                Some("separate constraints with commas".into())
            }
            Self::Unexpected(found) if found.starts_with("||") => {
                Some("alternatives are not supported: a version must satisfy all constraints".into())
            }
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read version constraint `{text}`")]
pub struct ConstraintError {
    pub text: String,
    /// The range of the invalid bytes in `text`. It can be empty if something is missing.
    pub span: Span,
    #[source]
    pub problem: ConstraintProblem,
}

impl Explain for ConstraintError {
    fn hint(&self) -> Option<String> {
        self.problem.hint()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConstraintProblem {
    /// One of the constraints, which are separated by commas, is empty, or the whole string is empty.
    #[error("a constraint is missing")]
    Empty,
    /// The operator is not one of `=`, `!=`, `>`, `>=`, `<`, `<=`, `~>`.
    #[error("`{0}` is not an operator")]
    UnknownOperator(String),
    /// More than one space, or other white space, follows the operator.
    #[error("the operator and the version must be separated by at most one space")]
    Spacing,
    #[error(transparent)]
    Version(#[from] VersionProblem),
    /// The constraint is valid, but not in the canonical form that a lock file must have.
    #[error("in a lock file, it must be written `{canonical}`")]
    NotCanonical { canonical: String },
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

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid platform `{0}`: expected two words separated by one `_`, as in `linux_amd64`")]
pub struct PlatformError(pub String);

impl Explain for PlatformError {
    fn hint(&self) -> Option<String> {
        let dashed = self.0.replace(['-', '/'], "_");
        let meant =
            dashed.split('_').filter(|part| !part.is_empty()).count() == 2 && dashed != self.0;
        meant.then(|| format!("write `{dashed}`"))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HashError {
    #[error("invalid hash `{0}`: expected a scheme, a colon and a value, as in `h1:...`")]
    NoScheme(String),
    #[error("invalid SHA-256 digest `{0}`: expected 64 hexadecimal digits")]
    BadDigest(String),
}

impl Explain for HashError {}
