//! An index that fails costs a few seconds and one warning, and never changes a lock file.

use std::time::{Duration, Instant};

use tflock_test_support::{FakeRegistry, Misbehave, Response, check_rows};

use super::{LOCK, start, warnings};

/// Returns what the server of the index does, with the message and the maximum time of the run in seconds.
fn rows() -> Vec<(Misbehave, &'static str, u64)> {
    let on = || Misbehave::on("*");
    vec![
        (on().status(403), "the server responded with 403", 4),
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
        assert!(
            elapsed < Duration::from_secs(seconds + 4),
            "{elapsed:?}\n{outcome}"
        );
        assert_eq!(
            (fixture.downloads(), warnings(&outcome)),
            (2, 1),
            "{message}\n{outcome}"
        );
        outcome.assert_stderr("cannot read the hash index");
        outcome.assert_stderr(message);
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
    for address in [
        "http://127.0.0.1:1/",
        "https://index.invalid/",
        "https://127.0.0.1:1/",
    ] {
        let fixture = start();
        let outcome = fixture
            .command(&format!("{LOCK} a --index {address}"))
            .run()
            .expect_success();
        assert_eq!(
            (fixture.downloads(), warnings(&outcome)),
            (2, 1),
            "{outcome}"
        );
    }
}
