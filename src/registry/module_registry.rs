//! Module registries: the versions of a module, and the location of the package of one version.
//!
//! `GET NAMESPACE/NAME/SYSTEM/versions` lists versions. `GET NAMESPACE/NAME/SYSTEM/VERSION/download` returns 204 with the header
//! `X-Terraform-Get`, or 200 with that header or with `{"location": ..}`. The value is a module source as in configurations, but if
//! it begins with `/`, `./` or `../`, it is relative to the URL of the request. The host's token is sent to these two endpoints,
//! but never to the location of the package.
//!
//! An ordinary web page can name a module source with the same header or a `<meta>` element (`?terraform-get=1`).
//!
//! Protocol: <https://developer.hashicorp.com/terraform/internals/module-registry-protocol>.

use std::fmt;
use std::sync::Arc;

use regex::Regex;
use reqwest::StatusCode;
use reqwest::header::HeaderValue;
use url::Url;

use crate::once_map::OnceMap;
use crate::provider::{Hostname, ModuleVersion};
use crate::registry::client::{ClientInner, RegistryClient};
use crate::registry::discovery::Service;
use crate::registry::download::Download;
use crate::registry::error::{RegistryError, Result};
use crate::registry::http_validator::HttpValidator;
use crate::registry::request::{ByteLimit, Request};
use crate::registry::request_purpose::RequestPurpose;
use crate::registry::transport::DocumentResponse;
use crate::registry::wire::{Fields, ModuleDownload, ModuleList};

/// The header with the location of a module's package.
const LOCATION: &str = "x-terraform-get";

/// The maximum size of a web page that is searched for a module source.
const MAX_PAGE: ByteLimit = ByteLimit {
    name: "limit for pages that name a module source",
    bytes: 1024 * 1024,
};

/// A module in a registry, without a version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModuleId {
    pub host: Hostname,
    pub namespace: String,
    pub name: String,
    /// The target system, such as `aws`.
    pub system: String,
}

