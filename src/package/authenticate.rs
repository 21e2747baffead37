//! Verifies that a package is the one that its registry offers, and determines which hashes to record for it.
//!
//! There are two steps, because the list can be verified before the package is downloaded. [`verify_list`] verifies the registry's
//! response and the signed list. [`VerifiedList::accept`] compares a package with the list. Hashes are recorded only if both
//! succeed.

use std::collections::BTreeSet;

use thiserror::Error;

use crate::package::reported::{CheckedReport, ReportFault, ReportedPackages, check_report};
use crate::package::{
    PackageHashes, Shasums, ShasumsError, SignatureError, SignaturePolicy, Signer, SigningKey,
    verify_signature,
};
use crate::provider::{Digest, Engine, Hash, HashScheme, Platform};
use crate::span::Explain;

/// A registry's claims about a package, from its download response.
#[derive(Clone, Copy, Debug)]
pub struct PackageClaims<'a> {
    pub platform: &'a Platform,
    /// The name of the package in the checksum list.
    pub filename: &'a str,
    /// The checksum of the package, as the registry wrote it.
    pub shasum: &'a str,
    /// The signing keys, one of which must have signed the list.
    pub keys: &'a [SigningKey],
    /// OpenTofu's `packages` field.
    pub reported: &'a ReportedPackages,
}

/// The reason why a package is not the one that its registry offers.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum AuthenticityError {
    #[error(transparent)]
    Shasums(ShasumsError),
    #[error("registry sent an invalid SHA-256 checksum for `{filename}`: `{shasum}`")]
    UnreadableShasum { filename: String, shasum: String },
    #[error("checksum list has {listed} for `{filename}`, but the registry announced {announced}")]
    ListDisagrees {
        filename: String,
        listed: Digest,
        announced: Digest,
    },
    #[error(transparent)]
    Signature(SignatureError),
    #[error("the `packages` field of the registry's response is invalid")]
    Report(#[source] ReportFault),
    #[error(
        "downloaded package does not match the checksum its registry promised: `{filename}` should be `{expected}`, got `{found}`"
    )]
    OtherPackage {
        filename: String,
        expected: Digest,
        found: Digest,
    },
    #[error(
        "package `{filename}` is {found} bytes long, but the registry reported {expected} bytes"
    )]
    OtherSize {
        filename: String,
        expected: u64,
        found: u64,
    },
}

impl Explain for AuthenticityError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Shasums(error) => error.hint(),
            Self::Signature(error) => error.hint(),
            Self::OtherPackage { .. } => Some(
                "find out whether a proxy is rewriting downloads; no lock file was changed"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

/// A checksum list whose signature is valid and which contains the package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedList {
    filename: String,
    shasums: Shasums,
    digest: Digest,
    signer: Option<Signer>,
    report: Option<CheckedReport>,
    records_report: bool,
}

/// Hashes that a registry reports and that have not been compared with packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedHashes {
    /// The hashes of the requested package. Registries report only the hash of the zip's entries, so `h1` and `zip_h1` are both this
    /// hash.
    pub package: PackageHashes,
    /// The hashes in the signed list, and the reported hashes of all platforms.
    pub hashes: BTreeSet<Hash>,
}

/// Verifies a registry's claims by the rules of the engine: the `packages` field (OpenTofu only), the checksum in the list, and the
/// signature of the list.
pub fn verify_list(
    claims: &PackageClaims<'_>,
    list: &[u8],
    signature: &[u8],
    policy: &SignaturePolicy,
) -> Result<VerifiedList, AuthenticityError> {
    let report = match policy.engine {
        Engine::Tofu => check_report(claims.reported, claims.platform, claims.shasum)
            .map_err(AuthenticityError::Report)?,
        Engine::Terraform => None,
    };
    let shasums = Shasums::parse(list).map_err(AuthenticityError::Shasums)?;
    let digest = listed_digest(&shasums, claims)?;
    let signer = if policy.skips(claims.keys) {
        None
    } else {
        let verified = verify_signature(list, signature, claims.keys, policy);
        Some(verified.map_err(AuthenticityError::Signature)?)
    };
    Ok(VerifiedList {
        filename: claims.filename.to_owned(),
        shasums,
        digest,
        signer,
        report,
        records_report: policy.keys_optional && !policy.enforce_validation,
    })
}

