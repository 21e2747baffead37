//! How often requests for documents are repeated, and when tflock stops sending requests to a host.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tflock::registry::{RegistryClient, positive};
use tflock::reporter::Reporter;
use tflock::span::Explain as _;
use tflock_test_support::{Document, FakeRegistry, Misbehave, assert_contains, assert_ends};

use super::{Waits, address, client, configured, connect, fits, list_versions, outcome, settings};

const LIST: &str = "/registry.terraform.io/v1/providers/acme/ledger/versions";

fn registry() -> FakeRegistry {
    let registry = FakeRegistry::start();
    registry.serve(
        LIST,
        Document::json(&json!({"versions": [{"version": "1.0.0"}]})),
    );
    registry
}

async fn ask(client: &RegistryClient) -> String {
    list_versions(client, "acme/ledger").await
}

#[tokio::test]
async fn the_setting_is_the_number_of_retries() {
    for (setting, requests) in [
        (None, 4),
        (Some("1"), 2),
        (Some("5"), 6),
        (Some("0"), 4),
        (Some("x"), 4),
    ] {
        let registry = registry();
        registry.misbehave(Misbehave::on(LIST).status(500));
        let mut settings = configured(&registry, &Waits::default());
        settings.retries = setting.and_then(positive);
        let found = ask(&client(settings)).await;
        assert_eq!(registry.log().count("GET", LIST), requests, "{setting:?}");
        assert!(found.contains(&format!("({requests} attempts")), "{found}");
    }
}

#[tokio::test]
async fn interrupted_responses_are_retried() {
    let rules = [
        Misbehave::on(LIST).reset(),
        Misbehave::on(LIST).cut(0),
        Misbehave::on(LIST).cut(5),
        Misbehave::on(LIST).content_length(5000),
        Misbehave::on(LIST).chunked().cut(5),
        Misbehave::on(LIST).status(429),
        Misbehave::on(LIST).status(503),
    ];
    for rule in rules {
        let registry = registry();
        registry.misbehave(rule.clone().times(3));
        assert_eq!(ask(&connect(&registry)).await, "ok", "{rule:?}");
        assert_eq!(registry.log().count("GET", LIST), 4, "{rule:?}");
    }
}

#[tokio::test]
async fn waits_double_and_servers_may_set_them() {
    let date = "Sat, 21 Nov 2020 12:00:00 GMT";
    let doubled = vec![1000..=1250, 2000..=2500, 4000..=5000];
    for (status, header, expected) in [
        (500, None, doubled.clone()),
        (429, Some("3"), vec![3000..=3000; 3]),
        (503, Some("0"), vec![0..=0; 3]),
        (503, Some(date), vec![0..=0; 3]),
        (503, Some("3600"), vec![60_000..=60_000; 3]),
        (500, Some("3"), doubled.clone()),
    ] {
        let mut rule = Misbehave::on(LIST).status(status);
        if let Some(header) = header {
            rule = rule.retry_after(header);
        }
        let registry = registry();
        registry.misbehave(rule);
        let waits = Waits::default();
        ask(&client(configured(&registry, &waits))).await;
        let found = waits.take();
        assert!(fits(&found, &expected), "{status} {header:?}: {found:?}");
    }
}

/// Records reported waits.
#[derive(Default)]
struct ReportedWaits(Mutex<Vec<String>>);

impl Reporter for ReportedWaits {
    fn waiting(&self, message: &str) {
        self.0.lock().unwrap().push(message.to_owned());
    }
}

/// Returns the client of a registry that responds with `status`, and the reporter of its waits.
fn overloaded(
    status: u16,
    retry_after: &str,
) -> (FakeRegistry, RegistryClient, Arc<ReportedWaits>) {
    let registry = registry();
    registry.misbehave(Misbehave::on("*").status(status).retry_after(retry_after));
    let reporter = Arc::new(ReportedWaits::default());
    let settings = configured(&registry, &Waits::default());
    let client = RegistryClient::new(settings, reporter.clone()).unwrap();
    (registry, client, reporter)
}

