//! Requests that the hash index and object store clients send. They use the same proxies and certificates as requests to registries.
//!
//! The failure history of hosts is separate: a failing index must not affect a registry on the same host.

use std::sync::Arc;

use bytes::Bytes;
use reqwest::header::CONTENT_LENGTH;
use reqwest::{Method, StatusCode};
use url::Url;

use crate::provider::Engine;
use crate::registry::client::RegistryClient;
use crate::registry::error::RegistryError;
use crate::registry::http_clients::ContentKind;
use crate::registry::request::{ByteLimit, Request, RequestRules, check_scheme, classify};
use crate::registry::request_error::{CauseText, RequestFault};
use crate::registry::request_purpose::RequestPurpose;
use crate::registry::retry::RetryPolicy;
use crate::registry::settings::RegistrySettings;
use crate::registry::transport::{Transport, read_body, status_fault};

/// Sends requests of the hash index and of object store clients. Clones share connections.
#[derive(Clone)]
pub struct HttpExchange {
    transport: Arc<Transport>,
    rules: RequestRules,
}

impl HttpExchange {
    /// Creates an exchange with the connections and certificates of `client`. The request timeout of `client` does not apply.
    pub fn new(client: &RegistryClient) -> Self {
        let http = client.settings().http.clone();
        Self {
            transport: Arc::new(client.inner.transport.separate()),
            rules: RequestRules::new(&RegistrySettings {
                http,
                ..RegistrySettings::new(Engine::Terraform)
            }),
        }
    }

    /// Fetches a document over https, or over plain http from this machine. Follows redirects. `None` if the server has no such document.
    pub async fn document(
        &self,
        url: &Url,
        max_body: ByteLimit,
    ) -> Result<Option<Bytes>, RequestFault> {
        let request = Request {
            retry: RetryPolicy::index(),
            max_body,
            ..self.rules.document(url.clone(), RequestPurpose::Document)
        };
        match self.transport.document(request).await {
            Ok(response) => match response.status {
                StatusCode::OK => Ok(Some(response.body)),
                StatusCode::NOT_FOUND | StatusCode::GONE => Ok(None),
                _ => Err(response.status_fault()),
            },
            Err(RegistryError::Request { source, .. }) => Err(source.fault.clone()),
            Err(error) => Err(RequestFault::Setup(CauseText::innermost(&error))),
        }
    }

    /// Sends a request that a client of a cloud's object store has prepared, and reads the whole response. After a temporary
    /// failure, the request is sent once more. Redirects are not followed, because they would need a new signature.
    ///
    /// Plain http is allowed on loopback and, if `plain_http` is set, to any host: the services that give credentials to cloud
    /// machines use plain http.
    pub async fn exchange(
        &self,
        request: http::Request<Bytes>,
        plain_http: bool,
        max_body: ByteLimit,
    ) -> Result<http::Response<Bytes>, RequestFault> {
        let retry = RetryPolicy::index();
        match self.attempt(request.clone(), plain_http, max_body).await {
            Err(fault) if retry.covers(&fault) => {
                self.transport.settings.pause.pause(retry.base).await;
                self.attempt(request, plain_http, max_body).await
            }
            result => result,
        }
    }

    async fn attempt(
        &self,
        request: http::Request<Bytes>,
        plain_http: bool,
        max_body: ByteLimit,
    ) -> Result<http::Response<Bytes>, RequestFault> {
        if self.transport.settings.offline {
            return Err(RequestFault::Offline);
        }
        let invalid = |error: &dyn std::error::Error| {
            RequestFault::Setup(CauseText::text(&error.to_string()))
        };
        let request = reqwest::Request::try_from(request);
        let mut request = request.map_err(|error| invalid(&error.without_url()))?;
        // The request is already signed, so a user name or password in the URL of the endpoint is not needed. It would appear in logs.
        let url = request.url_mut();
        let cleared = url.set_username("").and_then(|()| url.set_password(None));
        cleared.map_err(|()| RequestFault::Setup(CauseText::text("the URL has no host")))?;
        check_scheme(request.url(), plain_http)?;
        let clients = &self.transport.clients;
        let client = clients.client(ContentKind::Document, request.url())?;
        let url = request.url().clone();
        let (timeout, is_head) = (self.rules.timeout(), request.method() == Method::HEAD);
        let answer = async {
            let response = client.execute(request).await;
            let response = response.map_err(|error| classify(error, timeout, clients, &url))?;
            check_status(response.status())?;
            let (status, headers) = (response.status(), response.headers().clone());
            let body = read_body(response, max_body).await?;
            let mut answer = http::Response::new(body);
            (*answer.status_mut(), *answer.headers_mut()) = (status, headers);
            if !is_head {
                // The HTTP client removes the header if it decompresses the body, but object stores require it.
                let length = answer.body().len().into();
                answer.headers_mut().insert(CONTENT_LENGTH, length);
            }
            Ok(answer)
        };
        let answer = tokio::time::timeout(timeout, answer).await;
        answer.unwrap_or(Err(RequestFault::Timeout(timeout)))
    }
}

/// Fails unless the object store's client handles the status itself: success, a missing object, or a condition that is not met.
fn check_status(status: StatusCode) -> Result<(), RequestFault> {
    match status {
        StatusCode::NOT_MODIFIED
        | StatusCode::NOT_FOUND
        | StatusCode::CONFLICT
        | StatusCode::PRECONDITION_FAILED => Ok(()),
        status if status.is_success() => Ok(()),
        status => Err(status_fault(status, false)),
    }
}
