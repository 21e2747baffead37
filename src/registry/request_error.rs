//! Reasons for failed requests.

use std::sync::Arc;
use std::time::Duration;

use crate::redacted_url::RedactedUrl;
use crate::span::Place;

/// A request that failed, with all of its retries.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the request for `{url}` failed{}{}", self.effort(), configured_at(configured.as_deref()))]
pub struct RequestError {
    pub url: RedactedUrl,
    pub attempts: u32,
    /// The time that all attempts and the waits between them took.
    pub elapsed: Duration,
    /// The reason why the last attempt failed.
    #[source]
    pub fault: RequestFault,
    /// The block of the CLI configuration that the address comes from.
    pub configured: Option<Box<Place>>,
}

impl RequestError {
    fn effort(&self) -> String {
        match (self.attempts, self.elapsed.as_secs_f64()) {
            (0 | 1, _) => String::new(),
            (attempts, seconds) => format!(" ({attempts} attempts, {seconds:.1} s)"),
        }
    }
}

/// The part of a message that names the place of the configuration from which an address comes. The message itself points at the
/// place where the provider is required.
pub(super) fn configured_at(place: Option<&Place>) -> String {
    place.map_or_else(String::new, |place| format!(" (configured at {place})"))
}

#[derive(Clone, Debug, thiserror::Error)]
pub enum RequestFault {
    #[error("cannot set up secure connections")]
    Setup(#[source] CauseText),
    /// An environment variable contains an invalid proxy address. Its value is not shown, since it may contain a password.
    #[error("cannot read the address of a proxy in `{variable}`")]
    Proxy { variable: String },
    /// No connection could be made, or it broke before a response arrived.
    #[error("cannot connect to the server")]
    Connect(#[source] CauseText),
    /// The server's certificate is not trusted. It is not retried.
    #[error("the server's certificate is not accepted")]
    Certificate(#[source] CauseText),
    #[error("no complete response within {:.0} s", .0.as_secs_f64())]
    Timeout(Duration),
    /// No data of a package arrived for this long.
    #[error("nothing arrived for {:.0} s", .0.as_secs_f64())]
    Stalled(Duration),
    /// The data of a package arrives more slowly than over any working connection.
    #[error("less than {bytes} bytes arrived within {:.0} s", within.as_secs_f64())]
    TooSlow { bytes: u64, within: Duration },
    /// The body ended early or contradicted its headers.
    #[error("the response broke off after {received} bytes")]
    Body {
        received: u64,
        #[source]
        cause: CauseText,
    },
    #[error("the response broke off after {received} bytes and could not be resumed: {reason}")]
    NotResumed { received: u64, reason: &'static str },
    #[error("the server answered {}", status_line(*status))]
    Status {
        status: u16,
        /// Whether the body is a web page.
        is_page: bool,
    },
    /// The field is the limit.
    #[error("more than {0} redirects")]
    TooManyRedirects(usize),
    #[error("the server redirects to `{0}`, which is not an http or https address")]
    BadRedirect(String),
    /// The address uses plain http, over which attackers could change the response, and no setting allows it.
    #[error("`{0}` would be fetched over plain http")]
    PlainHttp(RedactedUrl),
    #[error("the response has more than {limit} bytes ({name})")]
    TooLarge { name: &'static str, limit: u64 },

    #[error("the content type is {}, not `application/json`", found.as_deref().map_or_else(|| "missing".to_owned(), |found| format!("`{found}`")))]
    ContentType { found: Option<String> },
    #[error("the response does not follow the protocol")]
    Json {
        #[source]
        cause: CauseText,
        /// Whether the body is a web page.
        is_page: bool,
    },
    #[error("the body does not match its `Content-Encoding` header")]
    Encoding(#[source] CauseText),
    #[error(
        "`{host}` did not respond to {failures} earlier requests, so no further request was sent"
    )]
    GivenUp {
        host: String,
        failures: u32,
        #[source]
        earlier: Box<Self>,
    },
    #[error("the network is switched off by `--offline`")]
    Offline,
}

impl RequestFault {
    /// The next step for the user, if there is one.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Status { is_page: true, .. } | Self::Json { is_page: true, .. } => {
                "correct the address, or find out whether a proxy or a login page replaces the response: this address answered with a web page"
            }
            Self::Status { status: 423, .. } => {
                "if this command runs in a Terragrunt hook, unset `TF_CLI_CONFIG_FILE`: it redirects requests to Terragrunt's provider \
                 cache server, which responds with 423 Locked"
            }
            Self::Status { status: 501, .. } => {
                "check the `host` blocks of the CLI configuration: this may be a mirror or a provider cache server that lacks this \
                 part of the protocol"
            }
            Self::Status { status: 407, .. } => {
                "add credentials to `HTTPS_PROXY`: the proxy requires them"
            }
            Self::Proxy { .. } => {
                "write it as `http://HOST:PORT`, or with `https`, `socks4`, `socks4a`, `socks5` or `socks5h`; unset the variable to \
                 connect directly"
            }
            Self::PlainHttp(_) => {
                "to allow it, add a `host` block with an `http://` service to the CLI configuration"
            }
            Self::Certificate(cause) if cause.0.contains("CaUsedAsEndEntity") => {
                "the server presents the certificate of a certificate authority; give the server its own certificate, signed by that authority"
            }
            Self::Certificate(_) => {
                "if the certificate is your company's, name its authority in `SSL_CERT_FILE` or add it to the system's store"
            }
            Self::GivenUp { earlier, .. } => return earlier.hint(),
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

/// The text of the innermost error of a library. The outer errors only say that something failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CauseText(pub(crate) Arc<str>);

impl CauseText {
    pub(crate) fn innermost(error: &(dyn std::error::Error + 'static)) -> Self {
        let mut last = error;
        while let Some(next) = inner(last) {
            last = next;
        }
        Self::text(&last.to_string())
    }

    /// Drops a link to the documentation of a library, which does not help users of tflock.
    pub(crate) fn text(text: &str) -> Self {
        let text = text.split(": https://docs.rs/").next().unwrap_or(text);
        Self(text.into())
    }
}

/// The next error of a chain. An [`io::Error`](std::io::Error) that wraps another error does not return it as its source.
pub(crate) fn inner<'e>(
    error: &'e (dyn std::error::Error + 'static),
) -> Option<&'e (dyn std::error::Error + 'static)> {
    if let Some(wrapped) = error
        .downcast_ref::<std::io::Error>()
        .and_then(std::io::Error::get_ref)
    {
        return Some(wrapped);
    }
    error.source()
}

/// For example `404 Not Found`.
fn status_line(status: u16) -> String {
    let known = reqwest::StatusCode::from_u16(status).ok();
    match known.and_then(|known| known.canonical_reason()) {
        Some(reason) => format!("{status} {reason}"),
        None => format!("with status {status}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_mentioned_when_there_were_several() {
        let mut error = RequestError {
            url: RedactedUrl::parse("https://example.com/x"),
            attempts: 1,
            elapsed: Duration::from_millis(3_140),
            fault: RequestFault::Offline,
            configured: None,
        };
        assert_eq!(
            error.to_string(),
            "the request for `https://example.com/x` failed"
        );
        error.attempts = 4;
        assert_eq!(
            error.to_string(),
            "the request for `https://example.com/x` failed (4 attempts, 3.1 s)"
        );
    }

    #[test]
    fn hints() {
        let status = |status| RequestFault::Status {
            status,
            is_page: false,
        };
        let page = RequestFault::Status {
            status: 200,
            is_page: true,
        };
        let proxy = RequestFault::Proxy {
            variable: "HTTP_PROXY".to_owned(),
        };
        let http = RequestFault::PlainHttp(RedactedUrl::parse("http://h.test/"));
        let certificate = |text: &str| RequestFault::Certificate(CauseText::text(text));
        let faults = [
            page,
            status(423),
            status(501),
            status(407),
            proxy,
            http,
            certificate("CaUsedAsEndEntity"),
            certificate("x"),
        ];
        let expected = [
            "correct the address, or find out whether a proxy or a login page replaces the response: this address answered with a web page",
            "if this command runs in a Terragrunt hook, unset `TF_CLI_CONFIG_FILE`: it redirects requests to Terragrunt's provider cache server, which responds with 423 Locked",
            "check the `host` blocks of the CLI configuration: this may be a mirror or a provider cache server that lacks this part of the protocol",
            "add credentials to `HTTPS_PROXY`: the proxy requires them",
            "write it as `http://HOST:PORT`, or with `https`, `socks4`, `socks4a`, `socks5` or `socks5h`; unset the variable to connect directly",
            "to allow it, add a `host` block with an `http://` service to the CLI configuration",
            "the server presents the certificate of a certificate authority; give the server its own certificate, signed by that authority",
            "if the certificate is your company's, name its authority in `SSL_CERT_FILE` or add it to the system's store",
        ];
        assert_eq!(faults.map(|fault| fault.hint().unwrap()), expected);
        assert_eq!(status(404).hint(), None);
    }

    #[test]
    fn statuses_are_named() {
        let text = |status| {
            RequestFault::Status {
                status,
                is_page: false,
            }
            .to_string()
        };
        assert_eq!(text(503), "the server answered 503 Service Unavailable");
        assert_eq!(text(599), "the server answered with status 599");
    }
}
