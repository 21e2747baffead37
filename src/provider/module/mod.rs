//! Module versions and the constraints of module calls.
//!
//! Both differ from those of providers. A version may start with `v` and have more than three numbers, prereleases are ordered
//! differently, and only the first parser of constraint strings applies. When a recorded version is checked, a range with a
//! prerelease allows other prereleases with the same numbers. When a new version is selected, a prerelease is allowed only if a
//! constraint names it exactly.

mod constraints;
mod version;

pub use constraints::{ModuleVersionConstraints, newest_module};
pub use version::ModuleVersion;
