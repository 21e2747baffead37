//! Service discovery: finds the addresses of a host's registries.
//!
//! `GET https://HOST/.well-known/terraform.json` returns an object that maps service identifiers to URL references. A `host` block
//! in the CLI configuration replaces discovery completely.

use std::collections::BTreeMap;
use std::fmt;

use reqwest::StatusCode;
use url::Url;

use crate::cli_config::HostBlock;
use crate::provider::Hostname;
use crate::registry::error::{RegistryError, Result};
use crate::registry::settings::BaseUrl;
use crate::registry::transport::DocumentResponse;
use crate::span::Place;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    Providers,
    Modules,
}

impl Service {
    /// Returns the service identifier in a discovery document.
    pub(super) const fn id(self) -> &'static str {
        match self {
            Self::Providers => "providers.v1",
            Self::Modules => "modules.v1",
        }
    }

    /// Returns the service identifier without the protocol version. It is also the name of a directory below `TFREGISTRY_BASE_URL`.
    fn name(self) -> &'static str {
        self.id().trim_end_matches(".v1")
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Services {
    /// The URL against which relative references are resolved.
    base: Url,
    /// URL references by service identifier; `None` if the value is not a string.
    references: BTreeMap<String, Option<String>>,
    /// The position of the `host` block that replaces discovery, if there is one. The addresses in such a block may use plain http.
    configured: Option<Box<Place>>,
}

/// The address of a service, and the rules for requests to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServiceUrl {
    pub(super) url: Url,
    /// Whether plain http is allowed to any host.
    pub(super) plain_http: bool,
    /// Whether requests carry the host's token.
    pub(super) with_token: bool,
    /// The position of the `host` block that sets the address, if there is one.
    pub(super) configured: Option<Box<Place>>,
}

/// Returns the address of the host's discovery document.
pub(super) fn document_url(host: &Hostname) -> Option<Url> {
    let host = host.as_ascii();
    Url::parse(&format!("https://{host}/.well-known/terraform.json")).ok()
}

impl Services {
    pub(super) fn configured(host: &Hostname, block: &HostBlock) -> Option<Self> {
        Some(Self {
            base: document_url(host)?,
            references: block.services.clone(),
            configured: Some(Box::new(block.place.clone())),
        })
    }

    /// Reads a discovery document from a response. Status 404 means that the host offers no services.
    pub(super) fn read(response: &DocumentResponse) -> Result<Self> {
        let references = match response.status {
            StatusCode::NOT_FOUND => BTreeMap::new(),
            StatusCode::OK => {
                response.check_json_type()?;
                // Unlike other documents, this one must not contain anything after the object.
                let services: BTreeMap<String, serde_json::Value> =
                    serde_json::from_slice(&response.body)
                        .map_err(|error| response.json_error(&error))?;
                let text = |value: serde_json::Value| value.as_str().map(str::to_owned);
                let references = services.into_iter();
                references.map(|(id, value)| (id, text(value))).collect()
            }
            _ => return Err(response.status_error()),
        };
        Ok(Self {
            base: response.url.clone(),
            references,
            configured: None,
        })
    }

    pub(super) fn service(&self, service: Service, host: &Hostname) -> Result<ServiceUrl> {
        let configured = self.configured.clone();
        let Some(Some(reference)) = self.references.get(service.id()) else {
            let other_version = format!("{}.v", service.name());
            let mut ids = self.references.keys();
            return Err(if ids.any(|id| id.starts_with(&other_version)) {
                RegistryError::UnsupportedProtocol {
                    service,
                    host: host.clone(),
                    configured,
                }
            } else {
                RegistryError::NotOffered {
                    service,
                    host: host.clone(),
                    configured,
                }
            });
        };
        match self.resolve(reference) {
            Ok(url) => Ok(ServiceUrl {
                plain_http: configured.is_some() && url.scheme() == "http",
                url,
                with_token: true,
                configured,
            }),
            Err(problem) => Err(RegistryError::ServiceUrl {
                service,
                host: host.clone(),
                problem,
                configured,
            }),
        }
    }

