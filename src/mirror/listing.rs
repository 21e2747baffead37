//! Lists the packages in a mirror by the rules of Terraform and OpenTofu.
//!
//! The names of directories and zips are case-insensitive; host names are in Unicode form. Files with other names are ignored.
//! Symlinks are ignored, too, unless they are the last element of the path: the zip or the `OS_ARCH` directory.

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use crate::provider::{Engine, PackageId, Platform, ProviderAddr, Version};

/// A package on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocalPackage {
    Zip(PathBuf),
    /// The directory with the files of a package.
    Directory(PathBuf),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPackage {
    /// The provider, version and platform according to its path.
    pub id: PackageId,
    pub package: LocalPackage,
}

impl LocalPackage {
    pub fn path(&self) -> &Path {
        match self {
            Self::Zip(path) | Self::Directory(path) => path,
        }
    }
}

/// Lists all packages below `base`, sorted by path in byte order. The list is empty if `base` is a file.
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

/// Lists the providers below `base` with their directories, in byte order.
pub(super) fn providers(base: &Path) -> io::Result<Vec<(ProviderAddr, PathBuf)>> {
    let mut found = Vec::new();
    for host in directories(base)? {
        for namespace in directories(&host)? {
            for type_name in directories(&namespace)? {
                let names = [&host, &namespace, &type_name].map(|path| file_name(path));
                // The engine is irrelevant, because the source has a host.
                if let Ok(provider) = ProviderAddr::parse(&names.join("/"), Engine::Terraform) {
                    found.push((provider, type_name));
                }
            }
        }
    }
    Ok(found)
}

/// Lists the packages of one provider, in byte order.
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
            let Ok(version) = Version::parse(&file_name(&path)) else {
                continue;
            };
            for package in entries(&path)? {
                let path = package.path();
                if let (Ok(platform), true) = (Platform::parse(&file_name(&path)), path.is_dir()) {
                    add(&version, platform, LocalPackage::Directory(path));
                }
            }
        } else if let Some((version, platform)) = parse_zip_name(provider, &file_name(&path))
            && path.is_file()
        {
            add(&version, platform, LocalPackage::Zip(path));
        }
    }
    Ok(listed)
}

/// Parses the version and platform in the name of a zip. Parts after the architecture are ignored.
fn parse_zip_name(provider: &ProviderAddr, name: &str) -> Option<(Version, Platform)> {
    let name = name.to_lowercase();
    let rest = name.strip_prefix(&format!("terraform-provider-{}_", provider.type_name))?;
    let mut parts = rest.strip_suffix(".zip")?.split('_');
    let version = Version::parse(parts.next()?).ok()?;
    let (os, arch) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    Some((version, Platform { os, arch }))
}

/// Lists the directories in a directory, without symlinks.
fn directories(path: &Path) -> io::Result<Vec<PathBuf>> {
    let real = entries(path)?
        .into_iter()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    Ok(real.map(|entry| entry.path()).collect())
}

/// Lists the entries of a directory, in byte order. The list is empty if another process has just removed the directory.
fn entries(path: &Path) -> io::Result<Vec<DirEntry>> {
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(DirEntry::file_name);
    Ok(entries)
}

pub(super) fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
