//! Package downloads: each is a single request, is resumed after interruptions, and fails if it stalls too long.

use std::io::Write as _;
use std::time::Duration;

use tflock::provider::Engine;
use tflock::registry::{RegistryError, RegistrySettings};
use tflock_test_support::{
    Document, FakeRegistry, Misbehave, Response, assert_contains, assert_ends, assert_starts,
};
use url::Url;

use super::{Waits, client, outcome, redirect, settings};

const ZIP: &str = "/files/x.zip";

/// Returns bytes that do not repeat within short distances.
fn content(size: usize) -> Vec<u8> {
    (0..size)
        .map(|at| u8::try_from((at * 31 + at / 251) % 251).unwrap())
        .collect()
}

fn serve(size: usize) -> FakeRegistry {
    let registry = FakeRegistry::start();
    registry.serve(ZIP, Document::octets(content(size)));
    registry
}

async fn fetch(settings: RegistrySettings, url: &str) -> Result<Vec<u8>, RegistryError> {
    let mut download = client(settings).download(&Url::parse(url).unwrap()).await?;
    let mut body = Vec::new();
    while let Some(piece) = download.chunk().await? {
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

/// Downloads the package from the registry.
async fn fetch_from(registry: &FakeRegistry) -> Result<Vec<u8>, RegistryError> {
    fetch(settings(&Waits::default()), &registry.url(ZIP)).await
}

/// Returns settings with a short stall timeout, which keeps the tests fast.
fn impatient(waits: &Waits) -> RegistrySettings {
    let mut settings = settings(waits);
    settings.http.stall_timeout = Duration::from_millis(300);
    settings
}

#[tokio::test]
async fn a_package_is_one_get() {
    let registry = serve(300_000);
    let url = registry.url(&format!("{ZIP}?archive=false&checksum=x#part"));
    let mut download = client(settings(&Waits::default()))
        .download(&Url::parse(&url).unwrap())
        .await
        .unwrap();
    assert_eq!(download.size(), Some(300_000));
    while download.chunk().await.unwrap().is_some() {}
    assert!(
        download.chunk().await.unwrap().is_none(),
        "the stream remains at its end"
    );
    let hits = registry.log().hits();
    let [hit] = &hits[..] else {
        panic!("{} requests", hits.len());
    };
    assert_eq!(hit.request.method, "GET");
    let query = hit.request.query.as_deref();
    assert_eq!(query, Some("archive=false&checksum=x"));
    for header in ["authorization", "range"] {
        assert_eq!(hit.request.header(header), None, "{header}");
    }
}

#[tokio::test]
async fn statuses() {
    let once = [404, 401, 403, 201, 204, 206, 501].map(|status| (status, 1));
    let four_times = [429, 500, 503].map(|status| (status, 4));
    for (status, requests) in once.into_iter().chain(four_times) {
        let registry = serve(10);
        let rule = Misbehave::on(ZIP).status(status);
        registry.misbehave(rule.header("X-Terraform-Get", "/elsewhere"));
        let found = outcome(fetch_from(&registry).await);
        assert_starts(&found, "cannot download `http://127.0.0.1:");
        assert_contains(&found, &status.to_string());
        assert_eq!(registry.log().total(), requests, "{status}");
    }
}

#[tokio::test]
async fn broken_bodies_are_resumed() {
    let size = 300_000;
    let rules = [
        (Misbehave::on(ZIP).cut(0), "0"),
        (Misbehave::on(ZIP).cut(1), "1"),
        (Misbehave::on(ZIP).cut(150_000), "150000"),
        (Misbehave::on(ZIP).cut(299_999), "299999"),
        (Misbehave::on(ZIP).content_length(400_000), "300000"),
        (Misbehave::on(ZIP).stall(150_000), "150000"),
        (Misbehave::on(ZIP).chunked().cut(150_000), "150000"),
        (Misbehave::on(ZIP).reset(), "0"),
        (Misbehave::on(ZIP).hang(), "0"),
    ];
    for (rule, offset) in rules {
        let registry = serve(size);
        registry.misbehave(rule.clone().times(1));
        let body = fetch(impatient(&Waits::default()), &registry.url(ZIP)).await;
        let hits = registry.log().hits();
        if offset == "300000" {
            // The whole body arrived, but the announced length is greater.
            let found = outcome(body);
            assert_contains(
                &found,
                "could not be resumed: the file on the server is shorter now",
            );
            continue;
        }
        assert!(body.unwrap() == content(size), "{rule:?}");
        assert_eq!(hits.len(), 2, "{rule:?}");
        let range = hits[1].request.header("range");
        let expected = format!("bytes={offset}-");
        let resumed = offset != "0";
        assert_eq!(range, resumed.then_some(expected.as_str()), "{rule:?}");
        let if_range = hits[1].request.header("if-range");
        assert_eq!(if_range.is_some(), resumed, "{rule:?}");
    }
}

#[tokio::test]
async fn without_ranges_the_whole_package_is_requested() {
    let registry = serve(300_000);
    registry.misbehave(Misbehave::on(ZIP).cut(150_000).times(1));
    registry.misbehave(Misbehave::on(ZIP).no_ranges());
    assert!(fetch_from(&registry).await.unwrap() == content(300_000));
    assert_eq!(registry.log().bytes(ZIP), 450_000);
}

#[tokio::test]
async fn a_changed_package_is_not_combined_with_its_old_part() {
    let range = |value: &str| {
        Response::status(206)
            .with("Content-Range", value)
            .body("tail")
    };
    let zip = Misbehave::on(ZIP);
    let part = |value| zip.clone().respond(range(value));
    let shortened = zip.clone().rewrite(|body| body[..200_000].to_vec());
    let rows = [
        (zip.clone().header("ETag", "\"new\"").no_ranges(), "ok"),
        (shortened.no_ranges(), "the file on the server has changed"),
        (
            part("bytes 7-10/300000"),
            "the server sent a different byte range from the one requested",
        ),
        (
            part("bytes 150000-150003/150004"),
            "the length of the file on the server has changed",
        ),
        (
            zip.clone().status(416),
            "the file on the server is shorter now",
        ),
        (
            part("lines 1-2"),
            "the server sent a byte range without a valid `Content-Range` header",
        ),
    ];
    for (rule, expected) in rows {
        let registry = serve(300_000);
        registry.misbehave(Misbehave::on(ZIP).cut(150_000).times(1));
        registry.misbehave(rule.clone());
        let found = outcome(fetch_from(&registry).await);
        assert!(found.ends_with(expected), "{rule:?}: {found}");
    }
}

#[tokio::test]
async fn progress_resets_the_number_of_attempts() {
    let size = 8 * 1024 * 1024;
    let registry = serve(size);
    registry.misbehave(Misbehave::on(ZIP).cut(1024 * 1024 + 1).times(7));
    let waits = Waits::default();
    assert!(fetch(settings(&waits), &registry.url(ZIP)).await.unwrap() == content(size));
    assert_eq!(waits.take().len(), 7);
    registry.behave();
    registry.misbehave(Misbehave::on(ZIP).cut(10));
    let found = outcome(fetch(settings(&waits), &registry.url(ZIP)).await);
    assert!(found.contains("(4 attempts"), "{found}");
    assert_contains(&found, "the response was cut off after 40 bytes");
}

#[tokio::test]
async fn a_package_may_take_its_time() {
    let registry = serve(20_000);
    registry.misbehave(Misbehave::on(ZIP).drip(1000, Duration::from_millis(20)));
    let mut settings = settings(&Waits::default());
    settings.request_timeout = Some(Duration::from_millis(50));
    assert!(fetch(settings, &registry.url(ZIP)).await.unwrap() == content(20_000));
}

#[tokio::test]
async fn a_slow_download_fails() {
    let registry = serve(1000);
    registry.misbehave(Misbehave::on(ZIP).drip(1, Duration::from_millis(50)));
    let found = outcome(fetch(impatient(&Waits::default()), &registry.url(ZIP)).await);
    assert_ends(&found, "fewer than 1024 bytes arrived within 1 s");
    assert_eq!(registry.log().total(), 1, "the request is not repeated");
}

#[tokio::test]
async fn announced_sizes_have_a_limit() {
    let registry = serve(10);
    registry.misbehave(Misbehave::on(ZIP).content_length(5 * 1024 * 1024 * 1024));
    let found = outcome(fetch_from(&registry).await);
    assert_ends(&found, "larger than 4294967296 bytes (limit for packages)");
}

#[tokio::test]
async fn gzip_is_decoded_and_resumed() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&content(300_000)).unwrap();
    let body = encoder.finish().unwrap();
    let half = body.len() as u64 / 2;
    let response = Response::status(200)
        .with("Content-Encoding", "gzip")
        .with("ETag", "\"g\"")
        .body(body);
    for rule in [Misbehave::on(ZIP), Misbehave::on(ZIP).cut(half)] {
        let registry = serve(10);
        registry.misbehave(rule.respond(response.clone()).times(1));
        registry.misbehave(Misbehave::on(ZIP).respond(response.clone()));
        assert!(fetch_from(&registry).await.unwrap() == content(300_000));
    }
    let registry = serve(10);
    registry.misbehave(Misbehave::on(ZIP).header("Content-Encoding", "gzip"));
    let found = outcome(fetch_from(&registry).await);
    assert_contains(
        &found,
        "the body does not match its `Content-Encoding` header",
    );
}

