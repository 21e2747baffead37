//! Package downloads: bodies of any size, returned in chunks as they arrive.
//!
//! A download has no overall time limit. It fails if no data arrives for a while or if data arrives too slowly. If a body ends
//! early, the download resumes where it stopped: with a `Range` request if the server supports it, or else by requesting the whole
//! body again and skipping the bytes that have already arrived. The caller verifies the checksum of the package, which also proves
//! that all parts come from the same file.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use reqwest::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_RANGE, ETAG, HeaderMap, HeaderValue, IF_RANGE,
    LAST_MODIFIED, RANGE,
};
use reqwest::{Response, StatusCode};

use crate::registry::error::Result;
use crate::registry::gzip::ContentDecoder;
use crate::registry::http_clients::ContentKind;
use crate::registry::http_validator::HttpValidator;
use crate::registry::request::{MAX_PACKAGE, Request};
use crate::registry::request_error::RequestFault;
use crate::registry::transport::{RequestAttempts, Transport, body_fault, is_page, status_fault};

/// The minimum average rate, in bytes per second. At this rate, a package of 100 MB would take more than a day.
const MIN_RATE: u64 = 1024;

/// After this many bytes without a failure, all retries are available again.
const PROGRESS: u64 = 1024 * 1024;

pub struct Download {
    transport: Arc<Transport>,
    attempts: RequestAttempts,
    response: Option<Response>,
    /// The file as described by the first response. `None` if the server responded that it has not changed.
    server_copy: Option<ServerCopy>,
    /// The validator from the first response. `None` once the download has been resumed.
    validator: Option<HttpValidator>,
    decoder: ContentDecoder,
    /// The number of bytes that have arrived, before decoding.
    received: u64,
    /// The number of bytes still to be skipped because they arrived earlier.
    skip: u64,
    /// The value of `received` at the last failure.
    received_at_failure: u64,
    rate: TransferRate,
}

/// Identifies the file on the server.
#[derive(Clone, Debug, PartialEq)]
struct ServerCopy {
    strong_validator: Option<HeaderValue>,
    /// The length of the body before decoding.
    length: Option<u64>,
}

impl Download {
    /// Sends the request. Returns once a response begins: either the file, or a status saying that it has not changed.
    pub(super) async fn start(transport: Arc<Transport>, request: Request) -> Result<Self> {
        let mut download = Self {
            attempts: RequestAttempts::new(Arc::clone(&transport), request),
            rate: TransferRate::new(transport.settings.stall_timeout),
            transport,
            response: None,
            server_copy: None,
            validator: None,
            decoder: ContentDecoder::Identity,
            received: 0,
            skip: 0,
            received_at_failure: 0,
        };
        download.connect().await?;
        // Retries need the body, so they must not ask whether the file has changed.
        download.attempts.request.known_copy = None;
        Ok(download)
    }

    /// Whether the server responded that the file has not changed. In that case, there is no body.
    pub const fn is_unchanged(&self) -> bool {
        self.server_copy.is_none()
    }

    /// Returns a validator with which a later request can check whether the file has changed. `None` once the download has been
    /// resumed, because its parts may come from different versions of the file.
    pub fn validator(&self) -> Option<&HttpValidator> {
        self.validator.as_ref()
    }

    /// Returns the size of the package in bytes. `None` if the server does not send the size or compresses the body.
    pub fn size(&self) -> Option<u64> {
        let length = self.server_copy.as_ref()?.length;
        length.filter(|_| matches!(self.decoder, ContentDecoder::Identity))
    }

