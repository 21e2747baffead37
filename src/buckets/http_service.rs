//! Connects the clients of object stores to tflock's HTTP client.

use std::fmt;

use async_trait::async_trait;
use http::header::AUTHORIZATION;
use http_body_util::BodyExt as _;
use object_store::ClientOptions;
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest,
    HttpResponse, HttpService,
};

use crate::registry::{ByteLimit, HttpExchange};

/// The maximum size of any response: records and credentials are small, and a list of 1,000 records takes less than 1 MiB.
const MAX_RESPONSE: ByteLimit = ByteLimit {
    name: "limit for responses of object stores",
    bytes: 8 * 1024 * 1024,
};

/// Creates the HTTP clients of object stores.
#[derive(Clone)]
pub(super) struct ExchangeConnector(pub(super) HttpExchange);

impl fmt::Debug for ExchangeConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExchangeConnector")
    }
}

impl HttpConnector for ExchangeConnector {
    /// Applies only one of the options: whether plain http is allowed, which the services that give credentials require. The other
    /// options concern proxies, certificates and time limits, for which the settings of tflock apply.
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let plain_http = options.get_config_value(&ClientConfigKey::AllowHttp);
        Ok(HttpClient::new(ExchangeService {
            connector: self.clone(),
            plain_http: plain_http.as_deref() == Some("true"),
        }))
    }
}

#[derive(Debug)]
struct ExchangeService {
    connector: ExchangeConnector,
    plain_http: bool,
}

#[async_trait]
impl HttpService for ExchangeService {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let request = http::Request::from_parts(parts, body);
        let exchange = &self.connector.0;
        // Over plain http, other machines could read and reuse a token. Requests to the services that give credentials contain none.
        let plain_http = self.plain_http && !has_bearer_token(&request);
        let answer = exchange.exchange(request, plain_http, MAX_RESPONSE).await;
        // This kind keeps `object_store` from retrying. The exchange has already retried temporary failures.
        let answer = answer.map_err(|fault| HttpError::new(HttpErrorKind::Unknown, fault))?;
        Ok(answer.map(Into::into))
    }
}

fn has_bearer_token<T>(request: &http::Request<T>) -> bool {
    let authorization = request.headers().get(AUTHORIZATION);
    authorization.is_some_and(|value| value.as_bytes().starts_with(b"Bearer "))
}
