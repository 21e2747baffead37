//! The binary locks root modules whose modules are not installed. The result is the same as that of `terraform get`
//! followed by `providers lock`.

use serde_json::json;
use tflock_test_support::{
    DEFAULT_HOSTS, Document, FakeRegistry, Misbehave, ProviderSpec, RawEntry, RawZip, Response,
    TestContext, assert_contains,
};

use super::git::ModuleRepository;
use crate::TFLOCK;

/// Returns a `required_providers` block with one provider.
pub(crate) fn requiring(provider: &str, constraint: &str) -> String {
    let name = provider.rsplit('/').next().unwrap();
    format!(
        "terraform {{\n  required_providers {{\n    {name} = {{\n      source  = \"{provider}\"\n      version = \
         \"{constraint}\"\n    }}\n  }}\n}}\n"
    )
}

/// Publishes a version of a module in the registry `modules.test`.
pub(crate) fn publish_module(
    registry: &FakeRegistry,
    module: &str,
    version: &str,
    files: &[(&str, &str)],
) {
    let list = json!({"modules": [{"versions": [{"version": version}]}]});
    let base = format!("/modules/{module}");
    registry.serve(&format!("{base}/versions"), Document::json(&list));
    let archive = format!("/files/{module}.zip");
    let entries = files.iter();
    let entries = entries.map(|(name, text)| RawEntry::streamed(name, text));
    registry.serve(&archive, Document::octets(RawZip::of(entries).to_bytes()));
    let answer = Response::status(204)
        .body("")
        .with("X-Terraform-Get", &archive);
    let path = format!("{base}/{version}/download");
    registry.misbehave(Misbehave::on(&path).respond(answer));
}

/// Creates a registry with providers and modules, a git repository, and the text of a root module. It calls modules in
/// all ways: a registry module with constraints and a subdirectory, an archive, a repository by tag, branch and commit,
/// and modules nested three levels deep.
fn site() -> (FakeRegistry, TestContext, ModuleRepository, String) {
    let mut registry = FakeRegistry::start();
    for name in ["acme/anvil", "acme/bolt", "acme/rivet", "acme/screw"] {
        let spec = ProviderSpec::new(name).hosts(DEFAULT_HOSTS);
        registry.publish(spec.versions(["1.0.0", "1.1.0", "2.0.0"]));
    }
    let repository = ModuleRepository::create();
    let inner = |name: &str| call("deep", &format!("../{name}"), "");
    repository
        .write("modules/net/main.tf", &inner("deep"))
        .write("modules/deep/main.tf", &inner("deepest"))
        .write("modules/deepest/main.tf", &requiring("acme/bolt", "~> 1.0"))
        .write("main.tf", &requiring("acme/screw", "> 1.0"));
    let first = repository.commit();
    repository.git("tag v1");
    repository.git("checkout --quiet -b feature/x");
    repository
        .write("modules/net/main.tf", &requiring("acme/rivet", ">= 1.0"))
        .commit();
    repository.git("checkout --quiet main");
    repository
        .write("modules/net/main.tf", &requiring("acme/nowhere", "9.9.9"))
        .commit();
    let zipped = RawEntry::stored("main.tf", requiring("acme/rivet", "< 1.1"));
    registry.serve("/m.zip", Document::octets(RawZip::of([zipped]).to_bytes()));
    let calls = call("web", &registry.url("/m.zip"), "");
    let sub = requiring("acme/screw", ">= 1");
    let files = [("main.tf", &*calls), ("sub/main.tf", &sub)];
    publish_module(&registry, "acme/dns/any", "1.2.0", &files);
    let context = TestContext::new(TFLOCK, &registry);
    context.set_cli_config(&with_modules(&registry));
    let git = repository.url();
    let root = [
        requiring("acme/anvil", "1.0.0"),
        call("tag", &format!("{git}//modules/net?ref=v1"), ""),
        call("branch", &format!("{git}//modules/n*t?ref=feature/x"), ""),
        call("commit", &format!("{git}?ref={first}"), ""),
        call("dns", "modules.test/acme/dns/any", "~> 1.0"),
        call("sub", "modules.test/acme/dns/any//sub", ""),
    ];
    (registry, context, repository, root.concat())
}

/// Returns a CLI configuration for a registry that serves the modules of the host `modules.test`.
pub(crate) fn with_modules(registry: &FakeRegistry) -> String {
    format!(
        "{}\nhost \"modules.test\" {{\n  services = {{\n    \"modules.v1\" = \"{}\"\n  }}\n}}\n",
        registry.cli_config(),
        registry.url("/modules/")
    )
}

/// Returns a `module` block. An empty version is omitted.
pub(crate) fn call(name: &str, source: &str, version: &str) -> String {
    let version = match version {
        "" => String::new(),
        version => format!("  version = \"{version}\"\n"),
    };
    format!("module \"{name}\" {{\n  source = \"{source}\"\n{version}}}\n")
}

#[test]
fn roots_are_locked_as_after_get() {
    let (_registry, context, _repository, root) = site();
    for engine in ["terraform", "tofu"] {
        let (ours, theirs) = (format!("{engine}-ours"), format!("{engine}-theirs"));
        context.write(&format!("{ours}/main.tf"), &root);
        let lock = format!("lock --engine {engine} --platform linux_amd64 {ours}");
        context.run(&lock).expect_success();
        let written = context.lock_file(&ours).unwrap();
        let expected = [
            ("anvil", "1.0.0"),
            ("bolt", "~> 1.0"),
            ("rivet", ">= 1.0.0, < 1.1.0"),
            ("screw", "> 1.0.0, >= 1.0.0"),
        ];
        for (name, constraints) in expected {
            assert_contains(&written, name);
            assert_contains(&written, &format!("constraints = \"{constraints}\""));
        }

        context.write(&format!("{theirs}/main.tf"), &root);
        let data = context.path(&format!("{engine}-data"));
        let lock: &[&str] = &["providers", "lock", "-platform=linux_amd64"];
        for arguments in [&["get"], lock] {
            let arguments = arguments.iter().copied();
            if let Some(tool) = context.engine(engine, &theirs, arguments) {
                tool.env("TF_DATA_DIR", &data).run().expect_success();
            }
        }
        let their_lock = context.lock_file(&theirs).unwrap_or(written.clone());
        assert_eq!(their_lock, written, "{engine}");
    }
}

