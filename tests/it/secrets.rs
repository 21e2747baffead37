//! Secrets: tokens, passwords and signed addresses are in nothing that tflock prints, logs or keeps, whether a run succeeds or
//! fails, and go to no other host than the one they are for.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tflock_test_support::{
    Document, FakeRegistry, Misbehave, Outcome, Program, ProviderSpec, TestContext,
};

use crate::TFLOCK;

/// What must be seen nowhere, in any encoding that logs might show.
const SECRET: &str = "XSECRETX";

const DOWNLOAD: &str = "/registry.terraform.io/v1/providers/acme/anvil/1.0.0/download/linux/amd64";

/// A registry, another host, and a tree with one module. Everything is loopback, so all that `trace` can say is said.
struct Site {
    registry: FakeRegistry,
    elsewhere: FakeRegistry,
    context: TestContext,
}

impl Site {
    fn start() -> Self {
        let mut registry = FakeRegistry::start();
        registry.publish(ProviderSpec::new("acme/anvil").platforms(["linux_amd64"]));
        let context = TestContext::new(TFLOCK, &registry);
        context.require("a", &[("acme/anvil", "")]);
        Self {
            registry,
            elsewhere: FakeRegistry::start(),
            context,
        }
    }

    fn lock(&self) -> Program {
        let options = "lock -v --platform linux_amd64 a";
        self.context
            .command(options)
            .env("TFLOCK_LOG", "trace")
            .env("TF_REGISTRY_DISCOVERY_RETRY", "1")
            .env("TF_PROVIDER_DOWNLOAD_RETRY", "1")
    }

    /// Adds to the CLI configuration.
    fn configure(&self, text: &str) {
        let config = self.registry.cli_config();
        self.context.set_cli_config(&format!("{config}\n{text}\n"));
    }

    /// Gives the addresses of the package, its list and its signature a query and a password.
    fn sign_addresses(&self) {
        let body = self.registry.document(DOWNLOAD).unwrap().body.to_vec();
        let mut description: Value = serde_json::from_slice(&body).unwrap();
        for name in ["download_url", "shasums_url", "shasums_signature_url"] {
            let address = description[name].as_str().unwrap();
            let address = address.replace("http://", &format!("http://user:{SECRET}@"));
            description[name] = format!("{address}?X-Signature={SECRET}#{SECRET}").into();
        }
        self.registry.serve(DOWNLOAD, Document::json(&description));
    }
}

fn assert_silent(outcome: &Outcome, context: &TestContext, name: &str) {
    // base64 of `user:XSECRETX`, as basic authentication has it.
    for secret in [SECRET, "dXNlcjpYU0VDUkVUWA"] {
        for text in [&outcome.stdout, &outcome.stderr] {
            let line = text.lines().find(|line| line.contains(secret));
            assert_eq!(line, None, "{name}\n{outcome}");
        }
        let lock_file = context.lock_file("a").unwrap_or_default();
        assert!(!lock_file.contains(secret), "{name}");
        assert!(!is_in_files(&context.cache(), secret), "{name}");
    }
}

fn is_in_files(directory: &Path, text: &str) -> bool {
    fs::read_dir(directory).is_ok_and(|entries| {
        entries.map(|entry| entry.unwrap().path()).any(|path| {
            let is_in_file = || String::from_utf8_lossy(&fs::read(&path).unwrap()).contains(text);
            if path.is_dir() {
                is_in_files(&path, text)
            } else {
                is_in_file()
            }
        })
    })
}

type Spoil = fn(Misbehave) -> Misbehave;

/// How requests fail, or do not.
const FAULTS: [(&str, Spoil); 9] = [
    ("nothing is wrong", |rule| rule.times(0)),
    ("401", |rule| rule.status(401)),
    ("403", |rule| rule.status(403)),
    ("404", |rule| rule.status(404)),
    ("503", |rule| rule.status(503)),
    ("web page", Misbehave::html),
    ("reset", Misbehave::reset),
    ("cut", |rule| rule.cut(3).no_ranges()),
    ("redirect", |rule| {
        rule.redirect("http://user:XSECRETX@127.0.0.1:1/x?sig=XSECRETX")
    }),
];

#[test]
fn tokens_are_shown_nowhere() {
    for (name, fault) in FAULTS {
        let site = Site::start();
        site.registry.misbehave(fault(Misbehave::on("*/versions")));
        let outcome = site
            .lock()
            .env("TF_TOKEN_registry_terraform_io", SECRET)
            .run();
        assert_silent(&outcome, &site.context, name);
        assert!(
            outcome.stderr.contains("answered") || name == "reset",
            "the log is there\n{outcome}"
        );
        site.configure(&format!(
            "credentials \"registry.terraform.io\" {{\n  token = \"{SECRET}\"\n}}"
        ));
        assert_silent(&site.lock().run(), &site.context, name);
    }
}

