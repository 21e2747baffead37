//! A provider registry on loopback: any number of hosts, signed packages, a request log and faulty responses.
//!
//! Every host has its own path: `http://127.0.0.1:PORT/HOST/v1/providers/`. The `host` blocks in
//! [`FakeRegistry::cli_config`] redirect Terraform, OpenTofu and tflock to these paths, so providers can be published
//! for any host without DNS. Requests for `/v1/...` and `/.well-known/...` use the host in their `Host` header, which
//! makes service discovery work over [`FakeRegistry::serve_tls`].

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, RwLock};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::document::{Document, ResponseBody};
use crate::hash::sha256_hex;
use crate::http::{Handler, Log, Misbehave, ReceivedRequest, Response, Rules, Server};
use crate::provider::ProviderSpec;
use crate::release::{MANIFEST, PackageFacts, Release};
use crate::tls::TestAuthority;

/// A function that returns the document at a path.
type MakeDocument = Box<dyn Fn(&str) -> Option<Document> + Send + Sync>;

/// The served documents, by path.
#[derive(Default)]
struct Pages {
    stored: RwLock<BTreeMap<String, Document>>,
    others: RwLock<Option<MakeDocument>>,
}

impl Pages {
    fn find(&self, path: &str) -> Option<Document> {
        let stored = self.stored.read().expect("not poisoned").get(path).cloned();
        stored.or_else(|| self.others.read().expect("not poisoned").as_ref()?(path))
    }
}

impl Handler for Pages {
    fn answer(&self, request: &ReceivedRequest) -> Response {
        let by_host = ["/v1/", "/.well-known/"]
            .iter()
            .any(|start| request.path.starts_with(start));
        let host = request.header("host").filter(|_| by_host);
        let path = host.map_or_else(
            || request.path.clone(),
            |host| format!("/{host}{}", request.path),
        );
        match self.find(&path) {
            Some(document) => {
                let tag = format!("\"{}-{}\"", document.body.size(), path.len());
                Response::document(&document).with("ETag", &tag)
            }
            None => Response::status(404),
        }
    }
}

/// A registry. Dropping it stops it and closes all connections.
pub struct FakeRegistry {
    pages: Arc<Pages>,
    rules: Arc<Rules>,
    log: Log,
    server: Server,
    tls: Option<Server>,
    hosts: BTreeSet<String>,
    facts: BTreeMap<(String, String, String), PackageFacts>,
    directory: TempDir,
}

impl FakeRegistry {
    /// Starts an empty registry on a free port.
    pub fn start() -> Self {
        let (pages, rules, log) = (
            Arc::new(Pages::default()),
            Arc::new(Rules::default()),
            Log::default(),
        );
        let server = Server::start(pages.clone(), rules.clone(), log.clone(), None);
        Self {
            pages,
            rules,
            log,
            server: server.expect("loopback has a free port"),
            tls: None,
            hosts: BTreeSet::from([
                "registry.terraform.io".into(),
                "registry.opentofu.org".into(),
            ]),
            facts: BTreeMap::new(),
            directory: TempDir::with_prefix("registry").expect("a temporary directory"),
        }
    }

    /// Starts a registry with this provider.
    pub fn with(spec: impl Borrow<ProviderSpec>) -> Self {
        let mut registry = Self::start();
        registry.publish(spec);
        registry
    }

    /// Publishes a provider. It replaces a provider of the same name on the same hosts.
    pub fn publish(&mut self, spec: impl Borrow<ProviderSpec>) -> &mut Self {
        let spec = spec.borrow();
        for version in &spec.versions {
            let release = Release::build(spec, version, self.directory.path());
            let release = release.expect("memory and the temporary directory can be written");
            for (platform, (facts, _)) in &release.packages {
                let key = (spec.name(), version.clone(), platform.clone());
                self.facts.insert(key, facts.clone());
            }
            for host in &spec.hosts {
                self.publish_release(spec, host, version, &release);
            }
        }
        for host in &spec.hosts {
            self.hosts.insert(host.clone());
            let path = format!("{}/versions", provider_path(spec, host));
            self.serve(&path, Document::json(&version_list(spec)));
            let discovery = json!({"providers.v1": "/v1/providers/"});
            let path = format!("/{}/.well-known/terraform.json", slug(host));
            self.serve(&path, Document::json(&discovery));
        }
        self
    }

