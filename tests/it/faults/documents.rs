//! Invalid version lists and package descriptions, and texts with terminal escape sequences.

use serde_json::{Value, json};
use tflock_test_support::{Body, Document, Misbehave, table};

use super::whole::Ends::{Locks, Refuses};
use super::whole::Prepare::{Field, JsonField, List, Publish};
use super::whole::{Case, VERSIONS, case};

/// Adds a version to a version list.
fn add(list: &mut Value, version: &str) {
    let versions = list["versions"].as_array_mut().unwrap();
    versions.push(json!({"version": version}));
}

/// A version list with a field of this many nested brackets.
fn brackets(count: usize) -> Vec<u8> {
    let (open, close) = ("[".repeat(count), "]".repeat(count));
    format!("{{\"versions\":[],\"x\":{open}1{close}}}").into_bytes()
}

/// The columns: the name, a field of the description, its value, and the error.
const FIELDS: &str = r#"
    for another system               | os                    | "darwin"                    | it is for `darwin_amd64`
    for another processor            | arch                  | "ARM64"                     | it is for `linux_ARM64`
    plugin protocol of the future    | protocols             | ["7.0"]                     | supports plugin protocol 7.0, but 5.x or 6.x is needed
    no plugin protocol               | protocols             | ["five"]                    | `five` is not a plugin protocol
    checksum too short               | shasum                | "abc"                       | `shasum` is not 64 hexadecimal digits
    name that the list does not have | filename              | "x.zip"                     | checksum list has no SHA-256 checksum for `x.zip`
    name that leads elsewhere        | filename              | "../../../../etc/passwd"    | checksum list has no SHA-256 checksum for `../../../../etc/passwd`
    package in a file                | download_url          | "file:///etc/passwd"        | `download_url` is not an http or https address
    package at an ftp server         | download_url          | "ftp://127.0.0.1/x"         | `download_url` is not an http or https address
    the list is the description      | shasums_url           | ""                          | checksum list has no SHA-256 checksum for
    the signature is the description | shasums_signature_url | ""                          | cannot verify the checksum list
    a key that is null               | signing_keys          | {"gpg_public_keys": [null]} | one of its signing keys is `null`
"#;

pub(super) fn cases() -> Vec<Case> {
    let fields = table(FIELDS)
        .into_iter()
        .map(|[name, field, value, text]| case(name, JsonField(field, value), Refuses(text)));
    fields.chain(built()).collect()
}

fn built() -> Vec<Case> {
    vec![
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
            "a warning that imitates an error",
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
            // Unknown fields are skipped at any depth.
            Refuses("no releases are available"),
        ),
        case(
            "3 GB of versions",
            Publish(|registry, spec| {
                registry.publish(spec);
                let zeros = Document::new("application/json", Body::Zeros(3 << 30));
                registry.serve(VERSIONS, zeros);
                registry.misbehave(Misbehave::on("*/versions").chunked());
            }),
            Refuses("the response has more than 16777216 bytes (limit for registry answers)"),
        ),
        case(
            "checksum of something else",
            Field("shasum", || json!("00".repeat(32))),
            Refuses("but the registry announced 0000"),
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
    ]
}
