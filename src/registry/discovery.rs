//! Service discovery: a host name to the addresses of its registries.
//!
//! `GET https://HOST/.well-known/terraform.json` answers with an object of service identifiers and URL references. A `host`
//! block of the CLI configuration replaces it completely.

use std::collections::BTreeMap;
use std::fmt;

use reqwest::StatusCode;
use url::Url;

use crate::cli_config::HostBlock;
use crate::provider::{Engine, Hostname};
use crate::registry::error::RegistryError;
use crate::registry::fault::Fault;
use crate::registry::fetch::{Answer, ByteLimit};
use crate::registry::settings::BaseUrl;
use crate::span::Place;

/// A service that a host can offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// A provider registry.
    Providers,
    /// A module registry.
    Modules,
}

impl Service {
    /// The identifier of the protocol.
    pub(super) const fn id(self) -> &'static str {
        match self {
            Self::Providers => "providers.v1",
            Self::Modules => "modules.v1",
        }
    }

    /// What the identifiers of all versions of the protocol begin with.
    const fn id_of_any_version(self) -> &'static str {
        match self {
            Self::Providers => "providers.v",
            Self::Modules => "modules.v",
        }
    }

    /// Where the default registries have it below their root.
    const fn directory(self) -> &'static str {
        match self {
            Self::Providers => "providers",
            Self::Modules => "modules",
        }
    }
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Providers => "provider registry",
            Self::Modules => "module registry",
        })
    }
}

/// A discovery document has a dozen short entries; both engines read no more than this of one.
pub(super) const MAX_DISCOVERY: ByteLimit = ByteLimit {
    name: "limit for discovery documents",
    bytes: 1024 * 1024,
};

/// How many redirects of the discovery document are followed.
pub(super) const fn redirects(engine: Engine) -> usize {
    match engine {
        Engine::Terraform => 3,
        Engine::Tofu => 9,
    }
}

/// The services of one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Services {
    /// What relative references start from.
    base: Url,
    /// Nothing for values that are no strings.
    references: BTreeMap<String, Option<String>>,
    /// The `host` block. One that says http means it.
    configured: Option<Box<Place>>,
}

/// The address of a service, and how it may be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServiceUrl {
    pub(super) url: Url,
    /// Whether plain http is fine anywhere.
    pub(super) plain_http: bool,
    /// Whether the host's token goes there.
    pub(super) with_token: bool,
    /// The place in the configuration that the address comes from.
    pub(super) configured: Option<Box<Place>>,
}

/// The address of the host's discovery document.
pub(super) fn document_url(host: &Hostname) -> Option<Url> {
    Url::parse(&format!(
        "https://{}/.well-known/terraform.json",
        host.as_ascii()
    ))
    .ok()
}

impl Services {
    /// What a `host` block says.
    pub(super) fn configured(host: &Hostname, block: &HostBlock) -> Option<Self> {
        Some(Self {
            base: document_url(host)?,
            references: block.services.clone(),
            configured: Some(Box::new(block.place.clone())),
        })
    }

    /// What a discovery document says. 404 means that there are no services.
    pub(super) fn read(answer: &Answer) -> Result<Self, Fault> {
        let services = match answer.status {
            StatusCode::NOT_FOUND => BTreeMap::new(),
            StatusCode::OK => {
                answer.check_json_type()?;
                // Unlike elsewhere, nothing may follow the object.
                let services: BTreeMap<String, serde_json::Value> =
                    serde_json::from_slice(&answer.body)
                        .map_err(|error| answer.json_fault(&error))?;
                let strings = services
                    .into_iter()
                    .map(|(id, value)| (id, value.as_str().map(str::to_owned)));
                strings.collect()
            }
            _ => return Err(answer.status_fault()),
        };
        Ok(Self {
            base: answer.url.clone(),
            references: services,
            configured: None,
        })
    }

    /// The address of a service.
    pub(super) fn service(
        &self,
        service: Service,
        host: &Hostname,
    ) -> Result<ServiceUrl, RegistryError> {
        let configured = || self.configured.clone();
        let reference = match self.references.get(service.id()) {
            Some(Some(reference)) => reference,
            None if !self
                .references
                .keys()
                .any(|id| id.starts_with(service.id_of_any_version())) =>
            {
                return Err(RegistryError::NotOffered {
                    service,
                    host: host.clone(),
                    configured: configured(),
                });
            }
            _ => {
                return Err(RegistryError::UnsupportedProtocol {
                    service,
                    host: host.clone(),
                    configured: configured(),
                });
            }
        };
        let url = self
            .resolve(reference)
            .map_err(|problem| RegistryError::ServiceUrl {
                service,
                host: host.clone(),
                problem,
                configured: configured(),
            })?;
        Ok(ServiceUrl {
            plain_http: self.configured.is_some() && url.scheme() == "http",
            url,
            with_token: true,
            configured: self.configured.clone(),
        })
    }

