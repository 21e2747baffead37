//! What affects the entries of a lock file and what does not. Only runs of the whole program can test these rules.

use tflock_test_support::{
    FakeRegistry, Misbehave, Program, ProviderSpec, TestAuthority, TestContext, assert_contains,
    table,
};

use crate::TFLOCK;

const LOCK: &str = "lock --platform linux_amd64";

/// Starts a registry with two providers, and creates an empty tree.
fn start() -> (FakeRegistry, TestContext) {
    let mut registry = FakeRegistry::start();
    registry
        .publish(ProviderSpec::new("acme/anvil").versions(["1.0.0", "1.1.0"]))
        .publish(ProviderSpec::new("acme/rivet"));
    let context = TestContext::new(TFLOCK, &registry);
    (registry, context)
}

/// A Terraform state that requires `acme/rivet`.
const STATE: &str = r#"{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "l", "outputs": {}, "resources": [{
    "mode": "managed", "type": "rivet_plate", "name": "a", "instances": [],
    "provider": "provider[\"registry.terraform.io/acme/rivet\"]"}]}"#;

#[test]
fn states_and_installed_providers_are_ignored() {
    let (_registry, context) = start();
    for directory in ["plain", "full"] {
        context.require(directory, &[("acme/anvil", "~> 1.0")]);
    }
    let installed = "providers/registry.terraform.io/acme/anvil/1.1.0/linux_amd64";
    context
        .write(&format!("full/.terraform/{installed}/stray"), "x")
        .write(&format!("data/{installed}/stray"), "x")
        .write("full/terraform.tfstate", STATE);
    context.command(LOCK).arg("plain").run().expect_success();
    let full = || {
        let program = context.command(LOCK).arg("full");
        program.env("TF_DATA_DIR", context.path("data"))
    };
    full().run().expect_success();
    let written = context.lock_file("full");
    assert!(written.is_some());
    assert_eq!(written, context.lock_file("plain"));
    assert_eq!(context.list("data"), ["providers"]);
    let of_the_state = full().args(["--provider", "acme/rivet"]);
    of_the_state.run().expect_code(2);
}

#[test]
fn platforms_are_requested_unchanged() {
    let (registry, context) = start();
    context.require("a", &[("acme/anvil", "1.0.0")]);
    let lock = |platforms: &[&str]| {
        registry.log().clear();
        let options = platforms.iter().flat_map(|list| ["--platform", list]);
        context.command("lock a").args(options).run()
    };
    for (platform, path) in [("Linux_AMD64", "Linux/AMD64"), ("linux_", "linux/")] {
        lock(&[platform]).expect_code(1);
        let pattern = format!("*/anvil/1.0.0/download/{path}");
        assert_eq!(registry.log().count("GET", &pattern), 1, "{platform}");
    }
    lock(&["linux_amd64,darwin_arm64,linux_amd64", "darwin_arm64"]).expect_success();
    let downloads = registry.log().counts("*/anvil/1.0.0/download/*");
    let counts: Vec<usize> = downloads.into_values().collect();
    assert_eq!(counts, [1, 1], "each platform once");
}

#[test]
fn only_named_providers_are_processed() {
    let (registry, context) = start();
    let required = ["acme/anvil", "acme/rivet", "acme/missing"];
    context.require("a", &required.map(|source| (source, "1.0.0")));
    let rivet = "provider \"registry.terraform.io/acme/rivet\" {\n  version = \"0.5.0\"\n  hashes = [\n    \"h1:kept=\",\n  ]\n}\n";
    context.write_lock_file("a", rivet);
    let lock = |source| {
        let program = context.command(LOCK).args(["--provider", source, "a"]);
        program.run()
    };
    lock("registry.terraform.io/Acme/anvil").expect_success();
    let locked = context.lock_file("a").unwrap();
    assert_contains(&locked, "acme/anvil\"");
    assert!(locked.ends_with(rivet), "{locked}");
    assert_eq!(registry.log().counts("*/versions").len(), 1);
    lock("acme/bolt").expect_code(2);
    assert_eq!(context.lock_file("a").unwrap(), locked);
}

#[test]
fn addresses_that_cannot_be_locked_are_dropped() {
    let (registry, context) = start();
    let built_in = ("terraform.io/builtin/foo", "99.0.0");
    context.require("a", &[built_in, ("-/legacy", "1.0.0")]);
    context.command(LOCK).arg("a").run().expect_success();
    let locked = context.lock_file("a").unwrap();
    let is_comment = |line: &str| line.starts_with("# ");
    assert!(locked.lines().all(is_comment), "{locked}");
    assert_eq!(locked.lines().count(), 2, "{locked}");
    assert_eq!(registry.log().total(), 0);
}

