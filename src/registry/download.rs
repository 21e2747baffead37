//! Packages: bodies of any size, handed on piece by piece as they arrive.
//!
//! There is no limit for the whole, only for standing still. A body that breaks off is taken up where it ended: with a
//! Range request if the server can, else by asking for all of it again and skipping what is already there. That the pieces
//! fit together is not believed but proved, by the checksum of the whole, which is the caller's to check.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use reqwest::header::{
    CONTENT_ENCODING, CONTENT_RANGE, ETAG, HeaderMap, HeaderValue, LAST_MODIFIED,
};
use reqwest::{Response, StatusCode, Url};

use crate::registry::error::RegistryError;
use crate::registry::fault::{Cause, Fault, RequestError};
use crate::registry::fetch::{self, ByteLimit, Patience, Transport};
use crate::registry::gzip::Decoder;
use crate::registry::http::{self, Call};
use crate::registry::retry::RetryPolicy;
use crate::registry::stamp::Stamp;

/// The largest package. The largest real ones have 200 MB; a server that sends this much sends for ever.
pub(super) const MAX_PACKAGE: ByteLimit = ByteLimit {
    name: "limit for packages",
    bytes: 4 * 1024 * 1024 * 1024,
};

/// How many redirects of a package are followed.
const REDIRECTS: usize = 9;

/// Bytes per second that must arrive on average. A package of 100 MB would take a day at this rate: it is no transfer, it
/// is a connection kept open.
const MIN_RATE: u64 = 1024;

/// So much progress means that the connection works, and a new failure begins a new count of tries.
const PROGRESS: u64 = 1024 * 1024;

/// A package that arrives.
pub struct Download {
    transport: Arc<Transport>,
    call: Call,
    patience: Patience,
    response: Option<Response>,
    /// What is known about the zip on the server from its first answer.
    origin: Option<Origin>,
    /// The stamp of the first answer, as long as everything comes from it.
    stamp: Option<Stamp>,
    decoder: Decoder,
    /// Bytes that arrived, as sent.
    received: u64,
    /// Bytes of a repeated body that are there already.
    skip: u64,
    /// The value of `received` when the last failure happened.
    resumed_at: u64,
    pace: Pace,
}

/// What identifies the bytes on the server.
#[derive(Clone, Debug, PartialEq)]
struct Origin {
    /// A strong validator.
    validator: Option<HeaderValue>,
    /// The length of the body as sent.
    length: Option<u64>,
}

impl Download {
    /// Starts a download: when this returns, the server has said yes, or that it still has what the call knows.
    pub(super) async fn start(
        transport: Arc<Transport>,
        call: Call,
        policy: RetryPolicy,
    ) -> Result<Self, RegistryError> {
        let mut download = Self {
            patience: Patience::new(Arc::clone(&transport), &call.url, policy),
            pace: Pace::new(transport.settings.stall_timeout),
            transport,
            call,
            response: None,
            origin: None,
            stamp: None,
            decoder: Decoder::Identity,
            received: 0,
            skip: 0,
            resumed_at: 0,
        };
        download.connect().await.map_err(failed)?;
        // Whatever happens from here on, the body is needed.
        download.call.known = None;
        Ok(download)
    }

    /// Whether the server still has what the call knows. Then nothing arrives.
    pub const fn is_unchanged(&self) -> bool {
        self.origin.is_none()
    }

    /// By what the server can be asked later whether it has something else. None once the body had to be taken up again,
    /// since its parts may belong to different copies then.
    pub fn stamp(&self) -> Option<&Stamp> {
        self.stamp.as_ref()
    }

    /// The size of the package, if the server says it.
    pub fn size(&self) -> Option<u64> {
        let length = self.origin.as_ref()?.length;
        length.filter(|_| matches!(self.decoder, Decoder::Identity))
    }

