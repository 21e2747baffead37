//! Resolves a module source to the address of a package.

use std::path::Path;

use crate::config::{ModuleRequest, ModuleSource};
use crate::provider::ModuleVersion;
use crate::redacted_url::RedactedUrl;
use crate::registry::ModuleId;

use super::confinement::{check_host, check_local_path};
use super::{Fetcher, ModuleError, ModuleLimit, ModulePackage, RemoteAddress, versions};

/// The maximum number of redirects to follow. Usually there are at most two, for example from a vanity address to a code host.
const MAX_REDIRECTS: usize = 5;

pub(super) struct ResolvedSource {
    pub(super) address: RemoteAddress,
    /// Whether plain http is permitted. This is the case if the registry that supplied the address was also reached over plain http.
    pub(super) plain_http: bool,
    pub(super) version: Option<(ModuleId, ModuleVersion)>,
}

impl Fetcher {
    /// Resolves a module source to the address of a package, following redirects of web addresses.
    pub(super) async fn resolve(
        &self,
        request: &ModuleRequest<'_>,
    ) -> Result<ResolvedSource, ModuleError> {
        let client = (self.clients)(request.engine);
        let hosts = &client.settings().allowed_hosts;
        let (text, plain_http, inner, version) = match request.source {
            ModuleSource::Local(path) => {
                return Err(ModuleError::Address {
                    address: RedactedUrl::local(Path::new(path)),
                    problem: "it is a path relative to the calling module",
                });
            }
            ModuleSource::Remote(address) => (address.clone(), false, None, None),
            ModuleSource::Registry(source) => {
                check_host(hosts, request.source, None)?;
                let (module, version, location) =
                    versions::locate(&client, &self.store, source, request).await?;
                let inner = source.subdirectory.as_deref();
                let version = Some((module, version));
                (location.source, location.plain_http, inner, version)
            }
        };
        let mut address = RemoteAddress::parse(&text, request.engine)?;
        if version.is_none() {
            check_host(hosts, request.source, Some(&address.package))?;
        }
        address.subdirectory = join(&address.subdirectory, inner.unwrap_or_default());
        for _ in 0..=MAX_REDIRECTS {
            let ModulePackage::Web(url) = &address.package else {
                check_local_path(request, &address)?;
                return Ok(ResolvedSource {
                    address,
                    plain_http,
                    version,
                });
            };
            let send = || client.module_redirect(url, plain_http);
            let target = self.redirects.get_or_init(url.clone(), send).await?;
            let target =
                target.ok_or_else(|| ModuleError::NoRedirect(address.package.redacted()))?;
            let next = RemoteAddress::parse(&target, request.engine)?;
            address = RemoteAddress {
                subdirectory: join(&next.subdirectory, &address.subdirectory),
                package: next.package,
            };
        }
        Err(ModuleError::Limit {
            address: RedactedUrl::parse(&text),
            limit: ModuleLimit::Redirects(MAX_REDIRECTS),
        })
    }
}

fn join(outer: &str, inner: &str) -> String {
    format!("{outer}/{inner}").trim_matches('/').to_owned()
}