#[test]
fn warnings_of_a_registry_are_printed_once() {
    let mut registry = FakeRegistry::start();
    registry.publish(ProviderSpec::new("acme/anvil").warning("use acme/hammer instead"));
    let list = "\"versions\":[";
    let with_invalid = format!("{list}{{\"version\":\"v3\"}},");
    registry.misbehave(Misbehave::on("*/versions").replace(list, &with_invalid));
    let context = TestContext::new(TFLOCK, &registry);
    for directory in ["a", "b"] {
        context.require(directory, &[("acme/anvil", "")]);
    }
    let outcome = context.run(&format!("{LOCK} -r .")).expect_success();
    for text in ["use acme/hammer instead", "`v3`"] {
        assert_eq!(outcome.stderr.matches(text).count(), 1, "{text}\n{outcome}");
    }
}

#[test]
fn proxies_come_from_the_environment() {
    let (_registry, context) = start();
    let proxy = FakeRegistry::start();
    context.set_cli_config(
        "host \"plain.test\" { services { providers.v1 = \"http://plain.test/v1/\" } }
         host \"secure.test\" { services { providers.v1 = \"https://secure.test/v1/\" } }",
    );
    for [host, direct, method, path] in table(
        "
            plain.test  |            | GET     | http://plain.test/v1/acme/anvil/versions
            secure.test |            | CONNECT | secure.test:443
            plain.test  | plain.test | GET     |
        ",
    ) {
        proxy.log().clear();
        context.require(host, &[(&format!("{host}/acme/anvil"), "")]);
        let program = context.command(LOCK).arg(host);
        program
            .env("HTTP_PROXY", proxy.url(""))
            .env("HTTPS_PROXY", proxy.url(""))
            .env("NO_PROXY", direct)
            .env("TF_REGISTRY_DISCOVERY_RETRY", "1")
            .run()
            .expect_code(1);
        let proxied = proxy.log().count(method, path);
        assert_eq!(proxied > 0, direct.is_empty(), "{host} without {direct:?}");
        assert!(!direct.is_empty() || proxy.log().total() == proxied);
    }
}

/// Requests to loopback never use a proxy, as in Go.
#[test]
fn loopback_needs_no_proxy() {
    let (_registry, context) = start();
    let proxy = FakeRegistry::start();
    context.require("a", &[("acme/anvil", "")]);
    let program = context.command(LOCK).arg("a");
    let outcome = program.env("HTTP_PROXY", proxy.url("")).run();
    outcome.expect_success();
    assert_eq!(proxy.log().total(), 0);
}

/// `SSL_CERT_FILE` and `SSL_CERT_DIR` have the same effect as in Go. The result is compared with that of Terraform if
/// it is installed.
#[test]
fn authorities_come_from_the_environment() {
    let mut registry = FakeRegistry::start();
    let authority = TestAuthority::create();
    let host = registry.serve_tls(&authority);
    registry.publish(ProviderSpec::new("acme/anvil").hosts([host.as_str()]));
    let context = TestContext::new(TFLOCK, &registry);
    let file = authority.certificate_file().to_str().unwrap();
    let pem = std::fs::read(file).unwrap();
    context.write("certificates/authority.pem", pem);
    let directory = context.path("certificates").display().to_string();
    let rows: [(&str, &str, bool); 7] = [
        ("", "", false),
        (file, "", true),
        ("", &directory, true),
        ("/missing.pem", &directory, true),
        (file, "/missing", true),
        ("/missing.pem", "/missing", false),
        ("", &format!("/missing:{directory}"), true),
    ];
    for (number, (file, directory, is_trusted)) in rows.into_iter().enumerate() {
        let name = format!("{number}");
        context.require(&name, &[(&format!("{host}/acme/anvil"), "")]);
        let ours = context.command(LOCK).arg(&name);
        let run = |program: Program| {
            let program = program.env("SSL_CERT_FILE", file);
            program.env("SSL_CERT_DIR", directory).run()
        };
        let outcome = run(ours);
        let code = Some(i32::from(!is_trusted));
        assert_eq!(outcome.code, code, "{file} {directory}\n{outcome}");
        let theirs = context.terraform(&name, ["providers", "lock", "-platform=linux_amd64"]);
        if let Some(theirs) = theirs {
            let outcome = run(theirs);
            let is_locked = outcome.code == Some(0);
            assert_eq!(is_locked, is_trusted, "{file} {directory}\n{outcome}");
        }
    }
}

