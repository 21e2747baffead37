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
mod keeping;
mod note;
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
pub use assemble::{Evidence, Listed, Verdict, assemble, judge, strays};
pub use audit::{Audit, Audited, audit};
pub use directory::{Job, Outcome, Verified, lock_directory, requirements_of};
pub use error::{Lack, LockingError, PackageFailure, Problem};
pub use finding::{Finding, Fix, Rule};
pub use note::Note;
pub use packages::{Packages, Source};
pub use policy::{Mismatch, Missing, Move, Policy, Scope, TargetError, Upgrade, UpgradeTarget};
pub use recall::Recall;
pub use record::{Form, Origin, PackageRecord, Voucher};
pub use select::{Selection, check_constraints, foregone, select};
pub use signers::{Fingerprint, RefusedSigner, SignerRules, Signers, SignersError};
pub use transfer::{Downloaded, TransferError};
pub use trust::Trust;
