//! The report for people: which lock files changed and how, who signed, and the sums.
//!
//! Equal changes of several directories are told once. Directories that did not change are counted, and named only when
//! more is asked for.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::change::describe;
use super::{DirectoryReport, Fate, RunReport, found, named, signers, sums};
use crate::span::visible_name;

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
    text.push_str(&signers::signers(report, verbosity));
    text.push_str(&sums::sums(report));
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
                let _ = writeln!(text, "{:<width$}   {}", "", visible_name(change));
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

    fn verb(&self, fate: Fate) -> &'static str {
        match (fate, self.check) {
            (Fate::Created, false) => "created",
            (Fate::Created, true) => "would create",
            (_, false) => "updated",
            (_, true) => "would update",
        }
    }

    /// The column that verbs stand in.
    pub(super) fn width(&self) -> usize {
        if self.check { 12 } else { 9 }
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

#[cfg(test)]
mod tests {
    use super::super::ProviderReport;
    use super::super::samples::{added, directory, moved, report};
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
}
