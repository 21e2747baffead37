//! Addresses of remote modules: `[GETTER::]URL[//SUBDIRECTORY][?QUERY]`, as go-getter reads them.
//!
//! The subdirectory ends where the query begins, and the query belongs to the package. Some of its parameters are for the
//! getter and are taken out: `ref` and `depth` for git, `archive` and `checksum` for what comes over http.

mod form;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use url::Url;

use crate::config::ModuleSource;
use crate::provider::Engine;
use crate::redacted_url::RedactedUrl;

use super::checksum::Checksum;
use super::error::ModuleError;
use form::{Form, Query};

/// A package, and where in it the module is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RemoteAddress {
    /// What is fetched.
    pub(super) package: Package,
    /// The path in it, as written, perhaps with wildcards; empty for the whole package.
    pub(super) subdirectory: String,
}

/// What is fetched, the key for doing so once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Package {
    /// A git repository.
    Git(GitPackage),
    /// An archive on the web.
    Archive(ArchivePackage),
    /// A web address that names another source.
    Web(Url),
    /// A directory of this machine.
    Directory(PathBuf),
    /// An archive on this machine.
    File(PathBuf, ArchiveKind, Option<Checksum>),
}

/// A git repository at some commit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GitPackage {
    /// For git, with user info if it is written.
    pub(super) url: String,
    /// A branch, tag or commit; the default branch otherwise.
    pub(super) reference: Option<String>,
    /// Whether it is on this machine.
    pub(super) is_local: bool,
}

/// An archive on the web.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ArchivePackage {
    /// Where.
    pub(super) url: Url,
    /// Its form.
    pub(super) kind: ArchiveKind,
    /// What its bytes must hash to.
    pub(super) checksum: Option<Checksum>,
}

/// The form of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ArchiveKind {
    /// A zip.
    Zip,
    /// A gzipped tar.
    TarGz,
}

impl RemoteAddress {
    /// Reads a normalized source, one of a registry's answers, or what a web page names.
    pub(super) fn parse(text: &str, engine: Engine) -> Result<Self, ModuleError> {
        let (getter, rest) = split_getter(text);
        let (getter, rest) = expand(getter, rest, engine)?;
        let (location, subdirectory) = split_subdirectory(&rest);
        let package = package(&getter, &location)?;
        Ok(Self {
            package,
            subdirectory,
        })
    }
}

impl Package {
    /// The address for messages.
    pub(super) fn redacted(&self) -> RedactedUrl {
        match self {
            Self::Git(git) => RedactedUrl::parse(&git.url),
            Self::Archive(archive) => RedactedUrl::from(&archive.url),
            Self::Web(url) => RedactedUrl::from(url),
            Self::Directory(path) | Self::File(path, ..) => RedactedUrl::local(path),
        }
    }
}

/// `git::` and what follows.
fn split_getter(text: &str) -> (&str, &str) {
    match text.split_once("::") {
        Some((getter, rest))
            if !getter.is_empty() && getter.bytes().all(|byte| byte.is_ascii_alphanumeric()) =>
        {
            (getter, rest)
        }
        _ => ("", text),
    }
}

/// Writes out shorthands behind a getter: `git::github.com/o/r`, `git::/srv/repo`.
fn expand(getter: &str, rest: &str, engine: Engine) -> Result<(String, String), ModuleError> {
    if rest.contains("://") {
        return Ok((getter.to_owned(), rest.to_owned()));
    }
    match ModuleSource::parse(rest, engine) {
        Ok(ModuleSource::Remote(full)) if full.contains("://") => {
            let (implied, location) = split_getter(&full);
            let getter = if getter.is_empty() { implied } else { getter };
            Ok((getter.to_owned(), location.to_owned()))
        }
        _ => Err(bad(rest, "it has no scheme such as `https://`")),
    }
}

/// The package with its query, and the subdirectory.
fn split_subdirectory(text: &str) -> (String, String) {
    let query_at = text.find('?').unwrap_or(text.len());
    let (location, query) = text.split_at(query_at);
    let path_at = location.find("://").map_or(0, |at| at + 3);
    match location[path_at..].find("//") {
        None => (text.to_owned(), String::new()),
        Some(at) => {
            let (package, subdirectory) = location.split_at(path_at + at);
            (
                format!("{package}{query}"),
                subdirectory.trim_matches('/').to_owned(),
            )
        }
    }
}

