//! Whether a package is the one that its registry offers, and which hashes may be recorded for it.
//!
//! Two steps, so that a list can be trusted before its package is there: [`verify_list`] takes all that the registry says
//! and the signed list; [`VerifiedList::accept`] compares a package with it. Nothing may be recorded unless both succeed.

use std::collections::BTreeSet;

use thiserror::Error;

use crate::package::reported::{CheckedReport, ReportFault, ReportedPackages, check_report};
use crate::package::{
    PackageHashes, Shasums, ShasumsError, SignatureError, SignaturePolicy, Signer, SigningKey,
    verify_signature,
};
use crate::provider::{Digest, Engine, Hash, HashScheme, Platform};
use crate::span::Explain;

/// What a registry claims about a package in its download response.
#[derive(Clone, Copy, Debug)]
pub struct PackageClaims<'a> {
    /// The platform that was asked for.
    pub platform: &'a Platform,
    /// The name under which the checksum list has the package.
    pub filename: &'a str,
    /// The package's checksum as it is spelled.
    pub shasum: &'a str,
    /// The keys that may have signed the list.
    pub keys: &'a [SigningKey],
    /// The extension `packages`.
    pub reported: &'a ReportedPackages,
}

/// Why a package is not the one that its registry offers.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum AuthenticityError {
    /// The checksum list does not have the package.
    #[error(transparent)]
    Shasums(ShasumsError),
    /// The registry's own checksum is not 64 hex digits.
    #[error("registry gives an invalid SHA-256 checksum for `{filename}`: `{shasum}`")]
    UnreadableShasum {
        /// The package.
        filename: String,
        /// What stands for the checksum.
        shasum: String,
    },
    /// The list and the registry give different checksums.
    #[error("checksum list has {listed} for `{filename}`, but the registry announced {announced}")]
    ListDisagrees {
        /// The package.
        filename: String,
        /// The checksum of the list.
        listed: Digest,
        /// The checksum of the registry.
        announced: Digest,
    },
    /// The signature over the list is not accepted.
    #[error(transparent)]
    Signature(SignatureError),
    /// The registry's report on its packages is wrong.
    #[error("registry reports its packages inconsistently")]
    Report(#[source] ReportFault),
    /// The package that was downloaded is another one.
    #[error(
        "downloaded package does not match the checksum its registry promised: `{filename}` should be `{expected}`, got `{found}`"
    )]
    OtherPackage {
        /// The package.
        filename: String,
        /// The promised checksum.
        expected: Digest,
        /// The checksum of what was downloaded.
        found: Digest,
    },
    /// The package that was downloaded has another size than the report says.
    #[error(
        "downloaded package `{filename}` has {found} bytes, but the registry reported {expected}"
    )]
    OtherSize {
        /// The package.
        filename: String,
        /// The reported size.
        expected: u64,
        /// The size of what was downloaded.
        found: u64,
    },
}

impl Explain for AuthenticityError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Shasums(error) => error.hint(),
            Self::Signature(error) => error.hint(),
            Self::OtherPackage { .. } => {
                Some("something between here and the server may rewrite downloads; no lock file was changed".to_owned())
            }
            _ => None,
        }
    }
}

/// A checksum list of which the signature holds, and which has the package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedList {
    filename: String,
    shasums: Shasums,
    digest: Digest,
    signer: Option<Signer>,
    report: Option<CheckedReport>,
    records_report: bool,
}

/// Hashes that a registry reports and nobody has compared with packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    /// What the asked package hashes to. A registry knows the hash of the zip's entries, and gives it for both.
    pub package: PackageHashes,
    /// Those of the signed list and of all platforms' packages.
    pub hashes: BTreeSet<Hash>,
}

/// Verifies what a registry says about a package, by the rules of the engine: `packages` (OpenTofu only), then the
/// checksum in the list, then the signature over the list.
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
        let signer = verify_signature(list, signature, claims.keys, policy);
        Some(signer.map_err(AuthenticityError::Signature)?)
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

