//! Digests of manifests and blobs, such as `sha256:...`.

use std::fmt::{self, Write as _};

use sha2::{Digest as _, Sha256, Sha384, Sha512};

use crate::provider::Digest;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DigestAlgorithm {
    Sha256,
    Sha384,
    Sha512,
}

impl DigestAlgorithm {
    const fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "sha256",
            Self::Sha384 => "sha384",
            Self::Sha512 => "sha512",
        }
    }

    const fn bytes(self) -> usize {
        match self {
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }
}

/// A digest with its algorithm. The hexadecimal digits are in lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OciDigest {
    algorithm: DigestAlgorithm,
    hex: String,
}

impl OciDigest {
    /// Parses `ALGORITHM:HEX`. `None` if the algorithm is unknown or the digits are invalid.
    pub fn parse(text: &str) -> Option<Self> {
        use DigestAlgorithm::{Sha256, Sha384, Sha512};
        let (name, hex) = text.split_once(':')?;
        let mut algorithms = [Sha256, Sha384, Sha512].into_iter();
        let algorithm = algorithms.find(|algorithm| algorithm.name() == name)?;
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let is_valid = hex.len() == 2 * algorithm.bytes() && hex.bytes().all(is_digit);
        is_valid.then(|| Self {
            algorithm,
            hex: hex.to_owned(),
        })
    }

    /// Computes the digest of `content` with this algorithm.
    pub fn compute(algorithm: DigestAlgorithm, content: &[u8]) -> Self {
        let bytes = match algorithm {
            DigestAlgorithm::Sha256 => Sha256::digest(content).to_vec(),
            DigestAlgorithm::Sha384 => Sha384::digest(content).to_vec(),
            DigestAlgorithm::Sha512 => Sha512::digest(content).to_vec(),
        };
        let mut hex = String::new();
        for byte in bytes {
            // Writing to a string never fails.
            let _ = write!(hex, "{byte:02x}");
        }
        Self { algorithm, hex }
    }

    /// Computes the SHA-256 digest of `content`.
    pub fn sha256_of(content: &[u8]) -> Self {
        Self::compute(DigestAlgorithm::Sha256, content)
    }

    /// Converts a SHA-256 digest.
    pub fn sha256(digest: Digest) -> Self {
        Self {
            algorithm: DigestAlgorithm::Sha256,
            hex: digest.to_string(),
        }
    }

    pub const fn algorithm(&self) -> DigestAlgorithm {
        self.algorithm
    }

    /// Returns the digest if its algorithm is SHA-256.
    pub fn as_sha256(&self) -> Option<Digest> {
        match self.algorithm {
            DigestAlgorithm::Sha256 => Digest::parse_hex(&self.hex).ok(),
            _ => None,
        }
    }
}

impl fmt::Display for OciDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.algorithm.name(), self.hex)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_name_their_algorithm() {
        for (algorithm, start) in [
            (DigestAlgorithm::Sha256, "sha256:e3b0c442"),
            (DigestAlgorithm::Sha384, "sha384:38b060a7"),
            (DigestAlgorithm::Sha512, "sha512:cf83e135"),
        ] {
            let empty = OciDigest::compute(algorithm, b"");
            let text = empty.to_string();
            assert!(text.starts_with(start), "{text}");
            assert_eq!(OciDigest::parse(&text), Some(empty.clone()));
            let is_sha256 = algorithm == DigestAlgorithm::Sha256;
            assert_eq!(empty.as_sha256().is_some(), is_sha256);
            for broken in [
                text.to_uppercase(),
                text[..text.len() - 1].to_owned(),
                text.replace('b', "g"),
                format!("x{text}"),
            ] {
                assert_eq!(OciDigest::parse(&broken), None, "{broken}");
            }
        }
    }
}
