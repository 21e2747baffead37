//! Origin registries: which versions a provider has, where its packages are, and the bytes behind the URLs.
//!
//! A client is a handle: clones share connections, answers and what is known about hosts. Each answer is asked for once per
//! run, however many ask; failures are kept like other answers.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, HeaderValue, LAST_MODIFIED};
use url::Url;

use crate::provider::{Hostname, PackageId, Platform, ProviderAddr, Version};
use crate::registry::credentials::Credentials;
use crate::registry::discovery::{self, Service, ServiceUrl, Services};
use crate::registry::download::{self, Download};
use crate::registry::error::RegistryError;
use crate::registry::fault::{Fault, RequestError};
use crate::registry::fetch::{Answer, ByteLimit, DocumentCall, Transport};
use crate::registry::http::Call;
use crate::registry::memo::OnceMap;
use crate::registry::metadata::{AnswerError, AvailableVersions, PackageMeta};
use crate::registry::modules::ModuleAnswers;
use crate::registry::netrc;
use crate::registry::policy::Policies;
use crate::registry::settings::RegistrySettings;
use crate::registry::wire;
use crate::reporter::Reporter;

/// The largest list of versions or description of a package. The largest real list has about a megabyte.
const MAX_METADATA: ByteLimit = ByteLimit {
    name: "limit for registry answers",
    bytes: 16 * 1024 * 1024,
};

/// Asks origin registries.
#[derive(Clone)]
pub struct RegistryClient {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub(super) settings: RegistrySettings,
    pub(super) policies: Policies,
    pub(super) transport: Arc<Transport>,
    credentials: Credentials,
    services: OnceMap<Hostname, Result<Services, RegistryError>>,
    versions: OnceMap<ProviderAddr, Result<Arc<AvailableVersions>, RegistryError>>,
    metadata: OnceMap<(ProviderAddr, String, Platform), Result<Arc<PackageMeta>, RegistryError>>,
    documents: OnceMap<Url, Result<Document, RegistryError>>,
    pub(super) modules: ModuleAnswers,
}

impl RegistryClient {
    /// A client for these settings.
    pub fn new(
        settings: RegistrySettings,
        reporter: Arc<dyn Reporter>,
    ) -> Result<Self, RegistryError> {
        let transport = Arc::new(Transport::new(settings.http.clone(), reporter)?);
        Ok(Self::with_transport(settings, transport))
    }

    /// A client with other settings, for the other engine, that shares connections and what is known about hosts.
    pub fn sibling(&self, settings: RegistrySettings) -> Self {
        Self::with_transport(settings, Arc::clone(&self.shared.transport))
    }

