//! Credentials for repositories, and the choice between several.

use std::fmt;

/// Credentials for a registry. `Debug` shows no secret.
#[derive(Clone, PartialEq, Eq)]
pub enum OciCredential {
    Password {
        username: String,
        password: String,
    },
    /// A token that is sent as it is.
    AccessToken(String),
}

impl fmt::Debug for OciCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OciCredential(redacted)")
    }
}

/// Credentials, or the helper program that returns them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialSource {
    Fixed(OciCredential),
    /// The name of a helper program, without `docker-credential-`.
    Helper(String),
}

/// How closely credentials match a repository. Later variants take precedence over earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Specificity {
    /// They apply to all registries.
    Global,
    Registry,
    /// They apply to the repositories below a path with this number of elements.
    Path(usize),
}

/// Credentials that apply to a repository, and the name of their source for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialMatch {
    pub specificity: Specificity,
    pub source: CredentialSource,
    pub place: String,
}

impl CredentialMatch {
    /// Returns the most specific match. If several are equally specific, returns the first of them.
    pub fn best(matches: impl IntoIterator<Item = Self>) -> Option<Self> {
        matches.into_iter().reduce(|best, next| {
            if next.specificity > best.specificity {
                next
            } else {
                best
            }
        })
    }
}
