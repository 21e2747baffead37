//! Documents: small bodies, read whole, with retries and limits.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use bytes::{Bytes, BytesMut};
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Response, StatusCode, Url};

use crate::redacted_url::RedactedUrl;
use crate::registry::budget::Budget;
use crate::registry::clients::Clients;
use crate::registry::error::RegistryError;
use crate::registry::fault::{Cause, Fault, RequestError};
use crate::registry::http::{self, Call};
use crate::registry::retry::{self, RetryPolicy};
use crate::registry::settings::HttpSettings;
use crate::registry::slots::Slots;
use crate::reporter::{Reporter, is_hushed};

/// A limit of bytes and its name for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteLimit {
    /// What is limited.
    pub name: &'static str,
    /// How much is allowed.
    pub bytes: u64,
}

/// As much of the body of a refusal is looked at.
const REFUSAL: ByteLimit = ByteLimit {
    name: "limit for error pages",
    bytes: 64 * 1024,
};

/// How a document is asked for.
#[derive(Clone, Debug)]
pub(super) struct DocumentCall {
    pub(super) call: Call,
    pub(super) policy: RetryPolicy,
    pub(super) timeout: Duration,
    pub(super) limit: ByteLimit,
}

/// An answer with a status that is no reason to try again.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    /// The address that answered, after redirects: relative references in the body start here.
    pub(super) url: Url,
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    effort: Effort,
}

/// What an answer or failure cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    pub(super) attempts: u32,
    pub(super) elapsed: Duration,
}

impl Answer {
    /// The error of having got this answer for `url`.
    pub(super) fn refused(&self, url: &Url, fault: Fault) -> RequestError {
        RequestError {
            url: RedactedUrl::from(url),
            attempts: self.effort.attempts,
            elapsed: self.effort.elapsed,
            fault,
            configured: None,
        }
    }

    /// The fault that its status is.
    pub(super) fn status_fault(&self) -> Fault {
        Fault::Status {
            status: self.status.as_u16(),
            is_page: self.is_page(),
        }
    }

    /// Whether the body is a web page and not a document of any protocol.
    pub(super) fn is_page(&self) -> bool {
        is_page(&self.headers) || self.body.trim_ascii_start().starts_with(b"<")
    }

    /// Checks the content type: JSON's, in any case and with any parameters.
    pub(super) fn check_json_type(&self) -> Result<(), Fault> {
        let found = self
            .headers
            .get(CONTENT_TYPE)
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let media = found
            .as_deref()
            .unwrap_or_default()
            .split(';')
            .next()
            .unwrap_or_default();
        if media.trim().eq_ignore_ascii_case("application/json") {
            return Ok(());
        }
        Err(Fault::ContentType { found })
    }

    /// The fault of a body that cannot be read.
    pub(super) fn json_fault(&self, error: &dyn std::fmt::Display) -> Fault {
        Fault::Json {
            cause: Cause::text(&error.to_string()),
            is_page: self.is_page(),
        }
    }
}

pub(super) fn is_page(headers: &HeaderMap) -> bool {
    let content_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    content_type.is_some_and(|value| value.to_ascii_lowercase().starts_with("text/html"))
}

/// The clients, and what they have learned about hosts during this run.
pub(super) struct Transport {
    pub(super) clients: Clients,
    pub(super) settings: HttpSettings,
    budget: Budget,
    slots: Slots,
    pub(super) reporter: Arc<dyn Reporter>,
}

impl Transport {
    pub(super) fn new(
        settings: HttpSettings,
        reporter: Arc<dyn Reporter>,
    ) -> Result<Self, RegistryError> {
        Ok(Self {
            clients: Clients::new(settings.clone())?,
            settings,
            budget: Budget::default(),
            slots: Slots::default(),
            reporter,
        })
    }

    /// Fetches a document. Statuses that are no reason to try again come back as answers; those that are, as errors when
    /// the tries are used up.
    pub(super) async fn document(
        self: &Arc<Self>,
        ask: &DocumentCall,
    ) -> Result<Answer, RequestError> {
        let mut patience = Patience::new(Arc::clone(self), &ask.call.url, ask.policy);
        loop {
            patience.check()?;
            let mut asked = None;
            let slot = self.slots.acquire(&patience.host).await;
            let answer = tokio::time::timeout(ask.timeout, self.attempt(ask, &mut asked)).await;
            drop(slot);
            match answer.unwrap_or(Err(Fault::Timeout(ask.timeout))) {
                Ok(answer) => {
                    patience.answered();
                    return Ok(Answer {
                        effort: patience.effort(),
                        ..answer
                    });
                }
                Err(fault) => patience.retry(fault, asked).await?,
            }
        }
    }

