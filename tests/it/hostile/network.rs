//! Passwords and proxies: secrets are sent only where the user allows it.

use tflock_test_support::{FakeRegistry, ProviderSpec, TestContext};

use crate::TFLOCK;

const DOWNLOAD: &str = "/registry.terraform.io/v1/providers/acme/anvil/1.0.0/download/linux/amd64";

/// A secret that must be neither sent nor shown.
const SECRET: &str = "XSECRETX";

fn site() -> (FakeRegistry, TestContext) {
    let registry = FakeRegistry::with(ProviderSpec::new("acme/anvil").platforms(["linux_amd64"]));
    let context = TestContext::new(TFLOCK, &registry);
    context.write(".git/HEAD", "");
    context.require("a", &[("acme/anvil", "")]);
    (registry, context)
}

fn lock(context: &TestContext) -> tflock_test_support::Program {
    let arguments = "lock -r . --no-cache --platform linux_amd64";
    context
        .command(arguments)
        .env("TF_PROVIDER_DOWNLOAD_RETRY", "1")
        .env("TF_REGISTRY_DISCOVERY_RETRY", "1")
}

/// The registry or a module chooses the URL, and anyone on the network can read plain http. In this test, a proxy
/// receives every request for `plain.test` and can see what was sent.
#[test]
fn a_netrc_password_never_goes_over_plain_http() {
    let netrc = format!("machine plain.test login user password {SECRET}\n");
    for kind in ["package", "redirect", "module"] {
        let (registry, context) = site();
        let proxy = FakeRegistry::start();
        context.write("netrc", &netrc);
        match kind {
            "package" => {
                registry.change_json(DOWNLOAD, |description| {
                    description["download_url"] = "http://plain.test/x.zip".into();
                });
            }
            "redirect" => {
                let rule = tflock_test_support::Misbehave::on("*.zip");
                registry.misbehave(rule.redirect("http://plain.test/x.zip"));
            }
            _ => {
                let call = "module \"m\" {\n  source = \"http://plain.test/x.zip?checksum=sha256:0000000000000000000000000000000000000000000000000000000000000000\"\n}\n";
                context.write("a/main.tf", call);
            }
        }
        let run = lock(&context).env("NETRC", context.path("netrc"));
        let outcome = run.env("HTTP_PROXY", proxy.url("")).run().expect_code(1);
        let hits = proxy.log().hits();
        assert!(!hits.is_empty(), "{kind}\n{outcome}");
        for hit in hits {
            let sent = hit.request.header("authorization");
            assert_eq!(sent, None, "{kind}: {:?}", hit.request);
        }
    }
}

/// Loopback is an exception, because its traffic stays on this machine.
#[test]
fn a_netrc_password_goes_to_loopback() {
    let (registry, context) = site();
    let netrc = format!("machine 127.0.0.1:{} login u password p\n", registry.port());
    context.write("netrc", netrc);
    let outcome = lock(&context)
        .env("NETRC", context.path("netrc"))
        .run()
        .expect_success();
    let hits = registry.log().hits();
    let mut packages = hits.iter().filter(|hit| hit.request.path.contains(".zip"));
    let sent = packages.next().unwrap().request.header("authorization");
    assert_eq!(sent, Some("Basic dTpw"), "{outcome}");
}

