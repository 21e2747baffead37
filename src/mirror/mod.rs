//! A directory of packages: a filesystem mirror and, if a web server serves it, a network mirror.
//!
//! ```text
//! DIR/HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip      packed
//! DIR/HOST/NAMESPACE/TYPE/index.json, VERSION.json                         index of the network mirror
//! DIR/HOST/NAMESPACE/TYPE/VERSION/OS_ARCH/...                              unpacked
//! ```
//!
//! [`list`] and [`MirrorDirectory`] only read; [`Mirror`] writes.
//!
//! # Concurrent readers and writers
//!
//! Any number of processes can write and read at the same time, without locks. `init` of Terraform and OpenTofu walks the whole
//! directory, including all files of unpacked packages, and fails if a name that it has listed is gone when it opens it. Temporary
//! files are therefore not created in `DIR` but next to it (`staging`), and each name appears in `DIR` with its whole content and
//! is replaced in one step. Only pruning removes names; see `prune`.
//!
//! Index files are generated from the content of the directory. After writing them, tflock reads the directory again (`index`), so
//! the last writer has seen all packages.

mod directory;
mod error;
mod index;
mod index_files;
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
