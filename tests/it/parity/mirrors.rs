//! Parity with mirrors as the source: what `providers lock -fs-mirror` and `-net-mirror` of both tools write, or that they
//! write nothing.
//!
//! What they wrote is in `testdata/mirrors/CASE/terraform.hcl` and `tofu.hcl`, side by side, since here they differ; for a
//! case that a tool refuses there is no file. `TFLOCK_RECORD=1` records with the tools that are on PATH; without it what
//! they write now is compared with what was recorded. Versions: `testdata/README.md` and `testdata/tofu/VERSION`.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};
use tflock::package::{Limits, hash_archive};
use tflock_test_support::{
    DEFAULT_PLATFORMS, Document, FakeRegistry, Outcome, TestAuthority, TestContext,
};

use super::{registry, testdata};
use crate::TFLOCK;

/// The tools, with the default host of each.
const TOOLS: [(&str, &str); 2] = [
    ("terraform", "registry.terraform.io"),
    ("tofu", "registry.opentofu.org"),
];

/// Where packages come from.
#[derive(Clone, Copy)]
enum Mirror {
    /// A directory of [`Site::directories`].
    Directory(&'static str),
    /// A network mirror, by what it says of the hashes of each package.
    Network(&'static str, Vouching),
}

use Mirror::{Directory, Network};

/// The `hashes` of a package, made of its `zh` and its zip-based `h1`. `None`: the field is not there.
type Vouching = fn(&str, &str) -> Option<Value>;

/// One configuration against one mirror.
struct Case {
    name: &'static str,
    required: &'static [(&'static str, &'static str)],
    mirror: Mirror,
    platforms: &'static [&'static str],
    /// The lock file before, with templates; `HOST` stands for the default host.
    before: Option<&'static str>,
}

const fn case(
    name: &'static str,
    required: &'static [(&'static str, &'static str)],
    mirror: Mirror,
) -> Case {
    Case {
        name,
        required,
        mirror,
        platforms: &DEFAULT_PLATFORMS,
        before: None,
    }
}

const ANVIL: &[(&str, &str)] = &[("acme/anvil", "1.0.0")];
const CRATE: &[(&str, &str)] = &[("acme/crate", "")];
const LINUX: &[&str] = &["linux_amd64"];

/// An entry as the registry gives it, but for the `h1` of two platforms.
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

const CASES: &[Case] = &[
    case(
        "packed",
        &[
            ("acme/anvil", "~> 1.0"),
            ("acme/bolt", ""),
            ("bücher.example/acme/quill", ""),
        ],
        Directory("packed"),
    ),
    case("packed-with-directories", CRATE, Directory("packed")),
    case(
        "packed-prerelease",
        &[("acme/anvil", "1.2.0-beta1")],
        Directory("packed"),
    ),
    case("packed-for-one-platform", ANVIL, Directory("linux-only")),
    Case {
        platforms: LINUX,
        ..case("packed-for-that-platform", ANVIL, Directory("linux-only"))
    },
    Case {
        before: Some(COMPLETE),
        ..case(
            "packed-beside-the-registrys-hashes",
            ANVIL,
            Directory("packed"),
        )
    },
    case(
        "no-such-version",
        &[("acme/anvil", "> 9.0")],
        Directory("packed"),
    ),
    case(
        "no-such-provider",
        &[("acme/nothing", "")],
        Directory("packed"),
    ),
    case("no-such-directory", ANVIL, Directory("missing")),
    case("broken-zip", ANVIL, Directory("broken")),
    case("unpacked", ANVIL, Directory("unpacked")),
    Case {
        before: Some(COMPLETE),
        ..case(
            "unpacked-beside-the-registrys-hashes",
            ANVIL,
            Directory("unpacked"),
        )
    },
    case("unpacked-beats-packed", ANVIL, Directory("both")),
    case(
        "unpacked-without-executable",
        ANVIL,
        Directory("no-executable"),
    ),
    case(
        "odd-spellings",
        &[("acme/anvil", "")],
        Directory("odd-spellings"),
    ),
    case("no-hashes", ANVIL, Network("no-hashes", |_, _| None)),
    case(
        "null-hashes",
        ANVIL,
        Network("null-hashes", |_, _| Some(Value::Null)),
    ),
    case("zh", ANVIL, Network("zh", |zh, _| Some(json!([zh])))),
    case("h1", ANVIL, Network("h1", |_, h1| Some(json!([h1])))),
    case(
        "zh-and-h1",
        ANVIL,
        Network("zh-and-h1", |zh, h1| Some(json!([h1, zh]))),
    ),
    case(
        "zh-and-wrong-h1",
        ANVIL,
        Network("zh-and-wrong-h1", |zh, _| Some(json!(["h1:wrong", zh]))),
    ),
    case(
        "wrong-zh-and-h1",
        ANVIL,
        Network("wrong-zh-and-h1", |_, h1| Some(json!(["zh:wrong", h1]))),
    ),
    case(
        "known-and-unknown-schemes",
        ANVIL,
        Network("known-and-unknown-schemes", |zh, _| {
            Some(json!(["h7:x", zh]))
        }),
    ),
    case(
        "unknown-schemes-alone",
        ANVIL,
        Network("unknown-schemes-alone", |_, _| Some(json!(["h7:x"]))),
    ),
    case(
        "wrong-hashes",
        ANVIL,
        Network("wrong-hashes", |_, _| Some(json!(["h1:wrong", "zh:wrong"]))),
    ),
    case(
        "no-scheme",
        ANVIL,
        Network("no-scheme", |zh, _| Some(json!([zh, "wrong"]))),
    ),
    case(
        "upper-case-zh",
        ANVIL,
        Network("upper-case-zh", |zh, _| {
            Some(json!([zh.to_uppercase().replace("ZH:", "zh:")]))
        }),
    ),
    case(
        "empty-hashes",
        ANVIL,
        Network("empty-hashes", |_, _| Some(json!([]))),
    ),
    case(
        "directories-by-h1",
        CRATE,
        Network("h1", |_, h1| Some(json!([h1]))),
    ),
    case(
        "directories-by-both",
        CRATE,
        Network("zh-and-h1", |zh, h1| Some(json!([h1, zh]))),
    ),
    case(
        "unicode-host",
        &[("bücher.example/acme/quill", "")],
        Network("zh", |zh, _| Some(json!([zh]))),
    ),
    case(
        "newest-of-the-mirror",
        &[("acme/bolt", ">= 1.0")],
        Network("zh", |zh, _| Some(json!([zh]))),
    ),
    Case {
        before: Some(COMPLETE),
        ..case(
            "network-beside-the-registrys-hashes",
            ANVIL,
            Network("no-hashes", |_, _| None),
        )
    },
];

/// Providers of the parity registry that the mirrors have: host, address below it, versions.
const MIRRORED: [(&str, &str, &[&str]); 7] = [
    (
        "registry.terraform.io",
        "acme/anvil",
        &["0.9.0", "1.0.0", "1.1.0", "1.2.0-beta1", "2.0.0"],
    ),
    (
        "registry.opentofu.org",
        "acme/anvil",
        &["0.9.0", "1.0.0", "1.1.0", "1.2.0-beta1", "2.0.0"],
    ),
    (
        "registry.terraform.io",
        "acme/bolt",
        &["1.0.0", "1.9.0", "1.10.0"],
    ),
    (
        "registry.opentofu.org",
        "acme/bolt",
        &["1.0.0", "1.9.0", "1.10.0"],
    ),
    ("registry.terraform.io", "acme/crate", &["1.0.0"]),
    ("registry.opentofu.org", "acme/crate", &["1.0.0"]),
    ("bücher.example", "acme/quill", &["1.0.0"]),
];

/// All mirrors, and a tree to lock in.
struct Site {
    registry: FakeRegistry,
    authority: TestAuthority,
    context: TestContext,
    host: String,
}

impl Site {
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
        for case in CASES {
            if let Network(name, vouching) = case.mirror {
                site.network(name, vouching);
            }
        }
        site
    }

