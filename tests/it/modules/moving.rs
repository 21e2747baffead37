//! Archives without a checksum: each run asks the server whether they have changed.

use std::fs;
use std::path::Path;

use tflock_test_support::{Document, Hit, Misbehave, RawEntry, RawZip, Response};

use super::ModuleSite;

const PATH: &str = "/m.zip";

fn zip(content: &str) -> Vec<u8> {
    RawZip::of([RawEntry::stored("main.tf", content)]).to_bytes()
}

/// Serves an archive of a module at `path` with these headers and without the server's own `ETag`.
fn publish(site: &ModuleSite, path: &str, content: &str, headers: &[(&str, &str)]) {
    site.registry.serve(path, Document::octets(zip(content)));
    let plain = Misbehave::on(path).without_header("ETag");
    let add = |rule: Misbehave, (name, value): &(&str, &str)| rule.header(name, value);
    let rule = headers.iter().fold(plain, add);
    site.registry.behave();
    site.registry.misbehave(rule);
}

/// Returns the conditional header of a request.
fn condition(hit: &Hit) -> Option<(&'static str, &str)> {
    let mut names = ["if-none-match", "if-modified-since"].into_iter();
    names.find_map(|name| Some((name, hit.request.header(name)?)))
}

/// Starts another run. Returns the text of the module, and the path, condition and status of each request.
fn run(site: &mut ModuleSite, source: &str) -> (String, Vec<String>) {
    site.registry.log().clear();
    site.run_again(false);
    let text = site.text(source);
    let requests = site.registry.log().hits().into_iter().map(|hit| {
        let condition =
            condition(&hit).map_or_else(String::new, |(name, value)| format!(" {name}: {value}"));
        format!("{}{condition} -> {}", hit.request.path, hit.status())
    });
    (text, requests.collect())
}

#[test]
fn unchanged_archives_are_not_sent_again() {
    const FIRST: &str = "Sat, 21 Nov 2026 12:00:00 GMT";
    const NEXT: &str = "Sat, 21 Nov 2026 12:00:01 GMT";
    let whole = "/m.zip -> 200";
    let by_date = "/m.zip if-modified-since: Sat, 21 Nov 2026 12:00:00 GMT -> 304";
    let by_tag = "/m.zip if-none-match: \"1\" -> 304";
    let (tag, modified) = (("ETag", "\"1\""), ("Last-Modified", FIRST));
    let weak = "/m.zip if-none-match: W/\"1\" -> 304";
    for (headers, again) in [
        (&[tag][..], by_tag),
        (&[("ETag", "W/\"1\"")], weak),
        (&[tag, modified, ("Date", NEXT)], by_tag),
        (&[modified, ("Date", NEXT)], by_date),
        // The file may have changed again within the second in which it was sent.
        (&[modified, ("Date", FIRST)], whole),
        (&[modified], whole),
        (&[], whole),
    ] {
        let mut site = ModuleSite::start();
        let source = site.registry.url(PATH);
        publish(&site, PATH, "first", headers);
        let expected = |requests: &str| ("first".to_owned(), vec![requests.to_owned()]);
        assert_eq!(run(&mut site, &source), expected(whole), "{headers:?}");
        for _ in 0..2 {
            assert_eq!(run(&mut site, &source), expected(again), "{headers:?}");
        }
    }
}

#[test]
fn three_runs_download_the_archive_once() {
    let mut site = ModuleSite::start();
    let source = site.registry.url(PATH);
    let content = "x".repeat(1 << 20);
    publish(&site, PATH, &content, &[("ETag", "\"1\"")]);
    for _ in 0..3 {
        site.run_again(false);
        assert_eq!(site.text(&source), content);
    }
    let log = site.registry.log();
    let statuses: Vec<u16> = log.hits().iter().map(|hit| hit.status()).collect();
    assert_eq!(statuses, [200, 304, 304]);
    assert!(log.bytes(PATH) <= zip(&content).len() as u64);
}

#[test]
fn a_changed_archive_replaces_the_cached_one() {
    let mut site = ModuleSite::start();
    let source = site.registry.url(PATH);
    for (tag, content) in [("\"1\"", "first"), ("\"2\"", "second"), ("\"3\"", "first")] {
        publish(&site, PATH, content, &[("ETag", tag)]);
        let (text, requests) = run(&mut site, &source);
        assert_eq!(text, content);
        assert!(requests[0].ends_with("200"), "{requests:?}");
        let (text, requests) = run(&mut site, &source);
        assert_eq!(text, content);
        assert_eq!(requests, [format!("/m.zip if-none-match: {tag} -> 304")]);
    }
}

