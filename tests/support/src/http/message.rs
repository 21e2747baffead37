//! Requests that were parsed, and responses that are not sent yet.

use std::io::{self, BufRead, Read as _};

use crate::document::{Document, ResponseBody};

/// A request, reduced to what the server needs.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// The method, such as `GET`.
    pub method: String,
    /// The percent-decoded path without the query.
    pub path: String,
    /// The query as it was sent, without percent-decoding.
    pub query: Option<String>,
    /// The headers in the order in which they were sent, with lower-case names.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl ReceivedRequest {
    /// Reads a request. Returns `None` if the client closed the connection.
    pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut words = line.split_whitespace();
        let (Some(method), Some(target)) = (words.next(), words.next()) else {
            return Err(io::Error::other("not a request line"));
        };
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path, Some(query.to_owned())),
            None => (target, None),
        };
        let headers = read_headers(input)?;
        let body = read_body(&headers, input)?;
        Ok(Some(Self {
            method: method.to_owned(),
            path: percent_decode(path),
            query,
            headers,
            body,
        }))
    }

    /// Returns the first header with this lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_str())
    }
}

fn read_headers(input: &mut impl BufRead) -> io::Result<Vec<(String, String)>> {
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        input.read_line(&mut line)?;
        let line = line.trim_end();
        if line.is_empty() {
            return Ok(headers);
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
}

/// Reads a body with a length, or in chunks.
fn read_body(headers: &[(String, String)], input: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let header = |name: &str| headers.iter().find(|(header, _)| header == name);
    let mut body = Vec::new();
    if let Some((_, length)) = header("content-length") {
        let length = length.parse().map_err(io::Error::other)?;
        input.take(length).read_to_end(&mut body)?;
    } else if header("transfer-encoding").is_some_and(|(_, coding)| coding == "chunked") {
        loop {
            let mut line = String::new();
            input.read_line(&mut line)?;
            let size = u64::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
            input.take(size).read_to_end(&mut body)?;
            input.read_line(&mut String::new())?;
            if size == 0 {
                break;
            }
        }
    }
    Ok(body)
}

fn percent_decode(path: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code = tail.get(..2).filter(|_| first == b'%');
        let decoded = code
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(decoded.unwrap_or(first));
        rest = if decoded.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A response: the status, additional headers, and the body.
#[derive(Debug, Clone)]
pub struct Response {
    pub status: u16,
    /// The headers, in order. `Content-Length` and similar headers are added when the response is sent.
    pub headers: Vec<(String, String)>,
    pub body: ResponseBody,
}

impl Response {
    /// Creates a response with this status, whose body is text that contains the status.
    pub fn status(status: u16) -> Self {
        let body = ResponseBody::bytes(format!("status {status}\n"));
        Self {
            status,
            headers: Vec::new(),
            body,
        }
        .with("Content-Type", "text/plain")
    }

    /// Creates a response with the status 200 and this document.
    pub fn document(document: &Document) -> Self {
        let response = Self {
            status: 200,
            headers: Vec::new(),
            body: document.body.clone(),
        };
        response.with("Content-Type", &document.content_type)
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = ResponseBody::bytes(body);
        self
    }
}
