//! One package from where it lies into its hashes.
//!
//! A package that arrives is hashed on the way, without a file. Where that cannot be done (what the archive's end says does
//! not fit what was seen before, or it cannot be read from the front) it is fetched again, into a temporary file. Where zips
//! are to be kept, each is written to a file in the same pass.

use std::fs::File;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use tokio::sync::Semaphore;
use url::Url;

use crate::mirror::{Incoming, Mirror};
use crate::package::{
    Limits, NeedsFile, PackageError, PackageHashes, StreamHasher, Streamed, hash_archive,
};
use crate::provider::Digest;
use crate::registry::{Download, PackageId, RegistryClient, RegistryError};
use crate::reporter::{Reporter, TransferId};

/// The packages in flight, and how many there have been.
pub(super) struct Transfers {
    reporter: Arc<dyn Reporter>,
    limits: Limits,
    /// Where zips are kept.
    mirror: Option<Arc<Mirror>>,
    /// `--jobs`.
    in_flight: Semaphore,
    started: AtomicU64,
    again: AtomicU64,
    bytes: AtomicU64,
}

/// How much was downloaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Downloaded {
    /// Packages; one that was fetched again counts twice.
    pub packages: u64,
    /// Packages that were fetched again, because they could not be hashed as they came.
    pub again: u64,
    /// Bytes of all of them.
    pub bytes: u64,
}

/// Why a package has no hashes.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// It could not be downloaded.
    #[error(transparent)]
    Download(#[from] RegistryError),
    /// It arrived, and has another digest than it should have.
    #[error("the package has the SHA-256 {found}")]
    OtherDigest {
        /// Its digest.
        found: Digest,
    },
    /// It arrived, and has no hash.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// It could not be kept while it was hashed.
    #[error("cannot keep the package in a temporary file")]
    TemporaryFile(#[source] io::Error),
}

/// What is to be fetched.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    /// Which package, for people and for the type that its executable must be named for.
    pub(super) package: &'a PackageId,
    /// The zip.
    pub(super) url: &'a Url,
    /// The digest that it must have, if that is known. Its content does not count before it was compared.
    pub(super) digest: Option<Digest>,
}

