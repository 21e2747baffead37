//! An OCI registry on loopback, over TLS: the distribution protocol for pulling and pushing, with tokens or passwords, a request log
//! and faulty responses.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::document::ResponseBody;
use crate::hash::sha256_hex;
use crate::http::{Handler, Log, Misbehave, ReceivedRequest, Response, Rules, Server};
use crate::provider::ProviderSpec;
use crate::release::{PackageFacts, Release};
use crate::tls::TestAuthority;

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// The only account of the registry.
pub const OCI_USER: &str = "user";
pub const OCI_PASSWORD: &str = "pass:word";

/// How clients must identify themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OciAccess {
    #[default]
    Anonymous,
    Basic,
    /// A token, which only the account gets.
    Token,
    /// A token, which every client gets for pulling.
    AnonymousToken,
}

/// A manifest or blob of a repository.
#[derive(Clone, Debug)]
pub struct OciObject {
    pub repository: String,
    /// The tag or digest of a manifest with its media type; `None` for a blob.
    pub manifest: Option<(String, String)>,
    pub bytes: Vec<u8>,
}

#[derive(Default)]
struct OciRepositoryContent {
    blobs: BTreeMap<String, ResponseBody>,
    /// By digest: the media type and the bytes.
    manifests: BTreeMap<String, (String, Vec<u8>)>,
    /// The digest of each tag.
    tags: BTreeMap<String, String>,
}

#[derive(Default)]
struct OciContent {
    repositories: BTreeMap<String, OciRepositoryContent>,
    access: OciAccess,
    /// The address of the token endpoint, if it is not on this server.
    realm: Option<String>,
    /// The number of tags on a page; 0 for all.
    page_size: usize,
    uploads: BTreeMap<String, Vec<u8>>,
    host: String,
}

struct OciHandler(Mutex<OciContent>);

/// An OCI registry. Dropping it stops it and closes all connections.
pub struct FakeOciRegistry {
    handler: Arc<OciHandler>,
    rules: Arc<Rules>,
    log: Log,
    _server: Server,
    host: String,
    directory: TempDir,
}

impl FakeOciRegistry {
    /// Starts an empty registry on a free port of `localhost`, with a certificate of `authority`.
    pub fn start(authority: &TestAuthority) -> Self {
        let handler = Arc::new(OciHandler(Mutex::default()));
        let (rules, log) = (Arc::new(Rules::default()), Log::default());
        let config = authority.server_config(&["localhost", "127.0.0.1"]);
        let server = Server::start(handler.clone(), rules.clone(), log.clone(), Some(config));
        let server = server.expect("loopback has a free port");
        let host = format!("localhost:{}", server.port());
        handler.content().host.clone_from(&host);
        Self {
            handler,
            rules,
            log,
            _server: server,
            host,
            directory: TempDir::with_prefix("oci").expect("a temporary directory"),
        }
    }

    /// Returns the host name and port.
    pub fn host(&self) -> &str {
        &self.host
    }

    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Adds a rule for faulty responses. Rules that were added earlier take precedence.
    pub fn misbehave(&self, rule: Misbehave) {
        self.rules.add(rule);
    }

    /// Requires clients to identify themselves.
    pub fn require(&self, access: OciAccess) {
        self.handler.content().access = access;
    }

    /// Names a token endpoint on a different server.
    pub fn set_realm(&self, realm: &str) {
        self.handler.content().realm = Some(realm.to_owned());
    }

    /// Splits lists of tags into pages.
    pub fn set_page_size(&self, tags: usize) {
        self.handler.content().page_size = tags;
    }

    /// Stores a blob. Returns its digest.
    pub fn put_blob(&self, repository: &str, bytes: impl Into<Vec<u8>>) -> String {
        let bytes = bytes.into();
        let digest = digest(&bytes);
        self.put_blob_as(repository, &digest, ResponseBody::bytes(bytes));
        digest
    }

    /// Stores a blob under any digest, which may be wrong.
    pub fn put_blob_as(&self, repository: &str, digest: &str, body: ResponseBody) {
        let mut content = self.handler.content();
        let repository = content.repositories.entry(repository.to_owned());
        repository
            .or_default()
            .blobs
            .insert(digest.to_owned(), body);
    }

