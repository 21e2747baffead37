//! OpenTofu's `packages`: hashes that a registry reports for all platforms in the description of one package.
//!
//! `{"linux_amd64":{"hashes":["zh:...","h1:..."],"package_size":123}, ...}`. Terraform ignores it. Whether it counts, and for
//! what, is for the caller; here it is read and, for the platform asked for, checked against the downloaded zip.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::provider::{Hash, HashScheme, Platform};
use crate::registry::wire::{self, Fields};

/// The extension as it came: nobody looks at it unless the engine is OpenTofu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawPackages(String);

/// What a registry reports, by platform.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportedPackages {
    platforms: BTreeMap<Platform, ReportedPackage>,
}

/// What a registry reports for one platform.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportedPackage {
    /// Hashes of any scheme, as they stand.
    pub hashes: Vec<Hash>,
    /// The size of the zip.
    pub package_size: i64,
}

/// Why reported packages cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackagesError {
    /// Not the structure it should be.
    #[error("the `packages` that the registry reports cannot be read: {0}")]
    Json(String),
    /// A key that is no platform.
    #[error("the registry reports `packages` for `{0}`, which is no platform")]
    Platform(String),
    /// A hash without a scheme.
    #[error("the registry reports `{0}`, which is no hash")]
    Hash(String),
    /// No entry for the platform asked for.
    #[error("the registry reports no package for `{0}`")]
    Missing(Platform),
    /// The size is not that of the zip.
    #[error("the registry reports {reported} bytes for the package, and it has {actual}")]
    Size {
        /// What the registry says.
        reported: i64,
        /// What arrived.
        actual: u64,
    },
    /// No `zh` hash for the platform asked for.
    #[error("the registry reports no `zh` hash for `{0}`")]
    NoZh(Platform),
    /// A `zh` hash that is not the promised checksum.
    #[error("the registry reports `{reported}` for the package and promises `{promised}`")]
    ZhMismatch {
        /// The hash.
        reported: Hash,
        /// The checksum as written.
        promised: String,
    },
}

impl RawPackages {
    pub(super) fn new(raw: &RawValue) -> Self {
        Self(raw.get().to_owned())
    }