/// The checksum on which list and registry agree.
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
    /// The digest that the package must have.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Who signed the list; `None` if the engine needs no signature here and there are no keys.
    pub fn signer(&self) -> Option<&Signer> {
        self.signer.as_ref()
    }

    /// The list itself.
    pub fn shasums(&self) -> &Shasums {
        &self.shasums
    }

    /// Whether the registry reports this hash (OpenTofu's `packages`).
    pub fn reports(&self, hash: &Hash) -> bool {
        let report = self.report.as_ref();
        report.is_some_and(|report| report.hashes.contains(hash))
    }

    /// What may be recorded without a look at any package, on the word of the registry alone: nothing, unless it reports an
    /// `h1` for this one. What it reports must not contradict the list.
    pub fn reported(&self) -> Result<Option<Reported>, AuthenticityError> {
        let Some(report) = &self.report else {
            return Ok(None);
        };
        let Some(h1) = &report.h1 else {
            return Ok(None);
        };
        let listed = self.shasums.zh_hashes(self.digest);
        let is_unlisted = |hash: &&Hash| hash.scheme() == HashScheme::Zh && !listed.contains(hash);
        match report.hashes.iter().find(is_unlisted) {
            Some(hash) if self.shasums.is_readable() => {
                let hash = hash.clone();
                Err(AuthenticityError::Report(ReportFault::Unlisted { hash }))
            }
            _ => Ok(Some(Reported {
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

    /// Compares a package with the list and gives the hashes to record: its `h1`, the `zh` hashes of the list, and on
    /// OpenTofu's own registry the reported ones.
    pub fn accept(&self, package: &PackageHashes) -> Result<BTreeSet<Hash>, AuthenticityError> {
        let filename = || self.filename.clone();
        if package.zh != self.digest {
            let (expected, found) = (self.digest, package.zh);
            return Err(AuthenticityError::OtherPackage {
                filename: filename(),
                expected,
                found,
            });
        }
        let mut hashes = self.shasums.zh_hashes(package.zh);
        hashes.insert(package.h1.clone());
        if let Some(report) = &self.report {
            let (expected, found) = (report.size, package.size);
            if expected != found {
                return Err(AuthenticityError::OtherSize {
                    filename: filename(),
                    expected,
                    found,
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

    /// What the signed list of the fixtures has for the file.
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
        verify_list(
            &claims,
            &fixture("SHA256SUMS"),
            &fixture("valid.sig"),
            &policy,
        )
    }

    fn report() -> ReportedPackages {
        let hashes = vec![format!("zh:{SHASUM}"), "h1:reported".to_owned()];
        [(
            "linux_amd64".to_owned(),
            Some(ReportedPackage { hashes, size: 7 }),
        )]
        .into()
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
    fn the_list_and_its_signer_are_told() {
        let list = verify(
            SHASUM,
            FILENAME,
            &[key("valid")],
            &ReportedPackages::new(),
            POLICY,
        )
        .unwrap();
        assert_eq!(list.digest().to_string(), SHASUM);
        assert_eq!(
            list.signer().map(|signer| signer.key_id.as_str()),
            Some("0711E43F7EDCCDE4")
        );
        assert!(list.shasums().digest_of(FILENAME).is_ok());
        let unsigned = verify(SHASUM, FILENAME, &[], &ReportedPackages::new(), POLICY).unwrap();
        assert_eq!(unsigned.signer(), None);
    }

    #[test]
    fn lists_that_are_refused() {
        let none = ReportedPackages::new();
        let keys = [key("valid")];
        let filename = || FILENAME.to_owned();
        let other = SHASUM.replacen('0', "1", 1);
        let digest = |text: &str| Digest::parse_hex(text).unwrap();
        let announced = digest(&other);
        let disagrees = AuthenticityError::ListDisagrees {
            filename: filename(),
            listed: digest(SHASUM),
            announced,
        };
        assert_eq!(
            verify(&other, FILENAME, &keys, &none, POLICY),
            Err(disagrees)
        );
        let shasum = "short".to_owned();
        let unreadable = AuthenticityError::UnreadableShasum {
            filename: filename(),
            shasum,
        };
        assert_eq!(
            verify("short", FILENAME, &keys, &none, POLICY),
            Err(unreadable)
        );
        let not_listed = ShasumsError::NotListed {
            filename: "x.zip".to_owned(),
        };
        assert_eq!(
            verify(SHASUM, "x.zip", &keys, &none, POLICY),
            Err(AuthenticityError::Shasums(not_listed))
        );
        let unsigned = verify(SHASUM, FILENAME, &[key("other")], &none, POLICY);
        assert!(matches!(
            unsigned,
            Err(AuthenticityError::Signature(
                SignatureError::UnknownIssuer { .. }
            ))
        ));
        let enforced = SignaturePolicy {
            enforce_validation: true,
            ..POLICY
        };
        assert!(verify(SHASUM, FILENAME, &[], &none, enforced).is_err());
    }

    #[test]
    fn packages_that_are_refused() {
        let list = verify(SHASUM, FILENAME, &[key("valid")], &report(), POLICY).unwrap();
        let other = SHASUM.replacen('0', "1", 1);
        let filename = FILENAME.to_owned();
        let (expected, found) = (list.digest(), Digest::parse_hex(&other).unwrap());
        let error = AuthenticityError::OtherPackage {
            filename: filename.clone(),
            expected,
            found,
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

    /// Reported hashes are recorded on OpenTofu's own registry only, and checked everywhere; Terraform ignores them.
    #[test]
    fn reported_hashes() {
        let zh = format!("zh:{SHASUM}");
        let plain = ["h1:computed", &zh];
        assert_eq!(
            recorded(&report(), POLICY),
            ["h1:computed", "h1:reported", &zh]
        );
        assert_eq!(recorded(&ReportedPackages::new(), POLICY), plain);
        assert_eq!(
            recorded(
                &report(),
                SignaturePolicy {
                    enforce_validation: true,
                    ..POLICY
                }
            ),
            plain
        );
        assert_eq!(
            recorded(
                &report(),
                SignaturePolicy {
                    keys_optional: false,
                    ..POLICY
                }
            ),
            plain
        );
        let terraform = SignaturePolicy {
            engine: Engine::Terraform,
            keys_optional: false,
            ..POLICY
        };
        assert_eq!(recorded(&report(), terraform), plain);
        let wrong: ReportedPackages = [("linux_arm64".to_owned(), None)].into();
        assert_eq!(recorded(&wrong, terraform), plain);
        let elsewhere = SignaturePolicy {
            keys_optional: false,
            ..POLICY
        };
        let refused = verify(SHASUM, FILENAME, &[key("valid")], &wrong, elsewhere);
        assert!(matches!(
            refused,
            Err(AuthenticityError::Report(ReportFault::NoEntry { .. }))
        ));
    }

    /// What a registry reports can be taken as it is if it has an `h1` for the platform and no `zh` that nobody signed.
    #[test]
    fn reported_hashes_without_a_package() {
        let reported = |hashes: &[&str]| {
            let hashes = hashes.iter().map(ToString::to_string).collect();
            let own = Some(ReportedPackage { hashes, size: 7 });
            let report = [("linux_amd64".to_owned(), own)].into();
            let list = verify(SHASUM, FILENAME, &[key("valid")], &report, POLICY).unwrap();
            list.reported()
        };
        let zh = format!("zh:{SHASUM}");
        let found = reported(&[&zh, "h1:reported", "h2:left out"])
            .unwrap()
            .unwrap();
        let hashes: Vec<String> = found.hashes.iter().map(Hash::to_string).collect();
        assert_eq!(found.package.h1.as_str(), "h1:reported");
        assert_eq!(hashes, ["h1:reported", &zh]);
        assert_eq!(reported(&[&zh]), Ok(None), "there is nothing to take");
        let none = ReportedPackages::new();
        let list = verify(SHASUM, FILENAME, &[key("valid")], &none, POLICY).unwrap();
        assert_eq!(list.reported(), Ok(None));
        let mut report = report();
        let hashes = vec!["zh:nobody signed this".to_owned()];
        report.insert(
            "linux_arm64".to_owned(),
            Some(ReportedPackage { hashes, size: 7 }),
        );
        let list = verify(SHASUM, FILENAME, &[key("valid")], &report, POLICY).unwrap();
        assert!(matches!(
            list.reported(),
            Err(AuthenticityError::Report(ReportFault::Unlisted { .. }))
        ));
    }
}
