//! Modules in OCI registries: addresses, artifacts, and what later runs request.

use serde_json::{Value, json};
use tflock_test_support::{
    OCI_PASSWORD, OCI_USER, OciAccess, Outcome, Program, RawEntry, RawZip, ResponseBody,
    assert_contains, check_rows,
};

use super::OciSite;
use crate::modules::binary::{call, requiring};

/// The repository of the module.
const NET: &str = "modules/net";

/// Zips a module that requires versions of acme/anvil, with another module in `sub`.
fn zipped(constraint: &str) -> Vec<u8> {
    let entries = [
        RawEntry::streamed("main.tf", requiring("acme/anvil", constraint)),
        RawEntry::streamed("sub/main.tf", requiring("acme/anvil", "~> 1.0")),
    ];
    RawZip::of(entries).to_bytes()
}

/// Publishes two versions of the module. Returns the digest of the second.
fn publish(site: &OciSite) -> String {
    site.registry
        .publish_module(NET, "latest", &zipped("1.0.0"));
    site.registry.publish_module(NET, "v2", &zipped("1.1.0"))
}

/// Returns a command that locks a root module with these calls of modules.
fn lock(site: &OciSite, calls: &str, options: &str) -> Program {
    let host = site.registry.host();
    site.context.write("a/main.tf", calls.replace("HOST", host));
    site.lock(&format!("--platform linux_amd64 {options}"))
}

/// Returns what was printed to stderr, with `HOST` for the registry.
fn messages(site: &OciSite, outcome: &Outcome) -> String {
    outcome.stderr.replace(site.registry.host(), "HOST")
}

/// Locks a root module that calls the module. Returns the constraints in the lock file, or what was printed to stderr.
fn constraints(site: &OciSite, source: &str) -> String {
    let outcome = lock(site, &call("net", source, ""), "").run();
    let written = site.context.lock_file("a").unwrap_or_default();
    let line = written.lines().find(|line| line.contains("constraints"));
    line.map_or_else(|| messages(site, &outcome), |line| line.trim().to_owned())
}

/// Returns the requests for the module so far, as `METHOD PATH STATUS`, and forgets all requests.
fn module_requests(site: &OciSite) -> Vec<String> {
    let requests = site.requests();
    let of_module = requests.into_iter().filter(|line| line.contains(NET));
    of_module
        .map(|line| line.replace("/v2/modules/net/", ""))
        .collect()
}

#[test]
fn addresses_lead_to_the_package() {
    check_rows(
        [
            ("oci://HOST/modules/net", "constraints = \"1.0.0\""),
            ("oci::oci://HOST/modules/net", "constraints = \"1.0.0\""),
            ("oci://HOST/modules/net?tag=v2", "constraints = \"1.1.0\""),
            (
                "oci://HOST/modules/net?digest=DIGEST",
                "constraints = \"1.1.0\"",
            ),
            ("oci://HOST/modules/net//sub", "constraints = \"~> 1.0\""),
            (
                "oci://HOST/modules/net//s*?tag=v2",
                "constraints = \"~> 1.0\"",
            ),
            ("oci://HOST/modules/net//none", "has no directory `none`"),
            (
                "oci://HOST/modules/net?tag=v3",
                "`oci://HOST/modules/net?tag=v3` does not exist in the OCI registry",
            ),
            (
                "oci://HOST/modules/none",
                "hint: push the module with this tag or digest, or name another one: without `tag` and `digest`, the tag is `latest`",
            ),
            (
                "oci://HOST/modules/net?digest=sha256:0000000000000000000000000000000000000000000000000000000000000000",
                "does not exist in the OCI registry",
            ),
            (
                "oci://HOST/modules/net?ref=v2",
                "its query may contain only `tag` or `digest`",
            ),
        ],
        |(source, expected)| {
            let site = OciSite::start();
            let digest = publish(&site);
            let found = constraints(&site, &source.replace("DIGEST", &digest));
            assert!(found.contains(expected), "{source}: {found}");
        },
    );
}

#[test]
fn sources_may_depend_on_variables_but_have_no_version() {
    let site = OciSite::start();
    publish(&site);
    let variable = "variable \"tag\" {\n  default = \"v2\"\n}\n";
    let source = "oci://HOST/modules/net?tag=${var.tag}";
    let calls = [variable, &call("net", source, "")].concat();
    lock(&site, &calls, "").run().expect_success();
    let written = site.context.lock_file("a").unwrap();
    assert!(written.contains("constraints = \"1.1.0\""), "{written}");
    let calls = [variable, &call("net", source, "1.0.0")].concat();
    let outcome = lock(&site, &calls, "").run().expect_code(1);
    outcome.assert_stderr("a/main.tf:6");
}

