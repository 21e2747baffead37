//! What registries say about providers, checked: lists of versions and descriptions of packages.

use std::collections::BTreeSet;

use url::Url;

use crate::package::SigningKey;
use crate::provider::{Digest, PackageId, Platform, ProviderAddr, Version, VersionProblem};
use crate::registry::error::RegistryError;
use crate::registry::http::is_web;
use crate::registry::packages::RawPackages;
use crate::registry::wire::{self, Fields, PackageDescription, VersionList};

/// Why an answer of a registry cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// It is not the JSON that the protocol asks for.
    #[error("the answer is not what the protocol asks for")]
    Json(#[source] serde_json::Error),
    /// It says something that cannot be.
    #[error(transparent)]
    Content(Box<RegistryError>),
}

impl From<RegistryError> for AnswerError {
    fn from(error: RegistryError) -> Self {
        Self::Content(Box::new(error))
    }
}

/// The versions of a provider that a source has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AvailableVersions {
    /// Each version once, in the order of the list.
    pub versions: Vec<AvailableVersion>,
    /// Listed texts that are no versions, in the order of the list. They are skipped, and worth a warning.
    pub invalid: Vec<String>,
    /// What the registry wants the user to know, once per provider.
    pub warnings: Vec<String>,
}

/// One version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AvailableVersion {
    /// The version.
    pub version: Version,
    /// Plugin protocols, as written. Used for hints only.
    pub protocols: Vec<String>,
    /// Platforms, as far as the list names them. Used for hints only: the list may be wrong.
    pub platforms: BTreeSet<Platform>,
}

impl AvailableVersions {
    /// The versions alone.
    pub fn versions(&self) -> impl Iterator<Item = &Version> {
        self.versions.iter().map(|available| &available.version)
    }

    /// The platforms that the list gives for a version.
    pub fn platforms(&self, version: &Version) -> BTreeSet<Platform> {
        let found = self
            .versions
            .iter()
            .find(|available| available.version == *version);
        found
            .map(|available| available.platforms.clone())
            .unwrap_or_default()
    }

    /// The newest version that speaks a plugin protocol both engines speak, by its own account.
    pub(super) fn suggestion(&self) -> Option<Version> {
        let speaking = self
            .versions
            .iter()
            .filter(|available| speaks(&available.protocols) == Ok(true));
        let releases = speaking.filter(|available| available.version.prerelease.is_empty());
        let newest = releases.max_by(|a, b| a.version.precedence(&b.version));
        newest.map(|available| available.version.clone())
    }

    /// Reads a registry's list of the versions of `provider`.
    pub fn parse(provider: &ProviderAddr, body: &[u8]) -> Result<Self, AnswerError> {
        let list: Fields<VersionList> = wire::read(body).map_err(AnswerError::Json)?;
        Ok(Self::read(provider, list.0)?)
    }

