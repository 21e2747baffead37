//! Requests for the tags, manifests and blobs of a repository.
//!
//! All requests use https. The content of a manifest must have the digest by which it was requested, or the digest that the
//! registry names for a tag. Callers check the digests of blobs.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, LINK};
use serde::Deserialize;
use tokio::sync::Mutex;
use url::Url;

use crate::oci::{
    IMAGE_INDEX, IMAGE_MANIFEST, OciDescriptor, OciDigest, OciProblem, RepositoryAddress,
};
use crate::once_map::OnceMap;
use crate::registry::client::RegistryClient;
use crate::registry::download::Download;
use crate::registry::error::{RegistryError, Result};
use crate::registry::oci::authorization::Authorization;
use crate::registry::oci::credentials::{OciCredentials, OciSettings};
use crate::registry::request::{ByteLimit, Request};
use crate::registry::request_purpose::RequestPurpose;
use crate::registry::transport::DocumentResponse;
use crate::registry::wire::Fields;
use crate::span::Place;

/// The maximum size of a manifest: OpenTofu accepts all that are smaller than 5 MiB.
const MAX_MANIFEST: ByteLimit = ByteLimit {
    name: "limit for manifests",
    bytes: 5 * 1024 * 1024 - 1,
};

/// The maximum size of a page of tags.
const MAX_TAG_PAGE: ByteLimit = ByteLimit {
    name: "limit for lists of tags",
    bytes: 4 * 1024 * 1024,
};

/// The maximum number of pages of tags. A page usually has 100 or 1,000 tags.
const MAX_TAG_PAGES: usize = 1000;

pub(super) const CONTENT_DIGEST: &str = "docker-content-digest";

/// The media types that a registry may return for a tag. Those of Docker are unsupported, and are included so that an error can
/// name them.
const MANIFEST_TYPES: &str = "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, \
    application/vnd.docker.distribution.manifest.v2+json, application/vnd.docker.distribution.manifest.list.v2+json";

/// A repository that receives requests. Clones share the authorization.
#[derive(Clone)]
pub struct OciRepository {
    pub(super) client: RegistryClient,
    pub(super) address: RepositoryAddress,
    pub(super) session: Arc<OciSession>,
    /// The position of the CLI configuration block that names the repository.
    configured: Option<Box<Place>>,
}

/// State shared by all requests to a repository.
#[derive(Debug, Default)]
pub(super) struct OciSession {
    pub(super) authorization: Mutex<Authorization>,
}

/// State shared by all requests to OCI registries.
#[derive(Default)]
pub(in crate::registry) struct OciState {
    pub(super) credentials: OciCredentials,
    sessions: OnceMap<RepositoryAddress, Arc<OciSession>>,
}

impl OciState {
    pub(in crate::registry) fn new(settings: OciSettings) -> Self {
        Self {
            credentials: OciCredentials::new(settings),
            sessions: OnceMap::default(),
        }
    }
}

/// A manifest whose digest has been checked.
#[derive(Clone, Debug)]
pub struct OciManifestBody {
    /// The value of the header `Content-Type`, without parameters.
    pub media_type: String,
    pub digest: OciDigest,
    pub body: Bytes,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TagPage {
    tags: Option<Vec<Option<String>>>,
}

impl RegistryClient {
    /// Returns a handle for a repository without sending a request. `configured` is the position of the CLI configuration block
    /// that names the repository.
    pub async fn oci_repository(
        &self,
        address: &RepositoryAddress,
        configured: Option<Box<Place>>,
    ) -> OciRepository {
        let new = || async { Arc::default() };
        let sessions = &self.inner.oci.sessions;
        OciRepository {
            client: self.clone(),
            session: sessions.get_or_init(address.clone(), new).await,
            address: address.clone(),
            configured,
        }
    }
}

impl OciRepository {
    pub const fn address(&self) -> &RepositoryAddress {
        &self.address
    }

    pub(super) fn state(&self) -> &OciState {
        &self.client.inner.oci
    }