#[test]
fn terraform_has_no_modules_in_oci_registries() {
    let site = OciSite::start();
    site.context
        .write("a/main.tf", call("net", "oci://h.test/modules/net", ""));
    let outcome = site.command("lock --engine terraform a").run();
    outcome
        .expect_code(1)
        .assert_stderr("`oci://h.test/modules/net` is in an OCI registry, and Terraform has no modules in OCI registries")
        .assert_stderr("a/main.tf:1")
        .assert_stderr("hint: if OpenTofu runs this configuration, pass `--engine tofu`");
}

/// Changes the artifact, and names the constraints that are locked, or a part of the error.
type BrokenModule = (&'static str, fn(&OciSite), &'static str);

const LOCKED: &str = "constraints = \"1.0.0\"";

fn change(site: &OciSite, change: impl FnOnce(&mut Value)) {
    let mut manifest = site.registry.tagged(NET, "latest");
    change(&mut manifest);
    site.registry.put_manifest(NET, "latest", &manifest);
}

/// Replaces the layer of the module by a blob with this digest, which may be wrong.
fn replace_layer(site: &OciSite, digest: &str, bytes: Vec<u8>) {
    let layer = json!({"mediaType": "archive/zip", "digest": digest, "size": bytes.len()});
    site.registry
        .put_blob_as(NET, digest, ResponseBody::bytes(bytes));
    change(site, |manifest| manifest["layers"] = json!([layer]));
}

const BROKEN: &[BrokenModule] = &[
    ("unchanged", |_| {}, LOCKED),
    (
        "an index",
        |site| {
            site.registry.put_index(NET, "latest", &[]);
        },
        "its media type is `application/vnd.oci.image.index.v1+json`, not `application/vnd.oci.image.manifest.v1+json`",
    ),
    (
        "an image of Docker",
        |site| {
            let docker = "application/vnd.docker.distribution.manifest.v2+json";
            site.registry
                .put_manifest_bytes(NET, "latest", docker, b"{}");
        },
        "its media type is `application/vnd.docker.distribution.manifest.v2+json`, not",
    ),
    (
        "a provider",
        |site| {
            change(site, |manifest| {
                manifest["artifactType"] = "application/vnd.opentofu.provider-target".into();
            });
        },
        "its artifact type is `application/vnd.opentofu.provider-target`, not `application/vnd.opentofu.modulepkg`",
    ),
    (
        "no artifact type",
        |site| change(site, |manifest| manifest["artifactType"] = Value::Null),
        "its artifact type is missing, not",
    ),
    (
        "no layers",
        |site| change(site, |manifest| manifest["layers"] = json!([])),
        "its manifest has no layer of the media type `archive/zip`",
    ),
    (
        "other layers",
        |site| {
            change(site, |manifest| {
                let layers = manifest["layers"].as_array_mut().unwrap();
                layers.push(json!({"mediaType": "text/plain", "digest": "x", "size": 1}));
            });
        },
        LOCKED,
    ),
    (
        "two zips",
        |site| {
            change(site, |manifest| {
                let again = manifest["layers"][0].clone();
                manifest["layers"].as_array_mut().unwrap().push(again);
            });
        },
        "its manifest has several layers of the media type `archive/zip`",
    ),
    (
        "no JSON",
        |site| {
            let manifest = "application/vnd.oci.image.manifest.v1+json";
            site.registry
                .put_manifest_bytes(NET, "latest", manifest, b"{");
        },
        "the manifest does not follow the specification: EOF",
    ),
    (
        "the wrong size",
        |site| change(site, |manifest| manifest["layers"][0]["size"] = 5.into()),
        "bytes, not 5",
    ),
    (
        "an unknown digest",
        |site| {
            change(site, |manifest| {
                manifest["layers"][0]["digest"] = "md5:x".into();
            });
        },
        "`md5:x` is not a valid digest of a supported algorithm",
    ),
    (
        "SHA-384",
        |site| {
            let digest = format!("sha384:{}", "0".repeat(96));
            change(site, |manifest| {
                manifest["layers"][0]["digest"] = digest.into();
            });
        },
        "is not a valid digest of a supported algorithm",
    ),
    (
        "another zip",
        |site| replace_layer(site, &format!("sha256:{}", "0".repeat(64)), zipped("1.1.0")),
        "the archive from `oci://HOST/modules/net?tag=latest` has the checksum `sha256:",
    ),
    (
        "another zip, with SHA-512",
        |site| {
            replace_layer(
                site,
                &format!("sha512:{}", "0".repeat(128)),
                zipped("1.1.0"),
            );
        },
        "has the checksum `sha512:",
    ),
    (
        "a missing zip",
        |site| {
            let digest = format!("sha256:{}", "0".repeat(64));
            change(site, |manifest| {
                manifest["layers"][0]["digest"] = digest.into();
            });
        },
        "404 Not Found",
    ),
    (
        "no zip",
        |site| {
            site.registry.publish_module(NET, "latest", b"text");
        },
        "cannot unpack the archive from `oci://HOST/modules/net?tag=latest`",
    ),
    (
        "a path out of the package",
        |site| {
            let entry = RawEntry::stored("../main.tf", "");
            let zip = RawZip::of([entry]).to_bytes();
            site.registry.publish_module(NET, "latest", &zip);
        },
        "cannot unpack the archive from",
    ),
];

