//! One exchange with a server: what may be asked, with which headers, and where redirects may lead.
//!
//! Redirects are followed here and not by the client, since what may be followed, and with which headers, depends on what is
//! asked for.

use std::time::Duration;

use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, IF_RANGE, LOCATION,
    RANGE,
};
use reqwest::{Client, Response, StatusCode, Url};

use crate::provider::Engine;
use crate::redacted_url::RedactedUrl;
use crate::registry::fault::{Cause, Fault, inner};
use crate::registry::stamp::Stamp;

/// The header in which both engines name their version; registries may choose their answers by it.
const VERSION_HEADER: HeaderName = HeaderName::from_static("x-terraform-version");

/// The version of the engine that tflock answers for.
const fn engine_version(engine: Engine) -> &'static str {
    match engine {
        Engine::Terraform => "1.15.9",
        Engine::Tofu => "1.12.6",
    }
}

/// A GET request and the rules for its redirects.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) url: Url,
    /// Sent to the origin of `url` and to no other.
    pub(super) authorization: Option<HeaderValue>,
    /// Sent everywhere.
    pub(super) headers: HeaderMap,
    /// How many redirects are followed.
    pub(super) redirects: usize,
    /// Whether plain http is fine anywhere, or only on loopback.
    pub(super) plain_http: bool,
    /// Only what is not this any more is asked for.
    pub(super) known: Option<Stamp>,
}

impl Call {
    pub(super) fn new(url: Url, redirects: usize) -> Self {
        Self {
            url,
            authorization: None,
            headers: HeaderMap::new(),
            redirects,
            plain_http: false,
            known: None,
        }
    }

    /// Names the engine's version.
    pub(super) fn with_engine(mut self, engine: Engine) -> Self {
        self.headers.insert(
            VERSION_HEADER,
            HeaderValue::from_static(engine_version(engine)),
        );
        self
    }

    /// Asks for JSON by name.
    pub(super) fn with_json(mut self) -> Self {
        self.headers
            .insert(ACCEPT, HeaderValue::from_static("application/json"));
        self
    }

    /// Asks for the bytes as they lie on the server. With `from`, only for those from that offset on, and only if the
    /// server's copy still has this validator.
    pub(super) fn with_bytes(mut self, from: Option<(u64, Option<HeaderValue>)>) -> Self {
        self.headers
            .insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if let Some((offset, validator)) = from {
            if let Ok(range) = HeaderValue::from_str(&format!("bytes={offset}-")) {
                self.headers.insert(RANGE, range);
            }
            if let Some(validator) = validator {
                self.headers.insert(IF_RANGE, validator);
            }
        }
        self
    }
}

/// Sends the request and follows redirects to the answer, whose body is not yet read. `client` gives the client for each
/// step, `within` limits each.
pub(super) async fn send<'a>(
    client: impl Fn(&Url) -> Result<&'a Client, Fault>,
    call: &Call,
    within: Duration,
) -> Result<Response, Fault> {
    let mut url = call.url.clone();
    let mut authorization = call.authorization.as_ref();
    for _ in 0..=call.redirects {
        check_scheme(&url, call.plain_http)?;
        // What another host says must not steer requests that carry a token, so it never comes back.
        authorization = authorization.filter(|_| url.origin() == call.url.origin());
        let mut headers = call.headers.clone();
        if let Some(value) = authorization {
            headers.insert(AUTHORIZATION, value.clone());
        }
        if let Some(stamp) = call.known.as_ref().filter(|stamp| stamp.is_for(&url)) {
            headers.extend([stamp.header()]);
        }
        let request = client(&url)?.get(url.clone()).headers(headers).send();
        let sent = tokio::time::timeout(within, request).await;
        let response = sent
            .map_err(|_elapsed| Fault::Timeout(within))?
            .map_err(|error| classify(error, within))?;
        tracing::debug!(url = %RedactedUrl::from(&url), status = response.status().as_u16(), "answered");
        match redirect_target(&response, &url)? {
            Some(target) => url = target,
            None => return Ok(response),
        }
    }
    Err(Fault::TooManyRedirects(call.redirects))
}

fn check_scheme(url: &Url, plain_http: bool) -> Result<(), Fault> {
    if url.scheme() == "https" || plain_http || is_loopback(url) {
        return Ok(());
    }
    Err(Fault::PlainHttp(RedactedUrl::from(url)))
}

/// Whether the URL leads to this machine, where nobody stands in between.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name.trim_end_matches('.') == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Where the answer sends us, if it does. A redirect without a target is an answer like any other.
fn redirect_target(response: &Response, from: &Url) -> Result<Option<Url>, Fault> {
    let moved = matches!(
        response.status(),
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    let Some(location) = response.headers().get(LOCATION).filter(|_| moved) else {
        return Ok(None);
    };
    let location = String::from_utf8_lossy(location.as_bytes());
    match from.join(&location) {
        Ok(target) if is_web(&target) => Ok(Some(target)),
        Ok(target) => Err(Fault::BadRedirect(RedactedUrl::from(&target).to_string())),
        Err(_) => Err(Fault::BadRedirect("an unreadable address".to_owned())),
    }
}

/// Whether the URL has a scheme that this client speaks.
pub(super) fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https") && url.has_host()
}

/// The fault behind a client's error while it waits for an answer.
pub(super) fn classify(error: reqwest::Error, within: Duration) -> Fault {
    let error = error.without_url();
    let mut layer: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(current) = layer {
        if current
            .downcast_ref::<rustls::Error>()
            .is_some_and(is_about_certificate)
        {
            return Fault::Certificate(Cause::text(&current.to_string()));
        }
        layer = inner(current);
    }
    if error.is_timeout() {
        return Fault::Timeout(within);
    }
    Fault::Connect(Cause::innermost(&error))
}

const fn is_about_certificate(error: &rustls::Error) -> bool {
    matches!(
        error,
        rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented
    )
}
