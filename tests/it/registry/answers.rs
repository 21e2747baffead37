//! Version lists, package descriptions, and the documents to which they refer.

use serde_json::{Value, json};
use tflock::provider::Engine;
use tflock::registry::{BaseUrl, ByteLimit};
use tflock::span::Explain;
use tflock_test_support::{
    Document, FakeRegistry, Misbehave, Response, ResponseBody, assert_contains, assert_ends, table,
};
use url::Url;

use super::{
    Waits, address, client, configured, connect, describe, host, list_versions, outcome, redirect,
    set_token, settings,
};

const LIST: &str = "/registry.terraform.io/v1/providers/acme/ledger/versions";
const DESCRIPTION: &str =
    "/registry.terraform.io/v1/providers/acme/ledger/1.0.0/download/linux/amd64";
const LIMIT: ByteLimit = ByteLimit {
    name: "limit of this test",
    bytes: 1000,
};

fn description() -> Value {
    json!({
        "protocols": ["5.0"], "os": "linux", "arch": "amd64", "filename": "x.zip",
        "download_url": "../files/x.zip", "shasum": "E3B0C44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "shasums_url": "/sums", "shasums_signature_url": "https://h.test/sig?x=1",
        "signing_keys": {"gpg_public_keys": [{"ascii_armor": "A", "trust_signature": "T", "key_id": "K"}]},
    })
}

fn serve(registry: &FakeRegistry) {
    let list = json!({"versions": [{"version": "1.0.0", "platforms": [{"os": "darwin", "arch": "arm64"}]}]});
    registry.serve(LIST, Document::json(&list));
    registry.serve(DESCRIPTION, Document::json(&description()));
    registry.serve("/sums", Document::octets("sums"));
}