#[test]
fn every_step_is_checked() {
    check_rows(BROKEN.iter().copied(), |(name, change, expected)| {
        let site = OciSite::start();
        publish(&site);
        change(&site);
        let found = constraints(&site, "oci://HOST/modules/net");
        assert!(found.contains(expected), "{name}: {found}");
    });
}

#[test]
fn later_runs_request_only_what_may_have_changed() {
    let site = OciSite::start();
    site.registry
        .publish_module(NET, "latest", &zipped("1.0.0"));
    let first = site.registry.publish_module(NET, "v2", &zipped("1.0.0"));
    let run = |source: &str| {
        let outcome = lock(&site, &call("net", source, ""), "").run();
        outcome.expect_success();
        module_requests(&site)
    };
    let manifest = ["GET manifests/latest 200"];
    let both = [manifest[0], "GET blobs/sha256 200"];
    assert_eq!(run("oci://HOST/modules/net"), both);
    assert_eq!(run("oci://HOST/modules/net"), manifest);
    // The same zip under another tag, and under a digest, which always leads to the same zip.
    assert_eq!(
        run("oci://HOST/modules/net?tag=v2"),
        ["GET manifests/v2 200"]
    );
    let pinned = format!("oci://HOST/modules/net?digest={first}");
    assert_eq!(run(&pinned), ["GET manifests/sha256 200"]);
    assert_eq!(run(&pinned), [""; 0]);
    // The tag moves.
    site.registry
        .publish_module(NET, "latest", &zipped("1.1.0"));
    assert_eq!(run("oci://HOST/modules/net"), both);
    let written = site.context.lock_file("a").unwrap();
    assert!(written.contains("constraints = \"1.1.0\""), "{written}");
}

#[test]
fn a_stored_module_is_used_offline() {
    let site = OciSite::start();
    let zip = RawZip::of([RawEntry::stored("main.tf", "")]).to_bytes();
    site.registry.publish_module(NET, "latest", &zip);
    let calls = call("net", "oci://HOST/modules/net", "");
    let missing = "`oci://HOST/modules/net?tag=latest` is not on this machine, and `--offline` forbids network access";
    let offline = lock(&site, &calls, "--offline").run();
    assert_contains(&messages(&site, &offline), missing);
    assert_eq!(module_requests(&site), [""; 0]);
    lock(&site, &calls, "").run().expect_success();
    module_requests(&site);
    lock(&site, &calls, "--offline").run().expect_success();
    assert_eq!(module_requests(&site), [""; 0]);
}

#[test]
fn an_untrusted_configuration_needs_an_allowed_registry() {
    let site = OciSite::start();
    publish(&site);
    let calls = call("net", "oci://HOST/modules/net", "");
    let outcome = lock(&site, &calls, "--untrusted").run().expect_code(1);
    let refused = "host `HOST` is not allowed with `--untrusted`";
    assert_contains(&messages(&site, &outcome), refused);
    assert_eq!(module_requests(&site), [""; 0]);
    let hosts = format!("--untrusted --allow-host {}", site.registry.host());
    let outcome: Outcome = lock(&site, &calls, &hosts).run();
    assert!(!module_requests(&site).is_empty(), "{outcome}");
}

/// Modules are requested with the credentials of providers: see `credentials`.
#[test]
fn private_modules_need_credentials() {
    for access in [OciAccess::Basic, OciAccess::Token] {
        let site = OciSite::start();
        publish(&site);
        site.registry.require(access);
        let host = site.registry.host();
        let found = constraints(&site, "oci://HOST/modules/net");
        assert!(found.contains("oci_credentials"), "{access:?}: {found}");
        site.context.set_cli_config(&format!(
            "oci_credentials \"{host}\" {{\n  username = \"{OCI_USER}\"\n  password = \"{OCI_PASSWORD}\"\n}}\n"
        ));
        assert_eq!(constraints(&site, "oci://HOST/modules/net"), LOCKED);
    }
}
