//! The name of one package: what is downloaded, hashed and unpacked as one.

use std::fmt;

use super::{Platform, ProviderAddr, Version};

/// Names one package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackageId {
    /// The provider.
    pub provider: ProviderAddr,
    /// The version.
    pub version: Version,
    /// The platform.
    pub platform: Platform,
}

/// As it goes on after "the package".
impl fmt::Display for PackageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "of `{}` {} for `{}`",
            self.provider, self.version, self.platform
        )
    }
}