    /// Reads all entries. An empty result is as good as no `packages` at all.
    pub fn read(&self) -> Result<ReportedPackages, PackagesError> {
        let entries: BTreeMap<String, Option<Fields<Entry>>> = wire::read(self.0.as_bytes())
            .map_err(|error: serde_json::Error| PackagesError::Json(error.to_string()))?;
        let mut platforms = BTreeMap::new();
        for (name, entry) in entries {
            let platform = Platform::parse(&name).map_err(|_bad| PackagesError::Platform(name))?;
            let entry = entry.unwrap_or_default().0;
            let hashes = wire::strings(entry.hashes).into_iter();
            let hashes =
                hashes.map(|text| Hash::parse(&text).map_err(|_bad| PackagesError::Hash(text)));
            let package = ReportedPackage {
                hashes: hashes.collect::<Result<_, _>>()?,
                package_size: entry.package_size,
            };
            platforms.insert(platform, package);
        }
        Ok(ReportedPackages { platforms })
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Entry {
    hashes: Vec<Option<String>>,
    package_size: i64,
}

impl ReportedPackages {
    /// Whether nothing is reported.
    pub fn is_empty(&self) -> bool {
        self.platforms.is_empty()
    }

    /// The `h1` and `zh` hashes of all platforms, as they stand.
    pub fn recordable(&self) -> impl Iterator<Item = &Hash> {
        let hashes = self.platforms.values().flat_map(|package| &package.hashes);
        hashes.filter(|hash| hash.scheme() != HashScheme::Other)
    }

    /// The entry of one platform.
    pub fn platform(&self, platform: &Platform) -> Option<&ReportedPackage> {
        self.platforms.get(platform)
    }

    /// Checks the entry of the platform that was downloaded. `promised` is the `shasum` as the registry wrote it: texts are
    /// compared, so that upper case in one of the two is an error, as in OpenTofu.
    pub fn check(
        &self,
        platform: &Platform,
        size: u64,
        promised: &str,
    ) -> Result<(), PackagesError> {
        let package = self
            .platform(platform)
            .ok_or_else(|| PackagesError::Missing(platform.clone()))?;
        let mismatch = || PackagesError::Size {
            reported: package.package_size,
            actual: size,
        };
        let reported = u64::try_from(package.package_size).map_err(|_negative| mismatch())?;
        if reported == 0 || reported != size {
            return Err(mismatch());
        }
        let mut zh = package
            .hashes
            .iter()
            .filter(|hash| hash.scheme() == HashScheme::Zh)
            .peekable();
        if zh.peek().is_none() {
            return Err(PackagesError::NoZh(platform.clone()));
        }
        match zh.find(|hash| hash.value() != promised) {
            Some(wrong) => Err(PackagesError::ZhMismatch {
                reported: wrong.clone(),
                promised: promised.to_owned(),
            }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<ReportedPackages, PackagesError> {
        RawPackages(json.to_owned()).read()
    }

    fn linux() -> Platform {
        Platform::parse("linux_amd64").expect("a platform")
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        assert!(matches!(
            read(r#"{"a_b":{"package_size":"1"}}"#),
            Err(PackagesError::Json(_))
        ));
        assert_eq!(
            read(r#"{"linux":{}}"#),
            Err(PackagesError::Platform("linux".to_owned()))
        );
        assert_eq!(
            read(r#"{"a_b_c":{}}"#),
            Err(PackagesError::Platform("a_b_c".to_owned()))
        );
        assert_eq!(
            read(r#"{"a_b":{"hashes":["x"]}}"#),
            Err(PackagesError::Hash("x".to_owned()))
        );
        assert_eq!(
            read(r#"{"a_b":{"hashes":[":x"]}}"#),
            Err(PackagesError::Hash(":x".to_owned()))
        );
        assert!(read("{}").expect("readable").is_empty());
    }

    #[test]
    fn hashes_are_recorded_as_they_stand() {
        let reported = read(
            r#"{"linux_amd64":{"hashes":["zh:ABC","h1:","h2:x"]},"Plan9_X":null,"a_b":{"hashes":["zh:short"]}}"#,
        );
        let reported = reported.expect("readable");
        let recorded: Vec<_> = reported.recordable().map(Hash::as_str).collect();
        assert_eq!(recorded, ["zh:short", "zh:ABC", "h1:"]);
    }

    #[test]
    fn only_the_entry_of_the_platform_is_checked() {
        let rows: &[(&str, Option<PackagesError>)] = &[
            (
                r#"{"linux_amd64":{"hashes":["zh:aa","h1:wrong"],"package_size":5},"a_b":{"hashes":["zh:x"]}}"#,
                None,
            ),
            (
                r#"{"a_b":{"hashes":["zh:aa"],"package_size":5}}"#,
                Some(PackagesError::Missing(linux())),
            ),
            (
                r#"{"linux_amd64":{"hashes":["zh:aa"],"package_size":6}}"#,
                Some(PackagesError::Size {
                    reported: 6,
                    actual: 5,
                }),
            ),
            (
                r#"{"linux_amd64":{"hashes":["zh:aa"]}}"#,
                Some(PackagesError::Size {
                    reported: 0,
                    actual: 5,
                }),
            ),
            (
                r#"{"linux_amd64":{"hashes":["zh:aa"],"package_size":-5}}"#,
                Some(PackagesError::Size {
                    reported: -5,
                    actual: 5,
                }),
            ),
            (
                r#"{"linux_amd64":{"hashes":["h1:aa"],"package_size":5}}"#,
                Some(PackagesError::NoZh(linux())),
            ),
            (
                r#"{"linux_amd64":{"hashes":["zh:aa","zh:AA"],"package_size":5}}"#,
                Some(PackagesError::ZhMismatch {
                    reported: Hash::parse("zh:AA").expect("a hash"),
                    promised: "aa".to_owned(),
                }),
            ),
        ];
        for (json, expected) in rows {
            let checked = read(json).expect("readable").check(&linux(), 5, "aa");
            assert_eq!(checked.err(), *expected, "{json}");
        }
    }
}