    fn read(provider: &ProviderAddr, list: VersionList) -> Result<Self, RegistryError> {
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
                let platforms = listed
                    .platforms
                    .into_iter()
                    .flatten()
                    .map(|platform| Platform {
                        os: platform.0.os,
                        arch: platform.0.arch,
                    });
                available.versions.push(AvailableVersion {
                    version,
                    protocols: wire::strings(listed.protocols),
                    platforms: platforms.collect(),
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

/// Where the package of one provider, version and platform is, and what proves that it is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageMeta {
    /// Whose package it is.
    pub package: PackageId,
    /// The name of the zip in the checksum list.
    pub filename: String,
    /// The zip.
    pub download_url: Url,
    /// What the SHA-256 of the zip should be.
    pub shasum: Digest,
    /// The same as the registry wrote it: OpenTofu compares texts.
    pub shasum_text: String,
    /// The checksum list.
    pub shasums_url: Url,
    /// The signature over the list.
    pub signature_url: Url,
    /// Keys for the signature, in order.
    pub signing_keys: Vec<SigningKey>,
    /// OpenTofu's extension, not yet checked.
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
    /// Reads and checks a registry's description of a package that was found at `base`.
    pub fn parse(asked: &PackageId, body: &[u8], base: &Url) -> Result<Self, AnswerError> {
        let description: Fields<PackageDescription<'_>> =
            wire::read(body).map_err(AnswerError::Json)?;
        Ok(Self::read(asked, description.0, base)?)
    }

    fn read(
        asked: &PackageId,
        description: PackageDescription<'_>,
        base: &Url,
    ) -> Result<Self, RegistryError> {
        let protocols = wire::strings(description.protocols);
        match speaks(&protocols) {
            Ok(true) => {}
            Ok(false) => {
                return Err(RegistryError::PluginProtocol {
                    provider: Box::new(asked.provider.clone()),
                    version: Box::new(asked.version.clone()),
                    protocols,
                    suggestion: None,
                });
            }
            Err(unreadable) => {
                return Err(asked.bad(format!("`{unreadable}` is no plugin protocol")));
            }
        }
        let Platform { os, arch } = &asked.platform;
        if description.os != *os || description.arch != *arch {
            return Err(asked.bad(format!(
                "it is for `{}_{}`",
                description.os, description.arch
            )));
        }
        let url = |name: &str, reference: &str| {
            let url = base.join(reference).ok().filter(is_web);
            url.ok_or_else(|| asked.bad(format!("`{name}` is no http or https address")))
        };
        let keys = description.signing_keys.0.gpg_public_keys;
        Ok(Self {
            package: asked.clone(),
            download_url: url("download_url", &description.download_url)?,
            shasums_url: url("shasums_url", &description.shasums_url)?,
            signature_url: url("shasums_signature_url", &description.shasums_signature_url)?,
            shasum: Digest::parse_hex(&description.shasum)
                .map_err(|_bad_digest| asked.bad("`shasum` is not 64 hexadecimal digits"))?,
            shasum_text: description.shasum,
            signing_keys: keys
                .into_iter()
                .map(|key| signing_key(asked, key))
                .collect::<Result<_, _>>()?,
            packages: description.packages.map(RawPackages::new),
            filename: description.filename,
        })
    }
}

/// Both engines crash on a `null` among the keys; here it is an error.
fn signing_key(
    asked: &PackageId,
    key: Option<Fields<wire::PublicKey>>,
) -> Result<SigningKey, RegistryError> {
    let key = key
        .ok_or_else(|| asked.bad("one of its signing keys is `null`"))?
        .0;
    Ok(SigningKey {
        ascii_armor: key.ascii_armor,
        trust_signature: key.trust_signature.as_str().unwrap_or_default().to_owned(),
    })
}

/// Whether one of the protocols is at least 5 and below 7; no protocols at all are fine. The error is one that is none.
fn speaks(protocols: &[String]) -> Result<bool, &str> {
    let mut any = protocols.is_empty();
    for protocol in protocols {
        let version = Version::parse(protocol).map_err(|_bad_version| protocol.as_str())?;
        any |= matches!(version.major, 5 | 6);
    }
    Ok(any)
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
        let rows: &[(&str, &[&str], &[&str])] = &[
            (r#"{"versions":[{"version":"1.0.0"}]}"#, &["1.0.0"], &[]),
            (
                r#"{"VERSIONS":[{"Version":"1.0.0"}]} text"#,
                &["1.0.0"],
                &[],
            ),
            (r#"{"versions":null}"#, &[], &[]),
            ("{}", &[], &[]),
            (
                r#"{"versions":[{"version":"1.0"},{"version":"1.0.0"},{"version":"2"}]}"#,
                &["1.0.0", "2.0.0"],
                &[],
            ),
            (
                r#"{"versions":[null,{"version":"1.0.0"},{"version":"v2"}]}"#,
                &["1.0.0"],
                &["", "v2"],
            ),
            (
                r#"{"versions":[{"version":"1.0.0","protocols":null,"platforms":null}]}"#,
                &["1.0.0"],
                &[],
            ),
        ];
        for (json, versions, invalid) in rows {
            let available = list(json).expect("a list");
            assert_eq!(texts(&available), *versions, "{json}");
            assert_eq!(available.invalid, *invalid, "{json}");
        }
    }

    #[test]
    fn a_list_of_nothing_valid_is_an_error() {
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
            assert_eq!(speaks(&protocols), *expected, "{protocols:?}");
        }
    }

    #[test]
    fn the_suggestion_is_the_newest_release_that_would_do() {
        let json = r#"{"versions":[{"version":"1.0.0","protocols":["5.0"]},{"version":"1.2.0","protocols":["6.0"]},
            {"version":"1.3.0-rc1","protocols":["6.0"]},{"version":"2.0.0","protocols":["7.0"]},{"version":"9.0.0","protocols":["x"]}]}"#;
        let suggestion = list(json).expect("a list").suggestion();
        assert_eq!(
            suggestion.map(|version| version.to_string()).as_deref(),
            Some("1.2.0")
        );
    }
}
