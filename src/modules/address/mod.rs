//! Addresses of remote modules: `[GETTER::]URL[//SUBDIRECTORY][?QUERY]`, as go-getter parses them.
//!
//! The subdirectory ends where the query begins, and the query belongs to the package. Parameters that are meant for the getter are
//! removed from the query: `ref` and `depth` for git, `rev` for Mercurial, `archive` and `checksum` for archives.

mod archive_form;
mod archive_kind;
mod bucket_address;
mod file_path;
mod oci_address;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use url::Url;

use crate::buckets::ObjectAddress;
use crate::config::{ModuleSource, clean_subdirectory, split_getter, split_subdirectory};
use crate::provider::Engine;
use crate::redacted_url::RedactedUrl;

use super::checksum::ChecksumSource;
use super::error::ModuleError;
use super::repository::{RepositoryPackage, VersionControl};
use archive_form::{ArchiveForm, UrlQuery};
pub(super) use archive_kind::ArchiveKind;
use file_path::directory_path;
pub(super) use file_path::git_path;
pub(super) use oci_address::{OciModule, OciReference};

/// A package, and the subdirectory of a module in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RemoteAddress {
    pub(super) package: ModulePackage,
    /// A path that may contain wildcards; empty for the root of the package.
    pub(super) subdirectory: String,
}

/// A repository, archive or directory that contains modules. A run fetches each package only once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ModulePackage {
    Repository(RepositoryPackage),
    Archive(ArchivePackage),
    /// All objects below a prefix.
    Objects(ObjectsPackage),
    Oci(OciModule),
    /// A web address that redirects to a different source.
    Web(Url),
    Directory(PathBuf),
    File(PathBuf, ArchiveKind, Option<ChecksumSource>),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ArchivePackage {
    pub(super) url: Url,
    pub(super) kind: ArchiveKind,
    pub(super) checksum: Option<ChecksumSource>,
    /// The object, if the archive is in a bucket. Otherwise the archive is requested from `url`.
    pub(super) object: Option<ObjectAddress>,
}

/// All objects below a prefix in a bucket.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ObjectsPackage {
    /// The address as it is written.
    pub(super) url: Url,
    pub(super) prefix: ObjectAddress,
}

impl RemoteAddress {
    /// Parses a normalized source, an address from a registry, or the target of a redirect.
    pub(super) fn parse(text: &str, engine: Engine) -> Result<Self, ModuleError> {
        let (getter, rest) = split_getter(text);
        let (getter, rest) = expand(getter, rest, engine)?;
        let (location, subdirectory) = split_subdirectory(&rest);
        let subdirectory = clean_subdirectory(subdirectory).map_err(|_escapes| {
            let path = subdirectory.to_owned();
            let address = RedactedUrl::parse(&location);
            ModuleError::Escapes { address, path }
        })?;
        let package = package(&getter, &location, engine)?;
        let subdirectory = subdirectory.unwrap_or_default();
        Ok(Self {
            package,
            subdirectory,
        })
    }
}

impl ModulePackage {
    /// Returns the address of the file that lists the checksum of the package.
    pub(super) fn checksum_list(&self) -> Option<&Url> {
        let checksum = match self {
            Self::Archive(archive) => archive.checksum.as_ref(),
            Self::File(.., checksum) => checksum.as_ref(),
            Self::Repository(_)
            | Self::Objects(_)
            | Self::Oci(_)
            | Self::Web(_)
            | Self::Directory(_) => None,
        };
        match checksum {
            Some(ChecksumSource::List(list)) => Some(list),
            _ => None,
        }
    }

    pub(super) fn redacted(&self) -> RedactedUrl {
        match self {
            Self::Repository(repository) => repository.address(),
            Self::Archive(archive) => RedactedUrl::from(&archive.url),
            Self::Objects(objects) => RedactedUrl::from(&objects.url),
            Self::Oci(module) => RedactedUrl::with_revision(&module.to_string()),
            Self::Web(url) => RedactedUrl::from(url),
            Self::Directory(path) | Self::File(path, ..) => RedactedUrl::local(path),
        }
    }
}

