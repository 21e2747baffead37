//! The paths of packages in a mirror, and their current state. Nothing is written here.

use std::fs;
use std::io;
use std::iter;
use std::path::{Path, PathBuf};

use super::error::MirrorError;
use crate::access::{confine, open_regular};
use crate::package::{
    Limits, PackageError, PackageHashes, digest_of_file, hash_archive, hash_directory,
};
use crate::provider::{Digest, Hash, PackageId, ProviderAddr};

/// How packages are stored in a mirror.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// As zips, with the index files of a network mirror.
    #[default]
    Packed,
    /// As unpacked directories, to which `init` creates symlinks.
    Unpacked,
}

/// A directory of packages, for reading only.
#[derive(Clone, Debug)]
pub struct MirrorDirectory {
    base: PathBuf,
    layout: Layout,
}

/// A package in the mirror, packed or unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredPackage {
    Zip(Digest),
    /// Unpacked files with this `h1` hash.
    Files(Hash),
    Missing,
    /// A package that cannot be used. The text is the reason.
    Damaged(String),
}

impl MirrorDirectory {
    /// Refers to the mirror in `base`, which need not exist.
    pub fn new(base: impl Into<PathBuf>, layout: Layout) -> Self {
        Self {
            base: base.into(),
            layout,
        }
    }

    pub fn base(&self) -> &Path {
        &self.base
    }

    /// Fails if the path of the directory contains a symlink in the repository that points outside it.
    pub fn check_links_to(&self) -> Result<(), MirrorError> {
        let path = self.base.clone();
        let confined = confine(&self.base).map(drop);
        confined.map_err(|source| MirrorError::Confined { path, source })
    }

    /// Fails if `place`, or a directory above it in the mirror, is a symlink. Through a symlink, tflock could write outside the
    /// mirror.
    pub(super) fn check_no_links(&self, place: &Path) -> Result<(), MirrorError> {
        let below = place.strip_prefix(&self.base).unwrap_or(place);
        let mut path = self.base.clone();
        for part in below {
            path.push(part);
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_symlink() => return Err(MirrorError::Link { path }),
                Ok(_) => {}
                Err(error) if is_absence(&error) => return Ok(()),
                Err(error) => return Err(MirrorError::read(&path)(error)),
            }
        }
        Ok(())
    }

    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// Returns the directory of a provider. The host name is in Unicode form, as in Terraform and OpenTofu.
    pub fn provider_path(&self, provider: &ProviderAddr) -> PathBuf {
        self.base
            .join(provider.hostname.to_string())
            .join(&provider.namespace)
            .join(&provider.type_name)
    }

    /// Returns the path of a package, which is a zip or a directory.
    pub fn package_path(&self, id: &PackageId) -> PathBuf {
        let provider = self.provider_path(&id.provider);
        match self.layout {
            Layout::Packed => provider.join(zip_name(id)),
            Layout::Unpacked => provider
                .join(id.version.to_string())
                .join(id.platform.to_string()),
        }
    }

    /// Reads and hashes the whole package. Comparing sizes and times would be unreliable, because mirrors are restored from CI
    /// caches and copied between machines.
    pub fn inspect(&self, id: &PackageId) -> Result<StoredPackage, MirrorError> {
        let place = self.package_path(id);
        self.check_no_links(&place)?;
        match fs::symlink_metadata(&place) {
            Err(error) if is_absence(&error) => return Ok(StoredPackage::Missing),
            found => found.map_err(MirrorError::read(&place))?,
        };
        let found = match self.layout {
            Layout::Packed => open_regular(&place)
                .map_err(PackageError::Read)
                .and_then(|file| digest_of_file(&file))
                .map(|(digest, _)| StoredPackage::Zip(digest)),
            Layout::Unpacked => match link_below(&place).map_err(MirrorError::read(&place))? {
                Some(link) => {
                    return Ok(StoredPackage::Damaged(format!(
                        "`{}` is a symlink",
                        link.display()
                    )));
                }
                None => hash_directory(&place, &id.provider.type_name).map(StoredPackage::Files),
            },
        };
        Ok(match found {
            Ok(StoredPackage::Files(_)) if !is_executable(&place, &id.provider.type_name) => {
                StoredPackage::Damaged("its executable lacks the execute permission".to_owned())
            }
            Ok(found) => found,
            Err(error) => StoredPackage::Damaged(with_causes(&error)),
        })
    }

    /// Returns all hashes of the zip at the path of a package.
    pub fn hash_zip(&self, id: &PackageId) -> Result<PackageHashes, PackageError> {
        let file = open_regular(&self.package_path(id)).map_err(PackageError::Read)?;
        hash_archive(&file, &id.provider.type_name, &Limits::default())
    }
}

/// Returns the name of a package's zip, as in `terraform providers mirror`.
pub(super) fn zip_name(id: &PackageId) -> String {
    format!(
        "terraform-provider-{}_{}_{}.zip",
        id.provider.type_name, id.version, id.platform
    )
}

/// Finds a symlink in an unpacked package, and returns its path relative to `directory`. tflock never creates symlinks there.
fn link_below(directory: &Path) -> io::Result<Option<PathBuf>> {
    let mut pending = vec![directory.to_path_buf()];
    while let Some(next) = pending.pop() {
        for entry in fs::read_dir(next)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_symlink() {
                let path = entry.path();
                return Ok(path.strip_prefix(directory).ok().map(Path::to_path_buf));
            }
            if kind.is_dir() {
                pending.push(entry.path());
            }
        }
    }
    Ok(None)
}

/// Whether the error means that the path does not exist.
pub(super) fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Whether an executable of the package has the execute permission. CI caches can lose this permission, and no hash covers it.
#[cfg(unix)]
fn is_executable(directory: &Path, type_name: &str) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    let prefix = format!("terraform-provider-{type_name}");
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut modes = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix))
        .filter_map(|entry| fs::metadata(entry.path()).ok())
        .map(|metadata| metadata.permissions().mode());
    modes.any(|mode| mode & 0o111 != 0)
}

#[cfg(not(unix))]
const fn is_executable(_directory: &Path, _type_name: &str) -> bool {
    true
}

/// Formats an error with its causes on one line.
pub(super) fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = iter::successors(error.source(), |cause| (*cause).source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
