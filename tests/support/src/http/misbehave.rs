//! Rules that make responses faulty: which requests they apply to, how often, and what the fault is.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::message::{ReceivedRequest, Response};
use crate::glob;

/// A change to the body of a response.
type Rewrite = Arc<dyn Fn(Vec<u8>) -> Vec<u8> + Send + Sync>;

/// How the bytes of a response are sent.
#[expect(
    clippy::struct_excessive_bools,
    reason = "the faults are independent and can be combined"
)]
#[derive(Clone, Default)]
pub(crate) struct Delivery {
    pub(crate) delay: Option<Duration>,
    /// The number of body bytes after which the connection is closed.
    pub(crate) cut: Option<u64>,
    /// Whether the server resets the connection instead of sending a response.
    pub(crate) reset: bool,
    /// Whether no response is ever sent.
    pub(crate) hang: bool,
    /// The number of body bytes after which nothing more is sent, although the connection stays open.
    pub(crate) stall: Option<u64>,
    /// The size of the pieces in which the body is sent, in bytes, and the pause before each piece.
    pub(crate) drip: Option<(usize, Duration)>,
    /// The speed in body bytes per second, to imitate a slow network.
    pub(crate) rate: Option<u64>,
    /// The `Content-Length` to announce, whatever the length of the body.
    pub(crate) length: Option<u64>,
    pub(crate) chunked: bool,
    /// Whether ranges are ignored and not offered.
    pub(crate) no_ranges: bool,
    /// Bytes to send instead of the status line, headers and body. The connection is then closed.
    pub(crate) raw: Option<Vec<u8>>,
}

/// A rule that makes responses faulty. Its methods define it, and the registry applies it:
/// `registry.misbehave(Misbehave::on("*SHA256SUMS").status(503).times(2))`.
///
/// If several usable rules match a request, the one added first applies.
#[derive(Clone)]
pub struct Misbehave {
    path: String,
    method: Option<String>,
    skip: usize,
    times: Option<usize>,
    chance: Option<Chance>,
    response: Option<Response>,
    headers: Vec<(String, String)>,
    dropped: Vec<String>,
    rewrite: Option<Rewrite>,
    delivery: Delivery,
}

impl Misbehave {
    /// Creates a rule for paths that match `pattern`, in which `*` matches any text.
    pub fn on(pattern: &str) -> Self {
        Self {
            path: pattern.to_owned(),
            method: None,
            skip: 0,
            times: None,
            chance: None,
            response: None,
            headers: Vec::new(),
            dropped: Vec::new(),
            rewrite: None,
            delivery: Delivery::default(),
        }
    }

    /// Applies the settings in text such as `status=503 times=2`. Their names are those of the methods below.
    ///
    /// # Panics
    ///
    /// If a setting is unknown.
    pub fn rule(self, words: &str) -> Self {
        words.split_whitespace().fold(self, |rule, word| {
            let (name, value) = word.split_once('=').unwrap_or((word, "0"));
            let number = || value.parse().expect("the value is a number");
            match name {
                "chunked" => rule.chunked(),
                "content_length" => rule.content_length(number()),
                "cut" => rule.cut(number()),
                "flip" => rule.flip(value.parse().expect("the value is an offset")),
                "hang" => rule.hang(),
                "html" => rule.html(),
                "method" => rule.method(value),
                "no_ranges" => rule.no_ranges(),
                "redirect" => rule.redirect(value),
                "reset" => rule.reset(),
                "retry_after" => rule.retry_after(value),
                "stall" => rule.stall(number()),
                "status" => rule.status(value.parse().expect("the value is a status")),
                "times" => rule.times(value.parse().expect("the value is a number")),
                "without_header" => rule.without_header(value),
                _ => panic!("`{word}` is not a rule"),
            }
        })
    }

    /// Limits the rule to requests with this method.
    pub fn method(mut self, method: &str) -> Self {
        self.method = Some(method.to_owned());
        self
    }

    /// Limits the rule to the next `times` matching requests.
    pub fn times(mut self, times: usize) -> Self {
        self.times = Some(times);
        self
    }

    /// Skips the first `skip` matching requests.
    pub fn skip(mut self, skip: usize) -> Self {
        self.skip = skip;
        self
    }

    /// Limits the rule to this many of a thousand requests. `seed` selects the same requests in every run, regardless
    /// of the order in which they arrive.
    pub fn at_random(mut self, seed: u64, per_mille: u64) -> Self {
        self.chance = Some(Chance { seed, per_mille });
        self
    }

    /// Responds with this status.
    pub fn status(self, status: u16) -> Self {
        self.respond(Response::status(status))
    }

