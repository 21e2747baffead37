//! Parity with mirrors as the source: what `providers lock -fs-mirror` and `-net-mirror` of both tools write, and when
//! they fail.
//!
//! `testdata/mirrors/CASE/terraform.hcl` and `tofu.hcl` record what the tools wrote. If a tool rejects a case, there is
//! no file for it. `TFLOCK_RECORD=1` records the files again with the installed tools. Otherwise, the tools' current
//! output is compared with the records. The versions are in `testdata/README.md` and `testdata/tofu/VERSION`.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};
use tflock::package::{Limits, hash_archive};
use tflock_test_support::{
    DEFAULT_PLATFORMS, Document, FakeRegistry, Outcome, TestAuthority, TestContext, is_recording,
    table,
};

use super::{registry, testdata};
use crate::TFLOCK;

/// The tools and their default hosts.
const TOOLS: [(&str, &str); 2] = [
    ("terraform", "registry.terraform.io"),
    ("tofu", "registry.opentofu.org"),
];

/// A mirror that is the source of packages.
#[derive(Clone, Copy)]
enum MirrorSource {
    /// A directory that [`MirrorSite::directories`] creates.
    Directory(&'static str),
    /// A network mirror that reports these `hashes` for each package: see [`hashes_of_mirror`].
    Network(&'static str),
}

use MirrorSource::{Directory, Network};

/// A configuration and the mirror from which it is locked.
struct MirrorCase {
    name: &'static str,
    required: Vec<(&'static str, &'static str)>,
    mirror: MirrorSource,
    platforms: &'static [&'static str],
    /// Whether the run starts with the lock file [`COMPLETE`].
    is_locked: bool,
}

/// A lock file entry as it is written when the source is a registry, without the `h1` hashes of two platforms.
const COMPLETE: &str = r#"provider "HOST/acme/anvil" {
  version     = "1.0.0"
  constraints = "1.0.0"
  hashes = [
    "{h1:acme/anvil:1.0.0:darwin_arm64}",
    "{zh:acme/anvil:1.0.0:darwin_arm64}",
    "{zh:acme/anvil:1.0.0:linux_amd64}",
    "{zh:acme/anvil:1.0.0:windows_amd64}",
    "{zh:manifest}",
  ]
}
"#;

/// The columns: the name, the requirements, the directory or network mirror, and special conditions.
const CASES: &str = "
    packed                                | acme/anvil ~> 1.0, acme/bolt, bücher.example/acme/quill | directory packed |
    packed-with-directories               | acme/crate             | directory packed                  |
    packed-prerelease                     | acme/anvil 1.2.0-beta1 | directory packed                  |
    packed-for-one-platform               | acme/anvil 1.0.0       | directory linux-only              |
    packed-for-that-platform              | acme/anvil 1.0.0       | directory linux-only              | linux only
    packed-beside-the-registrys-hashes    | acme/anvil 1.0.0       | directory packed                  | locked
    no-such-version                       | acme/anvil > 9.0       | directory packed                  |
    no-such-provider                      | acme/nothing           | directory packed                  |
    no-such-directory                     | acme/anvil 1.0.0       | directory missing                 |
    broken-zip                            | acme/anvil 1.0.0       | directory broken                  |
    unpacked                              | acme/anvil 1.0.0       | directory unpacked                |
    unpacked-beside-the-registrys-hashes  | acme/anvil 1.0.0       | directory unpacked                | locked
    unpacked-beats-packed                 | acme/anvil 1.0.0       | directory both                    |
    unpacked-without-executable           | acme/anvil 1.0.0       | directory no-executable           |
    odd-spellings                         | acme/anvil             | directory odd-spellings           |
    no-hashes                             | acme/anvil 1.0.0       | network no-hashes                 |
    null-hashes                           | acme/anvil 1.0.0       | network null-hashes               |
    zh                                    | acme/anvil 1.0.0       | network zh                        |
    h1                                    | acme/anvil 1.0.0       | network h1                        |
    zh-and-h1                             | acme/anvil 1.0.0       | network zh-and-h1                 |
    zh-and-wrong-h1                       | acme/anvil 1.0.0       | network zh-and-wrong-h1           |
    wrong-zh-and-h1                       | acme/anvil 1.0.0       | network wrong-zh-and-h1           |
    known-and-unknown-schemes             | acme/anvil 1.0.0       | network known-and-unknown-schemes |
    unknown-schemes-alone                 | acme/anvil 1.0.0       | network unknown-schemes-alone     |
    wrong-hashes                          | acme/anvil 1.0.0       | network wrong-hashes              |
    no-scheme                             | acme/anvil 1.0.0       | network no-scheme                 |
    upper-case-zh                         | acme/anvil 1.0.0       | network upper-case-zh             |
    empty-hashes                          | acme/anvil 1.0.0       | network empty-hashes              |
    directories-by-h1                     | acme/crate             | network h1                        |
    directories-by-both                   | acme/crate             | network zh-and-h1                 |
    unicode-host                          | bücher.example/acme/quill | network zh                     |
    newest-of-the-mirror                  | acme/bolt >= 1.0       | network zh                        |
    network-beside-the-registrys-hashes   | acme/anvil 1.0.0       | network no-hashes                 | locked
