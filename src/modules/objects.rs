//! Modules in buckets: archives, and directories of objects.
//!
//! `buckets` prepares the requests, and the registry client sends them like those for other archives. A directory is listed in each run. If
//! the entity tags of its objects have not changed, the cached package is used.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use sha2::{Digest as _, Sha256};

use crate::buckets::{ListedObject, ObjectAddress, ObjectList, ObjectRequest, StoreSettings};
use crate::package::{self, MAX_ENTRIES};
use crate::provider::Digest;
use crate::redacted_url::RedactedUrl;
use crate::registry::{Download, HttpExchange, HttpValidator, RegistryClient, RegistryError};

use super::address::ObjectsPackage;
use super::archive::MAX_UNPACKED_BYTES;
use super::error::ObjectFault;
use super::module_store::{PackageStaging, key};
use super::{ArchivePackage, Fetcher, ModuleError, ModuleLimit, disk};

/// The maximum size of one page of a list, in bytes. A page has at most 1,000 objects, whose names have at most 1,024 bytes.
const MAX_PAGE_BYTES: usize = 8 << 20;

/// The maximum number of pages of a list, for servers that send pages without objects.
const MAX_PAGES: usize = 2 * MAX_ENTRIES / 1000;

/// The maximum number of objects requested at the same time.
const MAX_IN_FLIGHT: usize = 8;

/// Access to one bucket.
struct BucketAccess<'a> {
    client: &'a RegistryClient,
    store: StoreSettings,
    object: &'a ObjectAddress,
    address: &'a RedactedUrl,
    /// Whether requests use the user's credentials. This is the case if the user allows the host in the address.
    with_credentials: bool,
}

impl Fetcher {
    /// Starts the download of an archive, from its address or from a bucket.
    pub(super) async fn start_download(
        &self,
        client: &RegistryClient,
        archive: &ArchivePackage,
        plain_http: bool,
        known_copy: Option<HttpValidator>,
    ) -> Result<Download, ModuleError> {
        let Some(object) = &archive.object else {
            let download = client.download_module(&archive.url, plain_http, known_copy);
            return Ok(download.await?);
        };
        let address = RedactedUrl::from(&archive.url);
        if client.settings().http.offline {
            return Err(ModuleError::Offline(address));
        }
        let access = self.access(client, object, &archive.url, &address);
        let request = access
            .store
            .request_object(object, access.with_credentials)
            .await;
        let request = request.map_err(|source| access.fault(source))?;
        access.start(request, plain_http, known_copy).await
    }

    /// Obtains the objects below a prefix.
    pub(super) async fn obtain_objects(
        &self,
        client: &RegistryClient,
        package: &ObjectsPackage,
        address: &RedactedUrl,
    ) -> Result<PathBuf, ModuleError> {
        let listing = key(&["objects", package.url.as_str()]);
        let content = |digest: &str| key(&["objects", package.url.as_str(), digest]);
        if client.settings().http.offline {
            let last = self.store.text(&listing);
            let package = last.and_then(|digest| self.store.find(&content(&digest), address));
            return package.ok_or_else(|| ModuleError::Offline(address.clone()));
        }
        let access = self.access(client, &package.prefix, &package.url, address);
        let objects = access.list().await?;
        let digest = identify(&objects);
        if let Some(digest) = &digest
            && let Some(package) = self.store.find(&content(digest), address)
        {
            return Ok(package);
        }
        let staging = match &digest {
            Some(_) => self.stage()?,
            None => PackageStaging::uncached(self.run_directory.next_path()?),
        };
        access.download(&objects, &staging.target).await?;
        let Some(digest) = digest else {
            return Ok(staging.target);
        };
        let package = self.store.adopt(&content(&digest), staging)?;
        self.store.write(&listing, &digest);
        Ok(package)
    }

    fn access<'a>(
        &self,
        client: &'a RegistryClient,
        object: &'a ObjectAddress,
        url: &url::Url,
        address: &'a RedactedUrl,
    ) -> BucketAccess<'a> {
        BucketAccess {
            client,
            store: StoreSettings {
                exchange: HttpExchange::new(client),
                environment: self.clouds.clone(),
            },
            object,
            address,
            with_credentials: client.settings().allowed_hosts.allows_url(url),
        }
    }
}

