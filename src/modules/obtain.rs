//! Obtains a package from the disk cache, from a local path, or over the network.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::display::shown_path;
use crate::provider::Engine;
use crate::redacted_url::RedactedUrl;
use crate::registry::{RegistryClient, is_loopback};

use super::checksum::Algorithm;
use super::module_store::{PackageStaging, archive_key, content_key, repository_key};
use super::repository::RepositoryAccess;
use super::resolve::ResolvedSource;
use super::{
    ArchivePackage, Checksum, ChecksumSource, Fetcher, ModuleError, ModulePackage,
    RepositoryPackage, VersionControl, archive, checksum_list, disk, git, mercurial,
};

impl Fetcher {
    /// Obtains a package, and returns the path of its directory without symlinks.
    pub(super) async fn obtain(
        &self,
        source: &ResolvedSource,
        engine: Engine,
    ) -> Result<PathBuf, ModuleError> {
        let client = (self.clients)(engine);
        let package = &source.address.package;
        let address = package.redacted();
        match package {
            ModulePackage::Directory(path) => real_directory(path),
            ModulePackage::File(path, kind, checksum) => {
                let file = File::open(path).map_err(disk(path))?;
                let (checksum, path) = (checksum.as_ref(), shown_path(path));
                let checksum =
                    checksum_list::resolve(checksum, &path, &client, &self.store).await?;
                let target = self.run_directory.next_path()?;
                archive::unpack(file, *kind, checksum.as_ref(), &target, &address)?;
                Ok(target)
            }
            ModulePackage::Repository(repository) => {
                self.obtain_repository(repository, &client, &address).await
            }
            ModulePackage::Archive(archive) => {
                if archive.object.is_none() {
                    check_scheme(archive, source, &address)?;
                }
                self.obtain_archive(&client, archive, source, &address)
                    .await
            }
            ModulePackage::Objects(objects) => {
                self.obtain_objects(&client, objects, &address).await
            }
            ModulePackage::Oci(module) => self.obtain_oci_module(&client, module, &address).await,
            ModulePackage::Web(_) => Err(ModuleError::NoRedirect(address)),
        }
    }

    async fn obtain_repository(
        &self,
        repository: &RepositoryPackage,
        client: &RegistryClient,
        address: &RedactedUrl,
    ) -> Result<PathBuf, ModuleError> {
        let offline = client.settings().http.offline;
        let access = RepositoryAccess {
            git: &self.git,
            mercurial: &self.mercurial,
            hosts: &client.settings().allowed_hosts,
        };
        let whole = match repository.program {
            VersionControl::Git => git::whole_commit(repository),
            VersionControl::Mercurial => mercurial::whole_commit(repository),
        };
        let known = whole
            .map(str::to_owned)
            .or_else(|| self.store.commit(repository));
        if let Some(commit) = known
            && let Some(package) = self
                .store
                .find(&repository_key(repository, &commit), address)
            && (whole.is_some()
                || offline
                || is_current(access, repository, &commit, &package).await)
        {
            return Ok(package);
        }
        if offline && !repository.is_local {
            return Err(ModuleError::Offline(address.clone()));
        }
        let staging = self.stage()?;
        let (target, max_bytes) = (&staging.target, self.max_bytes);
        let commit = match repository.program {
            VersionControl::Git => git::fetch(access, repository, target, max_bytes).await?,
            VersionControl::Mercurial => {
                mercurial::fetch(access, repository, target, max_bytes).await?
            }
        };
        self.store.record_commit(repository, &commit);
        self.store
            .adopt(&repository_key(repository, &commit), staging)
    }

