//! The `packages` that OpenTofu's registry reports beside a download: hashes and size of every platform's package.
//!
//! Only OpenTofu reads them. The entry for the asked platform is checked against the download, except for its `h1`, which
//! is recorded unseen; the entries for other platforms are not checked against anything. Terraform ignores all of it.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use crate::provider::{Hash, HashScheme, Platform};

/// Platform, as it is spelled, to what is reported for it; `None` is JSON's `null`.
pub type ReportedPackages = BTreeMap<String, Option<ReportedPackage>>;

/// What a registry says about one package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportedPackage {
    /// Hashes, as they are spelled.
    pub hashes: Vec<String>,
    /// Size in bytes; 0 if it is missing.
    pub size: i64,
}

/// What is wrong with a report.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ReportFault {
    /// The asked platform is not in it.
    #[error("it has no entry for `{platform}`")]
    NoEntry {
        /// The platform.
        platform: Platform,
    },
    /// A platform is not spelled as one.
    #[error("it has an entry for `{name}`, which is no platform")]
    NoPlatform {
        /// What stands for the platform.
        name: String,
    },
    /// The size is missing or not positive.
    #[error("it gives a size of {size} bytes")]
    NoSize {
        /// The size.
        size: i64,
    },
    /// A hash has no scheme.
    #[error("it has a hash without scheme: `{hash}`")]
    NoScheme {
        /// What stands for the hash.
        hash: String,
    },
    /// The asked platform's entry has no `zh` hash.
    #[error("its entry for `{platform}` has no `zh` hash")]
    NoZh {
        /// The platform.
        platform: Platform,
    },
    /// A `zh` hash of the asked platform is spelled differently from the checksum beside it.
    #[error("it has the hash `{hash}`, but the checksum `{shasum}`")]
    OtherZh {
        /// The hash.
        hash: Hash,
        /// The checksum.
        shasum: String,
    },
    /// A `zh` hash of some platform is not in the signed list. Looked at only where hashes are taken without a package.
    #[error("it has the hash `{hash}`, which the signed checksum list does not hold")]
    Unlisted {
        /// The hash.
        hash: Hash,
    },
}

/// A report that agrees with the answer it is part of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckedReport {
    /// The size that the asked package must have.
    pub(crate) size: u64,
    /// All hashes to record.
    pub(crate) hashes: BTreeSet<Hash>,
    /// The `h1` of the asked package, which nobody has compared with it.
    pub(crate) h1: Option<Hash>,
}

/// Checks a report against the checksum of the asked package. An empty report says nothing.
pub(crate) fn check_report(
    report: &ReportedPackages,
    asked: &Platform,
    shasum: &str,
) -> Result<Option<CheckedReport>, ReportFault> {
    if report.is_empty() {
        return Ok(None);
    }
    let mut own = None;
    let mut hashes = BTreeSet::new();
    for (name, package) in report {
        let platform = Platform::parse(name).ok();
        let platform = platform.ok_or_else(|| ReportFault::NoPlatform { name: name.clone() })?;
        let package = package.clone().unwrap_or_default();
        let package_hashes = parse(&package.hashes)?;
        hashes.extend(
            package_hashes
                .iter()
                .filter(|hash| hash.scheme() != HashScheme::Other)
                .cloned(),
        );
        if platform == *asked {
            own = Some((package.size, package_hashes));
        }
    }
    let (size, own) = own.ok_or_else(|| ReportFault::NoEntry {
        platform: asked.clone(),
    })?;
    check_zh(&own, asked, shasum)?;
    let size = u64::try_from(size)
        .ok()
        .filter(|size| *size > 0)
        .ok_or(ReportFault::NoSize { size })?;
    let h1 = own.into_iter().find(|hash| hash.scheme() == HashScheme::H1);
    Ok(Some(CheckedReport { size, hashes, h1 }))
}

fn parse(hashes: &[String]) -> Result<Vec<Hash>, ReportFault> {
    let parse = |hash: &String| {
        let parsed = Hash::parse(hash).ok();
        parsed.ok_or_else(|| ReportFault::NoScheme { hash: hash.clone() })
    };
    hashes.iter().map(parse).collect()
}

/// At least one `zh`, and each spelled exactly like the checksum.
fn check_zh(own: &[Hash], asked: &Platform, shasum: &str) -> Result<(), ReportFault> {
    let zh: Vec<_> = own
        .iter()
        .filter(|hash| hash.scheme() == HashScheme::Zh)
        .collect();
    if zh.is_empty() {
        return Err(ReportFault::NoZh {
            platform: asked.clone(),
        });
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
        check_report(&report.collect(), &asked(), SHASUM)
    }

    fn asked() -> Platform {
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
    fn the_asked_platform_is_checked() {
        let platform = asked();
        let other = ReportFault::OtherZh {
            hash: Hash::parse("zh:AA11").unwrap(),
            shasum: SHASUM.to_owned(),
        };
        let cases = [
            (
                Some(package(&["zh:aa11"], 0)),
                ReportFault::NoSize { size: 0 },
            ),
            (
                Some(package(&["zh:aa11"], -1)),
                ReportFault::NoSize { size: -1 },
            ),
            (
                Some(package(&["h1:x"], 7)),
                ReportFault::NoZh {
                    platform: platform.clone(),
                },
            ),
            (
                Some(package(&[], 7)),
                ReportFault::NoZh {
                    platform: platform.clone(),
                },
            ),
            (
                None,
                ReportFault::NoZh {
                    platform: platform.clone(),
                },
            ),
            (Some(package(&["zh:AA11"], 7)), other.clone()),
            (Some(package(&["zh:aa11", "zh:AA11"], 7)), other),
        ];
        for (own, fault) in cases {
            assert_eq!(check(&[("linux_amd64", own)]), Err(fault));
        }
        assert_eq!(
            check(&[("linux_arm64", Some(own()))]),
            Err(ReportFault::NoEntry {
                platform: platform.clone()
            })
        );
        assert_eq!(
            check(&[("Linux_amd64", Some(own()))]),
            Err(ReportFault::NoEntry { platform })
        );
        let report = check(&[("linux_amd64", Some(package(&["zh:aa11"], 7)))])
            .unwrap()
            .unwrap();
        assert_eq!(report.size, 7, "the `h1` may be missing");
    }

    #[test]
    fn other_platforms_may_say_anything_that_has_the_form() {
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
    fn the_form_counts_for_all() {
        for name in ["linux", "linux_arm_64", ""] {
            let fault = ReportFault::NoPlatform {
                name: name.to_owned(),
            };
            assert_eq!(
                check(&[("linux_amd64", Some(own())), (name, Some(own()))]),
                Err(fault)
            );
        }
        for hash in ["nocolon", ":x", ""] {
            let fault = ReportFault::NoScheme {
                hash: hash.to_owned(),
            };
            assert_eq!(
                check(&[
                    ("linux_amd64", Some(own())),
                    ("a_b", Some(package(&[hash], 1)))
                ]),
                Err(fault)
            );
        }
    }

    #[test]
    fn one_zip_for_several_platforms_is_fine() {
        let same = [
            ("linux_amd64", Some(own())),
            ("linux_arm64", Some(own())),
            ("darwin_arm64", Some(own())),
        ];
        assert_eq!(hashes(&same), ["h1:wrong", "zh:aa11"]);
    }
}