    /// Stores a manifest, with a tag unless the tag is empty. Returns a descriptor of the manifest.
    pub fn put_manifest(&self, repository: &str, tag: &str, manifest: &Value) -> Value {
        let media_type = manifest["mediaType"].as_str().unwrap_or(MANIFEST);
        self.put_manifest_bytes(repository, tag, media_type, manifest.to_string().as_bytes())
    }

    pub fn put_manifest_bytes(
        &self,
        repository: &str,
        tag: &str,
        media_type: &str,
        bytes: &[u8],
    ) -> Value {
        self.put_manifest_as(repository, tag, &digest(bytes), media_type, bytes)
    }

    /// Stores a manifest under any digest, which may be wrong.
    pub fn put_manifest_as(
        &self,
        repository: &str,
        tag: &str,
        digest: &str,
        media_type: &str,
        bytes: &[u8],
    ) -> Value {
        let mut content = self.handler.content();
        let repository = content
            .repositories
            .entry(repository.to_owned())
            .or_default();
        let stored = (media_type.to_owned(), bytes.to_vec());
        repository.manifests.insert(digest.to_owned(), stored);
        if !tag.is_empty() {
            repository.tags.insert(tag.to_owned(), digest.to_owned());
        }
        json!({"mediaType": media_type, "digest": digest, "size": bytes.len()})
    }

    /// Publishes a provider as OpenTofu stores it. Returns the facts about its packages by version and platform.
    pub fn publish(
        &self,
        repository: &str,
        spec: &ProviderSpec,
    ) -> BTreeMap<(String, String), PackageFacts> {
        let mut facts = BTreeMap::new();
        for version in &spec.versions {
            let release = Release::build(spec, version, self.directory.path());
            let release = release.expect("the temporary directory is writable");
            let mut targets = Vec::new();
            for (platform, (package, body)) in &release.packages {
                targets.push(self.put_target(repository, platform, package, body));
                facts.insert((version.clone(), platform.clone()), package.clone());
            }
            self.put_index(repository, &version.replace('+', "_"), &targets);
        }
        facts
    }

    fn put_target(
        &self,
        repository: &str,
        platform: &str,
        package: &PackageFacts,
        body: &ResponseBody,
    ) -> Value {
        let digest = format!("sha256:{}", package.shasum());
        self.put_blob_as(repository, &digest, body.clone());
        let (os, architecture) = platform.split_once('_').expect("a platform is OS_ARCH");
        let layer = json!({"mediaType": "archive/zip", "digest": digest, "size": package.size});
        let manifest = self.manifest(
            repository,
            "application/vnd.opentofu.provider-target",
            &[layer],
        );
        let mut descriptor = self.put_manifest(repository, "", &manifest);
        descriptor["artifactType"] = "application/vnd.opentofu.provider-target".into();
        descriptor["platform"] = json!({"os": os, "architecture": architecture});
        descriptor
    }

    /// Stores the index manifest of a provider version.
    pub fn put_index(&self, repository: &str, tag: &str, targets: &[Value]) -> Value {
        let index = json!({
            "schemaVersion": 2,
            "mediaType": INDEX,
            "artifactType": "application/vnd.opentofu.provider",
            "manifests": targets,
        });
        self.put_manifest(repository, tag, &index)
    }