    /// Responds with this response.
    pub fn respond(mut self, response: Response) -> Self {
        self.response = Some(response);
        self
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn without_header(mut self, name: &str) -> Self {
        self.dropped.push(name.to_owned());
        self
    }

    /// Adds a `Retry-After` header.
    pub fn retry_after(self, value: &str) -> Self {
        self.header("Retry-After", value)
    }

    /// Redirects to `location`.
    pub fn redirect(self, location: &str) -> Self {
        self.status(302).header("Location", location)
    }

    /// Responds with the status 200 and a web page, like a captive portal.
    pub fn html(self) -> Self {
        let page = Response {
            status: 200,
            ..Response::status(200)
        }
        .body("<html>Sign in</html>");
        self.respond(Response {
            headers: vec![("Content-Type".into(), "text/html".into())],
            ..page
        })
    }

    /// Applies `change` to the body of the response.
    pub fn rewrite(mut self, change: impl Fn(Vec<u8>) -> Vec<u8> + Send + Sync + 'static) -> Self {
        self.rewrite = Some(Arc::new(change));
        self
    }

    /// Replaces `from` with `to` in the body, which must be text.
    pub fn replace(self, from: &str, to: &str) -> Self {
        let (from, to) = (from.to_owned(), to.to_owned());
        self.rewrite(move |body| {
            String::from_utf8_lossy(&body)
                .replace(&from, &to)
                .into_bytes()
        })
    }

    /// Flips the lowest bit of the byte at `offset` in the body, for example to make a checksum or signature invalid.
    pub fn flip(self, offset: usize) -> Self {
        self.rewrite(move |mut body| {
            body[offset] ^= 1;
            body
        })
    }

    /// Waits before the response.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delivery.delay = Some(delay);
        self
    }

    /// Closes the connection after `bytes` bytes of the body.
    pub fn cut(mut self, bytes: u64) -> Self {
        self.delivery.cut = Some(bytes);
        self
    }

    /// Closes the connection without a response, with a reset if the system allows it.
    pub fn reset(mut self) -> Self {
        self.delivery.reset = true;
        self
    }

    /// Never responds, but keeps the connection open.
    pub fn hang(mut self) -> Self {
        self.delivery.hang = true;
        self
    }

    /// Stops sending after `bytes` bytes of the body, but keeps the connection open.
    pub fn stall(mut self, bytes: u64) -> Self {
        self.delivery.stall = Some(bytes);
        self
    }

    /// Sends the body in pieces of `bytes` bytes, with `pause` before each piece.
    pub fn drip(mut self, bytes: usize, pause: Duration) -> Self {
        self.delivery.drip = Some((bytes, pause));
        self
    }

    /// Announces this length, whatever the length of the body.
    pub fn content_length(mut self, length: u64) -> Self {
        self.delivery.length = Some(length);
        self
    }

    /// Limits the body to this many bytes per second on each connection.
    pub fn rate(mut self, bytes_per_second: u64) -> Self {
        self.delivery.rate = Some(bytes_per_second);
        self
    }

    /// Sends the body in chunks without announcing its length.
    pub fn chunked(mut self) -> Self {
        self.delivery.chunked = true;
        self
    }

    /// Ignores `Range` headers and does not offer ranges.
    pub fn no_ranges(mut self) -> Self {
        self.delivery.no_ranges = true;
        self
    }

    /// Sends these bytes instead of a response and closes the connection.
    pub fn raw(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.delivery.raw = Some(bytes.into());
        self
    }

    fn covers(&self, request: &ReceivedRequest) -> bool {
        let method = self
            .method
            .as_ref()
            .is_none_or(|method| *method == request.method);
        method && glob::matches(&self.path, &request.path)
    }

    /// Returns the faulty response that this rule makes of the correct one.
    pub(crate) fn apply(&self, right: Response) -> Response {
        let mut response = self.response.clone().unwrap_or(right);
        if let Some(rewrite) = &self.rewrite {
            response = Response {
                body: crate::ResponseBody::bytes(rewrite(response.body.to_vec())),
                ..response
            };
        }
        response
            .headers
            .retain(|(name, _)| !self.dropped.contains(name));
        response.headers.extend(self.headers.iter().cloned());
        response
    }

    pub(crate) fn delivery(&self) -> Delivery {
        self.delivery.clone()
    }
}

impl fmt::Debug for Misbehave {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Misbehave")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// A pseudorandom share of all requests.
#[derive(Clone, Copy)]
struct Chance {
    seed: u64,
    per_mille: u64,
}

impl Chance {
    /// Returns whether this share includes request number `number` for `path`.
    fn meets(self, path: &str, number: u64) -> bool {
        let digest = Sha256::digest(format!("{} {number} {path}", self.seed));
        let head = digest.first_chunk().expect("a SHA-256 digest has 32 bytes");
        u64::from_le_bytes(*head) % 1000 < self.per_mille
    }
}

/// The current rules with their remaining uses, and the number of requests for each path.
#[derive(Default)]
pub(crate) struct Rules(Mutex<(Vec<Misbehave>, BTreeMap<String, u64>)>);

impl Rules {
    pub(crate) fn add(&self, rule: Misbehave) {
        self.0.lock().expect("not poisoned").0.push(rule);
    }

    pub(crate) fn clear(&self) {
        self.0.lock().expect("not poisoned").0.clear();
    }

    /// Returns the rule for this request and counts it as used once.
    pub(crate) fn take(&self, request: &ReceivedRequest) -> Option<Misbehave> {
        let mut state = self.0.lock().expect("not poisoned");
        let (rules, counts) = &mut *state;
        let number = counts.entry(request.path.clone()).or_default();
        *number += 1;
        let is_meant = |rule: &&mut Misbehave| {
            let met = |chance: Chance| chance.meets(&request.path, *number);
            rule.covers(request) && rule.chance.is_none_or(met)
        };
        for rule in rules.iter_mut().filter(is_meant) {
            if rule.skip > 0 {
                rule.skip -= 1;
                return None;
            }
            match &mut rule.times {
                Some(0) => {}
                Some(times) => {
                    *times -= 1;
                    return Some(rule.clone());
                }
                None => return Some(rule.clone()),
            }
        }
        None
    }
}
