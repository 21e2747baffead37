//! `tflock mirror oci://...`: what it uploads, in which order, and what it refuses.

use std::process::Child;

use serde_json::{Value, json};
use tflock_test_support::{
    FakeOciRegistry, FakeRegistry, Misbehave, OCI_PASSWORD, OciAccess, Outcome, Program,
    ProviderSpec, TestAuthority, TestContext, assert_described, check_rows,
};

use super::ANVIL;
use crate::TFLOCK;

const PLATFORMS: &str = "linux_amd64,darwin_arm64";
const TARGET: &str = "application/vnd.opentofu.provider-target";

/// A directory with a lock file, the registry of its provider, and an empty OCI registry.
struct PushSite {
    source: FakeRegistry,
    target: FakeOciRegistry,
    authority: TestAuthority,
    context: TestContext,
}

impl PushSite {
    fn start() -> Self {
        let authority = TestAuthority::create();
        let source = FakeRegistry::with(
            ProviderSpec::new("registry.opentofu.org/acme/anvil").versions(["1.0.0"]),
        );
        let context = TestContext::new(TFLOCK, &source);
        context.require("a", &[("acme/anvil", "")]);
        let line = format!("lock --engine tofu --platform {PLATFORMS} a");
        context.run(&line).expect_success();
        source.log().clear();
        Self {
            source,
            target: FakeOciRegistry::start(&authority),
            authority,
            context,
        }
    }

    /// Returns a command that pushes what the lock files below the directory need.
    fn push(&self, options: &str) -> Program {
        self.push_to("mirror/{namespace}/{type}", options)
    }

    fn push_to(&self, template: &str, options: &str) -> Program {
        let host = self.target.host();
        self.command(&format!(
            "mirror --engine tofu {options} oci://{host}/{template} ."
        ))
    }

    fn command(&self, line: &str) -> Program {
        let certificate = self.authority.certificate_file();
        self.context.command(line).env("SSL_CERT_FILE", certificate)
    }

    /// Returns the report of a run that pushes both platforms.
    fn report(&self, options: &str, code: i32) -> Value {
        let options = format!("--platform {PLATFORMS} --format json {options}");
        self.push(&options).run().expect_code(code).json()
    }

    /// Returns the states of the packages in a report, such as `linux_amd64 added`.
    fn states(&self, options: &str, code: i32) -> Vec<String> {
        let report = self.report(options, code);
        let packages = report["packages"].as_array().unwrap().iter();
        let line = |package: &Value| {
            let text = |name: &str| package[name].as_str().unwrap();
            format!("{} {}", text("platform"), text("state"))
        };
        packages.map(line).collect()
    }

    /// Returns the platforms in the index manifest of version 1.0.0.
    fn indexed(&self) -> Vec<String> {
        let index = self.target.tagged(ANVIL, "1.0.0");
        let entries = index["manifests"].as_array().unwrap().iter();
        let line = |entry: &Value| {
            let platform = &entry["platform"];
            let os = platform["os"].as_str().unwrap_or_default();
            format!(
                "{os}_{}",
                platform["architecture"].as_str().unwrap_or_default()
            )
        };
        entries.map(line).collect()
    }

    /// Returns the requests that changed the OCI registry, as `METHOD PATH STATUS`, and forgets them.
    fn changes(&self) -> Vec<String> {
        let hits = self.target.log().hits();
        self.target.log().clear();
        let changes = hits
            .iter()
            .filter(|hit| !matches!(hit.request.method.as_str(), "GET" | "HEAD"));
        let line = |method: &str, path: &str, status: u16| {
            let path = path.replace("/v2/mirror/acme/anvil/", "");
            let path =
                path.trim_end_matches(|c: char| c.is_ascii_digit() && path.contains("uploads"));
            format!("{method} {path} {status}")
        };
        changes
            .map(|hit| line(&hit.request.method, &hit.request.path, hit.status()))
            .collect()
    }

    fn zips_downloaded(&self) -> usize {
        let downloaded = self.source.log().count("GET", "**.zip");
        self.source.log().clear();
        downloaded
    }
}