#[tokio::test]
async fn redirects_are_followed_nine_times() {
    for (length, expected) in [(9, "ok"), (10, "more than 9 redirects")] {
        let registry = serve(10);
        redirect(&registry, length, "/0", ZIP);
        let found = outcome(fetch(settings(&Waits::default()), &registry.url("/0")).await);
        assert!(found.ends_with(expected), "{found}");
    }
}

#[tokio::test]
async fn netrc_names_the_host_with_its_port() {
    let registry = serve(10);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("netrc");
    let with_port = &*format!("machine 127.0.0.1:{} login u password p", registry.port());
    let without_port = "machine 127.0.0.1 login u password p";
    for (text, engine, expected) in [
        (Some(with_port), Engine::Terraform, Some("Basic dTpw")),
        (Some(with_port), Engine::Tofu, None),
        (Some(without_port), Engine::Terraform, None),
        (Some("default login u password p"), Engine::Terraform, None),
        (None, Engine::Terraform, None),
    ] {
        registry.log().clear();
        match text {
            Some(text) => std::fs::write(&path, text).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        let mut settings = settings(&Waits::default());
        settings.engine = engine;
        settings.netrc = Some(path.clone());
        fetch(settings, &registry.url(ZIP)).await.unwrap();
        let hit = &registry.log().hits()[0];
        let sent = hit.request.header("authorization");
        assert_eq!(sent, expected, "{text:?} {engine}");
    }
}

#[tokio::test]
async fn netrc_is_not_sent_to_other_hosts_and_need_not_be_readable() {
    let registry = serve(10);
    let elsewhere = serve(10);
    registry.misbehave(Misbehave::on(ZIP).redirect(&elsewhere.url(ZIP)));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("netrc");
    let mut settings = settings(&Waits::default());
    settings.netrc = Some(path.clone());
    let text = format!("machine 127.0.0.1:{} login u password p", registry.port());
    std::fs::write(&path, text).unwrap();
    fetch(settings.clone(), &registry.url(ZIP)).await.unwrap();
    for (server, is_sent) in [(&registry, true), (&elsewhere, false)] {
        let hit = &server.log().hits()[0];
        assert_eq!(hit.request.header("authorization").is_some(), is_sent);
    }
    std::fs::write(&path, "machine a secret").unwrap();
    registry.log().clear();
    fetch(settings, &registry.url(ZIP)).await.unwrap();
    let hits = registry.log().hits();
    let sent = hits[0].request.header("authorization");
    assert_eq!(sent, None, "an unreadable file does not stop the download");
}
