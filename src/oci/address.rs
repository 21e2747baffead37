//! Names of repositories, such as `ghcr.io/acme/anvil`, and prefixes of such names.

use std::fmt;
use std::sync::LazyLock;

use regex::Regex;
use url::Url;

use crate::oci::Specificity;
use crate::provider::Version;

/// The name of Docker Hub in repository addresses. Its registry is on [`DOCKER_HUB_HOST`].
const DOCKER_HUB: &str = "docker.io";

/// The host of Docker Hub's registry.
const DOCKER_HUB_HOST: &str = "registry-1.docker.io";

/// The pattern for repository names, as Docker defined it. Version 1.0 of the OCI distribution specification allows fewer names.
static NAME: LazyLock<Regex> = LazyLock::new(|| {
    let part = "[a-z0-9]+(?:(?:[._]|__|-*)[a-z0-9]+)*";
    Regex::new(&format!("^{part}(?:/{part})*$")).expect("the pattern is valid")
});

/// A repository: a registry, which is a host name with an optional port, and the name of the repository in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RepositoryAddress {
    registry: String,
    name: String,
    /// The base URL of the registry's API, such as `https://ghcr.io/v2/`.
    registry_url: Url,
}

/// All repositories of a registry, or those below a path. Credentials apply to such a prefix.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RepositoryPrefix {
    registry: String,
    path: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RepositoryAddressError {
    #[error("`{0}` has no repository name after the registry")]
    NoName(String),
    #[error("`{0}` is not a valid registry: it must be a host name with an optional port")]
    Registry(String),
    #[error(
        "`{0}` is not a valid repository name: it must consist of lower-case letters, digits, separators and slashes"
    )]
    Name(String),
}

impl RepositoryAddress {
    /// Parses `REGISTRY/NAME`, without a tag or digest.
    pub fn parse(text: &str) -> Result<Self, RepositoryAddressError> {
        match text.split_once('/') {
            Some((registry, name)) => Self::new(registry, name),
            None => Err(RepositoryAddressError::NoName(text.to_owned())),
        }
    }

    pub fn new(registry: &str, name: &str) -> Result<Self, RepositoryAddressError> {
        let registry_url = registry_url(registry)?;
        if !NAME.is_match(name) {
            return Err(RepositoryAddressError::Name(name.to_owned()));
        }
        Ok(Self {
            registry: registry.to_owned(),
            name: name.to_owned(),
            registry_url,
        })
    }

    pub fn registry(&self) -> &str {
        &self.registry
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the URL of a resource of this repository, such as `tags/list`.
    pub fn url(&self, resource: &str) -> Url {
        let mut url = self.registry_url.clone();
        url.set_path(&format!("/v2/{}/{resource}", self.name));
        url
    }

    /// Returns the base URL of the registry's API.
    pub const fn registry_url(&self) -> &Url {
        &self.registry_url
    }
}

impl fmt::Display for RepositoryAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.registry, self.name)
    }
}

impl RepositoryPrefix {
    /// Parses `REGISTRY` or `REGISTRY/PATH`.
    pub fn parse(text: &str) -> Result<Self, RepositoryAddressError> {
        if text.contains('/') {
            let RepositoryAddress { registry, name, .. } = RepositoryAddress::parse(text)?;
            let path = Some(name);
            return Ok(Self { registry, path });
        }
        registry_url(text)?;
        let registry = text.to_owned();
        let path = None;
        Ok(Self { registry, path })
    }

    pub const fn has_path(&self) -> bool {
        self.path.is_some()
    }

    /// Returns how specific this prefix is for a repository. `None` if the repository is not below it. Paths match by whole elements.
    pub fn specificity(&self, registry: &str, name: &str) -> Option<Specificity> {
        if self.registry != registry {
            return None;
        }
        let Some(path) = &self.path else {
            return Some(Specificity::Registry);
        };
        let rest = name.strip_prefix(path.as_str())?;
        let is_whole = rest.is_empty() || rest.starts_with('/');
        is_whole.then(|| Specificity::Path(path.split('/').count()))
    }
}

impl fmt::Display for RepositoryPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.registry)?;
        match &self.path {
            Some(path) => write!(f, "/{path}"),
            None => Ok(()),
        }
    }
}