#[test]
fn packages_are_pushed_once() {
    let site = PushSite::start();
    let outcome = site.push("--platform linux_amd64").run().expect_success();
    let expected = "\
added     registry.opentofu.org/acme/anvil 1.0.0 (linux_amd64)
1 directory, 1 package: 1 added; ";
    assert!(outcome.stdout.starts_with(expected), "{outcome}");
    assert_eq!(
        site.changes(),
        [
            "POST blobs/uploads/ 202",
            "PUT blobs/uploads/ 201",
            "POST blobs/uploads/ 202",
            "PUT blobs/uploads/ 201",
            "PUT manifests/linux_amd64-1.0.0 201",
            "PUT manifests/1.0.0 201",
        ]
    );
    assert_eq!(site.zips_downloaded(), 1);
    assert_eq!(
        site.states("", 0),
        ["darwin_arm64 added", "linux_amd64 kept"]
    );
    assert_eq!(site.zips_downloaded(), 1);
    assert_eq!(site.indexed(), ["darwin_arm64", "linux_amd64"]);
    site.changes();
    assert_eq!(
        site.states("", 0),
        ["darwin_arm64 kept", "linux_amd64 kept"]
    );
    assert_eq!((site.changes(), site.zips_downloaded()), (Vec::new(), 0));
    // Nothing of the run remains in the repository.
    assert_eq!(site.context.list("."), ["a"]);
}

/// Pushed packages are locked with the hashes that the lock file had before.
#[test]
fn pushed_packages_are_locked_from_the_mirror() {
    let site = PushSite::start();
    site.report("", 0);
    let before = site.context.lock_file("a").unwrap();
    let host = site.target.host();
    let lock = format!(
        "lock --check --engine tofu --platform {PLATFORMS} --oci-mirror {host}/mirror/{{namespace}}/{{type}} a"
    );
    site.command(&lock).run().expect_success();
    site.context.remove_lock_file("a");
    site.command(&lock.replace("--check ", ""))
        .run()
        .expect_success();
    let after = site.context.lock_file("a").unwrap();
    let lines = after.lines().filter(|line| line.contains(':'));
    let unknown: Vec<_> = lines.filter(|line| !before.contains(*line)).collect();
    assert!(unknown.is_empty(), "{before}\n{after}");
}

#[test]
fn the_report_names_repositories_and_tags() {
    let site = PushSite::start();
    let report = site.report("", 0);
    let schema = include_str!("../../../src/run/mirror/mirror-1.schema.json");
    assert_described(&report, &serde_json::from_str(schema).unwrap());
    let host = site.target.host();
    assert_eq!(
        report["mirror"],
        format!("oci://{host}/mirror/{{namespace}}/{{type}}")
    );
    assert_eq!(report["layout"], "oci");
    assert_eq!(
        report["packages"][0]["path"],
        format!("{host}/{ANVIL}:1.0.0")
    );
}

#[test]
fn other_entries_of_the_index_manifest_remain() {
    let site = PushSite::start();
    site.push("--platform linux_amd64").run().expect_success();
    let signature = json!({
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "artifactType": "application/x-signature",
        "digest": site.target.tagged(ANVIL, "1.0.0")["manifests"][0]["digest"],
        "size": 1,
    });
    site.target.change_index(ANVIL, "1.0.0", |index| {
        index["manifests"]
            .as_array_mut()
            .unwrap()
            .push(signature.clone());
        index["annotations"] = json!({"a": "b"});
    });
    site.report("", 0);
    assert_eq!(site.indexed(), ["darwin_arm64", "linux_amd64", "_"]);
    let index = site.target.tagged(ANVIL, "1.0.0");
    assert_eq!(
        (&index["manifests"][2], &index["annotations"]),
        (&signature, &json!({"a": "b"}))
    );
}

/// A different zip is replaced by the one that the lock file records.
#[test]
fn different_packages_are_repaired() {
    let site = PushSite::start();
    let other = ProviderSpec::new("acme/anvil")
        .versions(["1.0.0"])
        .seed("other");
    site.target.publish(ANVIL, &other);
    let outcome = site
        .push(&format!("--check --platform {PLATFORMS}"))
        .run()
        .expect_code(3);
    outcome.assert_stdout("damaged   registry.opentofu.org/acme/anvil 1.0.0 (linux_amd64): the lock file records different hashes");
    assert_eq!(
        site.states("", 0),
        ["darwin_arm64 repaired", "linux_amd64 repaired"]
    );
    assert_eq!(
        site.states("", 0),
        ["darwin_arm64 kept", "linux_amd64 kept"]
    );
}