    fn package(&self, host: &str, name: &str, version: &str, platform: &str) -> (String, Vec<u8>) {
        let file = &self.registry.package(name, version, platform).filename;
        let slug = host.replace('ü', "_");
        let path = format!("/{slug}/files/{name}/{version}/{file}");
        (
            file.clone(),
            self.registry.document(&path).unwrap().body.to_vec(),
        )
    }

    /// Every filesystem mirror, below `mirrors/`.
    fn directories(&self) {
        for (host, name, versions) in MIRRORED {
            for version in versions {
                for platform in DEFAULT_PLATFORMS {
                    let (file, bytes) = self.package(host, name, version, platform);
                    self.put(&format!("packed/{host}/{name}/{file}"), &bytes);
                    if *version == "1.0.0" && platform == "linux_amd64" {
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

    /// The mirrors that have anvil alone.
    fn directories_of(&self, host: &str, platform: &str) {
        let (file, bytes) = self.package(host, "acme/anvil", "1.0.0", platform);
        self.put(
            &format!("broken/{host}/acme/anvil/{file}"),
            b"PK, but no zip",
        );
        self.put(&format!("both/{host}/acme/anvil/{file}"), &bytes);
        for mirror in ["unpacked", "both", "no-executable"] {
            let package = format!("{mirror}/{host}/acme/anvil/1.0.0/{platform}");
            self.put(&format!("{package}/docs/README.md"), platform.as_bytes());
            let is_whole = mirror != "no-executable";
            let name = if is_whole {
                "terraform-provider-anvil_v1.0.0_x5"
            } else {
                "anvil"
            };
            self.put(&format!("{package}/{name}"), mirror.as_bytes());
        }
        let odd = format!("odd-spellings/{}/Acme/ANVIL", host.to_uppercase());
        self.put(
            &format!("{odd}/Terraform-Provider-ANVIL_1.0_{platform}.ZIP"),
            &bytes,
        );
        self.put(
            &format!("{odd}/terraform-provider-anvil_v2.0.0_{platform}.zip"),
            &bytes,
        );
        self.put(
            &format!("{odd}/terraform-provider-other_3.0.0_{platform}.zip"),
            &bytes,
        );
        self.put(&format!("{odd}/index.json"), b"{}");
    }

    fn put(&self, relative: &str, bytes: &[u8]) {
        self.context.write(&format!("mirrors/{relative}"), bytes);
    }

    /// The documents of a network mirror.
    fn network(&self, mirror: &str, vouching: Vouching) {
        for (host, name, versions) in MIRRORED {
            let ascii = host.replace("bücher", "xn--bcher-kva");
            let base = format!("/{mirror}/{ascii}/{name}");
            let index: serde_json::Map<_, _> = versions
                .iter()
                .map(|version| ((*version).to_owned(), json!({})))
                .collect();
            self.registry.serve(
                &format!("{base}/index.json"),
                Document::json(&json!({"versions": index})),
            );
            for version in versions {
                let archives = DEFAULT_PLATFORMS.map(|platform| {
                    let (file, bytes) = self.package(host, name, version, platform);
                    self.registry
                        .serve(&format!("{base}/{file}"), Document::octets(bytes.clone()));
                    let mut archive = json!({"url": file});
                    let zh = &self.registry.package(name, version, platform).zh;
                    if let Some(hashes) = vouching(zh, &zip_h1(&bytes, name)) {
                        archive["hashes"] = hashes;
                    }
                    (platform.to_owned(), archive)
                });
                let archives: serde_json::Map<_, _> = archives.into_iter().collect();
                self.registry.serve(
                    &format!("{base}/{version}.json"),
                    Document::json(&json!({"archives": archives})),
                );
            }
        }
    }

    /// A fresh copy of a case as `directory`.
    fn lay_out(&self, case: &Case, directory: &str, host: &str) {
        self.context.require(directory, case.required);
        if let Some(before) = case.before {
            let text = self.registry.fill(&before.replace("HOST", host));
            self.context.write_lock_file(directory, text);
        }
    }

    /// What a mirror is called on a command line.
    fn address(&self, mirror: Mirror) -> (&'static str, String) {
        match mirror {
            Directory(name) => (
                "fs-mirror",
                self.context
                    .path(&format!("mirrors/{name}"))
                    .display()
                    .to_string(),
            ),
            Network(name, _) => ("net-mirror", format!("https://{}/{name}/", self.host)),
        }
    }

    /// The lock file that tflock writes, if it does.
    fn lock_with_tflock(&self, case: &Case, tool: (&str, &str)) -> (Option<String>, Outcome) {
        let directory = format!("{}/tflock-{}", case.name, tool.0);
        self.lay_out(case, &directory, tool.1);
        let (option, mirror) = self.address(case.mirror);
        let outcome = self
            .context
            .tflock([
                "lock",
                "--engine",
                tool.0,
                "--platform",
                &case.platforms.join(","),
            ])
            .arg(format!("--{option}"))
            .arg(mirror)
            .arg(&directory)
            .env("SSL_CERT_FILE", self.authority.certificate_file())
            .run();
        (self.written(&directory, &outcome), outcome)
    }

    /// The lock file that a real tool writes, if it does; nothing if the tool is not there.
    fn lock_with_tool(&self, case: &Case, tool: (&str, &str)) -> Option<(Option<String>, Outcome)> {
        let directory = format!("{}/{}", case.name, tool.0);
        self.lay_out(case, &directory, tool.1);
        let (option, mirror) = self.address(case.mirror);
        let arguments = ["providers", "lock", "-no-color"];
        let program = match tool.0 {
            "tofu" => self.context.tofu(&directory, arguments),
            _ => self.context.terraform(&directory, arguments),
        };
        let platforms = case
            .platforms
            .iter()
            .map(|platform| format!("-platform={platform}"));
        let outcome = program?
            .arg(format!("-{option}={mirror}"))
            .args(platforms)
            .env("SSL_CERT_FILE", self.authority.certificate_file())
            .run();
        Some((self.written(&directory, &outcome), outcome))
    }

    /// What a run wrote; nothing if it failed.
    fn written(&self, directory: &str, outcome: &Outcome) -> Option<String> {
        self.context
            .lock_file(directory)
            .filter(|_| outcome.code == Some(0))
    }
}

/// The hash of a package's entries, which is what mirrors publish. The tools check it, so it need not be made twice.
fn zip_h1(bytes: &[u8], name: &str) -> String {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    let type_name = name.rsplit('/').next().unwrap();
    let hashes = hash_archive(&file, type_name, &Limits::default()).unwrap();
    hashes.zip_h1.unwrap().to_string()
}

fn recorded_path(case: &Case, tool: &str) -> PathBuf {
    testdata(&format!("mirrors/{}/{tool}.hcl", case.name))
}

fn recorded(case: &Case, tool: &str) -> Option<String> {
    fs::read_to_string(recorded_path(case, tool)).ok()
}

#[test]
fn recorded_lock_files_are_what_the_tools_write() {
    let site = Site::start();
    let record = std::env::var("TFLOCK_RECORD").is_ok_and(|value| value == "1");
    for tool in TOOLS {
        for case in CASES {
            let Some((written, outcome)) = site.lock_with_tool(case, tool) else {
                break;
            };
            if let Some(text) = written.as_ref().filter(|_| record) {
                let path = recorded_path(case, tool.0);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            assert_eq!(
                written,
                recorded(case, tool.0),
                "{} {}\n{outcome}",
                tool.0,
                case.name
            );
        }
    }
}

#[test]
fn tflock_writes_what_the_tools_wrote() {
    let site = Site::start();
    let (mut written, mut differ) = (0, 0);
    for case in CASES {
        for tool in TOOLS {
            let (found, outcome) = site.lock_with_tflock(case, tool);
            assert_eq!(
                found,
                recorded(case, tool.0),
                "{} {}\n{outcome}",
                tool.0,
                case.name
            );
            written += usize::from(found.is_some());
        }
        let [terraform, tofu] = TOOLS.map(|(tool, _)| hashes(recorded(case, tool)));
        differ += usize::from(terraform != tofu);
    }
    assert!(
        written > 40 && differ > 5,
        "{written} files, {differ} of which differ by tool"
    );
}

/// The lines of a lock file that are hashes.
fn hashes(text: Option<String>) -> Vec<String> {
    let text = text.unwrap_or_default();
    let lines = text.lines().filter(|line| line.starts_with("    \""));
    lines.map(str::to_owned).collect()
}
