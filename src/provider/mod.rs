//! The basic types: addresses, versions, constraints, platforms and hashes. This module performs no I/O and reads no clock.
//!
//! Each type parses text and displays itself in the canonical form that lock files and registries use.

mod address;
mod constraint;
mod engine;
mod error;
mod hash;
mod hostname;
mod module;

mod package_id;
mod platform;
mod requirements;
mod version;

pub use address::ProviderAddr;
pub use constraint::{Constraint, Operator, VersionConstraints, newest};
pub use engine::Engine;
pub use error::{
    AddressError, AddressProblem, ConstraintError, ConstraintProblem, HashError, HostnameError,
    PlatformError, VersionError, VersionProblem,
};
pub use hash::{Digest, Hash, HashScheme};
pub use hostname::Hostname;
pub use module::{ModuleVersion, ModuleVersionConstraints, newest_module};

pub use package_id::PackageId;
pub use platform::Platform;
pub use requirements::{Requirement, Requirements};
pub use version::Version;