";

fn cases() -> Vec<MirrorCase> {
    let row = |[name, required, mirror, special]: [&'static str; 4]| {
        let required = required
            .split(", ")
            .map(|text| text.split_once(' ').unwrap_or((text, "")));
        let mirror = match mirror.split_once(' ') {
            Some(("directory", name)) => Directory(name),
            Some((_, name)) => Network(name),
            None => panic!("`{mirror}` is not a mirror"),
        };
        MirrorCase {
            name,
            required: required.collect(),
            mirror,
            platforms: if special == "linux only" {
                &["linux_amd64"]
            } else {
                &DEFAULT_PLATFORMS
            },
            is_locked: special == "locked",
        }
    };
    table(CASES).into_iter().map(row).collect()
}

/// Returns the `hashes` that a network mirror reports for a package, derived from its `zh` and zip-based `h1` hashes.
/// Returns `None` if the mirror omits the field.
fn hashes_of_mirror(mirror: &str, zh: &str, h1: &str) -> Option<Value> {
    Some(match mirror {
        "no-hashes" => return None,
        "null-hashes" => Value::Null,
        "zh" => json!([zh]),
        "h1" => json!([h1]),
        "zh-and-h1" => json!([h1, zh]),
        "zh-and-wrong-h1" => json!(["h1:wrong", zh]),
        "wrong-zh-and-h1" => json!(["zh:wrong", h1]),
        "known-and-unknown-schemes" => json!(["h7:x", zh]),
        "unknown-schemes-alone" => json!(["h7:x"]),
        "wrong-hashes" => json!(["h1:wrong", "zh:wrong"]),
        "no-scheme" => json!([zh, "wrong"]),
        "upper-case-zh" => json!([zh.to_uppercase().replace("ZH:", "zh:")]),
        "empty-hashes" => json!([]),
        _ => panic!("`{mirror}` is not a network mirror"),
    })
}

/// The providers in the mirrors: host, name and versions.
const MIRRORED: &str = "
    registry.terraform.io | acme/anvil | 0.9.0 1.0.0 1.1.0 1.2.0-beta1 2.0.0
    registry.opentofu.org | acme/anvil | 0.9.0 1.0.0 1.1.0 1.2.0-beta1 2.0.0
    registry.terraform.io | acme/bolt  | 1.0.0 1.9.0 1.10.0
    registry.opentofu.org | acme/bolt  | 1.0.0 1.9.0 1.10.0
    registry.terraform.io | acme/crate | 1.0.0
    registry.opentofu.org | acme/crate | 1.0.0
    bücher.example        | acme/quill | 1.0.0
";

/// All mirrors, and a tree for lock files.
struct MirrorSite {
    registry: FakeRegistry,
    authority: TestAuthority,
    context: TestContext,
    host: String,
}

impl MirrorSite {
    fn start() -> Self {
        let mut registry = registry::start();
        let authority = TestAuthority::create();
        let host = registry.serve_tls(&authority);
        let context = TestContext::new(TFLOCK, &registry);
        let site = Self {
            registry,
            authority,
            context,
            host,
        };
        site.directories();
        for case in cases() {
            if let Network(name) = case.mirror {
                site.network(name);
            }
        }
        site
    }

    fn package(&self, host: &str, name: &str, version: &str, platform: &str) -> (String, Vec<u8>) {
        let file = &self.registry.package(name, version, platform).filename;
        let slug = host.replace('ü', "_");
        let path = format!("/{slug}/files/{name}/{version}/{file}");
        let document = self.registry.document(&path).unwrap();
        (file.clone(), document.body.to_vec())
    }

