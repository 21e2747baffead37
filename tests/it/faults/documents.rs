//! Lists of versions and descriptions of packages that no honest registry sends, and texts that are aimed at terminals.

use serde_json::{Value, json};
use tflock_test_support::{Body, Document, Misbehave};

use super::whole::Ends::{Locks, Refuses};
use super::whole::Prepare::{Field, List, Publish};
use super::whole::{Case, VERSIONS, case};

/// Adds a version to a list.
fn add(list: &mut Value, version: &str) {
    let versions = list["versions"].as_array_mut().unwrap();
    versions.push(json!({"version": version}));
}

/// A list of versions that has a field of so many brackets within one another.
fn brackets(count: usize) -> Vec<u8> {
    format!(
        "{{\"versions\":[],\"x\":{}1{}}}",
        "[".repeat(count),
        "]".repeat(count)
    )
    .into_bytes()
}

pub(super) const CASES: &[Case] = &[
    case("nothing is wrong", List(|_| {}), Locks("")),
    case(
        "version with a number of 20 digits",
        List(|list| list["versions"][0]["version"] = json!("1.0.99999999999999999999")),
        Refuses("which is too large for a version number"),
    ),
    case(
        "nothing but invalid versions",
        List(|list| list["versions"][0]["version"] = json!("newest")),
        Refuses("lists no valid version of"),
    ),
    case(
        "versions that write to terminals",
        List(|list| add(list, "\u{1b}[2J\u{7}")),
        Locks("\\u{1b}[2J\\u{7}"),
    ),
    case(
        "a warning that writes to terminals",
        List(|list| list["warnings"] = json!(["\u{1b}]0;title\u{7}\rerror: \u{9b}31m"])),
        Locks("\\u{1b}]0;title"),
    ),
    case(
        "a warning that plays an error",
        List(|list| list["warnings"] = json!(["x\nerror: all is lost"])),
        Locks("x     error: all is lost"),
    ),
    case(
        "200,000 versions",
        List(|list| (0..200_000).for_each(|patch| add(list, &format!("0.0.{patch}")))),
        Locks(""),
    ),
    case(
        "100,000 brackets in a field",
        Publish(|registry, spec| {
            registry.publish(spec);
            let body = Body::bytes(brackets(100_000));
            registry.serve(VERSIONS, Document::new("application/json", body));
        }),
        // The field is skipped, however deep it is.
        Refuses("no releases are available"),
    ),
    case(
        "3 GB of versions",
        Publish(|registry, spec| {
            registry.publish(spec);
            registry.serve(
                VERSIONS,
                Document::new("application/json", Body::Zeros(3 << 30)),
            );
            registry.misbehave(Misbehave::on("*/versions").chunked());
        }),
        Refuses("the answer has more than 16777216 bytes (limit for registry answers)"),
    ),
    case(
        "for another system",
        Field("os", || json!("darwin")),
        Refuses("it is for `darwin_amd64`"),
    ),
    case(
        "for another processor",
        Field("arch", || json!("ARM64")),
        Refuses("it is for `linux_ARM64`"),
    ),
    case(
        "plugin protocol of the future",
        Field("protocols", || json!(["7.0"])),
        Refuses("speaks plugin protocol 7.0, and 5.x or 6.x is needed"),
    ),
    case(
        "no plugin protocol",
        Field("protocols", || json!(["five"])),
        Refuses("`five` is no plugin protocol"),
    ),
    case(
        "checksum too short",
        Field("shasum", || json!("abc")),
        Refuses("`shasum` is not 64 hexadecimal digits"),
    ),
    case(
        "checksum of something else",
        Field("shasum", || json!("00".repeat(32))),
        Refuses("but the registry announced 0000"),
    ),
    case(
        "name that the list does not have",
        Field("filename", || json!("x.zip")),
        Refuses("checksum list has no SHA-256 checksum for `x.zip`"),
    ),
    case(
        "name that leads elsewhere",
        Field("filename", || json!("../../../../etc/passwd")),
        Refuses("checksum list has no SHA-256 checksum for `../../../../etc/passwd`"),
    ),
    case(
        "name that writes to terminals",
        Field("filename", || json!("\u{1b}[31m.zip")),
        Refuses("checksum list has no SHA-256 checksum for `\\u{1b}[31m.zip`"),
    ),
    case(
        "name of a megabyte",
        Field("filename", || json!("x".repeat(1 << 20))),
        Refuses("checksum list has no SHA-256 checksum for `xxxx"),
    ),
    case(
        "package in a file",
        Field("download_url", || json!("file:///etc/passwd")),
        Refuses("`download_url` is no http or https address"),
    ),
    case(
        "package at an ftp server",
        Field("download_url", || json!("ftp://127.0.0.1/x")),
        Refuses("`download_url` is no http or https address"),
    ),
    case(
        "the list is the description",
        Field("shasums_url", || json!("")),
        Refuses("checksum list has no SHA-256 checksum for"),
    ),
    case(
        "the signature is the description",
        Field("shasums_signature_url", || json!("")),
        Refuses("cannot verify the checksum list"),
    ),
    case(
        "a key that is null",
        Field("signing_keys", || json!({"gpg_public_keys": [null]})),
        Refuses("one of its signing keys is `null`"),
    ),
    case(
        "33 keys",
        Field(
            "signing_keys",
            || json!({"gpg_public_keys": vec![json!({"ascii_armor": "x"}); 33]}),
        ),
        Refuses("the registry sent 33 signing keys, 32 are accepted"),
    ),
    case(
        "a key of 300 KB",
        Field(
            "signing_keys",
            || json!({"gpg_public_keys": [{"ascii_armor": "x".repeat(300 << 10)}]}),
        ),
        Refuses("signing key 1 of 1 is unusable"),
    ),
];
