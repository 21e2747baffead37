//! Module registries: which versions a module has, and where the package of one of them is.
//!
//! `GET NAMESPACE/NAME/SYSTEM/versions` lists versions. `GET NAMESPACE/NAME/SYSTEM/VERSION/download` answers 204 with the header
//! `X-Terraform-Get`, or 200 with that header or with `{"location": ..}`; its value is a module source like those in
//! configurations, and one that begins with `/`, `./` or `../` is relative to the request. The host's token goes to these two
//! endpoints and never to where the package is.
//!
//! The same header is how an ordinary web address that is no archive names a module source (`?terraform-get=1`).
//!
//! Protocol: <https://developer.hashicorp.com/terraform/internals/module-registry-protocol>.

use std::fmt;
use std::sync::Arc;

use regex::Regex;
use reqwest::StatusCode;
use url::Url;

use crate::provider::{Hostname, ModuleVersion};
use crate::registry::asking::Shared;
use crate::registry::client::RegistryClient;
use crate::registry::discovery::Service;
use crate::registry::download::{self, Download};
use crate::registry::error::RegistryError;
use crate::registry::fault::{Fault, RequestError};
use crate::registry::fetch::{Answer, ByteLimit};
use crate::registry::http::Call;
use crate::registry::memo::OnceMap;
use crate::registry::stamp::Stamp;
use crate::registry::wire::{Fields, ModuleDownload, ModuleList};

/// The header that says where a module's package is.
const LOCATION: &str = "x-terraform-get";

/// The largest page that is searched for where a module is.
const MAX_PAGE: ByteLimit = ByteLimit {
    name: "limit for pages that name a module source",
    bytes: 1024 * 1024,
};

/// A module of a registry, all versions of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModuleId {
    /// The registry.
    pub host: Hostname,
    /// The publisher.
    pub namespace: String,
    /// The module.
    pub name: String,
    /// What it is for, such as `aws`.
    pub system: String,
}

impl fmt::Display for ModuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            host,
            namespace,
            name,
            system,
        } = self;
        write!(f, "{host}/{namespace}/{name}/{system}")
    }
}

/// The versions that a registry lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleVersions {
    /// In the order of the list.
    pub versions: Vec<ModuleVersion>,
    /// Listed texts that are no versions. They are skipped.
    pub invalid: Vec<String>,
}

/// Where a module's package is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleLocation {
    /// A module source, never relative.
    pub source: String,
    /// Whether the registry itself was allowed to be asked over plain http.
    pub plain_http: bool,
}

/// What has been asked about modules.
#[derive(Debug, Default)]
pub(super) struct ModuleAnswers {
    versions: OnceMap<ModuleId, Result<Arc<ModuleVersions>, RegistryError>>,
    locations: OnceMap<(ModuleId, String), Result<ModuleLocation, RegistryError>>,
}

impl RegistryClient {
    /// The versions that the module's registry lists.
    pub async fn module_versions(
        &self,
        module: &ModuleId,
    ) -> Result<Arc<ModuleVersions>, RegistryError> {
        let known = &self.shared.modules.versions;
        let job = || self.shared.fetch_module_versions(module);
        known.get_or_init(module.clone(), job).await
    }

    /// Where the registry has the package of this version.
    pub async fn module_location(
        &self,
        module: &ModuleId,
        version: &ModuleVersion,
    ) -> Result<ModuleLocation, RegistryError> {
        let known = &self.shared.modules.locations;
        let key = (module.clone(), version.to_string());
        let job = || self.shared.fetch_module_location(module, version);
        known.get_or_init(key, job).await
    }

    /// An archive with a module, piece by piece. Both engines take credentials for it from the netrc file; a registry's token
    /// is never sent. Redirects lead to plain http only where that is fine, since no signature vouches for what arrives. If the
    /// server still has what was `known` of it, nothing arrives.
    pub async fn download_module(
        &self,
        url: &Url,
        plain_http: bool,
        known: Option<Stamp>,
    ) -> Result<Download, RegistryError> {
        let mut call = download::package_call(url, self.netrc_header(url));
        call.plain_http = plain_http;
        call.known = known;
        self.start(call).await
    }

    /// The module source that a web address names which is no archive itself: by header, or by a `terraform-get` meta
    /// element of its page. `None` if it names none.
    pub async fn module_redirect(
        &self,
        url: &Url,
        plain_http: bool,
    ) -> Result<Option<String>, RegistryError> {
        let shared = &self.shared;
        let mut asked = url.clone();
        asked.query_pairs_mut().append_pair("terraform-get", "1");
        let mut call = Call::new(asked.clone(), shared.policies.redirects);
        call.plain_http = plain_http;
        let ask = shared.policies.document(call, MAX_PAGE);
        let failed = |source| RegistryError::Document {
            source: Arc::new(source),
        };
        let answer = shared.transport.document(&ask).await.map_err(failed)?;
        if !answer.status.is_success() {
            return Err(failed(answer.refused(&asked, answer.status_fault())));
        }
        let page = || meta_source(&String::from_utf8_lossy(&answer.body));
        let found = location_header(&answer).or_else(page);
        Ok(found.map(|source| absolute(source, &asked)))
    }
}

