//! The report for people: which lock files changed and how, who signed, and the sums.
//!
//! Equal changes of several directories are told once. Directories that did not change are counted, and named only when
//! more is asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{DirectoryReport, Fate, ProviderReport, RunReport, found, named};
use crate::config::MovedModule;
use crate::lockfile::{Change, Update};
use crate::locking::{Downloaded, Voucher};
use crate::package::{Lapse, Tier};
use crate::provider::{
    Engine, Hash, HashScheme, Platform, ProviderAddr, Version, VersionConstraints,
};

/// The text. `verbosity` above 0: unchanged directories and all signers as well.
pub(super) fn render(report: &RunReport, verbosity: u8) -> String {
    let mut text = String::new();
    for directory in &report.directories {
        if let Some(diff) = &directory.diff {
            text.push_str(diff);
        }
    }
    text.push_str(&found::findings(report, verbosity));
    text.push_str(&found::unchecked(report));
    report.render_changes(&mut text);
    if verbosity > 0 {
        report.render_quiet_ones(&mut text);
    }
    report.render_signers(verbosity, &mut text);
    text.push_str(&sums(report));
    text
}

impl RunReport {
    fn render_changes(&self, text: &mut String) {
        let width = self.width();
        for group in self.groups() {
            for (index, directory) in group.directories.iter().enumerate() {
                let verb = if index == 0 {
                    self.verb(group.fate)
                } else {
                    ""
                };
                let _ = writeln!(text, "{verb:<width$} {}", named(&directory.directory));
            }
            for change in &group.changes {
                let _ = writeln!(text, "{:<width$}   {change}", "");
            }
        }
    }

    fn render_quiet_ones(&self, text: &mut String) {
        let width = self.width();
        for report in &self.directories {
            if matches!(report.fate, Fate::Unchanged | Fate::Sound | Fate::Skipped) {
                let (word, directory) = (report.fate.name(), named(&report.directory));
                let _ = writeln!(text, "{word:<width$} {directory}");
            }
        }
    }

    /// Who signed what was newly recorded; with more verbosity, all that was looked at.
    fn render_signers(&self, verbosity: u8, text: &mut String) {
        let mut signed: BTreeMap<Signed<'_>, BTreeSet<&Platform>> = BTreeMap::new();
        let providers = self.directories.iter();
        let providers = providers.flat_map(|directory| &directory.providers);
        for provider in providers.filter(|provider| verbosity > 0 || provider.has_moved()) {
            for (platform, record) in &provider.packages {
                let key = Signed {
                    address: &provider.address,
                    version: &provider.version,
                    voucher: voucher(&record.voucher),
                };
                signed.entry(key).or_default().insert(platform);
            }
        }
        for (signed, platforms) in signed {
            let Signed {
                address,
                version,
                voucher,
            } = signed;
            // Short enough for 80 columns, unless more is asked for.
            let line = if verbosity == 0 {
                format!("{} {version}: {voucher}", short(address))
            } else {
                let platforms: Vec<String> = platforms.iter().map(ToString::to_string).collect();
                format!(
                    "{address} {version}: {voucher}, for {}",
                    platforms.join(", ")
                )
            };
            let _ = writeln!(text, "{:<width$} {line}", "verified", width = self.width());
        }
    }

    fn verb(&self, fate: Fate) -> &'static str {
        match (fate, self.check) {
            (Fate::Created, false) => "created",
            (Fate::Created, true) => "would create",
            (_, false) => "updated",
            (_, true) => "would update",
        }
    }

    /// The column that verbs stand in.
    fn width(&self) -> usize {
        if self.check { 12 } else { 9 }
    }
}

