//! The findings of an audit as text. Identical findings in several directories are listed once, with one command to fix them all.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::RunReport;
use crate::diagnostic::{Code, Fix};
use crate::display::{portable_path, visible_name};
use crate::span::Place;

/// The maximum number of positions that a finding lists without `-v`.
const MAX_PLACES: usize = 10;

/// The positions and directories of identical findings.
#[derive(Default)]
struct FindingPlaces<'a> {
    places: BTreeSet<&'a Place>,
    directories: BTreeSet<&'a Path>,
}

/// Renders the findings, sorted by code.
pub(super) fn findings(report: &RunReport, verbosity: u8) -> String {
    let mut groups: BTreeMap<(Code, &str, Option<&Fix>), FindingPlaces<'_>> = BTreeMap::new();
    for directory in &report.directories {
        for finding in &directory.findings {
            let key = (finding.code, finding.message.as_str(), finding.fix.as_ref());
            let group = groups.entry(key).or_default();
            group.places.extend(&finding.place);
            group.directories.insert(&directory.directory);
        }
    }
    let limit = if verbosity > 0 {
        usize::MAX
    } else {
        MAX_PLACES
    };
    let mut text = String::new();
    for ((code, message, fix), group) in groups {
        let _ = writeln!(text, "{}: {}", code.title(), visible_name(message));
        for place in group.places.iter().take(limit) {
            let _ = writeln!(text, "  {place}");
        }
        if group.places.len() > limit {
            let more = group.places.len() - limit;
            let _ = writeln!(text, "  and {more} more (list them with -v)");
        }
        if let Some(fix) = fix {
            let fix = fix_for_all(fix, &group.directories, limit);
            let _ = writeln!(text, "  fix: {}", visible_name(&fix));
        }
        text.push('\n');
    }
    text
}

/// Returns the command that repairs all directories. If there are more than `limit`, it names their nearest common ancestor with
/// `-r` instead.
fn fix_for_all(fix: &Fix, directories: &BTreeSet<&Path>, limit: usize) -> String {
    if directories.len() <= limit {
        let names: Vec<String> = directories.iter().map(|path| portable_path(path)).collect();
        return fix.text(names.iter().map(String::as_str));
    }
    let Fix::Lock(options) = fix else {
        return fix.text([]);
    };
    let recursive = [vec!["-r".to_owned()], options.clone()].concat();
    Fix::Lock(recursive).text([portable_path(&common_ancestor(directories)).as_str()])
}

fn common_ancestor(directories: &BTreeSet<&Path>) -> PathBuf {
    // The paths are sorted, so the components that the first and the last have in common are common to all.
    let (Some(first), Some(last)) = (directories.first(), directories.last()) else {
        return PathBuf::new();
    };
    first
        .components()
        .zip(last.components())
        .take_while(|(a, b)| a == b)
        .map(|(component, _)| component)
        .collect()
}

/// Lists what was not checked: each text once, with the number of directories.
pub(super) fn unchecked(report: &RunReport) -> String {
    let mut groups: BTreeMap<&str, usize> = BTreeMap::new();
    for directory in &report.directories {
        for what in &directory.unchecked {
            *groups.entry(what).or_default() += 1;
        }
    }
    let mut text = String::new();
    for (what, count) in groups {
        let suffix = match count {
            1 => String::new(),
            count => format!(" ({count} directories)"),
        };
        let _ = writeln!(text, "not checked: {}{suffix}", visible_name(what));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::Fate;
    use super::super::samples::{directory, report};
    use super::*;
    use crate::diagnostic::Diagnostic;

    fn flagged(paths: impl IntoIterator<Item = String>) -> RunReport {
        let directories = paths.into_iter().map(|path| {
            let file = Path::new(&path).join(".terraform.lock.hcl");
            let mut flagged = directory(&path, Fate::Flagged, Vec::new());
            flagged.findings.push(Diagnostic::finding(
                Code::AuditPlatformWithoutH1,
                Place::file(&file),
                "no hash for plan9_arm".to_owned(),
                Fix::Lock(vec!["--platform".to_owned(), "plan9_arm".to_owned()]),
            ));
            flagged.unchecked.push("the weather".to_owned());
            flagged
        });
        report(directories.collect())
    }

    #[test]
    fn identical_findings_are_reported_once_with_one_command() {
        let report = flagged(["a".to_owned(), "b c".to_owned()]);
        let expected = "\
TFL007 platform-without-h1: no hash for plan9_arm
  a/.terraform.lock.hcl
  b c/.terraform.lock.hcl
  fix: tflock lock --platform plan9_arm a 'b c'

";
        assert_eq!(findings(&report, 0), expected);
        assert_eq!(
            unchecked(&report),
            "not checked: the weather (2 directories)\n"
        );
    }

    #[test]
    fn many_places_are_only_counted_without_v() {
        let report = flagged((10..30).map(|number| format!("live/{number}")));
        let short = findings(&report, 0);
        assert!(short.contains("\n  and 10 more (list them with -v)\n"));
        assert!(
            short.contains("\n  fix: tflock lock -r --platform plan9_arm live\n"),
            "{short}"
        );
        let long = findings(&report, 1);
        assert!(long.contains(" live/28 live/29\n") && !long.contains("10 more"));
    }
}