    fn publish_release(&self, spec: &ProviderSpec, host: &str, version: &str, release: &Release) {
        let files = format!("/{}/files/{}/{version}", slug(host), spec.name());
        let sums = format!(
            "{files}/terraform-provider-{}_{version}_SHA256SUMS",
            spec.type_name
        );
        let signature = format!("{sums}.sig");
        self.serve(
            &sums,
            Document::new("text/plain", ResponseBody::bytes(release.sums.clone())),
        );
        self.serve(&signature, Document::octets(release.signature.clone()));
        let base = if spec.relative_urls {
            String::new()
        } else {
            self.url("")
        };
        let keys = spec
            .advertised
            .clone()
            .unwrap_or_else(|| vec![spec.key.clone()]);
        let keys: Vec<_> = keys.iter().map(key_entry).collect();
        for (platform, (facts, body)) in &release.packages {
            let (os, arch) = platform.split_once('_').expect("a platform is OS_ARCH");
            let package = format!("{files}/{}", facts.filename);
            self.serve(&package, Document::new("application/zip", body.clone()));
            let mut meta = json!({
                "protocols": spec.protocols,
                "os": os,
                "arch": arch,
                "filename": facts.filename,
                "download_url": format!("{base}{package}"),
                "shasum": facts.shasum(),
                "shasums_url": format!("{base}{sums}"),
                "shasums_signature_url": format!("{base}{signature}"),
                "signing_keys": {"gpg_public_keys": keys},
            });
            if spec.reports_packages {
                meta["packages"] = reported(release);
            }
            let path = format!(
                "{}/{version}/download/{os}/{arch}",
                provider_path(spec, host)
            );
            self.serve(&path, Document::json(&meta));
        }
    }

    /// Serves this document at `path`.
    pub fn serve(&self, path: &str, document: Document) {
        let mut stored = self.pages.stored.write().expect("not poisoned");
        stored.insert(path.to_owned(), document);
    }

    /// Serves the documents that `make` returns at all other paths, for mirrors that have every provider.
    pub fn serve_others(&self, make: impl Fn(&str) -> Option<Document> + Send + Sync + 'static) {
        *self.pages.others.write().expect("not poisoned") = Some(Box::new(make));
    }

    /// Returns the document currently served at `path`.
    pub fn document(&self, path: &str) -> Option<Document> {
        self.pages.find(path)
    }

    /// Changes the JSON document at `path`.
    pub fn change_json(&self, path: &str, change: impl FnOnce(&mut Value)) {
        let document = self.document(path).expect("the document exists");
        let json = serde_json::from_slice(&document.body.to_vec());
        let mut value = json.expect("the document is JSON");
        change(&mut value);
        self.serve(path, Document::json(&value));
    }

    /// Removes the document, so requests for `path` get the status 404.
    pub fn remove(&self, path: &str) {
        let mut stored = self.pages.stored.write().expect("not poisoned");
        stored.remove(path);
    }

    /// Adds a rule for faulty responses. Rules that were added earlier take precedence.
    pub fn misbehave(&self, rule: Misbehave) {
        self.rules.add(rule);
    }

    /// Removes all rules.
    pub fn behave(&self) {
        self.rules.clear();
    }