impl Shared {
    async fn fetch_module_versions(
        &self,
        module: &ModuleId,
    ) -> Result<Arc<ModuleVersions>, RegistryError> {
        let failed = |source: RequestError| RegistryError::ModuleVersions {
            module: Box::new(module.clone()),
            source: Arc::new(source),
        };
        let service = self.service(Service::Modules, &module.host).await?;
        let path = [&module.namespace, &module.name, &module.system, "versions"];
        let answer = self.ask(service, &module.host, &path, failed).await?;
        let unknown = || RegistryError::UnknownModule {
            module: Box::new(module.clone()),
        };
        if answer.answer.status == StatusCode::NOT_FOUND {
            return Err(unknown());
        }
        let list: Fields<ModuleList> = answer.json().map_err(failed)?;
        // Other modules than the first were a plan of the protocol that nobody followed.
        let first = list.0.modules.into_iter().next().flatten();
        let listed = first.ok_or_else(unknown)?.0.versions;
        let mut versions = ModuleVersions::default();
        for listed in listed {
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
    ) -> Result<ModuleLocation, RegistryError> {
        let failed = |source: RequestError| RegistryError::ModuleLocation {
            module: Box::new(module.clone()),
            version: Box::new(version.clone()),
            source: Arc::new(source),
        };
        let service = self.service(Service::Modules, &module.host).await?;
        let text = version.to_string();
        let ModuleId {
            host,
            namespace,
            name,
            system,
        } = module;
        let path = [namespace, name, system, text.as_str(), "download"];
        let answer = self.ask(service, host, &path, failed).await?;
        if answer.answer.status == StatusCode::NOT_FOUND {
            let fault: Fault = answer.answer.status_fault();
            return Err(failed(answer.refused(fault)));
        }
        let in_body = || {
            let body: Option<Fields<ModuleDownload>> = answer.json().ok();
            body.map(|body| body.0.location)
                .filter(|location| !location.is_empty())
        };
        let source = in_body().or_else(|| location_header(&answer.answer));
        let source = source.ok_or_else(|| RegistryError::NoModulePackage {
            module: Box::new(module.clone()),
            version: Box::new(version.clone()),
        })?;
        Ok(ModuleLocation {
            source: absolute(source, &answer.url),
            plain_http: answer.service.plain_http,
        })
    }
}

/// The value of the header, if it has one.
fn location_header(answer: &Answer) -> Option<String> {
    let value = answer.headers.get(LOCATION)?;
    let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
    (!text.is_empty()).then_some(text)
}

/// A source that looks like a relative URL is one; anything else is left alone, since sources are no URLs.
fn absolute(source: String, base: &Url) -> String {
    let is_relative = ["/", "./", "../"]
        .iter()
        .any(|start| source.starts_with(start));
    match base.join(&source) {
        Ok(url) if is_relative => url.into(),
        _ => source,
    }
}

/// `<meta name="terraform-get" content="SOURCE">` of a page.
fn meta_source(page: &str) -> Option<String> {
    let element = Regex::new(r"(?i)<meta\s[^>]*>").expect("a valid expression");
    let attribute = |element: &str, name: &str| {
        let pattern = format!(r#"(?i)\s{name}\s*=\s*["']([^"']*)["']"#);
        let found = Regex::new(&pattern).expect("a valid expression");
        Some(found.captures(element)?[1].to_owned())
    };
    let named = |element: &&str| attribute(element, "name").as_deref() == Some("terraform-get");
    let found = element
        .find_iter(page)
        .map(|found| found.as_str())
        .find(named)?;
    attribute(found, "content").filter(|source| !source.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_that_look_relative_are_resolved() {
        let base = Url::parse("https://h.test/v1/modules/a/b/c/1.0.0/download").unwrap();
        for (source, expected) in [
            ("/x.tgz", "https://h.test/x.tgz"),
            ("//o.test/x.tgz", "https://o.test/x.tgz"),
            (
                "./x.tgz?archive=tar.gz",
                "https://h.test/v1/modules/a/b/c/1.0.0/x.tgz?archive=tar.gz",
            ),
            (
                "../x.zip//sub",
                "https://h.test/v1/modules/a/b/c/x.zip//sub",
            ),
            ("x.tgz", "x.tgz"),
            (
                "git::https://g.test/r?ref=v1",
                "git::https://g.test/r?ref=v1",
            ),
            ("", ""),
        ] {
            assert_eq!(absolute(source.to_owned(), &base), expected, "{source}");
        }
    }

    #[test]
    fn pages_name_sources_in_a_meta_element() {
        for (page, expected) in [
            (
                r#"<html><head><meta name="terraform-get" content="git::https://g.test/r"></head>"#,
                Some("git::https://g.test/r"),
            ),
            (
                r"<META content='./x.zip' NAME='terraform-get' />",
                Some("./x.zip"),
            ),
            (
                r#"<meta charset="utf-8"><meta name="go-import" content="x"><meta name="terraform-get" content="y">"#,
                Some("y"),
            ),
            (r#"<meta name="terraform-get" content="">"#, None),
            (r#"<meta name="terraform-get">"#, None),
            ("terraform-get", None),
        ] {
            assert_eq!(meta_source(page).as_deref(), expected, "{page}");
        }
    }
}
