//! An index that fails costs a few seconds and one warning, and never changes a lock file.

use std::time::{Duration, Instant};

use tflock_test_support::{
    FakeRegistry, Identity, Misbehave, Program, ProviderSpec, Response, TestAuthority, TestContext,
    check_rows,
};

use super::{IndexFixture, LOCK, PLATFORMS, start, warnings};
use crate::TFLOCK;
use crate::unreachable::servers::{PROTOCOL_VERSION, respond_at_once, respond_with_tls};

/// Returns what the server of the index does, with the message and the maximum time of the run in seconds.
fn rows() -> Vec<(Misbehave, &'static str, u64)> {
    let on = || Misbehave::on("*");
    vec![
        (
            on().status(403),
            "let the server deliver records without credentials",
            4,
        ),
        (
            on().status(401),
            "let the server deliver records without credentials",
            4,
        ),
        (on().status(429), "the server responded with 429", 4),
        (on().status(429).retry_after("30"), "it is too slow", 7),
        (on().status(500), "the server responded with 500", 4),
        (on().redirect("/index/again"), "more than 9 redirects", 4),
        (
            on().redirect("http://index.test/"),
            "plain http is not allowed",
            4,
        ),
        (
            on().respond(Response::status(200).body(vec![b'x'; 10 << 20])),
            "larger than 131072 bytes",
            4,
        ),
        (on().html(), "it is not a signed note", 4),
        (on().raw("nonsense"), "", 4),
        (on().reset(), "", 4),
        (on().hang(), "it is too slow", 7),
        (
            on().respond(Response::status(200).body(vec![b'x'; 100]))
                .drip(1, Duration::from_secs(1)),
            "it is too slow",
            7,
        ),
    ]
}

/// Checks that the lock files are those of a run without an index, and resets the log of requests.
fn assert_unchanged(fixture: &IndexFixture) {
    let downloads = fixture.downloads();
    let written = ["a", "b"].map(|directory| fixture.context.lock_file(directory));
    for directory in ["a", "b"] {
        fixture.context.remove_lock_file(directory);
    }
    let plain = fixture.context.run(&format!("{LOCK} a b"));
    plain.expect_success();
    let expected = ["a", "b"].map(|directory| fixture.context.lock_file(directory));
    assert_eq!(written, expected);
    assert_eq!(downloads, PLATFORMS.len());
}

#[test]
fn a_failing_index_costs_a_few_seconds_and_one_warning() {
    check_rows(rows(), |(rule, message, seconds)| {
        let fixture = start();
        let server = FakeRegistry::start();
        server.misbehave(rule);
        let begin = Instant::now();
        let line = format!("{LOCK} a b --index {}", server.url("/index"));
        let outcome = fixture.command(&line).run().expect_success();
        let elapsed = begin.elapsed();
        assert_unchanged(&fixture);
        assert!(
            elapsed < Duration::from_secs(seconds + 4),
            "{elapsed:?}\n{outcome}"
        );
        assert_eq!(warnings(&outcome), 1, "{message}\n{outcome}");
        outcome.assert_stderr("cannot read the hash index");
        outcome.assert_stderr(message);
    });
}

/// Each redirect leads to the next one, so that no address is requested twice. Object stores send no redirects.
#[test]
fn few_of_ten_thousand_redirects_are_followed() {
    let server = FakeRegistry::start();
    for number in 0..10_000 {
        let rule = Misbehave::on(&format!("/chain/{number}/*"));
        server.misbehave(rule.redirect(&format!("/chain/{}/record", number + 1)));
    }
    let fixture = start();
    let web = format!(" --index {}", server.url("/chain/0"));
    let rows = [
        (web.as_str(), 10, "more than 9 redirects"),
        ("", 1, "the server responded with 302"),
    ];
    for (index, requests, message) in rows {
        let command = fixture.command(&format!("{LOCK} a b{index}"));
        let command = command
            .env("TFLOCK_INDEX", "s3://chain/0")
            .env("AWS_ENDPOINT_URL", server.url(""))
            .env("AWS_SKIP_SIGNATURE", "true");
        let outcome = command.run().expect_success();
        assert_unchanged(&fixture);
        assert_eq!(warnings(&outcome), 1, "{outcome}");
        outcome.assert_stderr(message);
        let total = server.log().total();
        assert_eq!(total, requests * PLATFORMS.len(), "{outcome}");
        server.log().clear();
        fixture.registry.log().clear();
    }
}

