//! Uploads of blobs and manifests.
//!
//! A blob is uploaded with two requests: the first obtains an address, the second sends the whole content to it. A failed upload
//! starts again with the first request, because the registry may have stored a part of the content.

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use url::Url;

use crate::oci::{OciDigest, OciProblem};
use crate::redacted_url::RedactedUrl;
use crate::registry::error::{RegistryError, Result};
use crate::registry::oci::repository::{CONTENT_DIGEST, OciRepository, header_text};
use crate::registry::request::{MAX_PACKAGE, Request};
use crate::registry::request_method::{RequestContent, RequestMethod};
use crate::registry::request_purpose::RequestPurpose;
use crate::registry::retry::{RetryPolicy, jitter};
use crate::registry::transport::DocumentResponse;

impl OciRepository {
    /// Uploads a blob, unless the repository has it.
    pub(super) async fn push_blob(
        &self,
        digest: &OciDigest,
        content: &RequestContent,
    ) -> Result<()> {
        if self.has_blob(digest).await? {
            return Ok(());
        }
        let transport = &self.client.inner.transport;
        let policy = self.client.inner.rules.packages();
        let mut retries = 0;
        loop {
            match self.upload(digest, content).await {
                Err(error) if retries < policy.retries && error.is_retried_by(policy) => {
                    let wait = policy.wait(retries, None, jitter());
                    transport.settings.pause.pause(wait).await;
                    retries += 1;
                }
                result => return result,
            }
        }
    }

    /// Stores a manifest under a tag. If the tag exists, it then refers to the new manifest.
    pub(super) async fn push_manifest(
        &self,
        tag: &str,
        media_type: &'static str,
        manifest: Vec<u8>,
    ) -> Result<()> {
        let url = self.address.url(&format!("manifests/{tag}"));
        let digest = OciDigest::sha256_of(&manifest);
        let content = RequestContent::Bytes(Bytes::from(manifest));
        let request = Request {
            headers: HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(media_type))]),
            ..self.change(RequestMethod::Put(content), url)
        };
        let response = self.store_manifest(request).await?;
        let found = header_text(&response.headers, CONTENT_DIGEST);
        if found.is_empty() || found == digest.to_string() {
            return Ok(());
        }
        let problem = OciProblem::Stored {
            found,
            expected: digest,
        };
        Err(self.problem(tag, problem))
    }

    /// Sends a manifest. While another process stores the same blobs, some registries claim that the blobs do not exist or are
    /// invalid (seen with Distribution 2.8), so such a response is retried.
    async fn store_manifest(&self, request: Request) -> Result<DocumentResponse> {
        let policy = self.client.inner.rules.packages();
        let mut retries = 0;
        loop {
            let response = self.send(request.clone()).await?;
            let may_change = matches!(
                response.status,
                StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND
            );
            if response.status.is_success() {
                return Ok(response);
            }
            if !may_change || retries >= policy.retries {
                return Err(response.status_error());
            }
            let wait = policy.wait(retries, None, jitter());
            let transport = &self.client.inner.transport;
            transport.settings.pause.pause(wait).await;
            retries += 1;
        }
    }

    async fn has_blob(&self, digest: &OciDigest) -> Result<bool> {
        let url = self.address.url(&format!("blobs/{digest}"));
        let purpose = RequestPurpose::OciPush(Box::new(self.address.clone()));
        let request = Request {
            method: RequestMethod::Head,
            // The limit also applies to the size in the headers, even though the response has no body.
            max_body: MAX_PACKAGE,
            ..self.request(url, &purpose)
        };
        let response = self.send(request).await?;
        match response.status {
            StatusCode::OK => Ok(true),
            StatusCode::NOT_FOUND => Ok(false),
            _ => Err(response.status_error()),
        }
    }

    async fn upload(&self, digest: &OciDigest, content: &RequestContent) -> Result<()> {
        let url = self.address.url("blobs/uploads/");
        let started = self.change(RequestMethod::Post, url);
        let started = self.expect_success(started).await?;
        let mut url = self.upload_address(digest, &started)?;
        url.query_pairs_mut()
            .append_pair("digest", &digest.to_string());
        let binary = HeaderValue::from_static("application/octet-stream");
        let request = Request {
            headers: HeaderMap::from_iter([(CONTENT_TYPE, binary)]),
            retry: RetryPolicy::standard(0),
            timeout: self.client.inner.transport.settings.stall_timeout,
            ..self.change(RequestMethod::Put(content.clone()), url)
        };
        self.expect_success(request).await.map(drop)
    }

    /// Returns the address that the registry names for an upload. Fails if it is on a different server, because the upload carries
    /// credentials.
    fn upload_address(&self, digest: &OciDigest, started: &DocumentResponse) -> Result<Url> {
        let location = header_text(&started.headers, LOCATION.as_str());
        let url = match started.url.join(&location) {
            Ok(url) if !location.is_empty() => url,
            _ => return Err(self.problem(&digest.to_string(), OciProblem::NoUpload)),
        };
        if url.origin() == started.url.origin() {
            return Ok(url);
        }
        let problem = OciProblem::UploadElsewhere(RedactedUrl::from(&url));
        Err(self.problem(&digest.to_string(), problem))
    }

    /// Returns a request that changes the repository. Redirects are not followed.
    fn change(&self, method: RequestMethod, url: Url) -> Request {
        let purpose = RequestPurpose::OciPush(Box::new(self.address.clone()));
        Request {
            method,
            max_redirects: 0,
            ..self.request(url, &purpose)
        }
    }

    async fn expect_success(&self, request: Request) -> Result<DocumentResponse> {
        let response = self.send(request).await?;
        if response.status.is_success() {
            return Ok(response);
        }
        Err(response.status_error())
    }
}

impl RegistryError {
    /// Whether `policy` retries the request after this failure.
    fn is_retried_by(&self, policy: RetryPolicy) -> bool {
        matches!(self, Self::Request { source, .. } if policy.covers(&source.fault))
    }
}
