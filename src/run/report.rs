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
        if self.platforms_defaulted {
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