/// Returns the command with an index in the bucket `none` of a cloud whose endpoint is `server`.
fn in_bucket(command: Program, scheme: &str, server: &FakeRegistry) -> Program {
    command
        .env("TFLOCK_INDEX", format!("{scheme}://none"))
        .env("AWS_ENDPOINT_URL", server.url(""))
        .env("AWS_SKIP_SIGNATURE", "true")
        .env("STORAGE_EMULATOR_HOST", server.url(""))
        .env("AZURE_STORAGE_ENDPOINT", server.url("/account"))
        .env("AZURE_STORAGE_ACCOUNT_NAME", "account")
        .env("AZURE_SKIP_SIGNATURE", "true")
}

/// The clients of the clouds have no retries and time limits of their own.
#[test]
fn a_failing_bucket_costs_a_few_seconds_and_one_warning() {
    let on = || Misbehave::on("*");
    let body = |bytes| Response::status(200).body(vec![b'x'; bytes]);
    let mut rows = Vec::new();
    for scheme in ["s3", "gs", "az"] {
        rows.extend([
            (
                scheme,
                on().status(403),
                "set credentials that may use the index",
            ),
            (scheme, on().status(429), "responded with 429"),
            (
                scheme,
                on().status(429).retry_after("30"),
                "responded with 429",
            ),
            (scheme, on().status(500), "responded with 500"),
            (scheme, on().respond(body(10 << 20)), "larger than"),
            (scheme, on().html(), ""),
            (scheme, on().reset(), ""),
            (scheme, on().hang(), "it is too slow"),
            (
                scheme,
                on().respond(body(100)).drip(1, Duration::from_secs(1)),
                "it is too slow",
            ),
        ]);
    }
    check_rows(rows, |(scheme, rule, message)| {
        let fixture = start();
        let server = FakeRegistry::start();
        server.misbehave(rule);
        let begin = Instant::now();
        let command = fixture.command(&format!("{LOCK} a b"));
        let outcome = in_bucket(command, scheme, &server).run().expect_success();
        let elapsed = begin.elapsed();
        assert_unchanged(&fixture);
        assert!(elapsed < Duration::from_secs(11), "{elapsed:?}\n{outcome}");
        assert_eq!(warnings(&outcome), 1, "{scheme} {message}\n{outcome}");
        outcome.assert_stderr(&format!("cannot read the hash index `{scheme}://none`"));
        outcome.assert_stderr(message);
    });
}

/// Otherwise, a wrong name in the address would look like an index without records.
#[test]
fn a_bucket_that_does_not_exist_is_a_failure() {
    let rows = [
        ("s3", "NoSuchBucket"),
        ("gs", "NoSuchBucket"),
        ("az", "ContainerNotFound"),
    ];
    check_rows(rows, |(scheme, code)| {
        let fixture = start();
        let server = FakeRegistry::start();
        let body = format!("<Error><Code>{code}</Code></Error>");
        let missing = Response::status(404).body(body);
        server.misbehave(Misbehave::on("*").respond(missing));
        let run = |line: &str| in_bucket(fixture.command(line), scheme, &server).run();
        let outcome = run(&format!("{LOCK} a b")).expect_success();
        assert_unchanged(&fixture);
        assert_eq!(warnings(&outcome), 1, "{outcome}");
        outcome.assert_stderr("the bucket or container does not exist");
        let outcome = run("index info").expect_code(1);
        let message = "the bucket or container does not exist";
        assert_eq!(outcome.stderr.matches(message).count(), 1, "{outcome}");
    });
}

#[test]
fn json_lists_the_warnings() {
    let rows = [
        (
            "lock",
            "--index-push",
            "cannot read the hash index `s3://fleet`",
        ),
        (
            "verify",
            "--index-push",
            "cannot read the hash index `s3://fleet`",
        ),
        (
            "mirror --lock ../mirror",
            "--index-push",
            "cannot write to the hash index `s3://fleet`",
        ),
        (
            "lock",
            "",
            "the hash index was not read, because no key is trusted",
        ),
    ];
    check_rows(rows, |(command, option, message)| {
        let fixture = start();
        fixture.context.run(&format!("{LOCK} a")).expect_success();
        let platforms = PLATFORMS.join(",");
        let line = format!("{command} --format json --platform {platforms} {option} a");
        let command = fixture.command(&line).env("TFLOCK_INDEX", "s3://fleet");
        let command = command.env("AWS_ENDPOINT_URL", "http://127.0.0.1:1");
        let command = command.env("AWS_SKIP_SIGNATURE", "true");
        let command = if option.is_empty() {
            command.env_remove("TFLOCK_INDEX_KEYS")
        } else {
            command.env("TFLOCK_INDEX_SIGNING_KEY", fixture.signer.secret_text())
        };
        let outcome = command.run().expect_success();
        let warning = outcome.json()["diagnostics"][0].clone();
        let text = warning["message"].as_str().unwrap_or_default();
        assert!(text.starts_with(message), "{outcome}");
        assert_eq!(warning["severity"], "warning");
        assert_eq!(warning["code"], "index");
        assert_eq!(warnings(&outcome), 1, "{outcome}");
    });
}

