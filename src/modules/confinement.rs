//! Confines an untrusted configuration to the hosts that the user allows, and to paths inside its repository.

use std::path::PathBuf;

use url::Url;

use crate::config::{ModuleRequest, ModuleSource};
use crate::redacted_url::RedactedUrl;
use crate::registry::AllowedHosts;

use super::address::git_path;
use super::checksum_list::local_path;
use super::repository::is_self_contained;
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
    let list = package.and_then(ModulePackage::checksum_list);
    let list = list.filter(|list| list.scheme() != "file").cloned();
    let mut urls = package.and_then(remote_url).into_iter().chain(list);
    match urls.find(|url| !hosts.allows_url(url)) {
        Some(url) => refused(authority(&url)),
        None => Ok(()),
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
    let is_inside = |path: Option<PathBuf>| path.is_some_and(|path| access.resolve(&path).is_ok());
    let list = address.package.checksum_list();
    if let Some(list) = list.filter(|list| list.scheme() == "file")
        && !is_inside(local_path(list).ok())
    {
        return Err(ModuleError::OutsideRepository(RedactedUrl::from(list)));
    }
    let path = match &address.package {
        ModulePackage::Directory(path) | ModulePackage::File(path, ..) => Some(path.clone()),
        ModulePackage::Repository(local) if local.is_local => {
            let is_safe = |path: &PathBuf| is_self_contained(local.program, path);
            git_path(&local.url).filter(is_safe)
        }
        ModulePackage::Repository(_)
        | ModulePackage::Archive(_)
        | ModulePackage::Objects(_)
        | ModulePackage::Oci(_)
        | ModulePackage::Web(_) => return Ok(()),
    };
    if is_inside(path) {
        return Ok(());
    }
    Err(ModuleError::OutsideRepository(address.package.redacted()))
}

/// Returns the URL of a package, or `None` if the package is on this machine or its address is not a URL.
fn remote_url(package: &ModulePackage) -> Option<Url> {
    match package {
        ModulePackage::Repository(local) if local.is_local => None,
        ModulePackage::Repository(repository) => Url::parse(&repository.url).ok(),
        ModulePackage::Archive(archive) => Some(archive.url.clone()),
        ModulePackage::Objects(objects) => Some(objects.url.clone()),
        ModulePackage::Oci(module) => Some(module.repository.url("")),
        ModulePackage::Web(url) => Some(url.clone()),
        ModulePackage::Directory(_) | ModulePackage::File(..) => None,
    }
}

fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port()
        .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::{Engine, Hostname};

    #[test]
    fn every_server_of_a_package_must_be_allowed() {
        let hosts = AllowedHosts::only([Hostname::parse("good.test").unwrap()]);
        for (source, expected) in [
            ("https://good.test/m.zip", None),
            ("https://evil.test/m.zip", Some("evil.test")),
            ("https://good.test:8443/m.zip", Some("good.test:8443")),
            (
                "https://good.test/m.zip?checksum=file:https://good.test/SUMS",
                None,
            ),
            (
                "https://good.test/m.zip?checksum=file:https://evil.test/SUMS",
                Some("evil.test"),
            ),
            ("git::https://evil.test/r", Some("evil.test")),
            ("hg::ssh://hg@evil.test/r", Some("evil.test")),
        ] {
            let remote = ModuleSource::Remote(source.to_owned());
            let address = RemoteAddress::parse(source, Engine::Terraform).unwrap();
            let refused = match check_host(&hosts, &remote, Some(&address.package)) {
                Err(ModuleError::HostNotAllowed(host)) => Some(host),
                _ => None,
            };
            assert_eq!(refused.as_deref(), expected, "{source}");
        }
    }
}