#[test]
fn a_check_changes_nothing() {
    let site = PushSite::start();
    assert_eq!(
        site.states("--check", 3),
        ["darwin_arm64 missing", "linux_amd64 missing"]
    );
    site.push("--platform linux_amd64").run().expect_success();
    site.changes();
    assert_eq!(site.states("--check", 3), ["darwin_arm64 missing"]);
    site.report("", 0);
    site.changes();
    assert_eq!(site.states("--check", 0), Vec::<String>::new());
    assert_eq!(site.changes(), Vec::<String>::new());
}

#[test]
fn credentials_for_pushing() {
    check_rows(
        [
            OciAccess::Basic,
            OciAccess::Token,
            OciAccess::AnonymousToken,
        ],
        |access| {
            let site = PushSite::start();
            site.target.require(access);
            let refused = site.push("--platform linux_amd64").run().expect_code(1);
            refused.assert_stderr("log in with `docker login");
            assert_eq!(site.target.objects().len(), 0);
            let home = site.context.work().parent().unwrap().join("home");
            site.target
                .write_auth_file(&home.join(".docker/config.json"));
            let outcome = site
                .push("--platform linux_amd64")
                .env("TFLOCK_LOG", "trace")
                .run()
                .expect_success();
            assert!(!outcome.stderr.contains(OCI_PASSWORD), "{outcome}");
            assert_eq!(site.indexed(), ["linux_amd64"]);
        },
    );
}

/// Responses to uploads. The last column is the code of the run, and a part of its error or, if it succeeds, its number of uploads.
#[test]
fn faulty_responses_to_uploads() {
    let start = || Misbehave::on("/v2/**/blobs/uploads/").method("POST");
    let content = || Misbehave::on("/v2/**/blobs/uploads/*").method("PUT");
    let manifest = || Misbehave::on("/v2/**/manifests/*").method("PUT");
    let rows: Vec<(&str, Misbehave, i32, &str)> = vec![
        ("busy", content().status(503).times(1), 0, "3"),
        ("other writer", manifest().status(400).times(1), 0, "2"),
        ("cut", content().reset().times(1), 0, "3"),
        (
            "down",
            content().status(500),
            1,
            "the server responded with 500 Internal Server Error",
        ),
        (
            "full",
            content().status(413),
            1,
            "the server responded with 413 Payload Too Large",
        ),
        (
            "read-only",
            start().status(405),
            1,
            "the server responded with 405 Method Not Allowed",
        ),
        (
            "no address",
            start().without_header("Location"),
            1,
            "the registry accepted the upload request, but returned no upload address",
        ),
        (
            "other server",
            start()
                .without_header("Location")
                .header("Location", "https://elsewhere.test/v2/x?_state=SECRET"),
            1,
            "the registry returned an upload address on a different server: `https://elsewhere.test/v2/x`",
        ),
        (
            "redirect",
            start().redirect("https://elsewhere.test/"),
            1,
            "the server redirects to a different address",
        ),
        (
            "other digest",
            manifest()
                .without_header("Docker-Content-Digest")
                .header("Docker-Content-Digest", "sha256:00"),
            1,
            "the registry stored `sha256:00` instead of `sha256:",
        ),
        (
            "no manifests",
            manifest().status(403),
            1,
            "log in with `docker login",
        ),
    ];
    check_rows(rows, |(name, fault, code, expected)| {
        let site = PushSite::start();
        site.target.misbehave(fault);
        let outcome = site.push("--platform linux_amd64").run();
        assert_eq!(outcome.code, Some(code), "{name}: {outcome}");
        assert!(!outcome.stderr.contains("SECRET"), "{name}: {outcome}");
        if code == 0 {
            let uploads = site.target.log().count("POST", "/v2/**/blobs/uploads/");
            assert_eq!(uploads.to_string(), expected, "{name}");
            assert_eq!(site.indexed(), ["linux_amd64"], "{name}");
        } else {
            outcome.assert_stderr(expected);
        }
    });
}

