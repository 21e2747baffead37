//! How a registry is asked: discovery, credentials, one request, and what its status means.

use std::collections::BTreeSet;
use std::sync::Arc;

use reqwest::StatusCode;
use reqwest::header::HeaderValue;
use url::Url;

use crate::provider::{Hostname, PackageId, Platform, ProviderAddr};
use crate::registry::answers::{Document, ServiceAnswer, modified};
use crate::registry::credentials::Credentials;
use crate::registry::discovery::{self, Service, ServiceUrl, Services};
use crate::registry::error::RegistryError;
use crate::registry::fault::RequestError;
use crate::registry::fetch::{ByteLimit, DocumentCall, Transport};
use crate::registry::http::Call;
use crate::registry::memo::OnceMap;
use crate::registry::metadata::{AvailableVersions, PackageMeta};
use crate::registry::modules::ModuleAnswers;
use crate::registry::netrc::Netrc;
use crate::registry::policy::Policies;
use crate::registry::settings::RegistrySettings;

/// The largest list of versions or description of a package. The largest real list has about a megabyte.
pub(super) const MAX_METADATA: ByteLimit = ByteLimit {
    name: "limit for registry answers",
    bytes: 16 * 1024 * 1024,
};

/// What the clones of a client share: settings, connections, and the answers so far.
pub(super) struct Shared {
    pub(super) settings: RegistrySettings,
    pub(super) policies: Policies,
    pub(super) transport: Arc<Transport>,
    credentials: Credentials,
    pub(super) netrc: Arc<Netrc>,
    services: OnceMap<Hostname, Result<Services, RegistryError>>,
    pub(super) versions: OnceMap<ProviderAddr, Result<Arc<AvailableVersions>, RegistryError>>,
    pub(super) metadata:
        OnceMap<(ProviderAddr, String, Platform), Result<Arc<PackageMeta>, RegistryError>>,
    pub(super) documents: OnceMap<Url, Result<Document, RegistryError>>,
    pub(super) modules: ModuleAnswers,
}

impl Shared {
    /// With nothing asked yet.
    pub(super) fn new(
        settings: RegistrySettings,
        transport: Arc<Transport>,
        netrc: Arc<Netrc>,
    ) -> Self {
        Self {
            netrc,
            policies: Policies::new(&settings),
            credentials: Credentials::new(settings.credentials.clone()),
            settings,
            transport,
            services: OnceMap::default(),
            versions: OnceMap::default(),
            metadata: OnceMap::default(),
            documents: OnceMap::default(),
            modules: ModuleAnswers::default(),
        }
    }

    /// The address of a service of the host.
    pub(super) async fn service(
        &self,
        service: Service,
        host: &Hostname,
    ) -> Result<ServiceUrl, RegistryError> {
        self.settings.allowed_hosts.check(host)?;
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
    pub(super) fn configured(
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

    pub(super) async fn fetch_versions(
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

    pub(super) async fn fetch_metadata(
        &self,
        asked: &PackageId,
    ) -> Result<Arc<PackageMeta>, RegistryError> {
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

    pub(super) async fn authorization(
        &self,
        host: &Hostname,
    ) -> Result<Option<HeaderValue>, RegistryError> {
        let header = self.credentials.header(host).await;
        header.map_err(|source| RegistryError::Credentials {
            host: host.clone(),
            source: Box::new(source),
        })
    }

    pub(super) async fn fetch_document(
        &self,
        url: &Url,
        limit: ByteLimit,
    ) -> Result<Document, RegistryError> {
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
