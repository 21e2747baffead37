//! The netrc file, which contains credentials for downloads of packages (only with Terraform) and of modules.
//!
//! Entries are `machine NAME login USER password PASSWORD`, with the words after `machine` in any order and on any number of lines.
//! The name must match the host of the URL, including the port if the URL has one. `default` entries are ignored.
//!
//! Passwords are never sent over plain http, except to this machine. An unreadable file is not an error: a download that requires a
//! password fails with the server's status.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::HeaderValue;
use url::Url;

use crate::access::open_regular;
use crate::registry::error::{RegistryError, Result};
use crate::registry::request::is_loopback;
use crate::registry::request_error::CauseText;

/// The maximum number of bytes to read, which is enough for thousands of entries.
const MAX_BYTES: u64 = 1024 * 1024;

/// The netrc file, which is read on first use.
pub(super) struct Netrc {
    path: Option<PathBuf>,
    machines: OnceLock<Result<Vec<NetrcMachine>>>,
}

impl Netrc {
    /// Creates a reader for the file at `path`, which need not exist.
    pub(super) const fn new(path: Option<PathBuf>) -> Self {
        Self {
            path,
            machines: OnceLock::new(),
        }
    }

    /// Returns the `Authorization` header for a download from `url`, if the file has an entry for its host.
    pub(super) fn header(&self, url: &Url) -> Option<HeaderValue> {
        if url.scheme() != "https" && !is_loopback(url) {
            return None;
        }
        let path = self.path.as_ref()?;
        let machines = self.machines.get_or_init(|| read(path)).as_ref().ok()?;
        let host = authority(url);
        let found = machines.iter().find(|machine| machine.name == host);
        found.and_then(NetrcMachine::header)
    }

    /// Returns the error from reading the file. `None` if the file was read, or if no request needed it.
    pub(super) fn error(&self) -> Option<&RegistryError> {
        self.machines.get()?.as_ref().err()
    }
}

/// Reads all entries. `/dev/null` and a missing file count as empty.
fn read(path: &Path) -> Result<Vec<NetrcMachine>> {
    let failed = |source| RegistryError::Netrc {
        path: path.to_path_buf(),
        source,
    };
    if path == Path::new("/dev/null") {
        return Ok(Vec::new());
    }
    let mut text = String::new();
    let read = open_regular(path).and_then(|file| file.take(MAX_BYTES).read_to_string(&mut text));
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(CauseText::innermost(&error))),
        Ok(_) => {}
    }
    parse(&text).map_err(|problem| failed(CauseText::text(&problem)))
}

/// Returns the host, with the port if the URL has one.
fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port()
        .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

#[derive(Debug, Default, PartialEq)]
struct NetrcMachine {
    name: String,
    login: String,
    password: String,
}

impl NetrcMachine {
    fn header(&self) -> Option<HeaderValue> {
        let encoded = STANDARD.encode(format!("{}:{}", self.login, self.password));
        let mut value = HeaderValue::from_str(&format!("Basic {encoded}")).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

/// Parses all `machine` entries. Errors never quote the file, because its words may be passwords.
fn parse(text: &str) -> Result<Vec<NetrcMachine>, String> {
    let mut machines: Vec<NetrcMachine> = Vec::new();
    let mut skipping = false;
    let mut words = words(text).into_iter();
    while let Some((line, word)) = words.next() {
        let mut value = |what: &str| {
            let value = words.next().map(|(_, value)| value.to_owned());
            value.ok_or_else(|| format!("line {line}: `{what}` without a value"))
        };
        match word {
            "machine" => {
                skipping = false;
                let name = value("machine")?;
                machines.push(NetrcMachine {
                    name,
                    ..NetrcMachine::default()
                });
            }
            "default" => skipping = true,
            "login" | "password" | "account" => {
                let text = value(word)?;
                match (word, machines.last_mut()) {
                    _ if skipping => {}
                    ("login", Some(machine)) => machine.login = text,
                    ("password", Some(machine)) => machine.password = text,
                    (_, Some(_)) => {}
                    (_, None) => return Err(format!("line {line}: `{word}` before any `machine`")),
                }
            }
            _ => {
                return Err(format!(
                    "line {line}: expected `machine`, `login`, `password`, `account` or `default`"
                ));
            }
        }
    }
    Ok(machines)
}

/// Splits the text into words with their line numbers. A `#` at the beginning of a word starts a comment, and a macro (`macdef`)
/// extends to the next empty line.
fn words(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut in_macro = false;
    for (index, line) in text.lines().enumerate() {
        if in_macro {
            in_macro = !line.trim().is_empty();
            continue;
        }
        for word in line.split_whitespace() {
            let is_value = previous_takes_value(&found);
            if word.starts_with('#') && !is_value {
                break;
            }
            if word == "macdef" && !is_value {
                in_macro = true;
                break;
            }
            found.push((index + 1, word));
        }
    }
    found
}

/// Whether the last word is a keyword whose value is the next word. A `#` then belongs to the value and starts no comment.
fn previous_takes_value(words: &[(usize, &str)]) -> bool {
    let keyword = |at: Option<usize>| {
        let word = at.and_then(|at| words.get(at)).map(|(_, word)| *word);
        matches!(word, Some("machine" | "login" | "password" | "account"))
    };
    let last = words.len().checked_sub(1);
    keyword(last) && !keyword(words.len().checked_sub(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(name: &str, login: &str, password: &str) -> NetrcMachine {
        NetrcMachine {
            name: name.to_owned(),
            login: login.to_owned(),
            password: password.to_owned(),
        }
    }

    #[test]
    fn entries_are_read_in_any_layout() {
        let text = "# comment\nmachine a.example login u password p # note\nmachine b.example:8443\n\tpassword #x\n\tlogin v\n\
                    account c\nmacdef m\n login nonsense\n\ndefault login d password e\nmachine c login w password z";
        assert_eq!(
            parse(text).expect("valid"),
            [
                machine("a.example", "u", "p"),
                machine("b.example:8443", "v", "#x"),
                machine("c", "w", "z")
            ]
        );
    }

    #[test]
    fn errors_do_not_quote_the_file() {
        for text in [
            "login x",
            "machine",
            "machine a login",
            "secret",
            "machine a login u hunter2",
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with("line 1: "), "{error}");
            assert!(
                !error.contains("hunter2") && !error.contains("secret"),
                "{error}"
            );
        }
    }

    #[test]
    fn the_port_counts_if_the_url_has_one() {
        for (url, expected) in [
            ("https://dl.example/x", "dl.example"),
            ("https://dl.example:443/x", "dl.example"),
            ("https://dl.example:8443/x", "dl.example:8443"),
            ("http://u:p@dl.example/x", "dl.example"),
        ] {
            assert_eq!(authority(&Url::parse(url).unwrap()), expected);
        }
    }
}
