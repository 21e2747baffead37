//! Bodies that are not what was asked for: wrong lengths, wrong encodings, other types, altered and endless ones.

use std::io::Write as _;
use std::sync::LazyLock;

use flate2::Compression;
use flate2::write::GzEncoder;
use tflock_test_support::{Body, Response};

use super::{Ever, Expected, Fails, Fault, Kind, Locks, Once, fault};

/// Bodies that are no JSON of the protocol, and prove nothing where a proof is asked for.
fn unusable(kind: Kind) -> Expected {
    Fails(match kind {
        Kind::List => "checksum list has no SHA-256 checksum for",
        Kind::Signature => "cannot verify the checksum list",
        Kind::Package => "downloaded package does not match the checksum its registry promised",
        _ => "the answer is not what the protocol asks for",
    })
}

fn web_page(kind: Kind) -> Expected {
    match kind {
        Kind::Discovery | Kind::Index | Kind::Archives => Fails("the content type is `text/html`"),
        other => unusable(other),
    }
}

/// JSON that says nothing.
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

/// Where types of content count, theirs are asked for.
fn without_type(kind: Kind) -> Expected {
    match kind {
        Kind::Discovery | Kind::Index | Kind::Archives => Fails("the content type is missing"),
        _ => Locks,
    }
}

fn locks(_: Kind) -> Expected {
    Locks
}

