//! Wrong bodies: other lengths, encodings or content types, and changed or endless content.

use std::io::Write as _;
use std::sync::LazyLock;

use flate2::Compression;
use flate2::write::GzEncoder;
use tflock_test_support::{Body, Misbehave, Response, table};

use super::{Expected, Fails, Fault, Kind, Locks, Once, Rule, fault};

/// The errors for bodies that are neither valid JSON of the protocol nor a valid list, signature or package.
fn unusable(kind: Kind) -> Expected {
    Fails(match kind {
        Kind::List => "checksum list has no SHA-256 checksum for",
        Kind::Signature => "cannot verify the checksum list",
        Kind::Package => "downloaded package does not match the checksum its registry promised",
        _ => "the response does not follow the protocol",
    })
}

fn web_page(kind: Kind) -> Expected {
    match kind {
        Kind::Discovery | Kind::Index | Kind::Archives => Fails("the content type is `text/html`"),
        other => unusable(other),
    }
}

/// The errors for an empty JSON object.
fn nothing_said(kind: Kind) -> Expected {
    Fails(match kind {
        Kind::Discovery => "does not offer a provider registry",
        Kind::Versions | Kind::Index => "no releases are available",
        Kind::Download => "it is for `_`",
        Kind::Archives => "has no package for `linux_amd64`",
        other => return unusable(other),
    })
}

fn endless(kind: Kind) -> Expected {
    Fails(match kind {
        Kind::Discovery => "limit for discovery documents",
        Kind::List => "limit for checksum lists",
        Kind::Signature => "limit for signatures",
        Kind::Package => "limit for packages",
        _ => "limit for registry answers",
    })
}

/// Discovery and mirrors require the content type `application/json`.
fn without_type(kind: Kind) -> Expected {
    match kind {
        Kind::Discovery | Kind::Index | Kind::Archives => Fails("the content type is missing"),
        _ => Locks,
    }
}

fn locks(_: Kind) -> Expected {
    Locks
}

