//! Responds to the authentication challenges of registries.
//!
//! The first request to a repository has no credentials. If the registry responds with a challenge, the credentials for the
//! repository are sent as they are (`Basic`) or exchanged for a token with the scope of the repository (`Bearer`).
//!
//! A compromised registry could name any server as its token server. The token server gets the credentials for the registry only if
//! its host name is that of the registry or a parent domain of it, or if both belong to Docker Hub. Any other server gets the
//! credentials that are configured for its own name, if there are any. OpenTofu sends the registry's credentials to any https server.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::StatusCode;
use reqwest::header::{HeaderValue, WWW_AUTHENTICATE};
use url::{Host, Url};

use crate::oci::{OciChallenge, OciCredential};
use crate::registry::credentials::CredentialsError;
use crate::registry::error::{RegistryError, Result};
use crate::registry::oci::credentials::PlacedCredential;
use crate::registry::oci::repository::OciRepository;
use crate::registry::request::{ByteLimit, Request};
use crate::registry::request_purpose::RequestPurpose;
use crate::registry::transport::DocumentResponse;
use crate::registry::wire::{Fields, TokenAnswer};

/// The maximum size of the response of a server that issues tokens.
const MAX_TOKEN: ByteLimit = ByteLimit {
    name: "limit for tokens",
    bytes: 1024 * 1024,
};

/// The maximum number of scopes of a token. Registries use one or two.
const MAX_SCOPES: usize = 8;

/// The authorization of requests to a repository, as known from earlier responses.
#[derive(Debug, Default)]
pub(super) struct Authorization {
    /// The header to send.
    pub(super) header: Option<HeaderValue>,
    /// The source of the credentials in the header, for messages. `None` for an anonymous token.
    pub(super) place: Option<String>,
    /// The last challenge of the registry.
    challenge: Option<OciChallenge>,
    scopes: BTreeSet<String>,
}

impl OciRepository {
    /// Reacts to a response with status 401. `rejected` is the header of the request. Returns the header for another attempt, or
    /// `None` if no other header is available.
    pub(super) async fn answer_challenge(
        &self,
        response: &DocumentResponse,
        rejected: Option<&HeaderValue>,
    ) -> Result<Option<HeaderValue>> {
        // A server to which the registry redirects must not learn any credentials.
        if !response.is_from_origin() {
            return Ok(None);
        }
        let header = response.headers.get(WWW_AUTHENTICATE);
        let challenge = header.and_then(|header| OciChallenge::parse(header.to_str().ok()?));
        self.renew(challenge, rejected).await
    }

    /// Replaces a header that the registry has rejected, according to `challenge` or else the last challenge. `None` if no other
    /// header is available.
    pub(super) async fn renew(
        &self,
        challenge: Option<OciChallenge>,
        rejected: Option<&HeaderValue>,
    ) -> Result<Option<HeaderValue>> {
        let mut known = self.session.authorization.lock().await;
        if known.header.as_ref() != rejected {
            // Another request has replaced the header in the meantime.
            return Ok(known.header.clone());
        }
        if challenge.is_some() {
            known.challenge = challenge;
        }
        let Some(challenge) = known.challenge.clone() else {
            return Ok(None);
        };
        let credential = self.credential().await?;
        let header = match (challenge, &credential) {
            (OciChallenge::Basic, Some(found)) => self.basic(&found.credential)?,
            (OciChallenge::Basic, None) => None,
            (OciChallenge::Bearer { .. }, Some(found))
                if matches!(found.credential, OciCredential::AccessToken(_)) =>
            {
                self.bearer(&found.credential)?
            }
            (
                OciChallenge::Bearer {
                    realm,
                    service,
                    scope,
                },
                _,
            ) => {
                known.scopes.extend(self.scopes(scope.as_deref()));
                let request = self.token_request(&realm, service, &known.scopes)?;
                Some(self.fetch_token(request, credential.as_ref()).await?)
            }
        };
        if header.as_ref() == rejected {
            return Ok(None);
        }
        known.header.clone_from(&header);
        known.place = credential.map(|found| found.place);
        Ok(header)
    }

    async fn credential(&self) -> Result<Option<PlacedCredential>> {
        let (registry, name) = (self.address.registry(), self.address.name());
        let found = self.state().credentials.find(registry, name).await;
        found.map_err(|source| self.credentials_error(source))
    }

    fn credentials_error(&self, source: CredentialsError) -> RegistryError {
        RegistryError::OciCredentials {
            registry: self.address.registry().to_owned(),
            source: Box::new(source),
        }
    }

    fn basic(&self, credential: &OciCredential) -> Result<Option<HeaderValue>> {
        let OciCredential::Password { username, password } = credential else {
            return Ok(None);
        };
        let text = STANDARD.encode(format!("{username}:{password}"));
        self.header(&format!("Basic {text}")).map(Some)
    }

