//! Addresses of modules in OCI registries, as OpenTofu reads them. See section 5 of docs/rules/oci.md.

use std::fmt;

use url::form_urlencoded;

use super::archive_kind::NamedFormat;
use super::file_path::decode;
use super::invalid;
use crate::modules::ModuleError;
use crate::oci::{OciDigest, RepositoryAddress, is_tag};

/// The tag if an address contains neither a tag nor a digest.
const DEFAULT_TAG: &str = "latest";

/// A module package in an OCI registry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::modules) struct OciModule {
    pub(in crate::modules) repository: RepositoryAddress,
    pub(in crate::modules) reference: OciReference,
}

/// The tag or digest that identifies the manifest of a package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::modules) enum OciReference {
    Tag(String),
    Digest(OciDigest),
}

impl OciModule {
    /// Parses `oci://REGISTRY/NAME[?tag=TAG]` or `oci://REGISTRY/NAME?digest=DIGEST`. User information and a fragment are ignored, as
    /// in OpenTofu.
    pub(super) fn parse(location: &str) -> Result<Self, ModuleError> {
        let refused = |problem| invalid(location, problem);
        let (scheme, rest) = location.split_once("://").unwrap_or_default();
        if !scheme.eq_ignore_ascii_case("oci") {
            return Err(refused(
                "an address in an OCI registry must start with `oci://`",
            ));
        }
        let rest = rest.split('#').next().unwrap_or_default();
        let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = address.split_once('/').unwrap_or((address, ""));
        let registry = authority.rsplit('@').next().unwrap_or_default();
        let name = decode(path).and_then(|bytes| String::from_utf8(bytes).ok());
        let repository = RepositoryAddress::new(registry, &name.unwrap_or_default());
        Ok(Self {
            reference: parse_query(path, query).map_err(refused)?,
            repository: repository.map_err(|_invalid| {
                refused(
                    "it must have the form `oci://REGISTRY/NAME`, with a name of lower-case letters, digits, separators and slashes",
                )
            })?,
        })
    }
}

impl fmt::Display for OciModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (repository, reference) = (&self.repository, &self.reference);
        match reference {
            OciReference::Tag(_) => write!(f, "oci://{repository}?tag={reference}"),
            OciReference::Digest(_) => write!(f, "oci://{repository}?digest={reference}"),
        }
    }
}

impl fmt::Display for OciReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tag(tag) => f.write_str(tag),
            Self::Digest(digest) => digest.fmt(f),
        }
    }
}

fn parse_query(path: &str, query: &str) -> Result<OciReference, &'static str> {
    let [mut tag, mut digest, mut archive, mut checksum] = [const { None }; 4];
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let parameter = match &*name {
            "tag" => &mut tag,
            "digest" => &mut digest,
            "archive" if !value.is_empty() => &mut archive,
            "checksum" => &mut checksum,
            _ => return Err("its query may contain only `tag` or `digest`"),
        };
        if parameter.replace(value.into_owned()).is_some() {
            return Err("its query contains a parameter twice");
        }
    }
    // In OCI addresses, go-getter itself interprets `archive`, `checksum`, and endings such as `.zip`.
    let format = match archive {
        Some(name) => NamedFormat::of_name(&name),
        None => NamedFormat::of_path(path),
    };
    if format != NamedFormat::Other {
        return Err("an archive format cannot be named, because the manifest determines it");
    }
    if checksum.is_some_and(|text| !text.is_empty()) {
        return Err("use `digest` instead of `checksum`");
    }
    match (tag, digest) {
        (Some(_), Some(_)) => Err("it must not have both `tag` and `digest`"),
        (Some(tag), None) if is_tag(&tag) => Ok(OciReference::Tag(tag)),
        (Some(_), None) => Err("its `tag` is not a valid tag"),
        (None, Some(digest)) => OciDigest::parse(&digest).map(OciReference::Digest).ok_or(
            "its `digest` is not a valid digest, such as `sha256:` and 64 lower-case digits",
        ),
        (None, None) => Ok(OciReference::Tag(DEFAULT_TAG.to_owned())),
    }
}
