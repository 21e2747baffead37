//! What lies in a directory of packages, as the tools see it.
//!
//! Names of directories and zips count in any case, the host in its Unicode form. What does not fit the layout is ignored.
//! Directories must be real, but the last element, the zip or the `OS_ARCH` directory, may be a symbolic link.

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use crate::provider::{Engine, PackageId, Platform, ProviderAddr, Version};

/// A package on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocalPackage {
    /// A zip.
    Zip(PathBuf),
    /// The files of a package.
    Directory(PathBuf),
}

/// A package and where it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPackage {
    /// What its place says that it is.
    pub id: PackageId,
    /// Where it lies.
    pub package: LocalPackage,
}

impl LocalPackage {
    /// The zip or the directory.
    pub fn path(&self) -> &Path {
        match self {
            Self::Zip(path) | Self::Directory(path) => path,
        }
    }
}

/// All packages below `base`, in the order of bytes of their paths. A file in its place is an empty one.
pub fn list(base: &Path) -> io::Result<Vec<ListedPackage>> {
    let mut listed = Vec::new();
    if fs::metadata(base)?.is_file() {
        return Ok(listed);
    }
    for (provider, directory) in providers(base)? {
        listed.extend(list_provider(&provider, &directory)?);
    }
    Ok(listed)
}

/// The directories that are those of providers, in the order of bytes.
pub(super) fn providers(base: &Path) -> io::Result<Vec<(ProviderAddr, PathBuf)>> {
    let mut found = Vec::new();
    for host in directories(base)? {
        for namespace in directories(&host)? {
            for type_name in directories(&namespace)? {
                let names = [&host, &namespace, &type_name].map(|path| name_of(path));
                // The engine matters only for sources without a host.
                if let Ok(provider) = ProviderAddr::parse(&names.join("/"), Engine::Terraform) {
                    found.push((provider, type_name));
                }
            }
        }
    }
    Ok(found)
}

/// The packages of one provider, in the order of bytes.
pub(super) fn list_provider(
    provider: &ProviderAddr,
    directory: &Path,
) -> io::Result<Vec<ListedPackage>> {
    let mut listed = Vec::new();
    let mut add = |version: &Version, platform, package| {
        let id = PackageId {
            provider: provider.clone(),
            version: version.clone(),
            platform,
        };
        listed.push(ListedPackage { id, package });
    };
    for entry in entries(directory)? {
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            let Ok(version) = Version::parse(&name_of(&path)) else {
                continue;
            };
            for package in entries(&path)? {
                let path = package.path();
                if let (Ok(platform), true) = (Platform::parse(&name_of(&path)), path.is_dir()) {
                    add(&version, platform, LocalPackage::Directory(path));
                }
            }
        } else if let Some((version, platform)) = packed(provider, &name_of(&path))
            && path.is_file()
        {
            add(&version, platform, LocalPackage::Zip(path));
        }
    }
    Ok(listed)
}

/// Version and platform in the name of a zip. Parts after the architecture mean nothing.
fn packed(provider: &ProviderAddr, name: &str) -> Option<(Version, Platform)> {
    let name = name.to_lowercase();
    let rest = name.strip_prefix(&format!("terraform-provider-{}_", provider.type_name))?;
    let mut parts = rest.strip_suffix(".zip")?.split('_');
    let version = Version::parse(parts.next()?).ok()?;
    let (os, arch) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    Some((version, Platform { os, arch }))
}

/// The real directories in a directory.
fn directories(path: &Path) -> io::Result<Vec<PathBuf>> {
    let real = entries(path)?
        .into_iter()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    Ok(real.map(|entry| entry.path()).collect())
}

/// What is in a directory, in the order of bytes. One that somebody has just removed is empty.
fn entries(path: &Path) -> io::Result<Vec<DirEntry>> {
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(DirEntry::file_name);
    Ok(entries)
}

fn name_of(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