/// Returns the tag of a version, in which `_` replaces the `+` that tags must not contain.
pub fn version_tag(version: &Version) -> String {
    version.to_string().replace('+', "_")
}

/// Whether the text can be a tag.
pub fn is_tag(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.len() <= 128
        && text.starts_with(is_word)
        && text.chars().all(|c| is_word(c) || matches!(c, '.' | '-'))
}

/// Returns the base URL of a registry's API. Fails unless the text is exactly a host name with an optional port.
fn registry_url(text: &str) -> Result<Url, RepositoryAddressError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_:[]".contains(c);
    let host = match text {
        DOCKER_HUB => DOCKER_HUB_HOST,
        other => other,
    };
    match Url::parse(&format!("https://{host}/v2/")) {
        Ok(url)
            if !text.is_empty()
                && url.has_host()
                && text.chars().all(is_plain)
                && !text.ends_with(':') =>
        {
            Ok(url)
        }
        _ => Err(RepositoryAddressError::Registry(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_a_registry_and_a_name() {
        for (text, expected) in [
            ("h.test/a", "h.test | a | https://h.test/v2/a/tags/list"),
            (
                "localhost:5000/a/b-c__d.e_f",
                "localhost:5000 | a/b-c__d.e_f | https://localhost:5000/v2/a/b-c__d.e_f/tags/list",
            ),
            (
                "[::1]:5000/a",
                "[::1]:5000 | a | https://[::1]:5000/v2/a/tags/list",
            ),
            (
                "docker.io/library/a",
                "docker.io | library/a | https://registry-1.docker.io/v2/library/a/tags/list",
            ),
            (
                "h.test",
                "`h.test` has no repository name after the registry",
            ),
            (
                "https://h.test/a",
                "`https:` is not a valid registry: it must be a host name with an optional port",
            ),
            (
                "u@h.test/a",
                "`u@h.test` is not a valid registry: it must be a host name with an optional port",
            ),
            (
                "h.test:x/a",
                "`h.test:x` is not a valid registry: it must be a host name with an optional port",
            ),
            (
                "/a",
                "`` is not a valid registry: it must be a host name with an optional port",
            ),
            (
                "h.test/a:1",
                "`a:1` is not a valid repository name: it must consist of lower-case letters, digits, separators and slashes",
            ),
            (
                "h.test/A",
                "`A` is not a valid repository name: it must consist of lower-case letters, digits, separators and slashes",
            ),
            (
                "h.test/a/../b",
                "`a/../b` is not a valid repository name: it must consist of lower-case letters, digits, separators and slashes",
            ),
            (
                "h.test/",
                "`` is not a valid repository name: it must consist of lower-case letters, digits, separators and slashes",
            ),
        ] {
            let found = match RepositoryAddress::parse(text) {
                Ok(address) => format!(
                    "{} | {} | {}",
                    address.registry(),
                    address.name(),
                    address.url("tags/list")
                ),
                Err(error) => error.to_string(),
            };
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn prefixes_match_whole_elements() {
        use Specificity::{Path, Registry};
        for (prefix, name, expected) in [
            ("h.test", "a/b", Some(Registry)),
            ("h.test/a", "a/b", Some(Path(1))),
            ("h.test/a/b", "a/b", Some(Path(2))),
            ("h.test/a/b/c", "a/b", None),
            ("h.test/a/bc", "a/b", None),
            ("h.test/a", "ab", None),
            ("h.test:443", "a/b", None),
            ("H.test", "a/b", None),
        ] {
            let parsed = RepositoryPrefix::parse(prefix).unwrap();
            assert_eq!(parsed.specificity("h.test", name), expected, "{prefix}");
            assert_eq!(parsed.to_string(), prefix);
        }
    }

    #[test]
    fn tags_have_up_to_128_characters() {
        let long = "a".repeat(128);
        for (text, expected) in [
            ("1.0.0_x-y", true),
            ("_", true),
            (&long, true),
            ("", false),
            (".a", false),
            ("a+b", false),
            ("a/b", false),
        ] {
            assert_eq!(is_tag(text), expected, "{text}");
        }
        assert!(!is_tag(&(long.clone() + "a")));
    }
}
