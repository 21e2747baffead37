//! Determines which hosts git and Mercurial may contact for an untrusted configuration, and which of them get the user's credentials.

use std::borrow::Cow;

use url::Url;

use crate::git::GitSettings;
use crate::mercurial::HgSettings;
use crate::modules::{ModuleError, RepositoryPackage};
use crate::redacted_url::RedactedUrl;
use crate::registry::AllowedHosts;

#[derive(Clone, Copy)]
pub(in crate::modules) struct RepositoryAccess<'a> {
    pub(in crate::modules) git: &'a GitSettings,
    pub(in crate::modules) mercurial: &'a HgSettings,
    pub(in crate::modules) hosts: &'a AllowedHosts,
}

impl<'a> RepositoryAccess<'a> {
    /// Returns the git settings for an address. Git gets no credentials for hosts that the user has not allowed, such as a host named by a
    /// registry.
    pub(in crate::modules) fn git_for(&self, url: &str) -> Cow<'a, GitSettings> {
        if self.allows_credentials(url) {
            Cow::Borrowed(self.git)
        } else {
            Cow::Owned(self.git.anonymous())
        }
    }

    /// Does the same as [`RepositoryAccess::git_for`] for Mercurial.
    pub(in crate::modules) fn mercurial_for(&self, url: &str) -> Cow<'a, HgSettings> {
        if self.allows_credentials(url) {
            Cow::Borrowed(self.mercurial)
        } else {
            Cow::Owned(self.mercurial.anonymous())
        }
    }

    fn allows_credentials(&self, url: &str) -> bool {
        match Url::parse(url) {
            Ok(url) if url.scheme() == "file" => true,
            Ok(url) => self.hosts.allows_url(&url),
            Err(_not_a_url) => self.hosts.is_unlimited(),
        }
    }

    /// Checks the address of a submodule. For an untrusted configuration, it must be on the same host as its repository or on an
    /// allowed host, and it must not be on this machine.
    pub(in crate::modules) fn check_submodule(
        &self,
        package: &RepositoryPackage,
        submodule: &RepositoryPackage,
    ) -> Result<(), ModuleError> {
        if self.hosts.is_unlimited() {
            return Ok(());
        }
        let url = Url::parse(&submodule.url).ok();
        let Some(url) = url.filter(|url| matches!(url.scheme(), "https" | "ssh")) else {
            return Err(ModuleError::OutsideRepository(RedactedUrl::parse(
                &submodule.url,
            )));
        };
        let has_same_host = Url::parse(&package.url)
            .is_ok_and(|own| own.host() == url.host() && own.port() == url.port());
        if has_same_host || self.hosts.allows_url(&url) {
            return Ok(());
        }
        let host = url.host_str().unwrap_or_default();
        Err(ModuleError::HostNotAllowed(host.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::modules::VersionControl;
    use crate::provider::Hostname;

    #[test]
    fn submodules_must_be_on_allowed_hosts() {
        let settings = GitSettings::new("git", BTreeMap::new());
        let allowed = AllowedHosts::only([Hostname::parse("good.test").unwrap()]);
        let everywhere = AllowedHosts::all();
        let mercurial = HgSettings::new("hg", BTreeMap::new());
        let package = |url: &str| RepositoryPackage {
            program: VersionControl::Git,
            url: url.to_owned(),
            reference: None,
            is_local: url.starts_with("file:"),
        };
        for (repository, submodule, expected) in [
            ("https://own.test/r", "https://own.test/x", true),
            ("https://own.test/r", "https://good.test/x", true),
            ("https://own.test/r", "ssh://git@good.test/x", true),
            ("https://own.test/r", "https://own.test:8443/x", false),
            ("https://own.test/r", "https://evil.test/x", false),
            ("https://own.test/r", "git@good.test:x", false),
            ("https://own.test/r", "file:///etc", false),
            ("file:///srv/r", "file:///srv/x", false),
        ] {
            let (repository, submodule) = (package(repository), package(submodule));
            for (hosts, expected) in [(&allowed, expected), (&everywhere, true)] {
                let access = RepositoryAccess {
                    git: &settings,
                    mercurial: &mercurial,
                    hosts,
                };
                let found = access.check_submodule(&repository, &submodule);
                assert_eq!(found.is_ok(), expected, "{submodule:?}");
            }
        }
    }

    #[test]
    fn only_allowed_hosts_get_credentials() {
        let settings = GitSettings::new("git", BTreeMap::new());
        let hosts = AllowedHosts::only([Hostname::parse("good.test").unwrap()]);
        let mercurial = HgSettings::new("hg", BTreeMap::new());
        let access = RepositoryAccess {
            git: &settings,
            mercurial: &mercurial,
            hosts: &hosts,
        };
        for (url, with_credentials) in [
            ("https://good.test/r", true),
            ("https://evil.test/r", false),
            ("git@good.test:r", false),
            ("file:///srv/r", true),
        ] {
            let is_own = matches!(access.git_for(url), Cow::Borrowed(_));
            assert_eq!(is_own, with_credentials, "{url}");
            let is_own = matches!(access.mercurial_for(url), Cow::Borrowed(_));
            assert_eq!(is_own, with_credentials, "{url}");
        }
    }
}
