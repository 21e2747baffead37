//! Downloads a package and computes its hashes.
//!
//! A package is hashed while it is downloaded, without a temporary file. If that is impossible (the central directory at the
//! end of the zip contradicts the preceding data, or the zip cannot be read sequentially), the package is downloaded again into
//! a temporary file. If there is a mirror to fill, each zip is written to a file in the same pass, so no second download is
//! required.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use tokio::sync::Semaphore;
use url::Url;

use crate::package::{
    Limits, NeedsFile, PackageError, PackageHashes, StreamHasher, Streamed, hash_archive,
    hash_directory,
};
use crate::provider::{Digest, Hash};
use crate::registry::{Download, OciPackage, PackageId, RegistryClient, RegistryError};
use crate::reporter::{Reporter, TransferId};

use super::package_mirror::PackageMirror;

/// Downloads packages with limited concurrency, and counts the downloads.
pub(super) struct Transfers {
    pub(super) reporter: Arc<dyn Reporter>,
    limits: Limits,
    pub(super) mirror: PackageMirror,
    /// One permit per package in flight (`--jobs`).
    in_flight: Semaphore,
    started: AtomicU64,
    again: AtomicU64,
    bytes: AtomicU64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Downloaded {
    /// The number of downloads. A package that was downloaded again counts twice.
    pub packages: u64,
    /// The number of packages that were downloaded again because they could not be hashed during the first download.
    pub again: u64,
    /// The total size of all downloads, in bytes.
    pub bytes: u64,
}

/// The reason why a package could not be downloaded or hashed.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    #[error(transparent)]
    Download(#[from] RegistryError),
    #[error("no index has its hashes, and `--no-download` forbids downloading it")]
    Forbidden,
    #[error("the package has the SHA-256 digest {found}")]
    OtherDigest { found: Digest },
    #[error(transparent)]
    Package(#[from] PackageError),
    #[error("cannot store the package in a temporary file")]
    TemporaryFile(#[from] io::Error),
}

#[derive(Clone, Copy)]
pub(super) enum DownloadSource<'a> {
    Url(&'a Url),
    Oci(&'a OciPackage),
}

#[derive(Clone, Copy)]
pub(super) struct PackageDownload<'a> {
    pub(super) package: &'a PackageId,
    pub(super) from: DownloadSource<'a>,
    /// The digest that the zip must have, if known. Errors in the zip's content are reported only if the digest matches.
    pub(super) digest: Option<Digest>,
}

impl Transfers {
    /// `jobs` is the maximum number of packages in flight.
    pub(super) fn new(reporter: Arc<dyn Reporter>, limits: Limits, jobs: usize) -> Self {
        Self {
            reporter,
            limits,
            mirror: PackageMirror::default(),
            in_flight: Semaphore::new(jobs),
            started: AtomicU64::new(0),
            again: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    pub(super) fn total(&self) -> Downloaded {
        Downloaded {
            packages: self.started.load(Ordering::Relaxed),
            again: self.again.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }

    pub(super) async fn hash_download(
        &self,
        client: &RegistryClient,
        request: PackageDownload<'_>,
    ) -> Result<PackageHashes, TransferError> {
        let _permit = self.in_flight.acquire().await;
        let type_name = &request.package.provider.type_name;
        let mut stream = StreamHasher::new(type_name, self.limits)?;
        let mut staged = self.mirror.stage()?;
        let mut transfer = self.start(client, request).await?;
        while let Some(chunk) = transfer.next().await? {
            if let Some(file) = &mut staged {
                file.write_all(&chunk)?;
            }
            stream.send(chunk).await?;
        }
        drop(transfer);
        let streamed = stream.finish().await?;
        check_digest(request.digest, streamed.zh())?;
        match (streamed, staged) {
            (Streamed::Refused { error, .. }, _) => Err(error.into()),
            (Streamed::Hashed(hashes), staged) => {
                self.mirror.keep(hashes.zh, staged);
                Ok(hashes)
            }
            (Streamed::NeedsFile { zh, .. }, Some(staged)) => {
                let hashes = self.hash_file(staged.reopen()?, request.package).await?;
                check_digest(Some(zh), hashes.zh)?;
                self.mirror.keep(zh, Some(staged));
                Ok(hashes)
            }
            (Streamed::NeedsFile { zh, reason, .. }, None) => {
                let request = PackageDownload {
                    digest: Some(zh),
                    ..request
                };
                self.download_again(client, request, reason).await
            }
        }
    }

    /// Downloads a package into an unnamed temporary file, which cannot be left behind, and hashes the file.
    async fn download_again(
        &self,
        client: &RegistryClient,
        request: PackageDownload<'_>,
        reason: NeedsFile,
    ) -> Result<PackageHashes, TransferError> {
        let package = request.package;
        tracing::info!(%package, %reason, "downloading again into a temporary file");
        self.again.fetch_add(1, Ordering::Relaxed);
        let mut file = tempfile::tempfile()?;
        let mut transfer = self.start(client, request).await?;
        while let Some(chunk) = transfer.next().await? {
            file.write_all(&chunk)?;
        }
        drop(transfer);
        let hashes = self.hash_file(file, package).await?;
        check_digest(request.digest, hashes.zh)?;
        Ok(hashes)
    }

    /// Hashes a zip in a filesystem mirror, and stores it in the mirror to fill.
    pub(super) async fn hash_local(
        &self,
        path: &Path,
        package: &PackageId,
    ) -> Result<PackageHashes, PackageError> {
        let (file, copy) = self.mirror.open_copy(path).map_err(PackageError::Read)?;
        let hashes = self.hash_file(file, package).await?;
        self.mirror.keep(hashes.zh, copy);
        Ok(hashes)
    }

    async fn hash_file(
        &self,
        file: File,
        package: &PackageId,
    ) -> Result<PackageHashes, PackageError> {
        let (type_name, limits) = (package.provider.type_name.clone(), self.limits);
        run_blocking(move || hash_archive(&file, &type_name, &limits)).await
    }

    async fn start<'a>(
        &'a self,
        client: &RegistryClient,
        request: PackageDownload<'_>,
    ) -> Result<ReportedTransfer<'a>, RegistryError> {
        let download = match request.from {
            DownloadSource::Url(url) => client.download(url).await?,
            DownloadSource::Oci(package) => package.download().await?,
        };
        let id = TransferId(self.started.fetch_add(1, Ordering::Relaxed));
        let PackageId {
            provider,
            version,
            platform,
        } = request.package;
        let (namespace, type_name) = (&provider.namespace, &provider.type_name);
        let label = format!("{namespace}/{type_name} {version} {platform}");
        self.reporter.transfer_started(id, &label, download.size());
        Ok(ReportedTransfer {
            transfers: self,
            id,
            download,
        })
    }
}

/// Computes the `h1` hash of an unpacked package.
pub(super) async fn hash_files(
    directory: PathBuf,
    type_name: String,
) -> Result<Hash, PackageError> {
    run_blocking(move || hash_directory(&directory, &type_name)).await
}

async fn run_blocking<T: Send + 'static>(
    hash: impl FnOnce() -> Result<T, PackageError> + Send + 'static,
) -> Result<T, PackageError> {
    tokio::task::spawn_blocking(hash)
        .await
        // Joining fails only if the runtime shuts down or the task panicked.
        .unwrap_or(Err(PackageError::Interrupted))
}

fn check_digest(expected: Option<Digest>, found: Digest) -> Result<(), TransferError> {
    match expected {
        Some(expected) if expected != found => Err(TransferError::OtherDigest { found }),
        _ => Ok(()),
    }
}

/// A download whose progress is reported. Dropping it reports its end.
struct ReportedTransfer<'a> {
    transfers: &'a Transfers,
    id: TransferId,
    download: Download,
}

impl ReportedTransfer<'_> {
    async fn next(&mut self) -> Result<Option<Bytes>, RegistryError> {
        let chunk = self.download.chunk().await?;
        if let Some(chunk) = &chunk {
            let bytes = chunk.len() as u64;
            self.transfers.bytes.fetch_add(bytes, Ordering::Relaxed);
            self.transfers.reporter.transfer_advanced(self.id, bytes);
        }
        Ok(chunk)
    }
}

impl Drop for ReportedTransfer<'_> {
    fn drop(&mut self) {
        self.transfers.reporter.transfer_finished(self.id);
    }
}