    /// Creates every filesystem mirror below `mirrors/`.
    fn directories(&self) {
        for [host, name, versions] in table(MIRRORED) {
            for version in versions.split(' ') {
                for platform in DEFAULT_PLATFORMS {
                    let (file, bytes) = self.package(host, name, version, platform);
                    self.put(&format!("packed/{host}/{name}/{file}"), &bytes);
                    if version == "1.0.0" && platform == "linux_amd64" {
                        self.put(&format!("linux-only/{host}/{name}/{file}"), &bytes);
                    }
                }
            }
        }
        for (_, host) in TOOLS {
            for platform in DEFAULT_PLATFORMS {
                self.directories_of(host, platform);
            }
        }
    }

    /// Creates the mirrors that contain only `acme/anvil`.
    fn directories_of(&self, host: &str, platform: &str) {
        let (file, bytes) = self.package(host, "acme/anvil", "1.0.0", platform);
        let broken = format!("broken/{host}/acme/anvil/{file}");
        self.put(&broken, b"PK, but no zip");
        self.put(&format!("both/{host}/acme/anvil/{file}"), &bytes);
        for mirror in ["unpacked", "both", "no-executable"] {
            let package = format!("{mirror}/{host}/acme/anvil/1.0.0/{platform}");
            self.put(&format!("{package}/docs/README.md"), platform.as_bytes());
            let name = match mirror {
                "no-executable" => "anvil",
                _ => "terraform-provider-anvil_v1.0.0_x5",
            };
            self.put(&format!("{package}/{name}"), mirror.as_bytes());
        }
        let odd = format!("odd-spellings/{}/Acme/ANVIL", host.to_uppercase());
        for file in [
            "Terraform-Provider-ANVIL_1.0_PLATFORM.ZIP",
            "terraform-provider-anvil_v2.0.0_PLATFORM.zip",
            "terraform-provider-other_3.0.0_PLATFORM.zip",
        ] {
            let file = file.replace("PLATFORM", platform);
            self.put(&format!("{odd}/{file}"), &bytes);
        }
        self.put(&format!("{odd}/index.json"), b"{}");
    }

    fn put(&self, relative: &str, bytes: &[u8]) {
        self.context.write(&format!("mirrors/{relative}"), bytes);
    }

    /// Serves the documents of a network mirror.
    fn network(&self, mirror: &str) {
        let serve = |path: &str, document| self.registry.serve(path, document);
        for [host, name, versions] in table(MIRRORED) {
            let ascii = host.replace("bücher", "xn--bcher-kva");
            let base = format!("/{mirror}/{ascii}/{name}");
            let index = versions
                .split(' ')
                .map(|version| (version.to_owned(), json!({})));
            let index = json!({"versions": index.collect::<serde_json::Map<_, _>>()});
            serve(&format!("{base}/index.json"), Document::json(&index));
            for version in versions.split(' ') {
                let archives = DEFAULT_PLATFORMS.map(|platform| {
                    let (file, bytes) = self.package(host, name, version, platform);
                    serve(&format!("{base}/{file}"), Document::octets(bytes.clone()));
                    let mut archive = json!({"url": file});
                    let zh = &self.registry.package(name, version, platform).zh;
                    if let Some(hashes) = hashes_of_mirror(mirror, zh, &zip_h1(&bytes, name)) {
                        archive["hashes"] = hashes;
                    }
                    (platform.to_owned(), archive)
                });
                let archives = serde_json::Map::from_iter(archives);
                let document = Document::json(&json!({ "archives": archives }));
                serve(&format!("{base}/{version}.json"), document);
            }
        }
    }

    /// Creates a fresh copy of a case in `directory`.
    fn lay_out(&self, case: &MirrorCase, directory: &str, host: &str) {
        self.context.require(directory, &case.required);
        if case.is_locked {
            let text = self.registry.fill(&COMPLETE.replace("HOST", host));
            self.context.write_lock_file(directory, text);
        }
    }

    /// Returns the option and the value that select a mirror.
    fn address(&self, mirror: MirrorSource) -> (&'static str, String) {
        match mirror {
            Directory(name) => {
                let path = self.context.path(&format!("mirrors/{name}"));
                ("fs-mirror", path.display().to_string())
            }
            Network(name) => ("net-mirror", format!("https://{}/{name}/", self.host)),
        }
    }

