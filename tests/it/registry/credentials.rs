//! Which token is sent to which server.

use serde_json::json;
use tflock::registry::ApiToken;
use tflock_test_support::{Document, FakeRegistry, Misbehave, TestAuthority, assert_contains};
use url::Url;

use super::{
    Waits, address, client, configure, configured, host, linux, list_versions, outcome, package_id,
    set_token, settings, trusting,
};

/// Returns the `Authorization` headers of all requests so far, by path.
fn authorizations(registry: &FakeRegistry) -> Vec<(String, Option<String>)> {
    let hits = registry.log().hits();
    let seen = hits.iter().map(|hit| {
        let value = hit.request.header("authorization").map(str::to_owned);
        (hit.request.path.clone(), value)
    });
    seen.collect()
}

#[tokio::test]
async fn tokens_go_to_the_right_hosts() {
    let registry = FakeRegistry::start();
    let elsewhere = FakeRegistry::start();
    registry.serve("/sums", Document::octets("s"));
    registry.serve("/x.zip", Document::octets("z"));
    registry.serve("/moved", Document::json(&json!({"versions": []})));
    elsewhere.serve("/away", Document::json(&json!({"versions": []})));
    registry.misbehave(Misbehave::on("/b/acme/same/versions").redirect("/moved"));
    registry.misbehave(Misbehave::on("/b/acme/other/versions").redirect(&elsewhere.url("/away")));
    let digest = "00".repeat(32);
    let description = json!({"os": "linux", "arch": "amd64", "filename": "x.zip", "download_url": "/x.zip",
        "shasum": digest, "shasums_url": "/sums", "shasums_signature_url": "/sums"});
    registry.serve(
        "/b/acme/same/1.0.0/download/linux/amd64",
        Document::json(&description),
    );

    let mut settings = settings(&Waits::default());
    let text = format!(
        "host \"h.test\" {{ services {{ providers.v1 = \"{0}\" }} }}\nhost \"g.test\" {{ services {{ providers.v1 = \"{0}\" }} }}",
        registry.url("/b/")
    );
    configure(&mut settings, &text);
    set_token(&mut settings, "h.test", "secret");
    let client = client(settings);
    let same = address("h.test/acme/same");
    client.versions(&same).await.unwrap();
    let other = address("h.test/acme/other");
    client.versions(&other).await.unwrap();
    let id = package_id("h.test/acme/same", linux());
    let meta = client.package_meta(&id).await.unwrap();
    let limit = tflock::registry::ByteLimit { name: "", bytes: 9 };
    client.document(&meta.shasums_url, limit).await.unwrap();
    let mut download = client.download(&meta.download_url).await.unwrap();
    download.chunk().await.unwrap();
    client.versions(&address("g.test/acme/same")).await.unwrap();

    let token = || Some("Bearer secret".to_owned());
    let expected = [
        ("/b/acme/same/versions", token()),
        ("/moved", token()),
        ("/b/acme/other/versions", token()),
        ("/b/acme/same/1.0.0/download/linux/amd64", token()),
        ("/sums", None),
        ("/x.zip", None),
        // The token is not sent for providers of a different host at the same URL.
        ("/b/acme/same/versions", None),
        ("/moved", None),
    ];
    let expected = expected.map(|(path, value)| (path.to_owned(), value));
    assert_eq!(authorizations(&registry), expected);
    assert_eq!(authorizations(&elsewhere), [("/away".to_owned(), None)]);
}

#[tokio::test]
async fn an_empty_token_is_sent_and_an_invalid_one_is_not() {
    let registry = FakeRegistry::start();
    for (token, expected) in [
        ("", "has no provider"),
        ("a\nb", "the token contains a line break"),
    ] {
        let mut settings = configured(&registry, &Waits::default());
        set_token(&mut settings, "registry.terraform.io", token);
        let found = list_versions(&client(settings), "acme/ledger").await;
        assert_contains(&found, expected);
    }
    let hits = registry.log().hits();
    assert_eq!(hits[0].request.header("authorization"), Some("Bearer"));
    assert_eq!(hits.len(), 1);
}

#[cfg(unix)]
mod helper {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use super::*;