#[test]
fn an_unreadable_netrc_is_one_warning() {
    type Make = fn(&TestContext);
    let rows: [(&str, Make, usize); 7] = [
        ("missing", |_| (), 0),
        (
            "directory",
            |context| std::fs::create_dir(context.path("netrc")).unwrap(),
            1,
        ),
        ("not UTF-8", |context| write(context, b"machine \xff"), 1),
        (
            "malformed",
            |context| write(context, b"machine x XSECRETX"),
            1,
        ),
        ("pipe", pipe, usize::from(cfg!(unix))),
        ("denied", deny, usize::from(cfg!(unix))),
        (
            "fine",
            |context| write(context, b"machine x login u password p"),
            0,
        ),
    ];
    for (name, make, expected) in rows {
        let (mut registry, context) = site();
        registry.publish(ProviderSpec::new("acme/bolt").platforms(["linux_amd64"]));
        // Several packages under the rules of both engines.
        context.require("b", &[("acme/bolt", "")]);
        context.write("b/.terraform-version", "1.9.0\n");
        make(&context);
        if name == "denied" && std::fs::read(context.path("netrc")).is_ok() {
            // Root can read every file.
            continue;
        }
        let outcome = lock(&context).env("NETRC", context.path("netrc")).run();
        let outcome = outcome.expect_success();
        let found = outcome
            .stderr
            .matches("warning: cannot read credentials from")
            .count();
        assert_eq!(found, expected, "{name}\n{outcome}");
        assert!(!outcome.stderr.contains(SECRET), "{name}\n{outcome}");
    }
    #[cfg(unix)]
    {
        let (_registry, context) = site();
        let outcome = lock(&context)
            .env("NETRC", "/dev/null")
            .run()
            .expect_success();
        assert_eq!(outcome.stderr, "", "an empty file is valid");
    }
}

fn write(context: &TestContext, text: &[u8]) {
    context.write("netrc", text);
}

#[cfg(unix)]
fn pipe(context: &TestContext) {
    let made = std::process::Command::new("mkfifo")
        .arg(context.path("netrc"))
        .status();
    assert!(made.unwrap().success());
}

#[cfg(not(unix))]
fn pipe(_: &TestContext) {}

#[cfg(unix)]
fn deny(context: &TestContext) {
    use std::os::unix::fs::PermissionsExt as _;

    context.write("netrc", "");
    let none = std::fs::Permissions::from_mode(0o000);
    std::fs::set_permissions(context.path("netrc"), none).unwrap();
}

#[cfg(not(unix))]
fn deny(_: &TestContext) {}

#[test]
fn a_proxy_that_cannot_be_read_is_an_error() {
    let rows = [
        ("HTTPS_PROXY", "http://["),
        ("https_proxy", "socks6://user:XSECRETX@x"),
        ("HTTPS_PROXY", "http://user:XSECRETX@proxy.test:99999"),
        ("HTTPS_PROXY", "http://user:XSECRETX @proxy.test"),
        ("HTTPS_PROXY", " http://127.0.0.1:1"),
        ("ALL_PROXY", "http://proxy test"),
        ("all_proxy", "XSECRETX://proxy.test"),
        ("HTTPS_PROXY", "/nowhere"),
    ];
    for (variable, value) in rows {
        let (_registry, context) = site();
        context.require("a", &[("secure.invalid/acme/anvil", "")]);
        let outcome = lock(&context).env(variable, value).run().expect_code(1);
        let expected = format!("invalid proxy address in `{variable}`");
        assert!(
            outcome.stderr.contains(&expected),
            "{variable}={value}\n{outcome}"
        );
        let text = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(!text.contains(SECRET), "{variable}={value}\n{outcome}");
    }
}

/// The proxy variables are not read for requests that never use a proxy, nor in runs without requests.
#[test]
fn a_proxy_that_is_not_needed_is_not_read() {
    let (_registry, context) = site();
    let broken = |arguments: &[&str]| {
        let program = context.tflock(arguments.iter().copied());
        program
            .env("HTTPS_PROXY", "http://[")
            .env("HTTP_PROXY", "socks6://x")
            .run()
    };
    let lock = ["lock", "a", "--platform", "linux_amd64"];
    broken(&lock).expect_success();
    broken(&["lock", "a", "--platform", "linux_amd64", "--offline"]).expect_success();
    context.require("a", &[("secure.invalid/acme/anvil", "")]);
    let direct = context
        .tflock(lock)
        .env("HTTPS_PROXY", "http://[")
        .env("NO_PROXY", "secure.invalid");
    let outcome = direct
        .env("TF_REGISTRY_DISCOVERY_RETRY", "1")
        .run()
        .expect_code(1);
    assert!(!outcome.stderr.contains("of a proxy"), "{outcome}");
}