#[tokio::test]
async fn long_waits_are_reported() {
    for (status, retry_after, expected) in [
        (429, "4", None),
        (
            429,
            "5",
            Some(
                "asks for a wait of 5 s, because the server responded with 429 Too Many Requests; tflock waits and tries again",
            ),
        ),
        (
            503,
            "60",
            Some(
                "asks for a wait of 60 s, because the server responded with 503 Service Unavailable; tflock waits and tries again",
            ),
        ),
        (
            503,
            "3600",
            Some(
                "asks for a wait of 3600 s, because the server responded with 503 Service Unavailable; tflock waits 60 s, its limit, and tries again",
            ),
        ),
        (500, "3600", None),
    ] {
        let (registry, client, reporter) = overloaded(status, retry_after);
        let error = list_versions(&client, "acme/ledger").await;
        let host = format!("waiting: `{}` ", registry.url(""));
        let expected = expected.map(|text| host + text);
        let found = reporter.0.lock().unwrap().clone();
        assert_eq!(
            found.first(),
            expected.as_ref(),
            "{status} {retry_after}\n{error}"
        );
    }
}

#[tokio::test]
async fn requests_that_wait_for_the_same_host_are_reported_together() {
    let (_registry, client, reporter) = overloaded(429, "30");
    let names: Vec<_> = (0..16).map(|number| format!("acme/p{number}")).collect();
    let requests = names.iter().map(|name| list_versions(&client, name));
    futures_util::future::join_all(requests).await;
    assert_eq!(reporter.0.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn the_hint_after_the_last_retry_names_the_wait() {
    let (_registry, client, _reporter) = overloaded(429, "3600");
    let error = client.versions(&address("acme/ledger")).await.unwrap_err();
    let expected = "run tflock again later: the server asks for a wait of 3600 s";
    assert_eq!(error.hint().as_deref(), Some(expected));
}

#[tokio::test]
async fn a_slow_document_times_out_and_is_retried() {
    for rule in [Misbehave::on(LIST).hang(), Misbehave::on(LIST).stall(3)] {
        let registry = registry();
        registry.misbehave(rule.clone().times(1));
        let mut settings = configured(&registry, &Waits::default());
        settings.request_timeout = Some(Duration::from_millis(300));
        assert_eq!(ask(&client(settings.clone())).await, "ok", "{rule:?}");
        registry.misbehave(rule.clone());
        settings.retries = Some(1);
        let found = ask(&client(settings)).await;
        assert_ends(&found, "no complete response within 0 s");
    }
}

#[tokio::test]
async fn requests_to_a_silent_host_stop() {
    let registry = registry();
    registry.misbehave(Misbehave::on("*").reset());
    let client = connect(&registry);
    let mut found = Vec::new();
    for name in ["a", "b", "c", "d", "e"] {
        found.push(list_versions(&client, &format!("acme/{name}")).await);
    }
    assert_contains(&found[2], "cannot connect to the server");
    assert_contains(&found[3], "did not respond to 3 earlier requests");
    let requests = registry.log().total();
    assert_eq!(requests, 12, "four attempts for each of three providers");
}

#[tokio::test]
async fn a_closed_port_is_an_error() {
    let mut settings = settings(&Waits::default());
    super::configure(
        &mut settings,
        r#"host "h.test" { services { providers.v1 = "http://127.0.0.1:1/" } }"#,
    );
    let found = list_versions(&client(settings), "h.test/acme/ledger").await;
    assert_contains(&found, "cannot connect to the server: ");
    assert!(
        found.contains(
            "the request for `http://127.0.0.1:1/acme/ledger/versions` failed (4 attempts"
        ),
        "{found}"
    );
}

#[tokio::test]
async fn errors_show_no_secrets() {
    let registry = FakeRegistry::start();
    let url = registry
        .url("/missing?token=secret")
        .replace("http://", "http://user:hidden@");
    let client = client(settings(&Waits::default()));
    let limit = tflock::registry::ByteLimit { name: "", bytes: 9 };
    let url = url::Url::parse(&url).unwrap();
    let found = outcome(client.document(&url, limit).await);
    assert_contains(&found, "/missing`");
    assert_contains(&found, "404");
    for secret in ["secret", "hidden"] {
        assert!(!found.contains(secret), "{found}");
    }
}