impl BucketAccess<'_> {
    /// Lists the objects below the prefix, sorted, with their paths relative to it.
    async fn list(&self) -> Result<Vec<(String, ListedObject)>, ModuleError> {
        let prefix = self.object.key.trim_end_matches('/');
        let prefix = match prefix {
            "" => String::new(),
            prefix => format!("{prefix}/"),
        };
        let (mut objects, mut bytes) = (Vec::new(), 0_u64);
        let mut page = None;
        for _ in 0..MAX_PAGES {
            let list = self.list_page(&prefix, page.as_deref()).await?;
            for object in list.objects {
                // A name that ends with a slash stands for an empty directory.
                let path = object.key.strip_prefix(&prefix);
                let path = path.filter(|path| !path.is_empty() && !path.ends_with('/'));
                if let Some(path) = path.map(str::to_owned) {
                    bytes = bytes.saturating_add(object.size);
                    objects.push((path, object));
                }
            }
            if objects.len() > MAX_ENTRIES {
                return Err(self.limit(ModuleLimit::Objects(MAX_ENTRIES)));
            }
            self.check_size(bytes)?;
            page = list.next_page;
            if page.is_none() {
                break;
            }
        }
        if page.is_some() {
            return Err(self.limit(ModuleLimit::Objects(MAX_ENTRIES)));
        }
        if objects.is_empty() {
            return Err(ModuleError::NoObjects(self.address.clone()));
        }
        objects.sort();
        Ok(objects)
    }

    async fn list_page(&self, prefix: &str, page: Option<&str>) -> Result<ObjectList, ModuleError> {
        let request = self
            .store
            .request_list(self.object, prefix, page, self.with_credentials)
            .await;
        let request = request.map_err(|source| self.fault(source))?;
        let mut download = self.start(request, false, None).await?;
        let mut document = Vec::new();
        while let Some(chunk) = download.chunk().await? {
            document.extend_from_slice(&chunk);
            if document.len() > MAX_PAGE_BYTES {
                return Err(self.limit(ModuleLimit::ObjectListBytes(MAX_PAGE_BYTES)));
            }
        }
        ObjectList::parse(&document).map_err(|source| self.fault(source))
    }

    /// Downloads the objects into `target`, which must not exist.
    async fn download(
        &self,
        objects: &[(String, ListedObject)],
        target: &Path,
    ) -> Result<(), ModuleError> {
        fs::create_dir(target).map_err(disk(target))?;
        let received = AtomicU64::new(0);
        let downloads = objects.iter().map(|(path, object)| {
            let received = &received;
            async move { self.download_one(path, object, target, received).await }
        });
        let downloads = stream::iter(downloads).buffer_unordered(MAX_IN_FLIGHT);
        downloads.try_collect().await
    }

    async fn download_one(
        &self,
        path: &str,
        object: &ListedObject,
        target: &Path,
        received: &AtomicU64,
    ) -> Result<(), ModuleError> {
        let file = package::entry_target(target, path.as_bytes());
        let file = file.map_err(|source| ModuleError::Unpack {
            address: self.address.clone(),
            source: source.into(),
        })?;
        let object = ObjectAddress {
            key: object.key.clone(),
            version: None,
            ..self.object.clone()
        };
        let request = self.store.request_object(&object, self.with_credentials);
        let request = request.await.map_err(|source| self.fault(source))?;
        let mut download = self.start(request, false, None).await?;
        let directory = file.parent().unwrap_or(target);
        fs::create_dir_all(directory).map_err(disk(directory))?;
        let mut output = File::create_new(&file).map_err(disk(&file))?;
        while let Some(chunk) = download.chunk().await? {
            let length = chunk.len() as u64;
            self.check_size(received.fetch_add(length, Ordering::Relaxed) + length)?;
            output.write_all(&chunk).map_err(disk(&file))?;
        }
        Ok(())
    }

    /// Sends a request.
    async fn start(
        &self,
        request: ObjectRequest,
        plain_http: bool,
        known_copy: Option<HttpValidator>,
    ) -> Result<Download, ModuleError> {
        let plain_http = plain_http || request.plain_http;
        let (url, authorization) = (&request.url, request.authorization.as_deref());
        let download = self
            .client
            .download_object(url, authorization, plain_http, known_copy);
        download.await.map_err(|error| match error.status() {
            Some(301 | 307) => refusal(error, ObjectFault::Region),
            Some(401 | 403) => match request.unknown_server {
                Some(server) => refusal(error, ObjectFault::Anonymous(server)),
                None => refusal(error, ObjectFault::Permission),
            },
            _ => error.into(),
        })
    }

    fn fault(&self, source: crate::buckets::BucketError) -> ModuleError {
        ModuleError::Bucket {
            address: self.address.clone(),
            source,
        }
    }

    fn check_size(&self, bytes: u64) -> Result<(), ModuleError> {
        if bytes <= MAX_UNPACKED_BYTES {
            return Ok(());
        }
        Err(self.limit(ModuleLimit::ObjectBytes(MAX_UNPACKED_BYTES)))
    }

    fn limit(&self, limit: ModuleLimit) -> ModuleError {
        ModuleError::Limit {
            address: self.address.clone(),
            limit,
        }
    }
}

fn refusal(error: RegistryError, fault: ObjectFault) -> ModuleError {
    let source = Box::new(error.into());
    ModuleError::ObjectRefused { source, fault }
}

/// Returns a digest of the names and entity tags of objects. `None` if an object has no tag.
fn identify(objects: &[(String, ListedObject)]) -> Option<String> {
    let mut text = String::new();
    for (_, object) in objects {
        if object.tag.is_empty() {
            return None;
        }
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{} {} {:?}", object.tag, object.size, object.key);
    }
    Some(Digest::new(Sha256::digest(&text).into()).to_string())
}