    /// Returns all tags, or `None` if the repository does not exist.
    pub async fn tags(&self, purpose: &RequestPurpose) -> Result<Option<Vec<String>>> {
        let mut url = self.address.url("tags/list");
        let mut tags = Vec::new();
        let mut requested = BTreeSet::new();
        loop {
            let request = Request {
                max_body: MAX_TAG_PAGE,
                ..self.request(url.clone(), purpose)
            };
            let response = self.get(request).await?;
            if response.status == StatusCode::NOT_FOUND {
                return Ok(None);
            }
            let Fields(page): Fields<TagPage> = response.json()?;
            tags.extend(page.tags.into_iter().flatten().flatten());
            requested.insert(url);
            match next_page(&response) {
                None => return Ok(Some(tags)),
                Some(next)
                    if !response.is_from_origin() || next.origin() != response.url.origin() =>
                {
                    let problem = OciProblem::Tags("continues on a different server");
                    return Err(self.problem("", problem));
                }
                Some(next) if requested.contains(&next) || requested.len() >= MAX_TAG_PAGES => {
                    return Err(self.problem("", OciProblem::Tags("does not end")));
                }
                Some(next) => url = next,
            }
        }
    }

    /// Returns the manifest with this tag, or with this digest. Fails with status 404 if the registry does not have it.
    pub async fn manifest(
        &self,
        reference: &str,
        purpose: &RequestPurpose,
    ) -> Result<OciManifestBody> {
        self.fetch_manifest(reference, MANIFEST_TYPES, purpose)
            .await
    }

    /// Returns the manifest to which a descriptor refers. Fails if the type or size differs from the descriptor.
    pub async fn described_manifest(
        &self,
        descriptor: &OciDescriptor,
        purpose: &RequestPurpose,
    ) -> Result<OciManifestBody> {
        let reference = descriptor.digest.as_str();
        let failed = |problem| self.problem(reference, problem);
        descriptor.digest().map_err(failed)?;
        if descriptor.size > MAX_MANIFEST.bytes {
            return Err(failed(OciProblem::TooLarge {
                size: descriptor.size,
                limit: MAX_MANIFEST.bytes,
            }));
        }
        let accepted = match descriptor.media_type.as_str() {
            IMAGE_INDEX => IMAGE_INDEX,
            _ => IMAGE_MANIFEST,
        };
        let manifest = self.fetch_manifest(reference, accepted, purpose).await?;
        if manifest.media_type != accepted {
            return Err(failed(OciProblem::MediaType {
                found: manifest.media_type,
                expected: accepted,
            }));
        }
        let size = manifest.body.len() as u64;
        if size != descriptor.size {
            return Err(failed(OciProblem::Size {
                found: size,
                expected: descriptor.size,
            }));
        }
        Ok(manifest)
    }

    async fn fetch_manifest(
        &self,
        reference: &str,
        accepted: &'static str,
        purpose: &RequestPurpose,
    ) -> Result<OciManifestBody> {
        let url = self.address.url(&format!("manifests/{reference}"));
        let accept = (ACCEPT, HeaderValue::from_static(accepted));
        let request = Request {
            headers: HeaderMap::from_iter([accept]),
            max_body: MAX_MANIFEST,
            ..self.request(url, purpose)
        };
        let response = self.get(request).await?;
        if response.status == StatusCode::NOT_FOUND {
            return Err(response.status_error());
        }
        let digest = check_content(reference, &response);
        let content_type = header_text(&response.headers, CONTENT_TYPE.as_str());
        let media_type = content_type.split(';').next().unwrap_or_default();
        Ok(OciManifestBody {
            media_type: media_type.trim().to_owned(),
            digest: digest.map_err(|problem| self.problem(reference, problem))?,
            body: response.body,
        })
    }

    /// Starts downloading a blob. The caller checks its digest.
    pub async fn blob(&self, digest: &OciDigest) -> Result<Download> {
        let url = self.address.url(&format!("blobs/{digest}"));
        let mut header = self.session.authorization.lock().await.header.clone();
        for has_retry in [true, false] {
            let request = Request {
                configured: self.configured.clone(),
                plain_http: false,
                ..self.client.inner.rules.package(url.clone(), header.clone())
            };
            let is_expired = match self.client.start(request).await {
                Err(error) => match error.own_status() {
                    Some(401) => has_retry,
                    Some(403) => false,
                    _ => return Err(error),
                },
                download => return download,
            };
            // The error contains no challenge, so the last one is used. It still applies if the token has only expired.
            let renewed = if is_expired {
                self.renew_for_blob(header.as_ref()).await?
            } else {
                None
            };
            if renewed.is_none() {
                break;
            }
            header = renewed;
        }
        Err(self.unauthorized(header.as_ref()).await)
    }

    async fn renew_for_blob(&self, rejected: Option<&HeaderValue>) -> Result<Option<HeaderValue>> {
        match self.renew(None, rejected).await? {
            None => self.challenge_of_registry(rejected).await,
            renewed => Ok(renewed),
        }
    }

