//! Modules in buckets: a real S3 server, and a server that answers as Google Cloud Storage and as an attacker.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tflock_test_support::{
    Document, FakeRegistry, Misbehave, RawEntry, RawZip, Response, assert_contains,
};

use super::ModuleSite;
use super::recorded::{expected, files_below};
use crate::conformance::{cases, report};
use crate::index::s3::{ACCESS_KEY, S3Server, SECRET_KEY};

/// Returns a page of a list of objects. The tag of each object is its own key.
fn list(keys: &[&str], next_page: &str) -> Document {
    let mut text = "<ListBucketResult>".to_owned();
    for key in keys {
        let object = format!("<Key>{key}</Key><ETag>\"{key}\"</ETag><Size>1</Size>");
        write!(text, "<Contents>{object}</Contents>").unwrap();
    }
    let next = format!("<NextContinuationToken>{next_page}</NextContinuationToken>");
    Document::octets(format!("{text}{next}</ListBucketResult>"))
}

/// Serves objects as Google Cloud Storage and as a server with the protocol of S3.
fn serve(registry: &FakeRegistry, keys: &[&str]) {
    for path in ["/fleet", "/fleet/"] {
        registry.serve(path, list(keys, ""));
    }
}

fn zipped(text: &str) -> Document {
    Document::octets(RawZip::of([RawEntry::stored("main.tf", text)]).to_bytes())
}

/// A site whose own server is the endpoint of S3.
fn own_endpoint() -> ModuleSite {
    let mut site = ModuleSite::start();
    let endpoint = site.registry.url("");
    site.set_clouds(&[
        ("AWS_ENDPOINT_URL", endpoint.as_str()),
        ("AWS_ACCESS_KEY_ID", ACCESS_KEY),
        ("AWS_SECRET_ACCESS_KEY", SECRET_KEY),
        ("AWS_SESSION_TOKEN", "XTOKENX"),
    ]);
    site
}

#[test]
fn addresses_lead_to_the_objects_that_the_tools_install() {
    let (mut site, server) = (ModuleSite::start(), S3Server::start());
    let objects = cases("module-objects.jsonl");
    let mut keys = Vec::new();
    for object in &objects {
        let key = object["key"].as_str().unwrap();
        let bytes = STANDARD.decode(object["bytes"].as_str().unwrap()).unwrap();
        server.put(key, &bytes);
        let path = format!("/fleet/{key}");
        site.registry.serve(&path, Document::octets(bytes));
        keys.push(key);
    }
    serve(&site.registry, &keys);
    let (endpoint, emulator) = (server.endpoint(), site.registry.url(""));
    site.set_clouds(&[
        ("AWS_ENDPOINT_URL_S3", endpoint.as_str()),
        ("AWS_ACCESS_KEY_ID", ACCESS_KEY),
        ("AWS_SECRET_ACCESS_KEY", SECRET_KEY),
        ("STORAGE_EMULATOR_HOST", emulator.as_str()),
    ]);
    let cases = cases("module-buckets.jsonl");
    let mut differences = Vec::new();
    for case in &cases {
        let source = case["source"].as_str().unwrap();
        let located = source
            .replace("ENDPOINT", &endpoint)
            .replace("ACCESSKEY", ACCESS_KEY)
            .replace("SECRETKEY", SECRET_KEY);
        let found = site.fetch(&located, None);
        let files = found.as_deref().ok().map(files_below);
        if files != expected(case) {
            differences.push(format!("{source}: found {found:?} {files:?}"));
        }
    }
    report(&differences, cases.len());
}