    /// Builds the manifest of an artifact, whose configuration is the empty one of the specification.
    pub fn manifest(&self, repository: &str, artifact_type: &str, layers: &[Value]) -> Value {
        let config = self.put_blob(repository, "{}");
        json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "artifactType": artifact_type,
            "config": {"mediaType": "application/vnd.oci.empty.v1+json", "digest": config, "size": 2},
            "layers": layers,
        })
    }

    /// Publishes a module package, a zip. Returns the digest of its manifest.
    pub fn publish_module(&self, repository: &str, tag: &str, zip: &[u8]) -> String {
        let digest = self.put_blob(repository, zip);
        let layer = json!({"mediaType": "archive/zip", "digest": digest, "size": zip.len()});
        let manifest = self.manifest(repository, "application/vnd.opentofu.modulepkg", &[layer]);
        let descriptor = self.put_manifest(repository, tag, &manifest);
        descriptor["digest"].as_str().unwrap_or_default().to_owned()
    }

    /// Changes the index manifest of a tag.
    pub fn change_index(&self, repository: &str, tag: &str, change: impl FnOnce(&mut Value)) {
        let mut index = self.tagged(repository, tag);
        change(&mut index);
        self.put_manifest(repository, tag, &index);
    }

    /// Changes the manifest of a platform, and the descriptor to it.
    pub fn change_target(
        &self,
        repository: &str,
        tag: &str,
        number: usize,
        change: impl FnOnce(&mut Value),
    ) {
        let index = self.tagged(repository, tag);
        let target = &index["manifests"][number];
        let digest = target["digest"].as_str().unwrap_or_default();
        let mut manifest = self.stored(repository, digest);
        change(&mut manifest);
        let descriptor = self.put_manifest(repository, "", &manifest);
        self.change_index(repository, tag, |index| {
            let target = &mut index["manifests"][number];
            target["digest"] = descriptor["digest"].clone();
            target["size"] = descriptor["size"].clone();
        });
    }

    /// Returns the manifest with this tag.
    pub fn tagged(&self, repository: &str, tag: &str) -> Value {
        let digest = self.handler.content().repositories[repository].tags[tag].clone();
        self.stored(repository, &digest)
    }

    fn stored(&self, repository: &str, digest: &str) -> Value {
        let content = self.handler.content();
        let (_, bytes) = &content.repositories[repository].manifests[digest];
        serde_json::from_slice(bytes).expect("the manifest is JSON")
    }

    /// Returns everything in the registry, in an order in which it can be pushed.
    pub fn objects(&self) -> Vec<OciObject> {
        let content = self.handler.content();
        let mut objects = Vec::new();
        for (name, repository) in &content.repositories {
            let object = |manifest, bytes: Vec<u8>| OciObject {
                repository: name.clone(),
                manifest,
                bytes,
            };
            let blobs = repository.blobs.values();
            objects.extend(blobs.map(|body| object(None, body.to_vec())));
            // An index refers to manifests, which must exist before it.
            let mut manifests: Vec<_> = repository.manifests.iter().collect();
            manifests.sort_by_key(|(_, (media_type, _))| media_type != MANIFEST);
            for (digest, (media_type, bytes)) in manifests {
                let manifest = Some((digest.clone(), media_type.clone()));
                objects.push(object(manifest, bytes.clone()));
            }
            for (tag, digest) in &repository.tags {
                let (media_type, bytes) = &repository.manifests[digest];
                let manifest = Some((tag.clone(), media_type.clone()));
                objects.push(object(manifest, bytes.clone()));
            }
        }
        objects
    }

    /// Writes a file with credentials as Docker does.
    pub fn write_auth_file(&self, path: &Path) {
        let auth = STANDARD.encode(format!("{OCI_USER}:{OCI_PASSWORD}"));
        let file = json!({"auths": {&self.host: {"auth": auth}}});
        std::fs::create_dir_all(path.parent().expect("the file is in a directory"))
            .and_then(|()| std::fs::write(path, file.to_string()))
            .expect("the directory is writable");
    }
}

fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", sha256_hex(bytes))
}

impl OciHandler {
    fn content(&self) -> MutexGuard<'_, OciContent> {
        self.0.lock().expect("not poisoned")
    }
}

impl Handler for OciHandler {
    fn answer(&self, request: &ReceivedRequest) -> Response {
        let mut content = self.content();
        if request.path == "/token" {
            return content.token(request);
        }
        let Some(path) = request.path.strip_prefix("/v2/") else {
            return Response::status(404);
        };
        let (name, resource) = split_resource(path);
        if let Some(refused) = content.refuse(request, name) {
            return refused;
        }
        let method = request.method.as_str();
        match (method, resource.split_once('/')) {
            (_, None) if path.is_empty() => Response::status(200),
            ("GET", Some(("tags", "list"))) => content.tags(name, request.query.as_deref()),
            ("GET" | "HEAD", Some(("manifests", reference))) => {
                content.find_manifest(name, reference)
            }
            ("GET" | "HEAD", Some(("blobs", digest))) => content.find_blob(name, digest),
            ("PUT", Some(("manifests", reference))) => {
                content.store_manifest(name, reference, request)
            }
            ("POST" | "PATCH" | "PUT", Some(("blobs", upload)))
                if upload.starts_with("uploads") =>
            {
                content.upload(name, upload, request)
            }
            _ => error(404, "UNSUPPORTED"),
        }
    }
}

