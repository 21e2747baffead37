//! `checksum=` in the address of an archive: `TYPE:HEX`, or `HEX` alone, whose length then tells the type.
//!
//! SHA-256 and SHA-512 only. MD5 and SHA-1 prove nothing against whoever can replace an archive, and a file of checksums
//! (`file:`) is one more thing that comes from the same place.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};

use sha2::{Sha256, Sha512};

use crate::redacted_url::RedactedUrl;

use super::error::ModuleError;

/// What the bytes of an archive must hash to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Checksum {
    algorithm: Algorithm,
    /// In lower case.
    hex: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Algorithm {
    Sha256,
    Sha512,
}

impl Algorithm {
    const fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "sha256",
            Self::Sha512 => "sha512",
        }
    }

    const fn hex_digits(self) -> usize {
        match self {
            Self::Sha256 => 64,
            Self::Sha512 => 128,
        }
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.algorithm.name(), self.hex)
    }
}

impl Checksum {
    /// Reads the value of the parameter.
    pub(super) fn parse(text: &str) -> Result<Self, ModuleError> {
        let unreadable = |problem| ModuleError::Address {
            address: RedactedUrl::parse(&format!("checksum={text}")),
            problem,
        };
        let (named, hex) = match text.split_once(':') {
            Some((name, hex)) => (Some(name), hex),
            None => (None, text),
        };
        let algorithm = match (named, hex.len()) {
            (Some("sha256"), _) | (None, 64) => Algorithm::Sha256,
            (Some("sha512"), _) | (None, 128) => Algorithm::Sha512,
            (Some("md5"), _) | (None, 32) => return Err(unsupported("MD5 checksums")),
            (Some("sha1"), _) | (None, 40) => return Err(unsupported("SHA-1 checksums")),
            (Some("file"), _) => return Err(unsupported("files of checksums")),
            _ => return Err(unreadable("its type is not known")),
        };
        if hex.len() != algorithm.hex_digits() || !hex.bytes().all(|byte| byte.is_ascii_hexdigit())
        {
            return Err(unreadable("it has not the digits that its type has"));
        }
        Ok(Self {
            algorithm,
            hex: hex.to_ascii_lowercase(),
        })
    }

    /// The SHA-256 of a file, which is read from its start.
    pub(super) fn sha256(file: &mut File) -> io::Result<Self> {
        file.rewind()?;
        Ok(Self {
            algorithm: Algorithm::Sha256,
            hex: digest::<Sha256>(file)?,
        })
    }

    /// The same kind of checksum of a file, which is read from its start.
    pub(super) fn of_file(&self, file: &mut File) -> io::Result<Self> {
        file.rewind()?;
        let hex = match self.algorithm {
            Algorithm::Sha256 => digest::<Sha256>(file)?,
            Algorithm::Sha512 => digest::<Sha512>(file)?,
        };
        Ok(Self {
            algorithm: self.algorithm,
            hex,
        })
    }
}

const PIECE_BYTES: usize = 64 << 10;

fn digest<D: sha2::Digest>(file: &mut File) -> io::Result<String> {
    let mut digest = D::new();
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match file.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => digest.update(&piece[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let bytes = digest.finalize();
    Ok(bytes.iter().fold(String::new(), |mut hex, byte| {
        for digit in [byte >> 4, byte & 15] {
            hex.extend(char::from_digit(u32::from(digit), 16));
        }
        hex
    }))
}

const fn unsupported(what: &'static str) -> ModuleError {
    ModuleError::Unsupported { what }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn types_are_named_or_follow_from_the_length() {
        let (short, long) = ("Ab".repeat(32), "0".repeat(128));
        for (text, expected) in [
            (short.clone(), format!("sha256:{}", short.to_lowercase())),
            (
                format!("sha256:{short}"),
                format!("sha256:{}", short.to_lowercase()),
            ),
            (long.clone(), format!("sha512:{long}")),
            (format!("sha512:{long}"), format!("sha512:{long}")),
        ] {
            assert_eq!(Checksum::parse(&text).unwrap().to_string(), expected);
        }
        for (text, expected) in [
            (
                format!("md5:{}", "0".repeat(32)),
                "MD5 checksums are not supported",
            ),
            ("0".repeat(40), "SHA-1 checksums are not supported"),
            (
                "file:https://h.test/sums".to_owned(),
                "files of checksums are not supported",
            ),
            (format!("sha256:{long}"), "it has not the digits"),
            (
                format!("sha256:{}", "g".repeat(64)),
                "it has not the digits",
            ),
            ("x".to_owned(), "its type is not known"),
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
        assert_eq!(checksum.of_file(&mut file).unwrap(), checksum);
    }
}
