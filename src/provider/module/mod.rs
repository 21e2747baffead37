//! Versions of modules and the constraints of module calls.
//!
//! These are not the versions and constraints of providers: a module's version may have a `v` in front and more than three
//! numbers, prereleases are ordered differently, and a constraint string passes the first parser only. The two also
//! disagree about prereleases: a range admits those of its own boundary when a recorded version is checked, but a new version
//! is a prerelease only if a constraint names it.

mod constraints;
mod version;

pub use constraints::{ModuleVersionConstraints, newest_module};
pub use version::ModuleVersion;
