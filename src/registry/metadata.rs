//! Validated responses of provider registries: version lists and package descriptions.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;
use url::Url;

use crate::package::{ReportedPackage, ReportedPackages, SigningKey};
use crate::provider::{Digest, PackageId, Platform, ProviderAddr, Version, VersionProblem};
use crate::registry::error::{RegistryError, Result};
use crate::registry::request::is_web;
use crate::registry::transport::DocumentResponse;
use crate::registry::wire::{self, Fields, PackageDescription, VersionList};

/// The reason why a registry's response cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    #[error("the response does not follow the protocol")]
    Json(#[source] serde_json::Error),
    #[error(transparent)]
    Content(Box<RegistryError>),
}

impl From<RegistryError> for AnswerError {
    fn from(error: RegistryError) -> Self {
        Self::Content(Box::new(error))
    }
}

impl AnswerError {
    pub(super) fn into_registry_error(self, response: &DocumentResponse) -> RegistryError {
        match self {
            Self::Json(error) => response.json_error(&error),
            Self::Content(error) => *error,
        }
    }
}

/// The versions of a provider that a source offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AvailableVersions {
    /// The valid versions without duplicates, in the order of the list.
    pub versions: Vec<AvailableVersion>,
    /// Invalid versions, in the order of the list. They are skipped with a warning.
    pub invalid: Vec<String>,
    /// Warnings from the registry for users of the provider.
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AvailableVersion {
    pub version: Version,
    /// The listed plugin protocols, which may be invalid. They are used only for hints.
    pub protocols: Vec<String>,
    /// The listed platforms. They are used only for hints, because the list may be incomplete.
    pub platforms: BTreeSet<Platform>,
}

impl AvailableVersions {
    pub fn versions(&self) -> impl Iterator<Item = &Version> {
        self.versions.iter().map(|available| &available.version)
    }

    pub fn platforms(&self, version: &Version) -> BTreeSet<Platform> {
        let mut versions = self.versions.iter();
        let found = versions.find(|available| available.version == *version);
        found
            .map(|available| available.platforms.clone())
            .unwrap_or_default()
    }

    /// Returns the newest release that lists a plugin protocol supported by both engines.
    pub(super) fn suggestion(&self) -> Option<Version> {
        let is_suitable = |available: &&AvailableVersion| {
            available.version.prerelease.is_empty()
                && supports_engine(&available.protocols) == Ok(true)
        };
        let suitable = self.versions.iter().filter(is_suitable);
        let newest = suitable.max_by(|a, b| a.version.precedence(&b.version));
        newest.map(|available| available.version.clone())
    }

    pub fn parse(provider: &ProviderAddr, body: &[u8]) -> Result<Self, AnswerError> {
        let list: Fields<VersionList> = wire::read(body).map_err(AnswerError::Json)?;
        Ok(Self::read(provider, list.0)?)
    }

    fn read(provider: &ProviderAddr, list: VersionList) -> Result<Self> {
        let mut available = Self {
            warnings: wire::strings(list.warnings),
            ..Self::default()
        };
        let mut seen = BTreeSet::new();
        for listed in list.versions {
            let listed = listed.unwrap_or_default().0;
            let version = match Version::parse(&listed.version) {
                Ok(version) => version,
                Err(error) if matches!(error.problem, VersionProblem::NumberTooLarge(_)) => {
                    return Err(RegistryError::VersionTooLarge {
                        provider: Box::new(provider.clone()),
                        version: listed.version,
                    });
                }
                Err(_) => {
                    available.invalid.push(listed.version);
                    continue;
                }
            };
            if seen.insert(version.to_string()) {
                let platform = |listed: Fields<wire::ListedPlatform>| Platform {
                    os: listed.0.os,
                    arch: listed.0.arch,
                };
                available.versions.push(AvailableVersion {
                    version,
                    protocols: wire::strings(listed.protocols),
                    platforms: listed
                        .platforms
                        .into_iter()
                        .flatten()
                        .map(platform)
                        .collect(),
                });
            }
        }
        match available.invalid.first() {
            Some(example) if available.versions.is_empty() => Err(RegistryError::NoValidVersion {
                provider: Box::new(provider.clone()),
                example: example.clone(),
            }),
            _ => Ok(available),
        }
    }
}

/// A registry's description of one package: its address, and the information required to verify it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageMeta {
    pub package: PackageId,
    /// The name of the zip in the checksum list.
    pub filename: String,
    pub download_url: Url,
    /// The expected SHA-256 of the zip.
    pub shasum: Digest,
    /// `shasum` exactly as the registry wrote it, because OpenTofu compares the text.
    pub shasum_text: String,
    pub shasums_url: Url,
    pub signature_url: Url,
    /// The keys that may have made the signature, in the registry's order.
    pub signing_keys: Vec<SigningKey>,
    /// OpenTofu's `packages` field, not yet parsed.
    pub packages: Option<RawPackages>,
}

