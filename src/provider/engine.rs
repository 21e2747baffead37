//! The engine whose behavior tflock reproduces: Terraform or OpenTofu.
//!
//! Code that differs between the two takes an [`Engine`]. Rules that both share are written once.

use std::fmt;

/// Terraform (as of 1.15.9) or OpenTofu (as of 1.12.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Engine {
    Terraform,
    Tofu,
}

impl Engine {
    /// Returns the name of the program, for the header of a lock file and for hints.
    pub const fn program(self) -> &'static str {
        match self {
            Self::Terraform => "terraform",
            Self::Tofu => "tofu",
        }
    }

    /// Returns the registry of providers whose source has no host.
    pub const fn default_host(self) -> &'static str {
        match self {
            Self::Terraform => "registry.terraform.io",
            Self::Tofu => "registry.opentofu.org",
        }
    }

    /// Returns the name of the lock file in the directory of a root module.
    pub const fn lock_file_name(self) -> &'static str {
        match self {
            Self::Terraform | Self::Tofu => ".terraform.lock.hcl",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.program())
    }
}