    async fn attempt(
        &self,
        ask: &DocumentCall,
        asked: &mut Option<Duration>,
    ) -> Result<Answer, Fault> {
        let response =
            http::send(|url| self.clients.documents(url), &ask.call, ask.timeout).await?;
        *asked = requested_wait(&response);
        let url = response.url().clone();
        let status = response.status();
        let headers = response.headers().clone();
        let body = match status {
            StatusCode::OK => read_body(response, ask.limit).await?,
            // What a refusal says in its body matters only as far as it shows who is talking.
            _ => read_body(response, REFUSAL).await.unwrap_or_default(),
        };
        let answer = Answer {
            url,
            status,
            headers,
            body,
            effort: Effort {
                attempts: 1,
                elapsed: Duration::ZERO,
            },
        };
        let fault = answer.status_fault();
        if ask.policy.covers(&fault) {
            Err(fault)
        } else {
            Ok(answer)
        }
    }
}

/// The wait that the server asks for.
pub(super) fn requested_wait(response: &Response) -> Option<Duration> {
    let value = response
        .headers()
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok());
    retry::retry_after(response.status(), value, SystemTime::now())
}

async fn read_body(mut response: Response, limit: ByteLimit) -> Result<Bytes, Fault> {
    let too_large = || Fault::TooLarge {
        name: limit.name,
        limit: limit.bytes,
    };
    if response
        .content_length()
        .is_some_and(|length| length > limit.bytes)
    {
        return Err(too_large());
    }
    let mut body = BytesMut::new();
    loop {
        let received = body.len() as u64;
        let chunk = response.chunk().await.map_err(|error| Fault::Body {
            received,
            cause: Cause::innermost(&error.without_url()),
        })?;
        let Some(chunk) = chunk else {
            return Ok(body.freeze());
        };
        if received + chunk.len() as u64 > limit.bytes {
            return Err(too_large());
        }
        body.extend_from_slice(&chunk);
    }
}

/// The tries of one request.
pub(super) struct Patience {
    transport: Arc<Transport>,
    url: RedactedUrl,
    host: String,
    policy: RetryPolicy,
    attempts: u32,
    /// Tries since the last progress.
    index: u32,
    started: Instant,
}

impl Patience {
    pub(super) fn new(transport: Arc<Transport>, url: &Url, policy: RetryPolicy) -> Self {
        Self {
            transport,
            url: RedactedUrl::from(url),
            host: url.origin().ascii_serialization(),
            policy,
            attempts: 1,
            index: 0,
            started: Instant::now(),
        }
    }

    /// Refuses to try at all when that is pointless.
    pub(super) fn check(&self) -> Result<(), RequestError> {
        if self.transport.settings.offline {
            return Err(self.error(Fault::Offline));
        }
        match self.transport.budget.verdict(&self.host) {
            Some(fault) => Err(self.error(fault)),
            None => Ok(()),
        }
    }

    pub(super) fn answered(&self) {
        self.transport.budget.answered(&self.host);
    }

    /// There was progress: the tries count anew.
    pub(super) const fn refresh(&mut self) {
        self.index = 0;
    }

    pub(super) fn effort(&self) -> Effort {
        Effort {
            attempts: self.attempts,
            elapsed: self.started.elapsed(),
        }
    }

    /// Waits for the next try, or says that there is none.
    pub(super) async fn retry(
        &mut self,
        fault: Fault,
        asked: Option<Duration>,
    ) -> Result<(), RequestError> {
        let budget = &self.transport.budget;
        if matches!(fault, Fault::Status { .. }) {
            budget.answered(&self.host);
        }
        if self.index >= self.policy.retries
            || !self.policy.covers(&fault)
            || !budget.take_retry(&self.host)
        {
            budget.failed(&self.host, &fault);
            return Err(self.error(fault));
        }
        let wait = self.policy.wait(self.index, asked, retry::jitter());
        if !is_hushed() {
            let url = self.url.to_string();
            let reporter = &self.transport.reporter;
            reporter.retrying(&url, &fault.to_string(), wait);
        }
        self.transport.settings.pause.pause(wait).await;
        self.attempts += 1;
        self.index += 1;
        Ok(())
    }

    pub(super) fn error(&self, fault: Fault) -> RequestError {
        RequestError {
            url: self.url.clone(),
            attempts: self.attempts,
            elapsed: self.started.elapsed(),
            fault,
            configured: None,
        }
    }
}