    /// Returns the log of the requests over http and https.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Returns the http port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.server.port()
    }

    /// Returns the URL of `path`, which starts with `/` or is empty.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port())
    }

    /// Returns the URL of the `providers.v1` service of `host`.
    pub fn service_url(&self, host: &str) -> String {
        self.url(&format!("/{}/v1/providers/", slug(host)))
    }

    /// Starts listening for https on `localhost`, with a certificate of `authority`. Returns the host name and port.
    pub fn serve_tls(&mut self, authority: &TestAuthority) -> String {
        let config = authority.server_config(&["localhost", "127.0.0.1"]);
        let (pages, rules) = (self.pages.clone(), self.rules.clone());
        let server = Server::start(pages, rules, self.log.clone(), Some(config));
        let server = server.expect("loopback has a free port");
        let host = format!("localhost:{}", server.port());
        self.tls = Some(server);
        host
    }

    /// Returns a CLI configuration that redirects every published host and the default hosts to this registry.
    pub fn cli_config(&self) -> String {
        let tls = self
            .tls
            .as_ref()
            .map(|server| format!("localhost:{}", server.port()));
        let hosts = self.hosts.iter().filter(|host| Some(*host) != tls.as_ref());
        let blocks = hosts.map(|host| {
            let service = self.service_url(host);
            format!("host \"{host}\" {{\n  services = {{\n    \"providers.v1\" = \"{service}\"\n  }}\n}}\n")
        });
        format!(
            "disable_checkpoint = true\n\n{}",
            blocks.collect::<Vec<_>>().join("\n")
        )
    }

    /// Returns the facts about a package: `registry.package("acme/anvil", "1.0.0", "linux_amd64")`.
    pub fn package(&self, name: &str, version: &str, platform: &str) -> &PackageFacts {
        let key = (name.to_owned(), version.to_owned(), platform.to_owned());
        let found = self.facts.get(&key);
        found.unwrap_or_else(|| panic!("{name} {version} was not published for {platform}"))
    }

    /// Returns the `zh:` hash of the manifest in every checksum list.
    pub fn manifest_zh() -> String {
        format!("zh:{}", sha256_hex(MANIFEST.as_bytes()))
    }

    /// Fills in `{h1:NAME:VERSION:PLATFORM}`, `{zh:NAME:VERSION:PLATFORM}` and `{zh:manifest}` in `text`.
    pub fn fill(&self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some(start) = rest.find("{h1:").into_iter().chain(rest.find("{zh:")).min() {
            let length = rest[start..].find('}').expect("a placeholder ends in `}`");
            filled.push_str(&rest[..start]);
            filled.push_str(&self.hash_of(&rest[start + 1..start + length]));
            rest = &rest[start + length + 1..];
        }
        filled + rest
    }

    fn hash_of(&self, template: &str) -> String {
        match template.split(':').collect::<Vec<_>>()[..] {
            ["zh", "manifest"] => Self::manifest_zh(),
            ["zh", name, version, platform] => self.package(name, version, platform).zh.clone(),
            ["h1", name, version, platform] => self.package(name, version, platform).h1.clone(),
            _ => panic!("`{template}` is not a placeholder for a hash"),
        }
    }
}

/// Returns the path element for a host: its name with every non-ASCII character replaced.
fn slug(host: &str) -> String {
    host.replace(|character: char| !character.is_ascii(), "_")
}

fn provider_path(spec: &ProviderSpec, host: &str) -> String {
    format!("/{}/v1/providers/{}", slug(host), spec.name())
}

/// Returns the packages of a release in the form in which OpenTofu's registry reports them.
fn reported(release: &Release) -> Value {
    let entry = |(platform, (facts, _)): (&String, &(PackageFacts, ResponseBody))| {
        let entry = json!({"hashes": [facts.zh, facts.h1], "package_size": facts.size});
        (platform.clone(), entry)
    };
    release.packages.iter().map(entry).collect()
}

fn version_list(spec: &ProviderSpec) -> Value {
    let platform = |platform: &String| {
        let (os, arch) = platform.split_once('_').expect("a platform is OS_ARCH");
        json!({"os": os, "arch": arch})
    };
    let version = |version: &String| {
        let platforms: Vec<_> = spec.platforms_of(version).map(platform).collect();
        json!({"version": version, "protocols": spec.protocols, "platforms": platforms})
    };
    let versions: Vec<_> = spec.versions.iter().map(version).collect();
    json!({"versions": versions, "warnings": spec.warnings})
}

fn key_entry(key: &crate::TestSigner) -> Value {
    json!({
        "key_id": key.key_id,
        "ascii_armor": key.ascii_armor,
        "trust_signature": key.trust_signature,
        "source": "",
        "source_url": null,
    })
}
