//! How many there were of what, and what it cost: the line under a report.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Fate, RunReport};
use crate::locking::{Downloaded, Voucher};

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

/// A number with its noun.
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
    use super::*;

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
