//! A verified package: its hashes, their origins, and the proof of its authenticity.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use crate::index::KeyName;
use crate::package::{AuthenticityError, PackageHashes, ReportedHashes, Signer, VerifiedList};
use crate::provider::{Engine, Hash, HashScheme};

use super::evidence::{Evidence, ListedHashes};
use super::package_index::SourcedHashes;

/// A package that was hashed, and verified as far as its source allows.
#[derive(Clone, Debug)]
pub struct PackageRecord {
    /// What the package and its signed list prove about the hashes of its version.
    pub evidence: Evidence,
    pub voucher: Voucher,
    /// The `h1` hash of its files.
    pub h1: Hash,
    /// The size of the zip in bytes; `None` if no zip was hashed.
    pub size: Option<u64>,
    /// The time taken to download and hash the package, including the time in the queue.
    pub elapsed: Duration,
    pub form: PackageForm,
    /// The key that signed the hashes in a hash index. `None` if this machine computed them or the registry reports them.
    pub index_key: Option<KeyName>,
}

/// How a source stores a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackageForm {
    Zip {
        hashes: PackageHashes,
        /// Whether the registry reports the hash of the zip's entries (OpenTofu's `packages`).
        is_reported: bool,
    },
    /// Unpacked files in this directory.
    Files(PathBuf),
}

/// Where a recorded hash comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HashOrigin {
    /// The checksum list of the registry.
    List,
    /// The files of the package itself.
    Package,
    /// The hashes that a mirror lists.
    Mirror,
    /// A record in a hash index.
    Index,
    /// OpenTofu's `packages`: the hashes that the registry reports for all platforms.
    RegistryPackages,
    /// The old lock file.
    OldLock,
}

/// What vouches for the authenticity of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Voucher {
    /// A valid signature over the checksum list, by this signer.
    Signature(Box<Signer>),
    /// An unsigned checksum list, because OpenTofu's registry has no keys for the provider.
    Unsigned,
    /// The hashes that a network mirror lists.
    MirrorHashes,
    /// Nothing, because the package comes from a mirror that lists no hashes.
    Nothing,
    /// The hashes that the registry reports (`--trust-registry-hashes`). The package was not downloaded. The signer is that of
    /// the checksum list; `None` if the list is unsigned.
    Report(Option<Box<Signer>>),
}

impl PackageRecord {
    /// Returns the signer of the checksum list, or `None` if it is unsigned.
    pub fn signer(&self) -> Option<&Signer> {
        match &self.voucher {
            Voucher::Signature(signer) | Voucher::Report(Some(signer)) => Some(signer),
            _ => None,
        }
    }

    /// Returns the origin of a recorded hash, or `None` if this package does not confirm the hash.
    pub fn origin_of(&self, hash: &Hash) -> Option<HashOrigin> {
        let is_reported = matches!(self.voucher, Voucher::Report(_));
        if *hash == self.h1 && !is_reported {
            return Some(match self.index_key {
                Some(_) => HashOrigin::Index,
                None => HashOrigin::Package,
            });
        }
        if !self.evidence.recorded.contains(hash) {
            return None;
        }
        let listed = match &self.evidence.listed {
            ListedHashes::Complete(listed) => listed,
            ListedHashes::Incomplete | ListedHashes::Unknown => &self.evidence.genuine,
        };
        Some(match &self.voucher {
            Voucher::MirrorHashes | Voucher::Nothing => HashOrigin::Mirror,
            _ if listed.contains(hash) && hash.scheme() == HashScheme::Zh => HashOrigin::List,
            _ => HashOrigin::RegistryPackages,
        })
    }

    pub(super) fn from_registry(
        list: &VerifiedList,
        package: &SourcedHashes,
    ) -> Result<Self, AuthenticityError> {
        let (package, index_key) = (&package.hashes, package.index_key.clone());
        let recorded = list.accept(package)?;
        let shasums = list.shasums();
        let mut genuine = shasums.zip_hashes();
        genuine.extend([Hash::zh(package.zh), package.h1.clone()]);
        let evidence = Evidence {
            recorded,
            genuine,
            listed: ListedHashes::new(shasums, package.zh),
        };
        let voucher = match list.signer().cloned() {
            Some(signer) => Voucher::Signature(Box::new(signer)),
            None => Voucher::Unsigned,
        };
        let zip_h1 = package.zip_h1.as_ref();
        let is_reported = zip_h1.is_some_and(|hash| list.reports(hash));
        Ok(Self {
            index_key,
            ..Self::zip(evidence, voucher, package.clone(), is_reported)
        })
    }

    /// Creates the record of a package that was hashed as a zip.
    fn zip(evidence: Evidence, voucher: Voucher, hashes: PackageHashes, is_reported: bool) -> Self {
        Self {
            evidence,
            voucher,
            h1: hashes.h1.clone(),
            size: Some(hashes.size),
            elapsed: Duration::ZERO,
            form: PackageForm::Zip {
                hashes,
                is_reported,
            },
            index_key: None,
        }
    }

    /// Creates the record of a package that was not downloaded, from its checksum list and the hashes that its registry reports.
    pub(super) fn from_report(list: &VerifiedList, reported: ReportedHashes) -> Self {
        let shasums = list.shasums();
        let own = list.digest();
        let mut genuine = shasums.zip_hashes();
        genuine.insert(Hash::zh(own));
        let is_h1 = |hash: &&Hash| hash.scheme() == HashScheme::H1;
        genuine.extend(reported.hashes.iter().filter(is_h1).cloned());
        let evidence = Evidence {
            recorded: reported.hashes,
            genuine,
            listed: ListedHashes::new(shasums, own),
        };
        let voucher = Voucher::Report(list.signer().cloned().map(Box::new));
        Self {
            size: None,
            ..Self::zip(evidence, voucher, reported.package, true)
        }
    }

    /// Creates the record of a package from a mirror. `matching` contains the hashes that the mirror lists and that match the
    /// package. OpenTofu also records these (see section 1 of docs/rules/mirrors.md).
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
        let evidence = Evidence {
            recorded,
            genuine: BTreeSet::from([package.h1.clone(), Hash::zh(package.zh)]),
            listed: ListedHashes::Incomplete,
        };
        Self::zip(evidence, voucher, package, false)
    }

    /// Creates the record of an unpacked package. The hashes of its zip are unknown.
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
            index_key: None,
        }
    }
}
