//! The `checksum=` parameter in the address of an archive. Its value is `TYPE:HEX`, `file:URL`, or only `HEX`, whose length then determines
//! the type.
//!
//! An attacker can forge MD5 and SHA-1 checksums of archives, and can replace a checksum file on the same server. Therefore, plain http is
//! permitted only with a SHA-256 or SHA-512 checksum, and only such a checksum identifies an archive in the cache.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};

use md5::Md5;
use sha1::Sha1;
use sha2::{Sha256, Sha512};
use url::Url;

use crate::redacted_url::RedactedUrl;

use super::ModuleError;

/// What the address of an archive says about its checksum.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ChecksumSource {
    Value(Checksum),
    /// A file that lists the checksums of several files.
    List(Url),
}

/// The expected checksum of an archive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Checksum {
    pub(super) algorithm: Algorithm,
    /// The checksum in lower-case hexadecimal.
    hex: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Algorithm {
    Md5,
    Sha1,
    Sha256,
    Sha512,
}

impl Algorithm {
    const ALL: [Self; 4] = [Self::Md5, Self::Sha1, Self::Sha256, Self::Sha512];

    const fn name(self) -> &'static str {
        match self {
            Self::Md5 => "md5",
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
            Self::Sha512 => "sha512",
        }
    }

    const fn hex_digits(self) -> usize {
        match self {
            Self::Md5 => 32,
            Self::Sha1 => 40,
            Self::Sha256 => 64,
            Self::Sha512 => 128,
        }
    }

    /// Whether it is infeasible to construct two archives with the same checksum.
    const fn is_strong(self) -> bool {
        matches!(self, Self::Sha256 | Self::Sha512)
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.algorithm.name(), self.hex)
    }
}

impl ChecksumSource {
    pub(super) fn parse(text: &str) -> Result<Self, ModuleError> {
        let Some(list) = text.strip_prefix("file:") else {
            return Checksum::parse(text).map(Self::Value);
        };
        let url = Url::parse(list).ok();
        let url = url.filter(|url| matches!(url.scheme(), "https" | "http" | "file"));
        let url = url.ok_or_else(|| {
            invalid(
                text,
                "a checksum file must have an `https://` or `file://` address",
            )
        })?;
        Ok(Self::List(url))
    }

    /// Whether the checksum alone proves that an archive is the expected one.
    pub(super) const fn is_strong(&self) -> bool {
        match self {
            Self::Value(checksum) => checksum.is_strong(),
            Self::List(_) => false,
        }
    }
}

impl Checksum {
    /// Parses `TYPE:HEX` or `HEX`.
    pub(super) fn parse(text: &str) -> Result<Self, ModuleError> {
        match text.split_once(':') {
            Some((name, hex)) => Self::with_type(name, hex),
            None => Self::of_length(text),
        }
        .map_err(|problem| invalid(text, problem))
    }

    /// Creates a checksum of the type `name`, in upper or lower case.
    pub(super) fn with_type(name: &str, hex: &str) -> Result<Self, &'static str> {
        let mut known = Algorithm::ALL.into_iter();
        let named = |algorithm: &Algorithm| algorithm.name().eq_ignore_ascii_case(name);
        let algorithm = known.find(named).ok_or("the checksum type is unknown")?;
        if hex.len() != algorithm.hex_digits() || !is_hex(hex) {
            return Err("the checksum has the wrong length or is not hexadecimal");
        }
        let hex = hex.to_ascii_lowercase();
        Ok(Self { algorithm, hex })
    }

    /// Creates a checksum of the type that its length determines.
    pub(super) fn of_length(hex: &str) -> Result<Self, &'static str> {
        let mut known = Algorithm::ALL.into_iter();
        let found = known.find(|algorithm| algorithm.hex_digits() == hex.len());
        let algorithm = found.filter(|_| is_hex(hex));
        let algorithm = algorithm.ok_or("the checksum type is unknown")?;
        let hex = hex.to_ascii_lowercase();
        Ok(Self { algorithm, hex })
    }

    pub(super) const fn is_strong(&self) -> bool {
        self.algorithm.is_strong()
    }

    /// Computes the checksum of the whole file, regardless of its current position.
    pub(super) fn compute(algorithm: Algorithm, file: &mut File) -> io::Result<Self> {
        file.rewind()?;
        let hex = match algorithm {
            Algorithm::Md5 => digest_weak::<Md5>(file)?,
            Algorithm::Sha1 => digest_weak::<Sha1>(file)?,
            Algorithm::Sha256 => digest::<Sha256>(file)?,
            Algorithm::Sha512 => digest::<Sha512>(file)?,
        };
        Ok(Self { algorithm, hex })
    }
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn invalid(text: &str, problem: &'static str) -> ModuleError {
    ModuleError::Address {
        address: RedactedUrl::parse(&format!("checksum={text}")),
        problem,
    }
}

