//! Filesystem mirrors as sources of packages; [`crate::mirror`] lists the packages in a directory. If a package occurs twice, the
//! path that comes first in byte order takes precedence, so an unpacked package precedes a zip.

use std::collections::BTreeMap;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::mirror::{self, ListedPackage, LocalPackage};
use crate::provider::{PackageId, Platform, ProviderAddr, Version};
use crate::registry::error::{RegistryError, Result};
use crate::registry::metadata::{AvailableVersion, AvailableVersions};

/// A directory of packages. Clones share the list of its contents.
#[derive(Clone, Debug)]
pub struct FilesystemMirror {
    base: Arc<PathBuf>,
    index: Arc<OnceCell<Result<Arc<MirrorPackages>>>>,
}

/// The packages of a mirror, by provider, version and platform.
type MirrorPackages = BTreeMap<ProviderAddr, BTreeMap<Version, PlatformPackages>>;

type PlatformPackages = BTreeMap<Platform, LocalPackage>;

impl FilesystemMirror {
    /// Creates a mirror for the packages in a directory, which is read on first use.
    pub fn new(base: impl Into<PathBuf>) -> Self {
        Self {
            base: Arc::new(base.into()),
            index: Arc::default(),
        }
    }

    pub fn base(&self) -> &Path {
        &self.base
    }

    /// Returns the versions of the provider. The list is empty if the mirror does not have the provider.
    pub async fn versions(&self, provider: &ProviderAddr) -> Result<AvailableVersions> {
        let index = self.index().await?;
        let releases = index.get(provider).into_iter().flatten();
        let versions = releases.map(|(version, packages)| AvailableVersion {
            version: version.clone(),
            protocols: Vec::new(),
            platforms: packages.keys().cloned().collect(),
        });
        Ok(AvailableVersions {
            versions: versions.collect(),
            ..AvailableVersions::default()
        })
    }

    /// Returns the package, or `None` if the mirror does not have it.
    pub async fn package(&self, id: &PackageId) -> Result<Option<LocalPackage>> {
        let index = self.index().await?;
        let package = index
            .get(&id.provider)
            .and_then(|releases| releases.get(&id.version))
            .and_then(|packages| packages.get(&id.platform));
        Ok(package.cloned())
    }

    /// Returns the packages in the mirror, which are listed only once.
    async fn index(&self) -> Result<Arc<MirrorPackages>> {
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

fn scan(base: &Path) -> io::Result<MirrorPackages> {
    let mut index = MirrorPackages::new();
    for ListedPackage { id, package } in mirror::list(base)? {
        let releases = index.entry(id.provider).or_default();
        let packages = releases.entry(id.version).or_default();
        packages.entry(id.platform).or_insert(package);
    }
    Ok(index)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Creates a directory for each path that ends in a slash, and a zip for any other path.
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

    /// Lists the packages in a mirror, as `ADDRESS VERSION PLATFORM kind`.
    fn found(base: &Path) -> Vec<String> {
        let index = scan(base).expect("readable");
        let mut lines = Vec::new();
        for (provider, releases) in &index {
            for (version, packages) in releases {
                for (platform, package) in packages {
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
            (
                "h.test/A_a/b/1.0.0/linux_amd64/",
                "h.test/a_a/b 1.0.0 linux_amd64 directory",
            ),
            ("h.test/_a/b/1.0.0/linux_amd64/", ""),
            ("h.test/a/b_b/1.0.0/linux_amd64/", ""),
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
    fn the_first_in_byte_order_takes_precedence() {
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
    fn an_empty_base_has_no_packages_and_a_missing_one_is_an_error() {
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