impl Transfers {
    /// Up to `jobs` packages at the same time.
    pub(super) fn new(reporter: Arc<dyn Reporter>, limits: Limits, jobs: usize) -> Self {
        Self {
            reporter,
            limits,
            mirror: None,
            in_flight: Semaphore::new(jobs),
            started: AtomicU64::new(0),
            again: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    /// The same, but each zip is kept in `mirror` too.
    pub(super) fn with_mirror(self, mirror: Arc<Mirror>) -> Self {
        let mirror = Some(mirror);
        Self { mirror, ..self }
    }

    /// Where zips are kept.
    pub(super) const fn mirror(&self) -> Option<&Arc<Mirror>> {
        self.mirror.as_ref()
    }

    /// Who is told about progress.
    pub(super) fn reporter(&self) -> &dyn Reporter {
        &*self.reporter
    }

    /// How much was downloaded so far.
    pub(super) fn total(&self) -> Downloaded {
        Downloaded {
            packages: self.started.load(Ordering::Relaxed),
            again: self.again.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }

    /// Downloads a package and hashes it.
    pub(super) async fn hash(
        &self,
        client: &RegistryClient,
        wanted: Wanted<'_>,
    ) -> Result<PackageHashes, TransferError> {
        let _permit = self.in_flight.acquire().await;
        let type_name = &wanted.package.provider.type_name;
        let mut hasher = StreamHasher::new(type_name, self.limits)?;
        let keep = self.mirror.as_ref().map(|mirror| mirror.incoming());
        let mut keep = keep.transpose().map_err(TransferError::TemporaryFile)?;
        let mut arriving = self.start(client, wanted).await?;
        while let Some(piece) = arriving.next().await? {
            if let Some(kept) = &mut keep {
                kept.write_all(&piece)
                    .map_err(TransferError::TemporaryFile)?;
            }
            hasher.send(piece).await?;
        }
        drop(arriving);
        let streamed = hasher.finish().await?;
        compare(wanted.digest, streamed.zh())?;
        match (streamed, keep) {
            (Streamed::Refused { error, .. }, _) => Err(error.into()),
            (Streamed::Hashed(found), keep) => {
                self.keep(found.zh, keep);
                Ok(found)
            }
            (Streamed::NeedsFile { zh, .. }, Some(kept)) => {
                let file = kept.reopen().map_err(TransferError::TemporaryFile)?;
                let found = self.hash_file(file, wanted.package).await?;
                compare(Some(zh), found.zh)?;
                self.keep(zh, Some(kept));
                Ok(found)
            }
            (Streamed::NeedsFile { zh, reason, .. }, None) => {
                let wanted = Wanted {
                    digest: Some(zh),
                    ..wanted
                };
                self.hash_from_file(client, wanted, reason).await
            }
        }
    }

    /// Keeps a zip with the right digest, if there is one to be kept.
    pub(super) fn keep(&self, digest: Digest, incoming: Option<Incoming>) {
        if let (Some(mirror), Some(incoming)) = (&self.mirror, incoming) {
            mirror.keep(digest, incoming);
        }
    }

    /// The long way: the package in a temporary file that has no name, and so cannot be left behind.
    async fn hash_from_file(
        &self,
        client: &RegistryClient,
        wanted: Wanted<'_>,
        reason: NeedsFile,
    ) -> Result<PackageHashes, TransferError> {
        let package = wanted.package;
        tracing::info!(%package, %reason, "fetching again, into a temporary file");
        self.again.fetch_add(1, Ordering::Relaxed);
        let mut file = tempfile::tempfile().map_err(TransferError::TemporaryFile)?;
        let mut arriving = self.start(client, wanted).await?;
        while let Some(piece) = arriving.next().await? {
            file.write_all(&piece)
                .map_err(TransferError::TemporaryFile)?;
        }
        drop(arriving);
        let hashes = self.hash_file(file, package).await?;
        compare(wanted.digest, hashes.zh)?;
        Ok(hashes)
    }

    /// The hashes of a zip on disk.
    pub(super) async fn hash_file(
        &self,
        file: File,
        package: &PackageId,
    ) -> Result<PackageHashes, TransferError> {
        let (type_name, limits) = (package.provider.type_name.clone(), self.limits);
        let hashed = tokio::task::spawn_blocking(move || hash_archive(&file, &type_name, &limits));
        // A task that cannot be joined was cancelled with its runtime, or broke off.
        let hashed = hashed.await.unwrap_or(Err(PackageError::Interrupted));
        Ok(hashed?)
    }

    async fn start<'a>(
        &'a self,
        client: &RegistryClient,
        wanted: Wanted<'_>,
    ) -> Result<Arriving<'a>, RegistryError> {
        let download = client.download(wanted.url).await?;
        let id = TransferId(self.started.fetch_add(1, Ordering::Relaxed));
        let package = wanted.package;
        let label = format!(
            "{}/{} {} {}",
            package.provider.namespace,
            package.provider.type_name,
            package.version,
            package.platform
        );
        self.reporter.transfer_started(id, &label, download.size());
        Ok(Arriving {
            all: self,
            id,
            download,
        })
    }
}

fn compare(expected: Option<Digest>, found: Digest) -> Result<(), TransferError> {
    match expected {
        Some(expected) if expected != found => Err(TransferError::OtherDigest { found }),
        _ => Ok(()),
    }
}

/// A download, which the reporter sees for as long as this value lives.
struct Arriving<'a> {
    all: &'a Transfers,
    id: TransferId,
    download: Download,
}

impl Arriving<'_> {
    async fn next(&mut self) -> Result<Option<Bytes>, RegistryError> {
        let piece = self.download.chunk().await?;
        if let Some(piece) = &piece {
            let bytes = piece.len() as u64;
            self.all.bytes.fetch_add(bytes, Ordering::Relaxed);
            self.all.reporter.transfer_advanced(self.id, bytes);
        }
        Ok(piece)
    }
}

impl Drop for Arriving<'_> {
    fn drop(&mut self) {
        self.all.reporter.transfer_finished(self.id);
    }
}
