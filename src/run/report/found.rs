//! What an audit found, for people: equal findings of several directories once, with one command that mends them all.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::{RunReport, named, shown};
use crate::locking::{Fix, Rule};
use crate::span::{Place, visible_name};

/// As many places of one finding are named where nobody asks for more.
const MAX_PLACES: usize = 10;

/// Findings that say the same.
#[derive(Default)]
struct Group<'a> {
    places: BTreeSet<&'a Place>,
    directories: BTreeSet<&'a Path>,
}

/// The findings, in the order of their codes.
pub(super) fn findings(report: &RunReport, verbosity: u8) -> String {
    let mut groups: BTreeMap<(Rule, &str, &Fix), Group<'_>> = BTreeMap::new();
    for directory in &report.directories {
        for finding in &directory.findings {
            let key = (finding.rule, finding.message.as_str(), &finding.fix);
            let group = groups.entry(key).or_default();
            group.places.insert(&finding.place);
            group.directories.insert(&directory.directory);
        }
    }
    let most = if verbosity > 0 {
        usize::MAX
    } else {
        MAX_PLACES
    };
    let mut text = String::new();
    for ((rule, message, fix), group) in groups {
        let _ = writeln!(
            text,
            "{} {}: {}",
            rule.code(),
            rule.name(),
            visible_name(message)
        );
        for place in group.places.iter().take(most) {
            let _ = writeln!(text, "  {}", position(place));
        }
        if group.places.len() > most {
            let more = group.places.len() - most;
            let _ = writeln!(text, "  and {more} more places (-v names them)");
        }
        let _ = writeln!(
            text,
            "  fix: {}\n",
            visible_name(&mending(fix, &group.directories, most))
        );
    }
    text
}

fn position(place: &Place) -> String {
    let file = named(&place.path);
    match place.line {
        0 => file,
        line => format!("{file}:{line}:{}", place.column),
    }
}

/// The command for all directories; where they are too many to be named, for what they have in common.
fn mending(fix: &Fix, directories: &BTreeSet<&Path>, most: usize) -> String {
    let named: Vec<String> = directories.iter().map(|path| shown(path)).collect();
    if named.len() <= most {
        return fix.text(named.iter().map(String::as_str));
    }
    let above = shown(&common(directories));
    let Fix::Lock(options) = fix else {
        return fix.text([]);
    };
    let mut options = options.clone();
    options.insert(0, "-r".to_owned());
    Fix::Lock(options).text([above.as_str()])
}

/// The nearest directory above all of these.
fn common(directories: &BTreeSet<&Path>) -> PathBuf {
    // They are sorted: what the first and the last have in common, all have.
    let (Some(first), Some(last)) = (directories.first(), directories.last()) else {
        return PathBuf::new();
    };
    let both = first.components().zip(last.components());
    both.take_while(|(a, b)| a == b).map(|(a, _)| a).collect()
}

/// What was not checked, equal words once, with the directories they are true for.
pub(super) fn unchecked(report: &RunReport) -> String {
    let mut groups: BTreeMap<&str, usize> = BTreeMap::new();
    for directory in &report.directories {
        for what in &directory.unchecked {
            *groups.entry(what).or_default() += 1;
        }
    }
    let mut text = String::new();
    for (what, count) in groups {
        let in_all = match count {
            1 => String::new(),
            count => format!(" ({count} directories)"),
        };
        let _ = writeln!(text, "not checked: {}{in_all}", visible_name(what));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::Fate;
    use super::super::samples::{address, directory, report};
    use super::*;
    use crate::locking::Finding;

    fn flagged(paths: impl IntoIterator<Item = String>) -> RunReport {
        let directories = paths.into_iter().map(|path| {
            let file = Path::new(&path).join(".terraform.lock.hcl");
            let mut flagged = directory(&path, Fate::Flagged, Vec::new());
            flagged.findings.push(Finding {
                rule: Rule::PlatformWithoutH1,
                address: Some(address("acme/anvil")),
                place: Place::file(&file),
                message: "no hash for plan9_arm".to_owned(),
                fix: Fix::Lock(vec!["--platform".to_owned(), "plan9_arm".to_owned()]),
            });
            flagged.unchecked.push("the weather".to_owned());
            flagged
        });
        report(directories.collect())
    }

    #[test]
    fn equal_findings_are_told_once_with_one_command() {
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
    fn many_places_are_counted_unless_more_is_asked_for() {
        let report = flagged((10..30).map(|number| format!("live/{number}")));
        let short = findings(&report, 0);
        assert!(short.contains("\n  and 10 more places (-v names them)\n"));
        assert!(
            short.contains("\n  fix: tflock lock -r --platform plan9_arm live\n"),
            "{short}"
        );
        let long = findings(&report, 1);
        assert!(long.contains(" live/28 live/29\n") && !long.contains("more places"));
    }
}
