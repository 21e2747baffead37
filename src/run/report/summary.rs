//! The last lines of a report: the number of directories, findings and packages.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Fate, RunReport};
use crate::diagnostic::DRIFT_HINT;
use crate::display::counted;
use crate::locking::{Downloaded, Voucher};

/// Renders the number of directories by fate, the downloads, and notes about the platforms.
pub(super) fn summary(report: &RunReport) -> String {
    let fates: Vec<String> = report
        .counts()
        .into_iter()
        .map(|(what, count)| format!("{count} {what}"))
        .collect();
    let counts = if fates.is_empty() {
        "nothing to do".to_owned()
    } else {
        fates.join(", ")
    };
    let directories = counted(report.directories.len(), "directory", "directories");
    let mut text = format!("{directories}: {counts}");
    if report.findings() > 0 {
        let _ = write!(
            text,
            "; {}",
            counted(report.findings(), "finding", "findings")
        );
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
        let whose = if again == 1 { "its" } else { "their" };
        let _ = write!(
            text,
            " ({again} of them twice, because {whose} first download could not be hashed)"
        );
    }
    let _ = writeln!(text, "; {:.1} s", report.elapsed.as_secs_f64());
    let reported = report.count_registry_reported_packages();
    if reported > 0 {
        let packages = counted(reported, "package", "packages");
        let _ = writeln!(
            text,
            "not downloaded: {packages}, locked with the hashes that the registry reports (--trust-registry-hashes)"
        );
    }
    if report.check && report.has_drift() {
        let _ = writeln!(text, "hint: {DRIFT_HINT}");
    }
    write_index_usage(report, &mut text);
    write_platform_note(report, &mut text);
    text
}

/// Writes how many packages were not downloaded because a hash index has their hashes, and how many records were added to it.
fn write_index_usage(report: &RunReport, text: &mut String) {
    for (key, count) in &report.index.read {
        let packages = counted(*count, "package", "packages");
        let _ = writeln!(
            text,
            "not downloaded: {packages}, with h1 hashes from the index, signed by {key}"
        );
    }
    if report.index.written > 0 {
        let written = usize::try_from(report.index.written).unwrap_or(usize::MAX);
        let records = counted(written, "record", "records");
        let _ = writeln!(text, "added {records} to the index");
    }
}

/// Writes a note if only the platform of this machine was processed, unless the run did nothing. A lock file for one platform is
/// incomplete for a team, so the note has two lines if lock files changed.
fn write_platform_note(report: &RunReport, text: &mut String) {
    let skipped = report.count(Fate::Failed) + report.count(Fate::Skipped);
    if !report.platforms_defaulted || skipped == report.directories.len() {
        return;
    }
    let platform = report.platforms.first().map(ToString::to_string);
    let platform = platform.unwrap_or_default();
    let verb = if report.command == "lock" {
        "locked"
    } else {
        "checked"
    };
    let _ = write!(
        text,
        "{verb} only for {platform}, the platform of this machine"
    );
    let has_new_entries = report.has_drift()
        && report
            .providers()
            .any(|provider| !provider.packages.is_empty());
    text.push_str(if has_new_entries {
        ": on other platforms, `init` changes the lock files\n\
         to lock for every platform of your team, run `tflock init`, which writes a .tflock.toml, or use --platform\n"
    } else {
        "; request others with --platform\n"
    });
}

impl RunReport {
    /// Returns the number of packages that were not downloaded, but locked with the hashes that their registry reports.
    fn count_registry_reported_packages(&self) -> usize {
        let mut reported = BTreeSet::new();
        for provider in self.providers() {
            for (platform, record) in &provider.packages {
                if matches!(record.voucher, Voucher::Report(_)) {
                    reported.insert((&provider.address, provider.version.to_string(), platform));
                }
            }
        }
        reported.len()
    }
}

/// Formats a size in the largest decimal unit (kB, MB, GB) that does not exceed it.
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
    use super::*;

    #[test]
    fn sizes_are_in_the_largest_unit_that_they_fill() {
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
