//! The log of a server: its requests, and how much of each response was sent.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::message::ReceivedRequest;
use crate::glob;

/// A request and its response.
#[derive(Debug)]
pub struct Hit {
    pub request: ReceivedRequest,
    status: AtomicU16,
    sent: AtomicU64,
}

impl Hit {
    /// Returns the status of the response, or 0 if no response was sent.
    pub fn status(&self) -> u16 {
        self.status.load(Ordering::SeqCst)
    }

    /// Returns the number of body bytes that were sent.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::SeqCst)
    }

    pub(crate) fn answered(&self, status: u16) {
        self.status.store(status, Ordering::SeqCst);
    }

    pub(crate) fn add_sent(&self, bytes: usize) {
        self.sent.fetch_add(bytes as u64, Ordering::SeqCst);
    }
}

/// All requests since the start or the last [`Log::clear`], in order of arrival.
#[derive(Debug, Default, Clone)]
pub struct Log(Arc<Mutex<Vec<Arc<Hit>>>>);

impl Log {
    pub(crate) fn record(&self, request: ReceivedRequest) -> Arc<Hit> {
        let hit = Arc::new(Hit {
            request,
            status: AtomicU16::new(0),
            sent: AtomicU64::new(0),
        });
        self.0.lock().expect("not poisoned").push(Arc::clone(&hit));
        hit
    }

    /// Returns all logged requests.
    pub fn hits(&self) -> Vec<Arc<Hit>> {
        self.0.lock().expect("not poisoned").clone()
    }

    pub fn clear(&self) {
        self.0.lock().expect("not poisoned").clear();
    }

    /// Returns the number of requests.
    pub fn total(&self) -> usize {
        self.hits().len()
    }

    /// Returns the number of requests with this method whose path matches `pattern`.
    pub fn count(&self, method: &str, pattern: &str) -> usize {
        let covers = |hit: &&Arc<Hit>| {
            hit.request.method == method && glob::matches(pattern, &hit.request.path)
        };
        self.hits().iter().filter(covers).count()
    }

    /// Returns the number of `GET` requests for each path that matches `pattern`.
    pub fn counts(&self, pattern: &str) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for hit in self.hits() {
            if hit.request.method == "GET" && glob::matches(pattern, &hit.request.path) {
                *counts.entry(hit.request.path.clone()).or_default() += 1;
            }
        }
        counts
    }

    /// Returns the total size of the response bodies sent for paths that match `pattern`, in bytes.
    pub fn bytes(&self, pattern: &str) -> u64 {
        let hits = self.hits();
        hits.iter()
            .filter(|hit| glob::matches(pattern, &hit.request.path))
            .map(|hit| hit.sent())
            .sum()
    }
}