    fn resolve(&self, reference: &str) -> Result<Url, &'static str> {
        if reference.chars().any(char::is_control) {
            return Err("it holds a control character, such as the line break of a heredoc");
        }
        let mut url = self
            .base
            .join(reference)
            .map_err(|_parse_error| "it is no URL")?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err("its scheme is neither http nor https");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("it holds a user name or password");
        }
        url.set_query(None);
        url.set_fragment(None);
        Ok(url)
    }
}

impl ServiceUrl {
    /// The service below `TFREGISTRY_BASE_URL`, whether or not that ends in a slash.
    pub(super) fn fixed(service: Service, base: &BaseUrl) -> Result<Self, RegistryError> {
        let mut url = base.url.clone();
        let path = url.path_segments_mut().map(|mut path| {
            path.pop_if_empty().extend(["v1", service.directory(), ""]);
        });
        path.map_err(|()| RegistryError::ServiceUrl {
            service,
            host: base.host.clone(),
            problem: "`TFREGISTRY_BASE_URL` is no http or https address",
            configured: None,
        })?;
        url.set_query(None);
        url.set_fragment(None);
        Ok(Self {
            url,
            plain_http: true,
            with_token: false,
            configured: None,
        })
    }

    /// The address of an endpoint, given as path segments. A last segment of the service's own path that has no slash
    /// behind it is lost, as with every relative reference.
    pub(super) fn endpoint(&self, segments: &[&str]) -> Url {
        let mut url = self.url.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop().extend(segments);
        }
        url
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn services(entries: &[(&str, Option<&str>)]) -> Services {
        let entries = entries
            .iter()
            .map(|(id, value)| ((*id).to_owned(), value.map(str::to_owned)));
        Services {
            base: Url::parse("https://h.test/.well-known/terraform.json").expect("a URL"),
            references: entries.collect(),
            configured: None,
        }
    }

    fn host() -> Hostname {
        Hostname::parse("h.test").expect("a host")
    }

    #[test]
    fn references_resolve_against_the_document() {
        for (reference, expected) in [
            (
                "/v1/providers/",
                "https://h.test/v1/providers/acme/ledger/versions",
            ),
            ("/v1/providers", "https://h.test/v1/acme/ledger/versions"),
            (
                "providers/",
                "https://h.test/.well-known/providers/acme/ledger/versions",
            ),
            ("", "https://h.test/.well-known/acme/ledger/versions"),
            (
                "https://r.test:8443/",
                "https://r.test:8443/acme/ledger/versions",
            ),
            ("https://r.test", "https://r.test/acme/ledger/versions"),
            ("//r.test/x/", "https://r.test/x/acme/ledger/versions"),
            ("http://r.test/x/", "http://r.test/x/acme/ledger/versions"),
            ("/x/?a=1#b", "https://h.test/x/acme/ledger/versions"),
        ] {
            let service = services(&[(Service::Providers.id(), Some(reference))])
                .service(Service::Providers, &host())
                .expect("a service");
            assert_eq!(
                service.endpoint(&["acme", "ledger", "versions"]).as_str(),
                expected,
                "{reference}"
            );
            assert!(!service.plain_http);
        }
    }

    #[test]
    fn endpoints_are_escaped() {
        let service = services(&[(Service::Providers.id(), Some("/v1/"))])
            .service(Service::Providers, &host())
            .expect("a service");
        let url = service.endpoint(&["bücher", "x", "1.0.0-a+b", "download", "a/b", "c?d"]);
        assert_eq!(
            url.as_str(),
            "https://h.test/v1/b%C3%BCcher/x/1.0.0-a+b/download/a%2Fb/c%3Fd"
        );
    }

    #[test]
    fn unusable_references_are_errors() {
        for reference in [
            "ftp://h.test/",
            "https://user@h.test/",
            "https://u:p@h.test/",
            "https://[",
            "/x/\n",
        ] {
            let error = services(&[(Service::Providers.id(), Some(reference))])
                .service(Service::Providers, &host())
                .expect_err("unusable");
            assert!(
                matches!(error, RegistryError::ServiceUrl { .. }),
                "{reference}: {error}"
            );
        }
    }

    #[test]
    fn hosts_may_offer_something_else() {
        let error = |entries| {
            services(entries)
                .service(Service::Providers, &host())
                .expect_err("not offered")
        };
        assert!(matches!(error(&[]), RegistryError::NotOffered { .. }));
        assert!(matches!(
            error(&[("modules.v1", Some("/"))]),
            RegistryError::NotOffered { .. }
        ));
        assert!(matches!(
            error(&[("providers.v2", Some("/"))]),
            RegistryError::UnsupportedProtocol { .. }
        ));
        assert!(matches!(
            error(&[(Service::Providers.id(), None)]),
            RegistryError::UnsupportedProtocol { .. }
        ));
    }

    #[test]
    fn the_document_is_asked_for_at_the_ascii_host() {
        let url =
            document_url(&Hostname::parse("bücher.test:8443").expect("a host")).expect("a URL");
        assert_eq!(
            url.as_str(),
            "https://xn--bcher-kva.test:8443/.well-known/terraform.json"
        );
    }
}
