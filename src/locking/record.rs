//! What is known of one package, what vouches for it, and where each of its hashes comes from.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use crate::package::{AuthenticityError, PackageHashes, Reported, Signer, VerifiedList};
use crate::provider::{Engine, Hash, HashScheme};

use super::evidence::{Evidence, ListedHashes};

/// What is known of one package: verified as far as its source allows, and hashed.
#[derive(Clone, Debug)]
pub struct PackageRecord {
    /// What it and its signed list say about the hashes of its version.
    pub evidence: Evidence,
    /// What vouches for it.
    pub voucher: Voucher,
    /// The hash of its files.
    pub h1: Hash,
    /// Size of its zip in bytes, if there is one and it was looked at.
    pub size: Option<u64>,
    /// How long it took to get and to hash, waiting for others included.
    pub elapsed: Duration,
    /// How its source has it.
    pub form: PackageForm,
}

/// How a source has a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackageForm {
    /// As a zip.
    Zip {
        /// All its hashes.
        hashes: PackageHashes,
        /// Whether the registry has told the hash of the zip's entries (OpenTofu's `packages`).
        is_reported: bool,
    },
    /// Unpacked, in this directory.
    Files(PathBuf),
}

/// Where a recorded hash comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HashOrigin {
    /// The checksum list that the registry names.
    List,
    /// The files of the package itself.
    Package,
    /// The hashes that a mirror gives.
    Mirror,
    /// OpenTofu's `packages`: what the registry says of all platforms.
    RegistryPackages,
    /// The lock file as it was.
    OldLock,
}

/// What vouches for a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Voucher {
    /// A signature over the checksum list.
    Signature(Box<Signer>),
    /// A checksum list without a signature: OpenTofu's registry has no keys for the provider.
    Unsigned,
    /// Hashes that a network mirror gives.
    MirrorHashes,
    /// Nothing: a mirror has it, and says no more.
    Nothing,
    /// The registry's word, with `--trust-registry-hashes`: the list is signed, and the package was not looked at.
    Report(Option<Box<Signer>>),
}

impl PackageRecord {
    /// Who signed the checksum list that has the package, if one did.
    pub fn signer(&self) -> Option<&Signer> {
        match &self.voucher {
            Voucher::Signature(signer) | Voucher::Report(Some(signer)) => Some(signer),
            Voucher::Report(None)
            | Voucher::Unsigned
            | Voucher::MirrorHashes
            | Voucher::Nothing => None,
        }
    }

    /// Where a hash that this package stands behind comes from; `None` if it does not.
    pub fn origin_of(&self, hash: &Hash) -> Option<HashOrigin> {
        let is_reported = matches!(self.voucher, Voucher::Report(_));
        if *hash == self.h1 && !is_reported {
            return Some(HashOrigin::Package);
        }
        if !self.evidence.recorded.contains(hash) {
            return None;
        }
        let is_listed = match &self.evidence.listed {
            ListedHashes::Complete(listed) => listed.contains(hash),
            ListedHashes::Incomplete | ListedHashes::Unknown => {
                self.evidence.genuine.contains(hash)
            }
        };
        Some(match &self.voucher {
            Voucher::MirrorHashes | Voucher::Nothing => HashOrigin::Mirror,
            _ if is_listed && hash.scheme() == HashScheme::Zh => HashOrigin::List,
            _ => HashOrigin::RegistryPackages,
        })
    }

    pub(super) fn from_registry(
        list: &VerifiedList,
        package: &PackageHashes,
    ) -> Result<Self, AuthenticityError> {
        let recorded = list.accept(package)?;
        let shasums = list.shasums();
        let mut genuine = shasums.zip_hashes();
        genuine.extend([Hash::zh(package.zh), package.h1.clone()]);
        let signer = list.signer().cloned();
        Ok(Self {
            evidence: Evidence {
                recorded,
                genuine,
                listed: ListedHashes::new(shasums, package.zh),
            },
            voucher: signer.map_or(Voucher::Unsigned, |signer| {
                Voucher::Signature(Box::new(signer))
            }),
            h1: package.h1.clone(),
            size: Some(package.size),
            elapsed: Duration::ZERO,
            form: PackageForm::Zip {
                is_reported: package
                    .zip_h1
                    .as_ref()
                    .is_some_and(|hash| list.reports(hash)),
                hashes: package.clone(),
            },
        })
    }

    /// A package that nobody looked at: what its registry reports, and the list that it signed.
    pub(super) fn from_report(list: &VerifiedList, reported: Reported) -> Self {
        let shasums = list.shasums();
        let own = list.digest();
        let mut genuine = shasums.zip_hashes();
        genuine.insert(Hash::zh(own));
        genuine.extend(
            reported
                .hashes
                .iter()
                .filter(|hash| hash.scheme() == HashScheme::H1)
                .cloned(),
        );
        Self {
            evidence: Evidence {
                recorded: reported.hashes,
                genuine,
                listed: ListedHashes::new(shasums, own),
            },
            voucher: Voucher::Report(list.signer().cloned().map(Box::new)),
            h1: reported.package.h1.clone(),
            size: None,
            elapsed: Duration::ZERO,
            form: PackageForm::Zip {
                hashes: reported.package,
                is_reported: true,
            },
        }
    }

    /// A package from a mirror: `h1`, and what OpenTofu records besides (docs/rules/mirrors.md 1).
    pub(super) fn from_mirror(engine: Engine, package: PackageHashes, matching: Vec<Hash>) -> Self {
        let voucher = if matching.is_empty() {
            Voucher::Nothing
        } else {
            Voucher::MirrorHashes
        };
        let mut recorded = BTreeSet::from([package.h1.clone()]);
        if engine == Engine::Tofu {
            recorded.extend(matching);
        }
        Self {
            evidence: Evidence {
                recorded,
                genuine: BTreeSet::from([package.h1.clone(), Hash::zh(package.zh)]),
                listed: ListedHashes::Incomplete,
            },
            voucher,
            h1: package.h1.clone(),
            size: Some(package.size),
            elapsed: Duration::ZERO,
            form: PackageForm::Zip {
                hashes: package,
                is_reported: false,
            },
        }
    }

    /// The unpacked files of a package: what zip they came in is not known.
    pub(super) fn unpacked(h1: Hash, directory: PathBuf) -> Self {
        Self {
            evidence: Evidence {
                recorded: BTreeSet::from([h1.clone()]),
                genuine: BTreeSet::from([h1.clone()]),
                listed: ListedHashes::Unknown,
            },
            voucher: Voucher::Nothing,
            h1,
            size: None,
            elapsed: Duration::ZERO,
            form: PackageForm::Files(directory),
        }
    }
}