impl fmt::Display for ModuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}/{}/{}/{}",
            self.host, self.namespace, self.name, self.system
        )
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleVersions {
    /// The valid versions, in the order of the list.
    pub versions: Vec<ModuleVersion>,
    /// The invalid versions, which are skipped.
    pub invalid: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleLocation {
    /// A module source that is not relative.
    pub source: String,
    /// Whether the configuration allows plain http for the registry.
    pub plain_http: bool,
}

#[derive(Debug, Default)]
pub(super) struct ModuleAnswers {
    versions: OnceMap<ModuleId, Result<Arc<ModuleVersions>>>,
    locations: OnceMap<(ModuleId, String), Result<ModuleLocation>>,
}

impl RegistryClient {
    pub async fn module_versions(&self, module: &ModuleId) -> Result<Arc<ModuleVersions>> {
        let fetch = || self.inner.fetch_module_versions(module);
        let versions = &self.inner.modules.versions;
        versions.get_or_init(module.clone(), fetch).await
    }

    /// Returns the location of the package of this version.
    pub async fn module_location(
        &self,
        module: &ModuleId,
        version: &ModuleVersion,
    ) -> Result<ModuleLocation> {
        let locations = &self.inner.modules.locations;
        let key = (module.clone(), version.to_string());
        let fetch = || self.inner.fetch_module_location(module, version);
        locations.get_or_init(key, fetch).await
    }

    /// Downloads the archive of a module. As in both engines, credentials come from the netrc file, and a registry's token is never
    /// sent. Plain http must be allowed explicitly, because no signature protects the archive. If the archive has not changed since
    /// `known_copy`, the download has no body.
    pub async fn download_module(
        &self,
        url: &Url,
        plain_http: bool,
        known_copy: Option<HttpValidator>,
    ) -> Result<Download> {
        let rules = &self.inner.rules;
        let request = Request {
            plain_http,
            known_copy,
            ..rules.package(url.clone(), self.netrc_header(url))
        };
        self.start(request).await
    }

    /// Downloads an object from a bucket. The request contains its own credentials.
    pub async fn download_object(
        &self,
        url: &Url,
        authorization: Option<&str>,
        plain_http: bool,
        known_copy: Option<HttpValidator>,
    ) -> Result<Download> {
        let authorization = authorization.and_then(|value| {
            let mut value = HeaderValue::from_str(value).ok()?;
            value.set_sensitive(true);
            Some(value)
        });
        let request = Request {
            // Over plain http, other machines could read the token.
            plain_http: plain_http && authorization.is_none(),
            known_copy,
            ..self.inner.rules.package(url.clone(), authorization)
        };
        self.start(request).await
    }

    /// Returns the module source that a web page names in a header or in a `<meta>` element. `None` if the page has neither.
    pub async fn module_redirect(&self, url: &Url, plain_http: bool) -> Result<Option<String>> {
        let mut url = url.clone();
        url.query_pairs_mut().append_pair("terraform-get", "1");
        let rules = &self.inner.rules;
        let request = Request {
            plain_http,
            max_body: MAX_PAGE,
            ..rules.document(url.clone(), RequestPurpose::Document)
        };
        let response = self.inner.transport.document(request).await?;
        if !response.status.is_success() {
            return Err(response.status_error());
        }
        let in_page = || meta_source(&String::from_utf8_lossy(&response.body));
        let source = location_header(&response).or_else(in_page);
        Ok(source.map(|source| absolute(source, &url)))
    }
}

impl ClientInner {
    async fn fetch_module_versions(&self, module: &ModuleId) -> Result<Arc<ModuleVersions>> {
        let path = [&module.namespace, &module.name, &module.system, "versions"];
        let purpose = RequestPurpose::ModuleVersions(Box::new(module.clone()));
        let response = self
            .endpoint(Service::Modules, &module.host, &path, purpose)
            .await?;
        let unknown = || RegistryError::UnknownModule {
            module: Box::new(module.clone()),
        };
        if response.status == StatusCode::NOT_FOUND {
            return Err(unknown());
        }
        let Fields(list) = response.json::<Fields<ModuleList>>()?;
        // The protocol allows for several modules, but no registry lists more than one.
        let first = list.modules.into_iter().next().flatten();
        let mut versions = ModuleVersions::default();
        for listed in first.ok_or_else(unknown)?.0.versions {
            let text = listed.unwrap_or_default().0.version;
            match ModuleVersion::parse(&text) {
                Ok(version) => versions.versions.push(version),
                Err(_) => versions.invalid.push(text),
            }
        }
        Ok(Arc::new(versions))
    }

    async fn fetch_module_location(
        &self,
        module: &ModuleId,
        version: &ModuleVersion,
    ) -> Result<ModuleLocation> {
        let text = version.to_string();
        let path = [
            &module.namespace,
            &module.name,
            &module.system,
            text.as_str(),
            "download",
        ];
        let purpose = RequestPurpose::ModuleLocation(Box::new((module.clone(), version.clone())));
        let response = self
            .endpoint(Service::Modules, &module.host, &path, purpose)
            .await?;
        if response.status == StatusCode::NOT_FOUND {
            return Err(response.status_error());
        }
        let body = response.json::<Fields<ModuleDownload>>().ok();
        let source = body
            .map(|Fields(body)| body.location)
            .filter(|location| !location.is_empty())
            .or_else(|| location_header(&response))
            .ok_or_else(|| RegistryError::NoModulePackage {
                module: Box::new(module.clone()),
                version: Box::new(version.clone()),
            })?;
        Ok(ModuleLocation {
            source: absolute(source, &response.request.url),
            plain_http: response.request.plain_http,
        })
    }
}

/// Returns the value of the `X-Terraform-Get` header. `None` if it is missing or empty.
fn location_header(response: &DocumentResponse) -> Option<String> {
    let value = response.headers.get(LOCATION)?;
    let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
    (!text.is_empty()).then_some(text)
}

/// Resolves a source that looks like a relative URL. Other sources are returned unchanged.
fn absolute(source: String, base: &Url) -> String {
    let mut starts = ["/", "./", "../"].iter();
    let is_relative = starts.any(|start| source.starts_with(start));
    match base.join(&source) {
        Ok(url) if is_relative => url.into(),
        _ => source,
    }
}

/// Returns the source in `<meta name="terraform-get" content="SOURCE">` of a page.
fn meta_source(page: &str) -> Option<String> {
    let meta = Regex::new(r"(?i)<meta\s[^>]*>").expect("a valid expression");
    let attribute = |element: &str, name: &str| {
        let pattern = format!(r#"(?i)\s{name}\s*=\s*["']([^"']*)["']"#);
        let value = Regex::new(&pattern).expect("a valid expression");
        Some(value.captures(element)?[1].to_owned())
    };
    let mut elements = meta.find_iter(page).map(|element| element.as_str());
    let is_named = |element: &&str| attribute(element, "name").as_deref() == Some("terraform-get");
    let content = attribute(elements.find(is_named)?, "content");
    content.filter(|source| !source.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_that_look_relative_are_resolved() {
        let base = Url::parse("https://h.test/v1/modules/a/b/c/1.0.0/download").unwrap();
        for row in [
            "/x.tgz | https://h.test/x.tgz",
            "//o.test/x.tgz | https://o.test/x.tgz",
            "./x.tgz?archive=tar.gz | https://h.test/v1/modules/a/b/c/1.0.0/x.tgz?archive=tar.gz",
            "../x.zip//sub | https://h.test/v1/modules/a/b/c/x.zip//sub",
            "x.tgz | x.tgz",
            "git::https://g.test/r?ref=v1 | git::https://g.test/r?ref=v1",
            " | ",
        ] {
            let (source, expected) = row.split_once(" | ").unwrap();
            assert_eq!(absolute(source.to_owned(), &base), expected, "{source}");
        }
    }

    #[test]
    fn pages_name_sources_in_a_meta_element() {
        for row in [
            r#"<html><head><meta name="terraform-get" content="git::https://g.test/r"></head> | git::https://g.test/r"#,
            r"<META content='./x.zip' NAME='terraform-get' /> | ./x.zip",
            r#"<meta charset="utf-8"><meta name="go-import" content="x"><meta name="terraform-get" content="y"> | y"#,
            r#"<meta name="terraform-get" content=""> | "#,
            r#"<meta name="terraform-get"> | "#,
            "terraform-get | ",
        ] {
            let (page, expected) = row.split_once(" | ").unwrap();
            assert_eq!(meta_source(page).unwrap_or_default(), expected, "{page}");
        }
    }
}
