//! The `packages` object in a download response of OpenTofu's registry: the hashes and the size of each platform's package.
//!
//! Terraform ignores it. OpenTofu compares the requested platform's entry with the download, except for the `h1` hash, which it
//! records unchecked. It does not check the values for other platforms.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use crate::provider::{Hash, HashScheme, Platform};

/// Reported packages by platform, as the registry wrote them. `None` is JSON's `null`.
pub type ReportedPackages = BTreeMap<String, Option<ReportedPackage>>;

/// A registry's report on one package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportedPackage {
    /// The hashes, as the registry wrote them.
    pub hashes: Vec<String>,
    /// The size in bytes; 0 if it is missing.
    pub size: i64,
}

#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ReportFault {
    #[error("it has no entry for `{0}`")]
    NoEntry(Platform),
    #[error("it has an entry for `{0}`, which is not a valid platform")]
    NoPlatform(String),
    /// The size is missing, zero or negative.
    #[error("it has an invalid size of {0} bytes")]
    NoSize(i64),
    #[error("it has a hash without a scheme: `{0}`")]
    NoScheme(String),
    #[error("its entry for `{0}` has no `zh` hash")]
    NoZh(Platform),
    /// A `zh` hash of the requested platform differs from the checksum in the same response, or is spelled differently.
    #[error("it has the hash `{hash}`, but the checksum in the same response is `{shasum}`")]
    OtherZh { hash: Hash, shasum: String },
    /// A `zh` hash is not in the signed list. This is checked only if hashes are recorded without a download.
    #[error("it has the hash `{0}`, which is missing from the signed checksum list")]
    Unlisted(Hash),
}

/// A report that is consistent with the checksum in the same response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckedReport {
    /// The size that the requested package must have, in bytes.
    pub(crate) size: u64,
    /// The hashes of all platforms.
    pub(crate) hashes: BTreeSet<Hash>,
    /// The `h1` hash of the requested package. It has not been compared with the package.
    pub(crate) h1: Option<Hash>,
}

/// Checks a report. `shasum` is the checksum of the requested package in the same response. `None` if the report is empty.
pub(crate) fn check_report(
    report: &ReportedPackages,
    requested: &Platform,
    shasum: &str,
) -> Result<Option<CheckedReport>, ReportFault> {
    if report.is_empty() {
        return Ok(None);
    }
    let mut own = None;
    let mut hashes = BTreeSet::new();
    for (name, package) in report {
        let platform =
            Platform::parse(name).map_err(|_invalid| ReportFault::NoPlatform(name.clone()))?;
        let package = package.clone().unwrap_or_default();
        let package_hashes = parse(&package.hashes)?;
        let known = package_hashes
            .iter()
            .filter(|hash| hash.scheme() != HashScheme::Other);
        hashes.extend(known.cloned());
        if platform == *requested {
            own = Some((package.size, package_hashes));
        }
    }
    let (size, own) = own.ok_or_else(|| ReportFault::NoEntry(requested.clone()))?;
    check_zh(&own, requested, shasum)?;
    let size = u64::try_from(size)
        .ok()
        .filter(|size| *size > 0)
        .ok_or(ReportFault::NoSize(size))?;
    let h1 = own.into_iter().find(|hash| hash.scheme() == HashScheme::H1);
    Ok(Some(CheckedReport { size, hashes, h1 }))
}

fn parse(hashes: &[String]) -> Result<Vec<Hash>, ReportFault> {
    hashes
        .iter()
        .map(|hash| Hash::parse(hash).map_err(|_invalid| ReportFault::NoScheme(hash.clone())))
        .collect()
}

