//! The binary locks roots whose modules nobody has installed, as `terraform get` and `providers lock` do together.

use serde_json::json;
use tflock_test_support::{
    Document, FakeRegistry, Misbehave, ProviderSpec, RawEntry, RawZip, Response, TestContext,
};

use super::git::Repository;
use crate::TFLOCK;

/// Roots that call the same modules.
const ROOTS: usize = 60;

fn requiring(provider: &str, constraint: &str) -> String {
    let name = provider.rsplit('/').next().unwrap();
    format!(
        "terraform {{\n  required_providers {{\n    {name} = {{\n      source  = \"{provider}\"\n      version = \
         \"{constraint}\"\n    }}\n  }}\n}}\n"
    )
}

/// A module of the registry `modules.test`, in one version.
fn publish_module(registry: &FakeRegistry, module: &str, version: &str, files: &[(&str, &str)]) {
    let list = json!({"modules": [{"versions": [{"version": version}]}]});
    let base = format!("/modules/{module}");
    registry.serve(&format!("{base}/versions"), Document::json(&list));
    let archive = format!("/files/{module}.zip");
    let entries = files
        .iter()
        .map(|(name, text)| RawEntry::streamed(name, text));
    registry.serve(&archive, Document::octets(RawZip::of(entries).to_bytes()));
    let answer = Response::status(204)
        .body("")
        .with("X-Terraform-Get", &archive);
    let path = format!("{base}/{version}/download");
    registry.misbehave(Misbehave::on(&path).respond(answer));
}

/// A registry with providers and modules, a repository, and a root that needs all of them.
fn site() -> (FakeRegistry, TestContext, Repository, String) {
    let mut registry = FakeRegistry::start();
    for name in ["acme/anvil", "acme/bolt", "acme/rivet", "acme/screw"] {
        registry.publish(ProviderSpec::new(name).versions(["1.0.0", "1.1.0", "2.0.0"]));
    }
    let repository = Repository::create();
    let inner = "module \"deep\" {\n  source = \"../deep\"\n}\n";
    repository
        .write("modules/net/main.tf", inner)
        .write("modules/deep/main.tf", &requiring("acme/bolt", "~> 1.0"))
        .commit();
    repository.git(&["tag", "v1"]);
    let zipped = [("main.tf", requiring("acme/rivet", "< 1.1"))];
    let zipped = zipped
        .each_ref()
        .map(|(name, text)| RawEntry::stored(name, text));
    registry.serve("/m.zip", Document::octets(RawZip::of(zipped).to_bytes()));
    let calls = format!(
        "module \"web\" {{\n  source = \"{}\"\n}}\n",
        registry.url("/m.zip")
    );
    publish_module(
        &registry,
        "acme/dns/any",
        "1.2.0",
        &[
            ("main.tf", &calls),
            ("sub/main.tf", &requiring("acme/screw", ">= 1")),
        ],
    );
    let context = TestContext::new(TFLOCK, &registry);
    let host = format!(
        "{}\nhost \"modules.test\" {{\n  services = {{\n    \"modules.v1\" = \"{}\"\n  }}\n}}\n",
        registry.cli_config(),
        registry.url("/modules/")
    );
    context.set_cli_config(&host);
    let root = format!(
        "{}module \"git\" {{\n  source = \"{}//modules/net?ref=v1\"\n}}\nmodule \"dns\" {{\n  source  = \"modules.test/acme/dns/any\"\n  \
         version = \"~> 1.0\"\n}}\nmodule \"sub\" {{\n  source = \"modules.test/acme/dns/any//sub\"\n}}\n",
        requiring("acme/anvil", "1.0.0"),
        repository.url()
    );
    (registry, context, repository, root)
}

#[test]
fn roots_are_locked_as_after_get_and_each_module_is_fetched_once() {
    let (registry, context, _repository, root) = site();
    for index in 0..ROOTS {
        context.write(&format!("roots/{index}/main.tf"), &root);
    }
    let arguments = [
        "lock",
        "-r",
        "--platform",
        "linux_amd64",
        "--create",
        "always",
        "roots",
    ];
    context.tflock(arguments).run().expect_success();
    for (path, count) in registry.log().counts("/modules/*") {
        assert_eq!(count, 1, "{path}");
    }
    assert_eq!(
        registry
            .log()
            .counts("/files/*.zip")
            .values()
            .sum::<usize>(),
        1
    );
    assert_eq!(registry.log().count("GET", "/m.zip"), 1);
    let written = context.lock_file("roots/0").unwrap();
    assert!(
        ["anvil", "bolt", "rivet", "screw"]
            .iter()
            .all(|name| written.contains(name))
    );
    for index in 1..ROOTS {
        assert_eq!(
            context.lock_file(&format!("roots/{index}")).unwrap(),
            written
        );
    }

    context.write("theirs/main.tf", &root);
    let data = context.path("data");
    for arguments in [
        &["get"][..],
        &["providers", "lock", "-platform=linux_amd64"],
    ] {
        let arguments = arguments.iter().copied();
        let Some(terraform) = context.terraform("theirs", arguments) else {
            return;
        };
        terraform.env("TF_DATA_DIR", &data).run().expect_success();
    }
    assert_eq!(context.lock_file("theirs").unwrap(), written);
}

#[test]
fn a_module_that_cannot_be_had_fails_its_directory_with_its_place() {
    let (_registry, context, _repository, root) = site();
    context.write("good/main.tf", &root);
    let call = "module \"x\" {\n  source = \"s3::https://s3.amazonaws.com/b/m.zip\"\n}\n";
    context.write("bad/main.tf", call);
    let outcome = context
        .tflock(["lock", "--platform", "linux_amd64", "good", "bad"])
        .run();
    let outcome = outcome.expect_code(1);
    assert!(context.lock_file("good").is_some() && context.lock_file("bad").is_none());
    let text = outcome.to_string();
    for expected in [
        "cannot get module `x` from",
        "bad/main.tf:",
        "modules from Amazon S3 (`s3`) are not supported",
        "hint: run `init` or `get` in this directory first",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}
