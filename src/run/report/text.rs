//! The report for people: findings, which lock files changed and how, signers, and counts.
//!
//! Identical changes in several directories are reported once. Unchanged directories are only counted, unless `-v` is set.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::change::describe;
use super::{DirectoryReport, Fate, RunReport, findings, signers, summary};
use crate::display::{shown_path, visible_name};

/// Renders the text. With a `verbosity` above 0, this includes unchanged directories and all signers.
pub(in crate::run) fn render(report: &RunReport, verbosity: u8) -> String {
    let diffs = report
        .directories
        .iter()
        .filter_map(|directory| directory.diff.as_deref());
    let mut text: String = diffs.collect();
    text.push_str(&findings::findings(report, verbosity));
    text.push_str(&findings::unchecked(report));
    report.render_changes(&mut text);
    if verbosity > 0 {
        report.render_unchanged(&mut text);
    }
    text.push_str(&signers::signers(report, verbosity));
    text.push_str(&summary::summary(report));
    text
}

/// The fate of a lock file, and the lines of [`describe`].
type FateAndChanges = (Fate, Vec<String>);

impl RunReport {
    fn render_changes(&self, text: &mut String) {
        let width = self.width();
        for ((fate, changes), directories) in self.changed_directories() {
            let verbs = [self.verb(fate)].into_iter().chain(std::iter::repeat(""));
            for (directory, verb) in directories.iter().zip(verbs) {
                let _ = writeln!(text, "{verb:<width$} {}", shown_path(&directory.directory));
            }
            for change in changes {
                let _ = writeln!(text, "{:<width$}   {}", "", visible_name(&change));
            }
        }
    }

    /// Groups changed directories by what changed, and sorts the groups by their first directory.
    fn changed_directories(&self) -> Vec<(FateAndChanges, Vec<&DirectoryReport>)> {
        let mut groups: BTreeMap<FateAndChanges, Vec<&DirectoryReport>> = BTreeMap::new();
        for report in &self.directories {
            if matches!(report.fate, Fate::Created | Fate::Updated) {
                let group = groups.entry((report.fate, describe(report)));
                group.or_default().push(report);
            }
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by_key(|(_, directories)| &directories[0].directory);
        groups
    }

    fn render_unchanged(&self, text: &mut String) {
        let width = self.width();
        for report in &self.directories {
            if matches!(report.fate, Fate::Unchanged | Fate::Sound | Fate::Skipped) {
                let (word, directory) = (report.fate.name(), shown_path(&report.directory));
                let reason = report.skipped.as_ref();
                let reason = reason.map(|why| format!(" ({})", why.describe()));
                let _ = writeln!(
                    text,
                    "{word:<width$} {directory}{}",
                    reason.unwrap_or_default()
                );
            }
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

    /// Returns the width of the verb column, in characters.
    pub(super) fn width(&self) -> usize {
        if self.check { 12 } else { 9 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ProviderReport;
    use super::super::samples::{added, directory, moved, report};
    use super::*;

    fn bumped() -> Vec<ProviderReport> {
        vec![moved("acme/anvil", "3.1.1", "3.2.1")]
    }

    #[test]
    fn identical_changes_are_reported_once_and_unchanged_directories_counted() {
        let run = report(vec![
            directory("a", Fate::Updated, bumped()),
            directory("b", Fate::Created, vec![added("acme/anvil", "3.2.1")]),
            directory("c", Fate::Updated, bumped()),
            directory("d", Fate::Unchanged, Vec::new()),
            directory("e", Fate::Failed, Vec::new()),
        ]);
        let expected = "\
updated   a
          c
            acme/anvil 3.1.1 -> 3.2.1
created   b
            acme/anvil 3.2.1
verified  acme/anvil 3.2.1: signed by 34365D9472D7468F (HashiCorp, key expired)
5 directories: 2 updated, 1 created, 1 unchanged, 1 failed; 2 packages downloaded, 154.3 MB (1 of them twice, because its first download could not be hashed); 1.2 s
";
        assert_eq!(render(&run, 0), expected);
    }

    #[test]
    fn verbosity_adds_unchanged_directories() {
        let mut provider = added("acme/anvil", "3.2.1");
        provider.change = None;
        let quiet = report(vec![
            directory("", Fate::Unchanged, vec![provider]),
            directory("m", Fate::Skipped, Vec::new()),
        ]);
        let text = render(&quiet, 1);
        let verified = "verified  registry.terraform.io/acme/anvil 3.2.1: signed by 34365D9472D7468F (HashiCorp, key expired), for \
             darwin_arm64, linux_amd64\n";
        for line in [
            "unchanged .\n",
            "skipped   m (no configuration)\n",
            verified,
        ] {
            assert!(text.contains(line), "{text}");
            assert!(!render(&quiet, 0).contains(line));
        }
    }

    #[test]
    fn a_check_reports_what_would_change() {
        let provider = added("acme/anvil", "3.2.1");
        let mut checked = report(vec![directory("a", Fate::Created, vec![provider])]);
        checked.check = true;
        let text = render(&checked, 0);
        assert!(text.starts_with("would create a\n"), "{text}");
        assert!(text.contains("1 directory: 1 would be created;"), "{text}");
        let hint = "\nhint: run the same command without `--check`, and commit the lock files\n";
        assert!(text.contains(hint), "{text}");
        assert!(checked.has_drift());
    }
}
