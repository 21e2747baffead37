//! A new lock becomes bytes, and the bytes a file: or, with `--check`, a finding.

use std::collections::BTreeSet;

use crate::diagnostic::Diagnostic;
use crate::lockfile::{self, Change, Changes, Owner, Update};
use crate::locking::{Job, Outcome};
use crate::provider::{Engine, Hash, HashScheme, ProviderAddr, Version, VersionConstraints};
use crate::settings::LockSettings;

use super::lock::Finished;
use super::read::Directory;
use super::report::Fate;

/// Writes the new lock of `directory` unless the file has these bytes already. `old` are the bytes that it has.
pub(super) fn settle(
    directory: &Directory,
    old: Option<&[u8]>,
    job: &Job,
    outcome: Outcome,
    settings: &LockSettings,
    diagnostics: Vec<Diagnostic>,
) -> Finished {
    let bytes = outcome.locks.render(job.engine).into_bytes();
    if old == Some(&bytes) {
        return Finished {
            verified: outcome.verified,
            ..Finished::with(directory, Fate::Unchanged, diagnostics)
        };
    }
    let path = directory.lock_file();
    if !settings.check {
        let saved = lockfile::save(&path, &bytes, &directory.repository, &Owner::current());
        if let Err(error) = saved {
            let mut diagnostics = diagnostics;
            diagnostics.push(Diagnostic::of(&error, &directory.path));
            return Finished::with(directory, Fate::Failed, diagnostics);
        }
    }
    let changes = Changes::between(&job.old, &outcome.locks);
    let fate = match old {
        None => Fate::Created,
        Some(_) => Fate::Updated,
    };
    let mut finished = Finished::with(directory, fate, diagnostics);
    finished.moved = moved(&changes);
    finished.report.changes = describe(&changes);
    finished.report.diff = settings
        .diff
        .then(|| lockfile::unified_diff(&path, old, &bytes));
    finished.verified = outcome.verified;
    finished
}

/// The versions that entries were added with or moved to.
fn moved(changes: &Changes) -> BTreeSet<(ProviderAddr, Version)> {
    let moved = changes.providers.iter().filter_map(|(address, change)| {
        let version = match change {
            Change::Added(lock) => lock.version.clone(),
            Change::Updated(Update {
                version: Some((_, to)),
                ..
            }) => to.clone(),
            Change::Removed(_) | Change::Updated(_) => return None,
        };
        Some((address.clone(), version))
    });
    moved.collect()
}

/// One sentence per provider that changed; one for the file if only its looks did.
fn describe(changes: &Changes) -> Vec<String> {
    if changes.is_empty() {
        return vec!["rewritten in normal form".to_owned()];
    }
    let changes = changes.providers.iter();
    changes
        .map(|(address, change)| format!("{} {}", short(address), sentence(change)))
        .collect()
}

/// The address without a default host: what people write as `source`.
fn short(address: &ProviderAddr) -> String {
    let host = address.hostname.as_ascii();
    if host == Engine::Terraform.default_host() || host == Engine::Tofu.default_host() {
        format!("{}/{}", address.namespace, address.type_name)
    } else {
        address.to_string()
    }
}

fn sentence(change: &Change) -> String {
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

/// How many hashes came and went; nothing when the version moved, since then all did.
fn hashes(update: &Update) -> Option<String> {
    if update.version.is_some() {
        return None;
    }
    let count = |sign: char, hashes: &BTreeSet<Hash>| {
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
    let added = count('+', &update.hashes_added);
    let removed = count('-', &update.hashes_removed);
    let parts: Vec<String> = added.into_iter().chain(removed).flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lockfile::{Locks, ProviderLock};

    fn lock(version: &str, constraints: &str, hashes: &[&str]) -> ProviderLock {
        ProviderLock {
            version: Version::parse(version).unwrap(),
            constraints: match constraints {
                "" => VersionConstraints::default(),
                text => VersionConstraints::parse(text).unwrap(),
            },
            hashes: hashes
                .iter()
                .map(|text| Hash::parse(text).unwrap())
                .collect(),
        }
    }

    fn locks(entries: Vec<(&str, ProviderLock)>) -> Locks {
        let address = |source: &str| ProviderAddr::parse(source, Engine::Terraform).unwrap();
        let entries = entries.into_iter();
        Locks {
            providers: entries
                .map(|(source, lock)| (address(source), lock))
                .collect(),
        }
    }

    #[test]
    fn each_change_is_one_sentence() {
        let old = locks(vec![
            ("acme/bumped", lock("1.0.0", "1.0.0", &["h1:a"])),
            ("acme/completed", lock("1.0.0", "", &["h1:a"])),
            ("acme/gone", lock("1.0.0", "", &[])),
            ("acme/loosened", lock("1.0.0", "~> 1.0", &["h1:a", "h7:x"])),
            ("acme/same", lock("1.0.0", "", &[])),
        ]);
        let new = locks(vec![
            ("acme/bumped", lock("1.1.0", "1.1.0", &["h1:b"])),
            (
                "acme/completed",
                lock("1.0.0", "", &["h1:a", "h1:b", "zh:a"]),
            ),
            ("acme/loosened", lock("1.0.0", "", &["h1:a"])),
            ("acme/same", lock("1.0.0", "", &[])),
            ("example.com/acme/new", lock("2.0.0", "", &[])),
        ]);
        let changes = Changes::between(&old, &new);
        let expected = [
            "example.com/acme/new 2.0.0",
            "acme/bumped 1.0.0 -> 1.1.0, constraints `1.0.0` -> `1.1.0`",
            "acme/completed +1 h1 +1 zh",
            "acme/gone 1.0.0 removed",
            "acme/loosened constraints `~> 1.0` -> none, -1 other",
        ];
        assert_eq!(describe(&changes), expected);
        let moved: Vec<String> = moved(&changes)
            .iter()
            .map(|(address, version)| format!("{} {version}", address.type_name))
            .collect();
        assert_eq!(moved, ["new 2.0.0", "bumped 1.1.0"]);
    }

    #[test]
    fn a_file_that_only_looks_different_is_called_so() {
        assert_eq!(describe(&Changes::default()), ["rewritten in normal form"]);
    }
}
