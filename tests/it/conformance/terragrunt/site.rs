//! The registry, the modules and the archives that the recorded units use.

use std::collections::BTreeSet;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use regex::Regex;
use serde_json::{Value, json};
use tflock_test_support::{
    DEFAULT_HOSTS, Document, FakeRegistry, Misbehave, ProviderSpec, RawEntry, RawZip, Response,
    TestAuthority, TestContext,
};

use crate::TFLOCK;

/// The namespace in which the recorded registry has no providers.
const ABSENT_NAMESPACE: &str = "missing";

/// A registry with every provider and module of the cases, and the tree in which they are laid out.
pub(super) struct TerragruntSite {
    pub(super) context: TestContext,
    pub(super) registry: FakeRegistry,
    authority: TestAuthority,
    /// The host and port of the module registry, which supports https only.
    pub(super) host: String,
}

impl TerragruntSite {
    pub(super) fn start(cases: &[Value]) -> Self {
        let mut registry = FakeRegistry::start();
        for provider in providers(cases) {
            let spec = ProviderSpec::new(&provider)
                .hosts(DEFAULT_HOSTS)
                .platforms(["linux_amd64"]);
            registry.publish(spec.versions(["1.0.0", "1.1.0", "2.0.0"]));
        }
        let authority = TestAuthority::create();
        let host = registry.serve_tls(&authority);
        let site = Self {
            context: TestContext::new(TFLOCK, &registry),
            registry,
            authority,
            host,
        };
        site.serve_modules(cases);
        site.serve_archives(cases);
        site
    }

    pub(super) fn certificate_file(&self) -> &Path {
        self.authority.certificate_file()
    }

    fn serve_modules(&self, cases: &[Value]) {
        let discovery = json!({"modules.v1": "/v1/modules/"});
        let path = format!("/{}/.well-known/terraform.json", self.host);
        self.registry.serve(&path, Document::json(&discovery));
        for (module, versions) in cases.iter().flat_map(|case| entries(&case["modules"])) {
            let listed: Vec<_> = entries(versions)
                .map(|(version, _)| json!({"version": version}))
                .collect();
            let list = json!({"modules": [{"versions": listed}]});
            let base = format!("/v1/modules/{module}");
            self.registry.serve(
                &format!("/{}{base}/versions", self.host),
                Document::json(&list),
            );
            for (version, files) in entries(versions) {
                let archive = format!("/files/{module}/{version}.zip");
                self.registry.serve(&archive, Document::octets(zip(files)));
                let answer = Response::status(204)
                    .body("")
                    .with("X-Terraform-Get", &archive);
                let path = format!("{base}/{version}/download");
                self.registry
                    .misbehave(Misbehave::on(&path).respond(answer));
            }
        }
    }

    fn serve_archives(&self, cases: &[Value]) {
        for (name, files) in cases.iter().flat_map(|case| entries(&case["archives"])) {
            let is_zip = Path::new(name).extension().is_some_and(|end| end == "zip");
            let bytes = if is_zip { zip(files) } else { tar_gz(files) };
            let path = format!("/archives/{name}");
            self.registry.serve(&path, Document::octets(bytes));
        }
    }
}

/// Returns the entries of an object, or nothing for a missing value.
pub(super) fn entries(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    object.as_object().into_iter().flatten()
}

/// Returns every provider that a case may require: those that configurations and results name, and those whose names
/// begin a resource type.
fn providers(cases: &[Value]) -> BTreeSet<String> {
    let named = Regex::new(r#""(?:(?:registry\.[a-z]+\.[a-z]+|\{host\})/)?([a-z]+/[a-z0-9]+)\\?""#)
        .unwrap();
    let implied = Regex::new(r#"(?:resource|data|provider) \\*"([a-z0-9]+)[_\\"]"#).unwrap();
    let mut found = BTreeSet::new();
    for case in cases {
        let text = case.to_string();
        found.extend(named.captures_iter(&text).map(|found| found[1].to_owned()));
        let types = implied.captures_iter(&text);
        found.extend(types.map(|found| format!("hashicorp/{}", &found[1])));
    }
    found.retain(|name| !name.starts_with(&format!("{ABSENT_NAMESPACE}/")));
    found
}

fn zip(files: &Value) -> Vec<u8> {
    let files = entries(files);
    let files = files.map(|(name, text)| RawEntry::streamed(name, text.as_str().unwrap()));
    RawZip::of(files).to_bytes()
}

fn tar_gz(files: &Value) -> Vec<u8> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, text) in entries(files) {
        let text = text.as_str().unwrap().as_bytes();
        let mut header = tar::Header::new_gnu();
        header.set_mode(0o644);
        header.set_size(text.len() as u64);
        archive.append_data(&mut header, name, text).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap()
}
