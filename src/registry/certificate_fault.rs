//! Untrusted server certificates: the reasons, and hints for the user.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustls::CertificateError;
use rustls::pki_types::UnixTime;

use crate::display::{counted, date, quoted};
use crate::registry::proxies::UsedProxy;
use crate::registry::request_error::CauseText;
use crate::registry::trusted_roots::RootOrigin;

/// The maximum number of names in a message. Certificates of content delivery networks have hundreds.
const MAX_NAMES: usize = 5;

/// A server certificate that is not trusted.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{}", self.message())]
pub struct CertificateFault {
    /// The host name of the server.
    pub host: String,
    pub problem: CertificateProblem,
    /// Where the trusted certificate authorities come from.
    pub roots: RootOrigin,
}

/// The reason why a certificate is not trusted. Times are compared with the clock of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CertificateProblem {
    Expired {
        end: SystemTime,
        now: SystemTime,
    },
    NotYetValid {
        start: SystemTime,
        now: SystemTime,
    },
    /// The certificate is valid only for these names.
    OtherNames(Vec<String>),
    UnknownAuthority,
    /// The server presented a CA certificate instead of a server certificate.
    AuthorityAsServer,
    Other(CauseText),
}

impl CertificateProblem {
    pub(super) fn of(error: &rustls::Error) -> Option<Self> {
        Some(match error {
            rustls::Error::NoCertificatesPresented => {
                Self::Other(CauseText::text("the server sent no certificate"))
            }
            rustls::Error::InvalidCertificate(error) => Self::of_certificate(error),
            _ => return None,
        })
    }

    fn of_certificate(error: &CertificateError) -> Self {
        match error {
            CertificateError::ExpiredContext { time, not_after } => Self::Expired {
                end: system_time(*not_after),
                now: system_time(*time),
            },
            CertificateError::NotValidYetContext { time, not_before } => Self::NotYetValid {
                start: system_time(*not_before),
                now: system_time(*time),
            },
            CertificateError::NotValidForNameContext { presented, .. } => {
                Self::OtherNames(presented.iter().map(|name| plain_name(name)).collect())
            }
            // `BadSignature`: the issuer has the same name as a trusted authority, but a different key.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                Self::UnknownAuthority
            }
            CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
                Self::AuthorityAsServer
            }
            other => Self::Other(CauseText::text(&other.to_string())),
        }
    }
}

impl CertificateFault {
    fn message(&self) -> String {
        match &self.problem {
            CertificateProblem::Expired { end, now } => format!(
                "it expired on {}, and the clock of this machine says {}",
                date(*end),
                date(*now)
            ),
            CertificateProblem::NotYetValid { start, now } => format!(
                "it is not valid before {}, and the clock of this machine says {}",
                date(*start),
                date(*now)
            ),
            CertificateProblem::OtherNames(names) if names.is_empty() => {
                format!("it names no host, so it is not valid for `{}`", self.host)
            }
            CertificateProblem::OtherNames(names) => format!(
                "it is valid for {}, but not for `{}`",
                shown_names(names),
                self.host
            ),
            CertificateProblem::UnknownAuthority => {
                format!(
                    "no trusted authority signed it (trusted authorities: {})",
                    self.roots
                )
            }
            CertificateProblem::AuthorityAsServer => {
                "it is the certificate of an authority, not of a server".to_owned()
            }
            CertificateProblem::Other(text) => text.to_string(),
        }
    }

    /// Returns the next step for the user, if there is one.
    pub(super) fn hint(&self, proxy: Option<&UsedProxy>) -> Option<String> {
        let host = &self.host;
        Some(match &self.problem {
            CertificateProblem::Expired { .. } => {
                format!("renew the certificate of `{host}`, or correct the clock of this machine")
            }
            CertificateProblem::NotYetValid { .. } => {
                format!("correct the clock of this machine, or replace the certificate of `{host}`")
            }
            CertificateProblem::OtherNames(_) => format!(
                "use a host name for which the certificate is valid, or install a certificate for `{host}` on the server"
            ),
            CertificateProblem::UnknownAuthority => self.hint_for_authority(proxy),
            CertificateProblem::AuthorityAsServer => {
                format!(
                    "on `{host}`, install a server certificate that the authority has signed, or a self-signed one with \
                     `basicConstraints=CA:FALSE`"
                )
            }
            CertificateProblem::Other(_) => return None,
        })
    }

    fn hint_for_authority(&self, proxy: Option<&UsedProxy>) -> String {
        if let Some(file) = self.roots.useless()
            && let Some(variable) = file.variable
        {
            return format!(
                "correct or unset `{variable}`: `{}` contains no certificate that tflock can use",
                file.path.display()
            );
        }
        let issuer = match proxy {
            Some(_) => "your company or the proxy",
            None => "your company",
        };
        let place = match self.roots.own_file() {
            Some(file) => format!("`{}`", file.path.display()),
            None => "the system's store, or set `SSL_CERT_FILE` to its path".to_owned(),
        };
        format!("if {issuer} issued the certificate, add its CA certificate to {place}")
    }
}

fn system_time(time: UnixTime) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(time.as_secs())
}

/// Removes the kind from a name as rustls shows it: `DnsName("a.test")` becomes `a.test`.
fn plain_name(shown: &str) -> String {
    let inner = shown.split_once('(').map_or(shown, |(_, inner)| inner);
    inner.trim_end_matches(')').trim_matches('"').to_owned()
}

fn shown_names(names: &[String]) -> String {
    let shown = quoted(names.iter().take(MAX_NAMES));
    match names.len().saturating_sub(MAX_NAMES) {
        0 => shown,
        more => format!("{shown} and {}", counted(more, "other name", "other names")),
    }
}
