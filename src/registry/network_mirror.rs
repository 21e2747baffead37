//! Network mirrors: servers that offer packages from any registry below one base URL.
//!
//! `BASE/HOST/NAMESPACE/TYPE/index.json` lists versions. `VERSION.json` next to it lists the packages of a version by platform,
//! with hashes if the mirror knows them. `HOST` is in ASCII form and includes any port (both engines reject hosts with a port).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use reqwest::StatusCode;
use serde::Deserialize;
use url::Url;

use crate::once_map::OnceMap;
use crate::provider::{
    Digest, Hash, HashScheme, Hostname, PackageId, Platform, ProviderAddr, Version,
};
use crate::redacted_url::RedactedUrl;
use crate::registry::client::RegistryClient;
use crate::registry::credentials;
use crate::registry::error::{RegistryError, Result};
use crate::registry::metadata::{AvailableVersion, AvailableVersions};
use crate::registry::request::{Request, is_web};
use crate::registry::request_purpose::RequestPurpose;
use crate::registry::transport::DocumentResponse;
use crate::registry::wire::{self, Fields, MirrorArchive, MirrorArchives, MirrorIndex};
use crate::span::Place;

const MAX_REDIRECTS: usize = 5;

/// A mirror server, and its responses so far.
pub struct NetworkMirror {
    client: RegistryClient,
    base: Url,
    /// The host whose token is sent with requests.
    host: Hostname,
    configured: Option<Box<Place>>,
    versions: OnceMap<ProviderAddr, Result<Arc<AvailableVersions>>>,
    archives: OnceMap<(ProviderAddr, Version), Result<Arc<Archives>>>,
}

/// The packages of one version, by platform.
type Archives = BTreeMap<Platform, MirrorPackage>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirrorPackage {
    pub package: PackageId,
    pub url: Url,
    /// The hashes that the mirror lists: zero or more, of any scheme. An `h1` hash covers the zip's entries, not the unpacked files.
    pub hashes: Vec<Hash>,
}

impl NetworkMirror {
    /// Creates a client for the mirror at `base`, which must be an https URL. `configured` is its position in the CLI configuration.
    pub fn new(client: RegistryClient, base: &str, configured: Option<Place>) -> Result<Self> {
        let configured = configured.map(Box::new);
        let unusable = |problem| RegistryError::MirrorUrl {
            problem,
            configured: configured.clone(),
        };
        let base = Url::parse(base).map_err(|_invalid| unusable("it is not a valid URL"))?;
        if base.scheme() != "https" {
            return Err(unusable("it does not begin with `https://`"));
        }
        let authority = base.host_str().map(|host| match base.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        });
        let host = authority.and_then(|authority| credentials::ascii_host(&authority));
        let host = host.ok_or_else(|| unusable("it has no host name"))?;
        Ok(Self {
            client,
            base,
            host,
            configured,
            versions: OnceMap::default(),
            archives: OnceMap::default(),
        })
    }

    pub fn redacted_url(&self) -> RedactedUrl {
        RedactedUrl::from(&self.base)
    }

    pub async fn versions(&self, provider: &ProviderAddr) -> Result<Arc<AvailableVersions>> {
        let fetch = || self.fetch_versions(provider);
        self.versions.get_or_init(provider.clone(), fetch).await
    }

    /// Returns the package. If the mirror does not have it, the error names the available platforms.
    pub async fn package(&self, id: &PackageId) -> Result<MirrorPackage> {
        let key = (id.provider.clone(), id.version.clone());
        let fetch = || self.fetch_archives(&id.provider, &id.version);
        let archives = self.archives.get_or_init(key, fetch).await?;
        let package = archives.get(&id.platform).cloned();
        package.ok_or_else(|| RegistryError::NoPackage {
            package: Box::new(id.clone()),
            published: archives.keys().cloned().collect(),
        })
    }

    async fn fetch_versions(&self, provider: &ProviderAddr) -> Result<Arc<AvailableVersions>> {
        let purpose = RequestPurpose::Versions(Box::new(provider.clone()));
        let response = self.fetch(provider, "index.json", purpose).await?;
        if response.status == StatusCode::NOT_FOUND {
            return Err(RegistryError::NotInMirror {
                provider: Box::new(provider.clone()),
                mirror: self.redacted_url(),
                configured: self.configured.clone(),
            });
        }
        let Fields(index) = parse_json::<MirrorIndex>(&response)?;
        let mut available = AvailableVersions::default();
        let mut seen = BTreeSet::new();
        for text in index.versions.into_keys() {
            match Version::parse(&text) {
                Ok(version) if seen.insert(version.to_string()) => {
                    available.versions.push(AvailableVersion {
                        version,
                        protocols: Vec::new(),
                        platforms: BTreeSet::new(),
                    });
                }
                Ok(_) => {}
                Err(_) => available.invalid.push(text),
            }
        }
        Ok(Arc::new(available))
    }

    async fn fetch_archives(
        &self,
        provider: &ProviderAddr,
        version: &Version,
    ) -> Result<Arc<Archives>> {
        let purpose = RequestPurpose::MirrorArchives(Box::new((provider.clone(), version.clone())));
        let document = format!("{version}.json");
        let response = self.fetch(provider, &document, purpose).await?;
        if response.status == StatusCode::NOT_FOUND {
            return Err(response.status_error());
        }
        let Fields(archives) = parse_json::<MirrorArchives>(&response)?;
        let mut packages = Archives::new();
        for (name, archive) in archives.archives {
            // Invalid platform names are skipped, because no run can request them. `null` is treated as absent.
            let (Ok(platform), Some(archive)) = (Platform::parse(&name), archive) else {
                continue;
            };
            let id = PackageId {
                provider: provider.clone(),
                version: version.clone(),
                platform: platform.clone(),
            };
            packages.insert(platform, MirrorPackage::read(id, archive.0, &response.url)?);
        }
        Ok(Arc::new(packages))
    }

    /// Requests a document about the provider. The response has status 200, 204 or 404.
    async fn fetch(
        &self,
        provider: &ProviderAddr,
        document: &str,
        purpose: RequestPurpose,
    ) -> Result<DocumentResponse> {
        let client = &self.client.inner;
        let request = Request {
            max_redirects: MAX_REDIRECTS,
            configured: self.configured.clone(),
            ..client.rules.document(self.url(provider, document), purpose)
        };
        client.fetch(&self.host, request, true).await
    }

    /// Returns the address of a document. Its path replaces the last segment of the base URL unless that URL ends in a slash.
    fn url(&self, provider: &ProviderAddr, document: &str) -> Url {
        let mut url = self.base.clone();
        url.set_query(None);
        url.set_fragment(None);
        if let Ok(mut path) = url.path_segments_mut() {
            let host = provider.hostname.as_ascii();
            let segments = [host, &provider.namespace, &provider.type_name, document];
            path.pop().extend(segments);
        }
        url
    }
}