#[test]
fn a_tag_goes_only_to_the_address_that_gave_it() {
    let mut site = ModuleSite::start();
    let source = site.registry.url(PATH);
    // Both archives have the same tag, as on servers that use version numbers as tags.
    for (path, content) in [("/a.zip", "a"), ("/b.zip", "b")] {
        site.registry.serve(path, Document::octets(zip(content)));
        let tagged = Misbehave::on(path).without_header("ETag");
        site.registry.misbehave(tagged.header("ETag", "\"1\""));
    }
    for (target, text, requests) in [
        ("/a.zip", "a", "/a.zip -> 200"),
        ("/a.zip", "a", "/a.zip if-none-match: \"1\" -> 304"),
        ("/b.zip", "b", "/b.zip -> 200"),
        ("/b.zip", "b", "/b.zip if-none-match: \"1\" -> 304"),
        // Every download has a different signature, so the URL changes each time.
        ("/b.zip?signature=1", "b", "/b.zip -> 200"),
        ("/b.zip?signature=2", "b", "/b.zip -> 200"),
    ] {
        let target = site.registry.url(target);
        let moved = Misbehave::on(PATH).redirect(&target).times(1);
        site.registry.misbehave(moved);
        let (found, hits) = run(&mut site, &source);
        assert_eq!(found, text, "{target}");
        assert_eq!(hits, ["/m.zip -> 302", requests], "{target}");
    }
}

#[test]
fn a_redirecting_page_is_requested_as_well_as_its_archive() {
    let mut site = ModuleSite::start();
    publish(&site, PATH, "x", &[("ETag", "\"1\"")]);
    site.registry.serve("/page", Document::octets("a page"));
    let named = Misbehave::on("/page").header("X-Terraform-Get", PATH);
    site.registry.misbehave(named);
    let source = site.registry.url("/page");
    let page = "/page -> 200";
    let expected = [
        [page, "/m.zip -> 200"],
        [page, "/m.zip if-none-match: \"1\" -> 304"],
    ];
    for requests in expected {
        let (text, found) = run(&mut site, &source);
        assert_eq!(text, "x");
        assert_eq!(found, requests);
    }
}

#[test]
fn refresh_sends_no_tag() {
    let mut site = ModuleSite::start();
    let source = site.registry.url(PATH);
    publish(&site, PATH, "x", &[("ETag", "\"1\"")]);
    run(&mut site, &source);
    site.registry.log().clear();
    site.run_with(false, true);
    assert_eq!(site.text(&source), "x");
    let hits = site.registry.log().hits();
    assert_eq!((hits[0].status(), condition(&hits[0])), (200, None));
}

#[test]
fn without_a_network_the_cached_archive_is_used() {
    let mut site = ModuleSite::start();
    let kept = site.registry.url(PATH);
    let other = site.registry.url("/other.zip");
    publish(&site, PATH, "first", &[("ETag", "\"1\"")]);
    run(&mut site, &kept);
    publish(&site, "/other.zip", "x", &[]);
    run(&mut site, &other);
    site.registry.log().clear();
    site.run_again(true);
    assert_eq!(site.text(&kept), "first");
    let missing = site.text(&other);
    assert!(missing.contains("offline"), "{missing}");
    assert_eq!(site.registry.log().total(), 0);
}

#[test]
fn damaged_archives_are_downloaded_again() {
    let mut site = ModuleSite::start();
    let source = site.registry.url(PATH);
    publish(&site, PATH, "first", &[("ETag", "\"1\"")]);
    site.run_again(false);
    let kept = site.fetch(&source, None).unwrap();
    fs::write(kept.join("main.tf"), "first and more").unwrap();
    let expected = ("first".to_owned(), vec!["/m.zip -> 200".to_owned()]);
    assert_eq!(run(&mut site, &source), expected);
}

#[test]
fn a_response_304_to_an_unconditional_request_is_an_error() {
    let mut site = ModuleSite::start();
    let source = site.registry.url(PATH);
    let rule = Misbehave::on(PATH).respond(Response::status(304).with("ETag", "\"1\""));
    site.registry.misbehave(rule);
    let (text, _) = run(&mut site, &source);
    assert!(text.contains("the server responded with 304"), "{text}");
}

#[test]
fn secrets_of_a_url_are_used_but_not_stored() {
    let mut site = ModuleSite::start();
    publish(&site, PATH, "x", &[("ETag", "\"1\"")]);
    let source = site.registry.url("/m.zip?token=hunter2");
    let source = source.replacen("://", "://user:passw0rd@", 1);
    for condition in [None, Some(("if-none-match", "\"1\""))] {
        site.registry.log().clear();
        site.run_again(false);
        assert_eq!(site.text(&source), "x");
        let hits = site.registry.log().hits();
        let request = &hits[0].request;
        assert_eq!(self::condition(&hits[0]), condition);
        assert_eq!(request.query.as_deref(), Some("token=hunter2"));
        assert!(request.header("authorization").is_some());
    }
    let kept = everything_below(&site.home.path().join("cache"));
    assert!(kept.contains("\"1\""), "the tag is kept");
    for secret in ["hunter2", "passw0rd", "127.0.0.1", "m.zip"] {
        assert!(!kept.contains(secret), "{secret}");
    }
}

/// Returns the names and contents of all files as text.
fn everything_below(directory: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        text.push_str(&path.file_name().unwrap().to_string_lossy());
        if path.is_dir() {
            text.push_str(&everything_below(&path));
        } else {
            text.push_str(&String::from_utf8_lossy(&fs::read(&path).unwrap()));
        }
    }
    text
}
