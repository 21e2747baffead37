//! A single request: its description, and the exchange with a server, including redirects.
//!
//! The HTTP client does not follow redirects itself, because the request determines which redirects and headers are allowed.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue, LOCATION,
};
use reqwest::{Response, StatusCode, Url};

use crate::provider::Engine;
use crate::redacted_url::RedactedUrl;
use crate::registry::certificate_fault::{CertificateFault, CertificateProblem};
use crate::registry::connect_fault::ConnectFault;
use crate::registry::error::RegistryError;
use crate::registry::http_clients::{ContentKind, HttpClients};
use crate::registry::http_validator::HttpValidator;
use crate::registry::proxies::UsedProxy;
use crate::registry::request_error::{RequestError, RequestFault, inner};
use crate::registry::request_method::RequestMethod;
use crate::registry::request_purpose::RequestPurpose;
use crate::registry::retry::RetryPolicy;
use crate::registry::settings::{DEFAULT_REQUEST_TIMEOUT, DEFAULT_RETRIES, RegistrySettings};
use crate::span::Place;

/// The header in which both engines send their version. Registries may adapt their responses to it.
pub(super) const VERSION_HEADER: HeaderName = HeaderName::from_static("x-terraform-version");

/// The time limit for one attempt to fetch Terraform's discovery document. No setting changes it.
const TERRAFORM_DISCOVERY_TIMEOUT: Duration = Duration::from_secs(5);

const MAX_REDIRECTS: usize = 9;

/// The maximum size of a version list or a package description. The largest real list is about one megabyte.
pub(super) const MAX_METADATA: ByteLimit = ByteLimit {
    name: "limit for registry responses",
    bytes: 16 * 1024 * 1024,
};

/// The maximum size of a package. The largest real packages are about 200 MB; the limit stops servers that never stop sending data.
pub(super) const MAX_PACKAGE: ByteLimit = ByteLimit {
    name: "limit for packages",
    bytes: 4 * 1024 * 1024 * 1024,
};

/// The maximum size of a discovery document, as in both engines. Real ones have a dozen short entries.
const MAX_DISCOVERY: ByteLimit = ByteLimit {
    name: "limit for discovery documents",
    bytes: 1024 * 1024,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteLimit {
    /// The name to show in an error.
    pub name: &'static str,
    pub bytes: u64,
}

impl ByteLimit {
    pub(super) const fn check(&self, bytes: u64) -> Result<(), RequestFault> {
        if bytes <= self.bytes {
            return Ok(());
        }
        Err(RequestFault::TooLarge {
            name: self.name,
            limit: self.bytes,
        })
    }
}

/// Returns the version of the engine whose behavior tflock reproduces.
pub(super) const fn engine_version(engine: Engine) -> &'static str {
    match engine {
        Engine::Terraform => "1.15.9",
        Engine::Tofu => "1.12.6",
    }
}

/// A request: method, address, credentials, redirects, retries and limits.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: RequestMethod,
    pub(super) url: Url,
    pub(super) purpose: RequestPurpose,
    /// The position of the CLI configuration block that sets `url`, if there is one.
    pub(super) configured: Option<Box<Place>>,
    /// Credentials, which are sent only to the origin of `url`, not to other servers after a redirect.
    pub(super) authorization: Option<HeaderValue>,
    /// Headers sent with every request, including after redirects.
    pub(super) headers: HeaderMap,
    pub(super) max_redirects: usize,
    /// Whether plain http is allowed to any host. Otherwise, it is allowed only on loopback.
    pub(super) plain_http: bool,
    /// If set, the server may respond that the file has not changed since this copy.
    pub(super) known_copy: Option<HttpValidator>,
    pub(super) retry: RetryPolicy,
    /// For a document: the time limit for one attempt, including redirects and body. For a package: the time limit for each
    /// response to begin, because the body may take any amount of time. For a file that is sent: the longest time without progress.
    pub(super) timeout: Duration,
    pub(super) max_body: ByteLimit,
}