/// A response with the content type of JSON.
pub(super) fn json(text: impl Into<Vec<u8>>) -> Response {
    let mut response = Response::status(200).body(text);
    response.headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
    response
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// 64 MB of spaces, compressed with gzip.
static BOMB: LazyLock<Vec<u8>> = LazyLock::new(|| gzip(&vec![b' '; 64 << 20]));

/// A response with this number of zeros.
fn zeros(size: u64) -> Response {
    Response {
        body: Body::Zeros(size),
        ..json("")
    }
}

/// The columns: the name, and a body with the content type of JSON that is invalid for every kind of request.
const UNUSABLE: &str = r#"
    empty body       |
    web page as JSON | <html>Sign in</html>
    no JSON          | nonsense
    half a JSON      | {"versions":[{
    null             | null
    a list           | []
    a number         | 1e999999
"#;

/// All faults in bodies.
pub(super) fn faults() -> Vec<Fault> {
    let unusable_json = table(UNUSABLE).into_iter().map(|[name, body]| Fault {
        rule: Rule::Answer(body),
        ..fault(name, |rule, _| rule, unusable)
    });
    let once_too_long = Fault {
        times: Once,
        ..fault(
            "length too long",
            |rule, _| rule.content_length(50_000),
            completed,
        )
    };
    let mut faults: Vec<Fault> = unusable_json.chain([once_too_long]).collect();
    faults.extend(of_json());
    faults.extend(of_lengths());
    faults.extend(of_gzip());
    faults
}

fn of_json() -> [Fault; 13] {
    [
        fault("web page", |rule, _| rule.html(), web_page),
        fault(
            "an empty object",
            |rule, _| rule.respond(json("{}")),
            nothing_said,
        ),
        fault(
            "fields of other types",
            |rule, _| rule.respond(json(OTHER_TYPES)),
            |kind| match kind {
                Kind::Discovery => Fails("does not support the provider registry protocol"),
                other => unusable(other),
            },
        ),
        fault(
            "100,000 brackets",
            |rule, _| rule.respond(json("[".repeat(100_000))),
            |kind| match kind {
                Kind::Signature => endless(kind),
                other => unusable(other),
            },
        ),
        fault(
            "byte order mark",
            |rule, _| rule.rewrite(|body| [b"\xef\xbb\xbf", &*body].concat()),
            |kind| match kind {
                Kind::List => Fails("checksum list has an invalid SHA-256 checksum for"),
                other => unusable(other),
            },
        ),
        fault("UTF-16", |rule, _| rule.rewrite(to_utf_16), unusable),
        fault(
            "no UTF-8",
            |rule, _| rule.respond(json(b"{\"versions\":\"\xff\"}")),
            unusable,
        ),
        fault(
            "NULs",
            |rule, _| rule.respond(json(vec![0; 1000])),
            unusable,
        ),
        fault(
            "first bit flipped",
            |rule, _| rule.flip(0),
            |kind| match kind {
                Kind::List => Fails("but the registry announced"),
                other => unusable(other),
            },
        ),
        fault(
            "last byte missing",
            |rule, _| rule.rewrite(without_last),
            |kind| match kind {
                Kind::List => Fails("cannot verify the checksum list"),
                other => unusable(other),
            },
        ),
        fault(
            "a byte too many",
            |rule, _| rule.rewrite(|body| [&*body, b"}"].concat()),
            additional_bytes,
        ),
        fault(
            "twice over",
            |rule, _| rule.rewrite(|body| body.repeat(2)),
            additional_bytes,
        ),
        fault(
            "no type",
            |rule, _| rule.without_header("Content-Type"),
            without_type,
        ),
    ]
}

fn of_lengths() -> [Fault; 5] {
    [
        fault(
            "length too long",
            |rule, _| rule.content_length(50_000),
            |_| Fails("the response broke off after"),
        ),
        fault(
            "length too short",
            |rule, _| rule.content_length(20),
            unusable,
        ),
        fault(
            "length of 5 GB",
            |rule, _| rule.content_length(5_000_000_000),
            endless,
        ),
        fault(
            "3 GB announced",
            |rule, kind| rule.respond(zeros(size_of(kind))),
            endless,
        ),
        fault("3 GB in chunks", in_chunks, |kind| match kind {
            Kind::Package => unusable(kind),
            other => endless(other),
        }),
    ]
}

fn of_gzip() -> [Fault; 5] {
    [
        fault(
            "gzip as it should be",
            |rule, _| encoded(rule.rewrite(|body| gzip(&body))),
            locks,
        ),
        fault(
            "gzip header, plain body",
            |rule, _| encoded(rule),
            |kind| match kind {
                Kind::Package => Fails("the response is not encoded as its header says"),
                _ => Fails("the response broke off after 0 bytes"),
            },
        ),
        fault(
            "gzip cut short",
            |rule, _| encoded(rule.rewrite(cut_gzip)),
            |kind| match kind {
                Kind::Package => Fails("the response is not encoded as its header says"),
                _ => Fails("the response broke off after"),
            },
        ),
        fault(
            "gzip of 64 MB of spaces",
            |rule, _| encoded(rule.respond(json(BOMB.as_slice()))),
            |kind| match kind {
                Kind::Package => unusable(kind),
                other => endless(other),
            },
        ),
        // Other encodings are ignored, as in Go, so the body is used unchanged.
        fault(
            "br header, plain body",
            |rule, _| rule.header("Content-Encoding", "br"),
            locks,
        ),
    ]
}

fn encoded(rule: Misbehave) -> Misbehave {
    rule.header("Content-Encoding", "gzip")
}

fn to_utf_16(body: Vec<u8>) -> Vec<u8> {
    body.into_iter().flat_map(|byte| [byte, 0]).collect()
}

fn without_last(mut body: Vec<u8>) -> Vec<u8> {
    body.pop();
    body
}

fn cut_gzip(mut body: Vec<u8>) -> Vec<u8> {
    body = gzip(&body);
    body.truncate(body.len() - 9);
    body
}

/// Only the limit of 4 GB applies to a package of unknown length.
fn in_chunks(rule: Misbehave, kind: Kind) -> Misbehave {
    let size = if kind == Kind::Package {
        64 << 20
    } else {
        3 << 30
    };
    rule.respond(zeros(size)).chunked()
}

/// The tools ignore data after a JSON value or after a valid signature.
fn additional_bytes(kind: Kind) -> Expected {
    match kind {
        Kind::Discovery | Kind::Package => unusable(kind),
        Kind::List => Fails("cannot verify the checksum list"),
        _ => Locks,
    }
}

/// The rest of a package is requested, and the server then announces another length.
fn completed(kind: Kind) -> Expected {
    match kind {
        Kind::Package => Fails("could not be resumed"),
        _ => Locks,
    }
}

/// A size beyond the limit of each kind.
const fn size_of(kind: Kind) -> u64 {
    match kind {
        Kind::Package => 5 << 30,
        _ => 3 << 30,
    }
}

/// Every field of every document, with a value of the wrong type.
const OTHER_TYPES: &str = r#"{"providers.v1": 5, "versions": 5, "archives": 5, "os": 5, "protocols": {}, "signing_keys": []}"#;