#[test]
fn credentials_go_to_the_endpoint_of_the_environment_only() {
    let mut site = ModuleSite::start();
    let endpoint = site.registry.url("");
    let own = ("AWS_ACCESS_KEY_ID", ACCESS_KEY);
    let secret = ("AWS_SECRET_ACCESS_KEY", SECRET_KEY);
    let named = ("AWS_ENDPOINT_URL", endpoint.as_str());
    let other = ("AWS_ENDPOINT_URL", "https://other.test");
    let here = format!("s3::{endpoint}/fleet/m.zip");
    let with_keys = format!("{here}?aws_access_key_id=ADDRESSKEY&aws_access_key_secret=s");
    let amazon = "s3::https://s3-eu-west-1.amazonaws.com/fleet/m.zip".to_owned();
    for (source, variables, expected) in [
        (
            &here,
            vec![own, secret, named],
            Some("AKIATESTACCESSKEY%2F"),
        ),
        (&amazon, vec![own, secret, named], Some("%2Feu-west-1%2Fs3")),
        (&with_keys, vec![own, secret, named], Some("ADDRESSKEY%2F")),
        (&with_keys, vec![own, secret], Some("ADDRESSKEY%2F")),
        (&here, vec![own, secret], None),
        (&here, vec![own, secret, other], None),
        (
            &here,
            vec![own, secret, named, ("AWS_SKIP_SIGNATURE", "true")],
            None,
        ),
    ] {
        site.registry.serve("/fleet/m.zip", zipped(source));
        site.registry.log().clear();
        site.set_clouds(&variables);
        assert_eq!(site.text(source), *source);
        let hits = site.registry.log().hits();
        let query = hits
            .last()
            .unwrap()
            .request
            .query
            .clone()
            .unwrap_or_default();
        let is_signed = query.contains("X-Amz-Signature");
        assert_eq!(
            is_signed,
            expected.is_some(),
            "{source} {variables:?}: {query}"
        );
        assert!(
            query.contains(expected.unwrap_or_default()),
            "{source}: {query}"
        );
    }
}

/// The signature differs in each request, and the archive is still known.
#[test]
fn unchanged_objects_are_not_sent_again() {
    let mut site = own_endpoint();
    let archive = site.registry.url("/fleet/m.zip");
    let directory = site.registry.url("/fleet/mods//vpc");
    serve(&site.registry, &["mods/vpc/main.tf"]);
    site.registry
        .serve("/fleet/mods/vpc/main.tf", Document::octets("vpc"));
    site.registry.serve("/fleet/m.zip", zipped("zip"));
    let tagged = Misbehave::on("/fleet/m.zip").header("ETag", "\"1\"");
    site.registry.misbehave(tagged);
    for offline in [false, false, true] {
        site.run_again(offline);
        assert_eq!(site.text(&format!("s3::{archive}")), "zip");
        assert_eq!(site.text(&format!("s3::{directory}")), "vpc");
    }
    let log = site.registry.log();
    assert_eq!(log.count("GET", "/fleet/mods/vpc/main.tf"), 1);
    assert_eq!(log.count("GET", "/fleet/"), 2);
    let hits = log.hits();
    let archives = hits.iter().filter(|hit| hit.request.path == "/fleet/m.zip");
    let tags = archives.map(|hit| {
        hit.request
            .headers
            .iter()
            .any(|(name, _)| name == "if-none-match")
    });
    assert_eq!(tags.collect::<Vec<_>>(), [false, true]);
}

#[test]
fn credentials_do_not_follow_redirects() {
    let (site, other) = (own_endpoint(), FakeRegistry::start());
    other.serve("/elsewhere.zip", zipped("elsewhere"));
    let moved = Response::status(302).with("Location", &other.url("/elsewhere.zip"));
    let rule = Misbehave::on("/fleet/m.zip").respond(moved);
    site.registry.misbehave(rule);
    let source = site.registry.url("/fleet/m.zip");
    assert_eq!(site.text(&format!("s3::{source}")), "elsewhere");
    let sent = format!("{:?}", other.log().hits());
    for secret in ["X-Amz", "XTOKENX", ACCESS_KEY, "authorization"] {
        assert!(!sent.contains(secret), "{sent}");
    }
}