impl PackageId {
    pub(super) fn bad(&self, problem: impl Into<String>) -> RegistryError {
        RegistryError::BadMetadata {
            package: Box::new(self.clone()),
            problem: problem.into(),
        }
    }
}

impl PackageMeta {
    /// Parses a registry's description of a package, and checks that it describes this package. `base` is the address of the
    /// description.
    pub fn parse(package: &PackageId, body: &[u8], base: &Url) -> Result<Self, AnswerError> {
        let description: Fields<PackageDescription<'_>> =
            wire::read(body).map_err(AnswerError::Json)?;
        Ok(Self::read(package, description.0, base)?)
    }

    fn read(package: &PackageId, description: PackageDescription<'_>, base: &Url) -> Result<Self> {
        let protocols = wire::strings(description.protocols);
        match supports_engine(&protocols) {
            Ok(true) => {}
            Ok(false) => {
                return Err(RegistryError::PluginProtocol {
                    provider: Box::new(package.provider.clone()),
                    version: Box::new(package.version.clone()),
                    protocols,
                    suggestion: None,
                });
            }
            Err(unreadable) => {
                return Err(package.bad(format!(
                    "`{unreadable}` is not a valid plugin protocol version"
                )));
            }
        }
        let Platform { os, arch } = &package.platform;
        if description.os != *os || description.arch != *arch {
            return Err(package.bad(format!(
                "it is for `{}_{}`",
                description.os, description.arch
            )));
        }
        let url = |name: &str, reference: &str| {
            let url = base.join(reference).ok().filter(is_web);
            url.ok_or_else(|| package.bad(format!("`{name}` is not an http or https address")))
        };
        let keys = description.signing_keys.0.gpg_public_keys;
        Ok(Self {
            package: package.clone(),
            download_url: url("download_url", &description.download_url)?,
            shasums_url: url("shasums_url", &description.shasums_url)?,
            signature_url: url("shasums_signature_url", &description.shasums_signature_url)?,
            shasum: Digest::parse_hex(&description.shasum)
                .map_err(|_bad_digest| package.bad("`shasum` is not 64 hexadecimal digits"))?,
            shasum_text: description.shasum,
            signing_keys: keys
                .into_iter()
                .map(|key| signing_key(package, key))
                .collect::<Result<_, _>>()?,
            packages: description.packages.map(RawPackages::new),
            filename: description.filename,
        })
    }
}

/// Converts a signing key. A `null` among the keys is an error; both engines crash on it.
fn signing_key(package: &PackageId, key: Option<Fields<wire::PublicKey>>) -> Result<SigningKey> {
    let Fields(key) = key.ok_or_else(|| package.bad("one of its signing keys is `null`"))?;
    Ok(SigningKey {
        ascii_armor: key.ascii_armor,
        trust_signature: key.trust_signature.as_str().unwrap_or_default().to_owned(),
    })
}

/// Whether the list contains a plugin protocol that both engines support: 5.x or 6.x. An empty list counts as supported. The error
/// is the first invalid protocol version.
fn supports_engine(protocols: &[String]) -> Result<bool, &str> {
    let mut is_supported = protocols.is_empty();
    for protocol in protocols {
        let version = Version::parse(protocol).map_err(|_bad_version| protocol.as_str())?;
        is_supported |= matches!(version.major, 5 | 6);
    }
    Ok(is_supported)
}

/// OpenTofu's `packages` field: hashes of the packages for all platforms, in the description of one package. It is parsed only if
/// the engine is OpenTofu, because Terraform ignores it; [`crate::package`] checks its content.
///
/// `{"linux_amd64":{"hashes":["zh:...","h1:..."],"package_size":123}, ...}`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawPackages(String);

/// A `packages` field that is not the expected JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot parse the `packages` field of the registry's response: {0}")]
pub struct PackagesError(String);

impl RawPackages {
    fn new(raw: &RawValue) -> Self {
        Self(raw.get().to_owned())
    }