fn package(getter: &str, location: &str) -> Result<Package, ModuleError> {
    let scheme = location.split("://").next().unwrap_or_default();
    let scheme = scheme.to_ascii_lowercase();
    match (getter, scheme.as_str()) {
        ("git", _) | ("", "git") => git(location, &scheme),
        ("hg", _) | ("", "hg") => Err(unsupported("modules from Mercurial (`hg`)")),
        ("s3", _) | ("", "s3") => Err(unsupported("modules from Amazon S3 (`s3`)")),
        ("gcs", _) | ("", "gcs" | "gs") => {
            Err(unsupported("modules from Google Cloud Storage (`gcs`)"))
        }
        ("oci", _) | ("", "oci") => Err(unsupported("modules from OCI registries (`oci`)")),
        ("" | "http" | "https", "http" | "https") => web(location),
        ("" | "file", "file") => file(location),
        ("", "ssh") => Err(bad(location, "an ssh address needs `git::` in front")),
        _ => Err(bad(location, "nothing is known to fetch it with")),
    }
}

fn git(location: &str, scheme: &str) -> Result<Package, ModuleError> {
    if !matches!(scheme, "https" | "ssh" | "file") {
        return Err(ModuleError::Protocol {
            address: RedactedUrl::parse(location),
            protocol: scheme.to_owned(),
        });
    }
    let url = Url::parse(location)
        .map_err(|_no_url| bad(location, "it is no URL; is its port a number?"))?;
    let starts_like_option =
        |text: &str| text.starts_with('-') || text.to_ascii_lowercase().starts_with("%2d");
    if location.chars().any(char::is_control)
        || url.host_str().is_some_and(starts_like_option)
        || starts_like_option(url.username())
    {
        return Err(bad(location, "git could take a part of it for an option"));
    }
    let mut query = Query::of(&url);
    let reference = query.take("ref").filter(|reference| !reference.is_empty());
    // Only one state is needed, whatever depth is asked for.
    drop(query.take("depth"));
    if query.take("sshkey").is_some() {
        return Err(unsupported("private keys in addresses (`sshkey`)"));
    }
    if reference.as_deref().is_some_and(|name| !is_reference(name)) {
        return Err(bad(location, "its `ref` is no branch, tag or commit"));
    }
    let plain = location.split('?').next().unwrap_or_default();
    Ok(Package::Git(GitPackage {
        url: match query.render() {
            Some(query) => format!("{plain}?{query}"),
            None => plain.to_owned(),
        },
        reference,
        is_local: scheme == "file",
    }))
}

/// Whether git takes a text for a name and for nothing else: no option, no range, no refspec.
fn is_reference(name: &str) -> bool {
    let bad = |c: char| c.is_control() || c.is_whitespace() || "~^:?*[\\".contains(c);
    !name.starts_with(['-', '+']) && !name.contains(bad) && !name.contains("..")
}

fn web(location: &str) -> Result<Package, ModuleError> {
    let mut url = Url::parse(location).map_err(|_no_url| bad(location, "it is no URL"))?;
    let Form {
        kind,
        checksum,
        query,
    } = Form::of(&url)?;
    url.set_query(query.render().as_deref());
    Ok(match kind {
        Some(kind) => Package::Archive(ArchivePackage {
            url,
            kind,
            checksum,
        }),
        None => Package::Web(url),
    })
}

fn file(location: &str) -> Result<Package, ModuleError> {
    let url = Url::parse(location).map_err(|_no_url| bad(location, "it is no URL"))?;
    let path = url
        .to_file_path()
        .map_err(|()| bad(location, "it is no path of this machine"))?;
    let Form { kind, checksum, .. } = Form::of(&url)?;
    Ok(match kind {
        Some(kind) if !path.is_dir() => Package::File(path, kind, checksum),
        _ => Package::Directory(path),
    })
}

fn bad(address: &str, problem: &'static str) -> ModuleError {
    ModuleError::Address {
        address: RedactedUrl::parse(address),
        problem,
    }
}

const fn unsupported(what: &'static str) -> ModuleError {
    ModuleError::Unsupported { what }
}