    fn with_transport(settings: RegistrySettings, transport: Arc<Transport>) -> Self {
        Self {
            shared: Arc::new(Shared {
                policies: Policies::new(&settings),
                credentials: Credentials::new(settings.credentials.clone()),
                settings,
                transport,
                services: OnceMap::default(),
                versions: OnceMap::default(),
                metadata: OnceMap::default(),
                documents: OnceMap::default(),
                modules: ModuleAnswers::default(),
            }),
        }
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
        let mut url = service.ok()?.url;
        // Only a URL without a host refuses to have no user.
        let _ = (url.set_username(""), url.set_password(None));
        Some(url.into())
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
            self.netrc_header(url)?
        } else {
            None
        };
        self.start(download::package_call(url, authorization)).await
    }

    /// The credentials for a download in the netrc file, unless the address has its own.
    pub(super) fn netrc_header(&self, url: &Url) -> Result<Option<HeaderValue>, RegistryError> {
        match &self.shared.settings.netrc {
            Some(path) if url.username().is_empty() => netrc::header(path, url),
            _ => Ok(None),
        }
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

impl Shared {
    /// The address of a service of the host.
    pub(super) async fn service(
        &self,
        service: Service,
        host: &Hostname,
    ) -> Result<ServiceUrl, RegistryError> {
        if let Some(service) = self.configured(service, host) {
            return service;
        }
        let services = self
            .services
            .get_or_init(host.clone(), || self.discover(service, host))
            .await?;
        services.service(service, host)
    }

    /// The address of a service that the configuration gives, so that discovery does not take place.
    fn configured(
        &self,
        service: Service,
        host: &Hostname,
    ) -> Option<Result<ServiceUrl, RegistryError>> {
        let settings = &self.settings;
        if let Some(base) = settings.base_url.as_ref().filter(|base| base.host == *host) {
            return Some(ServiceUrl::fixed(service, base));
        }
        let services = Services::configured(host, settings.hosts.get(host)?)?;
        Some(services.service(service, host))
    }

    async fn discover(&self, service: Service, host: &Hostname) -> Result<Services, RegistryError> {
        let url = discovery::document_url(host).ok_or_else(|| RegistryError::ServiceUrl {
            service,
            host: host.clone(),
            problem: "no address can be made of the host name",
            configured: None,
        })?;
        // A helper that fails is a failure only where its answer is needed: in what follows.
        let authorization = self.credentials.header(host).await.unwrap_or_default();
        let mut call =
            Call::new(url.clone(), discovery::redirects(self.settings.engine)).with_json();
        call.authorization = authorization;
        let ask = DocumentCall {
            call,
            policy: self.policies.discovery,
            timeout: self.policies.discovery_timeout,
            limit: discovery::MAX_DISCOVERY,
        };
        let failed = |source: RequestError| RegistryError::Discovery {
            host: host.clone(),
            source: Arc::new(source),
        };
        let answer = self.transport.document(&ask).await.map_err(failed)?;
        Services::read(&answer).map_err(|fault| failed(answer.refused(&url, fault)))
    }

    async fn fetch_versions(
        &self,
        provider: &ProviderAddr,
    ) -> Result<Arc<AvailableVersions>, RegistryError> {
        let failed = |source: RequestError| RegistryError::Versions {
            provider: Box::new(provider.clone()),
            source: Arc::new(source),
        };
        let path = [&provider.namespace, &provider.type_name, "versions"];
        let service = self.service(Service::Providers, &provider.hostname).await?;
        let answer = self.ask(service, &provider.hostname, &path, failed).await?;
        if answer.answer.status == StatusCode::NOT_FOUND {
            return Err(RegistryError::UnknownProvider {
                provider: Box::new(provider.clone()),
            });
        }
        let body = answer.body().map_err(failed)?;
        let list = AvailableVersions::parse(provider, body).map(Arc::new);
        list.map_err(|error| answer.unusable(error, failed))
    }

    async fn fetch_metadata(&self, asked: &PackageId) -> Result<Arc<PackageMeta>, RegistryError> {
        let failed = |source: RequestError| RegistryError::Metadata {
            package: Box::new(asked.clone()),
            source: Arc::new(source),
        };
        let PackageId {
            provider,
            version,
            platform,
        } = asked;
        let version_text = version.to_string();
        let path = [
            &provider.namespace,
            &provider.type_name,
            version_text.as_str(),
            "download",
            &platform.os,
            &platform.arch,
        ];
        let service = self.service(Service::Providers, &provider.hostname).await?;
        let answer = self.ask(service, &provider.hostname, &path, failed).await?;
        if answer.answer.status == StatusCode::NOT_FOUND {
            return Err(RegistryError::NoPackage {
                package: Box::new(asked.clone()),
                published: BTreeSet::new(),
            });
        }
        let body = answer.body().map_err(failed)?;
        let meta = PackageMeta::parse(asked, body, &answer.answer.url).map(Arc::new);
        meta.map_err(|error| answer.unusable(error, failed))
    }

    /// Asks an endpoint of a registry of the host.
    pub(super) async fn ask(
        &self,
        service: ServiceUrl,
        host: &Hostname,
        path: &[&str],
        failed: impl Fn(RequestError) -> RegistryError,
    ) -> Result<ServiceAnswer, RegistryError> {
        let mut call = Call::new(service.endpoint(path), self.policies.redirects)
            .with_engine(self.settings.engine);
        call.plain_http = service.plain_http;
        if service.with_token {
            call.authorization = self.authorization(host).await?;
        }
        let url = call.url.clone();
        let rejected = call.authorization.is_some();
        let answer = self
            .transport
            .document(&self.policies.document(call, MAX_METADATA))
            .await;
        let answer = answer.map_err(|error| {
            failed(RequestError {
                configured: service.configured.clone(),
                ..error
            })
        })?;
        if matches!(
            answer.status,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN
        ) {
            return Err(RegistryError::Unauthorized {
                host: host.clone(),
                rejected,
            });
        }
        let answer = ServiceAnswer {
            answer,
            url,
            service,
        };
        match answer.answer.status {
            StatusCode::OK | StatusCode::NO_CONTENT | StatusCode::NOT_FOUND => Ok(answer),
            _ => Err(failed(answer.refused(answer.answer.status_fault()))),
        }
    }

    async fn authorization(&self, host: &Hostname) -> Result<Option<HeaderValue>, RegistryError> {
        let header = self.credentials.header(host).await;
        header.map_err(|source| RegistryError::Credentials {
            host: host.clone(),
            source: Box::new(source),
        })
    }

    async fn fetch_document(&self, url: &Url, limit: ByteLimit) -> Result<Document, RegistryError> {
        let failed = |source: RequestError| RegistryError::Document {
            source: Arc::new(source),
        };
        let mut call = Call::new(url.clone(), self.policies.redirects);
        call.plain_http = true;
        let answer = self
            .transport
            .document(&self.policies.document(call, limit))
            .await
            .map_err(failed)?;
        match answer.status {
            StatusCode::OK => Ok(Document {
                modified: modified(&answer.headers),
                body: answer.body,
            }),
            _ => Err(failed(answer.refused(url, answer.status_fault()))),
        }
    }
}

/// A document, and when its server last changed it.
#[derive(Clone)]
struct Document {
    body: Bytes,
    modified: Option<SystemTime>,
}

fn modified(headers: &HeaderMap) -> Option<SystemTime> {
    let date = headers.get(LAST_MODIFIED)?.to_str().ok()?;
    httpdate::parse_http_date(date).ok()
}

/// An answer of a mirror, or the lack of one.
pub(super) struct MirrorAnswer {
    pub(super) answer: Result<Answer, RequestError>,
    pub(super) with_token: bool,
}

/// An answer of a registry, with the way to it.
pub(super) struct ServiceAnswer {
    pub(super) answer: Answer,
    /// What was asked, before redirects.
    pub(super) url: Url,
    pub(super) service: ServiceUrl,
}

impl ServiceAnswer {
    pub(super) fn json<'a, T: serde::Deserialize<'a>>(&'a self) -> Result<T, RequestError> {
        wire::read(self.body()?)
            .map_err(|error: serde_json::Error| self.refused(self.answer.json_fault(&error)))
    }

    /// The body, which some statuses do not have.
    fn body(&self) -> Result<&[u8], RequestError> {
        match self.answer.status {
            StatusCode::NO_CONTENT => Err(self.refused(self.answer.status_fault())),
            _ => Ok(&self.answer.body),
        }
    }

    fn unusable(
        &self,
        error: AnswerError,
        failed: impl Fn(RequestError) -> RegistryError,
    ) -> RegistryError {
        match error {
            AnswerError::Json(error) => failed(self.refused(self.answer.json_fault(&error))),
            AnswerError::Content(error) => *error,
        }
    }

    pub(super) fn refused(&self, fault: Fault) -> RequestError {
        RequestError {
            configured: self.service.configured.clone(),
            ..self.answer.refused(&self.url, fault)
        }
    }
}
