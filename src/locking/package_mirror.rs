//! The mirror that a run fills while it hashes packages. Each zip is stored while it is hashed, and packages that are already in the
//! mirror are not downloaded.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::mirror::{Incoming, Mirror, StoredPackage};
use crate::package::PackageHashes;
use crate::provider::{Digest, PackageId};

/// The mirror to fill, if there is one (`tflock mirror`).
#[derive(Clone, Default)]
pub(super) struct PackageMirror(pub(super) Option<Arc<Mirror>>);

impl PackageMirror {
    /// Creates a file for a zip that is about to be downloaded. Returns `None` if there is no mirror to fill.
    pub(super) fn stage(&self) -> io::Result<Option<Incoming>> {
        self.0.as_ref().map(|mirror| mirror.incoming()).transpose()
    }

    /// Stores a zip whose digest has been checked.
    pub(super) fn keep(&self, digest: Digest, staged: Option<Incoming>) {
        if let (Some(mirror), Some(staged)) = (&self.0, staged) {
            mirror.keep(digest, staged);
        }
    }

    /// Opens a zip on disk. If there is a mirror to fill, the returned file is a private copy, so that no other process can
    /// change what was hashed.
    pub(super) fn open_copy(&self, path: &Path) -> io::Result<(File, Option<Incoming>)> {
        let mut file = File::open(path)?;
        let Some(mut copy) = self.stage()? else {
            return Ok((file, None));
        };
        io::copy(&mut file, &mut copy)?;
        Ok((copy.reopen()?, Some(copy)))
    }

    /// Returns the hashes of the zip with digest `zh` if no download is required. `known` contains its hashes from the disk
    /// cache. If there is a mirror to fill, the package must also be in the mirror and intact.
    pub(super) async fn hashes(
        &self,
        id: &PackageId,
        zh: Digest,
        known: Option<PackageHashes>,
    ) -> Option<PackageHashes> {
        let Some(mirror) = &self.0 else {
            return known;
        };
        let (mirror, id) = (Arc::clone(mirror), id.clone());
        let look = move || hashes_of_stored(&mirror, &id, zh, known);
        // Joining fails only if the runtime shuts down or the task panicked.
        tokio::task::spawn_blocking(look).await.ok().flatten()
    }
}

/// Returns the hashes of a package in the mirror. `None` if the package is missing, damaged or different, and therefore must be
/// downloaded.
fn hashes_of_stored(
    mirror: &Mirror,
    id: &PackageId,
    zh: Digest,
    known: Option<PackageHashes>,
) -> Option<PackageHashes> {
    let hashes = match mirror.directory().inspect(id).ok()? {
        StoredPackage::Zip(digest) if digest == zh => match known {
            Some(known) => known,
            None => mirror.directory().hash_zip(id).ok()?,
        },
        StoredPackage::Files(h1) => known.filter(|known| known.h1 == h1)?,
        _ => return None,
    };
    mirror.register(id, zh);
    Some(hashes)
}