/// tflock ignores what `providers lock` ignores: plugin caches, installation methods, development overrides, implied
/// directories and reattached providers. Each of them would change the package or omit the provider.
#[test]
fn only_the_registry_is_used_by_default() {
    let registry = FakeRegistry::with(ProviderSpec::new("acme/anvil"));
    let context = TestContext::new(TFLOCK, &registry);
    context.require("a", &[("acme/anvil", "")]);
    let package =
        "registry.terraform.io/acme/anvil/1.0.0/linux_amd64/terraform-provider-anvil_v1.0.0";
    for place in "mirror cache a/terraform.d/plugins ../home/.terraform.d/plugins".split(' ') {
        context.write(&format!("{place}/{package}"), "altered");
    }
    // Forward slashes need no escaping in HCL on any system.
    let mirror = context.path("mirror").display().to_string();
    let mirror = mirror.replace('\\', "/");
    let methods = [
        format!("filesystem_mirror {{\n    path = \"{mirror}\"\n  }}"),
        format!("dev_overrides {{\n    \"acme/anvil\" = \"{mirror}\"\n  }}\n  direct {{}}"),
        "oci_mirror {\n    repository_template = \"h.test/${namespace}/${type}\"\n  }".to_owned(),
        "direct {\n    exclude = [\"acme/*\"]\n  }".to_owned(),
        String::new(),
    ];
    let expected = registry.fill("{h1:acme/anvil:1.0.0:linux_amd64}");
    for method in methods {
        let block =
            format!("provider_installation {{\n  {method}\n}}\nplugin_cache_dir = \"{mirror}\"\n");
        context.set_cli_config(&format!("{}\n{block}", registry.cli_config()));
        let program = context.command(LOCK).args(["--no-cache", "a"]);
        let reattached = r#"{"acme/anvil":{"Protocol":"grpc","Pid":1,"Test":true,"Addr":{"Network":"unix","String":"x"}}}"#;
        let outcome = program
            .env("TF_PLUGIN_CACHE_DIR", context.path("cache"))
            .env("TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE", "1")
            .env("TF_REATTACH_PROVIDERS", reattached)
            .run()
            .expect_success();
        let locked = context.lock_file("a").unwrap();
        let hashes = locked.lines().filter(|line| line.contains("\"h1:"));
        let hashes: Vec<_> = hashes.map(str::trim).collect();
        assert_eq!(hashes, [format!("\"{expected}\",")], "{method}\n{outcome}");
        context.remove_lock_file("a");
    }
}

/// The engines lose `module` blocks whenever they write a lock file. tflock warns, and does not write for that reason alone.
#[test]
fn module_blocks_are_lost_only_if_the_file_changes_anyway() {
    let (_registry, context) = start();
    context.require("a", &[("acme/anvil", "1.0.0")]);
    let lock = format!("{LOCK} a");
    context.run(&lock).expect_success();
    let locked = context.lock_file("a").unwrap();
    let with_modules = format!("{locked}\nmodule \"m\" {{\n  version = \"1.0.0\"\n}}\n");
    context.write_lock_file("a", &with_modules);
    for options in ["", "--check", "--fail-on-change"] {
        let outcome = context.run(&format!("{lock} {options}")).expect_success();
        assert!(outcome.stderr.is_empty(), "{outcome}");
        assert_eq!(context.lock_file("a").unwrap(), with_modules);
    }

    context.require("a", &[("acme/anvil", "1.0.0"), ("acme/rivet", "")]);
    let warning = "warning: the lock file loses its `module` blocks, which neither Terraform nor OpenTofu supports yet";
    let outcome = context.run(&lock).expect_success();
    assert_contains(&outcome.stderr, warning);
    assert_contains(&outcome.stderr, "a/.terraform.lock.hcl:");
    assert!(!context.lock_file("a").unwrap().contains("module"));

    context.write_lock_file("a", with_modules.replace("hashes", "# edited\n  hashes"));
    context.require("a", &[("acme/anvil", "1.0.0")]);
    context.run(&lock).expect_success();
    assert_eq!(context.lock_file("a").unwrap(), locked);
}