/// Splits `NAME/manifests/REFERENCE` and similar paths before the resource.
fn split_resource(path: &str) -> (&str, &str) {
    let starts = ["/tags/", "/manifests/", "/blobs/"].map(|part| path.rfind(part));
    match starts.into_iter().flatten().max() {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => ("", path),
    }
}

impl OciContent {
    /// Returns a response with status 401 if the request has no valid credentials.
    fn refuse(&self, request: &ReceivedRequest, name: &str) -> Option<Response> {
        let sent = request.header("authorization").unwrap_or_default();
        let action = if matches!(request.method.as_str(), "GET" | "HEAD") {
            "pull"
        } else {
            "push"
        };
        let scope = format!("repository:{name}:");
        let is_valid = match self.access {
            OciAccess::Anonymous => true,
            OciAccess::Basic => sent == account(),
            OciAccess::Token | OciAccess::AnonymousToken => {
                let token = sent.strip_prefix("Bearer token-for-").unwrap_or_default();
                let mut scopes = token
                    .split('+')
                    .filter_map(|granted| granted.strip_prefix(&scope));
                name.is_empty() && !token.is_empty()
                    || scopes.any(|actions| actions.split(',').any(|granted| granted == action))
            }
        };
        if is_valid {
            return None;
        }
        let challenge = if self.access == OciAccess::Basic {
            "Basic realm=\"oci\"".to_owned()
        } else {
            let own = format!("https://{}/token", self.host);
            let realm = self.realm.as_ref().unwrap_or(&own);
            format!("Bearer realm=\"{realm}\",service=\"oci\",scope=\"{scope}{action}\"")
        };
        Some(error(401, "UNAUTHORIZED").with("WWW-Authenticate", &challenge))
    }

    fn token(&self, request: &ReceivedRequest) -> Response {
        let sent = request.header("authorization");
        let is_account = sent == Some(account().as_str());
        if !is_account && (sent.is_some() || self.access == OciAccess::Token) {
            return error(401, "UNAUTHORIZED");
        }
        let query = request.query.as_deref().unwrap_or_default();
        let scopes: Vec<String> = query
            .split('&')
            .filter_map(|pair| pair.strip_prefix("scope="))
            .map(|scope| {
                scope
                    .replace("%3A", ":")
                    .replace("%2F", "/")
                    .replace("%2C", ",")
            })
            .filter(|scope| is_account || !scope.contains("push"))
            .collect();
        let token = format!("token-for-{}", scopes.join("+"));
        json_response(200, &json!({"token": token, "expires_in": 300}))
    }

    fn tags(&self, name: &str, query: Option<&str>) -> Response {
        let Some(repository) = self.repositories.get(name) else {
            return error(404, "NAME_UNKNOWN");
        };
        let last = query
            .and_then(|query| query.strip_prefix("last="))
            .unwrap_or_default();
        let rest = repository.tags.keys().filter(|tag| tag.as_str() > last);
        let size = if self.page_size == 0 {
            usize::MAX
        } else {
            self.page_size
        };
        let page: Vec<_> = rest.clone().take(size).collect();
        let response = json_response(200, &json!({"name": name, "tags": page}));
        match page.last() {
            Some(last) if rest.count() > page.len() => {
                let link = format!("</v2/{name}/tags/list?last={last}>; rel=\"next\"");
                response.with("Link", &link)
            }
            _ => response,
        }
    }