/// Each process pushes another platform. All of them are in the index manifest afterwards.
#[test]
fn several_processes_push_at_once() {
    let platforms = [
        "linux_amd64",
        "linux_arm64",
        "darwin_amd64",
        "darwin_arm64",
        "windows_amd64",
    ];
    let spec = ProviderSpec::new("registry.opentofu.org/acme/anvil")
        .versions(["1.0.0"])
        .platforms(platforms);
    let site = PushSite {
        source: FakeRegistry::with(spec),
        ..PushSite::start()
    };
    site.context.set_cli_config(&site.source.cli_config());
    site.context.remove_lock_file("a");
    let all = platforms.join(",");
    site.command(&format!("lock --engine tofu --platform {all} a"))
        .run()
        .expect_success();
    let push = |platform: &&str| site.push(&format!("--platform {platform}")).spawn();
    let processes: Vec<Child> = platforms.iter().map(push).collect();
    for mut process in processes {
        assert!(process.wait().unwrap().success());
    }
    let mut expected = platforms;
    expected.sort_unstable();
    assert_eq!(site.indexed(), expected);
}

/// Another process has pushed a package, but not written the index manifest. It has only listed the tag of a second one.
#[test]
fn packages_of_other_processes_are_added_to_the_index_manifest() {
    let site = PushSite::start();
    site.report("", 0);
    let target = site.target.tagged(ANVIL, "darwin_arm64-1.0.0");
    assert_eq!(target["artifactType"], TARGET);
    site.target
        .put_manifest(ANVIL, "freebsd_arm-1.0.0", &target);
    site.target
        .put_manifest(ANVIL, "windows_386-1.0.0", &target);
    site.target.put_manifest(
        ANVIL,
        "linux_arm-1.0.0",
        &json!({"mediaType": "application/x-other"}),
    );
    site.target.put_manifest(ANVIL, "linux_arm-11.0.0", &target);
    site.target
        .misbehave(Misbehave::on("/v2/**/manifests/windows_386-1.0.0").status(404));
    site.target
        .change_index(ANVIL, "1.0.0", |index| index["manifests"] = json!([]));
    let outcome = site.push("--platform linux_amd64").run();
    outcome.expect_success();
    assert_eq!(
        site.indexed(),
        ["darwin_arm64", "freebsd_arm", "linux_amd64"]
    );
}

