//! Where the engines differ in how they ask, and what the settings make of it.

use std::time::Duration;

use crate::provider::Engine;
use crate::registry::fetch::{ByteLimit, DocumentCall};
use crate::registry::http::Call;
use crate::registry::retry::RetryPolicy;
use crate::registry::settings::{DEFAULT_REQUEST_TIMEOUT, DEFAULT_RETRIES, RegistrySettings};

/// The limit of one request for Terraform's discovery document, whatever is configured.
const TERRAFORM_DISCOVERY_TIMEOUT: Duration = Duration::from_secs(5);

/// How many redirects of registry answers and other documents are followed.
const REDIRECTS: usize = 9;

/// The rules of one client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policies {
    pub(super) discovery: RetryPolicy,
    pub(super) discovery_timeout: Duration,
    pub(super) documents: RetryPolicy,
    pub(super) timeout: Duration,
    pub(super) redirects: usize,
    pub(super) packages: RetryPolicy,
    /// Whether packages are asked for with credentials from the netrc file.
    pub(super) netrc: bool,
}

impl Policies {
    pub(super) fn new(settings: &RegistrySettings) -> Self {
        let retries = settings.retries.unwrap_or(DEFAULT_RETRIES);
        let timeout = settings.request_timeout.unwrap_or(DEFAULT_REQUEST_TIMEOUT);
        let documents = RetryPolicy::standard(retries);
        let is_terraform = settings.engine == Engine::Terraform;
        Self {
            discovery: if is_terraform {
                RetryPolicy::discovery()
            } else {
                documents
            },
            discovery_timeout: if is_terraform {
                TERRAFORM_DISCOVERY_TIMEOUT
            } else {
                timeout
            },
            documents,
            timeout,
            redirects: REDIRECTS,
            packages: RetryPolicy::standard(settings.download_retries.unwrap_or(DEFAULT_RETRIES)),
            netrc: is_terraform,
        }
    }

    pub(super) fn document(&self, call: Call, limit: ByteLimit) -> DocumentCall {
        DocumentCall {
            call,
            policy: self.documents,
            timeout: self.timeout,
            limit,
        }
    }
}
