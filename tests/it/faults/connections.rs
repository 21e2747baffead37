//! Faults in statuses, redirects and connections: broken and stalled responses, and invalid HTTP.

use std::time::Duration;

use tflock_test_support::{Misbehave, table};

use super::{Ever, Expectation, Expected, Fails, Fault, Kind, Locks, Once, Rule, fault};

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

/// Requests that carry a token are never redirected to plain http. Requests for content that is verified later may be.
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
        _ => "no complete response within",
    })
}

fn broken_off(_: Kind) -> Expected {
    Fails("the response broke off after")
}

/// The columns: the name, how often the fault occurs, the rule, and the result for every kind of request: `locks`, or
/// an error with this text.
const RULES: &str = "
    200 as it should be        | ever |                             | locks
    201                        | ever | status=201                  | 201 Created
    204                        | ever | status=204                  | 204 No Content
    206 without a range        | ever | status=206                  | 206 Partial Content
    304 without a condition    | ever | status=304                  | 304 Not Modified
    400                        | ever | status=400                  | 400 Bad Request
    407                        | ever | status=407                  | 407 Proxy Authentication Required
    410                        | ever | status=410                  | 410 Gone
    418                        | ever | status=418                  | 418 I'm a teapot
    423                        | ever | status=423                  | 423 Locked
    429                        | once | status=429                  | locks
    429 with Retry-After       | once | status=429 retry_after=5    | locks
    429 with a year to wait    | once | status=429 retry_after=31536000 | locks
    429                        | ever | status=429                  | 429 Too Many Requests
    451                        | ever | status=451                  | 451 Unavailable For Legal Reasons
    500                        | once | status=500                  | locks
    500                        | ever | status=500                  | 500 Internal Server Error
    501                        | ever | status=501                  | 501 Not Implemented
    502                        | once | status=502                  | locks
    503                        | once | status=503                  | locks
    503                        | ever | status=503                  | 503 Service Unavailable
    504                        | once | status=504                  | locks
    599                        | ever | status=599                  | with status 599
    redirect to ftp            | ever | redirect=ftp://h.test/x     | `ftp://h.test/x`, which is not an http or https address
    redirect to a file         | ever | redirect=file:///etc/passwd | which is not an http or https address
    redirect to no address     | ever | redirect=https://[x         | an unreadable address
    redirect without target    | ever | status=302                  | 302 Found
    redirect to a closed port  | ever | redirect=https://localhost:1/x | cannot connect to the server
    reset                      | once | reset                       | locks
    reset                      | ever | reset                       | cannot connect to the server
    cut at 0                   | once | cut=0                       | locks
    cut at 1                   | once | cut=1                       | locks
    cut at 20                  | once | cut=20                      | locks
    cut at 20                  | ever | cut=20                      | the response broke off after
    cut at 20 without ranges   | once | cut=20 no_ranges            | locks
    cut in chunks              | once | chunked cut=20              | locks
    chunks as they should be   | ever | chunked                     | locks
    hang                       | once | hang                        | locks
    hang                       | ever | hang                        | no complete response within
    stall before the body      | once | stall=0                     | locks
    stall in the body          | once | stall=20                    | locks
";

/// All faults in connections.
pub(super) fn faults() -> Vec<Fault> {
    let by_rule = table(RULES)
        .into_iter()
        .map(|[name, times, rule, expected]| Fault {
            name,
            times: if times == "once" { Once } else { Ever },
            rule: Rule::Words(rule),
            expected: match expected {
                "locks" => Expectation::All(Locks),
                text => Expectation::All(Fails(text)),
            },
        });
    let by_kind = [
        fault("401", |rule, _| rule.status(401), unauthorized),
        fault("403", |rule, _| rule.status(403), forbidden),
        fault("404", |rule, _| rule.status(404), missing),
        fault(
            "redirect to itself",
            |rule, _| rule.redirect("?again"),
            loops,
        ),
        fault(
            "redirect to http",
            |rule, _| rule.redirect("http://h.invalid/x"),
            plain_http,
        ),
        fault("stall in the body", |rule, _| rule.stall(20), silence),
        fault("drip of a byte at a time", drip, dripped),
        fault(
            "no HTTP",
            |rule, _| rule.raw("SSH-2.0-OpenSSH_9.9\r\n"),
            no_answer,
        ),
        fault(
            "headers without end",
            |rule, _| rule.raw("HTTP/1.1 200 OK\r\nX: "),
            no_answer,
        ),
        fault(
            "a header of 4 MB",
            |rule, _| rule.raw(large_header()),
            no_answer,
        ),
        fault(
            "10,000 headers",
            |rule, _| rule.raw(many_headers()),
            no_answer,
        ),
        fault("two lengths", |rule, _| rule.raw(two_lengths()), no_answer),
        fault(
            "a chunk of no size",
            |rule, _| rule.raw(bad_chunk()),
            broken_off,
        ),
    ];
    by_rule.chain(by_kind).collect()
}

fn drip(rule: Misbehave, _: Kind) -> Misbehave {
    rule.drip(1, Duration::from_millis(400))
}

fn dripped(kind: Kind) -> Expected {
    Fails(match kind {
        Kind::Package => "bytes arrived within",
        _ => "no complete response within",
    })
}

fn no_answer(_: Kind) -> Expected {
    Fails("cannot connect to the server")
}

fn large_header() -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(4 << 20)).into_bytes()
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
