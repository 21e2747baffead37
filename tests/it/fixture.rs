//! Checks the test registry itself: what it responds, and that the real tools accept it.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use tflock_test_support::{
    FakeRegistry, GpgHome, Misbehave, ProviderSpec, TestAuthority, TestContext, TestSigner,
};

use crate::TFLOCK;

/// Sends one request and returns the response as text. The connection is closed afterwards.
fn ask(registry: &FakeRegistry, path: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", registry.port())).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: h\r\n{headers}\r\n").unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    // A broken connection may be reported as an error.
    drop(stream.read_to_end(&mut answer));
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn responses_are_complete_partial_or_faulty() {
    let registry = FakeRegistry::start();
    registry.serve("/doc", tflock_test_support::Document::octets("0123456789"));

    assert!(ask(&registry, "/doc", "").ends_with("Content-Length: 10\r\n\r\n0123456789"));
    let part = ask(&registry, "/doc", "Range: bytes=7-\r\n");
    assert!(
        part.starts_with("HTTP/1.1 206")
            && part.contains("bytes 7-9/10")
            && part.ends_with("\n789")
    );
    assert!(ask(&registry, "/doc", "Range: bytes=10-\r\n").starts_with("HTTP/1.1 416"));
    assert!(ask(&registry, "/none", "").starts_with("HTTP/1.1 404"));

    let rules = [
        (
            Misbehave::on("/doc").cut(4),
            "Content-Length: 10\r\n\r\n0123",
        ),
        (
            Misbehave::on("/doc").chunked(),
            "chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n",
        ),
        (
            Misbehave::on("/doc").content_length(12),
            "Content-Length: 12\r\n\r\n0123456789",
        ),
        (Misbehave::on("/d*").flip(0), "\r\n\r\n1123456789"),
        (
            Misbehave::on("*").status(503).retry_after("7"),
            "status 503\n",
        ),
        (Misbehave::on("/doc").reset(), ""),
    ];
    for (rule, end) in rules {
        registry.misbehave(rule.times(1));
        assert!(ask(&registry, "/doc", "").ends_with(end), "{end}");
    }
    assert_eq!(registry.log().count("GET", "/doc"), 9);
}

#[test]
fn terraform_locks_and_installs_from_it() {
    let mut registry = FakeRegistry::start();
    registry.publish(ProviderSpec::new("acme/anvil").versions(["1.0.0", "1.1.0"]));
    registry.publish(
        ProviderSpec::new("bücher.example:8443/acme/bolt").signed_by(&TestSigner::generated(1)),
    );
    let mut required = vec![
        ("acme/anvil", "~> 1.0"),
        ("bücher.example:8443/acme/bolt", ""),
    ];
    if let Some(gpg) = GpgHome::create() {
        registry.publish(ProviderSpec::new("acme/rivet").signed_by(&gpg.key("ed25519", "0")));
        required.push(("acme/rivet", ""));
    }
    let context = TestContext::new(TFLOCK, &registry);
    context.require(".", &required);
    let lock = [
        "providers",
        "lock",
        "-platform=linux_amd64",
        "-platform=windows_amd64",
    ];
    let Some(terraform) = context.terraform(".", lock) else {
        return;
    };
    terraform.run().expect_success();

    let written = context.lock_file(".").unwrap();
    for template in [
        "{h1:acme/anvil:1.1.0:linux_amd64}",
        "{h1:acme/anvil:1.1.0:windows_amd64}",
        "{zh:acme/anvil:1.1.0:darwin_arm64}",
        "{zh:manifest}",
        "{h1:acme/bolt:1.0.0:linux_amd64}",
    ] {
        assert!(
            written.contains(&registry.fill(template)),
            "{template}\n{written}"
        );
    }
    context
        .terraform(".", ["init"])
        .unwrap()
        .run()
        .expect_success();
    assert_eq!(context.lock_file(".").unwrap(), written);
}

#[test]
fn terraform_discovers_services_over_tls() {
    let mut registry = FakeRegistry::start();
    let authority = TestAuthority::create();
    let host = registry.serve_tls(&authority);
    registry.publish(ProviderSpec::new("acme/anvil").hosts([host.as_str()]));
    let context = TestContext::new(TFLOCK, &registry);
    context.require(".", &[(&format!("{host}/acme/anvil"), "")]);
    let lock = ["providers", "lock", "-platform=linux_amd64"];
    let Some(terraform) = context.terraform(".", lock) else {
        return;
    };
    terraform
        .env("SSL_CERT_FILE", authority.certificate_file())
        .run()
        .expect_success();
    assert_eq!(
        registry.log().count("GET", "/.well-known/terraform.json"),
        1
    );
    assert!(
        context
            .lock_file(".")
            .unwrap()
            .contains(&format!("\"{host}/acme/anvil\""))
    );
}
