//! Downloads archives to a temporary file, checks them, and unpacks them.
//!
//! Entries are treated as in Terraform and OpenTofu: directories and regular files are created. Links and devices in a tar archive
//! become empty files; links in a zip archive become files that contain the target's name. Names cannot point outside the directory.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use crate::package::{self, Limits};
use crate::redacted_url::RedactedUrl;
use crate::registry::Download;

use super::{ArchiveKind, Checksum, ModuleError, ModuleLimit, disk, tar};

/// The maximum size of an archive, in bytes. Modules are text, and the archives of the largest repositories are tens of megabytes long.
pub const MAX_ARCHIVE_BYTES: u64 = 512 << 20;

/// The maximum size of an archive's unpacked content, in bytes, regardless of the archive's size.
pub(super) const MAX_UNPACKED_BYTES: u64 = 2 << 30;

/// Downloads an archive to an unnamed file in `directory`.
pub(super) async fn save(
    download: &mut Download,
    directory: &Path,
    address: &RedactedUrl,
) -> Result<File, ModuleError> {
    let mut file = tempfile::tempfile_in(directory).map_err(disk(directory))?;
    let mut received = 0;
    while let Some(chunk) = download.chunk().await? {
        received += chunk.len() as u64;
        if received > MAX_ARCHIVE_BYTES {
            return Err(ModuleError::Limit {
                address: address.clone(),
                limit: ModuleLimit::ArchiveBytes(MAX_ARCHIVE_BYTES),
            });
        }
        file.write_all(&chunk).map_err(disk(directory))?;
    }
    Ok(file)
}

/// Checks an archive and unpacks it into `target`, which must not exist.
pub(super) fn unpack(
    mut file: File,
    kind: ArchiveKind,
    checksum: Option<&Checksum>,
    target: &Path,
    address: &RedactedUrl,
) -> Result<(), ModuleError> {
    if let Some(expected) = checksum {
        let found = Checksum::compute(expected.algorithm, &mut file).map_err(disk(target))?;
        if found != *expected {
            return Err(ModuleError::Checksum {
                address: address.clone(),
                expected: expected.to_string(),
                found: found.to_string(),
            });
        }
    }
    fs::create_dir(target).map_err(disk(target))?;
    // The same limits on the number of entries and the compression ratio apply as for provider packages.
    let limits = Limits {
        unpacked_bytes: MAX_UNPACKED_BYTES,
        ..Limits::default()
    };
    let unpacked = match kind {
        ArchiveKind::Zip => package::unpack_archive(&file, target, &limits).map_err(Into::into),
        kind => tar::unpack(file, kind, target, &limits).map_err(Into::into),
    };
    unpacked.map_err(|source| ModuleError::Unpack {
        address: address.clone(),
        source,
    })
}