    /// Requests a challenge from the base URL of the registry, for the case that the blob is the first protected resource.
    async fn challenge_of_registry(
        &self,
        rejected: Option<&HeaderValue>,
    ) -> Result<Option<HeaderValue>> {
        let url = self.address.registry_url().clone();
        let request = self.request(url, &RequestPurpose::Document);
        let response = self.client.inner.transport.document(request).await?;
        if response.status != StatusCode::UNAUTHORIZED {
            return Ok(None);
        }
        self.answer_challenge(&response, rejected).await
    }

    /// Sends a request for a document. The response has status 200 or 404.
    async fn get(&self, request: Request) -> Result<DocumentResponse> {
        let response = self.send(request).await?;
        match response.status {
            StatusCode::OK | StatusCode::NOT_FOUND => Ok(response),
            _ => Err(response.status_error()),
        }
    }

    /// Sends a request. If the registry requires credentials, sends it again with them.
    pub(super) async fn send(&self, request: Request) -> Result<DocumentResponse> {
        let mut header = self.session.authorization.lock().await.header.clone();
        // Two renewals may be necessary: one because a token has expired, and one because the request needs a further scope.
        for _ in 0..2 {
            let response = self.attempt(&request, header.as_ref()).await?;
            if response.status != StatusCode::UNAUTHORIZED {
                return self.check_authorization(response).await;
            }
            header = match self.answer_challenge(&response, header.as_ref()).await? {
                None => return self.check_authorization(response).await,
                renewed => renewed,
            };
        }
        let response = self.attempt(&request, header.as_ref()).await?;
        self.check_authorization(response).await
    }

    async fn attempt(
        &self,
        request: &Request,
        header: Option<&HeaderValue>,
    ) -> Result<DocumentResponse> {
        let request = Request {
            authorization: header.cloned(),
            ..request.clone()
        };
        self.client.inner.transport.document(request).await
    }

    async fn check_authorization(&self, response: DocumentResponse) -> Result<DocumentResponse> {
        match response.status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN if response.is_from_origin() => {
                let sent = response.request.authorization.as_ref();
                Err(self.unauthorized(sent).await)
            }
            _ => Ok(response),
        }
    }

    async fn unauthorized(&self, sent: Option<&HeaderValue>) -> RegistryError {
        let known = self.session.authorization.lock().await;
        RegistryError::OciUnauthorized {
            repository: Box::new(self.address.clone()),
            place: known.place.clone().filter(|_| sent.is_some()),
            configured: self.configured.clone(),
        }
    }

    /// Returns the error for the artifact with this tag or digest. If `reference` is empty, the error names the repository.
    pub fn problem(&self, reference: &str, problem: OciProblem) -> RegistryError {
        let separator = match reference {
            "" => "",
            digest if digest.contains(':') => "@",
            _ => ":",
        };
        RegistryError::OciArtifact {
            artifact: format!("{}{separator}{reference}", self.address),
            source: Box::new(problem),
            configured: self.configured.clone(),
        }
    }

    pub(super) fn request(&self, url: Url, purpose: &RequestPurpose) -> Request {
        Request {
            configured: self.configured.clone(),
            ..self.client.inner.rules.document(url, purpose.clone())
        }
    }
}

/// Checks the content of a manifest against the requested digest and the digest in the response headers, if there are any. Returns
/// the digest of the content.
fn check_content(reference: &str, response: &DocumentResponse) -> Result<OciDigest, OciProblem> {
    let named = header_text(&response.headers, CONTENT_DIGEST);
    let mut found = OciDigest::sha256_of(&response.body);
    let requested = if reference.contains(':') {
        reference
    } else {
        ""
    };
    for text in [named.as_str(), requested] {
        if text.is_empty() {
            continue;
        }
        let expected = OciDigest::parse(text);
        let expected = expected.ok_or_else(|| OciProblem::InvalidDigest(text.to_owned()))?;
        found = OciDigest::compute(expected.algorithm(), &response.body);
        if found != expected {
            return Err(OciProblem::Digest { found, expected });
        }
    }
    Ok(found)
}

pub(super) fn header_text(headers: &HeaderMap, name: &str) -> String {
    let value = headers.get(name);
    let text = value.map(|value| String::from_utf8_lossy(value.as_bytes()));
    text.unwrap_or_default().into_owned()
}

/// Returns the address of the next page, from a header such as `Link: </v2/x/tags/list?last=y>; rel="next"`.
fn next_page(response: &DocumentResponse) -> Option<Url> {
    let link = response.headers.get(LINK)?.to_str().ok()?;
    let (target, _) = link.strip_prefix('<')?.split_once('>')?;
    response.url.join(target).ok()
}
