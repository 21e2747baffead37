//! Packages that are kept on disk beside being hashed: in one pass over their bytes, and without a download where the mirror
//! has them already.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::mirror::{Incoming, Mirror, StoredPackage};
use crate::package::PackageHashes;
use crate::provider::{Digest, PackageId};

use super::packages::Packages;

impl Packages {
    /// The same, but the zip of each package that a source is asked for is kept for `mirror`. It is put in its place by
    /// whoever knows that a lock file wants it.
    #[must_use]
    pub fn with_mirror(mut self, mirror: Arc<Mirror>) -> Self {
        self.transfers = self.transfers.with_mirror(mirror);
        self
    }

    /// The hashes of the zip with this digest, if nothing has to be downloaded: an earlier run has hashed it, and where zips
    /// are kept, the mirror has the package already.
    pub(super) async fn in_hand(&self, package: &PackageId, zh: Digest) -> Option<PackageHashes> {
        let known = self.known_hashes(zh, &package.provider.type_name).await;
        let Some(mirror) = self.transfers.mirror() else {
            return known;
        };
        let (mirror, id) = (Arc::clone(mirror), package.clone());
        let look = move || look(&mirror, &id, zh, known);
        // A task that cannot be joined was cancelled with its runtime, or broke off.
        tokio::task::spawn_blocking(look).await.ok().flatten()
    }

    /// A zip of a mirror on disk; if it is to be kept, a copy of it, so that nobody can change what was hashed.
    pub(super) fn open_local(&self, path: &Path) -> io::Result<(File, Option<Incoming>)> {
        let mut file = File::open(path)?;
        let Some(mirror) = self.transfers.mirror() else {
            return Ok((file, None));
        };
        let mut kept = mirror.incoming()?;
        io::copy(&mut file, &mut kept)?;
        Ok((kept.reopen()?, Some(kept)))
    }
}

/// The hashes of a package that lies where it belongs. What is wrong with it is of no interest: the right one is fetched.
fn look(
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
    mirror.found(id, zh);
    Some(hashes)
}
