//! Converts the name of a zip entry to a path below the unpacked directory.
//!
//! Like Terraform, it cleans names by Unix rules: `/` is the separator, and empty components and `.` are removed. `\` is an
//! ordinary byte, except that a `..` component between backslashes is an error, too. Names are bytes and are never decoded.

use crate::package::PackageError;
use crate::package::limits::{MAX_COMPONENT_BYTES, MAX_PATH_BYTES};

/// A cleaned path relative to the root of the package. It is empty for the root itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EntryPath(Vec<u8>);

impl EntryPath {
    pub(crate) fn new(name: &[u8]) -> Result<Self, PackageError> {
        let mut dotted = name.split(|byte| matches!(byte, b'/' | b'\\'));
        if dotted.any(|component| component == b"..") {
            return Err(PackageError::ParentInName { name: shown(name) });
        }
        if name.contains(&0) {
            return Err(PackageError::NulInName { name: shown(name) });
        }
        let components: Vec<_> = name
            .split(|byte| *byte == b'/')
            .filter(|component| !matches!(*component, b"" | b"."))
            .collect();
        let longest = components.iter().map(|component| component.len()).max();
        let path = components.join(&b'/');
        if longest > Some(MAX_COMPONENT_BYTES) || path.len() > MAX_PATH_BYTES {
            return Err(PackageError::NameTooLong { name: shown(name) });
        }
        Ok(Self(path))
    }

    pub(crate) fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The maximum number of characters of a name to show in an error message.
const MAX_SHOWN: usize = 120;

/// Formats a name for an error message: escapes control characters, replaces invalid UTF-8, and truncates long names.
pub(crate) fn shown(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    let mut shown = String::new();
    for character in text.chars().take(MAX_SHOWN) {
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    if text.chars().nth(MAX_SHOWN).is_some() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(name: &[u8]) -> Result<Vec<u8>, PackageError> {
        EntryPath::new(name).map(|path| path.as_bytes().to_vec())
    }

    #[test]
    fn names_are_cleaned() {
        let cases: [(&[u8], &[u8]); 17] = [
            (b"a", b"a"),
            (b"a/b", b"a/b"),
            (b"./a", b"a"),
            (b"a//b", b"a/b"),
            (b"a/./b", b"a/b"),
            (b"/abs", b"abs"),
            (b"a/", b"a"),
            (b"", b""),
            (b".", b""),
            (b"./", b""),
            (b"/", b""),
            (b"a..b", b"a..b"),
            (b".../b", b".../b"),
            (b"a\\b\\", b"a\\b\\"),
            (b"C:/a", b"C:/a"),
            (b"caf\xe9", b"caf\xe9"),
            (b"a\r\n/b\n", b"a\r\n/b\n"),
        ];
        for (name, path) in cases {
            assert_eq!(clean(name).as_deref(), Ok(path), "{}", shown(name));
        }
    }

    #[test]
    fn a_parent_component_is_an_error_between_slashes_and_backslashes() {
        let names = [
            "..", "../", "/..", "../x", "a/../b", "a/..", "..\\b", "a\\..\\b", "a\\..",
        ];
        for name in names {
            let refused = PackageError::ParentInName {
                name: name.to_owned(),
            };
            assert_eq!(clean(name.as_bytes()), Err(refused), "{name}");
        }
    }

    #[test]
    fn a_nul_byte_is_an_error() {
        let name = "a\\u{0}b".to_owned();
        assert_eq!(clean(b"a\0b"), Err(PackageError::NulInName { name }));
    }

    #[test]
    fn components_have_255_bytes_at_most() {
        let component = vec![b'x'; 255];
        assert_eq!(clean(&component), Ok(component.clone()));
        assert!(clean(&[&component[..], b"/", &component].concat()).is_ok());
        let long = vec![b'x'; 256];
        assert!(is_too_long(&long));
        assert!(is_too_long(&[b"a/", &long[..], b"/b"].concat()));
    }

    fn is_too_long(name: &[u8]) -> bool {
        matches!(clean(name), Err(PackageError::NameTooLong { .. }))
    }

    #[test]
    fn paths_have_4000_bytes_at_most_once_cleaned() {
        let path = "a/".repeat(2_000);
        let fits = &path.as_bytes()[..3_999];
        assert_eq!(clean(fits).as_deref(), Ok(fits));
        assert!(clean(&[fits, b"b"].concat()).is_ok());
        assert!(is_too_long(&[fits, b"bc"].concat()));
        assert_eq!(clean(&"./".repeat(9_000).into_bytes()), Ok(Vec::new()));
    }

    #[test]
    fn names_in_messages_are_truncated_and_escaped() {
        assert_eq!(shown(b"a\x1b[31m\n\xe9"), "a\\u{1b}[31m\\n\u{fffd}");
        assert_eq!(shown(&[b'x'; 120]), "x".repeat(120));
        assert_eq!(shown(&[b'x'; 121]), format!("{}...", "x".repeat(120)));
    }
}