#[test]
fn other_artifacts_are_not_overwritten() {
    let site = PushSite::start();
    let image = json!({"mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []});
    site.target.put_manifest(ANVIL, "1.0.0", &image);
    let outcome = site.push("--platform linux_amd64").run().expect_code(1);
    outcome.assert_stderr(":1.0.0`");
    outcome.assert_stderr("its artifact type is missing, not `application/vnd.opentofu.provider`");
    assert_eq!(site.target.tagged(ANVIL, "1.0.0"), image);
    assert_eq!(site.changes(), Vec::<String>::new());
}

/// OpenTofu accepts a package from an OCI registry only by the digest of its zip.
#[test]
fn lock_files_without_digests_of_zips_are_refused() {
    let site = PushSite::start();
    let lock = site.context.lock_file("a").unwrap();
    let lines = lock.lines().filter(|line| !line.contains("\"zh:"));
    let lock = lines.collect::<Vec<_>>().join("\n");
    site.context.write_lock_file("a", lock + "\n");
    let outcome = site.push("--platform linux_amd64").run().expect_code(1);
    outcome.assert_stderr(
        "the lock file records no `zh` hash: `init` would reject a package from an OCI registry",
    );
    assert_eq!(site.changes(), Vec::<String>::new());
}

#[test]
fn packages_that_the_lock_file_does_not_record_are_not_pushed() {
    let site = PushSite::start();
    let lock = site.context.lock_file("a").unwrap();
    let zh = format!(
        "zh:{}",
        site.source
            .package("acme/anvil", "1.0.0", "linux_amd64")
            .shasum()
    );
    assert!(lock.contains(&zh), "{lock}");
    site.context
        .write_lock_file("a", lock.replace(&zh, &format!("zh:{}", "0".repeat(64))));
    let outcome = site.push("--platform linux_amd64").run().expect_code(1);
    outcome.assert_stderr("the lock file records different hashes for this version");
    assert_eq!(site.changes(), Vec::<String>::new());
}

#[test]
fn addresses_that_are_refused() {
    let site = PushSite::start();
    site.context
        .require("b", &[("acme/anvil", ""), ("acme/rope", "")]);
    let lock = site.context.lock_file("a").unwrap();
    let second = lock.replace("acme/anvil", "acme/rope");
    let second = second.split_once("provider").unwrap().1.to_owned();
    site.context
        .write_lock_file("b", format!("{lock}\nprovider{second}"));
    let refuse = |template: &str, options: &str, code: i32, expected: &str| {
        let outcome: Outcome = site.push_to(template, options).run().expect_code(code);
        outcome.assert_stderr(expected);
    };
    refuse(
        "mirror",
        "--platform linux_amd64",
        1,
        "providers `registry.opentofu.org/acme/anvil`, `registry.opentofu.org/acme/rope` would share OCI repository",
    );
    refuse(
        "Mirror/{type}",
        "--platform linux_amd64",
        1,
        "`Mirror/anvil` is not a valid repository name",
    );
    refuse("{type", "", 2, "a brace is unmatched");
    refuse(
        "{type}",
        "--prune",
        2,
        "cannot use `--prune` with a mirror in an OCI registry",
    );
    refuse(
        "{type}",
        "--layout unpacked",
        2,
        "cannot use `--layout unpacked` with a mirror in an OCI registry",
    );
    assert_eq!(site.changes(), Vec::<String>::new());
}

#[test]
fn nothing_is_pushed_for_terraform() {
    let site = PushSite::start();
    let host = site.target.host();
    let outcome = site.command(&format!(
        "mirror --engine terraform oci://{host}/mirror/{{type}} ."
    ));
    let outcome = outcome.run().expect_success();
    outcome.assert_stdout("1 directory, 0 packages; ");
    outcome.assert_stderr("warning: Terraform cannot install providers from OCI registries, so nothing is pushed for directories of Terraform");
    outcome.assert_stderr("hint: use `--engine tofu` if OpenTofu runs these configurations");
    assert_eq!(site.target.log().total(), 0);
}

#[test]
fn the_cli_configuration_names_the_repositories() {
    let site = PushSite::start();
    let outcome = site
        .push("--platform linux_amd64 --cli-config -")
        .run()
        .expect_success();
    let host = site.target.host();
    let expected = format!(
        r#"provider_installation {{
  oci_mirror {{
    repository_template = "{host}/mirror/${{namespace}}/${{type}}"
    include = [
      "registry.opentofu.org/acme/anvil",
    ]
  }}
  direct {{
    exclude = [
      "registry.opentofu.org/acme/anvil",
    ]
  }}
}}
"#
    );
    assert_eq!(outcome.stdout, expected);
    // With this configuration, the lock file is complete.
    site.context.set_cli_config(&outcome.stdout);
    let line = "lock --check --engine tofu --source config --platform linux_amd64 a";
    site.command(line).run().expect_success();
}

/// The real `tofu init` needs nothing but the mirror, and many processes may install at once.
#[test]
fn init_installs_pushed_packages() {
    let site = PushSite::start();
    let push = site.push(&format!("--platform {PLATFORMS} --cli-config -"));
    let configuration = push.run().expect_success().stdout;
    site.context.set_cli_config(&configuration);
    let before = site.context.lock_file("a").unwrap();
    let init = || {
        let init = site.context.tofu("a", ["init", "-no-color"])?;
        let certificate = site.authority.certificate_file();
        Some(init.env("SSL_CERT_FILE", certificate).spawn())
    };
    let processes: Option<Vec<Child>> = (0..20).map(|_| init()).collect();
    for process in processes.into_iter().flatten() {
        let outcome = process.wait_with_output().unwrap();
        assert!(outcome.status.success(), "{outcome:?}");
    }
    assert_eq!(site.context.lock_file("a").unwrap(), before);
}
