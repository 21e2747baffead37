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
use crate::provider::{Digest, Engine, Hash, Platform};
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
