//! Decides which failures are retried and how long to wait before each retry, and limits the retries and concurrent requests for
//! each host. This module sends no requests. Only [`HostSlots::acquire`] waits.
//!
//! Retries are meant for occasional failures. If a host is down, the requests for every provider on it would use all of their
//! retries, which takes minutes. The retries of a host are therefore limited for the whole run; its responses earn more of them,
//! and a host that does not respond at all gets no further requests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use reqwest::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::registry::request_error::RequestFault;

/// The maximum wait that a server may request with `Retry-After`. A server that requests more will not recover during this run.
pub(super) const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// If a server requests a wait of at least this length, the wait is reported to the user at once.
pub(super) const LONG_WAIT: Duration = Duration::from_secs(5);

/// How often a request is retried, and how long to wait before each retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RetryPolicy {
    /// The maximum number of attempts after the first.
    pub(super) retries: u32,
    /// The wait before the first retry; it doubles with each retry.
    pub(super) base: Duration,
    /// The maximum wait, except for one that `Retry-After` requests.
    pub(super) cap: Duration,
    /// Whether a request with too many redirects is retried. Only Terraform's discovery does that.
    pub(super) redirects: bool,
}

impl RetryPolicy {
    /// Returns the policy for documents and packages: waits of 1 s, 2 s, 4 s and so on, up to 30 s.
    pub(super) const fn standard(retries: u32) -> Self {
        Self {
            retries,
            base: Duration::from_secs(1),
            cap: Duration::from_secs(30),
            redirects: false,
        }
    }

    /// Returns the policy for Terraform's discovery document: waits of 0.1 s, 0.2 s and 0.4 s. No setting changes it.
    pub(super) const fn discovery() -> Self {
        Self {
            retries: 3,
            base: Duration::from_millis(100),
            cap: Duration::from_millis(400),
            redirects: true,
        }
    }

    /// Returns the policy for the hash index: one retry after 0.2 s. The run can do without an index.
    pub(super) const fn index() -> Self {
        Self {
            retries: 1,
            base: Duration::from_millis(200),
            cap: Duration::from_millis(200),
            redirects: false,
        }
    }

    /// Whether another attempt may succeed after this failure.
    pub(super) const fn covers(&self, fault: &RequestFault) -> bool {
        match fault {
            RequestFault::Connect(fault) => !fault.is_permanent(),
            RequestFault::Timeout(_) | RequestFault::Stalled(_) | RequestFault::Body { .. } => true,
            RequestFault::Status { status, .. } => is_transient(*status),
            RequestFault::TooManyRedirects(_) => self.redirects,
            _ => false,
        }
    }

    /// Returns the wait before a retry, whose `index` counts from 0. `requested` is the wait that the server requests; `jitter`,
    /// from 0 to 1, lengthens other waits by up to a quarter, so that many clients do not retry at the same moment.
    pub(super) fn wait(&self, index: u32, requested: Option<Duration>, jitter: f64) -> Duration {
        if let Some(requested) = requested {
            return requested.min(MAX_RETRY_AFTER);
        }
        let doubled = self.base.saturating_mul(2_u32.saturating_pow(index));
        doubled
            .min(self.cap)
            .mul_f64(1.0 + jitter.clamp(0.0, 1.0) / 4.0)
    }
}

/// Whether the status is 429 or a server error other than 501, which a retry cannot change.
const fn is_transient(status: u16) -> bool {
    status == 429 || (status >= 500 && status != 501)
}

