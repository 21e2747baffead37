//! `--untrusted`: what a stranger's configuration reaches, and what it is refused.

use tflock_test_support::{FakeRegistry, Outcome, Program, ProviderSpec, TestContext};

use crate::TFLOCK;
use crate::modules::binary::{call, publish_module, requiring, with_modules};

/// A secret that must not be sent anywhere.
const SECRET: &str = "XSECRETX";

/// A registry with the hosts `registry.terraform.io`, `evil.test` and `modules.test`; `good` beside `bad`.
struct Site {
    registry: FakeRegistry,
    context: TestContext,
}

impl Site {
    fn with(bad: &str) -> Self {
        let mut registry = FakeRegistry::start();
        registry.publish(ProviderSpec::new("acme/anvil"));
        registry.publish(ProviderSpec::new("acme/bolt").hosts(["evil.test"]));
        let module = [("main.tf", requiring("acme/anvil", ">= 1.0"))];
        let module = module.each_ref().map(|(name, text)| (*name, text.as_str()));
        publish_module(&registry, "acme/net/any", "1.0.0", &module);
        let context = TestContext::new(TFLOCK, &registry);
        context.set_cli_config(&with_modules(&registry));
        context.require("good", &[("acme/anvil", "")]);
        context.write("bad/main.tf", bad.replace("{URL}", &registry.url("")));
        Self { registry, context }
    }

    fn lock(&self, options: &[&str]) -> Program {
        let fixed = ["lock", "--platform", "linux_amd64", "good", "bad"];
        let port = self.registry.port().to_string();
        let options = options.iter().map(|option| option.replace("{PORT}", &port));
        let program = self.context.tflock(fixed).args(options);
        ["evil_test", "modules_test", "127_0_0_1"]
            .into_iter()
            .fold(program, |program, host| {
                program.env(&format!("TF_TOKEN_{host}"), SECRET)
            })
    }

    /// Runs it; the other directory is always written.
    #[track_caller]
    fn run(&self, options: &[&str], code: i32) -> Outcome {
        let outcome = self.lock(options).run().expect_code(code);
        assert!(self.context.lock_file("good").is_some(), "{outcome}");
        assert_eq!(
            self.context.lock_file("bad").is_some(),
            code == 0,
            "{outcome}"
        );
        outcome
    }

    /// Whether a path with this beginning was asked for.
    fn was_asked(&self, start: &str) -> bool {
        let hits = self.registry.log().hits();
        hits.iter().any(|hit| hit.request.path.starts_with(start))
    }

    fn sent_secrets(&self) -> bool {
        let hits = self.registry.log().hits();
        hits.iter().any(|hit| format!("{hit:?}").contains(SECRET))
    }
}

#[test]
fn hosts_are_asked_only_if_the_user_allows_them() {
    let evil_provider = requiring("evil.test/acme/bolt", ">= 1.0");
    let registry_module = call("net", "modules.test/acme/net/any", "1.0.0");
    let archive = call("net", "{URL}/files/acme/net/any.zip", "");
    let page = call("net", "{URL}/page", "");
    let git = call("net", "git::https://evil.test/r.git", "");
    let public = "--allow-host=registry.terraform.io";
    for (bad, path, refused, allowed) in [
        (
            &evil_provider,
            "/evil.test/",
            "evil.test",
            Some("--allow-host=evil.test"),
        ),
        (
            &registry_module,
            "/modules/",
            "modules.test",
            Some("--allow-host=modules.test"),
        ),
        (
            &archive,
            "/files/",
            "127.0.0.1:{PORT}",
            Some("--allow-host=127.0.0.1:{PORT}"),
        ),
        (&page, "/page", "127.0.0.1:{PORT}", None),
        (&git, "/r.git", "evil.test", None),
    ] {
        let site = Site::with(bad);
        let outcome = site.run(&["--untrusted"], 1);
        let host = refused.replace("{PORT}", "[PORT]");
        let message = format!("host `{host}` is not allowed, and this run is `--untrusted`");
        assert!(outcome.stderr.contains(&message), "{outcome}");
        assert!(
            outcome.stderr.contains(&format!("--allow-host {host}")),
            "{outcome}"
        );
        assert!(!site.was_asked(path), "{bad}");
        assert!(!site.sent_secrets(), "{bad}");
        if let Some(option) = allowed {
            site.run(&["--untrusted", public, option], 0);
            assert!(site.was_asked(path), "{bad}");
        }
    }
}