/// How many directories had which fate, and what it cost.
pub(super) fn sums(report: &RunReport) -> String {
    let mut text = String::new();
    let counts = report.counts().into_iter();
    let parts: Vec<String> = counts
        .map(|(what, count)| format!("{count} {what}"))
        .collect();
    let sums = if parts.is_empty() {
        "nothing to do".to_owned()
    } else {
        parts.join(", ")
    };
    let directories = counted(report.directories.len() as u64, "directory", "directories");
    let _ = write!(text, "{directories}: {sums}");
    let findings = report.findings() as u64;
    if findings > 0 {
        let findings = counted(findings, "finding", "findings");
        let _ = write!(text, "; {findings}");
    }
    let Downloaded {
        packages,
        again,
        bytes: size,
    } = report.downloaded;
    if packages > 0 {
        let packages = counted(packages - again, "package", "packages");
        let _ = write!(text, "; {packages} downloaded, {}", bytes(size));
    }
    if again > 0 {
        let _ = write!(
            text,
            " ({again} of them twice: no stream could tell their hash)"
        );
    }
    let _ = writeln!(text, "; {:.1} s", report.elapsed.as_secs_f64());
    let unseen = report.packages_on_their_registrys_word();
    if unseen > 0 {
        let packages = counted(unseen as u64, "package", "packages");
        let _ = writeln!(
            text,
            "not looked at: {packages}, locked on the word of the registry (--trust-registry-hashes)"
        );
    }
    if report.platforms_defaulted && report.count(Fate::Failed) < report.directories.len() {
        let platform = report.platforms.first().map(ToString::to_string);
        let _ = writeln!(
            text,
            "{} for {} only, this machine's platform; name others with --platform",
            if report.command == "lock" {
                "locked"
            } else {
                "checked"
            },
            platform.unwrap_or_default()
        );
    }
    text
}

impl RunReport {
    /// How many packages were locked by what their registry reports alone.
    fn packages_on_their_registrys_word(&self) -> usize {
        let providers = self
            .directories
            .iter()
            .flat_map(|directory| &directory.providers);
        let unseen: BTreeSet<_> = providers
            .flat_map(|provider| {
                let packages = provider.packages.iter();
                let reported =
                    packages.filter(|(_, record)| matches!(record.voucher, Voucher::Report(_)));
                reported.map(|(platform, _)| {
                    (&provider.address, provider.version.to_string(), platform)
                })
            })
            .collect();
        unseen.len()
    }
}

/// Directories whose lock files changed in the same way.
struct Group<'a> {
    fate: Fate,
    changes: Vec<String>,
    directories: Vec<&'a DirectoryReport>,
}

impl RunReport {
    /// Changed directories by what changed, in the order of their first ones.
    fn groups(&self) -> Vec<Group<'_>> {
        let mut groups: BTreeMap<(Fate, Vec<String>), Vec<&DirectoryReport>> = BTreeMap::new();
        for report in &self.directories {
            if matches!(report.fate, Fate::Created | Fate::Updated) {
                let group = groups.entry((report.fate, describe(report)));
                group.or_default().push(report);
            }
        }
        let group = |((fate, changes), directories)| Group {
            fate,
            changes,
            directories,
        };
        let mut groups: Vec<_> = groups.into_iter().map(group).collect();
        groups.sort_by(|a, b| {
            let first = |group: &Group<'_>| group.directories[0].directory.clone();
            first(a).cmp(&first(b))
        });
        groups
    }
}

/// Who vouches for the packages of one version.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Signed<'a> {
    address: &'a ProviderAddr,
    version: &'a Version,
    voucher: String,
}

/// What vouches for a package, in words.
fn voucher(voucher: &Voucher) -> String {
    let signer = match voucher {
        Voucher::Signature(signer) => signer,
        Voucher::Report(Some(signer)) => {
            let by = self::voucher(&Voucher::Signature(signer.clone()));
            return format!("{by}; hashes on the word of its registry, packages not looked at");
        }
        Voucher::Report(None) => {
            return "on the word of its registry: not signed, packages not looked at".to_owned();
        }
        Voucher::Unsigned => return "not signed: its registry gives no keys".to_owned(),
        Voucher::MirrorHashes => return "by the hashes of its mirror".to_owned(),
        Voucher::Nothing => return "not verified: its mirror gives no hashes".to_owned(),
    };
    let tier = match signer.tier {
        Tier::HashiCorp => "HashiCorp",
        Tier::Partner => "a partner of HashiCorp",
        Tier::SelfSigned => "self-signed",
    };
    let lapse = match signer.lapse {
        None => "",
        Some(Lapse::Key) => ", key expired",
        Some(Lapse::Signature) => ", signature expired",
    };
    format!("signed by {} ({tier}{lapse})", signer.key_id)
}

impl ProviderReport {
    /// Whether its entry is new, or for another version than before.
    fn has_moved(&self) -> bool {
        match &self.change {
            Some(Change::Added(_)) => true,
            Some(Change::Updated(update)) => update.version.is_some(),
            Some(Change::Removed(_)) | None => false,
        }
    }
}

