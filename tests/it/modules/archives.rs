//! Modules fetched as archives.

use std::io::Write as _;

use bzip2::write::BzEncoder;
use flate2::Compression;
use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzWriter};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use tar::{EntryType, Header};
use tflock_test_support::{
    Document, Misbehave, RawEntry, RawZip, Response, assert_contains, sha256_hex, table,
};

use super::ModuleSite;

/// The endings of compressed tar archives.
const COMPRESSED: [&str; 4] = ["tar.gz", "tar.bz2", "tar.xz", "tar.zst"];

/// Compresses bytes in the format with this ending.
fn compress(ending: &str, bytes: &[u8]) -> Vec<u8> {
    match ending {
        "tar.gz" => {
            let mut writer = GzEncoder::new(Vec::new(), Compression::best());
            writer.write_all(bytes).unwrap();
            writer.finish().unwrap()
        }
        "tar.bz2" => {
            let mut writer = BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            writer.write_all(bytes).unwrap();
            writer.finish().unwrap()
        }
        "tar.xz" => xz(bytes, 1 << 20),
        "tar.zst" => compress_to_vec(bytes, CompressionLevel::Fastest),
        other => panic!("{other}"),
    }
}

fn xz(bytes: &[u8], dictionary: u32) -> Vec<u8> {
    let mut options = XzOptions::with_preset(0);
    options.lzma_options.dict_size = dictionary;
    let mut writer = XzWriter::new(Vec::new(), options).unwrap();
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn tar_gz(entries: &[(&str, EntryType, &str)]) -> Vec<u8> {
    compress("tar.gz", &tar_archive(entries))
}

/// Builds a tar archive with these names, types and contents. The names are not normalized.
fn tar_archive(entries: &[(&str, EntryType, &str)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
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
    archive.into_inner().unwrap()
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
        let tarred = tar_archive(&[(name, file, "x")]);
        let archives = COMPRESSED.map(|ending| (ending, compress(ending, &tarred)));
        for (kind, bytes) in archives.into_iter().chain([("zip", zip(&[(name, "x")]))]) {
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
    let mut header = Header::new_gnu();
    header.set_size(100 << 20);
    header.as_old_mut().name[..1].copy_from_slice(b"z");
    header.set_cksum();
    let bomb = [header.as_bytes(), zeros.repeat(100).as_bytes()].concat();
    for ending in COMPRESSED {
        let path = format!("/bomb.{ending}");
        site.registry
            .serve(&path, Document::octets(compress(ending, &bomb)));
        let found = site.text(&site.registry.url(&path));
        assert!(
            found.contains("it unpacks to more than"),
            "{ending}: {found}"
        );
    }

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
fn archives_that_need_too_much_memory_or_are_cut_are_refused() {
    let site = ModuleSite::start();
    let file = tar_archive(&[("main.tf", EntryType::Regular, &"x".repeat(10_000))]);
    // An archive with one frame, whose window is 1 GiB.
    let window = [0x28, 0xb5, 0x2f, 0xfd, 0, 20 << 3, 1, 0, 0];
    let mut rows = vec![
        (
            "large.tar.xz".to_owned(),
            xz(&file, 256 << 20),
            "it needs more than",
        ),
        (
            "large.tar.zst".to_owned(),
            window.to_vec(),
            "it needs more than",
        ),
    ];
    for ending in COMPRESSED {
        let whole = compress(ending, &file);
        let half = whole[..whole.len() / 2].to_vec();
        rows.push((format!("half.{ending}"), half, "it cannot be read"));
        rows.push((
            format!("text.{ending}"),
            b"text".to_vec(),
            "it cannot be read",
        ));
        rows.push((format!("empty.{ending}"), Vec::new(), "cannot unpack"));
    }
    for (name, bytes, expected) in rows {
        let path = format!("/{name}");
        site.registry.serve(&path, Document::octets(bytes));
        let found = site.text(&site.registry.url(&path));
        assert!(found.contains(expected), "{name}: {found}");
    }
}

#[test]
fn a_checksum_list_is_requested_by_each_run() {
    let mut site = ModuleSite::start();
    let zipped = zip(&[("main.tf", "zip")]);
    let list = format!("{}  m.zip\n", sha256_hex(&zipped));
    site.registry.serve("/m.zip", Document::octets(zipped));
    site.registry.serve("/SUMS", Document::octets(list));
    let list = site.registry.url("/SUMS");
    let source = site.registry.url(&format!("/m.zip?checksum=file:{list}"));
    for offline in [false, false, true] {
        site.run_again(offline);
        assert_eq!(site.text(&source), "zip");
    }
    let count = |path: &str| site.registry.log().count("GET", path);
    assert_eq!((count("/SUMS"), count("/m.zip")), (2, 1));
    let unknown = site.registry.url("/unknown");
    let source = site
        .registry
        .url(&format!("/m.zip?checksum=file:{unknown}"));
    assert_contains(&site.text(&source), "is not on this machine");
    site.run_again(false);
    assert_contains(&site.text(&source), "the server responded with 404");
    let large = Document::octets("x".repeat((2 << 20) + 1));
    site.registry.serve("/large", large);
    let large = site.registry.url("/large");
    let source = site.registry.url(&format!("/m.zip?checksum=file:{large}"));
    assert_contains(
        &site.text(&source),
        "larger than the limit of 2097152 bytes",
    );
    let plain = site.registry.url("/m.zip?checksum=file:http://h.test/SUMS");
    assert_contains(
        &site.text(&plain),
        "plain http is not allowed for `http://h.test/SUMS`",
    );
}

/// MD5 and SHA-1 checksums can be forged, so they do not protect an archive on its way, and one from another address is not used.
#[test]
fn weak_checksums_count_less() {
    let mut site = ModuleSite::start();
    site.run_again(false);
    let weak = "0".repeat(32);
    assert_eq!(
        site.text(&format!("http://h.test/m.zip?checksum=md5:{weak}")),
        "`http://h.test/m.zip` would be fetched over plain http"
    );
    let zipped = zip(&[("main.tf", "zip")]);
    let (md5, sha256) = (md5_hex(&zipped), sha256_hex(&zipped));
    for path in ["/a.zip", "/b.zip"] {
        site.registry.serve(path, Document::octets(zipped.clone()));
    }
    for checksum in [sha256, md5] {
        for path in ["/a.zip", "/b.zip"] {
            let source = site.registry.url(&format!("{path}?checksum={checksum}"));
            assert_eq!(site.text(&source), "zip");
        }
    }
    let count = |path: &str| site.registry.log().count("GET", path);
    assert_eq!((count("/a.zip"), count("/b.zip")), (2, 1));
}

fn md5_hex(bytes: &[u8]) -> String {
    use md5::Digest as _;
    let digest = md5::Md5::digest(bytes);
    digest
        .iter()
        .fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
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

#[test]
fn a_directory_that_does_not_exist_is_named() {
    let site = ModuleSite::start();
    let missing = site.home.path().join("missing");
    let missing = missing.to_str().unwrap();
    for source in [missing.to_owned(), format!("file://{missing}")] {
        let found = site.text(&source);
        let expected = format!("cannot read the directory `{missing}`");
        assert!(found.contains(&expected), "{found}");
    }
}
