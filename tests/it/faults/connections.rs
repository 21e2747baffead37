//! Statuses, redirects, broken and stalled connections, and what is no HTTP at all.

use std::time::Duration;

use super::{Ever, Expected, Fails, Fault, Kind, Locks, Once, fault};

fn unauthorized(kind: Kind) -> Expected {
    Fails(match kind {
        Kind::Versions | Kind::Download | Kind::Index | Kind::Archives => "requires credentials",
        _ => "the server answered 401 Unauthorized",
    })
}

fn forbidden(kind: Kind) -> Expected {
    Fails(match kind {
        Kind::Versions | Kind::Download | Kind::Index | Kind::Archives => "requires credentials",
        _ => "the server answered 403 Forbidden",
    })
}

fn missing(kind: Kind) -> Expected {
    Fails(match kind {
        Kind::Discovery => "does not offer a provider registry",
        Kind::Versions => "has no provider",
        Kind::Download => "has no package for `linux_amd64`",
        Kind::Index => "does not have provider",
        Kind::List | Kind::Signature | Kind::Package | Kind::Archives => {
            "the server answered 404 Not Found"
        }
    })
}

fn loops(kind: Kind) -> Expected {
    Fails(match kind {
        Kind::Index | Kind::Archives => "more than 5 redirects",
        _ => "more than 9 redirects",
    })
}

/// Requests with a token go nowhere by plain http; what is verified afterwards may.
fn plain_http(kind: Kind) -> Expected {
    Fails(if kind.is_trusted() {
        "would be fetched over plain http"
    } else {
        "cannot connect to the server"
    })
}

fn silence(kind: Kind) -> Expected {
    Fails(match kind {
        Kind::Package => "nothing arrived for",
        _ => "no complete answer within",
    })
}

fn broken_off(_: Kind) -> Expected {
    Fails("the answer broke off after")
}

/// Which server is asked once more, and the whole is skipped that is there already.
fn locks(_: Kind) -> Expected {
    Locks
}

