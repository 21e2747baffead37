//! Progress events of a run.
//!
//! The core never prints. It calls the methods of [`Reporter`], which do nothing by default; the progress bars implement them.
//! Several threads may call these methods at the same time, and the methods must not block.

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
    /// Receives the number of distinct packages needed so far, which grows while tflock selects versions.
    fn packages_planned(&self, packages: u64) {
        let _ = packages;
    }

    /// Called when a download starts. `label` is the display name of the package, `size` its size in bytes, if known.
    fn transfer_started(&self, id: TransferId, label: &str, size: Option<u64>) {
        let _ = (id, label, size);
    }

    /// Called when `bytes` more bytes of the package have arrived.
    fn transfer_advanced(&self, id: TransferId, bytes: u64) {
        let _ = (id, bytes);
    }

    /// Called when the transfer is complete or has failed.
    fn transfer_finished(&self, id: TransferId) {
        let _ = id;
    }

    /// Called when one of the planned packages is done: downloaded, found without a download, or failed.
    fn package_finished(&self) {}

    /// Called when a request failed and will be sent again after `wait`. `what` describes the request without secrets.
    fn retrying(&self, what: &str, why: &str, wait: Duration) {
        let _ = (what, why, wait);
    }

    /// Called instead of [`retrying`](Self::retrying) when a server asks for a long wait. `message` is one line without the final newline.
    fn waiting(&self, message: &str) {
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

/// Returns whether the current task runs inside [`unlogged`], in which case its requests must not be reported.
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