    fn find_manifest(&self, name: &str, reference: &str) -> Response {
        let found = self.repositories.get(name).and_then(|repository| {
            let digest = repository
                .tags
                .get(reference)
                .map_or(reference, String::as_str);
            Some((digest, repository.manifests.get(digest)?))
        });
        let Some((digest, (media_type, bytes))) = found else {
            return error(404, "MANIFEST_UNKNOWN");
        };
        let response = Response {
            status: 200,
            headers: Vec::new(),
            body: ResponseBody::bytes(bytes.clone()),
        };
        response
            .with("Content-Type", media_type)
            .with("Docker-Content-Digest", digest)
    }

    fn find_blob(&self, name: &str, digest: &str) -> Response {
        let found = self
            .repositories
            .get(name)
            .and_then(|repository| repository.blobs.get(digest));
        let Some(body) = found else {
            return error(404, "BLOB_UNKNOWN");
        };
        let response = Response {
            status: 200,
            headers: Vec::new(),
            body: body.clone(),
        };
        let response = response.with("Content-Type", "application/octet-stream");
        response
            .with("Docker-Content-Digest", digest)
            .with("ETag", &format!("\"{digest}\""))
    }

    fn store_manifest(
        &mut self,
        name: &str,
        reference: &str,
        request: &ReceivedRequest,
    ) -> Response {
        let digest = digest(&request.body);
        if reference.contains(':') && reference != digest {
            return error(400, "DIGEST_INVALID");
        }
        let repository = self.repositories.entry(name.to_owned()).or_default();
        let manifest: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let parts = ["layers", "manifests"].map(|part| manifest[part].as_array());
        let referred = parts.into_iter().flatten().flatten();
        let mut digests = referred.filter_map(|part| part["digest"].as_str());
        let known = |digest: &str| {
            repository.blobs.contains_key(digest) || repository.manifests.contains_key(digest)
        };
        if digests.any(|digest| !known(digest)) {
            return error(404, "MANIFEST_BLOB_UNKNOWN");
        }
        let media_type = request
            .header("content-type")
            .unwrap_or(MANIFEST)
            .to_owned();
        repository
            .manifests
            .insert(digest.clone(), (media_type, request.body.clone()));
        if !reference.contains(':') {
            repository.tags.insert(reference.to_owned(), digest.clone());
        }
        let location = format!("/v2/{name}/manifests/{digest}");
        stored(&location, &digest)
    }

    /// Starts, continues or finishes an upload.
    fn upload(&mut self, name: &str, upload: &str, request: &ReceivedRequest) -> Response {
        let query = request.query.as_deref().unwrap_or_default();
        let wanted = query
            .split('&')
            .find_map(|pair| pair.strip_prefix("digest="));
        let id = match upload.strip_prefix("uploads/").unwrap_or_default() {
            "" => self.uploads.len().to_string(),
            id => id.to_owned(),
        };
        let bytes = self.uploads.entry(id.clone()).or_default();
        bytes.extend_from_slice(&request.body);
        let Some(wanted) = wanted else {
            let location = format!("/v2/{name}/blobs/uploads/{id}");
            return Response::status(202).with("Location", &location);
        };
        let bytes = std::mem::take(bytes);
        let digest = digest(&bytes);
        if wanted.replace("%3A", ":") != digest {
            return error(400, "DIGEST_INVALID");
        }
        let repository = self.repositories.entry(name.to_owned()).or_default();
        repository
            .blobs
            .insert(digest.clone(), ResponseBody::bytes(bytes));
        stored(&format!("/v2/{name}/blobs/{digest}"), &digest)
    }
}

/// Returns the header with the only account.
fn account() -> String {
    format!(
        "Basic {}",
        STANDARD.encode(format!("{OCI_USER}:{OCI_PASSWORD}"))
    )
}

fn stored(location: &str, digest: &str) -> Response {
    let response = Response::status(201).with("Location", location);
    response.with("Docker-Content-Digest", digest)
}

fn json_response(status: u16, value: &Value) -> Response {
    let body = ResponseBody::bytes(value.to_string());
    let response = Response {
        status,
        headers: Vec::new(),
        body,
    };
    response.with("Content-Type", "application/json")
}

/// Returns an error as the specification describes it.
fn error(status: u16, code: &str) -> Response {
    json_response(
        status,
        &json!({"errors": [{"code": code, "message": code}]}),
    )
}
