//! Origin registries: which versions a provider has, where its packages are, and the bytes behind the URLs.
//!
//! A client is a handle: clones share connections, answers and what is known about hosts. Each answer is asked for once per
//! run, however many ask; failures are kept like other answers.

use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use reqwest::header::HeaderValue;
use url::Url;

use crate::provider::{Hostname, PackageId, Platform, ProviderAddr, Version};
use crate::redacted_url::RedactedUrl;
use crate::registry::answers::{Document, MirrorAnswer};
use crate::registry::asking::{MAX_METADATA, Shared};
use crate::registry::discovery::Service;
use crate::registry::download::{self, Download};
use crate::registry::error::RegistryError;
use crate::registry::fetch::{ByteLimit, Transport};
use crate::registry::http::Call;
use crate::registry::metadata::{AvailableVersions, PackageMeta};
use crate::registry::netrc::Netrc;
use crate::registry::settings::RegistrySettings;
use crate::reporter::Reporter;

/// Asks origin registries.
#[derive(Clone)]
pub struct RegistryClient {
    pub(super) shared: Arc<Shared>,
}

impl RegistryClient {
    /// A client for these settings.
    pub fn new(
        settings: RegistrySettings,
        reporter: Arc<dyn Reporter>,
    ) -> Result<Self, RegistryError> {
        let transport = Arc::new(Transport::new(settings.http.clone(), reporter)?);
        let netrc = Arc::new(Netrc::new(settings.netrc.clone()));
        Ok(Self {
            shared: Arc::new(Shared::new(settings, transport, netrc)),
        })
    }

    /// A client with other settings, for the other engine, that shares connections, the netrc file and what is known about
    /// hosts.
    pub fn sibling(&self, settings: RegistrySettings) -> Self {
        let transport = Arc::clone(&self.shared.transport);
        let netrc = Arc::clone(&self.shared.netrc);
        Self {
            shared: Arc::new(Shared::new(settings, transport, netrc)),
        }
    }

    /// Why the netrc file could not be read, if it was needed. The run goes on without it.
    pub fn trouble(&self) -> Option<&RegistryError> {
        self.shared.netrc.trouble()
    }

    /// The settings of this client.
    pub fn settings(&self) -> &RegistrySettings {
        &self.shared.settings
    }

    /// What tells the registry of a host from every other one that the name may lead to: the address where the configuration
    /// gives one, without what could be a secret, else the name, which discovery starts from. None where the configuration
    /// leads nowhere.
    pub fn origin(&self, host: &Hostname) -> Option<String> {
        let Some(service) = self.shared.configured(Service::Providers, host) else {
            return Some(host.as_ascii().to_owned());
        };
        Some(RedactedUrl::from(&service.ok()?.url).to_string())
    }

    /// The versions that the provider's own registry lists.
    pub async fn versions(
        &self,
        provider: &ProviderAddr,
    ) -> Result<Arc<AvailableVersions>, RegistryError> {
        let job = || self.shared.fetch_versions(provider);
        self.shared
            .versions
            .get_or_init(provider.clone(), job)
            .await
    }

    /// Where one package is and what proves it, checked against the question.
    pub async fn package_meta(
        &self,
        provider: &ProviderAddr,
        version: &Version,
        platform: &Platform,
    ) -> Result<Arc<PackageMeta>, RegistryError> {
        let package = PackageId {
            provider: provider.clone(),
            version: version.clone(),
            platform: platform.clone(),
        };
        let key = (provider.clone(), version.to_string(), platform.clone());
        let job = || self.shared.fetch_metadata(&package);
        match self.shared.metadata.get_or_init(key, job).await {
            Err(error) => Err(self.explain(&package, error).await),
            found => found,
        }
    }

    /// A checksum list, a signature or another document that is checked by other means than where it comes from.
    pub async fn document(&self, url: &Url, limit: ByteLimit) -> Result<Bytes, RegistryError> {
        Ok(self.dated_document(url, limit).await?.body)
    }

    /// When a document was last modified, if its server says so.
    pub async fn modified(
        &self,
        url: &Url,
        limit: ByteLimit,
    ) -> Result<Option<SystemTime>, RegistryError> {
        Ok(self.dated_document(url, limit).await?.modified)
    }

    async fn dated_document(&self, url: &Url, limit: ByteLimit) -> Result<Document, RegistryError> {
        let job = || self.shared.fetch_document(url, limit);
        self.shared.documents.get_or_init(url.clone(), job).await
    }

    /// A package, piece by piece. Each call is a download: keeping what it gives is for the caller.
    pub async fn download(&self, url: &Url) -> Result<Download, RegistryError> {
        let authorization = if self.shared.policies.netrc {
            self.netrc_header(url)
        } else {
            None
        };
        self.start(download::package_call(url, authorization)).await
    }

    /// The credentials for a download in the netrc file, unless the address has its own.
    pub(super) fn netrc_header(&self, url: &Url) -> Option<HeaderValue> {
        let is_allowed = self.shared.settings.allowed_hosts.allows_url(url);
        if !is_allowed || !url.username().is_empty() {
            return None;
        }
        self.shared.netrc.header(url)
    }

    /// Starts a download.
    pub(super) async fn start(&self, call: Call) -> Result<Download, RegistryError> {
        Download::start(
            Arc::clone(&self.shared.transport),
            call,
            self.shared.policies.packages,
        )
        .await
    }

    /// Asks for a document of a network mirror, with the token of its host.
    pub(super) async fn ask_mirror(
        &self,
        host: &Hostname,
        url: &Url,
        redirects: usize,
    ) -> Result<MirrorAnswer, RegistryError> {
        let shared = &self.shared;
        let mut call = Call::new(url.clone(), redirects).with_engine(shared.settings.engine);
        call.authorization = shared.authorization(host).await?;
        let with_token = call.authorization.is_some();
        let ask = shared.policies.document(call, MAX_METADATA);
        Ok(MirrorAnswer {
            answer: shared.transport.document(&ask).await,
            with_token,
        })
    }

    /// Adds to an error what the list of versions knows: it is asked for anyway, and what it says helps.
    async fn explain(&self, asked: &PackageId, mut error: RegistryError) -> RegistryError {
        match &mut error {
            RegistryError::NoPackage { published, .. } => {
                if let Ok(available) = self.versions(&asked.provider).await {
                    *published = available.platforms(&asked.version);
                }
            }
            RegistryError::PluginProtocol { suggestion, .. } => {
                if let Ok(available) = self.versions(&asked.provider).await {
                    *suggestion = available.suggestion().map(Box::new);
                }
            }
            _ => {}
        }
        error
    }
}