    /// Runs tflock and returns the lock file, or `None` if the run failed.
    fn lock_with_tflock(&self, case: &MirrorCase, tool: (&str, &str)) -> (Option<String>, Outcome) {
        let directory = format!("{}/tflock-{}", case.name, tool.0);
        self.lay_out(case, &directory, tool.1);
        let (option, mirror) = self.address(case.mirror);
        let platforms = case.platforms.join(",");
        let options = format!("lock --engine {} --platform {platforms}", tool.0);
        let program = self.context.command(&options);
        let program = program.arg(format!("--{option}")).arg(mirror);
        let authority = self.authority.certificate_file();
        let program = program.arg(&directory).env("SSL_CERT_FILE", authority);
        let outcome = program.run();
        (self.written(&directory, &outcome), outcome)
    }

    /// Runs a real tool and returns the lock file, or `Some(None)` if the run failed. Returns `None` if the tool is not
    /// installed.
    fn lock_with_tool(
        &self,
        case: &MirrorCase,
        tool: (&str, &str),
    ) -> Option<(Option<String>, Outcome)> {
        let directory = format!("{}/{}", case.name, tool.0);
        self.lay_out(case, &directory, tool.1);
        let (option, mirror) = self.address(case.mirror);
        let arguments = ["providers", "lock", "-no-color"];
        let program = self.context.engine(tool.0, &directory, arguments);
        let platforms = case.platforms.iter();
        let platforms = platforms.map(|platform| format!("-platform={platform}"));
        let outcome = program?
            .arg(format!("-{option}={mirror}"))
            .args(platforms)
            .env("SSL_CERT_FILE", self.authority.certificate_file())
            .run();
        Some((self.written(&directory, &outcome), outcome))
    }

    /// Returns the lock file that a run wrote, or `None` if the run failed.
    fn written(&self, directory: &str, outcome: &Outcome) -> Option<String> {
        let text = self.context.lock_file(directory);
        text.filter(|_| outcome.code == Some(0))
    }
}

/// Returns the hash of a package's entries, which mirrors publish. The real tools check it, so it needs no independent
/// implementation.
fn zip_h1(bytes: &[u8], name: &str) -> String {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    let type_name = name.rsplit('/').next().unwrap();
    let hashes = hash_archive(&file, type_name, &Limits::default()).unwrap();
    hashes.zip_h1.unwrap().to_string()
}

fn recorded_path(case: &MirrorCase, tool: &str) -> PathBuf {
    testdata(&format!("mirrors/{}/{tool}.hcl", case.name))
}

fn recorded(case: &MirrorCase, tool: &str) -> Option<String> {
    fs::read_to_string(recorded_path(case, tool)).ok()
}

#[test]
fn the_tools_still_write_the_recorded_lock_files() {
    let site = MirrorSite::start();
    let record = is_recording();
    for tool in TOOLS {
        for case in &cases() {
            let Some((written, outcome)) = site.lock_with_tool(case, tool) else {
                break;
            };
            if let Some(text) = written.as_ref().filter(|_| record) {
                let path = recorded_path(case, tool.0);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            let expected = recorded(case, tool.0);
            assert_eq!(written, expected, "{} {}\n{outcome}", tool.0, case.name);
        }
    }
}

#[test]
fn tflock_writes_what_the_tools_wrote() {
    let site = MirrorSite::start();
    let (mut written, mut differ) = (0, 0);
    for case in &cases() {
        for tool in TOOLS {
            let (found, outcome) = site.lock_with_tflock(case, tool);
            let expected = recorded(case, tool.0);
            assert_eq!(found, expected, "{} {}\n{outcome}", tool.0, case.name);
            written += usize::from(found.is_some());
        }
        let [terraform, tofu] = TOOLS.map(|(tool, _)| hashes(recorded(case, tool)));
        differ += usize::from(terraform != tofu);
    }
    let counts = format!("{written} files, {differ} of which differ by tool");
    assert!(written > 40 && differ > 5, "{counts}");
}

/// Returns the lines of a lock file that contain hashes.
fn hashes(text: Option<String>) -> Vec<String> {
    let text = text.unwrap_or_default();
    let lines = text.lines().filter(|line| line.starts_with("    \""));
    lines.map(str::to_owned).collect()
}
