//! What a run did, as text for people: which lock files changed and how, who signed, and the sums.
//!
//! Equal changes of several directories are told once. Directories that did not change are counted, and named only when
//! more is asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::diagnostic::Diagnostic;
use crate::locking::Downloaded;
use crate::provider::{Platform, ProviderAddr, Version};

/// What became of one directory's lock file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// There was none; now there is.
    Created,
    /// It was replaced.
    Updated,
    /// It is right as it is.
    Unchanged,
    /// There is none, and none was wanted.
    Skipped,
    /// It could not be worked out; whatever was there is still there.
    Failed,
}

/// What became of one directory.
#[derive(Clone, Debug)]
pub struct DirectoryReport {
    /// The directory as the user would name it.
    pub directory: PathBuf,
    /// What became of its lock file. With `--check`: what would have.
    pub fate: Fate,
    /// How its providers changed, one sentence each, in the order of the lock file.
    pub changes: Vec<String>,
    /// The unified diff, if it was asked for.
    pub diff: Option<String>,
    /// What went wrong, and what the user should know.
    pub diagnostics: Vec<Diagnostic>,
}

/// Who vouches for the packages of one version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signed {
    /// Which provider.
    pub address: ProviderAddr,
    /// Which version.
    pub version: Version,
    /// Key ID and tier of the signer, or what stands in for it.
    pub voucher: String,
}

/// A whole run.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// In the order of their paths.
    pub directories: Vec<DirectoryReport>,
    /// Platforms that were locked for.
    pub platforms: Vec<Platform>,
    /// Nobody named a platform.
    pub platforms_defaulted: bool,
    /// Signers, each with the platforms for which packages were looked at.
    pub signed: BTreeMap<Signed, BTreeSet<Platform>>,
    /// Versions of providers that entries were added or moved to.
    pub moved: BTreeSet<(ProviderAddr, Version)>,
    /// What was downloaded.
    pub downloaded: Downloaded,
    /// How long the run took.
    pub elapsed: Duration,
    /// Nothing was written.
    pub check: bool,
}

impl RunReport {
    /// How many directories met `fate`.
    pub fn count(&self, fate: Fate) -> usize {
        let met = |directory: &&DirectoryReport| directory.fate == fate;
        self.directories.iter().filter(met).count()
    }

    /// Whether some lock file changed, or would have.
    pub fn has_drift(&self) -> bool {
        self.count(Fate::Created) + self.count(Fate::Updated) > 0
    }

    /// The text for a person.
    pub fn render(&self, verbosity: u8) -> String {
        let mut text = String::new();
        for directory in &self.directories {
            if let Some(diff) = &directory.diff {
                text.push_str(diff);
            }
        }
        self.render_changes(&mut text);
        if verbosity > 0 {
            self.render_quiet_ones(&mut text);
        }
        self.render_signers(verbosity, &mut text);
        self.render_sums(&mut text);
        text
    }