/// Parses a document from a mirror, whose content type must be JSON.
fn parse_json<'a, T: Deserialize<'a>>(response: &'a DocumentResponse) -> Result<Fields<T>> {
    response.body()?;
    response.check_json_type()?;
    response.json()
}

/// The reason why a package contradicts the hashes that its mirror lists.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MirrorHashError {
    #[error("the mirror lists only hashes of unknown schemes for the package {0}")]
    UnknownSchemes(Box<PackageId>),
    #[error("the package {0} matches none of the hashes that the mirror lists for it")]
    Mismatch(Box<PackageId>),
}

impl MirrorPackage {
    /// Returns the mirror's hashes that match the zip. At least one must match, unless the mirror lists no hashes.
    ///
    /// `zip_h1` is the hash of the zip's entries, which differs from the `h1` of lock files if the zip has directory entries.
    pub fn check(&self, zh: Digest, zip_h1: Option<&Hash>) -> Result<Vec<Hash>, MirrorHashError> {
        if self.hashes.is_empty() {
            return Ok(Vec::new());
        }
        let package = || Box::new(self.package.clone());
        let mut schemes = self.hashes.iter().map(Hash::scheme);
        if schemes.all(|scheme| scheme == HashScheme::Other) {
            return Err(MirrorHashError::UnknownSchemes(package()));
        }
        let zh = Hash::zh(zh);
        let is_match = |hash: &&Hash| **hash == zh || Some(*hash) == zip_h1;
        let matching: Vec<_> = self.hashes.iter().filter(is_match).cloned().collect();
        if matching.is_empty() {
            return Err(MirrorHashError::Mismatch(package()));
        }
        Ok(matching)
    }

    /// Returns the digest of the zip, if the mirror lists exactly one.
    pub fn zh(&self) -> Option<Digest> {
        let is_zh = |hash: &&Hash| hash.scheme() == HashScheme::Zh;
        let mut zips = self.hashes.iter().filter(is_zh);
        match (zips.next(), zips.next()) {
            (Some(zip), None) => Digest::parse_hex(zip.value()).ok(),
            _ => None,
        }
    }

    fn read(package: PackageId, archive: MirrorArchive, base: &Url) -> Result<Self> {
        let url = base.join(&archive.url).ok().filter(is_web);
        let url = url.ok_or_else(|| package.bad("its `url` is not an http or https address"))?;
        let hashes = wire::strings(archive.hashes).into_iter();
        let hashes = hashes.map(|text| {
            Hash::parse(&text)
                .map_err(|_no_scheme| package.bad(format!("`{text}` is not a valid hash")))
        });
        Ok(Self {
            hashes: hashes.collect::<Result<_, _>>()?,
            url,
            package,
        })
    }
}