/// Expands shorthands that follow a getter, as in `git::github.com/o/r` and `git::/srv/repo`.
fn expand(getter: &str, rest: &str, engine: Engine) -> Result<(String, String), ModuleError> {
    if rest.contains("://") {
        return Ok((getter.to_owned(), rest.to_owned()));
    }
    if let Some(path) = short_file_path(rest)
        && matches!(getter, "" | "file")
    {
        return Ok((getter.to_owned(), format!("file://{path}")));
    }
    match ModuleSource::parse(rest, engine) {
        Ok(ModuleSource::Remote(full)) if full.contains("://") => {
            let (implied, location) = split_getter(&full);
            let getter = if getter.is_empty() { implied } else { getter };
            Ok((getter.to_owned(), location.to_owned()))
        }
        _ => Err(invalid(rest, "it has no scheme such as `https://`")),
    }
}

/// Returns the path of an address such as `file:/path`, with one slash.
fn short_file_path(address: &str) -> Option<&str> {
    let (scheme, path) = address.split_once(':')?;
    (scheme.eq_ignore_ascii_case("file") && path.starts_with('/')).then_some(path)
}

fn package(getter: &str, location: &str, engine: Engine) -> Result<ModulePackage, ModuleError> {
    let scheme = location
        .split("://")
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    match (getter, scheme.as_str()) {
        ("git", _) | ("", "git") => git(location, &scheme),
        ("hg", _) | ("", "hg") => {
            mercurial_package(location, &scheme).map(ModulePackage::Repository)
        }
        ("s3", _) | ("", "s3") => objects(location, bucket_address::parse_s3),
        ("gcs", _) | ("", "gcs") => objects(location, bucket_address::parse_gcs),
        ("oci", _) | ("", "oci") if engine == Engine::Terraform => {
            Err(ModuleError::OciWithTerraform(RedactedUrl::parse(location)))
        }
        ("oci", _) | ("", "oci") => OciModule::parse(location).map(ModulePackage::Oci),
        ("" | "http" | "https", "http" | "https") => web(location),
        ("" | "file", "file") => file(location),
        ("", "ssh") => Err(invalid(location, "an ssh address must start with `git::`")),
        _ => Err(invalid(location, "its scheme is not supported")),
    }
}

fn git(location: &str, scheme: &str) -> Result<ModulePackage, ModuleError> {
    let (mut package, mut query) = repository(VersionControl::Git, location, scheme)?;
    // The depth is ignored, because tflock needs only one commit.
    drop(query.take("depth"));
    if query.take("sshkey").is_some() {
        return Err(ModuleError::Unsupported(
            "private keys in addresses (`sshkey`)",
        ));
    }
    let reference = package.reference.as_deref();
    if reference.is_some_and(|name| !is_reference(name)) {
        return Err(invalid(
            location,
            "its `ref` is not a valid branch, tag or commit",
        ));
    }
    query.append_to(&mut package.url);
    Ok(ModulePackage::Repository(package))
}

/// Parses the address of a Mercurial repository.
pub(super) fn mercurial_package(
    location: &str,
    scheme: &str,
) -> Result<RepositoryPackage, ModuleError> {
    let (mut package, query) = repository(VersionControl::Mercurial, location, scheme)?;
    if location.contains('#') {
        return Err(invalid(
            location,
            "a revision belongs in `?rev=`, not after `#`",
        ));
    }
    let reference = package.reference.as_deref();
    if reference.is_some_and(|name| name.starts_with('-') || name.contains(char::is_control)) {
        return Err(invalid(
            location,
            "its `rev` is not a valid branch, tag, bookmark or commit",
        ));
    }
    query.append_to(&mut package.url);
    Ok(package)
}