    /// Returns the next chunk, or `None` at the end of the package.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>> {
        loop {
            match self.read().await {
                Ok(Some(piece)) => {
                    let decoded = self.decode(piece);
                    let decoded = decoded.map_err(|fault| self.attempts.error(fault))?;
                    if !decoded.is_empty() {
                        return Ok(Some(decoded));
                    }
                }
                Ok(None) => {
                    let finished = self.decoder.finish();
                    finished.map_err(|fault| self.attempts.error(fault))?;
                    return Ok(None);
                }
                Err(fault) => {
                    self.response = None;
                    self.validator = None;
                    if self.received - self.received_at_failure >= PROGRESS {
                        self.attempts.reset();
                    }
                    self.received_at_failure = self.received;
                    self.attempts.wait_to_retry(fault).await?;
                    self.connect().await?;
                }
            }
        }
    }

    /// Returns the next chunk before decoding.
    async fn read(&mut self) -> Result<Option<Bytes>, RequestFault> {
        let Some(response) = &mut self.response else {
            return Ok(None);
        };
        let stall = self.transport.settings.stall_timeout;
        let started = Instant::now();
        let chunk = tokio::time::timeout(stall, response.chunk()).await;
        let chunk = chunk
            .map_err(|_elapsed| RequestFault::Stalled(stall))?
            .map_err(|error| body_fault(error, self.received))?;
        let bytes = chunk.as_ref().map_or(0, Bytes::len);
        self.rate.check(started.elapsed(), bytes)?;
        Ok(chunk)
    }

    /// Skips the bytes that arrived earlier and decodes the rest.
    fn decode(&mut self, mut piece: Bytes) -> Result<Bytes, RequestFault> {
        let known = usize::try_from(self.skip)
            .unwrap_or(usize::MAX)
            .min(piece.len());
        self.skip -= known as u64;
        let new = piece.split_off(known);
        self.received += new.len() as u64;
        MAX_PACKAGE.check(self.received)?;
        self.decoder.decode(new)
    }

    /// Sends the request, and repeats it until a response is usable or no retry is left.
    async fn connect(&mut self) -> Result<()> {
        loop {
            self.attempts.check_host()?;
            match self.attempt().await {
                Ok(response) => {
                    self.attempts.note_response();
                    self.response = Some(response);
                    return Ok(());
                }
                Err(fault) => self.attempts.wait_to_retry(fault).await?,
            }
        }
    }

    async fn attempt(&mut self) -> Result<Response, RequestFault> {
        let headers = self.headers();
        let response = self.attempts.send(ContentKind::Package, &headers).await?;
        match response.status() {
            StatusCode::OK => self.begin(&response)?,
            StatusCode::PARTIAL_CONTENT if self.received > 0 => self.resume(&response)?,
            StatusCode::RANGE_NOT_SATISFIABLE if self.received > 0 => {
                return Err(self.not_resumed("the file on the server is shorter now"));
            }
            StatusCode::NOT_MODIFIED if self.is_about_known_copy(&response) => {}
            status => return Err(status_fault(status, is_page(response.headers()))),
        }
        Ok(response)
    }

    /// Returns headers that request the bytes uncompressed, and only those that have not yet arrived.
    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if self.received > 0 {
            if let Ok(range) = HeaderValue::from_str(&format!("bytes={}-", self.received)) {
                headers.insert(RANGE, range);
            }
            let server_copy = self.server_copy.as_ref();
            if let Some(validator) = server_copy.and_then(|copy| copy.strong_validator.clone()) {
                headers.insert(IF_RANGE, validator);
            }
        }
        headers
    }

    /// Whether the known copy came from the address that responded. Otherwise, the request contained no validator, and status 304
    /// is an error.
    fn is_about_known_copy(&self, response: &Response) -> bool {
        let known = self.attempts.request.known_copy.as_ref();
        known.is_some_and(|validator| validator.is_for(response.url()))
    }

    /// Prepares for a body that starts at the beginning of the file. Fails if bytes of a different file have already arrived.
    fn begin(&mut self, response: &Response) -> Result<(), RequestFault> {
        let headers = response.headers();
        let found = ServerCopy {
            strong_validator: strong_validator(headers),
            length: response.content_length(),
        };
        MAX_PACKAGE.check(found.length.unwrap_or(0))?;
        let decoder = ContentDecoder::for_encoding(headers.get(CONTENT_ENCODING));
        match &self.server_copy {
            Some(known) if self.received > 0 => {
                if *known != found || decoder.is_gzip() != self.decoder.is_gzip() {
                    return Err(self.not_resumed("the file on the server has changed"));
                }
                self.skip = self.received;
            }
            _ => {
                self.server_copy = Some(found);
                self.validator = HttpValidator::of_response(response.url(), headers);
                self.decoder = decoder;
            }
        }
        Ok(())
    }

    /// Prepares for a response that continues the body.
    fn resume(&mut self, response: &Response) -> Result<(), RequestFault> {
        let range = response.headers().get(CONTENT_RANGE);
        let range = range.and_then(|value| content_range(value.to_str().ok()?));
        let Some((start, total)) = range else {
            return Err(self.not_resumed(
                "the server sent a byte range without a valid `Content-Range` header",
            ));
        };
        let length = self.server_copy.as_ref().and_then(|copy| copy.length);
        if start != self.received {
            return Err(
                self.not_resumed("the server sent a different byte range from the one requested")
            );
        }
        if length.is_some() && total.is_some() && length != total {
            return Err(self.not_resumed("the length of the file on the server has changed"));
        }
        self.skip = 0;
        Ok(())
    }

    const fn not_resumed(&self, reason: &'static str) -> RequestFault {
        RequestFault::NotResumed {
            received: self.received,
            reason,
        }
    }
}