    /// Writes a helper that records its arguments and then executes `action`.
    fn install(directory: &Path, action: &str) {
        let program = directory.join("terraform-credentials-test");
        let log = directory.join("arguments");
        std::fs::write(
            &program,
            format!("#!/bin/sh\necho \"$@\" >> '{}'\n{action}\n", log.display()),
        )
        .unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Returns the token that was sent, or the error, and the arguments of the helper.
    async fn ask(action: Option<&str>, blocks: &str, variable: Option<&str>) -> (String, String) {
        let registry = FakeRegistry::start();
        let directory = tempfile::tempdir().unwrap();
        if let Some(action) = action {
            install(directory.path(), action);
        }
        let mut settings = configured(&registry, &Waits::default());
        configure(
            &mut settings,
            &format!("credentials_helper \"test\" {{ args = [\"--x\", \"y\"] }}\n{blocks}"),
        );
        settings.credentials.plugin_directories =
            vec!["/nonexistent".into(), directory.path().to_path_buf()];
        let default = host("registry.terraform.io");
        settings
            .credentials
            .tokens
            .extend(variable.map(|token| (default, ApiToken::new(token))));
        let client = client(settings);
        let found = list_versions(&client, "acme/ledger").await;
        list_versions(&client, "acme/anvil").await;
        let arguments =
            std::fs::read_to_string(directory.path().join("arguments")).unwrap_or_default();
        let sent = authorizations(&registry).into_iter().next();
        let sent = sent.map(|(_, token)| token.unwrap_or("none".to_owned()));
        (sent.unwrap_or(found), arguments)
    }

    const CALL: &str = "--x y get registry.terraform.io\n";

    #[tokio::test]
    async fn helper_answers() {
        for (action, expected) in [
            (r#"echo '{"token":"h"}'"#, "Bearer h"),
            (r#"echo '{"token":"h","other":1}'"#, "Bearer h"),
            ("echo '{}'", "none"),
            (r#"echo '{"token":null}'"#, "none"),
        ] {
            let (found, call) = ask(Some(action), "", None).await;
            assert_eq!((&*found, &*call), (expected, CALL), "{action}");
        }
    }

    #[tokio::test]
    async fn helper_failures() {
        for (action, expected) in [
            ("echo no key >&2; exit 3", "failed: no key"),
            (
                "echo secret",
                "did not write the expected JSON object: Syntax error at 1:1",
            ),
            ("true", "did not write the expected JSON object"),
        ] {
            let (found, arguments) = ask(Some(action), "", None).await;
            assert_contains(
                &found,
                "cannot get credentials for `registry.terraform.io`: ",
            );
            assert_contains(&found, expected);
            assert!(!found.contains("secret"), "{found}");
            assert_eq!(arguments, CALL, "the helper runs once for two providers");
        }
    }

    #[tokio::test]
    async fn helper_failures_do_not_stop_discovery() {
        let mut registry = FakeRegistry::start();
        let authority = TestAuthority::create();
        let site = registry.serve_tls(&authority);
        let document = Document::json(&json!({"providers.v1": "/v1/"}));
        registry.serve(&format!("/{site}/.well-known/terraform.json"), document);
        let directory = tempfile::tempdir().unwrap();
        install(directory.path(), "echo no key >&2; exit 3");
        let mut settings = trusting(&authority, &Waits::default());
        configure(&mut settings, "credentials_helper \"test\" {}");
        settings.credentials.plugin_directories = vec![directory.path().to_path_buf()];
        let provider = address(&format!("{site}/acme/ledger"));
        let found = outcome(client(settings).versions(&provider).await);
        assert!(found.starts_with("cannot get credentials for"), "{found}");
        let discovery = ("/.well-known/terraform.json".to_owned(), None);
        assert_eq!(authorizations(&registry), [discovery]);
    }

    #[tokio::test]
    async fn helper_missing() {
        assert_eq!(ask(None, "", None).await.0, "none");
    }

    #[tokio::test]
    async fn the_first_source_with_the_host_applies() {
        let helper = Some(r#"echo '{"token":"h"}'"#);
        let block = r#"credentials "registry.terraform.io" { token = "b" }"#;
        let empty = r#"credentials "registry.terraform.io" {}"#;
        let other = r#"credentials "other.test" { token = "b" }"#;
        for (blocks, variable, expected) in [
            (block, Some("v"), "Bearer v"),
            (block, None, "Bearer b"),
            (empty, None, "none"),
            (other, None, "Bearer h"),
        ] {
            let (found, _) = ask(helper, blocks, variable).await;
            assert_eq!(found, expected, "{blocks} {variable:?}");
        }
    }
}

#[tokio::test]
async fn urls_with_user_info_do_not_leak_to_other_hosts() {
    let registry = FakeRegistry::start();
    let elsewhere = FakeRegistry::start();
    elsewhere.serve("/x.zip", Document::octets("z"));
    registry.misbehave(Misbehave::on("/x.zip").redirect(&elsewhere.url("/x.zip")));
    let url = registry
        .url("/x.zip")
        .replace("http://", "http://user:pass@");
    let client = client(settings(&Waits::default()));
    client.download(&Url::parse(&url).unwrap()).await.unwrap();
    let first = |registry| authorizations(registry).remove(0).1;
    assert_eq!(first(&registry).as_deref(), Some("Basic dXNlcjpwYXNz"));
    assert_eq!(first(&elsewhere), None);
}
