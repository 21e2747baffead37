//! Versions of modules and the constraints of module calls.
//!
//! They differ from those of providers. A version may start with `v` and have more than three numbers, prereleases are ordered
//! differently, and only the first parser of constraint strings applies. When a recorded version is checked, a range with a
//! prerelease allows other prereleases of the same numbers. A new version is a prerelease only if a constraint names it exactly.

mod constraints;
mod version;

pub use constraints::{ModuleVersionConstraints, newest_module};
pub use version::ModuleVersion;