/// Returns a validator that identifies exactly the same bytes: a strong entity tag, or else the last-modified date.
fn strong_validator(headers: &HeaderMap) -> Option<HeaderValue> {
    let tag = headers.get(ETAG);
    let tag = tag.filter(|tag| !tag.as_bytes().starts_with(b"W/"));
    tag.or_else(|| headers.get(LAST_MODIFIED)).cloned()
}

/// Parses the start and, if known, the total length from a header such as `bytes 100-199/200`.
fn content_range(value: &str) -> Option<(u64, Option<u64>)> {
    let (range, total) = value.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (start, _) = range.split_once('-')?;
    Some((start.trim().parse().ok()?, total.trim().parse().ok()))
}

/// Measures the rate at which data arrives. Only the time spent waiting for the server counts, not the caller's own work.
#[derive(Debug)]
struct TransferRate {
    window: Duration,
    waited: Duration,
    bytes: u64,
}

impl TransferRate {
    /// Uses a window of twice the stall timeout, so that a server that sends nothing is reported as stalled rather than slow.
    const fn new(stall_timeout: Duration) -> Self {
        Self {
            window: stall_timeout.saturating_mul(2),
            waited: Duration::ZERO,
            bytes: 0,
        }
    }

    fn check(&mut self, waited: Duration, bytes: usize) -> Result<(), RequestFault> {
        self.waited += waited;
        self.bytes += bytes as u64;
        if self.waited < self.window {
            return Ok(());
        }
        let least = MIN_RATE.saturating_mul(self.window.as_secs().max(1));
        if self.bytes < least {
            return Err(RequestFault::TooSlow {
                bytes: least,
                within: self.window,
            });
        }
        self.waited = Duration::ZERO;
        self.bytes = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        for (value, expected) in [
            ("bytes 100-199/200", Some((100, Some(200)))),
            ("bytes 100-199/*", Some((100, None))),
            ("bytes */200", None),
            ("items 1-2/3", None),
            ("", None),
        ] {
            assert_eq!(content_range(value), expected, "{value}");
        }
    }

    #[test]
    fn only_strong_validators_are_used_to_resume() {
        for (headers, expected) in [
            (&[(ETAG, "\"a\""), (LAST_MODIFIED, "d")][..], Some("\"a\"")),
            (&[(ETAG, "W/\"a\""), (LAST_MODIFIED, "d")], Some("d")),
            (&[(ETAG, "W/\"a\"")], None),
        ] {
            let headers = headers.iter().cloned();
            let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
            let expected = expected.map(HeaderValue::from_static);
            assert_eq!(strong_validator(&headers.collect()), expected);
        }
    }

    #[test]
    fn a_slow_server_fails_and_a_slow_caller_does_not() {
        let mut rate = TransferRate::new(Duration::from_secs(30));
        assert!((0..1000).all(|_| rate.check(Duration::ZERO, 1).is_ok()));
        assert!(rate.check(Duration::from_secs(59), 60 * 1024).is_ok());
        assert!(rate.check(Duration::from_secs(1), 0).is_ok());
        let slow = [(); 6].map(|()| rate.check(Duration::from_secs(10), 100).is_ok());
        assert_eq!(slow, [true, true, true, true, true, false]);
    }
}