    async fn obtain_archive(
        &self,
        client: &RegistryClient,
        archive: &ArchivePackage,
        source: &ResolvedSource,
        address: &RedactedUrl,
    ) -> Result<PathBuf, ModuleError> {
        let plain_http = allows_plain_http(archive, source);
        let (listed, path) = (archive.checksum.as_ref(), archive.url.path());
        let checksum = checksum_list::resolve(listed, path, client, &self.store).await?;
        let checksum = checksum.as_ref();
        let Some(key) = archive_key(archive, checksum, source.version.as_ref()) else {
            let changeable = self.obtain_changeable_archive(client, archive, plain_http, address);
            return changeable.await;
        };
        if let Some(package) = self.store.find(&key, address) {
            return Ok(package);
        }
        let staging = self.stage()?;
        let mut download = self
            .start_download(client, archive, plain_http, None)
            .await?;
        let file = archive::save(&mut download, staging.directory(), address).await?;
        archive::unpack(file, archive.kind, checksum, &staging.target, address)?;
        self.store.adopt(&key, staging)
    }

    /// Obtains an archive that is identified only by its address. The archive may have changed since the last run, so the cached
    /// package is used only if the server confirms that it is current, or if the run is offline.
    async fn obtain_changeable_archive(
        &self,
        client: &RegistryClient,
        archive: &ArchivePackage,
        plain_http: bool,
        address: &RedactedUrl,
    ) -> Result<PathBuf, ModuleError> {
        let key = |checksum: &Checksum| content_key(archive.kind, checksum);
        let cached = self.store.archive_record(archive).and_then(|record| {
            let package = self.store.find(&key(&record.checksum), address)?;
            Some((package, record.stamp))
        });
        let (package, stamp) = cached.unzip();
        if let Some(package) = &package
            && client.settings().http.offline
        {
            return Ok(package.clone());
        }
        let stamp = stamp.flatten();
        let mut download = self
            .start_download(client, archive, plain_http, stamp)
            .await?;
        if let Some(package) = package.filter(|_| download.is_unchanged()) {
            return Ok(package);
        }
        let uncached = PackageStaging::uncached(self.run_directory.next_path()?);
        let mut file = archive::save(&mut download, uncached.directory(), address).await?;
        let Some(stamp) = download.validator() else {
            archive::unpack(file, archive.kind, None, &uncached.target, address)?;
            return Ok(uncached.target);
        };
        let checksum =
            Checksum::compute(Algorithm::Sha256, &mut file).map_err(disk(uncached.directory()))?;
        let staging = self.stage()?;
        archive::unpack(file, archive.kind, None, &staging.target, address)?;
        let package = self.store.adopt(&key(&checksum), staging)?;
        self.store.record_archive(archive, &checksum, stamp);
        Ok(package)
    }

    /// Returns a directory for the next package, in the cache if there is one.
    pub(super) fn stage(&self) -> Result<PackageStaging, ModuleError> {
        match self.store.stage() {
            Some(staging) => Ok(staging),
            None => self.run_directory.next_path().map(PackageStaging::uncached),
        }
    }
}

/// Whether the branch or tag of a repository currently resolves to `commit`, whose package is in the directory `package`.
async fn is_current(
    access: RepositoryAccess<'_>,
    repository: &RepositoryPackage,
    commit: &str,
    package: &Path,
) -> bool {
    match repository.program {
        VersionControl::Git => git::is_current(access, repository, commit, package).await,
        VersionControl::Mercurial => {
            mercurial::is_current(access, repository, commit, package).await
        }
    }
}

/// Checks that an archive cannot be changed in transit, because its content determines what is locked.
fn check_scheme(
    archive: &ArchivePackage,
    source: &ResolvedSource,
    address: &RedactedUrl,
) -> Result<(), ModuleError> {
    let is_secure = archive.url.scheme() == "https" || is_loopback(&archive.url);
    if is_secure || allows_plain_http(archive, source) {
        return Ok(());
    }
    Err(ModuleError::PlainHttp(address.clone()))
}

fn allows_plain_http(archive: &ArchivePackage, source: &ResolvedSource) -> bool {
    let checksum = archive.checksum.as_ref();
    source.plain_http || checksum.is_some_and(ChecksumSource::is_strong)
}

fn real_directory(path: &Path) -> Result<PathBuf, ModuleError> {
    let failed = |source| ModuleError::ReadDirectory {
        path: path.to_path_buf(),
        source,
    };
    let real = fs::canonicalize(path).map_err(failed)?;
    // This fails with a precise error if the path is not a readable directory.
    fs::read_dir(&real).map_err(failed)?;
    Ok(real)
}
