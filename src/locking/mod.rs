//! The use case: requirements and existing locks become new locks.
//!
//! `select` picks one version per provider, `packages` has what registries and packages say (each thing asked for once per
//! run, or recalled from the disk cache), `assemble` makes the new entry of it, and `directory` does all three for one root
//! module. Nothing here touches lock files on disk.

mod age;
mod assemble;
mod audit;
mod directory;
mod error;
mod finding;
mod join;
mod note;
mod package_mirror;
mod packages;
mod policy;
mod recall;
mod record;
mod select;
mod signers;
mod transfer;
mod trust;
mod work;

pub use age::Undated;
pub use assemble::{Evidence, ListedHashes, Verdict, assemble, judge, strays};
pub use audit::{Audit, AuditTarget, audit};
pub use directory::{
    LockJob, LockedDirectory, VerifiedPackage, lock_directory, requirements_from_lock,
};
pub use error::{CacheGap, LockingError, LockingProblem, PackageFailure};
pub use finding::{Finding, Fix, Rule};
pub use note::Note;
pub use packages::{EngineSource, Packages};
pub use policy::{
    Mismatch, Missing, Policy, ProviderScope, TargetError, Upgrade, UpgradeTarget, VersionTarget,
};
pub use recall::CacheAccess;
pub use record::{HashOrigin, PackageForm, PackageRecord, Voucher};
pub use select::{Selection, check_constraints, foregone, select};
pub use signers::{Fingerprint, RefusedSigner, SignerRules, Signers, SignersError};
pub use transfer::{Downloaded, TransferError};
pub use trust::Trust;
