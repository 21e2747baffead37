//! Paths in `file://` addresses. `..` is not removed from them, because after a symlink it leads to the parent of the target.

use std::path::PathBuf;

/// Returns the path in a URL as git reads it: decoded. Git knows no query or fragment in these URLs, so `?` and `#` are part of the path.
pub(in crate::modules) fn git_path(location: &str) -> Option<PathBuf> {
    let path = written_path(location)?;
    Some(native(&String::from_utf8(decode(path)?).ok()?))
}

/// Returns the path in a URL as go-getter reads it: decoded only if Go would encode the result in the same way. For example, `%20` becomes
/// a space, but `%2e` stays as it is.
pub(super) fn directory_path(location: &str) -> Option<PathBuf> {
    let path = written_path(location)?.split(['?', '#']).next()?;
    let decoded = decode(path)?;
    match String::from_utf8(decoded) {
        Ok(decoded) if encode(&decoded) == path => Some(native(&decoded)),
        _ => Some(native(path)),
    }
}

/// Returns everything after the host. `None` if the host is not this machine.
fn written_path(location: &str) -> Option<&str> {
    let (_, rest) = location.split_once("://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    path.starts_with('/').then_some(path)
}

/// Decodes escape sequences such as `%20`. Returns `None` if a `%` is not followed by two hexadecimal digits.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut parts = text.split('%');
    let mut decoded = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        decoded.push(u8::from_str_radix(digits, 16).ok()?);
        decoded.extend_from_slice(rest.as_bytes());
    }
    Some(decoded)
}

/// Encodes a path as Go does.
fn encode(path: &str) -> String {
    let encode_byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        _ if b"-_.~$&+,/:;=@".contains(&byte) => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    path.bytes().map(encode_byte).collect()
}

#[cfg(not(windows))]
fn native(path: &str) -> PathBuf {
    PathBuf::from(path)
}

/// Converts `/C:/directory` to `C:/directory`.
#[cfg(windows)]
fn native(path: &str) -> PathBuf {
    let drive = path
        .strip_prefix('/')
        .filter(|rest| rest.get(1..2) == Some(":"));
    PathBuf::from(drive.unwrap_or(path))
}

#[cfg(all(test, not(windows)))]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_as_by_go_getter_and_by_git() {
        for (location, go_getter, git) in [
            ("file:///a b", "/a b", "/a b"),
            ("file:///a%20b", "/a b", "/a b"),
            ("file:///a ", "/a ", "/a "),
            ("file:///é/%C3%A9", "/é/%C3%A9", "/é/é"),
            ("file:///%C3%A9", "/é", "/é"),
            ("file:///a%2Fb", "/a%2Fb", "/a/b"),
            ("file:///a%252Fb", "/a%2Fb", "/a%2Fb"),
            ("file:///a/%2e%2e/b", "/a/%2e%2e/b", "/a/../b"),
            ("file:///a/../b", "/a/../b", "/a/../b"),
            ("FILE://localhost/a?x#y", "/a", "/a?x#y"),
            ("file:///a#y", "/a", "/a#y"),
        ] {
            let found = (directory_path(location), git_path(location));
            let expected = (Some(go_getter.into()), Some(git.into()));
            assert_eq!(found, expected, "{location}");
        }
        for location in [
            "file:///a%zz",
            "file:///a%2",
            "file:///a%+1",
            "file://other/a",
            "/a",
        ] {
            let found = (directory_path(location), git_path(location));
            assert_eq!(found, (None, None), "{location}");
        }
    }
}
