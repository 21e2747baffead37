//! The disk cache: what a run learned, for all runs that follow and for those beside it.
//!
//! ```text
//! BASE/                 TFLOCK_CACHE_DIR, or `tflock` in the system's directory for caches
//!   v1/                 this layout; another one will have another name
//!     hashes/           digest of a zip and type of its provider -> h1          (`hashes`)
//!     answers/          what a registry says of one package, with its signed list (`answer`)
//!     modules/          fetched modules
//! ```
//!
//! An entry lies under the digest of the question that it answers, in a file or directory of its own. It is made under a
//! temporary name and renamed, so that any number of processes share a cache without locks: a reader sees a whole entry or
//! none. Nothing is flushed to disk (`fsync`), since everything can be had again; a check inside each file (`entry`) finds
//! what a crash has left of it. An entry that is damaged or does not belong where it lies is as good as none.
//!
//! Who can write the cache can write lock files, so it is used only if it belongs to the user alone (`place`). Nothing in it
//! says "verified": signatures are checked whenever an answer is used. Tokens, and addresses that could carry one, never
//! enter it.

mod answer;
mod entry;
mod error;
mod hashes;
mod place;
mod store;
mod upkeep;

pub use answer::{Answer, Question};
pub use error::CacheError;
pub use store::{Key, Kind, Store};
pub use upkeep::{Bounds, Usage, clean, usage};
