//! Faults in statuses, redirects and connections: broken and stalled responses, and invalid HTTP.

use std::time::Duration;

use tflock_test_support::Misbehave;

/// The columns: the name, how often the fault occurs, the rule, and the result; see [`Fault`](super::Fault).
pub(super) const FAULTS: &str = r"
    200 correct               | ever |                             | locks
    201                       | ever | status=201                  | 201 Created
    204                       | ever | status=204                  | 204 No Content
    206 without a range       | ever | status=206                  | 206 Partial Content
    304 without a condition   | ever | status=304                  | 304 Not Modified
    400                       | ever | status=400                  | 400 Bad Request
    401                       | ever | status=401                  | @unauthorized
    403                       | ever | status=403                  | @forbidden
    404                       | ever | status=404                  | @missing
    407                       | ever | status=407                  | 407 Proxy Authentication Required
    410                       | ever | status=410                  | 410 Gone
    418                       | ever | status=418                  | 418 I'm a teapot
    423                       | ever | status=423                  | 423 Locked
    429                       | once | status=429                  | locks
    429 with Retry-After      | once | status=429 retry_after=5    | locks
    429 with a year to wait   | once | status=429 retry_after=31536000 | locks
    429                       | ever | status=429                  | 429 Too Many Requests
    451                       | ever | status=451                  | 451 Unavailable For Legal Reasons
    500                       | once | status=500                  | locks
    500                       | ever | status=500                  | 500 Internal Server Error
    501                       | ever | status=501                  | 501 Not Implemented
    502                       | once | status=502                  | locks
    503                       | once | status=503                  | locks
    503                       | ever | status=503                  | 503 Service Unavailable
    504                       | once | status=504                  | locks
    599                       | ever | status=599                  | with status 599
    redirect to ftp           | ever | redirect=ftp://h.test/x     | `ftp://h.test/x`, which is not an http or https address
    redirect to a file        | ever | redirect=file:///etc/passwd | which is not an http or https address
    redirect to invalid URL   | ever | redirect=https://[x         | an invalid address
    redirect without target   | ever | status=302                  | 302 Found
    redirect to a closed port | ever | redirect=https://localhost:1/x | cannot connect to the server
    reset                     | once | reset                       | locks
    reset                     | ever | reset                       | cannot connect to the server
    cut at 0                  | once | cut=0                       | locks
    cut at 1                  | once | cut=1                       | locks
    cut at 20                 | once | cut=20                      | locks
    cut at 20                 | ever | cut=20                      | the response was cut off after
    cut at 20 without ranges  | once | cut=20 no_ranges            | locks
    cut in chunks             | once | chunked cut=20              | locks
    correct chunks            | ever | chunked                     | locks
    hang                      | once | hang                        | locks
    hang                      | ever | hang                        | no complete response within
    stall before the body     | once | stall=0                     | locks
    stall in the body         | once | stall=20                    | locks
    redirect to itself        | ever | redirect=?again             | @redirect loop
    redirect to http          | ever | redirect=http://h.invalid/x | @plain http
    stall in the body         | ever | stall=20                    | @stalled
    drip of a byte at a time  | ever | @drip                       | @dripped
    no HTTP                   | ever | @no HTTP                    | cannot connect to the server
    headers without end       | ever | @headers without end        | cannot connect to the server
    a header of 4 MB          | ever | @large header               | cannot connect to the server
    10,000 headers            | ever | @many headers               | cannot connect to the server
    two lengths               | ever | @two lengths                | cannot connect to the server
    chunk without a size      | ever | @invalid chunk              | the response was cut off after
";

/// The columns: the name of a result, the kinds of requests, and the error for them. The first matching row applies.
///
/// Requests with a token are never redirected to plain http. Requests for content that is verified later may be.
pub(super) const RESULTS: &str = "
    unauthorized  | versions download index archives | requires credentials
    unauthorized  | token tags manifest target blob  | requires credentials
    unauthorized  | *                                | the server responded with 401 Unauthorized
    forbidden     | versions download index archives | requires credentials
    forbidden     | token tags manifest target blob  | requires credentials
    forbidden     | *                                | the server responded with 403 Forbidden
    missing       | discovery                        | does not offer a provider registry
    missing       | versions                         | has no provider
    missing       | download                         | has no package for `linux_amd64`
    missing       | index tags                       | does not have provider
    missing       | *                                | the server responded with 404 Not Found
    redirect loop | index archives                   | more than 5 redirects
    redirect loop | *                                | more than 9 redirects
    plain http    | list signature package           | cannot connect to the server
    plain http    | *                                | plain http is not allowed for
    stalled       | package blob                     | no data was transferred for
    stalled       | *                                | no complete response within
    dripped       | package blob                     | bytes arrived within
    dripped       | *                                | no complete response within
";

/// Applies the named change to `rule`. Returns `None` if no change has this name.
pub(super) fn change(name: &str, rule: Misbehave) -> Option<Misbehave> {
    let response = match name {
        "drip" => return Some(rule.drip(1, Duration::from_millis(400))),
        "no HTTP" => "SSH-2.0-OpenSSH_9.9\r\n".to_owned(),
        "headers without end" => "HTTP/1.1 200 OK\r\nX: ".to_owned(),
        "large header" => format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(4 << 20)),
        "many headers" => format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: y\r\n".repeat(10_000)),
        "two lengths" => TWO_LENGTHS.to_owned(),
        "invalid chunk" => INVALID_CHUNK.to_owned(),
        _ => return None,
    };
    Some(rule.raw(response))
}

const TWO_LENGTHS: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 200\r\n\r\n{}";

const INVALID_CHUNK: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n{}\r\n";
