//! Filesystem mirrors: a directory of packages.
//!
//! ```text
//! BASE/HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip      packed
//! BASE/HOST/NAMESPACE/TYPE/VERSION/OS_ARCH/...                              unpacked
//! ```
//!
//! Names of directories and zips count in any case, the host in its Unicode form. What does not fit the layout is ignored.
//! Directories must be real, but the last element, the zip or the `OS_ARCH` directory, may be a symbolic link. Where a
//! package is there twice, the first in the order of bytes counts, which makes the unpacked one win.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::provider::{Engine, Platform, ProviderAddr, Version};
use crate::registry::error::RegistryError;
use crate::registry::metadata::{AvailableVersion, AvailableVersions};

/// A package on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocalPackage {
    /// A zip.
    Zip(PathBuf),
    /// The files of a package.
    Directory(PathBuf),
}

/// One directory of packages. Clones share what was found in it.
#[derive(Clone, Debug)]
pub struct FilesystemMirror {
    base: Arc<PathBuf>,
    index: Arc<OnceCell<Result<Arc<Index>, RegistryError>>>,
}

/// The packages of a mirror, by provider and canonical version.
type Index = BTreeMap<ProviderAddr, BTreeMap<String, Release>>;

#[derive(Debug)]
struct Release {
    version: Version,
    packages: BTreeMap<Platform, LocalPackage>,
}

impl FilesystemMirror {
    /// The mirror in this directory, which need not exist until it is asked.
    pub fn new(base: impl Into<PathBuf>) -> Self {
        Self {
            base: Arc::new(base.into()),
            index: Arc::default(),
        }
    }

    /// The directory.
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// The versions of the provider. None is no error: it means that no version fits.
    pub async fn versions(
        &self,
        provider: &ProviderAddr,
    ) -> Result<AvailableVersions, RegistryError> {
        let index = self.index().await?;
        let releases = index.get(provider).into_iter().flat_map(BTreeMap::values);
        let versions = releases.map(|release| AvailableVersion {
            version: release.version.clone(),
            protocols: Vec::new(),
            platforms: release.packages.keys().cloned().collect(),
        });
        Ok(AvailableVersions {
            versions: versions.collect(),
            ..AvailableVersions::default()
        })
    }

    /// The package, if the mirror has it.
    pub async fn package(
        &self,
        provider: &ProviderAddr,
        version: &Version,
        platform: &Platform,
    ) -> Result<Option<LocalPackage>, RegistryError> {
        let index = self.index().await?;
        let release = index
            .get(provider)
            .and_then(|releases| releases.get(&version.to_string()));
        Ok(release
            .and_then(|release| release.packages.get(platform))
            .cloned())
    }

    /// The content of the mirror, read once.
    async fn index(&self) -> Result<Arc<Index>, RegistryError> {
        let read = || async {
            let base = Arc::clone(&self.base);
            let scanned = tokio::task::spawn_blocking(move || scan(&base)).await;
            let scanned = scanned.unwrap_or_else(|error| Err(io::Error::other(error)));
            scanned
                .map(Arc::new)
                .map_err(|source| RegistryError::Search {
                    path: self.base.to_path_buf(),
                    source: Arc::new(source),
                })
        };
        self.index.get_or_init(read).await.clone()
    }
}

fn scan(base: &Path) -> io::Result<Index> {
    let mut index = Index::new();
    if fs::metadata(base)?.is_file() {
        return Ok(index);
    }
    for host in directories(base)? {
        for namespace in directories(&host)? {
            for type_name in directories(&namespace)? {
                let names = [&host, &namespace, &type_name].map(|path| name_of(path));
                // The engine matters only for sources without a host.
                if let Ok(provider) = ProviderAddr::parse(&names.join("/"), Engine::Terraform) {
                    scan_type(&provider, &type_name, &mut index)?;
                }
            }
        }
    }
    Ok(index)
}

/// The content of one `TYPE` directory.
fn scan_type(provider: &ProviderAddr, directory: &Path, index: &mut Index) -> io::Result<()> {
    for entry in entries(directory)? {
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            let Ok(version) = Version::parse(&name_of(&path)) else {
                continue;
            };
            for package in entries(&path)? {
                let path = package.path();
                if let (Ok(platform), true) = (Platform::parse(&name_of(&path)), path.is_dir()) {
                    add(
                        index,
                        provider,
                        &version,
                        platform,
                        LocalPackage::Directory(path),
                    );
                }
            }
        } else if let Some((version, platform)) = packed(provider, &name_of(&path))
            && path.is_file()
        {
            add(index, provider, &version, platform, LocalPackage::Zip(path));
        }
    }
    Ok(())
}

