//! The `checksum=` parameter in the address of an archive: `TYPE:HEX`, or only `HEX`, whose length then determines the type.
//!
//! Only SHA-256 and SHA-512 are supported. An attacker who can replace an archive can also forge MD5 and SHA-1 checksums, and can
//! replace a checksum file (`file:`) on the same server.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};

use sha2::{Sha256, Sha512};

use crate::redacted_url::RedactedUrl;

use super::ModuleError;

/// The expected checksum of an archive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Checksum {
    pub(super) algorithm: Algorithm,
    /// The checksum in lower-case hexadecimal.
    hex: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Algorithm {
    Sha256,
    Sha512,
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.algorithm {
            Algorithm::Sha256 => "sha256",
            Algorithm::Sha512 => "sha512",
        };
        write!(f, "{name}:{}", self.hex)
    }
}

impl Checksum {
    pub(super) fn parse(text: &str) -> Result<Self, ModuleError> {
        let invalid = |problem| ModuleError::Address {
            address: RedactedUrl::parse(&format!("checksum={text}")),
            problem,
        };
        let (name, hex) = match text.split_once(':') {
            Some((name, hex)) => (Some(name), hex),
            None => (None, text),
        };
        let (algorithm, digits) = match (name, hex.len()) {
            (Some("sha256"), _) | (None, 64) => (Algorithm::Sha256, 64),
            (Some("sha512"), _) | (None, 128) => (Algorithm::Sha512, 128),
            (Some("md5"), _) | (None, 32) => return Err(ModuleError::Unsupported("MD5 checksums")),
            (Some("sha1"), _) | (None, 40) => {
                return Err(ModuleError::Unsupported("SHA-1 checksums"));
            }
            (Some("file"), _) => return Err(ModuleError::Unsupported("checksum files")),
            _ => return Err(invalid("the checksum type is unknown")),
        };
        if hex.len() != digits || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(invalid(
                "the checksum has the wrong length or is not hexadecimal",
            ));
        }
        Ok(Self {
            algorithm,
            hex: hex.to_ascii_lowercase(),
        })
    }

    /// Computes the checksum of the whole file, regardless of its current position.
    pub(super) fn compute(algorithm: Algorithm, file: &mut File) -> io::Result<Self> {
        file.rewind()?;
        let hex = match algorithm {
            Algorithm::Sha256 => digest::<Sha256>(file)?,
            Algorithm::Sha512 => digest::<Sha512>(file)?,
        };
        Ok(Self { algorithm, hex })
    }
}

const BUFFER_BYTES: usize = 64 << 10;

fn digest<D: sha2::Digest>(file: &mut File) -> io::Result<String> {
    let mut digest = D::new();
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => digest.update(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let to_hex = |text: String, byte: &u8| text + &format!("{byte:02x}");
    Ok(digest.finalize().iter().fold(String::new(), to_hex))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn the_type_is_named_or_follows_from_the_length() {
        let (short, long) = ("Ab".repeat(32), "0".repeat(128));
        let lower = format!("sha256:{}", short.to_lowercase());
        for (text, expected) in [
            (short.clone(), lower.clone()),
            (format!("sha256:{short}"), lower),
            (long.clone(), format!("sha512:{long}")),
            (format!("sha512:{long}"), format!("sha512:{long}")),
        ] {
            assert_eq!(Checksum::parse(&text).unwrap().to_string(), expected);
        }
        let (md5, not_hex) = ("0".repeat(32), "g".repeat(64));
        for (text, expected) in [
            (format!("md5:{md5}"), "MD5 checksums are not supported"),
            ("0".repeat(40), "SHA-1 checksums are not supported"),
            ("file:https://h.test/sums".to_owned(), "checksum files"),
            (
                format!("sha256:{long}"),
                "the wrong length or is not hexadecimal",
            ),
            (
                format!("sha256:{not_hex}"),
                "the wrong length or is not hexadecimal",
            ),
            ("x".to_owned(), "the checksum type is unknown"),
        ] {
            let error = Checksum::parse(&text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn files_are_hashed_from_their_start() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"abc").unwrap();
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let checksum = Checksum::parse(expected).unwrap();
        assert_eq!(
            Checksum::compute(checksum.algorithm, &mut file).unwrap(),
            checksum
        );
    }
}
