//! Connections that fail, or break before a response arrives: the reasons, and hints for the user.
//!
//! The HTTP libraries return chains of errors. Errors without a public type are recognized by their text. The tests in
//! `tests/it/unreachable` check these texts with real servers and proxies.

use std::error::Error;
use std::io;

use reqwest::Url;
use rustls::{AlertDescription, PeerIncompatible};

use crate::registry::proxies::UsedProxy;
use crate::registry::request::is_loopback;
use crate::registry::request_error::{CauseText, inner};

/// A connection that could not be made, or broke before a response arrived.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{}", self.message())]
pub struct ConnectFault {
    pub problem: ConnectProblem,
    /// The host and port of the server or, if the connection to the proxy failed, of the proxy.
    pub peer: String,
    /// Whether the connection to the proxy failed, or the proxy refused a connection to the server.
    pub is_at_proxy: bool,
    /// Whether the server is on this machine.
    pub is_local: bool,
    /// The message of the library.
    pub text: CauseText,
}

/// The reason why a connection failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectProblem {
    Refused,
    UnknownName,
    Unreachable,
    Closed,
    /// The peer responded to a TLS handshake with something else, such as plain http.
    NotTls,
    /// The peer responded with something other than HTTP.
    NotHttp,
    TlsVersion,
    CipherSuite,
    /// The server requires a client certificate.
    ClientCertificate,
    Tls,
    /// The proxy requires credentials, or rejected those that it received.
    ProxyCredentials,
    /// The proxy did not connect to the server.
    ProxyRefusal,
    Other,
}

impl ConnectFault {
    /// Determines why a request for `url` failed.
    pub(super) fn of(error: &(dyn Error + 'static), url: &Url, proxy: Option<&UsedProxy>) -> Self {
        let chain = || std::iter::successors(Some(error), |error| inner(*error));
        let problem = chain().find_map(problem_of);
        let problem = problem.unwrap_or(ConnectProblem::Other);
        let is_tunnel = || chain().any(|error| error.to_string().starts_with("tunnel error"));
        let proxy = proxy.filter(|_| problem.is_of_nearest_peer() || is_tunnel());
        Self {
            problem,
            peer: proxy.map_or_else(|| authority(url), |proxy| proxy.server().to_owned()),
            is_at_proxy: proxy.is_some(),
            is_local: is_loopback(url),
            text: CauseText::innermost(error),
        }
    }

    /// Whether another attempt would fail in the same way.
    pub(super) const fn is_permanent(&self) -> bool {
        use ConnectProblem as Problem;
        matches!(
            self.problem,
            Problem::TlsVersion
                | Problem::CipherSuite
                | Problem::ClientCertificate
                | Problem::ProxyCredentials
        )
    }

    pub(super) const fn destination(&self) -> &'static str {
        match self.problem {
            ConnectProblem::ProxyCredentials | ConnectProblem::ProxyRefusal => {
                "the server through the proxy"
            }
            _ if self.is_at_proxy => "the proxy",
            _ => "the server",
        }
    }

    fn message(&self) -> String {
        let Self { peer, text, .. } = self;
        match self.problem {
            ConnectProblem::Refused => format!("`{peer}` refuses connections"),
            ConnectProblem::UnknownName => {
                let text = text.0.rsplit(": ").next().unwrap_or_default();
                format!("the name of `{peer}` cannot be resolved: {text}")
            }
            ConnectProblem::Unreachable => format!("`{peer}` cannot be reached: {text}"),
            ConnectProblem::Closed => {
                format!("`{peer}` closed the connection before it sent a response")
            }
            ConnectProblem::NotTls => format!("`{peer}` does not use TLS"),
            ConnectProblem::NotHttp => format!("the response of `{peer}` is not HTTP"),
            ConnectProblem::TlsVersion => {
                format!("`{peer}` supports neither TLS 1.2 nor TLS 1.3")
            }
            ConnectProblem::CipherSuite => {
                format!("`{peer}` supports none of the cipher suites that tflock offers")
            }
            ConnectProblem::ClientCertificate => {
                format!("`{peer}` requires a client certificate")
            }
            ConnectProblem::Tls => format!("the TLS handshake with `{peer}` failed: {text}"),
            ConnectProblem::ProxyCredentials => format!("`{peer}` requires valid credentials"),
            ConnectProblem::ProxyRefusal => {
                format!("`{peer}` did not connect to the server")
            }
            ConnectProblem::Other => text.to_string(),
        }
    }

    /// Returns the next step for the user. `proxy` is the proxy of the request.
    pub(super) fn hint(&self, proxy: Option<&UsedProxy>) -> String {
        match proxy {
            Some(proxy) if self.is_at_proxy => self.hint_for_proxy(proxy),
            _ => self.hint_for_server(proxy),
        }
    }