/// The course of the attempts to send a request, for error messages.
#[derive(Clone, Debug)]
pub(super) struct RequestCourse {
    pub(super) attempts: u32,
    /// The total time of all attempts, including the waits between them.
    pub(super) elapsed: Duration,
    /// The last address to which the request was sent.
    pub(super) url: Url,
    /// The proxy for the last address.
    pub(super) proxy: Option<UsedProxy>,
    /// The wait that the last response requested.
    pub(super) retry_after: Option<Duration>,
}

impl Request {
    /// Returns the kind of content. A file to upload counts as a package, so it gets a connection of its own.
    pub(super) const fn kind(&self) -> ContentKind {
        if self.method.sends_file() {
            ContentKind::Package
        } else {
            ContentKind::Document
        }
    }

    /// Returns a future that completes when an attempt has taken too long. Its output is the fault to report.
    pub(super) fn time_limit(&self) -> impl Future<Output = RequestFault> + use<> {
        let timeout = self.timeout;
        let progress = self.method.progress();
        async move {
            loop {
                let before = progress();
                tokio::time::sleep(timeout).await;
                match before {
                    None => return RequestFault::Timeout(timeout),
                    before if before == progress() => return RequestFault::Stalled(timeout),
                    _ => {}
                }
            }
        }
    }

    /// Returns the error for a request that failed.
    pub(super) fn error(&self, fault: RequestFault, course: RequestCourse) -> RegistryError {
        let url = RedactedUrl::from(&self.url);
        let last = RedactedUrl::from(&course.url);
        RegistryError::Request {
            purpose: self.purpose.clone(),
            source: Arc::new(RequestError {
                redirected_to: (last != url).then_some(last),
                url,
                attempts: course.attempts,
                elapsed: course.elapsed,
                proxy: course.proxy,
                retry_after: course.retry_after,
                fault,
                configured: self.configured.clone(),
            }),
        }
    }
}

/// The properties of requests that depend on the settings and on the engine.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestRules {
    engine: Engine,
    documents: RetryPolicy,
    packages: RetryPolicy,
    timeout: Duration,
    stall_timeout: Duration,
}

impl RequestRules {
    pub(super) fn new(settings: &RegistrySettings) -> Self {
        let retries = settings.retries.unwrap_or(DEFAULT_RETRIES);
        let download_retries = settings.download_retries.unwrap_or(DEFAULT_RETRIES);
        Self {
            engine: settings.engine,
            documents: RetryPolicy::standard(retries),
            packages: RetryPolicy::standard(download_retries),
            timeout: settings.request_timeout.unwrap_or(DEFAULT_REQUEST_TIMEOUT),
            stall_timeout: settings.http.stall_timeout,
        }
    }

    /// Returns the policy for requests that transfer packages.
    pub(super) const fn packages(&self) -> RetryPolicy {
        self.packages
    }

    pub(super) const fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Returns a request for a document, over https and without credentials.
    pub(super) fn document(&self, url: Url, purpose: RequestPurpose) -> Request {
        Request {
            method: RequestMethod::Get,
            url,
            purpose,
            configured: None,
            authorization: None,
            headers: HeaderMap::new(),
            max_redirects: MAX_REDIRECTS,
            plain_http: false,
            known_copy: None,
            retry: self.documents,
            timeout: self.timeout,
            max_body: MAX_METADATA,
        }
    }

    /// Returns a request for a discovery document. Terraform has its own limits for it.
    pub(super) fn discovery(&self, url: Url, purpose: RequestPurpose) -> Request {
        let json = (ACCEPT, HeaderValue::from_static("application/json"));
        let request = Request {
            headers: HeaderMap::from_iter([json]),
            max_body: MAX_DISCOVERY,
            ..self.document(url, purpose)
        };
        match self.engine {
            Engine::Terraform => Request {
                max_redirects: 3,
                retry: RetryPolicy::discovery(),
                timeout: TERRAFORM_DISCOVERY_TIMEOUT,
                ..request
            },
            Engine::Tofu => request,
        }
    }

    /// Returns a request for a provider package. Plain http is allowed, because the package is verified with a checksum.
    pub(super) fn package(&self, url: Url, authorization: Option<HeaderValue>) -> Request {
        Request {
            authorization,
            plain_http: true,
            retry: self.packages,
            timeout: self.stall_timeout,
            max_body: MAX_PACKAGE,
            ..self.document(url, RequestPurpose::Download)
        }
    }
}

