//! Modules fetched as archives.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{EntryType, Header};
use tflock_test_support::{
    Document, Misbehave, RawEntry, RawZip, Response, assert_contains, sha256_hex, table,
};

use super::ModuleSite;

/// Builds a gzip-compressed tar archive with these names, types and contents. The names are not normalized.
fn tar_gz(entries: &[(&str, EntryType, &str)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, kind, content) in entries {
        let mut header = Header::new_gnu();
        header.set_entry_type(*kind);
        header.set_mode(0o644);
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        let is_link = kind.is_symlink() || kind.is_hard_link();
        let content = if is_link {
            header.set_link_name(content).unwrap();
            ""
        } else {
            content
        };
        header.set_size(content.len() as u64);
        header.set_cksum();
        archive.append(&header, content.as_bytes()).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap()
}

fn zip(entries: &[(&str, &str)]) -> Vec<u8> {
    let entries = entries.iter();
    RawZip::of(entries.map(|(name, content)| RawEntry::streamed(name, content))).to_bytes()
}

#[test]
fn forms() {
    let site = ModuleSite::start();
    let zipped = zip(&[
        ("main.tf", "zip"),
        ("a/b/main.tf", "b"),
        ("a/c/main.tf", "c"),
    ]);
    let file = EntryType::Regular;
    let tarred = tar_gz(&[
        ("repo-1/", EntryType::Directory, ""),
        ("repo-1/main.tf", file, "tar"),
    ]);
    let digest = sha256_hex(&zipped);
    for path in ["/m.zip", "/plain"] {
        site.registry.serve(path, Document::octets(zipped.clone()));
    }
    for path in ["/m.tar.gz", "/m.tgz"] {
        site.registry.serve(path, Document::octets(tarred.clone()));
    }
    for [path, expected] in table(
        "
        /m.zip                        | zip
        /m.zip//a/b                   | b
        /m.zip//*/c                   | c
        /m.zip//a/b/../c              | c
        /m.zip//a/./nope/../../a//b/  | b
        /m.zip//a/..                  | zip
        /plain?archive=zip            | zip
        /m.tar.gz//*                  | tar
        /m.tgz//repo-1                | tar
        /m.zip?checksum=sha256:DIGEST | zip
        /m.zip?checksum=DIGEST        | zip
        ",
    ) {
        let url = site.registry.url(&path.replace("DIGEST", &digest));
        assert_eq!(site.text(&url), expected, "{path}");
    }
    // One request without and one with a checksum, whichever directories of the archive are named.
    assert_eq!(site.registry.log().count("GET", "/m.zip"), 2);
    for [path, expected] in table(
        "
        /none.zip             | the server responded with 404
        /m.zip?archive=tgz    | cannot unpack the archive
        /m.tgz?archive=zip    | package is not a valid zip archive
        /m.zip?checksum=ZEROS | has the checksum `sha256:
        /m.zip//*/*           | 2 directories that match
        ",
    ) {
        let url = site.registry.url(&path.replace("ZEROS", &"0".repeat(64)));
        assert_contains(&site.text(&url), expected);
    }
    let plain = site.text("http://h.test/m.zip");
    assert_eq!(
        plain,
        "`http://h.test/m.zip` would be fetched over plain http"
    );
    assert!(site.git_runs().is_empty());
}

#[test]
fn pages_name_the_source_of_a_module() {
    let site = ModuleSite::start();
    site.registry
        .serve("/m.zip", Document::octets(zip(&[("a/b/main.tf", "x")])));
    let location = |path: &str, header: &str| {
        site.registry
            .misbehave(Misbehave::on(path).header("X-Terraform-Get", header));
    };
    for path in ["/header", "/relative", "/loop", "/silent"] {
        site.registry.serve(path, Document::octets("a page"));
    }
    location("/header", &site.registry.url("/m.zip//a"));
    location("/relative", "/m.zip//a/b");
    location("/loop", "/loop");
    let page = r#"<html><head><meta name="terraform-get" content="./m.zip//a"></head></html>"#;
    site.registry.serve("/page", Document::octets(page));
    for [path, expected] in table(
        "
        /header//b | x
        /relative  | x
        /page//b   | x
        /loop      | redirects more than 5 times
        /silent    | is neither an archive nor a redirect to a module source
        /none      | the server responded with 404 Not Found
        ",
    ) {
        let found = site.text(&site.registry.url(path));
        assert!(found.ends_with(expected), "{path}: {found}");
    }
    let hits = site.registry.log().hits();
    let queries = hits.iter().filter(|hit| hit.request.path == "/header");
    let queries: Vec<_> = queries.map(|hit| hit.request.query.clone()).collect();
    assert_eq!(queries, [Some("terraform-get=1".to_owned())]);
    assert_eq!(site.registry.log().count("GET", "/loop"), 1);
}

#[test]
fn entries_never_leave_the_directory() {
    let site = ModuleSite::start();
    let file = EntryType::Regular;
    for (name, expected) in [
        ("../x", "contains `..`"),
        ("a/../../x", "contains `..`"),
        ("a\\..\\x", "contains `..`"),
        ("/abs/main.tf", "is inside"),
    ] {
        let tarred = tar_gz(&[(name, file, "x")]);
        for (kind, bytes) in [("tgz", tarred), ("zip", zip(&[(name, "x")]))] {
            let path = format!("/{}.{kind}", sha256_hex(name.as_bytes()));
            site.registry.serve(&path, Document::octets(bytes));
            let found = site.fetch(&site.registry.url(&path), None);
            let found = found.map(|directory| {
                assert!(directory.join("abs/main.tf").exists());
                "is inside".to_owned()
            });
            let found = found.unwrap_or_else(|error| error);
            assert!(found.contains(expected), "{name} in {kind}: {found}");
        }
    }
}

#[test]
fn entries_that_are_links_become_files() {
    let site = ModuleSite::start();
    let bytes = tar_gz(&[
        ("main.tf", EntryType::Symlink, "/etc/passwd"),
        ("hard.tf", EntryType::Link, "/etc/passwd"),
        ("device", EntryType::Char, ""),
        ("etc", EntryType::Symlink, "/etc"),
    ]);
    site.registry.serve("/m.tgz", Document::octets(bytes));
    let link = RawEntry::stored("main.tf", "/etc/passwd").mode(0o120_777);
    site.registry
        .serve("/m.zip", Document::octets(RawZip::of([link]).to_bytes()));
    assert_eq!(site.text(&site.registry.url("/m.tgz")), "");
    assert_eq!(site.text(&site.registry.url("/m.zip")), "/etc/passwd");
    let below = site.text(&site.registry.url("/m.tgz//etc"));
    assert!(below.contains("has no directory `etc`"), "{below}");
    let bytes = tar_gz(&[
        ("d", EntryType::Symlink, "/tmp"),
        ("d/main.tf", EntryType::Regular, "x"),
    ]);
    site.registry.serve("/through.tgz", Document::octets(bytes));
    let through = site.text(&site.registry.url("/through.tgz"));
    assert!(through.contains("cannot unpack"), "{through}");
}

#[test]
fn entries_that_unpack_to_too_much_are_refused() {
    let site = ModuleSite::start();
    let zeros = "\0".repeat(1 << 20);
    let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
    let mut header = Header::new_gnu();
    header.set_size(200 << 20);
    header.as_old_mut().name[..1].copy_from_slice(b"z");
    header.set_cksum();
    bomb.write_all(header.as_bytes()).unwrap();
    for _ in 0..200 {
        bomb.write_all(zeros.as_bytes()).unwrap();
    }
    site.registry
        .serve("/bomb.tgz", Document::octets(bomb.finish().unwrap()));
    let found = site.text(&site.registry.url("/bomb.tgz"));
    assert!(found.contains("it unpacks to more than"), "{found}");

    let packed = RawEntry::deflated("z", zeros.repeat(100));
    let lying = RawEntry {
        unpacked: 5,
        ..packed.clone()
    };
    let too_much = "unpacks to 104857600 bytes; the limit is";
    for (path, entry, expected) in [
        ("/bomb.zip", packed, too_much),
        ("/lie.zip", lying, "differs from the size in"),
    ] {
        site.registry
            .serve(path, Document::octets(RawZip::of([entry]).to_bytes()));
        let found = site.text(&site.registry.url(path));
        assert!(found.contains(expected), "{path}: {found}");
    }
}

#[test]
fn redirects_of_archives_stay_on_https_or_loopback() {
    let site = ModuleSite::start();
    let rule = Misbehave::on("/m.zip");
    let moved = Response::status(302).with("Location", "http://h.test/m.zip");
    site.registry.misbehave(rule.respond(moved));
    let found = site.text(&site.registry.url("/m.zip"));
    assert_contains(
        &found,
        "plain http is not allowed for `http://h.test/m.zip`",
    );
}
