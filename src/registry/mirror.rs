//! Network mirrors: packages of any registry behind one base URL.
//!
//! `BASE/HOST/NAMESPACE/TYPE/index.json` lists versions, `VERSION.json` beside it the archives by platform, with hashes if
//! the mirror knows them. Hosts are written in their ASCII form, with a port if they have one (both engines fail there).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use reqwest::StatusCode;
use url::Url;

use crate::provider::{
    Digest, Hash, HashScheme, Hostname, PackageId, Platform, ProviderAddr, Version,
};
use crate::redacted_url::RedactedUrl;
use crate::registry::client::RegistryClient;
use crate::registry::credentials;
use crate::registry::error::RegistryError;
use crate::registry::fault::RequestError;
use crate::registry::fetch::Answer;
use crate::registry::http::is_web;
use crate::registry::memo::OnceMap;
use crate::registry::metadata::{AvailableVersion, AvailableVersions};
use crate::registry::wire::{self, Fields, MirrorArchive, MirrorArchives, MirrorIndex};
use crate::span::Place;

/// How many redirects of a mirror's documents are followed.
const REDIRECTS: usize = 5;

/// One mirror server. Clones share its answers.
#[derive(Clone)]
pub struct NetworkMirror {
    shared: Arc<Shared>,
}

struct Shared {
    client: RegistryClient,
    base: Url,
    /// The host whose credentials are sent.
    host: Hostname,
    configured: Option<Box<Place>>,
    versions: OnceMap<ProviderAddr, Result<Arc<AvailableVersions>, RegistryError>>,
    archives: OnceMap<(ProviderAddr, String), Result<Arc<Archives>, RegistryError>>,
}

/// The archives of one version, by platform.
type Archives = BTreeMap<Platform, MirrorPackage>;

/// A package that a mirror offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirrorPackage {
    /// Whose package it is.
    pub package: PackageId,
    /// The zip.
    pub url: Url,
    /// What the mirror says about it: any scheme, any number. `h1` is that of the zip's entries, not of the unpacked files.
    pub hashes: Vec<Hash>,
}

impl NetworkMirror {
    /// The mirror at `base`, which must be an https URL; `configured` is where the user wrote it.
    pub fn new(
        client: RegistryClient,
        base: &str,
        configured: Option<Place>,
    ) -> Result<Self, RegistryError> {
        let unusable = |problem| RegistryError::MirrorUrl {
            problem,
            configured: configured.clone().map(Box::new),
        };
        let base = Url::parse(base).map_err(|_not_a_url| unusable("it is no URL"))?;
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
            shared: Arc::new(Shared {
                client,
                base,
                host,
                configured: configured.map(Box::new),
                versions: OnceMap::default(),
                archives: OnceMap::default(),
            }),
        })
    }

    /// The address of the mirror, safe to show.
    pub fn shown(&self) -> RedactedUrl {
        RedactedUrl::from(&self.shared.base)
    }

    /// The versions of the provider.
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

    /// The package, or an error that names the platforms there are.
    pub async fn package(
        &self,
        provider: &ProviderAddr,
        version: &Version,
        platform: &Platform,
    ) -> Result<MirrorPackage, RegistryError> {
        let key = (provider.clone(), version.to_string());
        let job = || self.shared.fetch_archives(provider, version);
        let archives = self.shared.archives.get_or_init(key, job).await?;
        archives
            .get(platform)
            .cloned()
            .ok_or_else(|| RegistryError::NoPackage {
                package: Box::new(PackageId {
                    provider: provider.clone(),
                    version: version.clone(),
                    platform: platform.clone(),
                }),
                published: archives.keys().cloned().collect(),
            })
    }
}