/// What an earlier, trusted run has fetched does not help either.
#[test]
fn the_cache_is_no_way_around() {
    for bad in [
        call("net", "modules.test/acme/net/any", "1.0.0"),
        call("net", "{URL}/files/acme/net/any.zip", ""),
    ] {
        let site = Site::with(&bad);
        site.run(&[], 0);
        std::fs::remove_file(site.context.path("bad/.terraform.lock.hcl")).unwrap();
        let outcome = site.run(&["--untrusted"], 1);
        assert!(outcome.stderr.contains("is not allowed"), "{outcome}");
    }
}

/// The variable does what the option does, for pipelines whose command line is fixed.
#[test]
fn the_environment_switches_it_on() {
    let site = Site::with(&requiring("evil.test/acme/bolt", ">= 1.0"));
    let outcome = site
        .lock(&[])
        .env("TFLOCK_UNTRUSTED", "1")
        .run()
        .expect_code(1);
    assert!(
        outcome.stderr.contains("host `evil.test` is not allowed"),
        "{outcome}"
    );
    let outcome = site
        .lock(&[])
        .env("TFLOCK_UNTRUSTED", "maybe")
        .run()
        .expect_code(2);
    assert!(
        outcome.stderr.contains("the values are `1` and `0`"),
        "{outcome}"
    );
    let outcome = site
        .lock(&["--allow-host", "evil.test"])
        .run()
        .expect_code(2);
    assert!(
        outcome
            .stderr
            .contains("cannot use `--allow-host` without `--untrusted`"),
        "{outcome}"
    );
}

/// netrc names hosts as well; a server that only the configuration or a registry names gets nothing.
#[test]
fn netrc_is_for_allowed_hosts() {
    let site = Site::with(&call("net", "modules.test/acme/net/any", "1.0.0"));
    let netrc = site.context.path("../home/.netrc");
    let text = format!(
        "machine 127.0.0.1:{} login u password {SECRET}\n",
        site.registry.port()
    );
    std::fs::write(netrc, text).unwrap();
    let hosts = "--allow-host=registry.terraform.io,modules.test";
    let authorized = |site: &Site| {
        let hits = site.registry.log().hits();
        let files = hits
            .iter()
            .filter(|hit| hit.request.path.starts_with("/files/"));
        files
            .filter(|hit| format!("{hit:?}").to_lowercase().contains("basic "))
            .count()
    };
    site.run(&["--untrusted", hosts], 0);
    assert!(site.was_asked("/files/"));
    assert_eq!(authorized(&site), 0);
    std::fs::remove_file(site.context.path("bad/.terraform.lock.hcl")).unwrap();
    site.run(
        &[
            "--untrusted",
            "--no-cache",
            hosts,
            "--allow-host=127.0.0.1:{PORT}",
        ],
        0,
    );
    assert_eq!(authorized(&site), 1);
}

/// `init` takes packages from `terraform.d/plugins` in the working directory, unsigned, and so does `--source config`.
#[test]
fn packages_in_the_tree_are_no_source() {
    let site = Site::with(&requiring("acme/anvil", ">= 1.0"));
    let package =
        "registry.terraform.io/acme/anvil/1.0.0/linux_amd64/terraform-provider-anvil_v1.0.0";
    site.context
        .write(&format!("terraform.d/plugins/{package}"), "altered");
    let genuine = site.registry.fill("{h1:acme/anvil:1.0.0:linux_amd64}");
    for (options, is_genuine) in [
        (&["--source=config"][..], false),
        (&["--source=config", "--untrusted"], true),
    ] {
        site.run(options, 0);
        let locked = site.context.lock_file("bad").unwrap();
        assert_eq!(
            locked.contains(&genuine),
            is_genuine,
            "{options:?}\n{locked}"
        );
        for directory in ["good", "bad"] {
            std::fs::remove_file(site.context.path(directory).join(".terraform.lock.hcl")).unwrap();
        }
    }
}