/// One sentence per provider that changed, or one for the file if only its looks did; then one per module that moved, since
/// that may be why.
pub(super) fn describe(report: &DirectoryReport) -> Vec<String> {
    let sentences = report.providers.iter().filter_map(|provider| {
        let change = provider.change.as_ref()?;
        Some(format!("{} {}", short(&provider.address), sentence(change)))
    });
    let mut changes: Vec<String> = sentences.collect();
    if changes.is_empty() && report.fate == Fate::Updated {
        changes.push("rewritten in normal form".to_owned());
    }
    let modules = report.moved_modules.iter();
    changes.extend(modules.map(|module| {
        let MovedModule { call, from, to } = module;
        format!("module {call} {from} -> {to}")
    }));
    changes
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

pub(in crate::run) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A size with the unit that suits it, in powers of ten as networks count.
pub(in crate::run) fn bytes(count: u64) -> String {
    let units = [("GB", 1_000_000_000_u64), ("MB", 1_000_000), ("kB", 1_000)];
    for (unit, size) in units {
        if count >= size {
            let tenths = count / (size / 10);
            return format!("{}.{} {unit}", tenths / 10, tenths % 10);
        }
    }
    counted(count, "byte", "bytes")
}

#[cfg(test)]
mod tests {
    use super::super::samples::{added, directory, lock, locks, moved, report};
    use super::super::{Detail, Locks};
    use super::*;

    fn bumped() -> Vec<ProviderReport> {
        vec![moved("acme/anvil", "3.1.1", "3.2.1")]
    }

    #[test]
    fn equal_changes_are_told_once_and_unchanged_directories_counted() {
        let text = report(vec![
            directory("a", Fate::Updated, bumped()),
            directory("b", Fate::Created, vec![added("acme/anvil", "3.2.1")]),
            directory("c", Fate::Updated, bumped()),
            directory("d", Fate::Unchanged, Vec::new()),
            directory("e", Fate::Failed, Vec::new()),
        ])
        .text(0);
        let expected = "\
updated   a
          c
            acme/anvil 3.1.1 -> 3.2.1
created   b
            acme/anvil 3.2.1
verified  acme/anvil 3.2.1: signed by 34365D9472D7468F (HashiCorp, key expired)
5 directories: 2 updated, 1 created, 1 unchanged, 1 failed; 2 packages downloaded, 154.3 MB (1 of them twice: no stream could tell their hash); 1.2 s
";
        assert_eq!(text, expected);
    }

    #[test]
    fn more_is_said_when_asked_for() {
        let mut provider = added("acme/anvil", "3.2.1");
        provider.change = None;
        let quiet = report(vec![
            directory("", Fate::Unchanged, vec![provider]),
            directory("m", Fate::Skipped, Vec::new()),
        ]);
        let text = quiet.text(1);
        let verified = "verified  registry.terraform.io/acme/anvil 3.2.1: signed by 34365D9472D7468F (HashiCorp, key expired), for \
             darwin_arm64, linux_amd64\n";
        for line in ["unchanged .\n", "skipped   m\n", verified] {
            assert!(text.contains(line), "{text}");
            assert!(!quiet.text(0).contains(line));
        }
    }

    #[test]
    fn a_check_speaks_of_what_would_be() {
        let provider = added("acme/anvil", "3.2.1");
        let mut checked = report(vec![directory("a", Fate::Created, vec![provider])]);
        checked.check = true;
        let text = checked.text(0);
        assert!(text.starts_with("would create a\n"), "{text}");
        assert!(text.contains("1 directory: 1 would be created;"), "{text}");
        assert!(checked.has_drift());
    }

    #[test]
    fn each_change_is_one_sentence() {
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
        let told = describe(&updated);
        assert_eq!(told.last().unwrap(), "module net.vpc 3.1.0 -> 3.2.0");
        let moved = updated.providers.iter().filter(|report| report.has_moved());
        let moved: Vec<&str> = moved.map(|report| &*report.address.type_name).collect();
        assert_eq!(moved, ["new", "bumped"]);
    }

    #[test]
    fn a_file_that_only_looks_different_is_called_so() {
        let none = Locks::default();
        let reports = ProviderReport::between(&none, &none, Vec::new(), Detail::Changes);
        let updated = directory("a", Fate::Updated, reports);
        assert_eq!(describe(&updated), ["rewritten in normal form"]);
        assert!(describe(&directory("a", Fate::Created, Vec::new())).is_empty());
    }

    #[test]
    fn sizes_have_the_unit_that_suits_them() {
        let rows = [
            (1, "1 byte"),
            (999, "999 bytes"),
            (1_000, "1.0 kB"),
            (154_321_000, "154.3 MB"),
            (2_050_000_000, "2.0 GB"),
        ];
        for (count, expected) in rows {
            assert_eq!(bytes(count), expected);
        }
    }
}
