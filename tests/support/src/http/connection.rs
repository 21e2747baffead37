//! A connection to the server: it reads requests and sends responses according to the rules.

use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustls::{ServerConnection, StreamOwned};

use super::log::Hit;
use super::message::{ReceivedRequest, Response};
use super::misbehave::Delivery;
use super::server::Shared;

/// A stream with or without TLS.
trait Stream: Read + Write {}
impl<S: Read + Write> Stream for S {}

/// Whether the connection accepts a further request.
enum Next {
    Keep,
    Close,
}

/// Responds to requests until the client or a rule closes the connection.
pub(super) fn serve(socket: &TcpStream, shared: &Shared) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let stream: Box<dyn Stream> = match &shared.tls {
        None => Box::new(socket.try_clone()?),
        Some(config) => {
            let tls = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
            Box::new(StreamOwned::new(tls, socket.try_clone()?))
        }
    };
    let mut stream = BufReader::new(stream);
    while let Some(request) = ReceivedRequest::read(&mut stream)? {
        let hit = shared.log.record(request.clone());
        let correct = shared.handler.answer(&request);
        let (response, delivery) = match shared.rules.take(&request) {
            Some(rule) => (rule.apply(correct), rule.delivery()),
            None => (correct, Delivery::default()),
        };
        if let Next::Close = answer(&request, &response, &delivery, &hit, stream.get_mut())? {
            break;
        }
    }
    socket.shutdown(Shutdown::Both)
}

fn answer(
    request: &ReceivedRequest,
    response: &Response,
    delivery: &Delivery,
    hit: &Hit,
    stream: &mut dyn Stream,
) -> io::Result<Next> {
    if let Some(delay) = delivery.delay {
        thread::sleep(delay);
    }
    if delivery.reset {
        return Ok(Next::Close);
    }
    if delivery.hang {
        return wait_for_peer(stream);
    }
    if let Some(bytes) = &delivery.raw {
        stream.write_all(bytes)?;
        stream.flush()?;
        return Ok(Next::Close);
    }
    let part = Part::of(request, response, delivery);
    hit.answered(part.status);
    stream.write_all(head(response, &part, delivery).as_bytes())?;
    let next = if request.method == "HEAD" || part.status == 204 || part.status == 304 {
        Next::Keep
    } else {
        send_body(response, &part, delivery, hit, stream)?
    };
    stream.flush()?;
    Ok(next)
}

/// Keeps the connection open without a response until the client closes it.
fn wait_for_peer(stream: &mut dyn Stream) -> io::Result<Next> {
    let mut buffer = [0; 1024];
    while stream.read(&mut buffer)? > 0 {}
    Ok(Next::Close)
}

/// The status of a response, and the range of the body that is sent.
struct Part {
    status: u16,
    start: u64,
    end: u64,
}

impl Part {
    fn of(request: &ReceivedRequest, response: &Response, delivery: &Delivery) -> Self {
        let size = response.body.size();
        let whole = Self {
            status: response.status,
            start: 0,
            end: size,
        };
        if response.status == 200 && is_known(request, response) {
            return Self {
                status: 304,
                start: 0,
                end: 0,
            };
        }
        if response.status != 200 || delivery.no_ranges {
            return whole;
        }
        let unchanged = request
            .header("if-range")
            .is_none_or(|tag| Some(tag) == header(response, "ETag"));
        let range = request.header("range").filter(|_| unchanged);
        let Some((start, end)) =
            range.and_then(|range| range.strip_prefix("bytes=")?.split_once('-'))
        else {
            return whole;
        };
        let Ok(start) = start.parse() else {
            return whole;
        };
        let end = end.parse().map_or(size, |last: u64| size.min(last + 1));
        if start >= end {
            Self {
                status: 416,
                start: 0,
                end: 0,
            }
        } else {
            Self {
                status: 206,
                start,
                end,
            }
        }
    }
}

/// Returns whether the conditional headers of the request match this response. Entity tags are compared weakly.
fn is_known(request: &ReceivedRequest, response: &Response) -> bool {
    let weak = |tag: &str| tag.trim_start_matches("W/").to_owned();
    if let Some(tag) = request.header("if-none-match") {
        return header(response, "ETag").map(weak) == Some(weak(tag));
    }
    let date = request.header("if-modified-since");
    date.is_some() && date == header(response, "Last-Modified")
}

fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    let found = response.headers.iter().find(|(found, _)| found == name);
    found.map(|(_, value)| value.as_str())
}

/// Returns the status line and the headers.
fn head(response: &Response, part: &Part, delivery: &Delivery) -> String {
    let mut lines = vec![format!("HTTP/1.1 {} {}", part.status, reason(part.status))];
    let headers = response.headers.iter();
    lines.extend(headers.map(|(name, value)| format!("{name}: {value}")));
    if part.status == 206 {
        let (start, last, size) = (part.start, part.end - 1, response.body.size());
        lines.push(format!("Content-Range: bytes {start}-{last}/{size}"));
    }
    if !delivery.no_ranges {
        lines.push("Accept-Ranges: bytes".to_owned());
    }
    lines.push(if delivery.chunked {
        "Transfer-Encoding: chunked".to_owned()
    } else {
        let length = delivery.length.unwrap_or(part.end - part.start);
        format!("Content-Length: {length}")
    });
    lines.join("\r\n") + "\r\n\r\n"
}

fn send_body(
    response: &Response,
    part: &Part,
    delivery: &Delivery,
    hit: &Hit,
    stream: &mut dyn Stream,
) -> io::Result<Next> {
    let length = part.end - part.start;
    let limit = delivery
        .cut
        .or(delivery.stall)
        .unwrap_or(length)
        .min(length);
    let mut body = response.body.read_from(part.start)?.take(limit);
    let piece = match (delivery.drip, delivery.rate) {
        (Some((bytes, _)), _) => bytes,
        (None, Some(_)) => 64 * 1024,
        (None, None) => 256 * 1024,
    };
    let mut buffer = vec![0; piece];
    let (started, mut sent) = (Instant::now(), 0_u64);
    loop {
        let count = body.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        if let Some((_, pause)) = delivery.drip {
            thread::sleep(pause);
        }
        send_piece(&buffer[..count], delivery.chunked, stream)?;
        hit.add_sent(count);
        sent += count as u64;
        if let Some(rate) = delivery.rate {
            let due = Duration::from_nanos(sent * 1_000_000_000 / rate);
            thread::sleep(due.saturating_sub(started.elapsed()));
        }
    }
    if delivery.stall.is_some() {
        stream.flush()?;
        return wait_for_peer(stream);
    }
    if delivery.cut.is_some() || delivery.length.is_some() {
        return Ok(Next::Close);
    }
    if delivery.chunked {
        stream.write_all(b"0\r\n\r\n")?;
    }
    Ok(Next::Keep)
}

fn send_piece(piece: &[u8], chunked: bool, stream: &mut dyn Stream) -> io::Result<()> {
    if chunked {
        stream.write_all(format!("{:x}\r\n", piece.len()).as_bytes())?;
    }
    stream.write_all(piece)?;
    if chunked {
        stream.write_all(b"\r\n")?;
    }
    stream.flush()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        204 => "No Content",
        206 => "Partial Content",
        301 | 302 | 307 | 308 => "Redirect",
        304 => "Not Modified",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        416 => "Range Not Satisfiable",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Status",
    }
}