    fn hint_for_proxy(&self, proxy: &UsedProxy) -> String {
        let variable = &proxy.variable;
        match self.problem {
            ConnectProblem::ProxyCredentials => hint_for_credentials(proxy),
            ConnectProblem::ProxyRefusal => {
                "check whether the proxy allows this host and can reach it, or add the host to `NO_PROXY` to connect directly".to_owned()
            }
            ConnectProblem::NotTls if proxy.address.starts_with("https:") => format!(
                "write `http://` instead of `https://` in `{variable}`: this is the protocol between tflock and the proxy"
            ),
            _ => format!(
                "check the address in `{variable}` and whether the proxy is running, or unset the variable to connect directly"
            ),
        }
    }

    fn hint_for_server(&self, proxy: Option<&UsedProxy>) -> String {
        let peer = &self.peer;
        let hint = match self.problem {
            ConnectProblem::NotTls => {
                "correct the port in the address; if the server has no https port, add a `host` block with an `http://` service to the CLI \
                 configuration"
            }
            ConnectProblem::NotHttp => {
                "check the scheme and the port of the address: the server may expect `https://`"
            }
            ConnectProblem::TlsVersion => "enable TLS 1.2 or TLS 1.3 on the server",
            ConnectProblem::CipherSuite => {
                "enable cipher suites with ECDHE and AES-GCM or ChaCha20-Poly1305 on the server"
            }
            ConnectProblem::ClientCertificate => {
                "use an address or a mirror that requires no client certificate: tflock cannot send one"
            }
            _ if proxy.is_some() => {
                "check whether the proxy allows this host, or add the host to `NO_PROXY` to connect directly"
            }
            _ if self.is_local => "check the address and whether the server is running",
            ConnectProblem::UnknownName => {
                "check the spelling of the host name; if the host can be reached only through a proxy, set `HTTPS_PROXY`"
            }
            _ => {
                return format!(
                    "check whether other programs on this machine can connect to `{peer}`; if it can be reached only through a proxy, set \
                     `HTTPS_PROXY`"
                );
            }
        };
        hint.to_owned()
    }
}

/// Returns the next step for a proxy that requires credentials, or rejected those that it received.
pub(super) fn hint_for_credentials(proxy: &UsedProxy) -> String {
    let variable = &proxy.variable;
    if proxy.has_credentials {
        return format!(
            "correct the user name and the password in `{variable}`, in which special characters must be percent-encoded"
        );
    }
    let address = proxy.address.replacen("://", "://USER:PASSWORD@", 1);
    format!("add credentials to the address in `{variable}`: `{address}`")
}

impl ConnectProblem {
    /// Whether the problem arises at the first peer to which tflock connects. If the request uses a proxy, that peer is the proxy.
    const fn is_of_nearest_peer(self) -> bool {
        matches!(
            self,
            Self::Refused
                | Self::UnknownName
                | Self::Unreachable
                | Self::ProxyCredentials
                | Self::ProxyRefusal
        )
    }
}

/// Classifies one error of a chain. `None` if the error indicates no known problem.
fn problem_of(error: &(dyn Error + 'static)) -> Option<ConnectProblem> {
    if let Some(error) = error.downcast_ref() {
        return Some(tls_problem(error));
    }
    if let Some(error) = error.downcast_ref::<io::Error>()
        && error.get_ref().is_none()
    {
        return io_problem(error);
    }
    Some(match &*error.to_string() {
        "tunnel error: proxy authorization required" => ConnectProblem::ProxyCredentials,
        "tunnel error: unsuccessful" => ConnectProblem::ProxyRefusal,
        "SOCKS error: failed to create underlying connection" => ConnectProblem::Refused,
        text if text.starts_with("SOCKS error: ") => ConnectProblem::ProxyRefusal,
        "dns error" => ConnectProblem::UnknownName,
        "tunnel error: unexpected end of file"
        | "connection closed before message completed"
        | "tls handshake eof" => ConnectProblem::Closed,
        "invalid HTTP version parsed" => ConnectProblem::NotHttp,
        _ => return None,
    })
}

fn tls_problem(error: &rustls::Error) -> ConnectProblem {
    use rustls::Error as Tls;
    match error {
        Tls::InvalidMessage(_) => ConnectProblem::NotTls,
        Tls::AlertReceived(AlertDescription::ProtocolVersion)
        | Tls::PeerIncompatible(PeerIncompatible::ServerDoesNotSupportTls12Or13) => {
            ConnectProblem::TlsVersion
        }
        Tls::AlertReceived(
            AlertDescription::HandshakeFailure | AlertDescription::InsufficientSecurity,
        ) => ConnectProblem::CipherSuite,
        Tls::AlertReceived(AlertDescription::CertificateRequired) => {
            ConnectProblem::ClientCertificate
        }
        _ => ConnectProblem::Tls,
    }
}

fn io_problem(error: &io::Error) -> Option<ConnectProblem> {
    use io::ErrorKind as Kind;
    Some(match error.kind() {
        Kind::ConnectionRefused => ConnectProblem::Refused,
        Kind::NetworkUnreachable | Kind::HostUnreachable | Kind::AddrNotAvailable => {
            ConnectProblem::Unreachable
        }
        Kind::ConnectionReset
        | Kind::ConnectionAborted
        | Kind::BrokenPipe
        | Kind::UnexpectedEof => ConnectProblem::Closed,
        _ => return None,
    })
}

/// Returns the host and port of a URL.
fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default();
    port.map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}