/// The number of root modules. All of them call the same modules: half come from a registry, the others each from their
/// own repository.
#[cfg(unix)]
const ROOTS: usize = 500;
#[cfg(unix)]
const MODULES: usize = 10;

#[cfg(unix)]
#[test]
fn many_roots_fetch_each_module_once() {
    let registry = FakeRegistry::with(ProviderSpec::new("acme/anvil"));
    let context = TestContext::new(TFLOCK, &registry);
    context.set_cli_config(&with_modules(&registry));
    let mut repositories = Vec::new();
    let mut root = String::new();
    for index in 0..MODULES {
        let text = requiring("acme/anvil", &format!(">= 0.{index}"));
        let source = if index % 2 == 0 {
            let module = format!("acme/m{index}/any");
            publish_module(&registry, &module, "1.0.0", &[("main.tf", &text)]);
            format!("modules.test/{module}")
        } else {
            let repository = ModuleRepository::create();
            repository.write("main.tf", &text).commit();
            let url = repository.url();
            repositories.push(repository);
            url
        };
        root += &call(&format!("m{index}"), &source, "");
    }
    for index in 0..ROOTS {
        context.write(&format!("roots/{index:03}/main.tf"), &root);
    }
    let log = context.path("git.log");
    let path = super::git_on_path(&context.path("bin"), &log);
    let arguments = "lock -r --platform linux_amd64 roots";
    let run = context.command(arguments).env("PATH", path).run();
    run.expect_success();
    let written = context.lock_file("roots/000").unwrap();
    assert_eq!(written.matches(">= 0.").count(), MODULES, "{written}");
    for index in 1..ROOTS {
        let lock = context.lock_file(&format!("roots/{index:03}"));
        assert_eq!(lock.as_ref(), Some(&written));
    }

    let log = std::fs::read_to_string(log).unwrap();
    for repository in &repositories {
        let url = repository.url();
        let url = url.trim_start_matches("git::");
        let clones = log.lines().filter(|line| line.contains(url));
        assert_eq!(clones.count(), 1, "{log}");
    }
    let requests = registry.log();
    let requested = requests.counts("/modules/*");
    // One version list and one location for each module in the registry.
    assert_eq!(requested.len(), MODULES);
    let archives = requests.counts("/files/*.zip");
    assert_eq!(archives.len(), MODULES / 2);
    for (path, count) in requested.iter().chain(&archives) {
        assert_eq!(*count, 1, "{path}");
    }
}

#[test]
fn an_unavailable_module_fails_its_directory_with_its_place() {
    let (_registry, context, _repository, root) = site();
    context.write("good/main.tf", &root);
    let unsupported = call("x", "git::ssh://git@h.test/r?sshkey=Zm9v", "");
    context.write("bad/main.tf", unsupported);
    let outcome = context.run("lock --platform linux_amd64 good bad");
    let outcome = outcome.expect_code(1);
    assert!(context.lock_file("good").is_some() && context.lock_file("bad").is_none());
    let text = outcome.to_string();
    for expected in [
        "cannot get module `x` from",
        "bad/main.tf:",
        "private keys in addresses (`sshkey`) are not supported",
        "hint: run `init` or `get` in this directory first",
    ] {
        assert_contains(&text, expected);
    }
}

#[test]
fn a_prerelease_with_an_operator_is_refused_with_a_hint() {
    let registry = FakeRegistry::start();
    publish_module(&registry, "acme/m/any", "2.0.0-beta1", &[]);
    let context = TestContext::new(TFLOCK, &registry);
    context.set_cli_config(&with_modules(&registry));
    let module = call("m", "modules.test/acme/m/any", "= 2.0.0-beta1");
    context.write("bad/main.tf", module);
    context
        .run("lock --platform linux_amd64 bad")
        .expect_code(1)
        .assert_stderr(
            "module `modules.test/acme/m/any` has no version that `= 2.0.0-beta1` allows",
        )
        .assert_stderr(
            "hint: to select a prerelease, write only its version: `version = \"2.0.0-beta1\"`",
        );
}

#[test]
fn failures_show_no_secrets() {
    let (_registry, context, _repository, _) = site();
    let secret = "git::https://user:hunter2@git.invalid/x.git?ref=v1&sshkey=opensesame";
    context.write("bad/main.tf", call("x", secret, ""));
    let record =
        json!({"Modules": [{"Key": "x", "Source": secret.replace("v1", "v0"), "Dir": "."}]});
    for manifest in [None, Some(record.to_string())] {
        if let Some(manifest) = manifest {
            context.write("bad/.terraform/modules/modules.json", manifest);
        }
        let arguments = "lock --offline --platform linux_amd64 bad";
        let text = context.run(arguments).expect_code(1).to_string();
        let shown = text.split("--- stdout").last().unwrap();
        assert_contains(shown, "`git::https://git.invalid/x.git?ref=v1`");
        for secret in ["hunter2", "opensesame"] {
            assert!(!shown.contains(secret), "{text}");
        }
    }
}
