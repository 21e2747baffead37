//! Configurations that OpenTofu 1.12.6 initialized with an OCI registry, and what it recorded: testdata/conformance/README.md.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tflock_test_support::{
    FakeOciRegistry, OciAccess, ResponseBody, TestAuthority, TestContext, check_rows, write_script,
};

use crate::TFLOCK;
use crate::conformance::{cases, report};

/// The registries by the way in which clients must identify themselves. All have the same content.
struct RecordedRegistries {
    authority: TestAuthority,
    by_access: BTreeMap<&'static str, FakeOciRegistry>,
    /// Packages for filesystem mirrors, by path.
    files: Vec<(String, Vec<u8>)>,
}

impl RecordedRegistries {
    fn start() -> Self {
        let authority = TestAuthority::create();
        let start = |(name, access)| {
            let registry = FakeOciRegistry::start(&authority);
            registry.require(access);
            (name, registry)
        };
        let ways = [
            ("anonymous", OciAccess::Anonymous),
            ("basic", OciAccess::Basic),
            ("token", OciAccess::Token),
            ("anonymous-token", OciAccess::AnonymousToken),
        ];
        let by_access: BTreeMap<_, _> = ways.map(start).into();
        let mut files = Vec::new();
        for object in cases("oci-objects.jsonl") {
            match object["file"].as_str() {
                Some(path) => files.push((path.to_owned(), bytes(&object))),
                None => by_access
                    .values()
                    .for_each(|registry| put(registry, &object)),
            }
        }
        Self {
            authority,
            by_access,
            files,
        }
    }

    /// Returns the lock file that tflock writes for a configuration, or its messages.
    fn lock(&self, case: &Value) -> Result<String, String> {
        let access = case["access"].as_str().unwrap_or("anonymous");
        let host = self.by_access[access].host();
        let context = TestContext::offline(TFLOCK);
        let home = context.work().parent().unwrap().join("home");
        let (mirrors, programs) = (context.path("mirrors"), home.join("programs"));
        let place = |text: &str| {
            text.replace("HOST", host)
                .replace("DIRECTORY", mirrors.to_str().unwrap())
                .replace("HOME", home.to_str().unwrap())
        };
        std::fs::create_dir_all(mirrors.join("none")).unwrap();
        for (path, bytes) in &self.files {
            context.write(&format!("mirrors/{path}"), bytes);
        }
        for (path, text) in entries(&case["home"]) {
            write(&home.join(path), &place(text));
        }
        for (name, commands) in entries(&case["programs"]) {
            write(&programs.join(name), "");
            write_script(&programs.join(name), commands);
        }
        context.set_cli_config(&place(case["cli"].as_str().unwrap()));
        context.write("a/main.tf", place(case["config"].as_str().unwrap()));
        let old = case["lock"].as_str();
        if let Some(old) = old {
            context.write_lock_file("a", old);
        }
        let outcome = context
            .command("lock --engine tofu --source config --platform linux_amd64 a")
            .env("SSL_CERT_FILE", self.authority.certificate_file())
            .env("PATH", format!("{}:/usr/bin:/bin", programs.display()))
            .run();
        let written = context.lock_file("a");
        if outcome.code == Some(0) {
            return Ok(written.unwrap_or_default());
        }
        assert_eq!(written.as_deref(), old, "{outcome}");
        Err(outcome.stderr)
    }
}

fn put(registry: &FakeOciRegistry, object: &Value) {
    let repository = object["repository"].as_str().unwrap();
    if let Some(digest) = object["blob"].as_str() {
        registry.put_blob_as(repository, digest, ResponseBody::bytes(bytes(object)));
        return;
    }
    let [tag, media_type, text] =
        ["tag", "mediaType", "manifest"].map(|name| object[name].as_str().unwrap());
    match object["digest"].as_str() {
        Some(digest) => {
            registry.put_manifest_as(repository, tag, digest, media_type, text.as_bytes());
        }
        None => {
            registry.put_manifest_bytes(repository, tag, media_type, text.as_bytes());
        }
    }
}

fn bytes(object: &Value) -> Vec<u8> {
    STANDARD.decode(object["bytes"].as_str().unwrap()).unwrap()
}

fn entries(object: &Value) -> impl Iterator<Item = (&str, &str)> {
    let entries = object.as_object().into_iter().flatten();
    entries.map(|(name, text)| (name.as_str(), text.as_str().unwrap()))
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn configurations_lead_to_the_lock_files_of_tofu() {
    let registries = RecordedRegistries::start();
    let cases = cases("oci.jsonl");
    let differences = Mutex::new(Vec::new());
    check_rows(&cases, |case| {
        let found = registries.lock(case);
        let expected = case.get("tflock").unwrap_or(&case["tofu"]);
        if found.as_deref().ok() != expected["lock"].as_str() {
            let name = case["name"].as_str().unwrap();
            let difference = format!("{name}\n  expected: {expected}\n  found: {found:?}");
            differences.lock().unwrap().push(difference);
        }
    });
    report(&differences.into_inner().unwrap(), cases.len());
}