/// An answer of JSON's type.
fn json(text: impl Into<Vec<u8>>) -> Response {
    let mut response = Response::status(200).body(text);
    response.headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
    response
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// 64 MB of spaces, packed.
static BOMB: LazyLock<Vec<u8>> = LazyLock::new(|| gzip(&vec![b' '; 64 << 20]));

/// An answer of so many zeros.
fn zeros(size: u64) -> Response {
    Response {
        body: Body::Zeros(size),
        ..json("")
    }
}

pub(super) const FAULTS: &[Fault] = &[
    fault(
        "empty body",
        Ever,
        |rule, _| rule.respond(json("")),
        unusable,
    ),
    fault("web page", Ever, |rule, _| rule.html(), web_page),
    fault(
        "web page as JSON",
        Ever,
        |rule, _| rule.respond(json("<html>Sign in</html>")),
        unusable,
    ),
    fault(
        "no JSON",
        Ever,
        |rule, _| rule.respond(json("nonsense")),
        unusable,
    ),
    fault(
        "half a JSON",
        Ever,
        |rule, _| rule.respond(json("{\"versions\":[{")),
        unusable,
    ),
    fault("null", Ever, |rule, _| rule.respond(json("null")), unusable),
    fault("a list", Ever, |rule, _| rule.respond(json("[]")), unusable),
    fault(
        "a number",
        Ever,
        |rule, _| rule.respond(json("1e999999")),
        unusable,
    ),
    fault(
        "an empty object",
        Ever,
        |rule, _| rule.respond(json("{}")),
        nothing_said,
    ),
    fault(
        "fields of other types",
        Ever,
        |rule, _| rule.respond(json(OTHER_TYPES)),
        |kind| match kind {
            Kind::Discovery => Fails("does not support the provider registry protocol"),
            other => unusable(other),
        },
    ),
    fault(
        "100,000 brackets",
        Ever,
        |rule, _| rule.respond(json("[".repeat(100_000))),
        |kind| match kind {
            Kind::Signature => endless(kind),
            other => unusable(other),
        },
    ),
    fault(
        "byte order mark",
        Ever,
        |rule, _| rule.rewrite(|body| [b"\xef\xbb\xbf", &*body].concat()),
        |kind| match kind {
            Kind::List => Fails("checksum list has an invalid SHA-256 checksum for"),
            other => unusable(other),
        },
    ),
    fault(
        "UTF-16",
        Ever,
        |rule, _| rule.rewrite(|body| body.iter().flat_map(|byte| [*byte, 0]).collect()),
        unusable,
    ),
    fault(
        "no UTF-8",
        Ever,
        |rule, _| rule.respond(json(b"{\"versions\":\"\xff\"}")),
        unusable,
    ),
    fault(
        "NULs",
        Ever,
        |rule, _| rule.respond(json(vec![0; 1000])),
        unusable,
    ),
    fault(
        "first bit flipped",
        Ever,
        |rule, _| rule.flip(0),
        |kind| match kind {
            Kind::List => Fails("but the registry announced"),
            other => unusable(other),
        },
    ),
    fault(
        "last byte missing",
        Ever,
        |rule, _| {
            rule.rewrite(|mut body| {
                body.pop();
                body
            })
        },
        |kind| match kind {
            Kind::List => Fails("cannot verify the checksum list"),
            other => unusable(other),
        },
    ),
    fault(
        "a byte too many",
        Ever,
        |rule, _| rule.rewrite(|body| [&*body, b"}"].concat()),
        |kind| match kind {
            Kind::Discovery | Kind::Package => unusable(kind),
            Kind::List => Fails("cannot verify the checksum list"),
            // As the tools read: what follows a JSON value, or a signature that verifies, is not looked at.
            _ => Locks,
        },
    ),
    fault(
        "twice over",
        Ever,
        |rule, _| rule.rewrite(|body| body.repeat(2)),
        |kind| match kind {
            Kind::Discovery | Kind::Package => unusable(kind),
            Kind::List => Fails("cannot verify the checksum list"),
            _ => Locks,
        },
    ),
    fault(
        "length too long",
        Once,
        |rule, _| rule.content_length(50_000),
        |kind| match kind {
            // The rest is asked for, and the server then names another length.
            Kind::Package => Fails("could not be resumed"),
            _ => Locks,
        },
    ),
    fault(
        "length too long",
        Ever,
        |rule, _| rule.content_length(50_000),
        |_| Fails("the answer broke off after"),
    ),
    fault(
        "length too short",
        Ever,
        |rule, _| rule.content_length(20),
        unusable,
    ),
    fault(
        "length of 5 GB",
        Ever,
        |rule, _| rule.content_length(5_000_000_000),
        endless,
    ),
    fault(
        "3 GB announced",
        Ever,
        |rule, kind| rule.respond(zeros(size_of(kind))),
        endless,
    ),
    fault(
        "3 GB in chunks",
        Ever,
        |rule, kind| match kind {
            // A package has no other limit than 4 GB while its length is not told.
            Kind::Package => rule.respond(zeros(64 << 20)).chunked(),
            _ => rule.respond(zeros(3 << 30)).chunked(),
        },
        |kind| match kind {
            Kind::Package => unusable(kind),
            other => endless(other),
        },
    ),
    fault(
        "no type",
        Ever,
        |rule, _| rule.without_header("Content-Type"),
        without_type,
    ),
    fault(
        "gzip as it should be",
        Ever,
        |rule, _| {
            rule.rewrite(|body| gzip(&body))
                .header("Content-Encoding", "gzip")
        },
        locks,
    ),
    fault(
        "gzip that is none",
        Ever,
        |rule, _| rule.header("Content-Encoding", "gzip"),
        |kind| match kind {
            Kind::Package => Fails("the answer is not encoded as it says"),
            _ => Fails("the answer broke off after 0 bytes"),
        },
    ),
    fault(
        "gzip cut short",
        Ever,
        |rule, _| {
            rule.rewrite(|body| {
                let mut packed = gzip(&body);
                packed.truncate(packed.len() - 9);
                packed
            })
            .header("Content-Encoding", "gzip")
        },
        |kind| match kind {
            Kind::Package => Fails("the answer is not encoded as it says"),
            _ => Fails("the answer broke off after"),
        },
    ),
    fault(
        "gzip of 64 MB of spaces",
        Ever,
        |rule, _| {
            rule.respond(json(BOMB.as_slice()))
                .header("Content-Encoding", "gzip")
        },
        |kind| match kind {
            Kind::Package => unusable(kind),
            other => endless(other),
        },
    ),
    // As in Go: what is not gzip is taken as it comes.
    fault(
        "br that is none",
        Ever,
        |rule, _| rule.header("Content-Encoding", "br"),
        locks,
    ),
];

/// Beyond the limit of each kind.
const fn size_of(kind: Kind) -> u64 {
    match kind {
        Kind::Package => 5 << 30,
        _ => 3 << 30,
    }
}

/// Every field of every document, as something else.
const OTHER_TYPES: &str = r#"{"providers.v1": 5, "versions": 5, "archives": 5, "os": 5, "protocols": {}, "signing_keys": []}"#;
