//! Confines an untrusted configuration to the hosts that the user allows, and to paths inside its repository.

use url::Url;

use crate::config::{ModuleRequest, ModuleSource};
use crate::registry::AllowedHosts;

use super::address::git_path;
use super::{ModuleError, ModulePackage, RemoteAddress};

/// Checks that a registry or server named in a module call is allowed. Addresses in the responses of allowed hosts are not checked.
pub(super) fn check_host(
    hosts: &AllowedHosts,
    source: &ModuleSource,
    package: Option<&ModulePackage>,
) -> Result<(), ModuleError> {
    let refused = |host: String| Err(ModuleError::HostNotAllowed(host));
    if let ModuleSource::Registry(module) = source
        && !hosts.allows(&module.host)
    {
        return refused(module.host.as_ascii().to_owned());
    }
    match package.and_then(remote_url) {
        Some(url) if !hosts.allows_url(&url) => refused(authority(&url)),
        _ => Ok(()),
    }
}

/// Checks an address on this machine. An untrusted call must not read files outside its repository, even if a registry supplied the
/// address.
pub(super) fn check_local_path(
    request: &ModuleRequest<'_>,
    address: &RemoteAddress,
) -> Result<(), ModuleError> {
    let Some(access) = request.confined_to else {
        return Ok(());
    };
    let path = match &address.package {
        ModulePackage::Directory(path) | ModulePackage::File(path, ..) => Some(path.clone()),
        ModulePackage::Git(git) if git.is_local => git_path(&git.url),
        ModulePackage::Git(_) | ModulePackage::Archive(_) | ModulePackage::Web(_) => return Ok(()),
    };
    if path.is_some_and(|path| access.resolve(&path).is_ok()) {
        return Ok(());
    }
    Err(ModuleError::OutsideRepository(address.package.redacted()))
}

/// Returns the URL of a package, or `None` if the package is on this machine or its address is not a URL.
fn remote_url(package: &ModulePackage) -> Option<Url> {
    match package {
        ModulePackage::Git(git) if git.is_local => None,
        ModulePackage::Git(git) => Url::parse(&git.url).ok(),
        ModulePackage::Archive(archive) => Some(archive.url.clone()),
        ModulePackage::Web(url) => Some(url.clone()),
        ModulePackage::Directory(_) | ModulePackage::File(..) => None,
    }
}

fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port()
        .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}
