//! Sends requests with retries, and reads documents: small bodies that are read completely, up to a limit.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use bytes::{Bytes, BytesMut};
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Response, StatusCode, Url};
use serde::Deserialize;

use crate::redacted_url::RedactedUrl;
use crate::registry::error::{RegistryError, Result};
use crate::registry::http_clients::{ContentKind, HttpClients};
use crate::registry::request::{self, ByteLimit, Request, RequestCourse};
use crate::registry::request_error::{CauseText, RequestFault};
use crate::registry::retry::{self, HostBudgets, HostSlots, LONG_WAIT};
use crate::registry::settings::HttpSettings;
use crate::registry::wire;
use crate::reporter::{Reporter, is_unlogged, silent};

/// The maximum number of bytes to read from an error page, which is enough to recognize a web page.
const MAX_ERROR_PAGE: ByteLimit = ByteLimit {
    name: "limit for error pages",
    bytes: 64 * 1024,
};

/// The response to a request for a document.
#[derive(Clone, Debug)]
pub(super) struct DocumentResponse {
    pub(super) request: Request,
    /// The address that responded, after redirects. Relative references in the body are resolved against it.
    pub(super) url: Url,
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    course: RequestCourse,
}

impl DocumentResponse {
    pub(super) fn error(&self, fault: RequestFault) -> RegistryError {
        self.request.error(fault, self.course.clone())
    }

    /// Whether the response comes from the server to which the request was sent, not from one to which that server redirects.
    pub(super) fn is_from_origin(&self) -> bool {
        self.url.origin() == self.request.url.origin()
    }

    pub(super) fn status_error(&self) -> RegistryError {
        self.error(self.status_fault())
    }

    pub(super) fn status_fault(&self) -> RequestFault {
        status_fault(self.status, self.is_page())
    }

    pub(super) fn json_error(&self, error: &serde_json::Error) -> RegistryError {
        self.error(RequestFault::Json {
            cause: CauseText::text(&error.to_string()),
            is_page: self.is_page(),
        })
    }

    /// Returns the body. Fails if the response has status 204, which means that there is no body.
    pub(super) fn body(&self) -> Result<&[u8]> {
        match self.status {
            StatusCode::NO_CONTENT => Err(self.status_error()),
            _ => Ok(&self.body),
        }
    }

    /// Parses the body as JSON by the rules for registries; see [`wire`].
    pub(super) fn json<'a, T: Deserialize<'a>>(&'a self) -> Result<T> {
        wire::read(self.body()?).map_err(|error| self.json_error(&error))
    }

    /// Checks that the content type is `application/json`, ignoring case and parameters.
    pub(super) fn check_json_type(&self) -> Result<()> {
        let found = self.headers.get(CONTENT_TYPE);
        let found = found.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let media = found.as_deref().and_then(|value| value.split(';').next());
        if media.is_some_and(|media| media.trim().eq_ignore_ascii_case("application/json")) {
            return Ok(());
        }
        Err(self.error(RequestFault::ContentType { found }))
    }

    /// Whether the body is a web page rather than a registry document.
    fn is_page(&self) -> bool {
        is_page(&self.headers) || self.body.trim_ascii_start().starts_with(b"<")
    }
}

pub(super) fn is_page(headers: &HeaderMap) -> bool {
    let content_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    content_type.is_some_and(|value| value.to_ascii_lowercase().starts_with("text/html"))
}

pub(super) const fn status_fault(status: StatusCode, is_page: bool) -> RequestFault {
    RequestFault::Status {
        status: status.as_u16(),
        is_page,
    }
}

/// The HTTP clients, and the failure history of hosts in this run.
pub(super) struct Transport {
    pub(super) clients: Arc<HttpClients>,
    pub(super) settings: HttpSettings,
    budgets: HostBudgets,
    slots: HostSlots,
    reporter: Arc<dyn Reporter>,
}

impl Transport {
    pub(super) fn new(settings: HttpSettings, reporter: Arc<dyn Reporter>) -> Result<Self> {
        Ok(Self {
            clients: Arc::new(HttpClients::new(settings.clone())?),
            settings,
            budgets: HostBudgets::default(),
            slots: HostSlots::default(),
            reporter,
        })
    }

    /// Creates a transport with the same connections and certificates, but with its own failure history, and without progress
    /// reports.
    pub(super) fn separate(&self) -> Self {
        Self {
            clients: Arc::clone(&self.clients),
            settings: self.settings.clone(),
            budgets: HostBudgets::default(),
            slots: HostSlots::default(),
            reporter: silent(),
        }
    }

    /// Fetches a document. Returns a response with any status that a retry cannot change, such as 404. All other failures are
    /// errors once the retries are used up.
    pub(super) async fn document(self: &Arc<Self>, request: Request) -> Result<DocumentResponse> {
        let mut attempts = RequestAttempts::new(Arc::clone(self), request);
        loop {
            attempts.check_host()?;
            let slot = self.slots.acquire(&attempts.host).await;
            let limit = attempts.request.time_limit();
            let response = request::limited(limit, self.attempt(&mut attempts)).await;
            drop(slot);
            match response {
                Ok(response) => {
                    attempts.note_response();
                    return Ok(response);
                }
                Err(fault) => attempts.wait_to_retry(fault).await?,
            }
        }
    }