#[test]
fn an_index_without_records_is_no_failure() {
    let fixture = start();
    let server = FakeRegistry::start();
    let line = format!("{LOCK} a --index {}", server.url("/index"));
    let outcome = fixture.command(&line).run().expect_success();
    assert_eq!(
        (fixture.downloads(), warnings(&outcome)),
        (2, 0),
        "{outcome}"
    );
}

#[test]
fn unreachable_servers_and_unknown_hosts_are_failures() {
    let rows = [
        ("http://127.0.0.1:1/", "cannot connect"),
        ("https://index.invalid/", "cannot connect"),
        ("https://127.0.0.1:1/", "cannot connect"),
    ];
    check_rows(rows, |(address, message)| {
        let fixture = start();
        let line = format!("{LOCK} a b --index {address}");
        let outcome = fixture.command(&line).run().expect_success();
        assert_unchanged(&fixture);
        assert_eq!(warnings(&outcome), 1, "{outcome}");
        outcome.assert_stderr(message);
    });
}

#[test]
fn servers_without_an_acceptable_certificate_are_failures() {
    let authority = TestAuthority::create();
    let tls = |authority: &TestAuthority, identity: &Identity| {
        respond_with_tls(authority.server_config_for(identity))
    };
    let localhost = || Identity::named("localhost");
    let expired = localhost().valid((2020, 1, 2), (2021, 3, 4));
    let rows = [
        (tls(&TestAuthority::create(), &localhost()), "not trust"),
        (tls(&authority, &expired), "expired"),
        (tls(&authority, &Identity::named("one.test")), "one.test"),
        (FakeRegistry::start().port(), ""),
        (respond_at_once(PROTOCOL_VERSION), ""),
    ];
    check_rows(rows, |(port, message)| {
        let fixture = start();
        let line = format!("{LOCK} a b --index https://localhost:{port}/");
        let command = fixture.command(&line);
        let command = command.env("SSL_CERT_FILE", authority.certificate_file());
        let outcome = command.run().expect_success();
        assert_unchanged(&fixture);
        assert_eq!(warnings(&outcome), 1, "{outcome}");
        outcome.assert_stderr(message);
    });
}

/// Four indexes with a time limit of 4 s each: the limit of 10 s for the whole run applies.
#[test]
fn several_indexes_that_hang_cost_ten_seconds_together() {
    let fixture = start();
    let hanging = || {
        let server = FakeRegistry::start();
        server.misbehave(Misbehave::on("*").hang());
        server
    };
    let servers = [hanging(), hanging(), hanging(), hanging()];
    let index = |server: &FakeRegistry| format!(" --index {}", server.url("/"));
    let line = format!(
        "{LOCK} a b{}",
        servers.iter().map(index).collect::<String>()
    );
    let begin = Instant::now();
    let outcome = fixture.command(&line).run().expect_success();
    let elapsed = begin.elapsed();
    assert!(elapsed < Duration::from_secs(14), "{elapsed:?}\n{outcome}");
    assert_unchanged(&fixture);
    assert_eq!(warnings(&outcome), servers.len(), "{outcome}");
}

/// All reads succeed, so only the failed writes can stop the run.
#[test]
fn filling_without_the_permission_to_write_downloads_few_packages() {
    const VERSIONS: u32 = 40;
    const JOBS: usize = 2;
    /// The failures after which the index is not used again.
    const FAILURES: usize = 5;
    let versions: Vec<String> = (0..VERSIONS).map(|minor| format!("1.{minor}.0")).collect();
    let spec = ProviderSpec::new("acme/anvil").platforms(PLATFORMS);
    let registry = FakeRegistry::with(spec.versions(versions.iter().map(String::as_str)));
    let context = TestContext::new(TFLOCK, &registry);
    let fixture = IndexFixture {
        registry,
        context,
        ..start()
    };
    let bucket = FakeRegistry::start();
    bucket.misbehave(Misbehave::on("*").method("PUT").status(403));
    let command = fixture
        .command(&format!("index fill --jobs {JOBS} acme/anvil@~>1.0"))
        .env("TFLOCK_INDEX_SIGNING_KEY", fixture.signer.secret_text());
    let outcome = in_bucket(command, "s3", &bucket).run().expect_code(1);
    outcome.assert_stdout("80 packages: 80 failed;");
    let message =
        "cannot write to the hash index `s3://none`\n  caused by: the server responded with 403";
    assert_eq!(outcome.stderr.matches(message).count(), 1, "{outcome}");
    outcome.assert_stderr("hint: set credentials that may write to the index");
    let downloads = fixture.downloads();
    assert!(
        (1..=FAILURES + 2 * JOBS).contains(&downloads),
        "{downloads}"
    );
}
