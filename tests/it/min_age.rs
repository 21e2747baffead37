//! `--min-age`: the versions that an upgrade skips.

use tflock_test_support::{FakeRegistry, Misbehave, Outcome, ProviderSpec, TestContext, table};

use crate::TFLOCK;

const OPENTOFU: &str = "registry.opentofu.org";

/// Returns a provider whose versions 1.0.0 and 1.1.0 are old, 1.2.0 was signed ten days ago and 2.0.0 three days ago.
fn spec(source: &str) -> ProviderSpec {
    let mut spec = ProviderSpec::new(source).versions(["1.0.0", "1.1.0", "1.2.0", "2.0.0"]);
    for (version, days) in [("1.0.0", 400), ("1.1.0", 300), ("1.2.0", 10), ("2.0.0", 3)] {
        spec = spec.signed_days_ago(version, days);
    }
    spec
}

fn start(spec: &ProviderSpec, constraint: &str) -> (FakeRegistry, TestContext) {
    let registry = FakeRegistry::with(spec);
    let context = TestContext::new(TFLOCK, &registry);
    context.require("a", &[("acme/anvil", constraint)]);
    (registry, context)
}

fn lock(context: &TestContext, options: &str) -> Outcome {
    context.run(&format!("lock --platform linux_amd64 a {options}"))
}

fn version(context: &TestContext) -> String {
    let text = context.lock_file("a").unwrap_or_default();
    let mut lines = text.lines().map(str::trim_start);
    let line = lines.find(|line| line.starts_with("version "));
    let version = line.and_then(|line| line.split('"').nth(1));
    version.unwrap_or("none").to_owned()
}

#[test]
fn recent_versions_are_skipped_and_no_version_is_downgraded() {
    for [locked, options, expected, message] in table(
        "
        1.0.0 | --upgrade                               | 2.0.0 |
        1.0.0 | --upgrade --min-age 3                   | 2.0.0 |
        1.0.0 | --upgrade --min-age 4                   | 1.2.0 | 2.0.0: signed less than 4 days ago
        1.0.0 | --upgrade --min-age 30                  | 1.1.0 | 2.0.0, 1.2.0: signed less than 30 days ago
        1.0.0 | --upgrade --min-age 1000                | 1.0.0 | 2.0.0, 1.2.0, 1.1.0: signed
        1.2.0 | --upgrade --min-age 30                  | 1.2.0 | 2.0.0: signed
        1.0.0 | --upgrade=acme/anvil@2.0.0 --min-age 30 | 2.0.0 |
        ",
    ) {
        let (_registry, context) = start(&spec("acme/anvil"), locked);
        lock(&context, "").expect_success();
        context.require("a", &[("acme/anvil", ">= 1.0.0")]);
        let outcome = lock(&context, options).expect_success();
        assert_eq!(version(&context), expected, "{options}");
        outcome.assert_stderr(message);
        assert_eq!(outcome.stderr.is_empty(), message.is_empty(), "{outcome}");
    }
}

#[test]
fn without_an_old_version_a_lock_fails_unless_one_is_locked() {
    let (_registry, context) = start(&spec("acme/anvil"), "~> 2.0");
    let outcome = lock(&context, "--upgrade --min-age 30").expect_code(1);
    for part in [
        "no version that its constraints allow is known to have been published at least 30 days ago; the newest one is 2.0.0",
        "hint: use `--upgrade=ADDR@2.0.0` to select that version regardless of its age",
    ] {
        outcome.assert_stderr(part);
    }
    lock(&context, "--min-age 30").expect_code(2);
}

/// OpenTofu's registry has no keys for many providers. Their age is determined from the date of the checksum list.
#[test]
fn unsigned_lists_have_the_date_that_their_server_gives() {
    let unknown = "is known to have been published at least 30 days ago";
    for (modified, expected, message) in [
        (Some("Mon, 01 Jan 2024 00:00:00 GMT"), "2.0.0", ""),
        (Some("Fri, 01 Jan 2100 00:00:00 GMT"), "none", unknown),
        (None, "none", unknown),
    ] {
        let spec = spec("acme/anvil").hosts([OPENTOFU]).advertised([]);
        let (registry, context) = start(&spec, "");
        if let Some(date) = modified {
            registry.misbehave(Misbehave::on("*SHA256SUMS").header("Last-Modified", date));
        }
        let outcome = lock(&context, "--engine tofu --upgrade --min-age 30");
        assert_eq!(version(&context), expected, "{modified:?}\n{outcome}");
        assert!(outcome.stderr.contains(message), "{modified:?}\n{outcome}");
    }
}

#[test]
fn an_unknown_age_is_reported() {
    let (registry, context) = start(&spec("acme/anvil"), "1.0.0");
    lock(&context, "").expect_success();
    context.require("a", &[("acme/anvil", ">= 1.0.0")]);
    registry.misbehave(Misbehave::on("*2.0.0*SHA256SUMS").status(404));
    let outcome = lock(&context, "--upgrade --min-age 1").expect_success();
    assert_eq!(version(&context), "1.2.0");
    let message = "2.0.0: its age is unknown because its checksum list cannot be downloaded";
    outcome.assert_stderr(message);
}
