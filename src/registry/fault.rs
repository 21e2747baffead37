//! Why one request failed: the lowest layer of this room's errors.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::redacted_url::RedactedUrl;
use crate::span::Place;

/// A request that failed for good.
#[derive(Clone, Debug)]
pub struct RequestError {
    /// What was asked for.
    pub url: RedactedUrl,
    /// How often it was tried.
    pub attempts: u32,
    /// How long all tries and waits took.
    pub elapsed: Duration,
    /// What went wrong the last time.
    pub fault: Fault,
    /// The block of the CLI configuration that leads to this address, if one does.
    pub configured: Option<Box<Place>>,
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the request for `{}` failed", self.url)?;
        if self.attempts > 1 {
            write!(
                f,
                " ({} attempts, {:.1} s)",
                self.attempts,
                self.elapsed.as_secs_f64()
            )?;
        }
        write!(f, "{}", Configured(&self.configured))
    }
}

/// The place in a configuration that leads to an address, as a part of messages: it is not what they point at, since that
/// is where the provider is required.
pub(crate) struct Configured<'a>(pub(crate) &'a Option<Box<Place>>);

impl fmt::Display for Configured<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(place) => write!(f, " (configured at {place})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for RequestError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.fault)
    }
}

/// What went wrong in one exchange with a server.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Fault {
    /// The HTTP client cannot be set up.
    #[error("cannot set up secure connections")]
    Setup(#[source] Cause),
    /// A variable of the environment names a proxy in a way that cannot be read. Its value may hold a password.
    #[error("cannot read the address of a proxy in `{variable}`")]
    Proxy {
        /// The name of the variable.
        variable: String,
    },
    /// No connection, or it broke before an answer came.
    #[error("cannot connect to the server")]
    Connect(#[source] Cause),
    /// The server's certificate is not accepted. Trying again would not help.
    #[error("the server's certificate is not accepted")]
    Certificate(#[source] Cause),
    /// The whole exchange took longer than its limit.
    #[error("no complete answer within {:.0} s", .0.as_secs_f64())]
    Timeout(Duration),
    /// A package stopped arriving.
    #[error("nothing arrived for {:.0} s", .0.as_secs_f64())]
    Stalled(Duration),
    /// A package arrives more slowly than any working network is.
    #[error("less than {bytes} bytes arrived within {:.0} s", within.as_secs_f64())]
    TooSlow {
        /// The least that must arrive.
        bytes: u64,
        /// In this time.
        within: Duration,
    },
    /// The body broke off, or was not what its headers said.
    #[error("the answer broke off after {received} bytes")]
    Body {
        /// What had arrived.
        received: u64,
        /// What the connection said.
        #[source]
        cause: Cause,
    },
    /// A body that broke off could not be taken up where it ended.
    #[error("the answer broke off after {received} bytes and could not be resumed: {reason}")]
    NotResumed {
        /// What had arrived.
        received: u64,
        /// Why not.
        reason: &'static str,
    },
    /// A status that says no.
    #[error("the server answered {}", StatusLine(*status))]
    Status {
        /// The status code.
        status: u16,
        /// The body is a web page, made for people.
        is_page: bool,
    },
    /// More redirects than allowed.
    #[error("more than {0} redirects")]
    TooManyRedirects(usize),
    /// A redirect that leads nowhere.
    #[error("the server redirects to `{0}`, which is no http or https address")]
    BadRedirect(String),
    /// Metadata over plain http, where it could be altered on the way.
    #[error("`{0}` would be fetched over plain http")]
    PlainHttp(RedactedUrl),
    /// More data than any real document has.
    #[error("the answer has more than {limit} bytes ({name})")]
    TooLarge {
        /// Which limit it is.
        name: &'static str,
        /// The limit.
        limit: u64,
    },
    /// The content type is not JSON's, where it must be.
    #[error("the content type is {}, not `application/json`", found.as_deref().map_or_else(|| "missing".to_owned(), |found| format!("`{found}`")))]
    ContentType {
        /// What the answer said.
        found: Option<String>,
    },
    /// The body is not the JSON it should be.
    #[error("the answer is not what the protocol asks for")]
    Json {
        /// What is wrong.
        #[source]
        cause: Cause,
        /// The body is a web page.
        is_page: bool,
    },
    /// The body is not in the encoding that its header names.
    #[error("the answer is not encoded as it says")]
    Encoding(#[source] Cause),
    /// The host did not answer earlier requests either.
    #[error("`{host}` answered none of {failures} earlier requests, so it was not asked again")]
    GivenUp {
        /// Host and port.
        host: String,
        /// How many requests failed.
        failures: u32,
        /// How the last of them failed.
        #[source]
        earlier: Box<Self>,
    },
    /// The run is told to use no network.
    #[error("the network is switched off by `--offline`")]
    Offline,
}

impl Fault {
    /// What may help.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Status { is_page: true, .. } | Self::Json { is_page: true, .. } => {
                "this address answered with a web page: is it a proxy's or a login page, or is the address wrong?"
            }
            Self::Status { status: 423, .. } => {
                "423 Locked is how Terragrunt's provider cache server answers: `TF_CLI_CONFIG_FILE` of a Terragrunt hook leads \
                 to it; unset it to ask the registry itself"
            }
            Self::Status { status: 501, .. } => {
                "is this a mirror or a provider cache server that lacks this part of the protocol? Look at the `host` blocks of \
                 the CLI configuration"
            }
            Self::Status { status: 407, .. } => {
                "the proxy asks for credentials: write them into `HTTPS_PROXY`"
            }
            Self::Proxy { .. } => {
                "write it as `http://HOST:PORT`, or with `https`, `socks4`, `socks4a`, `socks5` or `socks5h`; unset the variable to \
                 connect directly"
            }
            Self::PlainHttp(_) => {
                "a `host` block in the CLI configuration with an `http://` service allows it"
            }
            Self::Certificate(cause) if cause.0.contains("CaUsedAsEndEntity") => {
                "the server uses a certificate authority's certificate as its own; give it one of its own, signed by that authority"
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

/// The innermost reason that a library gave, as text: the layers above it only say that something failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Cause(pub(crate) Arc<str>);

impl Cause {
    /// The text of the last error in the chain.
    pub(crate) fn innermost(error: &(dyn std::error::Error + 'static)) -> Self {
        let mut last = error;
        while let Some(next) = inner(last) {
            last = next;
        }
        Self::text(&last.to_string())
    }

    /// Libraries may end in a link to their own manual, which helps nobody who runs a program.
    pub(crate) fn text(text: &str) -> Self {
        let text = text.split(": https://docs.rs/").next().unwrap_or(text);
        Self(text.into())
    }
}

/// The next error of a chain. An io error made from another error does not name that one as its source.
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

/// `404 Not Found`.
struct StatusLine(u16);

impl fmt::Display for StatusLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = reqwest::StatusCode::from_u16(self.0)
            .ok()
            .and_then(|status| status.canonical_reason());
        match reason {
            Some(reason) => write!(f, "{} {reason}", self.0),
            None => write!(f, "with status {}", self.0),
        }
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
            fault: Fault::Offline,
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
    fn statuses_are_named() {
        let text = |status| {
            Fault::Status {
                status,
                is_page: false,
            }
            .to_string()
        };
        assert_eq!(text(503), "the server answered 503 Service Unavailable");
        assert_eq!(text(599), "the server answered with status 599");
    }
}