#[tokio::test]
async fn version_lists() {
    let registry = FakeRegistry::start();
    let rows: &[(&[u8], &str)] = &[
        (br#"{"versions":[{"version":"1.0"},{"version":"1.0.0"},{"version":"v3"},{"version":"2"}]}"#, "1.0.0 2.0.0"),
        (br#"{"Versions":[{"VERSION":"1.0.0"}]} and more"#, "1.0.0"),
        (br#"{"versions":null}"#, ""),
        (b"{}", ""),
        (b"null", "the response does not follow the protocol"),
        (b"", "the body is empty"),
        (b"[]", "the response does not follow the protocol"),
        (br#"{"versions":"x"}"#, "the response does not follow the protocol"),
        (b"\xef\xbb\xbf{}", "the response does not follow the protocol"),
        (br#"{"versions":[{"version":"x"}]}"#, "lists no valid version"),
        (br#"{"versions":[{"version":"99999999999999999999.0.0"}]}"#, "contains a number that is too large"),
    ];
    for (body, expected) in rows {
        // The content type does not matter.
        registry.serve(LIST, Document::new("text/html", ResponseBody::bytes(*body)));
        let result = connect(&registry).versions(&address("acme/ledger")).await;
        let found = match &result {
            Ok(available) => available
                .versions()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(" "),
            Err(_) => outcome(result),
        };
        assert!(
            found.contains(expected) && (expected.is_empty() == found.is_empty()),
            "{body:?}: {found}"
        );
    }
}

#[tokio::test]
async fn descriptions() {
    let registry = FakeRegistry::start();
    let without = |field: &str| {
        let mut changed = description();
        changed.as_object_mut().unwrap().remove(field);
        changed
    };
    let with = |field: &str, value: Value| {
        let mut changed = description();
        changed[field] = value;
        changed
    };
    let expect_answer = "the response does not follow the protocol";
    let with_keys = |keys| with("signing_keys", json!({ "gpg_public_keys": keys }));
    let no_digest = "`shasum` is not 64 hexadecimal digits";
    let no_address = "`download_url` is not an http or https address";
    let rows = [
        (description(), "ok"),
        (without("protocols"), "ok"),
        (with("protocols", Value::Null), "ok"),
        (
            with("protocols", json!(["x"])),
            "`x` is not a valid plugin protocol version",
        ),
        (without("os"), "it is for `_amd64`"),
        (with("arch", json!("AMD64")), "it is for `linux_AMD64`"),
        (with("os", json!("darwin")), "it is for `darwin_amd64`"),
        (with("download_url", json!("ftp://h.test/x")), no_address),
        (with("shasum", json!("e3b0")), no_digest),
        (without("shasum"), no_digest),
        (without("shasums_url"), "ok"),
        (without("signing_keys"), "ok"),
        (with("signing_keys", Value::Null), "ok"),
        (with_keys(Value::Null), "ok"),
        (
            with_keys(json!([null])),
            "one of its signing keys is `null`",
        ),
        (with("packages", json!({"nonsense": 1})), "ok"),
        (with("filename", json!(5)), expect_answer),
        (json!([]), expect_answer),
    ];
    for (body, expected) in rows {
        registry.serve(DESCRIPTION, Document::json(&body));
        let client = connect(&registry);
        let found = outcome(describe(&client).await);
        assert!(found.contains(expected), "{body}: {found}");
    }
}

#[tokio::test]
async fn the_fields_of_a_description() {
    let registry = FakeRegistry::start();
    serve(&registry);
    let client = connect(&registry);
    let meta = describe(&client).await.unwrap();
    let base = registry.url("");
    assert_eq!(meta.filename, "x.zip");
    let url = "/registry.terraform.io/v1/providers/acme/ledger/1.0.0/download/files/x.zip";
    assert_eq!(meta.download_url.as_str(), format!("{base}{url}"));
    assert_eq!(meta.shasums_url.as_str(), format!("{base}/sums"));
    assert_eq!(meta.signature_url.as_str(), "https://h.test/sig?x=1");
    assert!(
        meta.shasum.to_string().starts_with("e3b0c4") && meta.shasum_text.starts_with("E3B0C4")
    );
    let key = &meta.signing_keys[0];
    assert_eq!(
        (key.ascii_armor.as_str(), key.trust_signature.as_str()),
        ("A", "T")
    );
}

#[tokio::test]
async fn plugin_protocols() {
    let registry = FakeRegistry::start();
    serve(&registry);
    let list = json!({"versions": [{"version": "1.0.0", "protocols": ["4.0"]}, {"version": "1.1.0", "protocols": ["6.0"]}]});
    registry.serve(LIST, Document::json(&list));
    let mut old = description();
    old["protocols"] = json!(["4.0", "7.1"]);
    registry.serve(DESCRIPTION, Document::json(&old));
    let client = connect(&registry);
    let error = describe(&client).await.unwrap_err();
    assert_contains(&error.to_string(), "supports plugin protocol 4.0, 7.1");
    assert_eq!(
        error.hint().as_deref(),
        Some("require version 1.1.0, which supports plugin protocol 5.x or 6.x")
    );
}

#[tokio::test]
async fn statuses() {
    let registry = FakeRegistry::start();
    serve(&registry);
    for [status, of_list, package, document, requests] in table(
        "
        404 | has no provider `registry.terraform.io/acme/ledger` | has no package for `linux_amd64` | 404 | 1
        401 | requires credentials | requires credentials | 401 | 1
        403 | requires credentials | requires credentials | 403 | 1
        429 | 429 | 429 | 429 | 4
        500 | 500 | 500 | 500 | 4
        502 | 502 | 502 | 502 | 4
        503 | 503 | 503 | 503 | 4
        501 | 501 | 501 | 501 | 1
        201 | 201 | 201 | 201 | 1
        204 | 204 | 204 | 204 | 1
        400 | 400 | 400 | 400 | 1
        410 | 410 | 410 | 410 | 1
        423 | 423 | 423 | 423 | 1
        ",
    ) {
        let code = status.parse().unwrap();
        let requests: usize = requests.parse().unwrap();
        let client = connect(&registry);
        let sums = Url::parse(&registry.url("/sums")).unwrap();
        for (path, expected) in [(LIST, of_list), (DESCRIPTION, package), ("/sums", document)] {
            registry.behave();
            registry.log().clear();
            registry.misbehave(Misbehave::on(path).status(code));
            let found = match path {
                LIST => list_versions(&client, "acme/ledger").await,
                DESCRIPTION => outcome(describe(&client).await),
                _ => outcome(client.document(&sums, LIMIT).await),
            };
            assert!(found.contains(expected), "{status} {path}: {found}");
            let count = registry.log().count("GET", path);
            assert_eq!(count, requests, "{status} {path}");
        }
    }
}

#[tokio::test]
async fn hints_name_possible_causes() {
    let registry = FakeRegistry::start();
    serve(&registry);
    let (on_list, on_description) = (Misbehave::on(LIST), Misbehave::on(DESCRIPTION));
    let status = |status| on_list.clone().status(status);
    for (rule, expected) in [
        (status(423), "Terragrunt's provider cache server"),
        (
            status(501),
            "a provider cache server lacks parts of the protocol",
        ),
        (on_list.clone().html(), "the server sent a web page"),
        (status(404), "check the `source`"),
        (status(401), "set `TF_TOKEN_registry_terraform_io`"),
        (
            on_description.status(404),
            "published only for darwin_arm64",
        ),
    ] {
        registry.behave();
        registry.misbehave(rule);
        let client = connect(&registry);
        let error = match client.versions(&address("acme/ledger")).await {
            Err(error) => error,
            Ok(_) => describe(&client).await.unwrap_err(),
        };
        let hint = error.hint().unwrap_or_default();
        assert!(hint.contains(expected), "{error}: {hint}");
    }
    registry.behave();
    registry.misbehave(Misbehave::on(LIST).status(410));
    let error = connect(&registry)
        .versions(&address("acme/ledger"))
        .await
        .unwrap_err();
    let place = error.place().unwrap();
    assert_eq!(place.path.to_str(), Some("test.tfrc"), "the `host` block");
}

#[tokio::test]
async fn a_rejected_token_is_reported() {
    let registry = FakeRegistry::start();
    serve(&registry);
    registry.misbehave(Misbehave::on(LIST).status(403));
    let mut settings = configured(&registry, &Waits::default());
    set_token(&mut settings, "registry.terraform.io", "t");
    let found = list_versions(&client(settings), "acme/ledger").await;
    assert_eq!(
        found,
        "host `registry.terraform.io` rejected the credentials that are configured for it"
    );
}

#[tokio::test]
async fn redirects_are_followed_nine_times() {
    for (length, expected) in [(9, "ok"), (10, "more than 9 redirects")] {
        let registry = FakeRegistry::start();
        serve(&registry);
        redirect(&registry, length, LIST, &format!("/{length}"));
        registry.serve(
            &format!("/{length}"),
            Document::json(&json!({"versions": []})),
        );
        let found = list_versions(&connect(&registry), "acme/ledger").await;
        assert!(found.ends_with(expected), "{length}: {found}");
    }
    let registry = FakeRegistry::start();
    registry.misbehave(Misbehave::on(LIST).redirect(LIST));
    let found = list_versions(&connect(&registry), "acme/ledger").await;
    assert!(found.ends_with("more than 9 redirects"), "{found}");
    assert_eq!(registry.log().total(), 10, "loops are not retried");
}

#[tokio::test]
async fn requests_identify_the_client() {
    for (engine, expected) in [(Engine::Terraform, "1.15.9"), (Engine::Tofu, "1.12.6")] {
        let registry = FakeRegistry::start();
        serve(&registry);
        let mut settings = configured(&registry, &Waits::default());
        settings.engine = engine;
        let client = client(settings);
        client.versions(&address("acme/ledger")).await.unwrap();
        let meta = describe(&client).await.unwrap();
        client.document(&meta.shasums_url, LIMIT).await.unwrap();
        let hits = registry.log().hits();
        let version = |at: usize| hits[at].request.header("x-terraform-version");
        assert_eq!(
            [0, 1, 2].map(version),
            [Some(expected), Some(expected), None]
        );
        for hit in hits {
            assert_contains(hit.request.header("user-agent").unwrap(), "tflock/");
        }
    }
}

#[tokio::test]
async fn each_document_is_requested_once() {
    let registry = FakeRegistry::start();
    serve(&registry);
    let client = connect(&registry);
    let clone = client.clone();
    let provider = address("acme/ledger");
    let missing = address("acme/missing");
    for _ in 0..3 {
        let (left, right) = tokio::join!(client.versions(&provider), clone.versions(&provider));
        assert!(left.is_ok() && right.is_ok());
        let meta = describe(&client).await.unwrap();
        let (left, right) = tokio::join!(
            client.document(&meta.shasums_url, LIMIT),
            clone.document(&meta.shasums_url, LIMIT)
        );
        assert_eq!(
            (left.unwrap(), right.unwrap()),
            ("sums".into(), "sums".into())
        );
        assert!(client.versions(&missing).await.is_err());
    }
    let counts = registry.log().counts("*");
    assert!(
        counts.len() == 4 && counts.values().all(|&count| count == 1),
        "{counts:?}"
    );
}

#[tokio::test]
async fn documents_have_limits() {
    let registry = FakeRegistry::start();
    registry.serve("/large", Document::octets("x".repeat(1001)));
    registry.serve("/fits", Document::octets("x".repeat(1000)));
    for (path, expected) in [
        ("/large", "larger than 1000 bytes (limit of this test)"),
        ("/fits", "ok"),
    ] {
        for chunked in [false, true] {
            registry.behave();
            if chunked {
                registry.misbehave(Misbehave::on("*").chunked());
            }
            let url = Url::parse(&registry.url(path)).unwrap();
            let found = outcome(
                client(settings(&Waits::default()))
                    .document(&url, LIMIT)
                    .await,
            );
            assert!(found.ends_with(expected), "{path}: {found}");
        }
    }
}

#[tokio::test]
async fn compressed_documents_are_limited_by_their_inflated_size() {
    use std::io::Write as _;
    let registry = FakeRegistry::start();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&vec![b' '; 64 * 1024 * 1024]).unwrap();
    let response = Response::status(200)
        .with("Content-Encoding", "gzip")
        .body(encoder.finish().unwrap());
    registry.misbehave(Misbehave::on(LIST).respond(response));
    let found = list_versions(&connect(&registry), "acme/ledger").await;
    assert_contains(
        &found,
        "larger than 16777216 bytes (limit for registry responses)",
    );
}

#[tokio::test]
async fn a_base_url_replaces_discovery_and_takes_no_token() {
    let registry = FakeRegistry::start();
    let list = json!({"versions": [{"version": "1.0.0"}]});
    registry.serve(
        "/base/v1/providers/acme/ledger/versions",
        Document::json(&list),
    );
    for base in ["/base/", "/base", "/base/?x#y"] {
        let mut settings = settings(&Waits::default());
        let url = Url::parse(&registry.url(base)).unwrap();
        settings.base_url = Some(BaseUrl {
            host: host("registry.terraform.io"),
            url,
        });
        set_token(&mut settings, "registry.terraform.io", "t");
        assert_eq!(
            list_versions(&client(settings), "acme/ledger").await,
            "ok",
            "{base}"
        );
    }
    for hit in registry.log().hits() {
        assert_eq!(hit.request.header("authorization"), None);
    }
}

#[tokio::test]
async fn offline_clients_send_no_request() {
    let registry = FakeRegistry::start();
    serve(&registry);
    let mut settings = configured(&registry, &Waits::default());
    settings.http.offline = true;
    let found = list_versions(&client(settings), "acme/ledger").await;
    assert_ends(&found, "network access is disabled by `--offline`");
    assert_eq!(registry.log().total(), 0);
}