/// Returns the wait that a response requests, in seconds or as a date. Only responses with status 429 or 503 can request one.
pub(super) fn retry_after(
    status: StatusCode,
    value: Option<&str>,
    now: SystemTime,
) -> Option<Duration> {
    if status != StatusCode::TOO_MANY_REQUESTS && status != StatusCode::SERVICE_UNAVAILABLE {
        return None;
    }
    let value = value?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

/// Returns a number from 0 to 1 that differs between processes and calls. It is not random enough for secrets.
pub(super) fn jitter() -> f64 {
    use std::hash::{BuildHasher, RandomState};
    let bits = RandomState::new().hash_one(0_u8);
    f64::from(u32::try_from(bits >> 32).unwrap_or(0)) / f64::from(u32::MAX)
}

/// The number of retries that a host gets before its first response.
const FREE_RETRIES: u32 = 100;

/// The number of responses that earn a host one more retry. The retries thus suffice if one in five requests fails at random.
const RESPONSES_PER_RETRY: u32 = 5;

/// After this many failed requests in a row, a host that has never responded gets no further requests.
const MAX_FAILURES_BEFORE_RESPONSE: u32 = 3;

/// The same limit for a host that has responded before and may just be restarting.
const MAX_FAILURES_AFTER_RESPONSE: u32 = 10;

/// The failure history of each host in one run. The keys consist of scheme, host and port.
#[derive(Debug, Default)]
pub(super) struct HostBudgets {
    hosts: Mutex<BTreeMap<String, HostHistory>>,
}

#[derive(Debug, Default)]
struct HostHistory {
    responses: u32,
    retries: u32,
    failures_in_a_row: u32,
    last_failure: Option<RequestFault>,
    /// The end of the last wait that was reported to the user.
    reported_wait: Option<Instant>,
}

impl HostBudgets {
    /// Returns the reason to send no further requests to the host, if there is one.
    pub(super) fn unresponsive(&self, host: &str) -> Option<RequestFault> {
        self.with(host, |history| {
            let earlier = Box::new(history.last_failure.clone()?);
            let limit = match history.responses {
                0 => MAX_FAILURES_BEFORE_RESPONSE,
                _ => MAX_FAILURES_AFTER_RESPONSE,
            };
            (history.failures_in_a_row >= limit).then(|| RequestFault::GivenUp {
                host: host.to_owned(),
                failures: history.failures_in_a_row,
                earlier,
            })
        })
    }

    /// Uses one of the host's retries. Returns whether one was left.
    pub(super) fn take_retry(&self, host: &str) -> bool {
        self.with(host, |history| {
            let earned = history.responses / RESPONSES_PER_RETRY;
            let is_granted = history.retries < FREE_RETRIES.saturating_add(earned);
            history.retries += u32::from(is_granted);
            is_granted
        })
    }

    /// Whether to report that requests to the host wait until `end`. False if a wait that ends at about the same time has been
    /// reported: usually, all concurrent requests to a host have to wait.
    pub(super) fn take_report(&self, host: &str, end: Instant) -> bool {
        self.with(host, |history| {
            let reported = history.reported_wait;
            let is_new = reported.is_none_or(|reported| end > reported + LONG_WAIT);
            if is_new {
                history.reported_wait = Some(end);
            }
            is_new
        })
    }

    /// Records a response with any status.
    pub(super) fn note_response(&self, host: &str) {
        self.with(host, |history| {
            history.responses = history.responses.saturating_add(1);
            history.failures_in_a_row = 0;
        });
    }

    /// Records a request that failed after all its retries. Only connection failures and timeouts count against the host.
    pub(super) fn note_failure(&self, host: &str, fault: &RequestFault) {
        if matches!(fault, RequestFault::Connect(_) | RequestFault::Timeout(_)) {
            self.with(host, |history| {
                history.failures_in_a_row += 1;
                history.last_failure = Some(fault.clone());
            });
        }
    }

    fn with<T>(&self, host: &str, access: impl FnOnce(&mut HostHistory) -> T) -> T {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        access(hosts.entry(host.to_owned()).or_default())
    }
}

/// The maximum number of concurrent document requests to one host. More do not make a run faster, and small registries respond to
/// them with 429.
const MAX_PER_HOST: usize = 16;

/// Limits the concurrent requests to each host.
#[derive(Debug, Default)]
pub(super) struct HostSlots {
    hosts: Mutex<BTreeMap<String, Arc<Semaphore>>>,
}

impl HostSlots {
    /// Waits for a slot, which becomes free again when the permit is dropped.
    pub(super) async fn acquire(&self, host: &str) -> Option<OwnedSemaphorePermit> {
        let semaphore = {
            let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
            let new = || Arc::new(Semaphore::new(MAX_PER_HOST));
            Arc::clone(hosts.entry(host.to_owned()).or_insert_with(new))
        };
        // Fails only if the semaphore is closed, which never happens.
        semaphore.acquire_owned().await.ok()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;
    use crate::registry::certificate_fault::{CertificateFault, CertificateProblem};
    use crate::registry::connect_fault::{ConnectFault, ConnectProblem};
    use crate::registry::request_error::CauseText;
    use crate::registry::trusted_roots::RootOrigin;

    fn status(status: u16) -> RequestFault {
        RequestFault::Status {
            status,
            is_page: false,
        }
    }

    fn connect(problem: ConnectProblem) -> RequestFault {
        RequestFault::Connect(ConnectFault {
            problem,
            peer: String::new(),
            is_at_proxy: false,
            is_local: false,
            text: cause(),
        })
    }

    fn cause() -> CauseText {
        CauseText::text("x")
    }

    #[test]
    fn only_transient_failures_are_retried() {
        let (received, is_page) = (1, false);
        let body = RequestFault::Body {
            received,
            cause: cause(),
        };
        let json = RequestFault::Json {
            cause: cause(),
            is_page,
        };
        let certificate = RequestFault::Certificate(Box::new(CertificateFault {
            host: String::new(),
            problem: CertificateProblem::UnknownAuthority,
            roots: RootOrigin::Settings,
        }));
        for (fault, standard, discovery) in [
            (status(429), true, true),
            (status(500), true, true),
            (status(502), true, true),
            (status(503), true, true),
            (status(599), true, true),
            (status(501), false, false),
            (status(201), false, false),
            (status(400), false, false),
            (status(401), false, false),
            (status(404), false, false),
            (status(410), false, false),
            (status(423), false, false),
            (connect(ConnectProblem::Closed), true, true),
            (connect(ConnectProblem::ProxyCredentials), false, false),
            (RequestFault::Timeout(Duration::ZERO), true, true),
            (RequestFault::Stalled(Duration::ZERO), true, true),
            (body, true, true),
            (RequestFault::TooManyRedirects(9), false, true),
            (certificate, false, false),
            (RequestFault::ContentType { found: None }, false, false),
            (json, false, false),
            (RequestFault::Offline, false, false),
        ] {
            let policies = [RetryPolicy::standard(1), RetryPolicy::discovery()];
            let covered = policies.map(|policy| policy.covers(&fault));
            assert_eq!(covered, [standard, discovery], "{fault}");
        }
    }

    #[test]
    fn waits_double_up_to_the_cap() {
        for (policy, jitter, expected) in [
            (
                RetryPolicy::standard(9),
                0.0,
                [1000, 2000, 4000, 30_000, 30_000],
            ),
            (
                RetryPolicy::standard(9),
                1.0,
                [1250, 2500, 5000, 37_500, 37_500],
            ),
            (RetryPolicy::discovery(), 0.0, [100, 200, 400, 400, 400]),
        ] {
            let wait = |index| policy.wait(index, None, jitter).as_millis();
            assert_eq!([0, 1, 2, 5, 40].map(wait), expected);
        }
    }

    #[test]
    fn a_server_may_request_a_wait() {
        let now = httpdate::parse_http_date("Sat, 21 Nov 2026 12:00:00 GMT").unwrap();
        for (status, value, expected) in [
            (429, "7", Some(7)),
            (503, " 7 ", Some(7)),
            (503, "Sat, 21 Nov 2026 12:00:09 GMT", Some(9)),
            (503, "Sat, 21 Nov 2026 11:00:00 GMT", Some(0)),
            (500, "7", None),
            (502, "7", None),
            (429, "soon", None),
            (429, "-1", None),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            let requested = retry_after(status, Some(value), now);
            assert_eq!(
                requested,
                expected.map(Duration::from_secs),
                "{status} {value}"
            );
        }
        let policy = RetryPolicy::standard(1);
        for (seconds, jitter, expected) in [
            (7, 1.0, Duration::from_secs(7)),
            (3600, 0.0, MAX_RETRY_AFTER),
        ] {
            let requested = Some(Duration::from_secs(seconds));
            assert_eq!(policy.wait(0, requested, jitter), expected);
        }
    }

    #[test]
    fn jitter_is_a_fraction() {
        assert!((0..100).all(|_| (0.0..=1.0).contains(&jitter())));
    }

    #[test]
    fn an_unresponsive_host_gets_no_further_request() {
        let budgets = HostBudgets::default();
        let refused = connect(ConnectProblem::Refused);
        for limit in [MAX_FAILURES_BEFORE_RESPONSE, MAX_FAILURES_AFTER_RESPONSE] {
            for _ in 0..limit {
                assert!(budgets.unresponsive("h").is_none());
                budgets.note_failure("h", &refused);
            }
            let Some(RequestFault::GivenUp { failures, .. }) = budgets.unresponsive("h") else {
                panic!("{limit} failures");
            };
            assert_eq!(failures, limit);
            assert!(budgets.unresponsive("other").is_none());
            budgets.note_response("h");
            assert!(budgets.unresponsive("h").is_none());
        }
    }

    #[test]
    fn similar_waits_are_reported_once() {
        let budgets = HostBudgets::default();
        let start = Instant::now();
        for (host, seconds, expected) in [
            ("h", 30, true),
            ("h", 30, false),
            ("h", 35, false),
            ("other", 30, true),
            ("h", 60, true),
            ("h", 30, false),
        ] {
            let end = start + Duration::from_secs(seconds);
            assert_eq!(budgets.take_report(host, end), expected, "{host} {seconds}");
        }
    }

    #[test]
    fn an_error_status_is_a_response() {
        let budgets = HostBudgets::default();
        for _ in 0..10 {
            budgets.note_failure("h", &status(500));
        }
        assert!(budgets.unresponsive("h").is_none());
    }

    #[test]
    fn responses_earn_retries() {
        let budgets = HostBudgets::default();
        assert!((0..FREE_RETRIES).all(|_| budgets.take_retry("h")));
        assert!(!budgets.take_retry("h"));
        for _ in 0..RESPONSES_PER_RETRY {
            budgets.note_response("h");
        }
        assert!(budgets.take_retry("h"));
        assert!(!budgets.take_retry("h"));
    }

    #[tokio::test]
    async fn each_host_has_its_own_slots() {
        let slots = HostSlots::default();
        let mut held = Vec::new();
        for _ in 0..MAX_PER_HOST {
            held.push(slots.acquire("a").await);
        }
        assert!(slots.acquire("a").now_or_never().is_none());
        assert!(slots.acquire("b").now_or_never().is_some());
        held.pop();
        assert!(slots.acquire("a").now_or_never().is_some());
    }
}