/// Parses the parts that the addresses of all repositories have in common. Returns the package, whose URL has no query, and the remaining
/// query.
fn repository(
    program: VersionControl,
    location: &str,
    scheme: &str,
) -> Result<(RepositoryPackage, UrlQuery), ModuleError> {
    if !matches!(scheme, "https" | "ssh" | "file") {
        return Err(ModuleError::Protocol {
            program,
            address: RedactedUrl::parse(location),
            protocol: scheme.to_owned(),
        });
    }
    let url = Url::parse(location).map_err(|_no_url| {
        invalid(
            location,
            "it is not a valid URL; check that its port is a number",
        )
    })?;
    let starts_like_option =
        |text: &str| text.starts_with('-') || text.to_ascii_lowercase().starts_with("%2d");
    if location.chars().any(char::is_control)
        || url.host_str().is_some_and(starts_like_option)
        || starts_like_option(url.username())
    {
        return Err(invalid(
            location,
            "ssh could interpret part of it as an option",
        ));
    }
    let mut query = UrlQuery::parse(&url);
    let reference = query.take(program.revision_parameter());
    let plain = location.split('?').next().unwrap_or_default();
    let package = RepositoryPackage {
        program,
        url: plain.to_owned(),
        reference: reference.filter(|reference| !reference.is_empty()),
        is_local: scheme == "file",
    };
    Ok((package, query))
}

/// Whether git interprets `name` as the name of a commit, not as an option, a range or a refspec.
fn is_reference(name: &str) -> bool {
    let is_special = |c: char| c.is_control() || c.is_whitespace() || "~^:?*[\\".contains(c);
    !name.starts_with(['-', '+']) && !name.contains(is_special) && !name.contains("..")
}

fn web(location: &str) -> Result<ModulePackage, ModuleError> {
    let mut url = parse_url(location)?;
    let ArchiveForm {
        kind,
        checksum,
        query,
    } = ArchiveForm::parse(&url)?;
    url.set_query(query.render().as_deref());
    Ok(match kind {
        Some(kind) => ModulePackage::Archive(ArchivePackage {
            url,
            kind,
            checksum,
            object: None,
        }),
        None => ModulePackage::Web(url),
    })
}

/// Parses the address of an archive in a bucket, or of a prefix.
fn objects(
    location: &str,
    parse: impl Fn(&Url) -> Result<ObjectAddress, ModuleError>,
) -> Result<ModulePackage, ModuleError> {
    let mut url = parse_url(location)?;
    let form = ArchiveForm::parse(&url)?;
    url.set_query(form.query.render().as_deref());
    let object = parse(&url)?;
    Ok(match form.kind {
        Some(kind) => ModulePackage::Archive(ArchivePackage {
            url,
            kind,
            checksum: form.checksum,
            object: Some(object),
        }),
        None => ModulePackage::Objects(ObjectsPackage {
            url,
            prefix: object,
        }),
    })
}

fn file(location: &str) -> Result<ModulePackage, ModuleError> {
    let ArchiveForm { kind, checksum, .. } = ArchiveForm::parse(&parse_url(location)?)?;
    let path = directory_path(location)
        .ok_or_else(|| invalid(location, "it is not a path on this machine"))?;
    Ok(match kind {
        Some(kind) => ModulePackage::File(path, kind, checksum),
        None => ModulePackage::Directory(path),
    })
}

/// Parses a URL. Trailing spaces belong to its path or query, and control characters are an error. [`Url::parse`] would remove both.
fn parse_url(location: &str) -> Result<Url, ModuleError> {
    if location.contains(|c: char| c.is_ascii_control()) {
        return Err(invalid(location, "it contains a control character"));
    }
    Url::parse(&location.replace(' ', "%20"))
        .map_err(|_not_a_url| invalid(location, "it is not a valid URL"))
}

fn invalid(address: &str, problem: &'static str) -> ModuleError {
    ModuleError::Address {
        address: RedactedUrl::parse(address),
        problem,
    }
}
