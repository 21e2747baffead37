//! What a registry says of one package, with the signed checksum list: all that is needed to verify it again.
//!
//! Addresses are not kept: they are not needed without a download, and may be signed. What was verified once is verified
//! again at each use, with the rules and the clock of that run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::entry;
use super::store::{Key, Kind, Store};
use crate::package::{ReportedPackage, ReportedPackages, SigningKey};
use crate::provider::{Engine, Platform, ProviderAddr, Version};

/// What was asked of whom.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Which registry answers for the provider's host. Where a host is redirected, another one does.
    pub origin: &'a str,
    /// Registries may answer by the tool that asks.
    pub engine: Engine,
    /// Which provider.
    pub provider: &'a ProviderAddr,
    /// Which version.
    pub version: &'a Version,
    /// For which platform.
    pub platform: &'a Platform,
}

impl Question<'_> {
    fn key(&self) -> Key {
        let parts = [
            self.origin,
            self.engine.program(),
            &self.provider.to_string(),
            &self.version.to_string(),
            &self.platform.to_string(),
        ];
        Key::new(Kind::Answers, &parts)
    }
}

/// What was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The name of the zip in the checksum list.
    pub filename: String,
    /// Its checksum as the registry spells it.
    pub shasum: String,
    /// Keys for the signature, in order.
    pub keys: Vec<SigningKey>,
    /// OpenTofu's `packages`, for the engine that reads them.
    pub reported: ReportedPackages,
    /// What the registry wants users of the provider to know.
    pub warnings: Vec<String>,
    /// Listed texts that are no versions.
    pub invalid: Vec<String>,
    /// The checksum list.
    pub list: Vec<u8>,
    /// The signature over it.
    pub signature: Vec<u8>,
}

/// The first part of an entry, as JSON; the list and its signature follow.
#[derive(Deserialize, Serialize)]
struct Kept {
    filename: String,
    shasum: String,
    /// Armor and trust signature.
    keys: Vec<(String, String)>,
    /// Hashes and size by platform.
    reported: BTreeMap<String, Option<(Vec<String>, i64)>>,
    warnings: Vec<String>,
    invalid: Vec<String>,
}

impl Store {
    /// What was answered to this question when it was last asked.
    pub fn answer(&self, question: &Question<'_>) -> Option<Answer> {
        let parts = <[Vec<u8>; 3]>::try_from(self.read(&question.key())?);
        let [json, list, signature] = parts.ok()?;
        let kept: Kept = serde_json::from_slice(&json).ok()?;
        let key = |(ascii_armor, trust_signature)| SigningKey {
            ascii_armor,
            trust_signature,
        };
        let package = |(hashes, size)| ReportedPackage { hashes, size };
        let reported = kept.reported.into_iter();
        Some(Answer {
            filename: kept.filename,
            shasum: kept.shasum,
            keys: kept.keys.into_iter().map(key).collect(),
            reported: reported
                .map(|(platform, entry)| (platform, entry.map(package)))
                .collect(),
            warnings: kept.warnings,
            invalid: kept.invalid,
            list,
            signature,
        })
    }

    /// Keeps an answer.
    pub fn keep_answer(&self, question: &Question<'_>, answer: &Answer) {
        let key = |key: &SigningKey| (key.ascii_armor.clone(), key.trust_signature.clone());
        let package = |package: &ReportedPackage| (package.hashes.clone(), package.size);
        let reported = answer.reported.iter();
        let kept = Kept {
            filename: answer.filename.clone(),
            shasum: answer.shasum.clone(),
            keys: answer.keys.iter().map(key).collect(),
            reported: reported
                .map(|(platform, entry)| (platform.clone(), entry.as_ref().map(package)))
                .collect(),
            warnings: answer.warnings.clone(),
            invalid: answer.invalid.clone(),
        };
        let json = entry::json(&kept);
        self.write(&question.key(), &[&json, &answer.list, &answer.signature]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer() -> Answer {
        let package = ReportedPackage {
            hashes: vec!["zh:a".to_owned(), "h1:b".to_owned()],
            size: -1,
        };
        Answer {
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
    fn answers_come_back_for_the_same_question_only() {
        let base = tempfile::tempdir().unwrap();
        let store = Store::open(base.path()).unwrap();
        let provider = ProviderAddr::parse("acme/anvil", Engine::Terraform).unwrap();
        let other_provider = ProviderAddr::parse("acme/bolt", Engine::Terraform).unwrap();
        let [version, other_version] =
            ["1.0.0", "1.0.0+b"].map(|text| Version::parse(text).unwrap());
        let [platform, other_platform] =
            ["linux_amd64", "linux_arm64"].map(|text| Platform::parse(text).unwrap());
        let question = Question {
            origin: "host",
            engine: Engine::Terraform,
            provider: &provider,
            version: &version,
            platform: &platform,
        };
        assert_eq!(store.answer(&question), None);
        store.keep_answer(&question, &answer());
        assert_eq!(store.answer(&question), Some(answer()));
        let others = [
            Question {
                origin: "https://redirected.example/",
                ..question
            },
            Question {
                engine: Engine::Tofu,
                ..question
            },
            Question {
                provider: &other_provider,
                ..question
            },
            Question {
                version: &other_version,
                ..question
            },
            Question {
                platform: &other_platform,
                ..question
            },
        ];
        for other in others {
            assert_eq!(store.answer(&other), None, "{other:?}");
        }
    }
}
