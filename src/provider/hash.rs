//! Hashes of provider packages in the form that lock files record: `SCHEME:VALUE`.
//!
//! `h1:` is the Base64 form of a SHA-256 digest over the files of the unpacked package; `zh:` is the hexadecimal SHA-256 digest
//! of the distribution zip. Hashes with other schemes are preserved unchanged and never match a package.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::error::HashError;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Parses 64 hexadecimal digits of either case.
    pub fn parse_hex(text: &str) -> Result<Self, HashError> {
        let digits = text
            .chars()
            .map(hex_digit)
            .collect::<Option<Vec<u8>>>()
            .filter(|digits| digits.len() == 64)
            .ok_or_else(|| HashError::BadDigest(text.to_owned()))?;
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = pair[0] << 4 | pair[1];
        }
        Ok(Self(bytes))
    }

    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

fn hex_digit(char: char) -> Option<u8> {
    char.to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// Displays lower-case hexadecimal digits.
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// What a hash is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HashScheme {
    /// `h1`: the files of the unpacked package.
    H1,
    /// `zh`: the distribution zip.
    Zh,
    /// Any other scheme, including `H1` and `ZH`.
    Other,
}

/// A recorded hash. Hashes are ordered by the bytes of the whole text, as in a lock file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(String);

impl Hash {
    /// Parses a hash of any scheme. The text must contain a colon after at least one byte.
    pub fn parse(text: &str) -> Result<Self, HashError> {
        match text.find(':') {
            None | Some(0) => Err(HashError::NoScheme(text.to_owned())),
            Some(_) => Ok(Self(text.to_owned())),
        }
    }

    /// Creates the `zh` hash of a zip with this digest.
    pub fn zh(digest: Digest) -> Self {
        Self(format!("zh:{digest}"))
    }

    /// Creates the `h1` hash from the digest of the sorted list of file digests.
    pub fn h1(digest: Digest) -> Self {
        Self(format!("h1:{}", STANDARD.encode(digest.as_bytes())))
    }

    pub fn scheme(&self) -> HashScheme {
        match self.0.split_once(':') {
            Some(("h1", _)) => HashScheme::H1,
            Some(("zh", _)) => HashScheme::Zh,
            _ => HashScheme::Other,
        }
    }

    /// Returns the whole text, including the scheme.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text after the scheme and its colon.
    pub fn value(&self) -> &str {
        self.0.split_once(':').map_or("", |(_, value)| value)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SHA-256 of the empty string.
    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn digests_parse_in_either_case_and_display_in_lower_case() {
        let digest = Digest::parse_hex(&EMPTY.to_uppercase()).unwrap();
        assert_eq!(digest.to_string(), EMPTY);
        assert_eq!((digest.as_bytes()[0], digest.as_bytes()[31]), (0xe3, 0x55));
        assert_eq!(format!("{digest:?}"), format!("Digest({EMPTY})"));
        assert_eq!(Digest::new(*digest.as_bytes()), digest);
    }

    #[test]
    fn invalid_digests_are_errors() {
        let (long, no_hex, no_ascii) = (
            format!("{EMPTY}0"),
            EMPTY.replace('e', "g"),
            EMPTY.replace("e3", "é"),
        );
        for text in ["", "e3", &EMPTY[1..], &long, &no_hex, &no_ascii] {
            let expected = HashError::BadDigest(text.into());
            assert_eq!(Digest::parse_hex(text), Err(expected));
        }
    }

    #[test]
    fn hashes_are_built_from_digests() {
        let digest = Digest::parse_hex(EMPTY).unwrap();
        assert_eq!(Hash::zh(digest).to_string(), format!("zh:{EMPTY}"));
        let h1 = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
        assert_eq!(Hash::h1(digest).as_str(), h1);
    }

    #[test]
    fn any_scheme_is_parsed_and_preserved() {
        for (text, scheme, value) in [
            ("h1:abc=", HashScheme::H1, "abc="),
            ("zh:short", HashScheme::Zh, "short"), // the value is not checked
            ("h1:", HashScheme::H1, ""),
            ("ZH:aa", HashScheme::Other, "aa"),
            ("h2:a:b", HashScheme::Other, "a:b"),
            ("é:x", HashScheme::Other, "x"),
        ] {
            let hash = Hash::parse(text).unwrap();
            let found = (hash.scheme(), hash.value(), hash.as_str());
            assert_eq!(found, (scheme, value, text));
        }
        for text in ["abc", ":abc", ""] {
            assert_eq!(Hash::parse(text), Err(HashError::NoScheme(text.into())));
        }
    }

    #[test]
    fn hashes_sort_by_bytes() {
        let sorted = ["ZH:aa", "h1:", "h1:a", "h2:q", "xx:y", "zh:short"]
            .map(|text| Hash::parse(text).unwrap());
        assert!(sorted.is_sorted());
    }
}
