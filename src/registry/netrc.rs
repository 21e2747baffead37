//! The netrc file, from which Terraform takes credentials for package downloads.
//!
//! `machine NAME login USER password PASSWORD`, in any order after `machine` and over any number of lines. The name must
//! equal the host of the URL with its port, if that is written. `default` counts for nothing.
//!
//! A password never goes over plain http, where everybody on the way could read it, except to this machine. A file that cannot be
//! read stops nothing: what needs a password fails by itself.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::HeaderValue;
use url::Url;

use crate::access::open_regular;
use crate::registry::error::RegistryError;
use crate::registry::fault::Cause;
use crate::registry::http::is_loopback;

/// The most bytes of a file: thousands of machines.
const MAX_BYTES: u64 = 1024 * 1024;

/// The netrc file, read when it is first needed.
pub(super) struct Netrc {
    path: Option<PathBuf>,
    machines: OnceLock<Result<Vec<Machine>, RegistryError>>,
}

impl Netrc {
    /// The file at `path`, which need not exist.
    pub(super) const fn new(path: Option<PathBuf>) -> Self {
        Self {
            path,
            machines: OnceLock::new(),
        }
    }

    /// The header for a download from `url`, if the file has an entry for it.
    pub(super) fn header(&self, url: &Url) -> Option<HeaderValue> {
        if url.scheme() != "https" && !is_loopback(url) {
            return None;
        }
        let path = self.path.as_ref()?;
        let machines = self.machines.get_or_init(|| read(path)).as_ref().ok()?;
        let host = authority(url);
        let found = machines.iter().find(|machine| machine.name == host);
        found.and_then(Machine::header)
    }

    /// Why the file could not be read, if it was needed.
    pub(super) fn trouble(&self) -> Option<&RegistryError> {
        self.machines.get()?.as_ref().err()
    }
}

/// All entries. A missing file has none, and `/dev/null` is how to name none.
fn read(path: &Path) -> Result<Vec<Machine>, RegistryError> {
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
        Err(error) => return Err(failed(Cause::innermost(&error))),
        Ok(_) => {}
    }
    parse(&text).map_err(|problem| failed(Cause::text(&problem)))
}

/// The host, and the port if the URL writes one.
fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port()
        .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

#[derive(Debug, Default, PartialEq)]
struct Machine {
    name: String,
    login: String,
    password: String,
}

impl Machine {
    fn header(&self) -> Option<HeaderValue> {
        let encoded = STANDARD.encode(format!("{}:{}", self.login, self.password));
        let mut value = HeaderValue::from_str(&format!("Basic {encoded}")).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

/// All `machine` entries. Errors never quote the file: its words may be passwords.
fn parse(text: &str) -> Result<Vec<Machine>, String> {
    let mut machines: Vec<Machine> = Vec::new();
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
                machines.push(Machine {
                    name,
                    ..Machine::default()
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

/// Words with their line numbers. `#` starts a comment at the beginning of a word; a macro runs to the next empty line.
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

/// Whether the last word is a keyword whose value comes next: passwords may begin with `#`.
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

    fn machine(name: &str, login: &str, password: &str) -> Machine {
        Machine {
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
    fn broken_files_are_errors_that_quote_nothing() {
        for text in [
            "login x",
            "machine",
            "machine a login",
            "secret",
            "machine a login u hunter2",
        ] {
            let error = parse(text).expect_err("invalid");
            assert!(
                error.starts_with("line 1: ")
                    && !error.contains("hunter2")
                    && !error.contains("secret"),
                "{error}"
            );
        }
    }

    #[test]
    fn the_port_counts_if_it_is_written() {
        for (url, expected) in [
            ("https://dl.example/x", "dl.example"),
            ("https://dl.example:443/x", "dl.example"),
            ("https://dl.example:8443/x", "dl.example:8443"),
            ("http://u:p@dl.example/x", "dl.example"),
        ] {
            assert_eq!(authority(&Url::parse(url).expect("a URL")), expected);
        }
    }
}
