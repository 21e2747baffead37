//! OpenTofu's `packages`: hashes that a registry reports for all platforms in the description of one package.
//!
//! `{"linux_amd64":{"hashes":["zh:...","h1:..."],"package_size":123}, ...}`. Terraform ignores it, so it is only read when
//! somebody asks. What it means, and what it must agree with, is the business of [`crate::package`].

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::package::{ReportedPackage, ReportedPackages};
use crate::registry::wire::{self, Fields};

/// The extension as it came: nobody looks at it unless the engine is OpenTofu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawPackages(String);

/// Reported packages that are not the structure they should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the `packages` that the registry reports cannot be read: {0}")]
pub struct PackagesError(String);

impl RawPackages {
    pub(super) fn new(raw: &RawValue) -> Self {
        Self(raw.get().to_owned())
    }

    /// Reads all entries. An empty result is as good as no `packages` at all.
    pub fn read(&self) -> Result<ReportedPackages, PackagesError> {
        let entries: Option<BTreeMap<String, Option<Fields<Entry>>>> =
            wire::read(self.0.as_bytes())
                .map_err(|error: serde_json::Error| PackagesError(error.to_string()))?;
        let read = |entry: Fields<Entry>| ReportedPackage {
            hashes: wire::strings(entry.0.hashes),
            size: entry.0.package_size,
        };
        let entries = entries.unwrap_or_default().into_iter();
        Ok(entries
            .map(|(platform, entry)| (platform, entry.map(read)))
            .collect())
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Entry {
    hashes: Vec<Option<String>>,
    package_size: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<ReportedPackages, PackagesError> {
        RawPackages(json.to_owned()).read()
    }

    #[test]
    fn entries_are_taken_as_they_stand() {
        let json = r#"{"linux_amd64":{"hashes":["zh:ABC","h1:","x"],"package_size":-5},"Plan9_X":null,"a":{}}"#;
        let linux = ReportedPackage {
            hashes: ["zh:ABC", "h1:", "x"].map(str::to_owned).to_vec(),
            size: -5,
        };
        let expected = BTreeMap::from([
            ("linux_amd64".to_owned(), Some(linux)),
            ("Plan9_X".to_owned(), None),
            ("a".to_owned(), Some(ReportedPackage::default())),
        ]);
        assert_eq!(read(json), Ok(expected));
        assert_eq!(read("{}"), Ok(BTreeMap::new()));
        assert_eq!(read("null"), Ok(BTreeMap::new()));
    }

    #[test]
    fn other_structures_are_errors() {
        for json in [r#"{"a_b":{"package_size":"1"}}"#, "[]", r#"{"a_b":7}"#] {
            assert!(read(json).is_err(), "{json}");
        }
    }
}
