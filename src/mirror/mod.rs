//! A directory of packages: a filesystem mirror, and behind any web server a network mirror.
//!
//! ```text
//! DIR/HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip      packed
//! DIR/HOST/NAMESPACE/TYPE/index.json, VERSION.json                         what a network mirror answers with
//! DIR/HOST/NAMESPACE/TYPE/VERSION/OS_ARCH/...                              unpacked
//! ```
//!
//! [`list`] and [`MirrorDirectory`] only look; [`Mirror`] writes.
//!
//! # Beside readers
//!
//! Any number of processes may write and read at the same time, and none of them takes a lock. `init` of Terraform and
//! OpenTofu walks through the whole directory, all files of unpacked packages included, and fails if any name that it has
//! read in a directory is gone when it looks closer, whatever that name is. So temporary names are never made in `DIR` but
//! beside it (`staging`), and a name in `DIR` appears with all of its content and is replaced in one step. Only what is
//! pruned disappears; see `prune`.
//!
//! Index files are made from what lies in the directory, and after they were written the directory is looked at again
//! (`index`): whoever writes last has seen all.

mod copy;
mod directory;
mod error;
mod index;
mod listing;
mod prune;
mod staging;
mod writer;

pub use directory::{Layout, MirrorDirectory, StoredPackage};
pub use error::MirrorError;
pub use index::{PublishedHashes, UnlistedZip};
pub use listing::{ListedPackage, LocalPackage, list};
pub use prune::{NeededVersions, PruneScope};
pub use writer::{Incoming, Mirror};
