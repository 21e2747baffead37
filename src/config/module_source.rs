//! Module sources and their canonical form. See section 8 of docs/rules/config.md.

use std::fmt;

use thiserror::Error;

use crate::functions::clean_path;
use crate::provider::{Engine, Hostname};
use crate::redacted_url::RedactedUrl;

use super::source_shorthand::{expand_shorthand, has_scheme};

/// Hosts whose addresses are shorthand for git repositories.
pub(super) const CODE_HOSTS: [&str; 2] = ["github.com", "bitbucket.org"];

/// A module source in canonical form, as `modules.json` records it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleSource {
    /// A path that starts with `./` or `../`.
    Local(String),
    Registry(RegistrySource),
    /// Any other source in go-getter syntax, such as `git::https://example.com/repo.git//sub?ref=v1`.
    Remote(String),
}

/// A source of the form `HOST/NAMESPACE/NAME/SYSTEM//SUBDIR`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistrySource {
    pub host: Hostname,
    pub namespace: String,
    pub name: String,
    /// The target system, such as `aws`.
    pub system: String,
    pub subdirectory: Option<String>,
}

#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SourceError {
    /// A path without `./` or `../` at the start, such as `m`, `m/n` or `.`.
    #[error("`{0}` is not a valid module source; to refer to a local directory, write `./{0}`")]
    BarePath(String),
    /// An address without a supported scheme.
    #[error("`{0}` is not a valid module source")]
    Unknown(String),
    /// A subdirectory such as `//../x`.
    #[error("the subdirectory `{0}` points outside the module package")]
    SubdirectoryEscapes(String),
}

impl ModuleSource {
    /// Parses a source as a local path, a registry address or a remote address, in this order.
    pub fn parse(text: &str, engine: Engine) -> Result<Self, SourceError> {
        if ["./", "../", ".\\", "..\\"]
            .iter()
            .any(|prefix| text.starts_with(prefix))
        {
            return Ok(Self::Local(local(text)));
        }
        if matches!(text, "" | "." | "..") {
            return Err(SourceError::BarePath(text.to_owned()));
        }
        match RegistrySource::parse(text, engine)? {
            Some(source) => Ok(Self::Registry(source)),
            None => remote(text).map(Self::Remote),
        }
    }

    /// Formats the source for messages: without user info, and only with the revision from the query. The rest may be secret.
    pub fn shown(&self) -> String {
        match self {
            Self::Local(_) | Self::Registry(_) => self.to_string(),
            Self::Remote(text) => RedactedUrl::with_revision(text).to_string(),
        }
    }
}

impl fmt::Display for ModuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // `modules.json` records this text. It may contain secrets, so messages use `shown` instead.
            Self::Local(path) | Self::Remote(path) => f.write_str(path),
            Self::Registry(source) => source.fmt(f),
        }
    }
}

impl fmt::Display for RegistrySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}/{}/{}/{}",
            self.host, self.namespace, self.name, self.system
        )?;
        match &self.subdirectory {
            Some(subdirectory) => write!(f, "//{subdirectory}"),
            None => Ok(()),
        }
    }
}

/// Normalizes a local path: with `/` as the separator, without `.` and `x/..`, and with `./` or `../` at the start.
fn local(text: &str) -> String {
    let clean = clean_path(&text.replace('\\', "/"));
    match clean.as_str() {
        // As in Terraform, a bare `..` gets a trailing slash.
        "." | ".." => clean + "/",
        _ if clean.starts_with("../") => clean,
        _ => format!("./{clean}"),
    }
}