    /// Parses all entries. An empty result is treated like a missing field.
    pub fn read(&self) -> Result<ReportedPackages, PackagesError> {
        let entries: Option<BTreeMap<String, Option<Fields<wire::ReportedEntry>>>> =
            wire::read(self.0.as_bytes())
                .map_err(|error: serde_json::Error| PackagesError(error.to_string()))?;
        let package = |Fields(entry): Fields<wire::ReportedEntry>| ReportedPackage {
            hashes: wire::strings(entry.hashes),
            size: entry.package_size,
        };
        let entries = entries.unwrap_or_default().into_iter();
        Ok(entries
            .map(|(platform, entry)| (platform, entry.map(package)))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Engine;

    fn list(json: &str) -> Result<AvailableVersions, RegistryError> {
        let provider =
            ProviderAddr::parse("h.test/acme/ledger", Engine::Terraform).expect("an address");
        let list: Fields<VersionList> = wire::read(json.as_bytes()).expect("JSON");
        AvailableVersions::read(&provider, list.0)
    }

    fn texts(available: &AvailableVersions) -> Vec<String> {
        available.versions().map(ToString::to_string).collect()
    }

    #[test]
    fn lists_are_read_as_go_reads_them() {
        for row in [
            r#"{"versions":[{"version":"1.0.0"}]} => ["1.0.0"] []"#,
            r#"{"VERSIONS":[{"Version":"1.0.0"}]} text => ["1.0.0"] []"#,
            r#"{"versions":null} => [] []"#,
            "{} => [] []",
            r#"{"versions":[{"version":"1.0"},{"version":"1.0.0"},{"version":"2"}]} => ["1.0.0", "2.0.0"] []"#,
            r#"{"versions":[null,{"version":"1.0.0"},{"version":"v2"}]} => ["1.0.0"] ["", "v2"]"#,
            r#"{"versions":[{"version":"1.0.0","protocols":null,"platforms":null}]} => ["1.0.0"] []"#,
        ] {
            let (json, expected) = row.split_once(" => ").unwrap();
            let available = list(json).expect("a list");
            let found = format!("{:?} {:?}", texts(&available), available.invalid);
            assert_eq!(found, expected, "{json}");
        }
    }

    #[test]
    fn a_list_without_valid_versions_is_an_error() {
        let only_invalid = list(r#"{"versions":[{"version":"v1"}]}"#);
        assert!(matches!(
            only_invalid,
            Err(RegistryError::NoValidVersion { .. })
        ));
        let too_large =
            list(r#"{"versions":[{"version":"1.0.0"},{"version":"18446744073709551616.0.0"}]}"#);
        assert!(matches!(
            too_large,
            Err(RegistryError::VersionTooLarge { .. })
        ));
    }

    #[test]
    fn warnings_and_platforms_are_kept() {
        let json = r#"{"versions":[{"version":"1.0.0","platforms":[{"os":"linux","arch":"amd64"},null]}],"warnings":["moved",null]}"#;
        let available = list(json).expect("a list");
        assert_eq!(available.warnings, ["moved", ""]);
        let version = Version::parse("1.0").expect("a version");
        assert_eq!(
            available
                .platforms(&version)
                .into_iter()
                .map(|p| p.to_string())
                .collect::<Vec<_>>(),
            ["linux_amd64"]
        );
    }

    #[test]
    fn one_plugin_protocol_from_5_up_to_7_is_enough() {
        let rows: &[(&[&str], Result<bool, &str>)] = &[
            (&[], Ok(true)),
            (&["5.0"], Ok(true)),
            (&["4.0", "6.99"], Ok(true)),
            (&["5"], Ok(true)),
            (&["4.1", "7.0"], Ok(false)),
            (&["5.0", "x"], Err("x")),
            (&[""], Err("")),
        ];
        for (protocols, expected) in rows {
            let protocols: Vec<_> = protocols
                .iter()
                .map(|&protocol| protocol.to_owned())
                .collect();
            assert_eq!(supports_engine(&protocols), *expected, "{protocols:?}");
        }
    }

    #[test]
    fn the_suggestion_is_the_newest_compatible_release() {
        let versions = [
            "1.0.0 5.0",
            "1.2.0 6.0",
            "1.3.0-rc1 6.0",
            "2.0.0 7.0",
            "9.0.0 x",
        ];
        let versions = versions.map(|row| {
            let (version, protocol) = row.split_once(' ').unwrap();
            serde_json::json!({"version": version, "protocols": [protocol]})
        });
        let json = serde_json::json!({ "versions": versions }).to_string();
        let suggestion = list(&json).expect("a list").suggestion();
        assert_eq!(suggestion.unwrap().to_string(), "1.2.0");
    }

    fn packages(json: &str) -> Result<ReportedPackages, PackagesError> {
        RawPackages(json.to_owned()).read()
    }

    #[test]
    fn reported_packages_are_parsed() {
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
        assert_eq!(packages(json), Ok(expected));
        assert_eq!(packages("{}"), Ok(BTreeMap::new()));
        assert_eq!(packages("null"), Ok(BTreeMap::new()));
    }

    #[test]
    fn other_packages_are_errors() {
        for json in [r#"{"a_b":{"package_size":"1"}}"#, "[]", r#"{"a_b":7}"#] {
            assert!(packages(json).is_err(), "{json}");
        }
    }
}