#[test]
fn refusals_say_what_to_do() {
    const DENIED: &str = "check that the bucket and the object exist";
    for (status, expected) in [
        (301, "name the region of the bucket in the address"),
        (401, DENIED),
        (403, DENIED),
        (404, "the server responded with 404"),
        (429, "the server responded with 429"),
        (500, "the server responded with 500"),
    ] {
        let site = own_endpoint();
        let answer = || Response::status(status).body("<Error>XTOKENX</Error>");
        site.registry
            .misbehave(Misbehave::on("/fleet/**").respond(answer()));
        for path in ["/fleet/m.zip", "/fleet/mods"] {
            let source = format!("s3::{}", site.registry.url(path));
            let found = site.explained(&source);
            assert_contains(&found, expected);
            for secret in ["XTOKENX", SECRET_KEY, "X-Amz"] {
                assert!(!found.contains(secret), "{found}");
            }
        }
    }
    let site = ModuleSite::start();
    let answer = Response::status(403);
    site.registry
        .misbehave(Misbehave::on("/fleet/**").respond(answer));
    let origin = site.registry.url("");
    let found = site.explained(&format!("s3::{origin}/fleet/m.zip"));
    assert_contains(&found, &format!("set `AWS_ENDPOINT_URL_S3={origin}`"));
    assert_contains(
        &site.explained("s3::http://minio.test/fleet/m.zip"),
        "plain http is not allowed for `http://minio.test/fleet/m.zip`",
    );
    let profile = site.explained(&format!("s3::{origin}/fleet/m.zip?aws_profile=work"));
    assert_contains(
        &profile,
        "the address names the profile `work`, but `AWS_PROFILE` does not",
    );
    assert_contains(&profile, "set `AWS_PROFILE=work`");
}

#[test]
fn a_broken_download_is_resumed() {
    let site = own_endpoint();
    site.registry
        .serve("/fleet/m.zip", zipped(&"x".repeat(50_000)));
    site.registry
        .misbehave(Misbehave::on("/fleet/m.zip").times(1).cut(20_000));
    let source = site.registry.url("/fleet/m.zip");
    assert_eq!(site.text(&format!("s3::{source}")).len(), 50_000);
}

#[test]
fn lists_of_attackers_are_refused() {
    let source = |site: &ModuleSite| format!("s3::{}", site.registry.url("/fleet/mods"));
    for (keys, next_page, expected) in [
        (&["mods/../../x"][..], "", "contains `..`"),
        (&["mods/a/../../../x"], "", "contains `..`"),
        (&["mods/..\\x"], "", "contains `..`"),
        (&["mods//abs"], "", "cannot be requested"),
        (&["mods/a", "mods/a/b"], "", "cannot store the module"),
        (&["mods/a", "mods/a"], "", "cannot store the module"),
        (&["other/main.tf"], "", "has no objects"),
        (&["mods-old/main.tf", "mods/"], "", "has no objects"),
        (&["mods/a"], "again", "exceeds the limit of 100000 objects"),
    ] {
        let site = own_endpoint();
        site.registry.serve("/fleet/", list(keys, next_page));
        site.registry.serve("/fleet/mods/a", Document::octets("a"));
        site.registry
            .serve("/fleet/mods/a/b", Document::octets("b"));
        let found = site.explained(&source(&site));
        assert!(found.contains(expected), "{keys:?}: {found}");
    }
    let mut site = own_endpoint();
    for (document, expected) in [
        ("text".to_owned(), "the list of objects is not valid XML"),
        ("x".repeat((8 << 20) + 1), "larger than the limit of 8388608 bytes"),
        (
            "<ListBucketResult><Contents><Key>mods/a</Key><Size>9999999999</Size></Contents></ListBucketResult>".to_owned(),
            "are larger than the limit of 2147483648 bytes",
        ),
    ] {
        site.registry.serve("/fleet/", Document::octets(document));
        site.run_again(false);
        let found = site.explained(&source(&site));
        assert!(found.contains(expected), "{found}");
    }
}
