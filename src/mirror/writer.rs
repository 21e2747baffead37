//! Packages appear in the mirror: each whole, under its final name, and not before it was verified.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use super::copy::{copy, take_place};
use super::directory::{Layout, MirrorDirectory};
use super::error::MirrorError;
use super::staging::Staging;
use crate::owner::Owner;
use crate::package::{Limits, hash_directory, unpack_package};
use crate::provider::{Digest, Hash, PackageId};

/// A directory of packages that is being filled.
#[derive(Debug)]
pub struct Mirror {
    directory: MirrorDirectory,
    staging: Staging,
    zips: Mutex<BTreeMap<Digest, Zip>>,
}

/// A zip of this run. Its digest was compared with what it should be.
#[derive(Debug)]
enum Zip {
    /// Waits for its place.
    Staged(NamedTempFile),
    /// Has been given one; another package with the same zip is copied from there.
    Placed(PathBuf),
}

/// A zip that arrives.
#[derive(Debug)]
pub struct Incoming {
    file: NamedTempFile,
}

impl io::Write for Incoming {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Incoming {
    /// The file as far as it has arrived.
    pub fn reopen(&self) -> io::Result<File> {
        self.file.reopen()
    }
}

impl Mirror {
    /// Makes the directory if need be, and removes what killed processes have left.
    pub fn open(directory: MirrorDirectory) -> Result<Self, MirrorError> {
        let unusable = |source| MirrorError::Unusable {
            path: directory.base().to_path_buf(),
            source,
        };
        fs::create_dir_all(directory.base()).map_err(unusable)?;
        let staging = Staging::open(directory.base(), &Owner::current()).map_err(unusable)?;
        Ok(Self {
            directory,
            staging,
            zips: Mutex::default(),
        })
    }

    /// The directory.
    pub const fn directory(&self) -> &MirrorDirectory {
        &self.directory
    }

    pub(super) const fn staging(&self) -> &Staging {
        &self.staging
    }

    /// A file for a zip that is about to arrive. It is gone with the value.
    pub fn incoming(&self) -> io::Result<Incoming> {
        let file = self.staging.file()?;
        Ok(Incoming { file })
    }

    /// Keeps a zip of which the digest is the right one, until it is put in its place.
    pub fn keep(&self, digest: Digest, incoming: Incoming) {
        self.lock().insert(digest, Zip::Staged(incoming.file));
    }

    /// Notes that the package with this digest lies where it belongs: another one with the same zip can be copied from there.
    pub fn found(&self, id: &PackageId, digest: Digest) {
        let place = self.directory.package_path(id);
        self.lock().entry(digest).or_insert(Zip::Placed(place));
    }

    /// Whether this run has the zip with this digest.
    pub fn has(&self, digest: Digest) -> bool {
        self.lock().contains_key(&digest)
    }

    /// Puts the zip with this digest, which this run has, where the package belongs.
    pub fn put(&self, id: &PackageId, digest: Digest) -> Result<(), MirrorError> {
        let place = self.directory.package_path(id);
        let zip = self.lock().remove(&digest);
        let placed = match zip {
            Some(Zip::Staged(file)) => self.put_staged(file, &place),
            Some(Zip::Placed(from)) => self.put_copy(&from, &place),
            None => Err(MirrorError::write(&place)(io::ErrorKind::NotFound.into())),
        };
        if placed.is_ok() {
            self.lock().insert(digest, Zip::Placed(place));
        }
        placed
    }

    /// Puts the files of a package that a source has unpacked where the package belongs.
    pub fn put_files(&self, id: &PackageId, from: &Path, h1: &Hash) -> Result<(), MirrorError> {
        let path = from.to_path_buf();
        if self.directory.layout() == Layout::Packed {
            return Err(MirrorError::NoZip { path });
        }
        let (_room, new) = self.copied(from)?;
        if hash_directory(&new, &id.provider.type_name).as_ref() != Ok(h1) {
            return Err(MirrorError::Changed { path });
        }
        self.give_place(&new, &self.directory.package_path(id))
    }

    fn put_staged(&self, file: NamedTempFile, place: &Path) -> Result<(), MirrorError> {
        let failed = |source| MirrorError::write(place)(source);
        if self.directory.layout() == Layout::Packed {
            // Closed before the renaming: Windows would not have it otherwise.
            let path = file.into_temp_path();
            return self.give_place(&path, place);
        }
        let room = self.staging.directory().map_err(failed)?;
        unpack_package(file.as_file(), room.path(), &Limits::default()).map_err(|source| {
            MirrorError::Unpack {
                path: place.to_path_buf(),
                source,
            }
        })?;
        // What was at the place before has its name now, and goes with it.
        self.give_place(room.path(), place)
    }

    fn put_copy(&self, from: &Path, place: &Path) -> Result<(), MirrorError> {
        let (_room, new) = self.copied(from)?;
        self.give_place(&new, place)
    }

    fn give_place(&self, new: &Path, place: &Path) -> Result<(), MirrorError> {
        self.directory.check_no_links(place)?;
        take_place(new, place).map_err(MirrorError::write(place))
    }

    /// A copy in a directory of its own.
    fn copied(&self, from: &Path) -> Result<(tempfile::TempDir, PathBuf), MirrorError> {
        let (room, new) = self
            .staging
            .free_name()
            .map_err(MirrorError::write(self.directory.base()))?;
        copy(from, &new).map_err(MirrorError::read(from))?;
        Ok((room, new))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<Digest, Zip>> {
        self.zips.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