pub(super) const FAULTS: &[Fault] = &[
    fault("200 as it should be", Ever, |rule, _| rule, locks),
    fault(
        "201",
        Ever,
        |rule, _| rule.status(201),
        |_| Fails("201 Created"),
    ),
    fault(
        "204",
        Ever,
        |rule, _| rule.status(204),
        |_| Fails("204 No Content"),
    ),
    fault(
        "206 unasked",
        Ever,
        |rule, _| rule.status(206),
        |_| Fails("206 Partial Content"),
    ),
    fault(
        "304 unasked",
        Ever,
        |rule, _| rule.status(304),
        |_| Fails("304 Not Modified"),
    ),
    fault(
        "400",
        Ever,
        |rule, _| rule.status(400),
        |_| Fails("400 Bad Request"),
    ),
    fault("401", Ever, |rule, _| rule.status(401), unauthorized),
    fault("403", Ever, |rule, _| rule.status(403), forbidden),
    fault("404", Ever, |rule, _| rule.status(404), missing),
    fault(
        "407",
        Ever,
        |rule, _| rule.status(407),
        |_| Fails("407 Proxy Authentication Required"),
    ),
    fault(
        "410",
        Ever,
        |rule, _| rule.status(410),
        |_| Fails("410 Gone"),
    ),
    fault(
        "418",
        Ever,
        |rule, _| rule.status(418),
        |_| Fails("418 I'm a teapot"),
    ),
    fault(
        "423",
        Ever,
        |rule, _| rule.status(423),
        |_| Fails("423 Locked"),
    ),
    fault("429", Once, |rule, _| rule.status(429), locks),
    fault(
        "429 with Retry-After",
        Once,
        |rule, _| rule.status(429).retry_after("5"),
        locks,
    ),
    fault(
        "429 with a year to wait",
        Once,
        |rule, _| rule.status(429).retry_after("31536000"),
        locks,
    ),
    fault(
        "429",
        Ever,
        |rule, _| rule.status(429),
        |_| Fails("429 Too Many Requests"),
    ),
    fault(
        "451",
        Ever,
        |rule, _| rule.status(451),
        |_| Fails("451 Unavailable For Legal Reasons"),
    ),
    fault("500", Once, |rule, _| rule.status(500), locks),
    fault(
        "500",
        Ever,
        |rule, _| rule.status(500),
        |_| Fails("500 Internal Server Error"),
    ),
    fault(
        "501",
        Ever,
        |rule, _| rule.status(501),
        |_| Fails("501 Not Implemented"),
    ),
    fault("502", Once, |rule, _| rule.status(502), locks),
    fault("503", Once, |rule, _| rule.status(503), locks),
    fault(
        "503",
        Ever,
        |rule, _| rule.status(503),
        |_| Fails("503 Service Unavailable"),
    ),
    fault("504", Once, |rule, _| rule.status(504), locks),
    fault(
        "599",
        Ever,
        |rule, _| rule.status(599),
        |_| Fails("with status 599"),
    ),
    fault(
        "redirect to itself",
        Ever,
        |rule, _| rule.redirect("?again"),
        loops,
    ),
    fault(
        "redirect to ftp",
        Ever,
        |rule, _| rule.redirect("ftp://h.test/x"),
        |_| Fails("`ftp://h.test/x`, which is no http or https address"),
    ),
    fault(
        "redirect to a file",
        Ever,
        |rule, _| rule.redirect("file:///etc/passwd"),
        |_| Fails("which is no http or https address"),
    ),
    fault(
        "redirect to no address",
        Ever,
        |rule, _| rule.redirect("https://[x"),
        |_| Fails("an unreadable address"),
    ),
    fault(
        "redirect without target",
        Ever,
        |rule, _| rule.status(302),
        |_| Fails("302 Found"),
    ),
    fault(
        "redirect to http",
        Ever,
        |rule, _| rule.redirect("http://h.invalid/x"),
        plain_http,
    ),
    fault(
        "redirect to a closed port",
        Ever,
        |rule, _| rule.redirect("https://localhost:1/x"),
        |_| Fails("cannot connect to the server"),
    ),
    fault("reset", Once, |rule, _| rule.reset(), locks),
    fault(
        "reset",
        Ever,
        |rule, _| rule.reset(),
        |_| Fails("cannot connect to the server"),
    ),
    fault("cut at 0", Once, |rule, _| rule.cut(0), locks),
    fault("cut at 1", Once, |rule, _| rule.cut(1), locks),
    fault("cut at 20", Once, |rule, _| rule.cut(20), locks),
    fault("cut at 20", Ever, |rule, _| rule.cut(20), broken_off),
    fault(
        "cut at 20 without ranges",
        Once,
        |rule, _| rule.cut(20).no_ranges(),
        locks,
    ),
    fault(
        "cut in chunks",
        Once,
        |rule, _| rule.chunked().cut(20),
        locks,
    ),
    fault(
        "chunks as they should be",
        Ever,
        |rule, _| rule.chunked(),
        locks,
    ),
    fault("hang", Once, |rule, _| rule.hang(), locks),
    fault(
        "hang",
        Ever,
        |rule, _| rule.hang(),
        |_| Fails("no complete answer within"),
    ),
    fault(
        "stall before the body",
        Once,
        |rule, _| rule.stall(0),
        locks,
    ),
    fault("stall in the body", Once, |rule, _| rule.stall(20), locks),
    fault("stall in the body", Ever, |rule, _| rule.stall(20), silence),
    fault(
        "drip of a byte at a time",
        Ever,
        |rule, _| rule.drip(1, Duration::from_millis(400)),
        |kind| match kind {
            Kind::Package => Fails("bytes arrived within"),
            _ => Fails("no complete answer within"),
        },
    ),
    fault(
        "no HTTP",
        Ever,
        |rule, _| rule.raw("SSH-2.0-OpenSSH_9.9\r\n"),
        |_| Fails("cannot connect to the server"),
    ),
    fault(
        "headers without end",
        Ever,
        |rule, _| rule.raw("HTTP/1.1 200 OK\r\nX: "),
        |_| Fails("cannot connect to the server"),
    ),
    fault(
        "a header of 4 MB",
        Ever,
        |rule, _| rule.raw(large_header()),
        |_| Fails("cannot connect to the server"),
    ),
    fault(
        "10,000 headers",
        Ever,
        |rule, _| rule.raw(many_headers()),
        |_| Fails("cannot connect to the server"),
    ),
    fault(
        "two lengths",
        Ever,
        |rule, _| rule.raw(two_lengths()),
        |_| Fails("cannot connect to the server"),
    ),
    fault(
        "a chunk of no size",
        Ever,
        |rule, _| rule.raw(bad_chunk()),
        broken_off,
    ),
];

fn large_header() -> Vec<u8> {
    [
        b"HTTP/1.1 200 OK\r\nX: ".as_slice(),
        &vec![b'x'; 4 << 20],
        b"\r\n\r\n",
    ]
    .concat()
}

fn many_headers() -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: y\r\n".repeat(10_000)).into_bytes()
}

fn two_lengths() -> Vec<u8> {
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 200\r\n\r\n{}".to_vec()
}

fn bad_chunk() -> Vec<u8> {
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n{}\r\n".to_vec()
}