impl RegistrySource {
    fn parse(text: &str, engine: Engine) -> Result<Option<Self>, SourceError> {
        if text.contains('?') {
            return Ok(None);
        }
        let (address, subdirectory) = match text.split_once("//") {
            Some((address, subdirectory)) => (address, Some(subdirectory)),
            None => (text, None),
        };
        let parts: Vec<&str> = address.split('/').collect();
        let (host, rest) = match parts[..] {
            [namespace, name, system] => (engine.default_host(), [namespace, name, system]),
            [host, namespace, name, system] => (host, [namespace, name, system]),
            _ => return Ok(None),
        };
        let [namespace, name, system] = rest;
        let is_registry = parts.len() == 3 || (host.contains('.') && !CODE_HOSTS.contains(&host));
        let (true, Ok(host)) = (
            is_registry && is_name(namespace) && is_name(name) && is_system(system),
            Hostname::parse(host),
        ) else {
            return Ok(None);
        };
        let subdirectory = clean_subdirectory(subdirectory.unwrap_or_default())?;
        let [namespace, name, system] = rest.map(str::to_owned);
        Ok(Some(Self {
            host,
            namespace,
            name,
            system,
            subdirectory,
        }))
    }
}

/// Whether `text` matches `[0-9A-Za-z]([0-9A-Za-z-_]{0,62}[0-9A-Za-z])?`.
fn is_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=64).contains(&bytes.len())
        && bytes.iter().all(inner)
        && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
}

/// Whether `text` matches `[0-9a-z]{1,64}`.
fn is_system(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
}

/// Normalizes a remote source: expands go-getter shorthand and cleans the subdirectory.
fn remote(text: &str) -> Result<String, SourceError> {
    let (package, subdirectory) = split_subdirectory(text);
    let subdirectory = clean_subdirectory(subdirectory)?;
    let expanded = expand(&package)?;
    // A path after the name of a repository on a code host is a directory in the repository.
    let (package, outer) = split_subdirectory(&expanded);
    let directory = match (clean_subdirectory(outer)?, subdirectory) {
        (None, None) => return Ok(expanded),
        (Some(one), None) | (None, Some(one)) => one,
        (Some(outer), Some(inner)) => clean_path(&format!("{outer}/{inner}")),
    };
    let query_at = package.find('?').unwrap_or(package.len());
    let (location, query) = package.split_at(query_at);
    Ok(format!("{location}//{directory}{query}"))
}

/// Splits an address into the address of the package, including the query, and the subdirectory as written, which may be empty.
pub fn split_subdirectory(text: &str) -> (String, &str) {
    let query_at = text.find('?').unwrap_or(text.len());
    let (location, query) = text.split_at(query_at);
    let path_at = location.find("://").map_or(0, |at| at + 3);
    match location[path_at..].split_once("//") {
        None => (text.to_owned(), ""),
        Some((before, subdirectory)) => {
            let package = &location[..path_at + before.len()];
            (format!("{package}{query}"), subdirectory)
        }
    }
}

/// Removes `.` and `x/..` from a subdirectory. Fails if it leads out of the package, and returns `None` if it is empty.
pub fn clean_subdirectory(text: &str) -> Result<Option<String>, SourceError> {
    if text.is_empty() {
        return Ok(None);
    }
    let clean = clean_path(text);
    if clean == ".." || clean.starts_with("../") {
        return Err(SourceError::SubdirectoryEscapes(clean));
    }
    Ok(Some(clean))
}

/// Expands the shorthand of a package, with or without a getter. Addresses with a scheme stay as they are.
fn expand(text: &str) -> Result<String, SourceError> {
    let (getter, address) = split_getter(text);
    if has_scheme(address) {
        return Ok(text.to_owned());
    }
    let Some((implied, expanded)) = expand_shorthand(address) else {
        return Err(match text.split_once('/') {
            Some((host, _)) if host.contains(['.', ':', '@']) => {
                SourceError::Unknown(text.to_owned())
            }
            None if text.is_empty() || text.contains([':', '@', '?']) => {
                SourceError::Unknown(text.to_owned())
            }
            _ => SourceError::BarePath(text.to_owned()),
        });
    };
    Ok(match if getter.is_empty() { implied } else { getter } {
        "" => expanded,
        getter => format!("{getter}::{expanded}"),
    })
}