    /// The next piece, or nothing when the package is complete.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, RegistryError> {
        self.next().await.map_err(failed)
    }

    async fn next(&mut self) -> Result<Option<Bytes>, RequestError> {
        loop {
            match self.read().await {
                Ok(Some(piece)) => {
                    let decoded = self
                        .accept(piece)
                        .map_err(|fault| self.patience.error(fault))?;
                    if !decoded.is_empty() {
                        return Ok(Some(decoded));
                    }
                }
                Ok(None) => {
                    self.decoder
                        .finish()
                        .map_err(|fault| self.patience.error(fault))?;
                    return Ok(None);
                }
                Err(fault) => {
                    self.response = None;
                    self.stamp = None;
                    if self.received - self.resumed_at >= PROGRESS {
                        self.patience.refresh();
                    }
                    self.resumed_at = self.received;
                    self.patience.retry(fault, None).await?;
                    self.connect().await?;
                }
            }
        }
    }

    /// The next piece as sent.
    async fn read(&mut self) -> Result<Option<Bytes>, Fault> {
        let Some(response) = &mut self.response else {
            return Ok(None);
        };
        let stall = self.transport.settings.stall_timeout;
        let started = Instant::now();
        let read = tokio::time::timeout(stall, response.chunk()).await;
        let chunk = read
            .map_err(|_elapsed| Fault::Stalled(stall))?
            .map_err(|error| Fault::Body {
                received: self.received,
                cause: Cause::innermost(&error.without_url()),
            })?;
        self.pace
            .check(started.elapsed(), chunk.as_ref().map_or(0, Bytes::len))?;
        Ok(chunk)
    }

    /// Skips what is there already and undoes the encoding of the rest.
    fn accept(&mut self, mut piece: Bytes) -> Result<Bytes, Fault> {
        let known = usize::try_from(self.skip)
            .unwrap_or(usize::MAX)
            .min(piece.len());
        self.skip -= known as u64;
        let new = piece.split_off(known);
        self.received += new.len() as u64;
        check_size(self.received)?;
        self.decoder.decode(new)
    }

    /// Sends the request until an answer is good, and sets up what follows.
    async fn connect(&mut self) -> Result<(), RequestError> {
        loop {
            self.patience.check()?;
            let mut asked = None;
            match self.open(&mut asked).await {
                Ok(response) => {
                    self.patience.answered();
                    self.response = Some(response);
                    return Ok(());
                }
                Err(fault) => self.patience.retry(fault, asked).await?,
            }
        }
    }

    async fn open(&mut self, asked: &mut Option<Duration>) -> Result<Response, Fault> {
        let validator = self
            .origin
            .as_ref()
            .and_then(|origin| origin.validator.clone());
        let call = match self.received {
            0 => self.call.clone().with_bytes(None),
            from => self.call.clone().with_bytes(Some((from, validator))),
        };
        let stall = self.transport.settings.stall_timeout;
        let response = http::send(|url| self.transport.clients.packages(url), &call, stall).await?;
        *asked = fetch::requested_wait(&response);
        match response.status() {
            StatusCode::OK => self.begin(&response)?,
            StatusCode::PARTIAL_CONTENT if self.received > 0 => self.resume(&response)?,
            StatusCode::RANGE_NOT_SATISFIABLE if self.received > 0 => {
                return Err(self.not_resumed("the server has less of it now"));
            }
            StatusCode::NOT_MODIFIED if self.is_known(&response) => {}
            status => {
                return Err(Fault::Status {
                    status: status.as_u16(),
                    is_page: fetch::is_page(response.headers()),
                });
            }
        }
        Ok(response)
    }

    /// Whether the answer is about what the call knows. Nobody else was asked that question.
    fn is_known(&self, response: &Response) -> bool {
        let known = self.call.known.as_ref();
        known.is_some_and(|stamp| stamp.is_for(response.url()))
    }

    /// A body from its beginning, for the first time or again.
    fn begin(&mut self, response: &Response) -> Result<(), Fault> {
        let found = Origin {
            validator: validator(response.headers()),
            length: response.content_length(),
        };
        if let Some(length) = found.length {
            check_size(length)?;
        }
        let decoder = Decoder::for_encoding(response.headers().get(CONTENT_ENCODING));
        match &self.origin {
            Some(origin) if self.received > 0 => {
                if *origin != found || decoder.kind() != self.decoder.kind() {
                    return Err(self.not_resumed("the server has something else there now"));
                }
                self.skip = self.received;
            }
            _ => {
                self.origin = Some(found);
                self.stamp = Stamp::of(response.url(), response.headers());
                self.decoder = decoder;
            }
        }
        Ok(())
    }

    /// The rest of a body.
    fn resume(&mut self, response: &Response) -> Result<(), Fault> {
        let range = response
            .headers()
            .get(CONTENT_RANGE)
            .and_then(|value| content_range(value.to_str().ok()?));
        let Some((start, total)) = range else {
            return Err(self.not_resumed("the server does not say which part it sends"));
        };
        let length = self.origin.as_ref().and_then(|origin| origin.length);
        if start != self.received {
            return Err(self.not_resumed("the server sends another part than the one asked for"));
        }
        if length.is_some() && total.is_some() && length != total {
            return Err(self.not_resumed("its length on the server has changed"));
        }
        self.skip = 0;
        Ok(())
    }

    fn not_resumed(&self, reason: &'static str) -> Fault {
        Fault::NotResumed {
            received: self.received,
            reason,
        }
    }
}