#[test]
fn signed_addresses_are_shown_nowhere() {
    for (name, fault) in FAULTS {
        for document in ["*_SHA256SUMS", "*.zip"] {
            let site = Site::start();
            site.sign_addresses();
            site.registry.misbehave(fault(Misbehave::on(document)));
            let outcome = site.lock().run();
            assert_silent(&outcome, &site.context, &format!("{name} {document}"));
        }
    }
}

#[test]
fn passwords_in_configurations_are_shown_nowhere() {
    let broken = [
        "credentials \"registry.terraform.io\" {\n  token = \"XSECRETX\n}",
        "credentials \"registry.terraform.io\" {\n  token = \"XSECRETX\" token = 5 x\n}",
        "credentials \"registry.terraform.io\" { token = [\"XSECRETX\"] }",
        "credentials \"not a host\" { token = \"XSECRETX\" }",
        "credentials { token = \"XSECRETX\" }",
        "host \"registry.terraform.io\" { services = { \"providers.v1\" = \"https://user:XSECRETX@h.test/\" } }",
        "host \"registry.terraform.io\" { services = { \"providers.v1\" = \"http://127.0.0.1:1/?key=XSECRETX\" } }",
        "provider_installation {\n  network_mirror { url = \"http://user:XSECRETX@h.test/\" }\n}",
        "provider_installation {\n  network_mirror { url = \"https://user:XSECRETX@127.0.0.1:1/?key=XSECRETX\" }\n}",
    ];
    for text in broken {
        for options in [&["--source", "registry"], &["--source", "config"]] {
            let site = Site::start();
            site.configure(text);
            let outcome = site.lock().args(options).run();
            assert_silent(&outcome, &site.context, text);
        }
    }
}

#[test]
fn passwords_in_the_environment_are_shown_nowhere() {
    let rows = [
        (
            "TFREGISTRY_BASE_URL",
            "ftp://user:XSECRETX@127.0.0.1:1/?key=XSECRETX",
        ),
        (
            "TFREGISTRY_BASE_URL",
            "http://user:XSECRETX@127.0.0.1:1/?key=XSECRETX",
        ),
        ("TFREGISTRY_BASE_URL", "user:XSECRETX@127.0.0.1:1"),
        ("HTTP_PROXY", "http://user:XSECRETX@127.0.0.1:1"),
        ("HTTP_PROXY", "socks5://user:XSECRETX@127.0.0.1:1"),
        ("TF_TOKEN_registry_terraform_io", "XSECRETX\n"),
    ];
    for (variable, value) in rows {
        let site = Site::start();
        let outcome = site.lock().env(variable, value).run();
        assert_silent(&outcome, &site.context, &format!("{variable}={value}"));
    }
    let site = Site::start();
    let mirror = "https://user:XSECRETX@127.0.0.1:1/mirror/?key=XSECRETX";
    let outcome = site
        .lock()
        .args(["--net-mirror", mirror])
        .run()
        .expect_code(1);
    assert_silent(&outcome, &site.context, mirror);
    let wrong = "http://user:XSECRETX@127.0.0.1:1/mirror/?key=XSECRETX";
    let outcome = site
        .lock()
        .args(["--net-mirror", wrong])
        .run()
        .expect_code(2);
    assert_silent(&outcome, &site.context, wrong);
}

#[test]
fn netrc_is_shown_nowhere() {
    for (name, fault) in FAULTS {
        let site = Site::start();
        let port = site.registry.port();
        site.context.write(
            "netrc",
            format!("machine 127.0.0.1:{port} login user password {SECRET}\n"),
        );
        site.registry.misbehave(fault(Misbehave::on("*.zip")));
        let outcome = site.lock().env("NETRC", site.context.path("netrc")).run();
        assert_silent(&outcome, &site.context, name);
    }
    let site = Site::start();
    site.context.write(
        "netrc",
        format!("machine x login user password {SECRET} {SECRET} nonsense\n"),
    );
    let outcome = site.lock().env("NETRC", site.context.path("netrc")).run();
    assert_silent(&outcome, &site.context, "malformed");
}

/// What the other host was sent, when every kind of request is redirected there.
#[test]
fn other_hosts_are_sent_no_secret() {
    for path in [
        "*/versions",
        "*/download/*",
        "*_SHA256SUMS",
        "*.sig",
        "*.zip",
    ] {
        let site = Site::start();
        site.sign_addresses();
        let port = site.registry.port();
        site.context.write(
            "netrc",
            format!("machine 127.0.0.1:{port} login user password {SECRET}\n"),
        );
        let target = site.elsewhere.url("/x");
        site.registry
            .misbehave(Misbehave::on(path).redirect(&target));
        let run = site.lock().env("TF_TOKEN_registry_terraform_io", SECRET);
        let outcome = run.env("NETRC", site.context.path("netrc")).run();
        assert_silent(&outcome, &site.context, path);
        let hits = site.elsewhere.log().hits();
        assert!(!hits.is_empty(), "{path}\n{outcome}");
        for hit in hits {
            let text = format!("{:?}", hit.request);
            assert!(
                !text.contains(SECRET) && !text.contains("uthorization"),
                "{path}: {text}"
            );
        }
    }
}
