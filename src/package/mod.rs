//! Verifies and hashes provider packages: checksum lists, signatures, zip archives and unpacked directories.

mod archive;
mod authenticate;
mod directory;
mod entry_path;
mod error;
mod h1;
mod limits;
mod package_tree;
mod reported;
mod shasums;
mod signature;
mod stream;

pub(crate) use archive::entry_target;
pub use archive::{
    ContentHashes, DirectoryFault, EntryFault, digest_of_file, hash_archive, hash_contents,
    unpack_archive, unpack_package,
};
pub use authenticate::{
    AuthenticityError, PackageClaims, ReportedHashes, VerifiedList, verify_list,
};
pub use directory::hash_directory;
pub use error::{PackageError, ShasumsError};
pub use limits::{
    Limits, MAX_COMPONENT_BYTES, MAX_DIRECTORY_BYTES, MAX_ENTRIES, MAX_PATH_BYTES, MAX_RATIO,
    MAX_UNPACKED_BYTES, RATIO_ALLOWANCE,
};
pub use reported::{ReportFault, ReportedPackage, ReportedPackages};
pub use shasums::{MAX_SHASUMS_BYTES, Shasums};
pub use signature::{
    KeyFault, Lapse, LapsedPart, MAX_ARMOR_BYTES, MAX_KEYS, MAX_SIGNATURE_BYTES, SignatureError,
    SignatureFault, SignaturePolicy, Signer, SigningKey, Tier, ValidityPeriod, verify_signature,
};
pub use stream::{NeedsFile, StreamHasher, Streamed};

use crate::provider::{Digest, Hash};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageHashes {
    /// The digest of the zip, which is the value of its `zh` hash.
    pub zh: Digest,
    /// The hash of the unpacked files, as lock files record it.
    pub h1: Hash,
    /// The hash of the zip's entries, as network mirrors publish it; see [`ContentHashes::zip_h1`].
    pub zip_h1: Option<Hash>,
    /// The size of the zip in bytes.
    pub size: u64,
}