impl Shared {
    async fn fetch_versions(
        &self,
        provider: &ProviderAddr,
    ) -> Result<Arc<AvailableVersions>, RegistryError> {
        let failed = |source: RequestError| RegistryError::Versions {
            provider: Box::new(provider.clone()),
            source: Arc::new(source),
        };
        let url = self.url(provider, "index.json");
        let answer = self.ask(&url, failed).await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Err(RegistryError::NotInMirror {
                provider: Box::new(provider.clone()),
                mirror: RedactedUrl::from(&self.base),
                configured: self.configured.clone(),
            });
        }
        let index: Fields<MirrorIndex> = self.json(&answer, &url).map_err(failed)?;
        let mut available = AvailableVersions::default();
        let mut seen = BTreeSet::new();
        for text in index.0.versions.into_keys() {
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
    ) -> Result<Arc<Archives>, RegistryError> {
        let failed = |source: RequestError| RegistryError::MirrorArchives {
            provider: Box::new(provider.clone()),
            version: Box::new(version.clone()),
            source: Arc::new(source),
        };
        let url = self.url(provider, &format!("{version}.json"));
        let answer = self.ask(&url, failed).await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Err(failed(self.refused(&answer, &url, answer.status_fault())));
        }
        let archives: Fields<MirrorArchives> = self.json(&answer, &url).map_err(failed)?;
        let mut packages = Archives::new();
        for (name, archive) in archives.0.archives {
            // A platform that nobody can ask for does no harm, and `null` is as good as absent.
            let (Ok(platform), Some(archive)) = (Platform::parse(&name), archive) else {
                continue;
            };
            let id = PackageId {
                provider: provider.clone(),
                version: version.clone(),
                platform: platform.clone(),
            };
            packages.insert(platform, MirrorPackage::read(id, archive.0, &answer.url)?);
        }
        Ok(Arc::new(packages))
    }

    /// A document of the provider. A last segment of the base without a slash behind it is lost.
    fn url(&self, provider: &ProviderAddr, document: &str) -> Url {
        let mut url = self.base.clone();
        url.set_query(None);
        url.set_fragment(None);
        if let Ok(mut path) = url.path_segments_mut() {
            let segments = [
                provider.hostname.as_ascii(),
                &provider.namespace,
                &provider.type_name,
                document,
            ];
            path.pop().extend(segments);
        }
        url
    }

    /// Asks for a document: the answer is good, or says that there is none.
    async fn ask(
        &self,
        url: &Url,
        failed: impl Fn(RequestError) -> RegistryError,
    ) -> Result<Answer, RegistryError> {
        let asked = self.client.ask_mirror(&self.host, url, REDIRECTS).await?;
        let answer = asked.answer.map_err(|error| {
            failed(RequestError {
                configured: self.configured.clone(),
                ..error
            })
        })?;
        match answer.status {
            StatusCode::OK | StatusCode::NOT_FOUND => Ok(answer),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(RegistryError::Unauthorized {
                host: self.host.clone(),
                rejected: asked.with_token,
            }),
            _ => Err(failed(self.refused(&answer, url, answer.status_fault()))),
        }
    }

    fn json<'a, T: serde::Deserialize<'a>>(
        &self,
        answer: &'a Answer,
        url: &Url,
    ) -> Result<T, RequestError> {
        let read = answer.check_json_type().and_then(|()| {
            wire::read(&answer.body).map_err(|error: serde_json::Error| answer.json_fault(&error))
        });
        read.map_err(|fault| self.refused(answer, url, fault))
    }

    fn refused(
        &self,
        answer: &Answer,
        url: &Url,
        fault: crate::registry::fault::Fault,
    ) -> RequestError {
        RequestError {
            configured: self.configured.clone(),
            ..answer.refused(url, fault)
        }
    }
}

/// Why a package does not fit what its mirror says about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MirrorHashError {
    /// All hashes are of schemes that nobody can compute.
    #[error("the mirror gives only hashes of unknown schemes for the package {0}")]
    UnknownSchemes(Box<PackageId>),
    /// No hash is the package's.
    #[error("the package {0} matches none of the hashes that the mirror gives for it")]
    Mismatch(Box<PackageId>),
}

impl MirrorPackage {
    /// The hashes of the mirror that are those of the zip: of these one is enough, and a wrong one beside it does no harm.
    /// A mirror that gives none at all vouches for nothing, which is fine.
    ///
    /// `zip_h1` is the hash of the zip's entries, which for packages with directory entries is not the `h1` of lock files.
    pub fn check(&self, zh: Digest, zip_h1: Option<&Hash>) -> Result<Vec<Hash>, MirrorHashError> {
        if self.hashes.is_empty() {
            return Ok(Vec::new());
        }
        let package = || Box::new(self.package.clone());
        if self
            .hashes
            .iter()
            .all(|hash| hash.scheme() == HashScheme::Other)
        {
            return Err(MirrorHashError::UnknownSchemes(package()));
        }
        let zh = Hash::zh(zh);
        let matching = self
            .hashes
            .iter()
            .filter(|&hash| *hash == zh || Some(hash) == zip_h1);
        let matching: Vec<_> = matching.cloned().collect();
        if matching.is_empty() {
            return Err(MirrorHashError::Mismatch(package()));
        }
        Ok(matching)
    }

    /// The digest of the zip, if the mirror gives exactly one.
    pub fn zh(&self) -> Option<Digest> {
        let mut zips = self
            .hashes
            .iter()
            .filter(|hash| hash.scheme() == HashScheme::Zh);
        match (zips.next(), zips.next()) {
            (Some(zip), None) => Digest::parse_hex(zip.value()).ok(),
            _ => None,
        }
    }

    fn read(package: PackageId, archive: MirrorArchive, base: &Url) -> Result<Self, RegistryError> {
        let url = base.join(&archive.url).ok().filter(is_web);
        let url = url.ok_or_else(|| package.bad("its `url` is no http or https address"))?;
        let hashes = wire::strings(archive.hashes).into_iter();
        let hashes = hashes.map(|text| {
            Hash::parse(&text).map_err(|_no_scheme| package.bad(format!("`{text}` is no hash")))
        });
        Ok(Self {
            hashes: hashes.collect::<Result<_, _>>()?,
            url,
            package,
        })
    }
}
