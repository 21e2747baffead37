//! tflock never prints, logs or stores tokens, passwords and signed URLs, whether a run succeeds or fails. It sends
//! them only to the intended host.

use std::fs;
use std::path::Path;

use tflock_test_support::{
    FakeRegistry, Misbehave, Outcome, Program, ProviderSpec, TestContext, check_rows, table,
};

use crate::TFLOCK;

/// The secret that all tests use.
const SECRET: &str = "XSECRETX";

const DOWNLOAD: &str = "/registry.terraform.io/v1/providers/acme/anvil/1.0.0/download/linux/amd64";

/// A registry, a second host, and a tree with one root module. All requests go to loopback, where logging at `trace`
/// shows the most.
struct SecretsSite {
    registry: FakeRegistry,
    elsewhere: FakeRegistry,
    context: TestContext,
}

impl SecretsSite {
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

    /// Writes a password for the registry to `netrc`.
    fn write_netrc(&self) {
        let port = self.registry.port();
        let text = format!("machine 127.0.0.1:{port} login user password {SECRET}\n");
        self.context.write("netrc", text);
    }

    /// Adds text to the CLI configuration.
    fn configure(&self, text: &str) {
        let config = self.registry.cli_config();
        self.context.set_cli_config(&format!("{config}\n{text}\n"));
    }

    /// Adds a password, a query and a fragment to the URLs of the package, its checksum list and its signature.
    fn sign_addresses(&self) {
        self.registry.change_json(DOWNLOAD, |description| {
            for name in ["download_url", "shasums_url", "shasums_signature_url"] {
                let address = description[name].as_str().unwrap();
                let address = address.replace("http://", &format!("http://user:{SECRET}@"));
                description[name] = format!("{address}?X-Signature={SECRET}#{SECRET}").into();
            }
        });
    }
}

fn assert_silent(outcome: &Outcome, context: &TestContext, name: &str) {
    // The second text is Base64 of `user:XSECRETX`, as in basic authentication.
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
    let mut paths = fs::read_dir(directory).into_iter().flatten();
    paths.any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return is_in_files(&path, text);
        }
        String::from_utf8_lossy(&fs::read(&path).unwrap()).contains(text)
    })
}

/// The columns: the name of a fault and its rule.
const FAULTS: &str = "
    nothing is wrong | times=0
    401              | status=401
    403              | status=403
    404              | status=404
    503              | status=503
    web page         | html
    reset            | reset
    cut              | cut=3 no_ranges
    redirect         | redirect=http://user:XSECRETX@127.0.0.1:1/x?sig=XSECRETX
";

#[test]
fn tokens_are_shown_nowhere() {
    check_rows(table(FAULTS), |[name, rule]| {
        let site = SecretsSite::start();
        site.registry
            .misbehave(Misbehave::on("*/versions").rule(rule));
        let run = site.lock().env("TF_TOKEN_registry_terraform_io", SECRET);
        let outcome = run.run();
        assert_silent(&outcome, &site.context, name);
        if name != "reset" {
            outcome.assert_stderr("answered");
        }
        let block = format!("credentials \"registry.terraform.io\" {{ token = \"{SECRET}\" }}");
        site.configure(&block);
        assert_silent(&site.lock().run(), &site.context, name);
    });
}

#[test]
fn signed_addresses_are_shown_nowhere() {
    check_rows(table(FAULTS), |[name, rule]| {
        for document in ["*_SHA256SUMS", "*.zip"] {
            let site = SecretsSite::start();
            site.sign_addresses();
            site.registry.misbehave(Misbehave::on(document).rule(rule));
            let outcome = site.lock().run();
            assert_silent(&outcome, &site.context, &format!("{name} {document}"));
        }
    });
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
    check_rows(broken, |text| {
        for options in [&["--source", "registry"], &["--source", "config"]] {
            let site = SecretsSite::start();
            site.configure(text);
            let outcome = site.lock().args(options).run();
            assert_silent(&outcome, &site.context, text);
        }
    });
}

#[test]
fn passwords_in_the_environment_are_shown_nowhere() {
    for (variable, value) in [
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
    ] {
        let site = SecretsSite::start();
        let outcome = site.lock().env(variable, value).run();
        assert_silent(&outcome, &site.context, &format!("{variable}={value}"));
    }
    let site = SecretsSite::start();
    for (scheme, code) in [("https", 1), ("http", 2)] {
        let mirror = format!("{scheme}://user:XSECRETX@127.0.0.1:1/mirror/?key=XSECRETX");
        let outcome = site.lock().args(["--net-mirror", &mirror]).run();
        assert_silent(&outcome.expect_code(code), &site.context, &mirror);
    }
}

#[test]
fn netrc_is_shown_nowhere() {
    check_rows(table(FAULTS), |[name, rule]| {
        let site = SecretsSite::start();
        site.write_netrc();
        site.registry.misbehave(Misbehave::on("*.zip").rule(rule));
        let outcome = site.lock().env("NETRC", site.context.path("netrc")).run();
        assert_silent(&outcome, &site.context, name);
    });
    let site = SecretsSite::start();
    let malformed = format!("machine x login user password {SECRET} {SECRET} nonsense\n");
    site.context.write("netrc", malformed);
    let outcome = site.lock().env("NETRC", site.context.path("netrc")).run();
    assert_silent(&outcome, &site.context, "malformed");
}

/// If a kind of request is redirected to another host, that host receives no secret.
#[test]
fn other_hosts_are_sent_no_secret() {
    for path in "*/versions */download/* *_SHA256SUMS *.sig *.zip".split(' ') {
        let site = SecretsSite::start();
        site.sign_addresses();
        site.write_netrc();
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
            for part in [SECRET, "uthorization"] {
                assert!(!text.contains(part), "{path}: {text}");
            }
        }
    }
}