    fn bearer(&self, credential: &OciCredential) -> Result<Option<HeaderValue>> {
        match credential {
            OciCredential::AccessToken(token) => self.header(&format!("Bearer {token}")).map(Some),
            OciCredential::Password { .. } => Ok(None),
        }
    }

    fn header(&self, text: &str) -> Result<HeaderValue> {
        let value = HeaderValue::from_str(text);
        let mut value = value.map_err(|_secret| self.credentials_error(CredentialsError::Token))?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// Returns the scopes to request: `pull` for this repository, and the other scopes that the registry names for it.
    fn scopes(&self, named: Option<&str>) -> BTreeSet<String> {
        let own = format!("repository:{}:", self.address.name());
        let named = named.unwrap_or_default().split(' ');
        let mut scopes: BTreeSet<_> = named
            .filter(|scope| scope.starts_with(&own))
            .take(MAX_SCOPES)
            .map(str::to_owned)
            .collect();
        scopes.insert(format!("{own}pull"));
        scopes
    }

    fn token_request(
        &self,
        realm: &str,
        service: Option<String>,
        scopes: &BTreeSet<String>,
    ) -> Result<Request> {
        let unusable = |problem| RegistryError::TokenServer {
            repository: Box::new(self.address.clone()),
            problem,
        };
        let mut url = Url::parse(realm).map_err(|_no_url| unusable("it is not a valid URL"))?;
        if url.scheme() != "https" {
            return Err(unusable("it does not begin with `https://`"));
        }
        let registry = self.address.registry_url();
        if is_internal(&url) && url.host() != registry.host() {
            return Err(unusable("it is an address in a private network"));
        }
        let service = service.map(|service| ("service", service));
        let scopes = scopes.iter().map(|scope| ("scope", scope.clone()));
        url.query_pairs_mut()
            .extend_pairs(service.into_iter().chain(scopes));
        let purpose = RequestPurpose::OciToken(Box::new(self.address.clone()));
        Ok(Request {
            max_body: MAX_TOKEN,
            ..self.client.inner.rules.document(url, purpose)
        })
    }

    /// Requests a token. Without credentials, the token is for anonymous users.
    async fn fetch_token(
        &self,
        mut request: Request,
        credential: Option<&PlacedCredential>,
    ) -> Result<HeaderValue> {
        let server = authority(&request.url);
        let is_trusted = self.trusts(&request.url);
        let credential = match credential {
            Some(found) if !is_trusted => {
                let own = self.state().credentials.find(&server, "").await;
                let own = own.map_err(|source| self.credentials_error(source))?;
                if own.is_none() {
                    tracing::info!(registry = self.address.registry(), %server, place = %found.place, "credentials withheld");
                }
                own
            }
            other => other.cloned(),
        };
        if let Some(found) = &credential {
            request.authorization = self.basic(&found.credential)?;
        }
        let response = self.client.inner.transport.document(request).await?;
        match response.status {
            StatusCode::OK => {}
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN if response.is_from_origin() => {
                return Err(RegistryError::TokenRefused {
                    repository: Box::new(self.address.clone()),
                    place: credential.map(|found| found.place),
                    server,
                    is_trusted,
                });
            }
            _ => return Err(response.status_error()),
        }
        let Fields(TokenAnswer {
            token,
            access_token,
        }) = response.json()?;
        let token = if access_token.is_empty() {
            token
        } else {
            access_token
        };
        if token.is_empty() {
            return Err(RegistryError::TokenServer {
                repository: Box::new(self.address.clone()),
                problem: "its response has no token",
            });
        }
        self.header(&format!("Bearer {token}"))
    }

    /// Whether the server may get the credentials for the registry; see the module documentation.
    fn trusts(&self, server: &Url) -> bool {
        match (self.address.registry_url().host(), server.host()) {
            (Some(Host::Domain(registry)), Some(Host::Domain(server))) => {
                let is_parent = server.contains('.')
                    && registry
                        .strip_suffix(server)
                        .is_some_and(|rest| rest.ends_with('.'));
                let is_docker_hub =
                    |name: &str| name == "docker.io" || name.ends_with(".docker.io");
                registry == server || is_parent || is_docker_hub(registry) && is_docker_hub(server)
            }
            (registry, server) => registry == server,
        }
    }
}

/// Returns the host name of an address, with the port unless it is the default port of the scheme.
fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

/// Whether the host is a loopback, link-local, private or unspecified IP address, such as that of a cloud's metadata service.
fn is_internal(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => {
            address.is_loopback()
                || address.is_link_local()
                || address.is_private()
                || address.is_unspecified()
        }
        Some(Host::Ipv6(address)) => {
            address.is_loopback()
                || address.is_unicast_link_local()
                || address.is_unique_local()
                || address.is_unspecified()
        }
        _ => false,
    }
}