    async fn attempt(
        &self,
        attempts: &mut RequestAttempts,
    ) -> Result<DocumentResponse, RequestFault> {
        let kind = attempts.request.kind();
        let response = attempts.send(kind, &HeaderMap::new()).await?;
        let request = &attempts.request;
        let (url, status) = (response.url().clone(), response.status());
        let headers = response.headers().clone();
        let body = match status {
            StatusCode::OK => read_body(response, request.max_body).await?,
            // An error page that cannot be read must not hide the status.
            _ => read_body(response, MAX_ERROR_PAGE)
                .await
                .unwrap_or_default(),
        };
        let response = DocumentResponse {
            request: request.clone(),
            url,
            status,
            headers,
            body,
            course: attempts.course(),
        };
        let fault = status_fault(status, response.is_page());
        if request.retry.covers(&fault) {
            Err(fault)
        } else {
            Ok(response)
        }
    }
}

pub(super) async fn read_body(
    mut response: Response,
    limit: ByteLimit,
) -> Result<Bytes, RequestFault> {
    limit.check(response.content_length().unwrap_or(0))?;
    let mut body = BytesMut::new();
    loop {
        let received = body.len() as u64;
        let chunk = response.chunk().await;
        let Some(chunk) = chunk.map_err(|error| body_fault(error, received))? else {
            return Ok(body.freeze());
        };
        limit.check(received + chunk.len() as u64)?;
        body.extend_from_slice(&chunk);
    }
}

/// Returns the fault for a body that ended early, after `received` bytes.
pub(super) fn body_fault(error: reqwest::Error, received: u64) -> RequestFault {
    RequestFault::Body {
        received,
        cause: CauseText::innermost(&error.without_url()),
    }
}

pub(super) struct RequestAttempts {
    transport: Arc<Transport>,
    pub(super) request: Request,
    /// The scheme, host and port.
    host: String,
    /// The last address to which the request was sent.
    url: Url,
    /// The wait that the last response requested.
    retry_after: Option<Duration>,
    count: u32,
    /// The number of retries since data last arrived.
    retries: u32,
    started: Instant,
}

impl RequestAttempts {
    pub(super) fn new(transport: Arc<Transport>, request: Request) -> Self {
        Self {
            transport,
            host: request.url.origin().ascii_serialization(),
            url: request.url.clone(),
            retry_after: None,
            request,
            count: 1,
            retries: 0,
            started: Instant::now(),
        }
    }

    /// Sends the request once. `headers` are added to those of the request.
    pub(super) async fn send(
        &mut self,
        kind: ContentKind,
        headers: &HeaderMap,
    ) -> Result<Response, RequestFault> {
        self.retry_after = None;
        let clients = &self.transport.clients;
        let response = request::send(clients, kind, &self.request, headers, &mut self.url).await?;
        let requested = response.headers().get(RETRY_AFTER);
        let requested = requested.and_then(|value| value.to_str().ok());
        self.retry_after = retry::retry_after(response.status(), requested, SystemTime::now());
        Ok(response)
    }

    /// Fails if the run is offline, or if the host did not respond to earlier requests.
    pub(super) fn check_host(&self) -> Result<()> {
        let fault = if self.transport.settings.offline {
            Some(RequestFault::Offline)
        } else {
            self.transport.budgets.unresponsive(&self.host)
        };
        fault.map_or(Ok(()), |fault| Err(self.error(fault)))
    }

    pub(super) fn note_response(&self) {
        self.transport.budgets.note_response(&self.host);
    }

    /// Makes all retries available again, because data has arrived.
    pub(super) const fn reset(&mut self) {
        self.retries = 0;
    }

    /// Waits before the next attempt. Fails if the request must not be retried.
    pub(super) async fn wait_to_retry(&mut self, fault: RequestFault) -> Result<()> {
        let Transport {
            budgets, settings, ..
        } = &*self.transport;
        if matches!(fault, RequestFault::Status { .. }) {
            budgets.note_response(&self.host);
        }
        let policy = self.request.retry;
        if self.retries >= policy.retries
            || !policy.covers(&fault)
            || !budgets.take_retry(&self.host)
        {
            budgets.note_failure(&self.host, &fault);
            return Err(self.error(fault));
        }
        let wait = policy.wait(self.retries, self.retry_after, retry::jitter());
        self.report_wait(&fault, wait);
        settings.pause.pause(wait).await;
        self.count += 1;
        self.retries += 1;
        Ok(())
    }

    fn report_wait(&self, fault: &RequestFault, wait: Duration) {
        let Transport {
            budgets, reporter, ..
        } = &*self.transport;
        if is_unlogged() {
            return;
        }
        let Some(requested) = self.retry_after.filter(|wait| *wait >= LONG_WAIT) else {
            let url = RedactedUrl::from(&self.request.url).to_string();
            reporter.retrying(&url, &fault.to_string(), wait);
            return;
        };
        if !budgets.take_report(&self.host, Instant::now() + wait) {
            return;
        }
        let (host, requested, wait) = (&self.host, requested.as_secs(), wait.as_secs());
        let plan = if requested > wait {
            format!("tflock waits {wait} s, its limit, and tries again")
        } else {
            "tflock waits and tries again".to_owned()
        };
        reporter.waiting(&format!(
            "waiting: `{host}` asks for a wait of {requested} s, because {fault}; {plan}"
        ));
    }

    pub(super) fn error(&self, fault: RequestFault) -> RegistryError {
        self.request.error(fault, self.course())
    }

    fn course(&self) -> RequestCourse {
        RequestCourse {
            attempts: self.count,
            elapsed: self.started.elapsed(),
            url: self.url.clone(),
            proxy: self.transport.clients.proxy(&self.url),
            retry_after: self.retry_after,
        }
    }
}