/// Returns the checksum in the list, which must match the one in the registry's response.
fn listed_digest(
    shasums: &Shasums,
    claims: &PackageClaims<'_>,
) -> Result<Digest, AuthenticityError> {
    let filename = claims.filename.to_owned();
    let Ok(announced) = Digest::parse_hex(claims.shasum) else {
        let shasum = claims.shasum.to_owned();
        return Err(AuthenticityError::UnreadableShasum { filename, shasum });
    };
    let listed = shasums
        .digest_of(&filename)
        .map_err(AuthenticityError::Shasums)?;
    if listed != announced {
        return Err(AuthenticityError::ListDisagrees {
            filename,
            listed,
            announced,
        });
    }
    Ok(listed)
}

impl VerifiedList {
    /// Returns the digest that the package must have.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Returns the signer of the list. `None` if there are no keys and the engine does not require a signature.
    pub fn signer(&self) -> Option<&Signer> {
        self.signer.as_ref()
    }

    pub fn shasums(&self) -> &Shasums {
        &self.shasums
    }

    /// Whether the registry reports this hash in OpenTofu's `packages` field.
    pub fn reports(&self, hash: &Hash) -> bool {
        self.report
            .as_ref()
            .is_some_and(|report| report.hashes.contains(hash))
    }

    /// Returns the hashes that may be recorded without a download. `None` if the registry reports no `h1` hash for the package. Fails
    /// if the report contradicts the list.
    pub fn reported(&self) -> Result<Option<ReportedHashes>, AuthenticityError> {
        let Some(report) = &self.report else {
            return Ok(None);
        };
        let Some(h1) = &report.h1 else {
            return Ok(None);
        };
        let listed = self.shasums.zh_hashes(self.digest);
        let is_unlisted = |hash: &&Hash| hash.scheme() == HashScheme::Zh && !listed.contains(hash);
        match report.hashes.iter().find(is_unlisted) {
            Some(hash) if self.shasums.is_complete() => Err(AuthenticityError::Report(
                ReportFault::Unlisted(hash.clone()),
            )),
            _ => Ok(Some(ReportedHashes {
                package: PackageHashes {
                    zh: self.digest,
                    h1: h1.clone(),
                    zip_h1: Some(h1.clone()),
                    size: report.size,
                },
                hashes: listed.union(&report.hashes).cloned().collect(),
            })),
        }
    }

