//! Cached package descriptions, with the checksum list and its signature: everything required to verify a package again.
//!
//! Addresses are not stored: only a download needs them, and they may contain secrets. Each run verifies the content again, with
//! its own rules and clock.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::disk_cache::{CacheArea, CacheKey, DiskCache};
use super::entry_format;
use crate::package::{ReportedPackage, ReportedPackages, SigningKey};
use crate::provider::{Engine, PackageId};

/// The key of a cached description.
#[derive(Clone, Copy, Debug)]
pub struct AnswerKey<'a> {
    /// Identifies the registry, which the configuration may replace; see
    /// [`RegistryClient::origin`](crate::registry::RegistryClient::origin).
    pub origin: &'a str,
    /// The engine, because registries may adapt their responses to it.
    pub engine: Engine,
    pub package: &'a PackageId,
}

impl AnswerKey<'_> {
    fn cache_key(&self) -> CacheKey {
        let parts = [
            self.origin,
            self.engine.program(),
            &self.package.provider.to_string(),
            &self.package.version.to_string(),
            &self.package.platform.to_string(),
        ];
        CacheKey::new(CacheArea::Answers, &parts)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageAnswer {
    /// The name of the zip in the checksum list.
    pub filename: String,
    /// The checksum of the zip, in the registry's spelling.
    pub shasum: String,
    /// The keys that may have made the signature, in the registry's order.
    pub keys: Vec<SigningKey>,
    /// OpenTofu's `packages` field; empty for Terraform.
    pub reported: ReportedPackages,
    /// Warnings from the registry for users of the provider.
    pub warnings: Vec<String>,
    /// Invalid versions in the registry's list.
    pub invalid: Vec<String>,
    pub list: Vec<u8>,
    pub signature: Vec<u8>,
}

/// The first part of an entry, as JSON. The checksum list and its signature are the other two parts.
#[derive(Deserialize, Serialize)]
struct AnswerJson {
    filename: String,
    shasum: String,
    /// Each armored key and its trust signature.
    keys: Vec<(String, String)>,
    /// Hashes and size, by platform.
    reported: BTreeMap<String, Option<(Vec<String>, i64)>>,
    warnings: Vec<String>,
    invalid: Vec<String>,
}

impl DiskCache {
    /// Reads the description that was last written for this key.
    pub fn answer(&self, key: &AnswerKey<'_>) -> Option<PackageAnswer> {
        let parts = <[Vec<u8>; 3]>::try_from(self.read(&key.cache_key())?);
        let [json, list, signature] = parts.ok()?;
        let kept: AnswerJson = serde_json::from_slice(&json).ok()?;
        let signing_key = |(ascii_armor, trust_signature)| SigningKey {
            ascii_armor,
            trust_signature,
        };
        let package = |(hashes, size)| ReportedPackage { hashes, size };
        let reported = kept.reported.into_iter();
        Some(PackageAnswer {
            filename: kept.filename,
            shasum: kept.shasum,
            keys: kept.keys.into_iter().map(signing_key).collect(),
            reported: reported
                .map(|(platform, entry)| (platform, entry.map(package)))
                .collect(),
            warnings: kept.warnings,
            invalid: kept.invalid,
            list,
            signature,
        })
    }

    pub fn write_answer(&self, key: &AnswerKey<'_>, answer: &PackageAnswer) {
        let pair = |key: &SigningKey| (key.ascii_armor.clone(), key.trust_signature.clone());
        let package = |package: &ReportedPackage| (package.hashes.clone(), package.size);
        let reported = answer.reported.iter();
        let kept = AnswerJson {
            filename: answer.filename.clone(),
            shasum: answer.shasum.clone(),
            keys: answer.keys.iter().map(pair).collect(),
            reported: reported
                .map(|(platform, entry)| (platform.clone(), entry.as_ref().map(package)))
                .collect(),
            warnings: answer.warnings.clone(),
            invalid: answer.invalid.clone(),
        };
        let json = entry_format::json(&kept);
        self.write(&key.cache_key(), &[&json, &answer.list, &answer.signature]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::{Platform, ProviderAddr, Version};

    fn answer() -> PackageAnswer {
        let package = ReportedPackage {
            hashes: vec!["zh:a".to_owned(), "h1:b".to_owned()],
            size: -1,
        };
        PackageAnswer {
            filename: "p_1.0.0_linux_amd64.zip".to_owned(),
            shasum: "ABC".to_owned(),
            keys: vec![SigningKey {
                ascii_armor: "armor".to_owned(),
                trust_signature: String::new(),
            }],
            reported: [
                ("linux_amd64".to_owned(), Some(package)),
                ("x".to_owned(), None),
            ]
            .into(),
            warnings: vec!["moved".to_owned()],
            invalid: vec!["v1".to_owned()],
            list: b"\xff\n".to_vec(),
            signature: vec![0, 1, 2],
        }
    }

    #[test]
    fn answers_are_found_for_the_same_key_only() {
        let base = tempfile::tempdir().unwrap();
        let store = DiskCache::open(base.path()).unwrap();
        let key = |row: &'static str| {
            let [origin, engine, provider, version, platform]: [&str; 5] =
                row.split(' ').collect::<Vec<_>>().try_into().unwrap();
            let engines = [Engine::Terraform, Engine::Tofu];
            let engine = engines.into_iter().find(|known| known.program() == engine);
            let package = PackageId {
                provider: ProviderAddr::parse(provider, Engine::Terraform).unwrap(),
                version: Version::parse(version).unwrap(),
                platform: Platform::parse(platform).unwrap(),
            };
            (origin, engine.unwrap(), package)
        };
        let (origin, engine, package) = key("host terraform acme/anvil 1.0.0 linux_amd64");
        let stored = AnswerKey {
            origin,
            engine,
            package: &package,
        };
        assert_eq!(store.answer(&stored), None);
        store.write_answer(&stored, &answer());
        assert_eq!(store.answer(&stored), Some(answer()));
        for other in [
            "https://redirected.example/ terraform acme/anvil 1.0.0 linux_amd64",
            "host tofu acme/anvil 1.0.0 linux_amd64",
            "host terraform acme/bolt 1.0.0 linux_amd64",
            "host terraform acme/anvil 1.0.0+b linux_amd64",
            "host terraform acme/anvil 1.0.0 linux_arm64",
        ] {
            let (origin, engine, package) = key(other);
            let key = AnswerKey {
                origin,
                engine,
                package: &package,
            };
            assert_eq!(store.answer(&key), None, "{other}");
        }
    }
}
