//! Incorrect bodies: unexpected lengths, encodings or content types, and changed or endless content.

use std::io::Write as _;
use std::sync::LazyLock;

use flate2::Compression;
use flate2::write::GzEncoder;
use tflock_test_support::{Misbehave, Response, ResponseBody};

use super::RequestKind;

/// The columns: the name, how often the fault occurs, the rule, and the result; see [`Fault`](super::Fault).
///
/// Unknown encodings such as `br` are ignored, as in Go: tflock uses the body unchanged.
pub(super) const FAULTS: &str = r#"
    empty body              | ever | json=                        | @unusable
    web page as JSON        | ever | json=<html>Sign in</html>    | @unusable
    not JSON                | ever | json=nonsense                | @unusable
    truncated JSON          | ever | json={"versions":[{          | @unusable
    null                    | ever | json=null                    | @unusable
    a list                  | ever | json=[]                      | @unusable
    a number                | ever | json=1e999999                | @unusable
    web page                | ever | html                         | @web page
    an empty object         | ever | json={}                      | @empty
    fields of other types   | ever | json={"providers.v1": 5, "versions": 5, "archives": 5, "os": 5, "protocols": {}, "signing_keys": []} | @other types
    100,000 brackets        | ever | @brackets                    | @long JSON
    byte order mark         | ever | @byte order mark             | @byte order mark
    UTF-16                  | ever | @UTF-16                      | @unusable
    invalid UTF-8           | ever | @invalid UTF-8               | @unusable
    NULs                    | ever | @NULs                        | @unusable
    first bit flipped       | ever | flip=0                       | @first bit
    last byte missing       | ever | @without last byte           | @last byte
    one byte too many       | ever | @additional byte             | @additional bytes
    body sent twice         | ever | @twice                       | @additional bytes
    no content type         | ever | without_header=Content-Type  | @no content type
    length too long         | ever | content_length=50000         | @too long
    length too long         | once | content_length=50000         | @resumed
    length too short        | ever | content_length=20            | @unusable
    length of 5 GB          | ever | content_length=5000000000    | @too large
    3 GB announced          | ever | @zeros                       | @too large
    3 GB in chunks          | ever | @chunked zeros               | @too large unless package
    correct gzip            | ever | @gzip                        | locks
    gzip header, plain body | ever | @gzip header                 | @plain body
    gzip cut short          | ever | @gzip cut short              | @gzip cut short
    gzip of 64 MB of spaces | ever | @gzip bomb                   | @too large unless package
    br header, plain body   | ever | @br header                   | locks
"#;

/// The columns: the name of a result, the kinds of requests to which the row applies, and the expected outcome: an
/// error, `locks`, or `@` and the name of another result. The first matching row applies.
///
/// - `unusable` is a body that is neither valid JSON of the protocol nor a valid list, signature or package.
/// - Terraform and OpenTofu ignore data after a JSON value or after a valid signature, and so does tflock.
/// - Discovery and mirrors require the content type `application/json`.
/// - `resumed`: tflock requests the rest of a package, but the server then announces a different length.
pub(super) const RESULTS: &str = "
    unusable         | list                     | checksum list has no SHA-256 checksum for
    unusable         | signature                | cannot verify the checksum list
    unusable         | package                  | downloaded package does not match the checksum its registry promised
    unusable         | manifest target blob     | cannot use the OCI artifact
    unusable         | *                        | the response does not follow the protocol
    web page         | discovery index archives | the content type is `text/html`
    web page         | *                        | @unusable
    empty            | discovery                | does not offer a provider registry
    empty            | versions index           | no releases are available
    empty            | download                 | it is for `_`
    empty            | token                    | its response has no token
    empty            | tags                     | no releases are available
    empty            | archives                 | has no package for `linux_amd64`
    empty            | *                        | @unusable
    other types      | discovery                | does not support the provider registry protocol
    other types      | token                    | its response has no token
    other types      | tags                     | no releases are available
    other types      | *                        | @unusable
    long JSON        | signature                | @too large
    long JSON        | *                        | @unusable
    byte order mark  | list                     | checksum list has an invalid SHA-256 checksum for
    byte order mark  | *                        | @unusable
    first bit        | list                     | but the registry announced
    first bit        | *                        | @unusable
    last byte        | list                     | cannot verify the checksum list
    last byte        | *                        | @unusable
    additional bytes | discovery package        | @unusable
    additional bytes | manifest target blob     | @unusable
    additional bytes | list                     | cannot verify the checksum list
    additional bytes | *                        | locks
    no content type  | discovery index archives | the content type is missing
    no content type  | manifest target          | its media type is missing
    no content type  | *                        | locks
    too long         | blob                     | @unusable
    too long         | *                        | the response was cut off after
    resumed          | package                  | could not be resumed
    resumed          | blob                     | @unusable
    resumed          | *                        | locks
    too large        | discovery                | limit for discovery documents
    too large        | list                     | limit for checksum lists
    too large        | signature                | limit for signatures
    too large        | package blob             | limit for packages
    too large        | token                    | limit for tokens
    too large        | tags                     | limit for lists of tags
    too large        | manifest target          | limit for manifests
    too large        | *                        | limit for registry responses
    too large unless package | package blob     | @unusable
    too large unless package | *                | @too large
    plain body       | package blob             | the body does not match its `Content-Encoding` header
    plain body       | *                        | the response was cut off after 0 bytes
    gzip cut short   | package blob             | the body does not match its `Content-Encoding` header
    gzip cut short   | *                        | the response was cut off after
";

/// Applies the named change to `rule`. Returns `None` if no change has this name.
pub(super) fn change(name: &str, rule: Misbehave, kind: RequestKind) -> Option<Misbehave> {
    let is_package = kind.is_package();
    let encoded = |rule: Misbehave| rule.header("Content-Encoding", "gzip");
    Some(match name {
        "brackets" => rule.respond(json("[".repeat(100_000))),
        "byte order mark" => rule.rewrite(|body| [b"\xef\xbb\xbf", &*body].concat()),
        "UTF-16" => rule.rewrite(|body| body.into_iter().flat_map(|byte| [byte, 0]).collect()),
        "invalid UTF-8" => rule.respond(json(b"{\"versions\":\"\xff\"}")),
        "NULs" => rule.respond(json(vec![0; 1000])),
        "without last byte" => rule.rewrite(|body| without_end(body, 1)),
        "additional byte" => rule.rewrite(|body| [&*body, b"}"].concat()),
        "twice" => rule.rewrite(|body| body.repeat(2)),
        "zeros" => rule.respond(zeros(if is_package { 5 << 30 } else { 3 << 30 })),
        // Packages of unknown length are only subject to the 4 GB limit.
        "chunked zeros" => {
            let size = if is_package { 64 << 20 } else { 3 << 30 };
            rule.respond(zeros(size)).chunked()
        }
        "gzip" => encoded(rule.rewrite(|body| gzip(&body))),
        "gzip header" => encoded(rule),
        "gzip cut short" => encoded(rule.rewrite(|body| without_end(gzip(&body), 9))),
        "gzip bomb" => encoded(rule.respond(json(BOMB.as_slice()))),
        "br header" => rule.header("Content-Encoding", "br"),
        _ => return None,
    })
}

/// Builds a response with the content type `application/json`.
pub(super) fn json(text: impl Into<Vec<u8>>) -> Response {
    let mut response = Response::status(200).body(text);
    response.headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
    response
}

/// Builds a response whose body is this number of zeros.
fn zeros(size: u64) -> Response {
    Response {
        body: ResponseBody::Zeros(size),
        ..json("")
    }
}

fn without_end(mut body: Vec<u8>, count: usize) -> Vec<u8> {
    body.truncate(body.len() - count);
    body
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// 64 MB of spaces, compressed with gzip.
static BOMB: LazyLock<Vec<u8>> = LazyLock::new(|| gzip(&vec![b' '; 64 << 20]));
