//! Reasons for failed requests.

use std::sync::Arc;
use std::time::Duration;

use crate::redacted_url::RedactedUrl;
use crate::registry::certificate_fault::CertificateFault;
use crate::registry::connect_fault::{ConnectFault, hint_for_credentials};
use crate::registry::proxies::UsedProxy;
use crate::span::Place;

/// A request that failed after all retries.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the request for `{url}` failed{}{}", self.course(), configured_at(configured.as_deref()))]
pub struct RequestError {
    pub url: RedactedUrl,
    /// The last address to which the request was sent, if it differs from `url`.
    pub redirected_to: Option<RedactedUrl>,
    /// The proxy for the last address.
    pub proxy: Option<UsedProxy>,
    /// The wait that the last response requested.
    pub retry_after: Option<Duration>,
    pub attempts: u32,
    /// The total time of all attempts, including the waits between them.
    pub elapsed: Duration,
    /// The reason why the last attempt failed.
    #[source]
    pub fault: RequestFault,
    /// The position of the CLI configuration block that sets the address, if there is one.
    pub configured: Option<Box<Place>>,
}

impl RequestError {
    fn course(&self) -> String {
        let mut parts = Vec::new();
        if self.attempts > 1 {
            parts.push(format!("{} attempts", self.attempts));
            parts.push(format!("{:.1} s", self.elapsed.as_secs_f64()));
        }
        if let Some(url) = &self.redirected_to {
            parts.push(format!("redirected to `{url}`"));
        }
        if let Some(UsedProxy {
            address, variable, ..
        }) = &self.proxy
        {
            parts.push(format!("through the proxy `{address}` from `{variable}`"));
        }
        if parts.is_empty() {
            return String::new();
        }
        format!(" ({})", parts.join(", "))
    }

    /// Returns the next step for the user, if there is one. `is_timeout_set` says whether `TF_REGISTRY_CLIENT_TIMEOUT` applies.
    pub(super) fn hint(&self, is_timeout_set: bool) -> Option<String> {
        if let (RequestFault::Status { .. }, Some(wait)) = (&self.fault, self.retry_after) {
            let seconds = wait.as_secs();
            return Some(format!(
                "run tflock again later: the server asks for a wait of {seconds} s"
            ));
        }
        let hint = self.fault.hint(self.proxy.as_ref())?;
        if matches!(self.fault, RequestFault::Timeout(_)) && is_timeout_set {
            return Some(format!(
                "{hint}; if the server is slow, set `TF_REGISTRY_CLIENT_TIMEOUT` to a larger number of seconds"
            ));
        }
        Some(hint)
    }
}

/// Returns the part of a message that says where in the configuration an address is set. The message itself points to the code that
/// requires the provider.
pub(super) fn configured_at(place: Option<&Place>) -> String {
    place.map_or_else(String::new, |place| format!(" (configured at {place})"))
}

