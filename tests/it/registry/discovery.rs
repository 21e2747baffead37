//! Service discovery over TLS, for a host with a port.

use std::time::Duration;

use serde_json::{Value, json};
use tflock::provider::Engine;
use tflock_test_support::{
    Document, FakeRegistry, Misbehave, Response, TestAuthority, TlsRegistry, assert_contains,
    multiline, table,
};

use super::{
    Waits, address, client, configure, fits, list_versions, outcome, redirect, set_token, settings,
    trusting,
};

const DOCUMENT: &str = "/.well-known/terraform.json";

/// Starts a registry whose host offers `acme/ledger`.
fn start() -> TlsRegistry {
    let site = TlsRegistry::start();
    serve(&site, DOCUMENT, &json!({"providers.v1": "/v1/"}));
    serve(&site, "/v1/acme/ledger/versions", &version_list());
    site
}

fn version_list() -> Value {
    json!({"versions": [{"version": "1.0.0"}]})
}

fn serve(site: &TlsRegistry, path: &str, value: &Value) {
    let other = site.host.replace("localhost", "127.0.0.1");
    for host in [&site.host, &other] {
        let path = format!("/{host}{path}");
        site.registry.serve(&path, Document::json(value));
    }
}

/// Lists the versions. Returns the result and the number of requests for the discovery document.
async fn list(site: &TlsRegistry, engine: Engine, waits: &Waits) -> (String, usize) {
    site.registry.log().clear();
    let mut settings = trusting(&site.authority, waits);
    settings.engine = engine;
    let provider = address(&format!("{}/acme/ledger", site.host));
    let result = client(settings).versions(&provider).await;
    (outcome(result), site.registry.log().count("GET", DOCUMENT))
}