/// Splits `git::ADDRESS` into the getter, here `git`, and the address. The getter is empty if the source has none.
pub fn split_getter(text: &str) -> (&str, &str) {
    match text.split_once("::") {
        Some((getter, rest))
            if !getter.is_empty()
                && !rest.is_empty()
                && getter.bytes().all(|byte| byte.is_ascii_alphanumeric()) =>
        {
            (getter, rest)
        }
        _ => ("", text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(text: &str, engine: Engine) -> Result<String, SourceError> {
        ModuleSource::parse(text, engine).map(|source| source.to_string())
    }

    #[test]
    fn invalid_sources_resemble_a_path_or_nothing() {
        let bare = |text: &str| SourceError::BarePath(text.to_owned());
        let unknown = |text: &str| SourceError::Unknown(text.to_owned());
        for (text, expected) in [
            ("m", bare("m")),
            ("m/n", bare("m/n")),
            ("h.test/n", unknown("h.test/n")),
            ("github.com/o", unknown("github.com/o")),
            // The text before `::` is a getter only if it consists of letters and digits.
            ("m/x::git@h:p", bare("m/x::git@h:p")),
            // An scp address must have the user `git` and a host.
            ("@h:p/q", unknown("@h:p/q")),
            ("git@:p/q", unknown("git@:p/q")),
            ("deploy@h:p/q", unknown("deploy@h:p/q")),
            // An address in a registry has no query.
            ("a/b/c//d?ref=v1", bare("a/b/c?ref=v1")),
            // A getter does not make a valid address of a path.
            ("git::./m", unknown("git::./m")),
            ("x::h.test/n", unknown("x::h.test/n")),
            (" https://h.test/r", unknown(" https://h.test/r")),
            ("https://h.test:o/r", unknown("https://h.test:o/r")),
            // Terraform asks the host `git::ssh:`, which cannot exist.
            (
                "https://git::ssh://git@h.test/r",
                unknown("https://git::ssh:"),
            ),
            (
                "b.c.s3.r.amazonaws.com/k",
                unknown("b.c.s3.r.amazonaws.com/k"),
            ),
            (
                "www.googleapis.com/storage",
                unknown("www.googleapis.com/storage"),
            ),
        ] {
            assert_eq!(normal(text, Engine::Terraform), Err(expected), "{text}");
        }
    }

    #[test]
    fn sources_and_their_normal_forms() {
        let rows = r"
            ./m => ./m
            ./a/../b/./ => ./b
            ../x//y => ../x/y
            .\m\n => ./m/n
            ./.. => ../
            ./ => ./
            acme/dns/any => registry.terraform.io/acme/dns/any
            Acme/dns/any//sub/../x => registry.terraform.io/Acme/dns/any//x
            Example.com/acme/dns/any => example.com/acme/dns/any
            acme/dns/any// => registry.terraform.io/acme/dns/any
            acme/dns/any//sub/.. => registry.terraform.io/acme/dns/any//.
            acme/dns/any///sub => registry.terraform.io/acme/dns/any///sub
            github.com/o/r => git::https://github.com/o/r.git
            github.com/o/r//sub?ref=v1 => git::https://github.com/o/r.git//sub?ref=v1
            github.com/o/r/sub => git::https://github.com/o/r.git//sub
            github.com/o/r/ => git::https://github.com/o/r.git
            github.com/o/r/sub/ => git::https://github.com/o/r.git//sub
            github.com/o/ => git::https://github.com/o/.git
            bitbucket.org/o/?ref=v1 => git::https://bitbucket.org/o/.git?ref=v1
            bitbucket.org/o/r => git::https://bitbucket.org/o/r.git
            git@github.com:o/r.git => git::ssh://git@github.com/o/r.git
            git::ssh://git@h/p.git?ref=x => git::ssh://git@h/p.git?ref=x
            https://example.com/m.zip => https://example.com/m.zip
            s3::https://s3.amazonaws.com/b/m.zip => s3::https://s3.amazonaws.com/b/m.zip
            https://s3.amazonaws.com/b/m.zip => https://s3.amazonaws.com/b/m.zip
            https://www.googleapis.com/storage/v1/b/k => https://www.googleapis.com/storage/v1/b/k
            /abs/path => file:///abs/path
            git::/abs/path => git::file:///abs/path
            git::/abs//sub/../path => git::file:///abs//path
            git::github.com/o/r => git::https://github.com/o/r.git
            hg::github.com/o/r => hg::https://github.com/o/r.git
            git::git@h:o/r => git::ssh://git@h/o/r
            git@h:/o/r => git::ssh://git@h/o/r
            git@h:o/r?ref=b&depth=1 => git::ssh://git@h/o/r?depth=1&ref=b
            s3-eu-west-1.amazonaws.com/b/k.zip => s3::https://s3-eu-west-1.amazonaws.com/b/k.zip
            b.s3-eu-west-1.amazonaws.com/k.zip => s3::https://s3-eu-west-1.amazonaws.com/b/k.zip
            b.s3.eu-west-1.amazonaws.com/k.zip => s3::https://s3.eu-west-1.amazonaws.com/b/k.zip
            www.googleapis.com/storage/v1/b/k => gcs::https://www.googleapis.com/storage/v1/b/k
            example.com:8443/a/b/C => example.com:8443/a/b/C
            /abs//sub/../path => file:///abs//path
            https://h.test/m.zip//sub/deep/../../other => https://h.test/m.zip//other
            https://h.test/m.zip//sub/..//other/ => https://h.test/m.zip//other
            https://h.test/m.zip//nope/../*/../sub => https://h.test/m.zip//sub
            https://h.test/m.zip//sub/.. => https://h.test/m.zip//.
            https://h.test/m.zip//sub/../other?x=a//b/../c => https://h.test/m.zip//other?x=a//b/../c
            https://h.test/m.zip//sub/%2e%2e/..dots => https://h.test/m.zip//sub/%2e%2e/..dots
            https://h.test/m.zip// => https://h.test/m.zip
            https://h.test/m.zip//?x=1 => https://h.test/m.zip?x=1
            https://h.test/m.zip////sub => https://h.test/m.zip///sub
            https://h.test/m?archive=zip//sub/.. => https://h.test/m?archive=zip//sub/..
            github.com/o/r/sub//deep/../x?ref=v1 => git::https://github.com/o/r.git//sub/x?ref=v1
            git@g.test:o/r//a/../b => git::ssh://git@g.test/o/r//b
            https://user@h.test:8443/m.zip => https://user@h.test:8443/m.zip
        ";
        for row in rows.trim().lines() {
            let (text, expected) = row.trim().split_once(" => ").unwrap();
            assert_eq!(
                normal(text, Engine::Terraform).as_deref(),
                Ok(expected),
                "{text}"
            );
        }
        assert_eq!(
            normal("a/b/c", Engine::Tofu).as_deref(),
            Ok("registry.opentofu.org/a/b/c")
        );
    }

    #[test]
    fn normal_forms_are_fixed_points() {
        for text in [
            "./m",
            "../x",
            "a/b/c//d",
            "github.com/o/r//s?ref=v",
            "git@h:p/q",
            "https://h/x.tgz",
        ] {
            let once = normal(text, Engine::Terraform).unwrap();
            assert_eq!(
                normal(&once, Engine::Terraform).as_ref(),
                Ok(&once),
                "{text}"
            );
        }
    }

    #[test]
    fn invalid_sources_are_errors() {
        for text in [
            "",
            ".",
            "..",
            "m",
            "m/n",
            "a/b/c/d/e",
            "a/b/C!",
            "x.y/z",
            "a/b/c//../d",
            "a/b/c//d/../..",
            "https://h.test/m.zip//..",
            "https://h.test/m.zip//../d",
            "https://h.test/m.zip//d/../../e",
            "git::https://h.test/r//d/../..?ref=v1",
            "/srv/m//../d",
            "github.com/o/r/sub//../d",
            "github.com/o/r/../d",
            "//srv/m",
            " /srv/m",
            "a/b/c ",
        ] {
            assert!(normal(text, Engine::Terraform).is_err(), "{text}");
        }
    }
}