    /// Compares a package with the list. Returns the hashes to record: its `h1` hash, the `zh` hashes in the list and, for
    /// OpenTofu's default registry, the reported hashes.
    pub fn accept(&self, package: &PackageHashes) -> Result<BTreeSet<Hash>, AuthenticityError> {
        if package.zh != self.digest {
            return Err(AuthenticityError::OtherPackage {
                filename: self.filename.clone(),
                expected: self.digest,
                found: package.zh,
            });
        }
        let mut hashes = self.shasums.zh_hashes(package.zh);
        hashes.insert(package.h1.clone());
        if let Some(report) = &self.report {
            if report.size != package.size {
                return Err(AuthenticityError::OtherSize {
                    filename: self.filename.clone(),
                    expected: report.size,
                    found: package.size,
                });
            }
            if self.records_report {
                hashes.extend(report.hashes.iter().cloned());
            }
        }
        Ok(hashes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::ReportedPackage;
    use crate::package::signature::tests::{fixture, key, now};

    const FILENAME: &str = "terraform-provider-p_1.0.0_linux_amd64.zip";

    /// The checksum of the file in the signed list of the fixtures.
    const SHASUM: &str = "0000000000000000000000000000000000000000000000000000000000000000";

    const POLICY: SignaturePolicy = SignaturePolicy {
        engine: Engine::Tofu,
        now: std::time::UNIX_EPOCH,
        keys_optional: true,
        enforce_validation: false,
        enforce_expiration: false,
    };

    fn verify(
        shasum: &str,
        filename: &str,
        keys: &[SigningKey],
        reported: &ReportedPackages,
        policy: SignaturePolicy,
    ) -> Result<VerifiedList, AuthenticityError> {
        let platform = Platform::parse("linux_amd64").unwrap();
        let claims = PackageClaims {
            platform: &platform,
            filename,
            shasum,
            keys,
            reported,
        };
        let policy = SignaturePolicy {
            now: now(),
            ..policy
        };
        let (list, signature) = (fixture("SHA256SUMS"), fixture("valid.sig"));
        verify_list(&claims, &list, &signature, &policy)
    }

    /// Returns a list with a valid signature and this report.
    fn valid_list(reported: &ReportedPackages) -> VerifiedList {
        verify(SHASUM, FILENAME, &[key("valid")], reported, POLICY).unwrap()
    }

    fn reported_package(hashes: &[&str]) -> ReportedPackage {
        let hashes = hashes.iter().map(ToString::to_string).collect();
        ReportedPackage { hashes, size: 7 }
    }

    fn report(hashes: &[&str]) -> ReportedPackages {
        [("linux_amd64".to_owned(), Some(reported_package(hashes)))].into()
    }

    fn zh() -> String {
        format!("zh:{SHASUM}")
    }

    fn package(zh: &str, size: u64) -> PackageHashes {
        let h1 = Hash::parse("h1:computed").unwrap();
        PackageHashes {
            zh: Digest::parse_hex(zh).unwrap(),
            zip_h1: Some(h1.clone()),
            h1,
            size,
        }
    }

    fn recorded(reported: &ReportedPackages, policy: SignaturePolicy) -> Vec<String> {
        let list = verify(SHASUM, FILENAME, &[key("valid")], reported, policy).unwrap();
        let hashes = list.accept(&package(SHASUM, 7)).unwrap();
        hashes.iter().map(Hash::to_string).collect()
    }

    #[test]
    fn a_verified_list_has_a_digest_and_a_signer() {
        let list = valid_list(&ReportedPackages::new());
        assert_eq!(list.digest().to_string(), SHASUM);
        let key_id = list.signer().map(|signer| signer.key_id.as_str());
        assert_eq!(key_id, Some("0711E43F7EDCCDE4"));
        assert!(list.shasums().digest_of(FILENAME).is_ok());
        let unsigned = verify(SHASUM, FILENAME, &[], &ReportedPackages::new(), POLICY).unwrap();
        assert_eq!(unsigned.signer(), None);
    }

    #[test]
    fn invalid_lists_are_errors() {
        let none = ReportedPackages::new();
        let digest = |text: &str| Digest::parse_hex(text).unwrap();
        let other = SHASUM.replacen('0', "1", 1);
        let disagrees = AuthenticityError::ListDisagrees {
            filename: FILENAME.to_owned(),
            listed: digest(SHASUM),
            announced: digest(&other),
        };
        let unreadable = AuthenticityError::UnreadableShasum {
            filename: FILENAME.to_owned(),
            shasum: "short".to_owned(),
        };
        let not_listed = AuthenticityError::Shasums(ShasumsError::NotListed {
            filename: "x.zip".to_owned(),
        });
        for (shasum, filename, error) in [
            (&*other, FILENAME, disagrees),
            ("short", FILENAME, unreadable),
            (SHASUM, "x.zip", not_listed),
        ] {
            let found = verify(shasum, filename, &[key("valid")], &none, POLICY);
            assert_eq!(found, Err(error));
        }
        let Err(AuthenticityError::Signature(error)) =
            verify(SHASUM, FILENAME, &[key("other")], &none, POLICY)
        else {
            panic!("a different key signed the list");
        };
        assert!(matches!(error, SignatureError::UnknownIssuer { .. }));
        let enforced = SignaturePolicy {
            enforce_validation: true,
            ..POLICY
        };
        assert!(verify(SHASUM, FILENAME, &[], &none, enforced).is_err());
    }

    #[test]
    fn different_packages_are_errors() {
        let list = valid_list(&report(&[&zh(), "h1:reported"]));
        let other = SHASUM.replacen('0', "1", 1);
        let filename = FILENAME.to_owned();
        let error = AuthenticityError::OtherPackage {
            filename: filename.clone(),
            expected: list.digest(),
            found: Digest::parse_hex(&other).unwrap(),
        };
        assert!(error.hint().is_some());
        assert_eq!(list.accept(&package(&other, 7)), Err(error));
        let error = AuthenticityError::OtherSize {
            filename,
            expected: 7,
            found: 8,
        };
        assert_eq!(list.accept(&package(SHASUM, 8)), Err(error));
    }

    /// Reported hashes are recorded for OpenTofu's default registry only, but checked for every registry. Terraform ignores
    /// them.
    #[test]
    fn reported_hashes() {
        let zh = zh();
        let report = report(&[&zh, "h1:reported"]);
        let plain = ["h1:computed", &zh];
        assert_eq!(
            recorded(&report, POLICY),
            ["h1:computed", "h1:reported", &zh]
        );
        assert_eq!(recorded(&ReportedPackages::new(), POLICY), plain);
        let enforced = SignaturePolicy {
            enforce_validation: true,
            ..POLICY
        };
        assert_eq!(recorded(&report, enforced), plain);
        let elsewhere = SignaturePolicy {
            keys_optional: false,
            ..POLICY
        };
        assert_eq!(recorded(&report, elsewhere), plain);
        let terraform = SignaturePolicy {
            engine: Engine::Terraform,
            ..elsewhere
        };
        assert_eq!(recorded(&report, terraform), plain);
        let wrong: ReportedPackages = [("linux_arm64".to_owned(), None)].into();
        assert_eq!(recorded(&wrong, terraform), plain);
        let error = verify(SHASUM, FILENAME, &[key("valid")], &wrong, elsewhere);
        let no_entry = ReportFault::NoEntry(Platform::parse("linux_amd64").unwrap());
        assert_eq!(error, Err(AuthenticityError::Report(no_entry)));
    }

    /// Reported hashes can replace a download if there is an `h1` hash for the platform and every `zh` hash is signed.
    #[test]
    fn reported_hashes_without_a_package() {
        let zh = zh();
        let reported = |hashes: &[&str]| valid_list(&report(hashes)).reported();
        let found = reported(&[&zh, "h1:reported", "h2:ignored"])
            .unwrap()
            .unwrap();
        let hashes: Vec<String> = found.hashes.iter().map(Hash::to_string).collect();
        assert_eq!(found.package.h1.as_str(), "h1:reported");
        assert_eq!(hashes, ["h1:reported", &zh]);
        assert_eq!(reported(&[&zh]), Ok(None), "there is no `h1` hash");
        let none = valid_list(&ReportedPackages::new());
        assert_eq!(none.reported(), Ok(None));
        let mut unsigned = report(&[&zh, "h1:reported"]);
        let other = reported_package(&["zh:unsigned"]);
        unsigned.insert("linux_arm64".to_owned(), Some(other));
        let fault = ReportFault::Unlisted(Hash::parse("zh:unsigned").unwrap());
        let error = valid_list(&unsigned).reported();
        assert_eq!(error, Err(AuthenticityError::Report(fault)));
    }
}
