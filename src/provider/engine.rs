//! The tool whose behavior is followed: Terraform or OpenTofu.
//!
//! Everything that differs between the two hangs on this one value (shared rules are written once); the functions here
//! are the plain facts, and rooms that need a finer rule ask for it by the engine.

use std::fmt;

/// Terraform (as of 1.15.9) or OpenTofu (as of 1.12.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Engine {
    /// Terraform.
    Terraform,
    /// OpenTofu.
    Tofu,
}

impl Engine {
    /// The name of the program, as the header of a lock file and hints to the user give it.
    pub const fn program(self) -> &'static str {
        match self {
            Self::Terraform => "terraform",
            Self::Tofu => "tofu",
        }
    }

    /// The host of a provider whose source names none.
    pub const fn default_host(self) -> &'static str {
        match self {
            Self::Terraform => "registry.terraform.io",
            Self::Tofu => "registry.opentofu.org",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.program())
    }
}