const BUFFER_BYTES: usize = 64 << 10;

fn digest<D: sha2::Digest>(file: &mut File) -> io::Result<String> {
    let mut digest = D::new();
    read_chunks(file, |chunk| digest.update(chunk))?;
    Ok(to_hex(&digest.finalize()))
}

/// Like [`digest`], for the hash crates that pgp depends on. They implement an older version of the trait.
fn digest_weak<D: sha1::Digest>(file: &mut File) -> io::Result<String> {
    let mut digest = D::new();
    read_chunks(file, |chunk| digest.update(chunk))?;
    Ok(to_hex(&digest.finalize()))
}

fn read_chunks(file: &mut File, mut use_chunk: impl FnMut(&[u8])) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => use_chunk(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn to_hex(digest: &[u8]) -> String {
    let append = |text: String, byte: &u8| text + &format!("{byte:02x}");
    digest.iter().fold(String::new(), append)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn the_type_is_named_or_follows_from_the_length() {
        let (short, long) = ("Ab".repeat(32), "0".repeat(128));
        let (md5, sha1) = ("c".repeat(32), "d".repeat(40));
        let lower = format!("sha256:{}", short.to_lowercase());
        for (text, expected) in [
            (short.clone(), lower.clone()),
            (format!("SHA256:{short}"), lower),
            (long.clone(), format!("sha512:{long}")),
            (format!("sha512:{long}"), format!("sha512:{long}")),
            (md5.clone(), format!("md5:{md5}")),
            (format!("md5:{md5}"), format!("md5:{md5}")),
            (sha1.clone(), format!("sha1:{sha1}")),
            (format!("Sha1:{sha1}"), format!("sha1:{sha1}")),
        ] {
            assert_eq!(Checksum::parse(&text).unwrap().to_string(), expected);
        }
    }

    #[test]
    fn invalid_checksums_are_errors() {
        const LENGTH: &str = "the wrong length or is not hexadecimal";
        const TYPE: &str = "the checksum type is unknown";
        const LIST: &str = "a checksum file must have an `https://` or `file://` address";
        for (text, expected) in [
            (format!("sha256:{}", "0".repeat(128)), LENGTH),
            (format!("sha256:{}", "g".repeat(64)), LENGTH),
            ("g".repeat(64), TYPE),
            ("x".to_owned(), TYPE),
            (format!("crc32:{}", "0".repeat(64)), TYPE),
            ("file:sums".to_owned(), LIST),
            ("file:ftp://h.test/sums".to_owned(), LIST),
        ] {
            let error = ChecksumSource::parse(&text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn files_are_hashed_from_their_start() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"abc").unwrap();
        for expected in [
            "900150983cd24fb0d6963f7d28e17f72",
            "a9993e364706816aba3e25717850c26c9cd0d89d",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        ] {
            let checksum = Checksum::parse(expected).unwrap();
            let found = Checksum::compute(checksum.algorithm, &mut file).unwrap();
            assert_eq!(found, checksum);
        }
    }
}
