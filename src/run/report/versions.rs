//! Lists of packages in text reports.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::provider::{PackageId, ProviderAddr, Version};

/// Writes one line for each version, with its platforms.
pub(in crate::run) fn write_versions<'a>(
    text: &mut String,
    verb: &str,
    ids: impl Iterator<Item = &'a PackageId>,
) {
    let mut versions: BTreeMap<(&ProviderAddr, &Version), Vec<String>> = BTreeMap::new();
    for id in ids {
        let platforms = versions.entry((&id.provider, &id.version)).or_default();
        platforms.push(id.platform.to_string());
    }
    for ((provider, version), platforms) in versions {
        let platforms = platforms.join(", ");
        let _ = writeln!(text, "{verb:<9} {provider} {version} ({platforms})");
    }
}
