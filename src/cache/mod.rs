//! The disk cache: stores results for later runs and for other processes.
//!
//! ```text
//! BASE/                 TFLOCK_CACHE_DIR, or `tflock` in the system's cache directory
//!   v1/                 the current layout; a later one gets a different name
//!     hashes/           digest of a zip and type of its provider -> h1                       (`package_hashes`)
//!     answers/          a registry's description of one package, with its checksum list      (`package_answer`)
//!     index-records/    digest of a zip and type of its provider -> signed record of a hash index    (`index_record`)
//!     modules/          fetched modules
//! ```
//!
//! An entry is a file or directory named after the digest of its key. It is written under a temporary name and renamed, so that any
//! number of processes can share a cache without locks: a reader never sees an incomplete entry. Nothing is flushed to disk
//! (`fsync`), because everything can be fetched again; a checksum in each file (`entry_format`) detects damage after a crash.
//! Damaged or misplaced entries are treated as missing.
//!
//! A user who can write to the cache could influence lock files, so it is used only if its directory is private to the user
//! (`private_directory`). The cache does not record that something was verified: signatures are verified at each use. Tokens, and
//! addresses that may contain one, are never written to it.

mod disk_cache;
mod entry_format;
mod error;
mod index_record;
mod package_answer;
mod package_hashes;
mod private_directory;
mod usage;

pub use disk_cache::{CacheArea, CacheKey, DiskCache};
pub use error::CacheError;
pub use package_answer::{AnswerKey, PackageAnswer};
pub use usage::{EntryUsage, TrimLimits, clean, usage};