#[derive(Clone, Debug, thiserror::Error)]
pub enum RequestFault {
    #[error("cannot prepare the request")]
    Setup(#[source] CauseText),
    /// An environment variable contains an invalid proxy address. Its value is not shown, because it may contain a password.
    #[error("invalid proxy address in `{variable}`")]
    Proxy { variable: String },
    /// The connection could not be made, or broke before a response arrived.
    #[error("cannot connect to {}", .0.destination())]
    Connect(#[source] ConnectFault),
    /// The server's certificate is not trusted. The request is not retried.
    #[error("the server's certificate is not trusted")]
    Certificate(#[source] Box<CertificateFault>),
    #[error("no complete response within {:.0} s", .0.as_secs_f64())]
    Timeout(Duration),
    /// No data of a package or an upload was transferred for this long.
    #[error("no data was transferred for {:.0} s", .0.as_secs_f64())]
    Stalled(Duration),
    /// Package data arrived more slowly than over any working connection.
    #[error("fewer than {bytes} bytes arrived within {:.0} s", within.as_secs_f64())]
    TooSlow { bytes: u64, within: Duration },
    /// The file to send cannot be read.
    #[error("cannot read the content to send")]
    Content(#[source] CauseText),
    /// The body ended early or contradicted its headers.
    #[error("the response was cut off after {received} bytes")]
    Body {
        received: u64,
        #[source]
        cause: CauseText,
    },
    #[error("the response was cut off after {received} bytes and could not be resumed: {reason}")]
    NotResumed { received: u64, reason: &'static str },
    #[error("the server responded with {}", status_line(*status))]
    Status {
        status: u16,
        /// Whether the body is a web page.
        is_page: bool,
    },
    /// The value is the maximum number of redirects.
    #[error("{}", describe_redirects(*.0))]
    TooManyRedirects(usize),
    #[error("the server redirects to `{0}`, which is not an http or https address")]
    BadRedirect(String),
    /// The `Location` header is not a URL reference.
    #[error("the server redirects to an invalid address")]
    InvalidRedirect,
    /// The address uses plain http, which lets attackers change the response, and no setting allows it.
    #[error("plain http is not allowed for `{0}`")]
    PlainHttp(RedactedUrl),
    #[error("the response is larger than {limit} bytes ({name})")]
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
    #[error("network access is disabled by `--offline`")]
    Offline,
}

impl RequestFault {
    /// Returns the next step for the user, if there is one. `proxy` is the proxy of the request.
    pub(crate) fn hint(&self, proxy: Option<&UsedProxy>) -> Option<String> {
        let hint = match self {
            Self::Connect(fault) => return Some(fault.hint(proxy)),
            Self::Certificate(fault) => return fault.hint(proxy),
            Self::Status { status: 407, .. } if proxy.is_some() => {
                return proxy.map(hint_for_credentials);
            }
            Self::Timeout(_) if proxy.is_some() => "check whether the proxy can reach the server",
            Self::Timeout(_) => {
                "check whether this machine can reach the server; if it can be reached only through a proxy, set `HTTPS_PROXY`"
            }
            Self::TooManyRedirects(_) => {
                "open the address with `curl --location --verbose` to see the redirects: a login page or a proxy may cause a loop"
            }
            Self::Status { is_page: true, .. } | Self::Json { is_page: true, .. } => {
                "correct the address, or find out whether a proxy or a login page replaces the response: the server sent a web page"
            }
            Self::Status { status: 423, .. } => {
                "if this command runs in a Terragrunt hook, unset `TF_CLI_CONFIG_FILE`: it redirects requests to Terragrunt's provider \
                 cache server, which responds with 423 Locked"
            }
            Self::Status { status: 501, .. } => {
                "find out which server this is, and whether a `host` block of the CLI configuration names it: a file server, a mirror or a \
                 provider cache server lacks parts of the protocol"
            }
            Self::Status { status: 407, .. } => {
                "add credentials to `HTTPS_PROXY`: the proxy requires them"
            }
            Self::Proxy { .. } => {
                "use the form `http://HOST:PORT`, or the scheme `https`, `socks4`, `socks4a`, `socks5` or `socks5h`; unset the variable to \
                 connect directly"
            }
            Self::PlainHttp(_) => {
                "to allow it, add a `host` block with an `http://` service to the CLI configuration"
            }
            Self::GivenUp { earlier, .. } => return earlier.hint(proxy),
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

/// Returns the next error in a chain. An [`io::Error`](std::io::Error) that wraps another error does not return it as its source.
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

fn describe_redirects(limit: usize) -> String {
    match limit {
        0 => "the server redirects to a different address, which is not allowed for this request"
            .to_owned(),
        limit => format!("more than {limit} redirects"),
    }
}

/// Formats a status, for example as `404 Not Found`.
fn status_line(status: u16) -> String {
    let known = reqwest::StatusCode::from_u16(status).ok();
    match known.and_then(|known| known.canonical_reason()) {
        Some(reason) => format!("{status} {reason}"),
        None => format!("status {status}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_course_of_a_request_is_mentioned() {
        let mut error = RequestError {
            url: RedactedUrl::parse("https://example.com/x"),
            redirected_to: None,
            proxy: None,
            retry_after: None,
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
        error.redirected_to = Some(RedactedUrl::parse("https://cdn.test/x"));
        error.proxy = Some(UsedProxy {
            address: "http://p.test:8080".to_owned(),
            variable: "https_proxy".to_owned(),
            has_credentials: true,
        });
        assert_eq!(
            error.to_string(),
            "the request for `https://example.com/x` failed (4 attempts, 3.1 s, redirected to `https://cdn.test/x`, through the proxy \
             `http://p.test:8080` from `https_proxy`)"
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
        let faults = [page, status(423), status(501), status(407), proxy, http];
        let expected = [
            "correct the address, or find out whether a proxy or a login page replaces the response: the server sent a web page",
            "if this command runs in a Terragrunt hook, unset `TF_CLI_CONFIG_FILE`: it redirects requests to Terragrunt's provider cache server, which responds with 423 Locked",
            "find out which server this is, and whether a `host` block of the CLI configuration names it: a file server, a mirror or a provider cache server lacks parts of the protocol",
            "add credentials to `HTTPS_PROXY`: the proxy requires them",
            "use the form `http://HOST:PORT`, or the scheme `https`, `socks4`, `socks4a`, `socks5` or `socks5h`; unset the variable to connect directly",
            "to allow it, add a `host` block with an `http://` service to the CLI configuration",
        ];
        assert_eq!(faults.map(|fault| fault.hint(None).unwrap()), expected);
        assert_eq!(status(404).hint(None), None);
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
        assert_eq!(
            text(503),
            "the server responded with 503 Service Unavailable"
        );
        assert_eq!(text(599), "the server responded with status 599");
    }
}
