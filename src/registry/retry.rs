//! Which failures are worth another try, and how long to wait before it. Nothing here waits or asks a server.

use std::time::{Duration, SystemTime};

use reqwest::StatusCode;

use crate::registry::fault::Fault;

/// The longest wait that a server may ask for with `Retry-After`. A server that wants more is not coming back during this
/// run, and nobody should wait for it unknowingly.
pub(super) const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// How often and at which pace a request is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RetryPolicy {
    /// Repetitions after the first try.
    pub(super) retries: u32,
    /// The wait before the first repetition; it doubles each time.
    pub(super) base: Duration,
    /// No wait is longer, but for `Retry-After`.
    pub(super) cap: Duration,
    /// A loop of redirects is tried again. Only Terraform's discovery does that.
    pub(super) redirects: bool,
}

impl RetryPolicy {
    /// Documents and packages: 1 s, 2 s, 4 s, up to 30 s.
    pub(super) const fn standard(retries: u32) -> Self {
        Self {
            retries,
            base: Duration::from_secs(1),
            cap: Duration::from_secs(30),
            redirects: false,
        }
    }

    /// Terraform's discovery document: 0.1 s, 0.2 s, 0.4 s, whatever is configured.
    pub(super) const fn discovery() -> Self {
        Self {
            retries: 3,
            base: Duration::from_millis(100),
            cap: Duration::from_millis(400),
            redirects: true,
        }
    }

    /// Whether this failure may pass by itself.
    pub(super) const fn covers(&self, fault: &Fault) -> bool {
        match fault {
            Fault::Connect(_) | Fault::Timeout(_) | Fault::Stalled(_) | Fault::Body { .. } => true,
            Fault::Status { status, .. } => is_transient(*status),
            Fault::TooManyRedirects(_) => self.redirects,
            _ => false,
        }
    }

    /// The wait before repetition number `index`, which counts from 0. `jitter`, from 0 to 1, spreads the waits of many
    /// clients by up to a quarter.
    pub(super) fn wait(&self, index: u32, asked: Option<Duration>, jitter: f64) -> Duration {
        if let Some(asked) = asked {
            return asked.min(MAX_RETRY_AFTER);
        }
        let doubled = self.base.saturating_mul(2_u32.saturating_pow(index));
        doubled
            .min(self.cap)
            .mul_f64(1.0 + jitter.clamp(0.0, 1.0) / 4.0)
    }
}

/// 429, and what the server itself calls its own failure, but for 501: that will be the same next time.
const fn is_transient(status: u16) -> bool {
    status == 429 || (status >= 500 && status != 501)
}

/// The wait that an answer asks for: seconds or a date, and only on 429 and 503.
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

/// A number from 0 to 1 that differs between processes and calls. No secret and no output depends on it.
pub(super) fn jitter() -> f64 {
    use std::hash::{BuildHasher, RandomState};
    let bits = RandomState::new().hash_one(0_u8);
    f64::from(u32::try_from(bits >> 32).unwrap_or(0)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::fault::Cause;

    #[test]
    fn only_what_may_pass_is_tried_again() {
        let status = |status| Fault::Status {
            status,
            is_page: false,
        };
        let cause = || Cause::text("x");
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
            (Fault::Connect(cause()), true, true),
            (Fault::Timeout(Duration::ZERO), true, true),
            (Fault::Stalled(Duration::ZERO), true, true),
            (
                Fault::Body {
                    received: 1,
                    cause: cause(),
                },
                true,
                true,
            ),
            (Fault::TooManyRedirects(9), false, true),
            (Fault::Certificate(cause()), false, false),
            (Fault::ContentType { found: None }, false, false),
            (
                Fault::Json {
                    cause: cause(),
                    is_page: false,
                },
                false,
                false,
            ),
            (Fault::Offline, false, false),
        ] {
            assert_eq!(RetryPolicy::standard(1).covers(&fault), standard, "{fault}");
            assert_eq!(
                RetryPolicy::discovery().covers(&fault),
                discovery,
                "{fault}"
            );
        }
    }

    #[test]
    fn waits_double_up_to_the_cap() {
        let millis = |policy: RetryPolicy, jitter: f64| {
            [0, 1, 2, 5, 40].map(|index| policy.wait(index, None, jitter).as_millis())
        };
        assert_eq!(
            millis(RetryPolicy::standard(9), 0.0),
            [1000, 2000, 4000, 30_000, 30_000]
        );
        assert_eq!(
            millis(RetryPolicy::standard(9), 1.0),
            [1250, 2500, 5000, 37_500, 37_500]
        );
        assert_eq!(
            millis(RetryPolicy::discovery(), 0.0),
            [100, 200, 400, 400, 400]
        );
    }

    #[test]
    fn a_server_may_ask_for_a_wait() {
        let now = httpdate::parse_http_date("Sat, 21 Nov 2026 12:00:00 GMT").expect("a date");
        let rows = [
            (429, "7", Some(7)),
            (503, " 7 ", Some(7)),
            (503, "Sat, 21 Nov 2026 12:00:09 GMT", Some(9)),
            (503, "Sat, 21 Nov 2026 11:00:00 GMT", Some(0)),
            (500, "7", None),
            (502, "7", None),
            (429, "soon", None),
            (429, "-1", None),
        ];
        for (status, value, expected) in rows {
            let status = StatusCode::from_u16(status).expect("a status");
            let asked = retry_after(status, Some(value), now);
            assert_eq!(asked, expected.map(Duration::from_secs), "{status} {value}");
        }
        let policy = RetryPolicy::standard(1);
        assert_eq!(
            policy.wait(0, Some(Duration::from_secs(7)), 1.0),
            Duration::from_secs(7)
        );
        assert_eq!(
            policy.wait(0, Some(Duration::from_secs(3600)), 0.0),
            MAX_RETRY_AFTER
        );
    }

    #[test]
    fn jitter_is_a_fraction() {
        assert!((0..100).all(|_| (0.0..=1.0).contains(&jitter())));
    }
}
