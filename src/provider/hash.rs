//! Hashes of provider packages, as lock files record them: `SCHEME:VALUE`.
//!
//! `h1:` is the Base64 form of a SHA-256 digest over the files of the unpacked package, `zh:` the hexadecimal SHA-256 digest
//! of the distribution zip. Any other scheme is unknown: it is kept as it is and never matches a package.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::error::HashError;

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest with these bytes.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Reads 64 hexadecimal digits of either case.
    pub fn parse_hex(text: &str) -> Result<Self, HashError> {
        let bad = || HashError::BadDigest(text.to_owned());
        let digits: Option<Vec<u8>> = text.chars().map(hex_digit).collect();
        let digits = digits.filter(|digits| digits.len() == 64).ok_or_else(bad)?;
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = pair[0] << 4 | pair[1];
        }
        Ok(Self(bytes))
    }

    /// The digest's bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

fn hex_digit(char: char) -> Option<u8> {
    char.to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// Lower-case hexadecimal.
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

/// What a hash was taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HashScheme {
    /// `h1`: the files of the unpacked package.
    H1,
    /// `zh`: the distribution zip.
    Zh,
    /// Anything else, upper-case spellings included.
    Other,
}

/// A recorded hash. Ordered by the bytes of the whole text, the order of a lock file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(String);

impl Hash {
    /// Reads a hash of any scheme: all that is asked for is a colon behind at least one byte.
    pub fn parse(text: &str) -> Result<Self, HashError> {
        match text.find(':') {
            None | Some(0) => Err(HashError::NoScheme(text.to_owned())),
            Some(_) => Ok(Self(text.to_owned())),
        }
    }

    /// The `zh` hash of a zip with this digest.
    pub fn zh(digest: Digest) -> Self {
        Self(format!("zh:{digest}"))
    }

    /// The `h1` hash of a package whose sorted list of file digests has this digest.
    pub fn h1(digest: Digest) -> Self {
        Self(format!("h1:{}", STANDARD.encode(digest.as_bytes())))
    }

    /// What the hash was taken over.
    pub fn scheme(&self) -> HashScheme {
        match self.0.split_once(':') {
            Some(("h1", _)) => HashScheme::H1,
            Some(("zh", _)) => HashScheme::Zh,
            _ => HashScheme::Other,
        }
    }

    /// The whole text, scheme included.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What stands behind the scheme.
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
    fn digests_are_read_in_either_case_and_shown_in_lower_case() {
        let digest = Digest::parse_hex(&EMPTY.to_uppercase()).unwrap();
        assert_eq!(digest.to_string(), EMPTY);
        assert_eq!((digest.as_bytes()[0], digest.as_bytes()[31]), (0xe3, 0x55));
        assert_eq!(format!("{digest:?}"), format!("Digest({EMPTY})"));
        assert_eq!(Digest::new(*digest.as_bytes()), digest);
    }

    #[test]
    fn what_is_no_digest() {
        let long = format!("{EMPTY}0");
        for text in [
            "",
            "e3",
            &EMPTY[1..],
            &long,
            &EMPTY.replace('e', "g"),
            &EMPTY.replace("e3", "é"),
        ] {
            assert_eq!(
                Digest::parse_hex(text),
                Err(HashError::BadDigest(text.into()))
            );
        }
    }

    #[test]
    fn hashes_are_made_from_digests() {
        let digest = Digest::parse_hex(EMPTY).unwrap();
        assert_eq!(Hash::zh(digest).to_string(), format!("zh:{EMPTY}"));
        assert_eq!(
            Hash::h1(digest).as_str(),
            "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        );
    }

    #[test]
    fn any_scheme_is_read_and_kept() {
        for (text, scheme, value) in [
            ("h1:abc=", HashScheme::H1, "abc="),
            ("zh:short", HashScheme::Zh, "short"), // the value is not looked at
            ("h1:", HashScheme::H1, ""),
            ("ZH:aa", HashScheme::Other, "aa"),
            ("h2:a:b", HashScheme::Other, "a:b"),
            ("é:x", HashScheme::Other, "x"),
        ] {
            let hash = Hash::parse(text).unwrap();
            assert_eq!(
                (hash.scheme(), hash.value(), hash.as_str()),
                (scheme, value, text)
            );
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