    fn render_changes(&self, text: &mut String) {
        let mut groups: BTreeMap<(Fate, &[String]), Vec<&Path>> = BTreeMap::new();
        for report in &self.directories {
            if matches!(report.fate, Fate::Created | Fate::Updated) {
                groups
                    .entry((report.fate, &report.changes))
                    .or_default()
                    .push(&report.directory);
            }
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by(|a, b| a.1.cmp(&b.1));
        for ((fate, changes), directories) in groups {
            let verb = self.verb(fate);
            for (index, directory) in directories.iter().enumerate() {
                let verb = if index == 0 { verb } else { "" };
                let _ = writeln!(
                    text,
                    "{verb:<width$} {}",
                    shown(directory),
                    width = self.width()
                );
            }
            for change in changes {
                let _ = writeln!(text, "{:<width$}   {change}", "", width = self.width());
            }
        }
    }

    fn render_quiet_ones(&self, text: &mut String) {
        for report in &self.directories {
            let word = match report.fate {
                Fate::Unchanged => "unchanged",
                Fate::Skipped => "skipped",
                _ => continue,
            };
            let _ = writeln!(
                text,
                "{word:<width$} {}",
                shown(&report.directory),
                width = self.width()
            );
        }
    }

    /// Who signed what was newly recorded; with more verbosity, all that was looked at.
    fn render_signers(&self, verbosity: u8, text: &mut String) {
        for (signed, platforms) in &self.signed {
            let key = (signed.address.clone(), signed.version.clone());
            if verbosity == 0 && !self.moved.contains(&key) {
                continue;
            }
            let platforms: Vec<String> = platforms.iter().map(ToString::to_string).collect();
            let _ = writeln!(
                text,
                "{:<width$} {} {}, {} ({})",
                "verified",
                signed.address,
                signed.version,
                signed.voucher,
                platforms.join(", "),
                width = self.width()
            );
        }
    }

    fn render_sums(&self, text: &mut String) {
        let (created, updated) = if self.check {
            ("would be created", "would be updated")
        } else {
            ("created", "updated")
        };
        let parts: Vec<String> = [
            (self.count(Fate::Updated), updated),
            (self.count(Fate::Created), created),
            (self.count(Fate::Unchanged), "unchanged"),
            (self.count(Fate::Skipped), "skipped"),
            (self.count(Fate::Failed), "failed"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
        let sums = if parts.is_empty() {
            "nothing to do".to_owned()
        } else {
            parts.join(", ")
        };
        let directories = counted(self.directories.len() as u64, "directory", "directories");
        let _ = write!(text, "{directories}: {sums}");
        let Downloaded {
            packages,
            again,
            bytes: size,
        } = self.downloaded;
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
        let _ = writeln!(text, "; {:.1} s", self.elapsed.as_secs_f64());
        if self.platforms_defaulted && self.count(Fate::Failed) < self.directories.len() {
            let platform = self.platforms.first().map(ToString::to_string);
            let _ = writeln!(
                text,
                "locked for {} only, this machine's platform; name others with --platform",
                platform.unwrap_or_default()
            );
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

/// A directory as a person writes it: never empty.
fn shown(directory: &Path) -> std::path::Display<'_> {
    if directory.as_os_str().is_empty() {
        Path::new(".").display()
    } else {
        directory.display()
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A size with the unit that suits it, in powers of ten as networks count.
fn bytes(count: u64) -> String {
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
    use super::*;
    use crate::provider::Engine;

    fn directory(path: &str, fate: Fate, changes: &[&str]) -> DirectoryReport {
        DirectoryReport {
            directory: path.into(),
            fate,
            changes: changes.iter().map(ToString::to_string).collect(),
            diff: None,
            diagnostics: Vec::new(),
        }
    }

    fn report(directories: Vec<DirectoryReport>) -> RunReport {
        let signed = Signed {
            address: ProviderAddr::parse("acme/anvil", Engine::Terraform).unwrap(),
            version: Version::parse("3.2.1").unwrap(),
            voucher: "signed by 34365D9472D7468F (HashiCorp)".to_owned(),
        };
        let platforms = ["darwin_arm64", "linux_amd64"].map(|text| Platform::parse(text).unwrap());
        RunReport {
            directories,
            platforms: platforms.to_vec(),
            platforms_defaulted: false,
            moved: BTreeSet::from([(signed.address.clone(), signed.version.clone())]),
            signed: BTreeMap::from([(signed, platforms.into())]),
            downloaded: Downloaded {
                packages: 3,
                again: 1,
                bytes: 154_300_000,
            },
            elapsed: Duration::from_millis(1234),
            check: false,
        }
    }

    #[test]
    fn equal_changes_are_told_once_and_unchanged_directories_counted() {
        let text = report(vec![
            directory("a", Fate::Updated, &["acme/anvil 3.1.1 -> 3.2.1"]),
            directory("b", Fate::Created, &["acme/anvil 3.2.1"]),
            directory("c", Fate::Updated, &["acme/anvil 3.1.1 -> 3.2.1"]),
            directory("d", Fate::Unchanged, &[]),
            directory("e", Fate::Failed, &[]),
        ])
        .render(0);
        let expected = "\
updated   a
          c
            acme/anvil 3.1.1 -> 3.2.1
created   b
            acme/anvil 3.2.1
verified  registry.terraform.io/acme/anvil 3.2.1, signed by 34365D9472D7468F (HashiCorp) (darwin_arm64, linux_amd64)
5 directories: 2 updated, 1 created, 1 unchanged, 1 failed; 2 packages downloaded, 154.3 MB (1 of them twice: no stream could tell their hash); 1.2 s
";
        assert_eq!(text, expected);
    }

    #[test]
    fn more_is_said_when_asked_for() {
        let quiet = report(vec![
            directory("", Fate::Unchanged, &[]),
            directory("m", Fate::Skipped, &[]),
        ]);
        let text = quiet.render(1);
        assert!(text.contains("unchanged .\n"), "{text}");
        assert!(text.contains("skipped   m\n"), "{text}");
        assert!(!quiet.render(0).contains("skipped   m"));
    }

    #[test]
    fn a_check_speaks_of_what_would_be() {
        let mut checked = report(vec![directory("a", Fate::Created, &["acme/anvil 3.2.1"])]);
        checked.check = true;
        let text = checked.render(0);
        assert!(text.starts_with("would create a\n"), "{text}");
        assert!(text.contains("1 directory: 1 would be created;"), "{text}");
        assert!(checked.has_drift());
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
