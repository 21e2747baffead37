//! One package from its server into its hashes.

use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Semaphore;

use crate::package::{
    AuthenticityError, ContentHashes, Limits, PackageError, PackageHashes, digest_of_file,
    hash_contents,
};
use crate::provider::Digest;
use crate::registry::{PackageMeta, RegistryClient};
use crate::reporter::{Reporter, TransferId};

use super::packages::PackageFailure;

/// The packages in flight, and how many there have been.
pub(super) struct Transfers {
    reporter: Arc<dyn Reporter>,
    /// `--jobs`.
    in_flight: Semaphore,
    started: AtomicU64,
    bytes: AtomicU64,
}

impl Transfers {
    /// Up to `jobs` packages at the same time.
    pub(super) fn new(reporter: Arc<dyn Reporter>, jobs: usize) -> Self {
        Self {
            reporter,
            in_flight: Semaphore::new(jobs),
            started: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    /// Who is told about progress.
    pub(super) fn reporter(&self) -> &dyn Reporter {
        &*self.reporter
    }

    /// How many packages were downloaded so far, and their bytes.
    pub(super) fn total(&self) -> (u64, u64) {
        (
            self.started.load(Ordering::Relaxed),
            self.bytes.load(Ordering::Relaxed),
        )
    }

    /// Downloads a package and hashes it. Its content counts only if its digest is `zh`.
    pub(super) async fn hash(
        &self,
        client: &RegistryClient,
        meta: &PackageMeta,
        type_name: &str,
        zh: Digest,
        limits: &Limits,
    ) -> Result<PackageHashes, PackageFailure> {
        let _permit = self.in_flight.acquire().await;
        let file = self.to_file(client, meta).await?;
        let (type_name, limits) = (type_name.to_owned(), *limits);
        let filename = meta.filename.clone();
        let hashed = tokio::task::spawn_blocking(move || {
            hash_file(&file, &type_name, filename, zh, &limits)
        });
        // A task that cannot be joined was cancelled with its runtime, or broke off.
        hashed
            .await
            .unwrap_or(Err(PackageFailure::Package(PackageError::Interrupted)))
    }

    /// The package in a temporary file that has no name, and so cannot be left behind.
    async fn to_file(
        &self,
        client: &RegistryClient,
        meta: &PackageMeta,
    ) -> Result<File, PackageFailure> {
        let mut file = tempfile::tempfile().map_err(PackageFailure::TemporaryFile)?;
        let mut download = client.download(&meta.download_url).await?;
        let transfer = Transfer::begin(self, meta, download.size());
        while let Some(piece) = download.chunk().await? {
            transfer.advance(piece.len() as u64);
            file.write_all(&piece)
                .map_err(PackageFailure::TemporaryFile)?;
        }
        Ok(file)
    }
}

fn hash_file(
    file: &File,
    type_name: &str,
    filename: String,
    zh: Digest,
    limits: &Limits,
) -> Result<PackageHashes, PackageFailure> {
    let (found, size) = digest_of_file(file)?;
    if found != zh {
        let expected = zh;
        let other = AuthenticityError::OtherPackage {
            filename,
            expected,
            found,
        };
        return Err(other.into());
    }
    let ContentHashes { h1, zip_h1 } = hash_contents(file, type_name, limits)?;
    Ok(PackageHashes {
        zh,
        h1,
        zip_h1,
        size,
    })
}

/// One download, as the reporter sees it, for as long as this value lives.
struct Transfer<'a> {
    all: &'a Transfers,
    id: TransferId,
}

impl<'a> Transfer<'a> {
    fn begin(all: &'a Transfers, meta: &PackageMeta, size: Option<u64>) -> Self {
        let id = TransferId(all.started.fetch_add(1, Ordering::Relaxed));
        let package = &meta.package;
        let label = format!(
            "{}/{} {} {}",
            package.provider.namespace,
            package.provider.type_name,
            package.version,
            package.platform
        );
        all.reporter.transfer_started(id, &label, size);
        Self { all, id }
    }

    fn advance(&self, bytes: u64) {
        self.all.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.all.reporter.transfer_advanced(self.id, bytes);
    }
}

impl Drop for Transfer<'_> {
    fn drop(&mut self) {
        self.all.reporter.transfer_finished(self.id);
    }
}
