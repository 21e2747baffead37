//! Writes packages to the mirror. A package appears under its final name only after it is complete and verified.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tempfile::NamedTempFile;

use super::directory::{Layout, MirrorDirectory};
use super::error::MirrorError;
use super::staging::Staging;
use crate::package::{Limits, hash_directory, unpack_package};
use crate::parallel::lock;
use crate::provider::{Digest, Hash, PackageId};
use crate::temporary_file::Owner;

/// A mirror that this run fills.
#[derive(Debug)]
pub struct Mirror {
    directory: MirrorDirectory,
    staging: Staging,
    zips: Mutex<BTreeMap<Digest, SharedZip>>,
}

/// A zip that several packages may share, such as those of two hosts. It is locked while one of them is stored. `None` if
/// storing it failed.
type SharedZip = Arc<Mutex<Option<Zip>>>;

/// The location of a zip whose digest has been compared with the expected one.
#[derive(Debug)]
enum Zip {
    /// In the staging directory.
    Staged(NamedTempFile),
    /// At this path in the mirror. Other packages with the same zip are copied from there.
    Placed(PathBuf),
}

/// A zip that is being downloaded. It is removed when the value is dropped.
pub type Incoming = NamedTempFile;

impl Mirror {
    /// Creates the directory if it does not exist, and removes the temporary files of killed processes.
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

    pub const fn directory(&self) -> &MirrorDirectory {
        &self.directory
    }

    pub(super) const fn staging(&self) -> &Staging {
        &self.staging
    }

    /// Creates a file into which a zip can be downloaded.
    pub fn incoming(&self) -> io::Result<Incoming> {
        self.staging.file()
    }

    /// Keeps a zip whose digest has been compared with the expected one, until [`Self::put`] moves it.
    pub fn keep(&self, digest: Digest, incoming: Incoming) {
        *lock(&self.zip(digest)) = Some(Zip::Staged(incoming));
    }

    /// Records that the mirror has the package with this digest, so that other packages with the same zip can be copied from it.
    pub fn register(&self, id: &PackageId, digest: Digest) {
        let place = self.directory.package_path(id);
        lock(&self.zip(digest)).get_or_insert(Zip::Placed(place));
    }

    /// Moves the zip with this digest, or its unpacked files, to the path of the package.
    pub fn put(&self, id: &PackageId, digest: Digest) -> Result<(), MirrorError> {
        let place = self.directory.package_path(id);
        let zip = self.zip(digest);
        let mut zip = lock(&zip);
        let placed = match zip.take() {
            Some(Zip::Staged(file)) => self.put_staged(file, &place),
            Some(Zip::Placed(from)) => self.put_copy(&from, &place),
            None => Err(MirrorError::write(&place)(io::ErrorKind::NotFound.into())),
        };
        if placed.is_ok() {
            *zip = Some(Zip::Placed(place));
        }
        placed
    }

    /// Copies an unpacked package into the mirror, if its files have the hash `h1`.
    pub fn put_files(&self, id: &PackageId, from: &Path, h1: &Hash) -> Result<(), MirrorError> {
        let path = from.to_path_buf();
        if self.directory.layout() == Layout::Packed {
            return Err(MirrorError::NoZip { path });
        }
        let (_directory, new) = self.copied(from)?;
        if hash_directory(&new, &id.provider.type_name).as_ref() != Ok(h1) {
            return Err(MirrorError::Changed { path });
        }
        self.move_to_place(&new, &self.directory.package_path(id))
    }

    fn put_staged(&self, file: NamedTempFile, place: &Path) -> Result<(), MirrorError> {
        let failed = |source| MirrorError::write(place)(source);
        if self.directory.layout() == Layout::Packed {
            // The file is closed first, because Windows does not rename open files.
            let path = file.into_temp_path();
            return self.move_to_place(&path, place);
        }
        let unpacked = self.staging.directory().map_err(failed)?;
        unpack_package(file.as_file(), unpacked.path(), &Limits::default()).map_err(|source| {
            MirrorError::Unpack {
                path: place.to_path_buf(),
                source,
            }
        })?;
        // If a package was at the path, it is now in the temporary directory and is removed with it.
        self.move_to_place(unpacked.path(), place)
    }

    fn put_copy(&self, from: &Path, place: &Path) -> Result<(), MirrorError> {
        let (_directory, new) = self.copied(from)?;
        self.move_to_place(&new, place)
    }

    fn move_to_place(&self, new: &Path, place: &Path) -> Result<(), MirrorError> {
        self.directory.check_no_links(place)?;
        move_to(new, place).map_err(MirrorError::write(place))
    }

    /// Copies a package into a new temporary directory.
    fn copied(&self, from: &Path) -> Result<(tempfile::TempDir, PathBuf), MirrorError> {
        let (directory, new) = self
            .staging
            .free_name()
            .map_err(MirrorError::write(self.directory.base()))?;
        copy(from, &new).map_err(MirrorError::read(from))?;
        Ok((directory, new))
    }

    fn zip(&self, digest: Digest) -> SharedZip {
        lock(&self.zips).entry(digest).or_default().clone()
    }
}

/// Copies a file, or a directory with everything below it. Symlinks are replaced by copies of their targets, because the hashes
/// cover the targets. Files keep their permissions.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if !fs::metadata(from)?.is_dir() {
        return fs::copy(from, to).map(drop);
    }
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Moves `new` to `place`, in one step if the system can exchange names. If a directory was at `place`, it is at `new`
/// afterwards.
fn move_to(new: &Path, place: &Path) -> io::Result<()> {
    let directory = place.parent().unwrap_or(place);
    loop {
        fs::create_dir_all(directory)?;
        match fs::rename(new, place) {
            // Another process that is pruning has just removed the directory, because it was empty.
            Err(error) if error.kind() == io::ErrorKind::NotFound && new.exists() => {}
            Err(_) if fs::symlink_metadata(place).is_ok() => return exchange(new, place),
            renamed => return renamed,
        }
    }
}

/// Exchanges the names of two files or directories.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};

    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

/// Other systems cannot exchange names, so `other` is briefly missing.
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    let aside = one.with_extension("old");
    fs::rename(other, &aside)?;
    fs::rename(one, other)?;
    fs::rename(&aside, one)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::thread;

    use super::*;
    use crate::provider::{Engine, Platform, ProviderAddr, Version};

    #[test]
    fn packages_of_two_hosts_with_the_same_zip_are_stored_at_the_same_time() {
        let base = tempfile::tempdir().unwrap();
        let mirror = Mirror::open(MirrorDirectory::new(base.path(), Layout::Packed)).unwrap();
        for round in 0..50_u8 {
            let digest = Digest::new([round; 32]);
            let mut zip = mirror.incoming().unwrap();
            zip.write_all(&vec![round; 100_000]).unwrap();
            mirror.keep(digest, zip);
            let id = |host: &str| PackageId {
                provider: ProviderAddr::parse(&format!("{host}/acme/anvil"), Engine::Terraform)
                    .unwrap(),
                version: Version::parse(&format!("1.0.{round}")).unwrap(),
                platform: Platform::parse("linux_amd64").unwrap(),
            };
            let ids = ["a.test", "b.test"].map(id);
            thread::scope(|scope| {
                let mirror = &mirror;
                let put = |id| scope.spawn(move || mirror.put(id, digest));
                for thread in [put(&ids[0]), put(&ids[1])] {
                    thread.join().unwrap().unwrap();
                }
            });
            for id in &ids {
                let stored = fs::read(mirror.directory().package_path(id)).unwrap();
                assert_eq!(stored, vec![round; 100_000]);
            }
        }
    }
}
