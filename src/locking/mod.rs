//! The core of tflock: computes new lock files from requirements and existing lock files, or verifies existing ones.
//!
//! `lock_directory` locks a root module, and `audit` verifies its lock file. Both work on one `provider_task` per required
//! provider: `select` chooses its version, `packages` provides what registries and packages say about that version, and
//! `evidence` compares it with the recorded hashes and builds the new entry. Nothing in this module writes lock files.

mod audit;
mod cache_server;
mod directory;
mod disk_cache;
mod error;
mod evidence;
mod fingerprint;
mod join_bounded;
mod lock_provider;
mod min_age;
mod mirrored_packages;
mod note;
mod package_index;
mod package_mirror;
mod packages;
mod policy;
mod provider_task;
mod record;
mod select;
mod signed_package;
mod signers;
mod transfer;
mod trust;
mod twins;

pub use audit::{Audit, AuditTarget, audit};
pub use directory::{
    LockJob, LockedDirectory, VerifiedPackage, lock_directory, requirements_from_lock,
};
pub use disk_cache::CacheAccess;
pub use error::{CacheGap, LockingError, LockingProblem, PackageFailure};
pub use evidence::{Evidence, ListedHashes};
pub use fingerprint::{Fingerprint, SignersError};
pub use min_age::Undated;
pub use note::Note;
pub use package_index::{AuditSample, FalseRecord, IndexUsage, PackageIndex};
pub use packages::{EngineSource, Packages};
pub use policy::{
    Mismatch, Missing, Policy, ProviderScope, TargetError, Upgrade, UpgradeTarget, VersionTarget,
};
pub use record::{HashOrigin, PackageForm, PackageRecord, Voucher};
pub use signed_package::SignedPackage;
pub use signers::{RefusedSigner, SignerPin, SignerRules, Signers};
pub use transfer::{Downloaded, TransferError};
pub use trust::Trust;
