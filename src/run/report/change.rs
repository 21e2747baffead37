//! Describes how a lock file changed, as text.

use std::collections::BTreeSet;

use super::{DirectoryReport, Fate, ProviderReport};
use crate::config::MovedModule;
use crate::lockfile::{Change, Update};
use crate::provider::{Engine, Hash, HashScheme, ProviderAddr, VersionConstraints};

/// Returns one line for each provider that changed, or a single line if only the format of the file changed. One line follows for
/// each module whose version changed, because that may explain the other changes.
pub(super) fn describe(report: &DirectoryReport) -> Vec<String> {
    let change = |provider: &ProviderReport| {
        let change = provider.change.as_ref()?;
        Some(format!(
            "{} {}",
            short(&provider.address),
            describe_change(change)
        ))
    };
    let mut changes: Vec<String> = report.providers.iter().filter_map(change).collect();
    if changes.is_empty() && report.fate == Fate::Updated {
        changes.push("rewritten in canonical form".to_owned());
    }
    let modules = report.moved_modules.iter();
    changes.extend(modules.map(|module| {
        let MovedModule { call, from, to } = module;
        format!("module {call} {from} -> {to}")
    }));
    changes
}

/// Returns the address without a default host, as users write it in `source`.
pub(super) fn short(address: &ProviderAddr) -> String {
    let host = address.hostname.as_ascii();
    if host == Engine::Terraform.default_host() || host == Engine::Tofu.default_host() {
        format!("{}/{}", address.namespace, address.type_name)
    } else {
        address.to_string()
    }
}

fn describe_change(change: &Change) -> String {
    match change {
        Change::Added(lock) => lock.version.to_string(),
        Change::Removed(lock) => format!("{} removed", lock.version),
        Change::Updated(update) => {
            let parts = [
                update
                    .version
                    .as_ref()
                    .map(|(from, to)| format!("{from} -> {to}")),
                update.constraints.as_ref().map(constraints),
                hashes(update),
            ];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            parts.join(", ")
        }
    }
}

fn constraints((from, to): &(VersionConstraints, VersionConstraints)) -> String {
    let shown = |constraints: &VersionConstraints| {
        if constraints.is_empty() {
            "none".to_owned()
        } else {
            format!("`{constraints}`")
        }
    };
    format!("constraints {} -> {}", shown(from), shown(to))
}

/// Describes how many hashes were added and removed. `None` if the version changed, because then all hashes changed, too.
fn hashes(update: &Update) -> Option<String> {
    if update.version.is_some() {
        return None;
    }
    let counts = |sign: char, hashes: &BTreeSet<Hash>| {
        let schemes = [
            (HashScheme::H1, "h1"),
            (HashScheme::Zh, "zh"),
            (HashScheme::Other, "other"),
        ];
        schemes.map(|(scheme, name)| {
            let count = hashes.iter().filter(|hash| hash.scheme() == scheme).count();
            (count > 0).then(|| format!("{sign}{count} {name}"))
        })
    };
    let added = counts('+', &update.hashes_added);
    let removed = counts('-', &update.hashes_removed);
    let parts: Vec<String> = added.into_iter().chain(removed).flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

#[cfg(test)]
mod tests {
    use super::super::samples::{directory, lock, locks};
    use super::super::{Detail, Locks};
    use super::*;

    #[test]
    fn each_change_is_one_line() {
        let old = locks(&[
            ("acme/bumped", lock("1.0.0", "1.0.0", &["h1:a"])),
            ("acme/completed", lock("1.0.0", "", &["h1:a"])),
            ("acme/gone", lock("1.0.0", "", &[])),
            ("acme/loosened", lock("1.0.0", "~> 1.0", &["h1:a", "h7:x"])),
            ("acme/same", lock("1.0.0", "", &[])),
        ]);
        let completed = lock("1.0.0", "", &["h1:a", "h1:b", "zh:a"]);
        let new = locks(&[
            ("acme/bumped", lock("1.1.0", "1.1.0", &["h1:b"])),
            ("acme/completed", completed),
            ("acme/loosened", lock("1.0.0", "", &["h1:a"])),
            ("acme/same", lock("1.0.0", "", &[])),
            ("example.com/acme/new", lock("2.0.0", "", &[])),
        ]);
        let reports = ProviderReport::between(&old, &new, Vec::new(), Detail::Everything);
        assert_eq!(reports.len(), 6);
        let expected = [
            "example.com/acme/new 2.0.0",
            "acme/bumped 1.0.0 -> 1.1.0, constraints `1.0.0` -> `1.1.0`",
            "acme/completed +1 h1 +1 zh",
            "acme/gone 1.0.0 removed",
            "acme/loosened constraints `~> 1.0` -> none, -1 other",
        ];
        let mut updated = directory("a", Fate::Updated, reports);
        assert_eq!(describe(&updated), expected);
        updated.moved_modules.push(MovedModule {
            call: "net.vpc".to_owned(),
            from: "3.1.0".to_owned(),
            to: "3.2.0".to_owned(),
        });
        assert_eq!(
            describe(&updated).last().unwrap(),
            "module net.vpc 3.1.0 -> 3.2.0"
        );
        let moved = updated.providers.iter().filter(|report| report.has_moved());
        let moved: Vec<&str> = moved.map(|report| &*report.address.type_name).collect();
        assert_eq!(moved, ["new", "bumped"]);
    }

    #[test]
    fn a_file_whose_format_changed_is_rewritten() {
        let none = Locks::default();
        let reports = ProviderReport::between(&none, &none, Vec::new(), Detail::Changes);
        let updated = directory("a", Fate::Updated, reports);
        assert_eq!(describe(&updated), ["rewritten in canonical form"]);
        assert!(describe(&directory("a", Fate::Created, Vec::new())).is_empty());
    }
}