/// Checks that there is a `zh` hash, and that each is spelled exactly like the checksum.
fn check_zh(own: &[Hash], requested: &Platform, shasum: &str) -> Result<(), ReportFault> {
    let zh: Vec<_> = own
        .iter()
        .filter(|hash| hash.scheme() == HashScheme::Zh)
        .collect();
    if zh.is_empty() {
        return Err(ReportFault::NoZh(requested.clone()));
    }
    match zh.into_iter().find(|hash| hash.value() != shasum) {
        Some(hash) => Err(ReportFault::OtherZh {
            hash: hash.clone(),
            shasum: shasum.to_owned(),
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHASUM: &str = "aa11";

    type Entry = Option<ReportedPackage>;

    fn package(hashes: &[&str], size: i64) -> ReportedPackage {
        let hashes = hashes.iter().map(|hash| (*hash).to_owned()).collect();
        ReportedPackage { hashes, size }
    }

    fn own() -> ReportedPackage {
        package(&["h1:wrong", "zh:aa11"], 7)
    }

    fn check(entries: &[(&str, Entry)]) -> Result<Option<CheckedReport>, ReportFault> {
        let report = entries
            .iter()
            .map(|(name, package)| ((*name).to_owned(), package.clone()));
        check_report(&report.collect(), &requested(), SHASUM)
    }

    fn requested() -> Platform {
        Platform::parse("linux_amd64").unwrap()
    }

    fn hashes(entries: &[(&str, Entry)]) -> Vec<String> {
        let report = check(entries).unwrap().unwrap();
        report.hashes.iter().map(Hash::to_string).collect()
    }

    #[test]
    fn an_empty_report_has_no_effect() {
        assert_eq!(check(&[]), Ok(None));
    }

    #[test]
    fn the_requested_platform_is_checked() {
        let no_zh = || ReportFault::NoZh(requested());
        let other = ReportFault::OtherZh {
            hash: Hash::parse("zh:AA11").unwrap(),
            shasum: SHASUM.to_owned(),
        };
        let cases = [
            (Some(package(&["zh:aa11"], 0)), ReportFault::NoSize(0)),
            (Some(package(&["zh:aa11"], -1)), ReportFault::NoSize(-1)),
            (Some(package(&["h1:x"], 7)), no_zh()),
            (Some(package(&[], 7)), no_zh()),
            (None, no_zh()),
            (Some(package(&["zh:AA11"], 7)), other.clone()),
            (Some(package(&["zh:aa11", "zh:AA11"], 7)), other),
        ];
        for (own, fault) in cases {
            assert_eq!(check(&[("linux_amd64", own)]), Err(fault));
        }
        for other in ["linux_arm64", "Linux_amd64"] {
            let no_entry = Err(ReportFault::NoEntry(requested()));
            assert_eq!(check(&[(other, Some(own()))]), no_entry);
        }
        let without_h1 = check(&[("linux_amd64", Some(package(&["zh:aa11"], 7)))]);
        assert_eq!(without_h1.unwrap().unwrap().size, 7);
    }

    #[test]
    fn values_of_other_platforms_are_not_checked() {
        let odd = Some(package(&["zh:AA11", "zh:short", "h1:", "h2:left out"], -5));
        let all = hashes(&[
            ("linux_amd64", Some(own())),
            ("plan9_mips", odd),
            ("x_y", None),
            ("z_z", Some(package(&[], 0))),
        ]);
        assert_eq!(all, ["h1:", "h1:wrong", "zh:AA11", "zh:aa11", "zh:short"]);
    }

    #[test]
    fn the_syntax_of_all_platforms_is_checked() {
        let with = |name, package| check(&[("linux_amd64", Some(own())), (name, Some(package))]);
        for name in ["linux", "linux_arm_64", ""] {
            let fault = ReportFault::NoPlatform(name.to_owned());
            assert_eq!(with(name, own()), Err(fault));
        }
        for hash in ["nocolon", ":x", ""] {
            let fault = ReportFault::NoScheme(hash.to_owned());
            assert_eq!(with("a_b", package(&[hash], 1)), Err(fault));
        }
    }

    #[test]
    fn several_platforms_may_have_the_same_zip() {
        let same = [
            ("linux_amd64", Some(own())),
            ("linux_arm64", Some(own())),
            ("darwin_arm64", Some(own())),
        ];
        assert_eq!(hashes(&same), ["h1:wrong", "zh:aa11"]);
    }
}
