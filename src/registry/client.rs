//! The client of origin registries: lists versions, describes packages and downloads them.
//!
//! Clones share connections, responses, and the failure history of each host. Each document is requested at most once per run, even
//! if the request fails.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::{HeaderValue, LAST_MODIFIED};
use url::Url;

use crate::once_map::OnceMap;
use crate::provider::{Engine, Hostname, PackageId, ProviderAddr};
use crate::redacted_url::RedactedUrl;
use crate::registry::credentials::Credentials;
use crate::registry::discovery::{self, Service, ServiceUrl, Services};
use crate::registry::download::Download;
use crate::registry::error::{RegistryError, Result};
use crate::registry::metadata::{AvailableVersions, PackageMeta};
use crate::registry::module_registry::ModuleAnswers;
use crate::registry::netrc::Netrc;
use crate::registry::oci::OciState;
use crate::registry::request::{ByteLimit, Request, RequestRules, VERSION_HEADER, engine_version};
use crate::registry::request_purpose::RequestPurpose;
use crate::registry::settings::RegistrySettings;
use crate::registry::transport::{DocumentResponse, Transport};
use crate::reporter::Reporter;

#[derive(Clone)]
pub struct RegistryClient {
    pub(super) inner: Arc<ClientInner>,
}

/// State shared by all clones of a client: settings, connections, and the responses so far.
pub(super) struct ClientInner {
    settings: RegistrySettings,
    pub(super) rules: RequestRules,
    pub(super) transport: Arc<Transport>,
    credentials: Credentials,
    netrc: Arc<Netrc>,
    services: OnceMap<Hostname, Result<Services>>,
    versions: OnceMap<ProviderAddr, Result<Arc<AvailableVersions>>>,
    metadata: OnceMap<PackageId, Result<Arc<PackageMeta>>>,
    documents: OnceMap<Url, Result<DatedDocument>>,
    pub(super) modules: ModuleAnswers,
    pub(super) oci: OciState,
}

/// A document and its last-modification time, if the server sends one.
type DatedDocument = (Bytes, Option<SystemTime>);

impl RegistryClient {
    /// Creates a client. Fails if the certificates in the settings are invalid.
    pub fn new(settings: RegistrySettings, reporter: Arc<dyn Reporter>) -> Result<Self> {
        let transport = Arc::new(Transport::new(settings.http.clone(), reporter)?);
        let netrc = Arc::new(Netrc::new(settings.netrc.clone()));
        Ok(Self::with_transport(settings, transport, netrc))
    }

    /// Creates a client for the other engine. It shares connections, the netrc file and the failure history of hosts with this client.
    pub fn sibling(&self, settings: RegistrySettings) -> Self {
        let transport = Arc::clone(&self.inner.transport);
        Self::with_transport(settings, transport, Arc::clone(&self.inner.netrc))
    }