    fn resolve(&self, reference: &str) -> Result<Url, &'static str> {
        if reference.chars().any(char::is_control) {
            return Err("it contains a control character, such as the line break of a heredoc");
        }
        let mut url = self
            .base
            .join(reference)
            .map_err(|_parse_error| "it is not a valid URL")?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err("its scheme is neither http nor https");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("it contains a user name or password");
        }
        url.set_query(None);
        url.set_fragment(None);
        Ok(url)
    }
}

impl ServiceUrl {
    /// Returns the address of a service below `TFREGISTRY_BASE_URL`, with or without a final slash in that variable.
    pub(super) fn fixed(service: Service, base: &BaseUrl) -> Result<Self> {
        let mut url = base.url.clone();
        let path = url.path_segments_mut().map(|mut path| {
            path.pop_if_empty().extend(["v1", service.name(), ""]);
        });
        path.map_err(|()| RegistryError::ServiceUrl {
            service,
            host: base.host.clone(),
            problem: "`TFREGISTRY_BASE_URL` is not an http or https address",
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

    /// Returns the address of an endpoint, given as path segments. As in any relative reference, they replace the last segment of
    /// the service's path unless that path ends in a slash.
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

    fn host() -> Hostname {
        Hostname::parse("h.test").unwrap()
    }

    /// Returns the provider registry according to a discovery document with these entries.
    fn providers(entries: &[(&str, Option<&str>)]) -> Result<ServiceUrl, RegistryError> {
        let entries = entries.iter();
        let entries = entries.map(|(id, value)| ((*id).to_owned(), value.map(str::to_owned)));
        let services = Services {
            base: document_url(&host()).unwrap(),
            references: entries.collect(),
            configured: None,
        };
        services.service(Service::Providers, &host())
    }

    #[test]
    fn references_resolve_against_the_document() {
        for row in [
            "/v1/providers/ | https://h.test/v1/providers/acme/ledger/versions",
            "/v1/providers | https://h.test/v1/acme/ledger/versions",
            "providers/ | https://h.test/.well-known/providers/acme/ledger/versions",
            " | https://h.test/.well-known/acme/ledger/versions",
            "https://r.test:8443/ | https://r.test:8443/acme/ledger/versions",
            "https://r.test | https://r.test/acme/ledger/versions",
            "//r.test/x/ | https://r.test/x/acme/ledger/versions",
            "http://r.test/x/ | http://r.test/x/acme/ledger/versions",
            "/x/?a=1#b | https://h.test/x/acme/ledger/versions",
        ] {
            let (reference, expected) = row.split_once(" | ").unwrap();
            let service = providers(&[("providers.v1", Some(reference))]).unwrap();
            let url = service.endpoint(&["acme", "ledger", "versions"]);
            assert_eq!(url.as_str(), expected, "{reference}");
            assert!(!service.plain_http);
        }
    }

    #[test]
    fn endpoints_are_escaped() {
        let service = providers(&[("providers.v1", Some("/v1/"))]).unwrap();
        let url = service.endpoint(&["bücher", "x", "1.0.0-a+b", "download", "a/b", "c?d"]);
        let expected = "https://h.test/v1/b%C3%BCcher/x/1.0.0-a+b/download/a%2Fb/c%3Fd";
        assert_eq!(url.as_str(), expected);
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
            let error = providers(&[("providers.v1", Some(reference))]).unwrap_err();
            let is_expected = matches!(error, RegistryError::ServiceUrl { .. });
            assert!(is_expected, "{reference}: {error}");
        }
    }

    #[test]
    fn hosts_may_offer_something_else() {
        for entries in [&[][..], &[("modules.v1", Some("/"))]] {
            let error = providers(entries).unwrap_err();
            assert!(matches!(error, RegistryError::NotOffered { .. }), "{error}");
        }
        for entries in [[("providers.v2", Some("/"))], [("providers.v1", None)]] {
            let error = providers(&entries).unwrap_err();
            assert!(
                matches!(error, RegistryError::UnsupportedProtocol { .. }),
                "{error}"
            );
        }
    }

    #[test]
    fn the_document_is_requested_from_the_ascii_host() {
        let url = document_url(&Hostname::parse("bücher.test:8443").unwrap()).unwrap();
        let expected = "https://xn--bcher-kva.test:8443/.well-known/terraform.json";
        assert_eq!(url.as_str(), expected);
    }
}
