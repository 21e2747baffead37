//! Progress events of a run.
//!
//! The core never prints. It calls the methods of [`Reporter`], which do nothing by default; the progress bars implement them.
//! Several threads may call them at the same time, and they must not block.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tracing::instrument::WithSubscriber as _;
use tracing::subscriber::NoSubscriber;

/// Identifies a package transfer while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransferId(pub u64);

/// Receives the events of a run. Every method does nothing by default.
pub trait Reporter: Send + Sync {
    /// `packages` is the number of distinct packages needed so far. It grows while tflock selects versions.
    fn packages_planned(&self, packages: u64) {
        let _ = packages;
    }

    /// The download of a package starts. `label` is its display name. `size` is in bytes; `None` if the server did not say it.
    fn transfer_started(&self, id: TransferId, label: &str, size: Option<u64>) {
        let _ = (id, label, size);
    }

    /// `bytes` more bytes of the package have arrived.
    fn transfer_advanced(&self, id: TransferId, bytes: u64) {
        let _ = (id, bytes);
    }

    /// The transfer is complete or has failed.
    fn transfer_finished(&self, id: TransferId) {
        let _ = id;
    }

    /// One of the planned packages is done: downloaded, found without a download, or failed.
    fn package_finished(&self) {}

    /// A request failed and will be sent again after `wait`. `what` describes the request without secrets.
    fn retrying(&self, what: &str, why: &str, wait: Duration) {
        let _ = (what, why, wait);
    }

    /// A warning that does not stop the run: one line without the final newline.
    fn warning(&self, message: &str) {
        let _ = message;
    }
}

tokio::task_local! {
    /// Set while a task runs inside [`unlogged`].
    static UNLOGGED: ();
}

/// Runs `work` without logging or reporting its requests, because their addresses may contain secrets.
pub async fn unlogged<F: Future>(work: F) -> F::Output {
    UNLOGGED
        .scope((), work.with_subscriber(NoSubscriber::default()))
        .await
}

/// Whether the current task runs inside [`unlogged`], so its requests must not be reported.
pub fn is_unlogged() -> bool {
    UNLOGGED.try_with(|()| ()).is_ok()
}

/// A reporter that ignores all events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Reporter for Silent {}

pub fn silent() -> Arc<dyn Reporter> {
    Arc::new(Silent)
}