/// The call for a package: redirects and plain http are fine, since what arrives is checked.
pub(super) fn package_call(url: &Url, authorization: Option<HeaderValue>) -> Call {
    let mut call = Call::new(url.clone(), REDIRECTS);
    call.plain_http = true;
    call.authorization = authorization;
    call
}

fn failed(error: RequestError) -> RegistryError {
    RegistryError::Download {
        source: Arc::new(error),
    }
}

const fn check_size(bytes: u64) -> Result<(), Fault> {
    if bytes <= MAX_PACKAGE.bytes {
        return Ok(());
    }
    Err(Fault::TooLarge {
        name: MAX_PACKAGE.name,
        limit: MAX_PACKAGE.bytes,
    })
}

/// A validator that stands for the very same bytes: a strong entity tag, else the date.
fn validator(headers: &HeaderMap) -> Option<HeaderValue> {
    let tag = headers
        .get(ETAG)
        .filter(|tag| !tag.as_bytes().starts_with(b"W/"));
    tag.or_else(|| headers.get(LAST_MODIFIED)).cloned()
}

/// `bytes 100-199/200`: the start and the total, if that is known.
fn content_range(value: &str) -> Option<(u64, Option<u64>)> {
    let (range, total) = value.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (start, _) = range.split_once('-')?;
    Some((start.trim().parse().ok()?, total.trim().parse().ok()))
}

/// Watches the speed. Only time spent waiting for the server counts: a slow reader is not the server's fault.
#[derive(Debug)]
struct Pace {
    window: Duration,
    waited: Duration,
    bytes: u64,
}

impl Pace {
    /// Twice the time that a server may be silent: a server that keeps silent is named for that, not for being slow.
    const fn new(stall_timeout: Duration) -> Self {
        Self {
            window: stall_timeout.saturating_mul(2),
            waited: Duration::ZERO,
            bytes: 0,
        }
    }

    fn check(&mut self, waited: Duration, bytes: usize) -> Result<(), Fault> {
        self.waited += waited;
        self.bytes += bytes as u64;
        if self.waited < self.window {
            return Ok(());
        }
        let least = MIN_RATE.saturating_mul(self.window.as_secs().max(1));
        if self.bytes < least {
            return Err(Fault::TooSlow {
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
    fn only_what_stands_for_the_same_bytes_is_a_validator() {
        let headers = |pairs: &[(reqwest::header::HeaderName, &'static str)]| {
            let pairs = pairs
                .iter()
                .map(|(name, value)| (name.clone(), HeaderValue::from_static(value)));
            validator(&pairs.collect())
        };
        assert_eq!(
            headers(&[(ETAG, "\"a\""), (LAST_MODIFIED, "d")]),
            Some(HeaderValue::from_static("\"a\""))
        );
        assert_eq!(
            headers(&[(ETAG, "W/\"a\""), (LAST_MODIFIED, "d")]),
            Some(HeaderValue::from_static("d"))
        );
        assert_eq!(headers(&[(ETAG, "W/\"a\"")]), None);
    }

    #[test]
    fn a_drip_is_too_slow_and_a_slow_reader_is_not() {
        let mut pace = Pace::new(Duration::from_secs(30));
        assert!((0..1000).all(|_| pace.check(Duration::ZERO, 1).is_ok()));
        assert!(pace.check(Duration::from_secs(59), 60 * 1024).is_ok());
        assert!(pace.check(Duration::from_secs(1), 0).is_ok());
        let drips: Vec<_> = (0..6)
            .map(|_| pace.check(Duration::from_secs(10), 100).is_ok())
            .collect();
        assert_eq!(drips, [true, true, true, true, true, false]);
    }
}
