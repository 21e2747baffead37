//! Invalid version lists and package descriptions, including text with terminal escape sequences.

use serde_json::{Value, json};
use tflock_test_support::{Document, FakeRegistry, Misbehave, ProviderSpec, ResponseBody, table};

use super::whole::FaultSetup::{Json, Publish};
use super::whole::{DOWNLOAD, RunFault, VERSIONS, fault};

/// The columns: the fault, a JSON pointer into the version list, the value to set there, and the result.
const LISTS: &str = r#"
    nothing is wrong                    |                     |                               | locks
    version with a number of 20 digits  | /versions/0/version | "1.0.99999999999999999999"    | which contains a number that is too large
    only invalid versions               | /versions/0/version | "newest"                      | lists no valid version of
    escape sequences in a version       | /versions/-         | {"version": "\u001b[2J\u0007"} | locks: \u{1b}[2J\u{7}
    escape sequences in a warning       | /warnings           | ["\u001b]0;title\u0007\rerror: \u009b31m"] | locks: \u{1b}]0;title
    a warning that imitates an error    | /warnings           | ["x\nerror: all is lost"]     | locks: x     error: all is lost
"#;

/// The columns: the fault, a JSON pointer into the description, the value to set there, and the result.
const DESCRIPTIONS: &str = r#"
    for another system               | /os                    | "darwin"                    | it is for `darwin_amd64`
    for another processor            | /arch                  | "ARM64"                     | it is for `linux_ARM64`
    plugin protocol of the future    | /protocols             | ["7.0"]                     | supports plugin protocol 7.0, but 5.x or 6.x is required
    no plugin protocol               | /protocols             | ["five"]                    | `five` is not a valid plugin protocol version
    checksum too short               | /shasum                | "abc"                       | `shasum` is not 64 hexadecimal digits
    name that the list does not have | /filename              | "x.zip"                     | checksum list has no SHA-256 checksum for `x.zip`
    name that leads elsewhere        | /filename              | "../../../../etc/passwd"    | checksum list has no SHA-256 checksum for `../../../../etc/passwd`
    package in a file                | /download_url          | "file:///etc/passwd"        | `download_url` is not an http or https address
    package at an ftp server         | /download_url          | "ftp://127.0.0.1/x"         | `download_url` is not an http or https address
    the list is the description      | /shasums_url           | ""                          | checksum list has no SHA-256 checksum for
    the signature is the description | /shasums_signature_url | ""                          | cannot verify the checksum list
    a key that is null               | /signing_keys          | {"gpg_public_keys": [null]} | one of its signing keys is `null`
    checksum of something else       | /shasum                | "0000000000000000000000000000000000000000000000000000000000000000" | but the registry announced 0000
    escape sequence in a name        | /filename              | "\u001b[31m.zip"            | checksum list has no SHA-256 checksum for `\u{1b}[31m.zip`
"#;

/// The columns: the name of a document in [`publish`], and the result.
const LARGE: &str = "
    200,000 versions            | locks
    100,000 brackets in a field | no releases are available
    3 GB of versions            | the response is larger than 16777216 bytes (limit for registry responses)
    name of a megabyte          | checksum list has no SHA-256 checksum for `xxxx
    33 keys                     | the registry sent 33 signing keys; the limit is 32
    a key of 300 KB             | signing key 1 of 1 is unusable
";

pub(super) fn faults() -> Vec<RunFault> {
    let mut faults = Vec::new();
    for [name, pointer, value, result] in table(LISTS) {
        faults.push(fault(name, Json(VERSIONS, pointer, value), result));
    }
    for [name, pointer, value, result] in table(DESCRIPTIONS) {
        faults.push(fault(name, Json(DOWNLOAD, pointer, value), result));
    }
    for [name, result] in table(LARGE) {
        faults.push(fault(name, Publish(publish), result));
    }
    faults
}

/// Publishes the provider with a large value in one of its documents.
fn publish(name: &str, registry: &mut FakeRegistry, spec: ProviderSpec) {
    registry.publish(spec);
    let describe = |field: &str, value: Value| {
        registry.change_json(DOWNLOAD, |description| description[field] = value);
    };
    let serve = |body| registry.serve(VERSIONS, Document::new("application/json", body));
    match name {
        "200,000 versions" => registry.change_json(VERSIONS, add_versions),
        // Unknown fields are skipped at any depth.
        "100,000 brackets in a field" => serve(ResponseBody::bytes(brackets(100_000))),
        "3 GB of versions" => {
            serve(ResponseBody::Zeros(3 << 30));
            registry.misbehave(Misbehave::on("*/versions").chunked());
        }
        "name of a megabyte" => describe("filename", json!("x".repeat(1 << 20))),
        "33 keys" => describe("signing_keys", keys(33, "x")),
        "a key of 300 KB" => describe("signing_keys", keys(1, &"x".repeat(300 << 10))),
        _ => panic!("no document is named `{name}`"),
    }
}

fn add_versions(list: &mut Value) {
    let versions = list["versions"].as_array_mut().unwrap();
    versions.extend((0..200_000).map(|patch| json!({"version": format!("0.0.{patch}")})));
}

/// Builds a version list with a field of `count` nested brackets.
fn brackets(count: usize) -> Vec<u8> {
    let (open, close) = ("[".repeat(count), "]".repeat(count));
    format!("{{\"versions\":[],\"x\":{open}1{close}}}").into_bytes()
}

fn keys(count: usize, armor: &str) -> Value {
    json!({"gpg_public_keys": vec![json!({"ascii_armor": armor}); count]})
}
