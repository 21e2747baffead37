//! What a registry may answer, and what becomes of it: the rows of status, redirect, retry and answer rules, each tried on
//! tflock and, where it is on PATH, on Terraform.

use std::io::Write as _;

use tflock_test_support::{FakeRegistry, Misbehave, ProviderSpec, TestContext, terraform_on_path};

use crate::TFLOCK;

/// How a row ends.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Ending {
    /// Both lock.
    Locked,
    /// Both fail.
    Refused,
    /// Terraform gives up at once, tflock tries again or resumes: what arrives is verified all the same.
    OnlyTflock,
}

use Ending::{Locked, OnlyTflock, Refused};

const VERSIONS: &str = "*/acme/anvil/versions";
const DOWNLOAD: &str = "*/download/linux/amd64";
const SUMS: &str = "*_SHA256SUMS";
const SIGNATURE: &str = "*_SHA256SUMS.sig";
const PACKAGE: &str = "*_linux_amd64.zip";

/// Statuses, redirects and retries of every kind of request.
fn statuses(registry: &FakeRegistry) -> Vec<(&'static str, Misbehave, Ending)> {
    let on = Misbehave::on;
    let moved = |path: &str| registry.url(&format!("/registry.terraform.io/{path}"));
    let list = moved("v1/providers/acme/anvil/versions");
    vec![
        ("versions 404", on(VERSIONS).status(404), Refused),
        ("versions 401", on(VERSIONS).status(401), Refused),
        ("versions 204", on(VERSIONS).status(204), Refused),
        (
            "versions 501 once",
            on(VERSIONS).status(501).times(1),
            Refused,
        ),
        (
            "versions 503 once",
            on(VERSIONS).status(503).times(1),
            Locked,
        ),
        (
            "versions 429 once",
            on(VERSIONS).status(429).retry_after("1").times(1),
            Locked,
        ),
        ("versions reset once", on(VERSIONS).reset().times(1), Locked),
        (
            "versions redirected",
            on(VERSIONS).redirect(&list).times(1),
            Locked,
        ),
        (
            "versions redirected for ever",
            on(VERSIONS).redirect(&list),
            Refused,
        ),
        ("download 404", on(DOWNLOAD).status(404), Refused),
        ("download 403", on(DOWNLOAD).status(403), Refused),
        (
            "download 502 once",
            on(DOWNLOAD).status(502).times(1),
            Locked,
        ),
        ("list 404", on(SUMS).status(404), Refused),
        ("list 500 once", on(SUMS).status(500).times(1), Locked),
        ("list is a web page", on(SUMS).html(), Refused),
        ("signature 410", on(SIGNATURE).status(410), Refused),
        (
            "signature 504 once",
            on(SIGNATURE).status(504).times(1),
            Locked,
        ),
        ("package 404", on(PACKAGE).status(404), Refused),
        (
            "package 503 once",
            on(PACKAGE).method("GET").status(503).times(1),
            OnlyTflock,
        ),
        (
            "package cut once",
            on(PACKAGE).method("GET").cut(5000).times(1),
            OnlyTflock,
        ),
        (
            "package always cut",
            on(PACKAGE).method("GET").cut(5000).no_ranges(),
            Refused,
        ),
        ("package in chunks", on(PACKAGE).chunked(), Locked),
    ]
}

/// Answers that are not what they should be, or only look so.
fn answers() -> Vec<(&'static str, Misbehave, Ending)> {
    let on = Misbehave::on;
    let append = |text: &'static str| move |body: Vec<u8>| [&body, text.as_bytes()].concat();
    let prepend = |text: &'static str| move |body: Vec<u8>| [text.as_bytes(), &body].concat();
    let protocols = |list: &str| on(DOWNLOAD).replace("\"protocols\":[\"5.0\"]", list);
    vec![
        (
            "text after the versions",
            on(VERSIONS).rewrite(append(" and so on")),
            Locked,
        ),
        (
            "byte order mark",
            on(VERSIONS).rewrite(prepend("\u{feff}")),
            Refused,
        ),
        (
            "versions as a web page",
            on(VERSIONS).header("Content-Type", "text/html"),
            Locked,
        ),
        (
            "key in capitals",
            on(VERSIONS).replace("\"versions\"", "\"VERSIONS\""),
            Locked,
        ),
        (
            "no versions",
            on(VERSIONS).replace("\"versions\"", "\"other\""),
            Refused,
        ),
        (
            "other architecture",
            on(DOWNLOAD).replace("\"amd64\"", "\"arm64\""),
            Refused,
        ),
        ("no protocols", protocols("\"protocols\":[]"), Locked),
        (
            "protocol of the future",
            protocols("\"protocols\":[\"7.0\"]"),
            Refused,
        ),
        (
            "one protocol of two",
            protocols("\"protocols\":[\"4.0\",\"6.3\"]"),
            Locked,
        ),
        (
            "unreadable protocol",
            protocols("\"protocols\":[\"five\"]"),
            Refused,
        ),
        (
            "no keys",
            on(DOWNLOAD).replace("gpg_public_keys", "other_keys"),
            Refused,
        ),
        (
            "name not in the list",
            on(DOWNLOAD).replace("\"terraform-provider-", "\"./terraform-provider-"),
            Refused,
        ),
        ("list changed", on(SUMS).flip(0), Refused),
        ("signature changed", on(SIGNATURE).flip(40), Refused),
        ("package changed", on(PACKAGE).flip(40), Refused),
        (
            "package packed for the way",
            on(PACKAGE)
                .rewrite(|body| gzip(&body))
                .header("Content-Encoding", "gzip"),
            Locked,
        ),
    ]
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn answers_are_taken_as_terraform_takes_them() {
    let mut registry = FakeRegistry::start();
    registry.publish(
        ProviderSpec::new("acme/anvil")
            .platforms(["linux_amd64"])
            .payload(50_000),
    );
    let context = TestContext::new(TFLOCK, &registry);
    let with_terraform = terraform_on_path().is_some();
    let mut differences = Vec::new();
    let rows = statuses(&registry).into_iter().chain(answers());
    for (number, (name, rule, ending)) in rows.enumerate() {
        let directory = format!("{number}/tflock");
        let ours = under(&rule, &registry, || lock_with_tflock(&directory, &context));
        if ours.is_some() == (ending == Refused) {
            differences.push(format!(
                "{name}: expected {ending:?}, tflock wrote {ours:?}"
            ));
        }
        if with_terraform {
            let directory = format!("{number}/terraform");
            let theirs = under(&rule, &registry, || {
                lock_with_terraform(&directory, &context)
            });
            let expected = ours.filter(|_| ending == Locked);
            if theirs != expected {
                differences.push(format!("{name}: tflock {expected:?}, terraform {theirs:?}"));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Does something while a rule is in force.
fn under<T>(rule: &Misbehave, registry: &FakeRegistry, run: impl FnOnce() -> T) -> T {
    registry.misbehave(rule.clone());
    let result = run();
    registry.behave();
    result
}

fn lock_with_tflock(directory: &str, context: &TestContext) -> Option<String> {
    context.require(directory, &[("acme/anvil", "")]);
    context
        .tflock(["lock", "--no-cache", "--platform", "linux_amd64", directory])
        .run();
    context.lock_file(directory)
}

/// The lock file that Terraform wrote, if it did.
fn lock_with_terraform(directory: &str, context: &TestContext) -> Option<String> {
    context.require(directory, &[("acme/anvil", "")]);
    let lock = ["providers", "lock", "-platform=linux_amd64"];
    context
        .terraform(directory, lock)
        .expect("it was found")
        .run();
    context.lock_file(directory)
}
