//! The identity of a package.

use std::fmt;

use super::{Platform, ProviderAddr, Version};

/// Identifies a package: the zip of one version of a provider for one platform.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackageId {
    pub provider: ProviderAddr,
    pub version: Version,
    pub platform: Platform,
}

/// Displays what follows "the package" in a message, such as ``of `HOST/NAMESPACE/TYPE` 1.0.0 for `linux_amd64` ``.
impl fmt::Display for PackageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "of `{}` {} for `{}`",
            self.provider, self.version, self.platform
        )
    }
}