    fn with_transport(
        settings: RegistrySettings,
        transport: Arc<Transport>,
        netrc: Arc<Netrc>,
    ) -> Self {
        let inner = ClientInner {
            netrc,
            rules: RequestRules::new(&settings),
            credentials: Credentials::new(settings.credentials.clone()),
            oci: OciState::new(settings.oci.clone()),
            settings,
            transport,
            services: OnceMap::default(),
            versions: OnceMap::default(),
            metadata: OnceMap::default(),
            documents: OnceMap::default(),
            modules: ModuleAnswers::default(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Returns the error from reading the netrc file. `None` if the file was read, or if no request needed it. The run continues
    /// without the file.
    pub fn netrc_error(&self) -> Option<&RegistryError> {
        self.inner.netrc.error()
    }

    pub fn settings(&self) -> &RegistrySettings {
        &self.inner.settings
    }

    /// Identifies the registry that serves a host name. Returns the registry's configured address without secrets, or the host name
    /// if discovery determines the address. `None` if the configured address is invalid.
    pub fn origin(&self, host: &Hostname) -> Option<String> {
        let Some(service) = self.inner.configured_service(Service::Providers, host) else {
            return Some(host.as_ascii().to_owned());
        };
        Some(RedactedUrl::from(&service.ok()?.url).to_string())
    }

    pub async fn versions(&self, provider: &ProviderAddr) -> Result<Arc<AvailableVersions>> {
        let fetch = || self.inner.fetch_versions(provider);
        let versions = self.inner.versions.get_or_init(provider.clone(), fetch);
        versions.await
    }

    /// Returns the registry's description of a package, after checking that it describes this package.
    pub async fn package_meta(&self, package: &PackageId) -> Result<Arc<PackageMeta>> {
        let fetch = || self.inner.fetch_metadata(package);
        let meta = self.inner.metadata.get_or_init(package.clone(), fetch);
        match meta.await {
            Err(error) => Err(self.complete_error(package, error).await),
            meta => meta,
        }
    }

    /// Fetches a document whose content is verified independently of its server, such as a checksum list or a signature.
    pub async fn document(&self, url: &Url, limit: ByteLimit) -> Result<Bytes> {
        Ok(self.dated_document(url, limit).await?.0)
    }

    /// Returns when a document was last modified, if the server says so.
    pub async fn modified(&self, url: &Url, limit: ByteLimit) -> Result<Option<SystemTime>> {
        Ok(self.dated_document(url, limit).await?.1)
    }

    async fn dated_document(&self, url: &Url, limit: ByteLimit) -> Result<DatedDocument> {
        let fetch = || self.inner.fetch_document(url, limit);
        self.inner.documents.get_or_init(url.clone(), fetch).await
    }

    /// Starts downloading a provider package. Downloads are not shared: each call sends a request. Credentials from the netrc file
    /// are used only if the engine is Terraform.
    pub async fn download(&self, url: &Url) -> Result<Download> {
        let authorization = match self.settings().engine {
            Engine::Terraform => self.netrc_header(url),
            Engine::Tofu => None,
        };
        self.start(self.inner.rules.package(url.clone(), authorization))
            .await
    }

    /// Returns the netrc credentials for a download. `None` if the URL contains a user name or its host is not allowed.
    pub(super) fn netrc_header(&self, url: &Url) -> Option<HeaderValue> {
        let is_allowed = self.settings().allowed_hosts.allows_url(url);
        if !is_allowed || !url.username().is_empty() {
            return None;
        }
        self.inner.netrc.header(url)
    }

    pub(super) async fn start(&self, request: Request) -> Result<Download> {
        Download::start(Arc::clone(&self.inner.transport), request).await
    }

    /// Adds the published platforms or a suitable version to an error. Both come from the version list, which most runs request
    /// anyway.
    async fn complete_error(&self, package: &PackageId, mut error: RegistryError) -> RegistryError {
        match &mut error {
            RegistryError::NoPackage { published, .. } => {
                if let Ok(available) = self.versions(&package.provider).await {
                    *published = available.platforms(&package.version);
                }
            }
            RegistryError::PluginProtocol { suggestion, .. } => {
                if let Ok(available) = self.versions(&package.provider).await {
                    *suggestion = available.suggestion().map(Box::new);
                }
            }
            _ => {}
        }
        error
    }
}

impl ClientInner {
    async fn service(&self, service: Service, host: &Hostname) -> Result<ServiceUrl> {
        self.settings.allowed_hosts.check(host)?;
        if let Some(service) = self.configured_service(service, host) {
            return service;
        }
        let discover = || self.discover(service, host);
        let services = self.services.get_or_init(host.clone(), discover).await?;
        services.service(service, host)
    }

    /// Returns the address of a service if the configuration contains it. Discovery is then skipped.
    fn configured_service(&self, service: Service, host: &Hostname) -> Option<Result<ServiceUrl>> {
        let base = self.settings.base_url.as_ref();
        if let Some(base) = base.filter(|base| base.host == *host) {
            return Some(ServiceUrl::fixed(service, base));
        }
        let services = Services::configured(host, self.settings.hosts.get(host)?)?;
        Some(services.service(service, host))
    }

    async fn discover(&self, service: Service, host: &Hostname) -> Result<Services> {
        let url = discovery::document_url(host).ok_or_else(|| RegistryError::ServiceUrl {
            service,
            host: host.clone(),
            problem: "the host name does not form a valid address",
            configured: None,
        })?;
        let purpose = RequestPurpose::Discovery(host.clone());
        let request = Request {
            // A failing credentials helper is not reported here, but by the later requests to the service.
            authorization: self.credentials.header(host).await.unwrap_or_default(),
            ..self.rules.discovery(url, purpose)
        };
        Services::read(&self.transport.document(request).await?)
    }

    async fn fetch_versions(&self, provider: &ProviderAddr) -> Result<Arc<AvailableVersions>> {
        let path = [&provider.namespace, &provider.type_name, "versions"];
        let purpose = RequestPurpose::Versions(Box::new(provider.clone()));
        let response = self
            .endpoint(Service::Providers, &provider.hostname, &path, purpose)
            .await?;
        if response.status == StatusCode::NOT_FOUND {
            return Err(RegistryError::UnknownProvider {
                provider: Box::new(provider.clone()),
            });
        }
        let versions = AvailableVersions::parse(provider, response.body()?);
        versions
            .map(Arc::new)
            .map_err(|error| error.into_registry_error(&response))
    }

    async fn fetch_metadata(&self, package: &PackageId) -> Result<Arc<PackageMeta>> {
        let PackageId {
            provider,
            version,
            platform,
        } = package;
        let version = version.to_string();
        let path = [
            &provider.namespace,
            &provider.type_name,
            version.as_str(),
            "download",
            &platform.os,
            &platform.arch,
        ];
        let purpose = RequestPurpose::PackageMeta(Box::new(package.clone()));
        let response = self
            .endpoint(Service::Providers, &provider.hostname, &path, purpose)
            .await?;
        if response.status == StatusCode::NOT_FOUND {
            return Err(RegistryError::NoPackage {
                package: Box::new(package.clone()),
                published: BTreeSet::new(),
            });
        }
        let meta = PackageMeta::parse(package, response.body()?, &response.url);
        meta.map(Arc::new)
            .map_err(|error| error.into_registry_error(&response))
    }

    /// Requests a document at a path below the address of a service. The response has status 200, 204 or 404.
    pub(super) async fn endpoint(
        &self,
        service: Service,
        host: &Hostname,
        path: &[&str],
        purpose: RequestPurpose,
    ) -> Result<DocumentResponse> {
        let service = self.service(service, host).await?;
        let request = Request {
            plain_http: service.plain_http,
            configured: service.configured.clone(),
            ..self.rules.document(service.endpoint(path), purpose)
        };
        self.fetch(host, request, service.with_token).await
    }

    /// Requests a document from a registry or mirror. The response has status 200, 204 or 404.
    pub(super) async fn fetch(
        &self,
        host: &Hostname,
        mut request: Request,
        with_token: bool,
    ) -> Result<DocumentResponse> {
        let version = HeaderValue::from_static(engine_version(self.settings.engine));
        request.headers.insert(VERSION_HEADER, version);
        if with_token {
            let header = self.credentials.header(host).await;
            request.authorization = header.map_err(|source| RegistryError::Credentials {
                host: host.clone(),
                source: Box::new(source),
            })?;
        }
        let response = self.transport.document(request).await?;
        match response.status {
            StatusCode::OK | StatusCode::NO_CONTENT | StatusCode::NOT_FOUND => Ok(response),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(RegistryError::Unauthorized {
                host: host.clone(),
                rejected: response.request.authorization.is_some(),
            }),
            _ => Err(response.status_error()),
        }
    }

    async fn fetch_document(&self, url: &Url, max_body: ByteLimit) -> Result<DatedDocument> {
        let request = Request {
            plain_http: true,
            max_body,
            ..self.rules.document(url.clone(), RequestPurpose::Document)
        };
        let response = self.transport.document(request).await?;
        if response.status != StatusCode::OK {
            return Err(response.status_error());
        }
        let date = response.headers.get(LAST_MODIFIED);
        let modified = date.and_then(|date| httpdate::parse_http_date(date.to_str().ok()?).ok());
        Ok((response.body, modified))
    }
}
