//! What an untrusted configuration may name: hosts that the user allows, and places inside the repository.

use std::path::PathBuf;

use url::Url;

use crate::config::{ModuleRequest, ModuleSource};
use crate::registry::AllowedHosts;

use super::address::{Package, RemoteAddress};
use super::error::ModuleError;

/// Checks the registry or server that a call itself names. Addresses that this host answers with may lead elsewhere.
pub(super) fn check_host(
    hosts: &AllowedHosts,
    source: &ModuleSource,
    package: Option<&Package>,
) -> Result<(), ModuleError> {
    let refused = |host: String| Err(ModuleError::HostNotAllowed { host });
    if let ModuleSource::Registry(module) = source
        && !hosts.allows(&module.host)
    {
        return refused(module.host.as_ascii().to_owned());
    }
    match package.and_then(url) {
        Some(url) if !hosts.allows_url(&url) => refused(authority(&url)),
        _ => Ok(()),
    }
}

/// Checks an address on this machine: an untrusted call reaches nothing outside of its repository, not even if a registry
/// answers with such an address.
pub(super) fn check_place(
    request: &ModuleRequest<'_>,
    address: &RemoteAddress,
) -> Result<(), ModuleError> {
    let Some(access) = request.confined_to else {
        return Ok(());
    };
    let path = match &address.package {
        Package::Directory(path) | Package::File(path, ..) => Some(path.clone()),
        Package::Git(git) if git.is_local => path_of(&git.url),
        Package::Git(_) | Package::Archive(_) | Package::Web(_) => return Ok(()),
    };
    if path.is_some_and(|path| access.resolve(&path).is_ok()) {
        return Ok(());
    }
    Err(ModuleError::OutsideRepository {
        address: address.package.redacted(),
    })
}

/// The address on the web, if it is one.
fn url(package: &Package) -> Option<Url> {
    match package {
        Package::Git(git) if git.is_local => None,
        Package::Git(git) => Url::parse(&git.url).ok(),
        Package::Archive(archive) => Some(archive.url.clone()),
        Package::Web(url) => Some(url.clone()),
        Package::Directory(_) | Package::File(..) => None,
    }
}

fn path_of(url: &str) -> Option<PathBuf> {
    Url::parse(url).ok()?.to_file_path().ok()
}

fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port()
        .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}
