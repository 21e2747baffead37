//! Which version is taken, of those on offer.

use super::{Version, VersionConstraints};

/// The newest version that the constraints allow. Platforms and protocols take no part in the choice.
///
/// Versions that differ in metadata only have the same precedence. The engines then pick one at random; here it is always the
/// one with the highest metadata by bytes, none being lowest.
pub fn newest<'a>(
    versions: impl IntoIterator<Item = &'a Version>,
    constraints: &VersionConstraints,
) -> Option<&'a Version> {
    versions
        .into_iter()
        .filter(|version| constraints.allows(version))
        .max()
}
