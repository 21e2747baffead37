//! Addresses that are safe to print, to log and to store.
//!
//! The user info, query and fragment of an address may contain a password, a token or a signature. A [`RedactedUrl`] has none of
//! these parts. Every address in a message, in a log or in the cache is a [`RedactedUrl`].

use std::fmt;
use std::path::Path;

use url::Url;

/// An address without user info, query and fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedactedUrl(String);

impl RedactedUrl {
    /// Redacts an address as users write it: a URL, a URL behind `git::` or another getter, `user@host:path`, or a path.
    pub fn parse(text: &str) -> Self {
        let start = start_of_url(text);
        let address = before_query(&text[start..]);
        let safe = match Url::parse(address) {
            Ok(url) if url.has_host() && has_user_info(&url) => Self::from(&url).0,
            Ok(url) if url.has_host() => address.to_owned(),
            // In an invalid URL, `?`, `#` and `/` may be part of an unescaped password.
            Err(_) if address.contains("://") => cut_user_info(&text[start..], &[]),
            _ => cut_user_info(address, &['/']),
        };
        Self(format!("{}{}", &text[..start], before_query(&safe)))
    }

    /// Like [`parse`](Self::parse), but keeps the query parameter that names a revision: `ref`, or in OCI registries `tag` or `digest`.
    pub fn with_revision(text: &str) -> Self {
        let query = text.split_once('?').map_or("", |(_, query)| query);
        let query = query.split('#').next().unwrap_or_default();
        let names: &[&str] = if text.starts_with("oci://") {
            &["tag=", "digest="]
        } else {
            &["ref="]
        };
        let is_revision = |part: &&str| names.iter().any(|name| part.starts_with(name));
        let revision = query.split('&').find(is_revision);
        let revision = revision.map_or_else(String::new, |part| format!("?{part}"));
        Self(Self::parse(text).0 + &revision)
    }

    /// Wraps a path on this machine, which contains no secrets.
    pub fn local(path: &Path) -> Self {
        Self(path.display().to_string())
    }
}

impl From<&Url> for RedactedUrl {
    fn from(url: &Url) -> Self {
        let mut safe = without_user_info(url);
        safe.set_query(None);
        Self(safe.into())
    }
}

impl fmt::Display for RedactedUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Removes user info and fragment, which are not part of a request line.
pub fn without_user_info(url: &Url) -> Url {
    let mut seen = url.clone();
    seen.set_fragment(None);
    // Fails only for URLs without a host, which have no user info either.
    let _ = seen.set_username("").and_then(|()| seen.set_password(None));
    seen
}

/// Removes `user:password@` from all URLs in a line that another program wrote.
pub fn redact_line(line: &str) -> String {
    let mut safe = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        safe.push_str(before);
        let ends_authority = |next: char| next == '/' || next == '\'' || next.is_whitespace();
        let authority = after.find(ends_authority).unwrap_or(after.len());
        let secret = after[..authority].rfind('@').map_or(0, |end| end + 1);
        rest = &after[secret..];
    }
    safe + rest
}

/// Returns the byte offset after `git::` or another getter, or 0 if none precedes the address.
fn start_of_url(text: &str) -> usize {
    match text.split_once("::") {
        Some((getter, _)) if getter.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            getter.len() + 2
        }
        _ => 0,
    }
}

fn has_user_info(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

fn before_query(address: &str) -> &str {
    address.split(['?', '#']).next().unwrap_or_default()
}

/// Removes everything between the scheme and the last `@` that precedes the first character in `ends`.
fn cut_user_info(address: &str, ends: &[char]) -> String {
    let start = address.find("://").map_or(0, |at| at + 3);
    let (scheme, rest) = address.split_at(start);
    let authority = rest.find(ends).unwrap_or(rest.len());
    let host = rest[..authority].rfind('@').map_or(0, |at| at + 1);
    format!("{scheme}{}", &rest[host..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_redacted() {
        for row in [
            "https://h.test | https://h.test",
            "https://H.test/A | https://H.test/A",
            "https://user:pass@h.test:8443/a/b.zip?X-Signature=secret#part | https://h.test:8443/a/b.zip",
            "https://t@h.test/m.zip?sig=s#f | https://h.test/m.zip",
            "https://h.test/m.zip#f?x | https://h.test/m.zip",
            "https:/u:p@h.test/x | https://h.test/x",
            "HTTPS://u:p@h.test/x | https://h.test/x",
            "git::https://u:p@g.test/r?ref=x | git::https://g.test/r",
            "git::git@g.test:o/r | git::g.test:o/r",
            "git@g.test:o/r | g.test:o/r",
            "token:x@g.test:o/r | g.test:o/r",
            "ssh://u:p@g.test:o/r?x=y | ssh://g.test:o/r",
            "https://u:p/a?s#s@g.test/r | https://g.test/r",
            "file:///srv/a@b | file:///srv/a@b",
            "/srv/modules/a@b | /srv/modules/a@b",
            "checksum=md5:a | checksum=md5:a",
            "a?b::c | a",
            " | ",
        ] {
            let (text, expected) = row.split_once(" | ").unwrap();
            assert_eq!(RedactedUrl::parse(text).to_string(), expected, "{text}");
            if let Ok(url) = Url::parse(text) {
                let url = RedactedUrl::from(&url).to_string();
                assert!(!url.contains(['?', '#']), "{url}");
            }
        }
    }

    #[test]
    fn urls_are_redacted() {
        let url = Url::parse("https://user:pass@h.test:8443/a/b.zip?X-Signature=secret#part");
        let url = url.unwrap();
        let safe = RedactedUrl::from(&url).to_string();
        assert_eq!(safe, "https://h.test:8443/a/b.zip");
        let seen = "https://h.test:8443/a/b.zip?X-Signature=secret";
        assert_eq!(without_user_info(&url).as_str(), seen);
    }

    #[test]
    fn a_revision_is_shown_on_request() {
        for row in [
            "git::https://u:p@g.test/o/r.git//sub?depth=1&ref=v1 | git::https://g.test/o/r.git//sub?ref=v1",
            "git::https://g.test/o/r.git?ref=v1 | git::https://g.test/o/r.git?ref=v1",
            "git::https://g.test/o/r.git?ref=v1#secret | git::https://g.test/o/r.git?ref=v1",
            "https://h.test/m.zip?X-Amz-Signature=abc&archive=zip | https://h.test/m.zip",
            "https://h.test/m.zip?token=a?ref=b | https://h.test/m.zip",
            "git::ssh://git@g.test/o/r | git::ssh://g.test/o/r",
            "oci://u:p@h.test/m?archive=false&tag=v1#x | oci://h.test/m?tag=v1",
            "oci://h.test/m?digest=sha256:0&ref=r | oci://h.test/m?digest=sha256:0",
            "https://h.test/m.zip?tag=secret | https://h.test/m.zip",
        ] {
            let (text, expected) = row.split_once(" | ").unwrap();
            let safe = RedactedUrl::with_revision(text).to_string();
            assert_eq!(safe, expected, "{text}");
        }
    }

    #[test]
    fn lines_of_other_programs_are_redacted() {
        for row in [
            "fatal: unable to access 'https://u:p@g.test/r/': no | fatal: unable to access 'https://g.test/r/': no",
            "a https://t@h b ssh://g@h | a https://h b ssh://h",
            "plain @ text | plain @ text",
        ] {
            let (line, expected) = row.split_once(" | ").unwrap();
            assert_eq!(redact_line(line), expected);
        }
    }
}