fn add(
    index: &mut Index,
    provider: &ProviderAddr,
    version: &Version,
    platform: Platform,
    package: LocalPackage,
) {
    let releases = index.entry(provider.clone()).or_default();
    let release = releases
        .entry(version.to_string())
        .or_insert_with(|| Release {
            version: version.clone(),
            packages: BTreeMap::new(),
        });
    if let Entry::Vacant(entry) = release.packages.entry(platform) {
        entry.insert(package);
    }
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

/// What is in a directory, in the order of bytes.
fn entries(path: &Path) -> io::Result<Vec<DirEntry>> {
    let mut entries = fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(DirEntry::file_name);
    Ok(entries)
}

fn name_of(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates zips and, where a path ends in a slash, directories.
    fn mirror(paths: &[&str]) -> tempfile::TempDir {
        let base = tempfile::tempdir().expect("a directory");
        for path in paths {
            let full = base.path().join(path);
            if path.ends_with('/') {
                fs::create_dir_all(full).expect("a directory");
            } else {
                fs::create_dir_all(full.parent().expect("below the base")).expect("a directory");
                fs::write(full, "zip").expect("a file");
            }
        }
        base
    }

    /// All that was found, as `ADDRESS VERSION PLATFORM kind`.
    fn found(base: &Path) -> Vec<String> {
        let index = scan(base).expect("readable");
        let mut lines = Vec::new();
        for (provider, releases) in &index {
            for (version, release) in releases {
                for (platform, package) in &release.packages {
                    let kind = match package {
                        LocalPackage::Zip(_) => "zip",
                        LocalPackage::Directory(_) => "directory",
                    };
                    lines.push(format!("{provider} {version} {platform} {kind}"));
                }
            }
        }
        lines
    }

    #[test]
    fn both_layouts_are_found_and_nothing_else() {
        let rows: &[(&str, &str)] = &[
            (
                "h.test/a/b/terraform-provider-b_1.0.0_linux_amd64.zip",
                "h.test/a/b 1.0.0 linux_amd64 zip",
            ),
            (
                "h.test/a/b/1.0.0/linux_amd64/",
                "h.test/a/b 1.0.0 linux_amd64 directory",
            ),
            (
                "H.Test/A/B/Terraform-Provider-B_1.0.0-RC1_Linux_AMD64.ZIP",
                "h.test/a/b 1.0.0-rc1 linux_amd64 zip",
            ),
            (
                "h.test/a/b/terraform-provider-b_1.0_linux_amd64.zip",
                "h.test/a/b 1.0.0 linux_amd64 zip",
            ),
            (
                "h.test/a/b/1.0/linux_amd64/",
                "h.test/a/b 1.0.0 linux_amd64 directory",
            ),
            (
                "h.test/a/b/terraform-provider-b_1.0.0_linux_amd64_extra_x.zip",
                "h.test/a/b 1.0.0 linux_amd64 zip",
            ),
            (
                "h.test:8080/a/b/1.0.0/linux_amd64/",
                "h.test:8080/a/b 1.0.0 linux_amd64 directory",
            ),
            (
                "bücher.test/a/b/1.0.0/linux_amd64/",
                "bücher.test/a/b 1.0.0 linux_amd64 directory",
            ),
            ("xn--bcher-kva.test/a/b/1.0.0/linux_amd64/", ""),
            ("h.test/a/b/v1.0.0/linux_amd64/", ""),
            ("h.test/a/b/terraform-provider-b_v1.0.0_linux_amd64.zip", ""),
            ("h.test/a/b/terraform-provider-c_1.0.0_linux_amd64.zip", ""),
            ("h.test/a/b/terraform-provider-b_1.0.0_linux.zip", ""),
            ("h.test/a/b/terraform-provider-b_1.0.0_linux_amd64.tar", ""),
            ("h.test/a/b/1.0.0/linux_amd64_x/", ""),
            ("h.test/a/b/1.0.0/linux_amd64", ""),
            ("h.test/a/b/terraform-provider-b_1.0.0_linux_amd64.zip/", ""),
            ("h.test/a b/c/1.0.0/linux_amd64/", ""),
            ("h.test/a/b/index.json", ""),
            ("a/b/terraform-provider-b_1.0.0_linux_amd64.zip", ""),
            ("x/h.test/a/b/1.0.0/linux_amd64/", ""),
        ];
        for (path, expected) in rows {
            let base = mirror(&[path]);
            assert_eq!(found(base.path()).join("\n"), *expected, "{path}");
        }
    }

    #[test]
    fn the_first_in_the_order_of_bytes_wins() {
        let base = mirror(&[
            "h.test/a/b/terraform-provider-b_1.0.0_linux_amd64.zip",
            "h.test/a/b/1.0/linux_amd64/",
        ]);
        assert_eq!(
            found(base.path()),
            ["h.test/a/b 1.0.0 linux_amd64 directory"]
        );
    }

    #[test]
    fn the_base_may_be_empty_a_file_or_missing() {
        let base = mirror(&["file"]);
        assert!(found(base.path()).is_empty());
        assert!(found(&base.path().join("file")).is_empty());
        assert!(scan(&base.path().join("missing")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn only_the_base_and_the_last_element_may_be_links() {
        use std::os::unix::fs::symlink;
        let real = mirror(&[
            "h.test/a/b/1.0.0/linux_amd64/",
            "h.test/a/b/terraform-provider-b_2.0.0_linux_amd64.zip",
        ]);
        let all = found(real.path()).join("\n");
        let base = tempfile::tempdir().expect("a directory");
        let link = base.path().join("base");
        symlink(real.path(), &link).expect("a link");
        assert_eq!(found(&link).join("\n"), all);
        for (link, target) in [
            ("h.test", "h.test"),
            ("h.test/a", "h.test/a"),
            ("h.test/a/b", "h.test/a/b"),
            ("h.test/a/b/1.0.0", "h.test/a/b/1.0.0"),
        ] {
            let base = tempfile::tempdir().expect("a directory");
            let link = base.path().join(link);
            fs::create_dir_all(link.parent().expect("below the base")).expect("a directory");
            symlink(real.path().join(target), &link).expect("a link");
            assert!(found(base.path()).is_empty(), "{target}");
        }
        let base = mirror(&["h.test/a/b/1.0.0/"]);
        let of = |path: &str| (real.path().join(path), base.path().join(path));
        for path in [
            "h.test/a/b/1.0.0/linux_amd64",
            "h.test/a/b/terraform-provider-b_2.0.0_linux_amd64.zip",
        ] {
            let (target, link) = of(path);
            symlink(target, link).expect("a link");
        }
        assert_eq!(found(base.path()).join("\n"), all);
    }
}
