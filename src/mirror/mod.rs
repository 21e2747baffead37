//! A directory of packages: a filesystem mirror, and behind any web server a network mirror.
//!
//! ```text
//! BASE/HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip      packed
//! BASE/HOST/NAMESPACE/TYPE/VERSION/OS_ARCH/...                              unpacked
//! ```

mod listing;

pub use listing::{Listed, LocalPackage, list};
