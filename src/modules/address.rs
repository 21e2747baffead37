//! Addresses of remote modules: `[GETTER::]URL[//SUBDIRECTORY][?QUERY]`, as go-getter reads them.
//!
//! The subdirectory ends where the query begins, and the query belongs to the package. Some of its parameters are for the
//! getter and are taken out: `ref` and `depth` for git, `archive` and `checksum` for what comes over http.

use std::path::PathBuf;

use url::{Url, form_urlencoded};

use crate::config::ModuleSource;
use crate::provider::Engine;
use crate::registry::ShownUrl;

use super::checksum::Checksum;
use super::error::ModuleError;

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
    /// The address for messages: without user info and query.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Git(git) => shown(&git.url),
            Self::Archive(archive) => ShownUrl::from(&archive.url).to_string(),
            Self::Web(url) => ShownUrl::from(url).to_string(),
            Self::Directory(path) | Self::File(path, ..) => path.display().to_string(),
        }
    }
}

/// An address for messages. What is no URL has neither user info nor query once it is cut at the first sign of them.
pub(super) fn shown(text: &str) -> String {
    let (getter, rest) = split_getter(text);
    let plain = Url::parse(rest).map_or_else(
        |_| {
            let rest = rest.split(['?', '#']).next().unwrap_or_default();
            let authority = rest.find("://").map_or(0, |at| at + 3);
            match rest[authority..].rsplit_once('@') {
                Some((_, host)) => format!("{}{host}", &rest[..authority]),
                None => rest.to_owned(),
            }
        },
        |url| ShownUrl::from(&url).to_string(),
    );
    if getter.is_empty() {
        plain
    } else {
        format!("{getter}::{plain}")
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
            address: shown(location),
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

/// What address and query say about an archive.
struct Form {
    kind: Option<ArchiveKind>,
    checksum: Option<Checksum>,
    /// What is left of the query.
    query: Query,
}

impl Form {
    fn of(url: &Url) -> Result<Self, ModuleError> {
        let mut query = Query::of(url);
        let named = query.take("archive").filter(|name| !name.is_empty());
        drop(query.take("filename"));
        let checksum = query.take("checksum").filter(|text| !text.is_empty());
        let kind = match named {
            Some(name) => kind_of_name(&name)?,
            None => kind_of_path(url.path())?,
        };
        Ok(Self {
            checksum: checksum.as_deref().map(Checksum::parse).transpose()?,
            kind,
            query,
        })
    }
}

fn kind_of_path(path: &str) -> Result<Option<ArchiveKind>, ModuleError> {
    const ENDINGS: [&str; 10] = [
        "tar.bz2", "tar.gz", "tar.xz", "tbz2", "tgz", "txz", "zip", "bz2", "gz", "xz",
    ];
    let path = path.trim_end_matches('/');
    let ending = ENDINGS.into_iter().find(|ending| {
        path.strip_suffix(ending)
            .is_some_and(|rest| rest.ends_with('.'))
    });
    ending.map_or(Ok(None), kind_of_name)
}

/// Names that nobody knows mean no archive, as do `false` and `0`.
fn kind_of_name(name: &str) -> Result<Option<ArchiveKind>, ModuleError> {
    match name {
        "zip" => Ok(Some(ArchiveKind::Zip)),
        "tar.gz" | "tgz" => Ok(Some(ArchiveKind::TarGz)),
        "tar.xz" | "txz" => Err(unsupported("tar.xz archives")),
        "tar.bz2" | "tbz2" => Err(unsupported("tar.bz2 archives")),
        "gz" | "xz" | "bz2" => Err(unsupported("compressed files that are no archives")),
        _ => Ok(None),
    }
}

/// The parameters of a query, in order and as written: a signature may be among them.
struct Query(Vec<String>);

impl Query {
    fn of(url: &Url) -> Self {
        let written = url.query().unwrap_or_default().split('&');
        Self(written.map(str::to_owned).collect())
    }

    /// Takes a parameter out; the first value counts.
    fn take(&mut self, name: &str) -> Option<String> {
        let mut value = None;
        self.0.retain(|written| {
            let Some((key, found)) = form_urlencoded::parse(written.as_bytes()).next() else {
                return false;
            };
            if key == name {
                value.get_or_insert_with(|| found.into_owned());
            }
            key != name
        });
        value
    }

    /// What is left, if anything is.
    fn render(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.0.join("&"))
    }
}

fn bad(address: &str, problem: &'static str) -> ModuleError {
    ModuleError::Address {
        address: shown(address),
        problem,
    }
}

const fn unsupported(what: &'static str) -> ModuleError {
    ModuleError::Unsupported { what }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `PACKAGE // SUBDIRECTORY`, or the error.
    fn read(text: &str) -> String {
        let address = match RemoteAddress::parse(text, Engine::Terraform) {
            Ok(address) => address,
            Err(error) => return format!("error: {error}"),
        };
        let package = match address.package {
            Package::Git(git) => match git.reference {
                Some(reference) => format!("git {} at {reference}", git.url),
                None => format!("git {}", git.url),
            },
            Package::Archive(archive) => {
                let checksum = archive.checksum.map(|checksum| format!(" {checksum}"));
                format!(
                    "{:?} {}{}",
                    archive.kind,
                    archive.url,
                    checksum.unwrap_or_default()
                )
            }
            Package::Web(url) => format!("web {url}"),
            Package::Directory(path) => format!("directory {}", path.display()),
            Package::File(path, kind, _) => format!("{kind:?} {}", path.display()),
        };
        if address.subdirectory.is_empty() {
            package
        } else {
            format!("{package} // {}", address.subdirectory)
        }
    }

    #[test]
    fn repositories() {
        for (text, expected) in [
            ("git::https://g.test/o/r.git", "git https://g.test/o/r.git"),
            (
                "git::https://g.test/o/r.git//sub/dir?ref=v1&depth=1",
                "git https://g.test/o/r.git at v1 // sub/dir",
            ),
            (
                "git::ssh://git@g.test:2222/o/r?ref=feature/x",
                "git ssh://git@g.test:2222/o/r at feature/x",
            ),
            (
                "git::https://g.test/r?ref=&x=a%20b",
                "git https://g.test/r?x=a%20b",
            ),
            ("git::file:///srv/r//*/x", "git file:///srv/r // */x"),
            ("git::/srv/r//x", "git file:///srv/r // x"),
            (
                "git::github.com/o/r//sub?ref=v1",
                "git https://github.com/o/r.git at v1 // sub",
            ),
            (
                "git::bitbucket.org/o/r",
                "git https://bitbucket.org/o/r.git",
            ),
            (
                "git::git@g.test:o/r.git?ref=main",
                "git ssh://git@g.test/o/r.git at main",
            ),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn archives_and_directories() {
        for (text, expected) in [
            ("https://h.test/m.zip", "Zip https://h.test/m.zip"),
            (
                "https://h.test/m.tar.gz//a/*?x=1",
                "TarGz https://h.test/m.tar.gz?x=1 // a/*",
            ),
            ("https::https://h.test/m.tgz", "TarGz https://h.test/m.tgz"),
            (
                "https://h.test/m?archive=zip&token=t",
                "Zip https://h.test/m?token=t",
            ),
            (
                "https://h.test/m.zip?archive=false",
                "web https://h.test/m.zip",
            ),
            (
                "https://h.test/m.zip?archive=unknown",
                "web https://h.test/m.zip",
            ),
            ("https://h.test/m//sub", "web https://h.test/m // sub"),
            ("file:///srv/m", "directory /srv/m"),
            ("file:///srv/m.zip//x", "Zip /srv/m.zip // x"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        let digest = "a".repeat(64);
        let pinned = format!("https://h.test/m.zip?checksum=sha256:{digest}");
        assert_eq!(
            read(&pinned),
            format!("Zip https://h.test/m.zip sha256:{digest}")
        );
    }

    #[test]
    fn what_is_refused() {
        for (text, expected) in [
            (
                "git::http://g.test/r",
                "git may use https, ssh and file only",
            ),
            ("git://g.test/r", "for the protocol `git`"),
            ("git::ext::sh -c id", "no address"),
            ("git::ext://sh", "for the protocol `ext`"),
            (
                "git::https://g.test/r?ref=--upload-pack=x",
                "its `ref` is no branch",
            ),
            ("git::https://g.test/r?ref=a:b", "its `ref` is no branch"),
            ("git::https://g.test/r?ref=a..b", "its `ref` is no branch"),
            ("git::https://g.test/r?ref=a%0ab", "its `ref` is no branch"),
            ("git::ssh://-oProxyCommand=x/r", "for an option"),
            ("git::ssh://%2DoProxyCommand=x/r", "for an option"),
            ("git::ssh://-x@g.test/r", "for an option"),
            ("git::ssh://g.test:o/r", "is its port a number?"),
            (
                "git::ssh://g.test/r?sshkey=Zm9v",
                "`sshkey`) are not supported",
            ),
            ("hg::https://h.test/r", "`hg`) are not supported"),
            (
                "s3::https://s3.amazonaws.com/b/m.zip",
                "`s3`) are not supported",
            ),
            (
                "gcs::https://www.googleapis.com/storage/v1/b/m.zip",
                "`gcs`) are not supported",
            ),
            ("oci://h.test/m", "`oci`) are not supported"),
            (
                "https://h.test/m.tar.xz",
                "tar.xz archives are not supported",
            ),
            (
                "https://h.test/m?archive=tbz2",
                "tar.bz2 archives are not supported",
            ),
            ("ssh://git@g.test/r", "needs `git::` in front"),
            ("ftp://h.test/m.zip", "nothing is known to fetch it with"),
            (
                "x::https://h.test/m.zip",
                "nothing is known to fetch it with",
            ),
            ("git::nothing", "it has no scheme"),
            ("file://other/m", "no path of this machine"),
        ] {
            let found = read(text);
            assert!(
                found.starts_with("error: ") && found.contains(expected),
                "{text}: {found}"
            );
        }
    }

    #[test]
    fn shown_addresses_hold_no_secrets() {
        for (text, expected) in [
            ("git::https://u:p@g.test/r?ref=x", "git::https://g.test/r"),
            ("https://t@h.test/m.zip?sig=s#f", "https://h.test/m.zip"),
            ("ssh://u:p@g.test:o/r?x=y", "ssh://g.test:o/r"),
        ] {
            assert_eq!(shown(text), expected);
        }
    }
}
