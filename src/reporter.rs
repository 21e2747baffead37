//! What a run tells while it is under way.
//!
//! The core never prints: it calls these methods, each of which does nothing unless the program that shows progress
//! implements it. They may be called from several threads at once and must not block.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tracing::instrument::WithSubscriber as _;
use tracing::subscriber::NoSubscriber;

/// Names one package transfer for as long as it lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransferId(pub u64);

/// The listener of a run. Every method does nothing by default.
pub trait Reporter: Send + Sync {
    /// `packages` distinct packages are wanted so far; the number grows while directories are being selected for.
    fn packages_planned(&self, packages: u64) {
        let _ = packages;
    }

    /// A package starts to arrive; `label` is for people, `size` is in bytes if the server said it.
    fn transfer_started(&self, id: TransferId, label: &str, size: Option<u64>) {
        let _ = (id, label, size);
    }

    /// `bytes` more of the package have arrived.
    fn transfer_advanced(&self, id: TransferId, bytes: u64) {
        let _ = (id, bytes);
    }

    /// The package is complete, or it failed.
    fn transfer_finished(&self, id: TransferId) {
        let _ = id;
    }

    /// One of the planned packages is settled, by a transfer, without one, or by a failure.
    fn package_settled(&self) {}

    /// A request failed and will be tried again after `wait`. `what` names the request without secrets.
    fn retrying(&self, what: &str, why: &str, wait: Duration) {
        let _ = (what, why, wait);
    }

    /// Something the user should know, which stops nothing. One line, no final newline.
    fn warning(&self, message: &str) {
        let _ = message;
    }
}

tokio::task_local! {
    /// Set while nothing may be told of the work under way.
    static HUSHED: ();
}

/// Does work that is told of nowhere: its addresses hold what is never shown.
pub async fn hushed<F: Future>(work: F) -> F::Output {
    HUSHED
        .scope((), work.with_subscriber(NoSubscriber::default()))
        .await
}

/// Whether nothing may be told of the work under way.
pub fn is_hushed() -> bool {
    HUSHED.try_with(|()| ()).is_ok()
}

/// Shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Reporter for Silent {}

/// A reporter that shows nothing, ready to be shared.
pub fn silent() -> Arc<dyn Reporter> {
    Arc::new(Silent)
}