/// The columns: status, content type, body, result and number of requests.
const ANSWERS: &str = r#"
    200 | application/json                |                                        | ok | 1
    200 | Application/JSON; charset=utf-8 |                                        | ok | 1
    200 | text/json                       |                                        | the content type is `text/json`, not `application/json` | 1
    200 | none                            |                                        | the content type is missing, not `application/json` | 1
    404 |                                 |                                        | does not offer a provider registry | 1
    401 |                                 |                                        | the server responded with 401 Unauthorized | 1
    410 |                                 |                                        | the server responded with 410 Gone | 1
    201 |                                 |                                        | the server responded with 201 Created | 1
    501 |                                 |                                        | the server responded with 501 Not Implemented | 1
    429 |                                 |                                        | the server responded with 429 Too Many Requests | 4
    500 |                                 |                                        | the server responded with 500 Internal Server Error | 4
    503 |                                 |                                        | the server responded with 503 Service Unavailable | 4
    200 | application/json                | []                                     | invalid type: sequence, expected a map | 1
    200 | application/json                | {                                      | EOF while parsing | 1
    200 | application/json                | {} x                                   | trailing characters | 1
    200 | application/json                | BOM{}                                  | expected value | 1
    200 | application/json                | {}                                     | does not offer a provider registry | 1
    200 | application/json                | {"providers.v1":null}                  | does not support the provider registry protocol | 1
    200 | application/json                | {"providers.v1":["x"]}                 | does not support the provider registry protocol | 1
    200 | application/json                | {"providers.v2":"/v2/"}                | does not support the provider registry protocol | 1
    200 | application/json                | {"Providers.V1":"/v1/"}                | does not offer a provider registry | 1
    200 | application/json                | {"providers.v1":"https://u@h.test/"}   | it contains a user name or password | 1
    200 | application/json                | {"providers.v1":"http://h.test/v1/"}   | plain http is not allowed for | 1
    200 | application/json                | {"x":"MEGABYTE"}                       | larger than 1048576 bytes (limit for discovery documents) | 1
"#;

#[tokio::test]
async fn answers() {
    let site = start();
    for [status, content_type, body, expected, requests] in table(ANSWERS) {
        let mut response = Response::status(status.parse().unwrap());
        if status == "200" {
            let body = if body.is_empty() {
                r#"{"providers.v1":"/v1/"}"#
            } else {
                body
            };
            let body = body.replace("BOM", "\u{feff}");
            response = response.body(body.replace("MEGABYTE", &"x".repeat(1024 * 1024)));
            response.headers = vec![("Content-Type".to_owned(), content_type.to_owned())];
            response.headers.retain(|_| content_type != "none");
        }
        site.registry
            .misbehave(Misbehave::on(DOCUMENT).respond(response));
        let (found, count) = list(&site, Engine::Terraform, &Waits::default()).await;
        assert!(found.contains(expected), "{status} {body}: {found}");
        assert_eq!(count.to_string(), requests, "{status} {body}");
        site.registry.behave();
    }
}

#[tokio::test]
async fn the_document_is_requested_once_with_the_hosts_token() {
    let site = start();
    serve(&site, "/v1/acme/anvil/versions", &version_list());
    let mut settings = trusting(&site.authority, &Waits::default());
    set_token(&mut settings, &site.host, "secret");
    let client = client(settings);
    let ledger = address(&format!("{}/acme/ledger", site.host));
    let anvil = address(&format!("{}/acme/anvil", site.host));
    let (first, second) = tokio::join!(client.versions(&ledger), client.versions(&anvil));
    assert!(first.is_ok() && second.is_ok());
    let hits = site.registry.log().hits();
    let requested = hits.iter().filter(|hit| hit.request.path == DOCUMENT);
    let [hit] = requested.collect::<Vec<_>>()[..] else {
        panic!(
            "requested {} times",
            site.registry.log().count("GET", DOCUMENT)
        );
    };
    assert_eq!(hit.request.header("accept"), Some("application/json"));
    assert_eq!(hit.request.header("authorization"), Some("Bearer secret"));
    assert_eq!(hit.request.header("x-terraform-version"), None);
    let agent = hit.request.header("user-agent").unwrap();
    assert!(agent.starts_with("tflock/"), "{agent}");
}

#[tokio::test]
async fn the_number_of_redirects_is_limited() {
    for (engine, length, expected, requests) in [
        (Engine::Terraform, 3, "ok", 1),
        (Engine::Terraform, 4, "more than 3 redirects", 4),
        (Engine::Tofu, 9, "ok", 1),
        (Engine::Tofu, 10, "more than 9 redirects", 1),
    ] {
        let site = start();
        let last = format!("/.well-known/{length}");
        redirect(&site.registry, length, DOCUMENT, &last);
        serve(&site, &last, &json!({"providers.v1": "/v1/"}));
        let (found, count) = list(&site, engine, &Waits::default()).await;
        assert!(found.ends_with(expected), "{engine} {length}: {found}");
        assert_eq!(count, requests, "{engine} {length}");
    }
}

#[tokio::test]
async fn redirects_to_another_host_lose_the_token_and_move_the_base() {
    let site = start();
    let other = site.host.replace("localhost", "127.0.0.1");
    serve(&site, "/x/y", &json!({}));
    site.registry.serve(
        &format!("/{other}/.well-known/z/doc"),
        Document::json(&json!({"providers.v1": "v1/"})),
    );
    let path = format!("/{other}/.well-known/z/v1/acme/ledger/versions");
    site.registry.serve(&path, Document::json(&version_list()));
    site.registry
        .misbehave(Misbehave::on(DOCUMENT).redirect(&format!("https://{other}/.well-known/z/doc")));
    let mut settings = trusting(&site.authority, &Waits::default());
    set_token(&mut settings, &site.host, "secret");
    let result = client(settings)
        .versions(&address(&format!("{}/acme/ledger", site.host)))
        .await;
    assert_eq!(outcome(result), "ok");
    let hits = site.registry.log().hits();
    let seen = hits.iter().map(|hit| {
        let token = hit.request.header("authorization");
        (hit.request.path.as_str(), token.is_some())
    });
    let expected = [
        (DOCUMENT, true),
        ("/.well-known/z/doc", false),
        // The token depends on the host in the provider's address, not on the server of its registry.
        ("/.well-known/z/v1/acme/ledger/versions", true),
    ];
    assert_eq!(seen.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn redirects_to_plain_http_are_refused_unless_on_loopback() {
    let site = start();
    let plain = site.registry.url("/.well-known/plain");
    let plain_host = format!("127.0.0.1:{}", site.registry.port());
    let doc = json!({"providers.v1": format!("https://{}/v1/", site.host)});
    site.registry.serve(
        &format!("/{plain_host}/.well-known/plain"),
        Document::json(&doc),
    );
    for (target, expected) in [
        (plain.as_str(), "ok"),
        (
            "http://h.test/x",
            "plain http is not allowed for `http://h.test/x`",
        ),
        (
            "ftp://h.test/x",
            "redirects to `ftp://h.test/x`, which is not an http or https address",
        ),
    ] {
        site.registry.behave();
        site.registry
            .misbehave(Misbehave::on(DOCUMENT).redirect(target));
        let (found, _) = list(&site, Engine::Terraform, &Waits::default()).await;
        assert!(found.ends_with(expected), "{target}: {found}");
    }
}

#[tokio::test]
async fn retries() {
    for (engine, failures, expected, requests) in [
        (Engine::Terraform, 3, "ok", 4),
        (Engine::Terraform, 4, "(4 attempts", 4),
        (Engine::Tofu, 3, "ok", 4),
    ] {
        for rule in [
            Misbehave::on(DOCUMENT).status(503),
            Misbehave::on(DOCUMENT).reset(),
        ] {
            let site = start();
            site.registry.misbehave(rule.times(failures));
            let (found, count) = list(&site, engine, &Waits::default()).await;
            assert!(found.contains(expected), "{engine} {failures}: {found}");
            assert_eq!(count, requests, "{engine} {failures}");
        }
    }
}

#[tokio::test]
async fn settings_of_registries_do_not_apply_to_discovery() {
    let site = start();
    let mut settings = trusting(&site.authority, &Waits::default());
    settings.retries = Some(1);
    settings.request_timeout = Some(Duration::from_millis(50));
    let provider = address(&format!("{}/acme/ledger", site.host));
    for (rule, requests) in [
        (Misbehave::on(DOCUMENT).status(503), 4),
        // The document takes longer than the request timeout, but not longer than the discovery timeout.
        (
            Misbehave::on(DOCUMENT).drip(5, Duration::from_millis(30)),
            1,
        ),
    ] {
        site.registry.behave();
        site.registry.log().clear();
        site.registry.misbehave(rule.clone());
        let _ = client(settings.clone()).versions(&provider).await;
        let count = site.registry.log().count("GET", DOCUMENT);
        assert_eq!(count, requests, "{rule:?}");
    }
}

#[tokio::test]
async fn waits() {
    let site = start();
    let waits = Waits::default();
    site.registry.misbehave(Misbehave::on(DOCUMENT).status(500));
    list(&site, Engine::Terraform, &waits).await;
    let found = waits.take();
    assert!(
        fits(&found, &[100..=125, 200..=250, 400..=500]),
        "{found:?}"
    );
    site.registry.behave();
    let rule = Misbehave::on(DOCUMENT).status(429);
    site.registry.misbehave(rule.retry_after("7").times(2));
    list(&site, Engine::Terraform, &waits).await;
    assert_eq!(waits.take(), [7000, 7000]);
}

#[tokio::test]
async fn host_blocks_replace_discovery() {
    let registry = FakeRegistry::start();
    registry.serve(
        "/base/acme/ledger/versions",
        Document::json(&version_list()),
    );
    let base = registry.url("/base/");
    for [services, expected] in table(
        r#"
        providers.v1 = "BASE"                    | ok
        providers.v1 = "BASEx?y=z#a"             | ok
        modules.v1 = "BASE"                      | does not offer a provider registry
                                                 | does not offer a provider registry
        providers.v1 = 5                         | does not support the provider registry protocol
        providers.v1 = "ftp://h.test/"           | its scheme is neither http nor https
        providers.v1 = <<E\nhttps://h.test/\nE\n | it contains a control character
        "#,
    ) {
        let services = multiline(services).replace("BASE", &base);
        let mut settings = settings(&Waits::default());
        configure(
            &mut settings,
            &format!("host \"H.test:443\" {{ services = {{ {services} }} }}"),
        );
        let found = list_versions(&client(settings), "h.test/acme/ledger").await;
        assert!(found.contains(expected), "{services}: {found}");
    }
    assert_eq!(registry.log().count("GET", DOCUMENT), 0);
}

#[tokio::test]
async fn relative_services_of_host_blocks() {
    let site = start();
    let mut settings = trusting(&site.authority, &Waits::default());
    let services = "services { providers.v1 = \"../v1/\" }";
    configure(
        &mut settings,
        &format!("host \"{}\" {{ {services} }}", site.host),
    );
    let provider = address(&format!("{}/acme/ledger", site.host));
    assert_eq!(outcome(client(settings).versions(&provider).await), "ok");
    let paths: Vec<_> = site.registry.log().counts("*").into_keys().collect();
    assert_eq!(paths, ["/v1/acme/ledger/versions"]);
}

#[tokio::test]
async fn untrusted_certificates_are_refused() {
    let site = start();
    let stranger = TestAuthority::create();
    let waits = Waits::default();
    let settings = trusting(&stranger, &waits);
    let found = list_versions(&client(settings), &format!("{}/acme/ledger", site.host)).await;
    assert_contains(&found, "the server's certificate is not trusted");
    assert!(waits.take().is_empty());
}