/// Sends a request and follows redirects. Returns the final response, whose body has not been read yet. `headers` are added to
/// those of the request. `url` is set to the last address to which the request was sent, even if sending fails.
pub(super) async fn send(
    clients: &HttpClients,
    kind: ContentKind,
    request: &Request,
    headers: &HeaderMap,
    url: &mut Url,
) -> Result<Response, RequestFault> {
    *url = request.url.clone();
    let mut authorization = request.authorization.as_ref();
    for _ in 0..=request.max_redirects {
        check_scheme(url, request.plain_http)?;
        // After a redirect to a different server, credentials are not sent again, not even to the first server: the other server
        // must not be able to choose which requests carry them.
        authorization = authorization.filter(|_| url.origin() == request.url.origin());
        let mut all = request.headers.clone();
        all.extend(headers.clone());
        if let Some(value) = authorization {
            all.insert(AUTHORIZATION, value.clone());
        }
        if let Some(copy) = request.known_copy.as_ref().filter(|copy| copy.is_for(url)) {
            all.extend([copy.header()]);
        }
        let client = clients.client(kind, url)?;
        let mut message = client.request(request.method.name(), url.clone());
        if let Some((body, size)) = request.method.body().await? {
            message = message.body(body);
            if let Some(size) = size {
                all.insert(CONTENT_LENGTH, size.into());
            }
        }
        let response = async {
            let response = message.headers(all).send().await;
            response.map_err(|error| classify(error, request.timeout, clients, url))
        };
        let response = limited(request.time_limit(), response).await?;
        tracing::debug!(url = %RedactedUrl::from(&*url), status = response.status().as_u16(), "answered");
        match redirect_target(&response, url)? {
            Some(target) => *url = target,
            None => return Ok(response),
        }
    }
    Err(RequestFault::TooManyRedirects(request.max_redirects))
}

/// Runs an attempt until its time is up.
pub(super) async fn limited<T>(
    limit: impl Future<Output = RequestFault>,
    attempt: impl Future<Output = Result<T, RequestFault>>,
) -> Result<T, RequestFault> {
    tokio::select! {
        biased;
        result = attempt => result,
        fault = limit => Err(fault),
    }
}

pub(super) fn check_scheme(url: &Url, plain_http: bool) -> Result<(), RequestFault> {
    if url.scheme() == "https" || plain_http || is_loopback(url) {
        return Ok(());
    }
    Err(RequestFault::PlainHttp(RedactedUrl::from(url)))
}

/// Whether the URL points to this machine, so that no other machine can read or change what is sent.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name.trim_end_matches('.') == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Returns the target of a redirect. A redirect without a target is treated as an ordinary response.
fn redirect_target(response: &Response, from: &Url) -> Result<Option<Url>, RequestFault> {
    let is_redirect = matches!(
        response.status(),
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    let location = response.headers().get(LOCATION);
    let Some(location) = location.filter(|_| is_redirect) else {
        return Ok(None);
    };
    match from.join(&String::from_utf8_lossy(location.as_bytes())) {
        Ok(target) if is_web(&target) => Ok(Some(target)),
        Ok(target) => Err(RequestFault::BadRedirect(
            RedactedUrl::from(&target).to_string(),
        )),
        Err(_) => Err(RequestFault::InvalidRedirect),
    }
}

/// Whether the URL has a host, and a scheme that this client supports.
pub(super) fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https") && url.has_host()
}

/// Determines why the HTTP client failed before a response arrived.
pub(super) fn classify(
    error: reqwest::Error,
    timeout: Duration,
    clients: &HttpClients,
    url: &Url,
) -> RequestFault {
    let error = error.without_url();
    let mut layer: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(current) = layer {
        if let Some(problem) = current.downcast_ref().and_then(CertificateProblem::of) {
            return RequestFault::Certificate(Box::new(CertificateFault {
                host: url.host_str().unwrap_or_default().to_owned(),
                problem,
                roots: clients.root_origin(),
            }));
        }
        layer = inner(current);
    }
    if error.is_timeout() {
        return RequestFault::Timeout(timeout);
    }
    let proxy = clients.proxy(url);
    RequestFault::Connect(ConnectFault::of(&error, url, proxy.as_ref()))
}
