//! Fetches archives into a temporary file, checks them, and unpacks them.
//!
//! Entries are treated as by Terraform and OpenTofu: directories and regular files are created; links and devices of a tar become
//! empty files, those of a zip files that contain the target's name. Names cannot lead out of the directory.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use crate::package::{self, Limits};
use crate::redacted_url::RedactedUrl;
use crate::registry::Download;

use super::{ArchiveKind, Checksum, ModuleError, ModuleLimit, disk, tar};

/// The most bytes of an archive. Modules are text; the archives of the largest repositories have tens of megabytes.
pub const MAX_ARCHIVE_BYTES: u64 = 512 << 20;

/// The most bytes that an archive unpacks to, whatever its size.
const MAX_UNPACKED_BYTES: u64 = 2 << 30;

/// Writes an archive to an unnamed file in `directory` while it arrives.
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
    // The number of entries and the compression ratio are limited as for providers.
    let limits = Limits {
        unpacked_bytes: MAX_UNPACKED_BYTES,
        ..Limits::default()
    };
    let unpacked = match kind {
        ArchiveKind::Zip => package::unpack_archive(&file, target, &limits).map_err(Into::into),
        ArchiveKind::TarGz => tar::unpack(file, target, &limits).map_err(Into::into),
    };
    unpacked.map_err(|source| ModuleError::Unpack {
        address: address.clone(),
        source,
    })
}
