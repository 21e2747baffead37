//! Vocabulary: the words of the field as types. Pure: no files, no network, no clock.
//!
//! Everything here is read from text and can be shown as text again, in the one form that lock files and registries use.

mod address;
mod constraint;
mod engine;
mod error;
mod hash;
mod hostname;
mod module;
mod package;
mod platform;
mod requirements;
mod selection;
mod version;

pub use address::ProviderAddr;
pub use constraint::{Constraint, Operator, VersionConstraints};
pub use engine::Engine;
pub use error::{
    AddressError, AddressProblem, ConstraintError, ConstraintProblem, HashError, HostnameError,
    PlatformError, VersionError, VersionProblem,
};
pub use hash::{Digest, Hash, HashScheme};
pub use hostname::Hostname;
pub use module::{ModuleVersion, ModuleVersionConstraints, newest_module};
pub use package::PackageId;
pub use platform::Platform;
pub use requirements::{Requirement, Requirements};
pub use selection::newest;
pub use version::Version;
