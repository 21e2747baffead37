//! Selects a version.

use super::{Version, VersionConstraints};

/// The newest version that the constraints allow. Supported platforms and protocols do not matter.
///
/// If the newest versions differ only in metadata, the engines pick one at random. This function picks the one whose metadata is
/// the highest in byte order.
pub fn newest<'a>(
    versions: impl IntoIterator<Item = &'a Version>,
    constraints: &VersionConstraints,
) -> Option<&'a Version> {
    versions
        .into_iter()
        .filter(|version| constraints.allows(version))
        .max()
}
