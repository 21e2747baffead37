//! The last lines of a report: how many directories, findings and packages there were.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Fate, RunReport};
use crate::display::counted;
use crate::locking::{Downloaded, Voucher};

/// How many directories had which fate, what was downloaded, and what the user should know about the platforms.
pub(super) fn summary(report: &RunReport) -> String {
    let counts = report.counts().into_iter();
    let counts: Vec<String> = counts
        .map(|(what, count)| format!("{count} {what}"))
        .collect();
    let counts = if counts.is_empty() {
        "nothing to do".to_owned()
    } else {
        counts.join(", ")
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
        let _ = write!(
            text,
            " ({again} of them twice: no stream could tell their hash)"
        );
    }
    let _ = writeln!(text, "; {:.1} s", report.elapsed.as_secs_f64());
    let unseen = report.count_registry_reported_packages();
    if unseen > 0 {
        let packages = counted(unseen, "package", "packages");
        let _ = writeln!(
            text,
            "not looked at: {packages}, locked on the word of the registry (--trust-registry-hashes)"
        );
    }
    if report.platforms_defaulted && report.count(Fate::Failed) < report.directories.len() {
        let verb = if report.command == "lock" {
            "locked"
        } else {
            "checked"
        };
        let platform = report.platforms.first().map(ToString::to_string);
        let _ = writeln!(
            text,
            "{verb} for {} only, this machine's platform; name others with --platform",
            platform.unwrap_or_default()
        );
    }
    text
}

impl RunReport {
    /// How many packages were locked by the hashes that their registry reports, without a look at the package.
    fn count_registry_reported_packages(&self) -> usize {
        let providers = self
            .directories
            .iter()
            .flat_map(|directory| &directory.providers);
        let unseen: BTreeSet<_> = providers
            .flat_map(|provider| {
                provider
                    .packages
                    .iter()
                    .filter(|(_, record)| matches!(record.voucher, Voucher::Report(_)))
                    .map(|(platform, _)| {
                        (&provider.address, provider.version.to_string(), platform)
                    })
            })
            .collect();
        unseen.len()
    }
}

/// A size in the largest unit that it fills, in powers of ten.
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
