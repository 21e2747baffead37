//! The record of a package: a signed note with the hashes of one zip as the package of one provider type.
//!
//! `docs/reference/index-format.md` specifies it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::key::{KeyName, SignerKey, VerifierKey};
use super::note::{NoteError, SignedNote};
use crate::package::PackageHashes;
use crate::provider::{Digest, Hash, HashScheme};

/// The first line of every record, without the format version at its end.
const FORMAT: &str = "tflock package hashes v";

/// The version of the format. It is also the first directory in the path of a record.
const VERSION: u32 = 1;

/// The values that determine the hashes of a package. The type of the provider is one of them: a package has no hash unless it
/// contains an executable named after the type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKey {
    pub zh: Digest,
    pub type_name: String,
}

impl RecordKey {
    /// Returns the first three lines of the record's text.
    fn heading(&self) -> String {
        let Self { zh, type_name } = self;
        format!("{FORMAT}{VERSION}\ntype {type_name}\nzip {zh}\n")
    }

    /// Returns the path of the record in an index, which contains only lower-case letters, digits and slashes.
    pub fn path(&self) -> String {
        let name = Digest::new(Sha256::digest(self.heading()).into()).to_string();
        format!("v{VERSION}/{}/{name}", &name[..2])
    }
}

/// The hashes of a package, without signatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashRecord {
    pub type_name: String,
    pub hashes: PackageHashes,
}

/// A record that a trusted key signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedRecord {
    pub hashes: PackageHashes,
    /// The first of the trusted keys that signed it.
    pub key: KeyName,
}

/// The reason why a record is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    #[error(transparent)]
    Note(#[from] NoteError),
    #[error("it has the format `{0}`, but this version of tflock reads `{FORMAT}{VERSION}`")]
    Version(String),
    #[error("its text does not have the form of a record")]
    Malformed,
    #[error("it is the record of another package: of the zip {} for the provider type `{}`", .0.zh, .0.type_name)]
    OtherPackage(Box<RecordKey>),
}

impl HashRecord {
    pub fn key(&self) -> RecordKey {
        RecordKey {
            zh: self.hashes.zh,
            type_name: self.type_name.clone(),
        }
    }

    /// Returns the text that is signed. It depends only on the package, not on the program or machine that writes it.
    pub fn text(&self) -> String {
        let PackageHashes {
            h1, zip_h1, size, ..
        } = &self.hashes;
        let zip_h1 = zip_h1.as_ref();
        let zip_h1 = zip_h1.map_or_else(String::new, |hash| format!("zip-h1 {hash}\n"));
        format!("{}size {size}\nh1 {h1}\n{zip_h1}", self.key().heading())
    }

    /// Returns the signed record in the form that is stored.
    pub fn sign(&self, key: &SignerKey) -> SignedNote {
        SignedNote::sign(self.text(), key)
    }

    /// Parses the text of a record. A text that differs in any byte from the one that [`HashRecord::text`] returns is an error.
    pub fn parse(text: &str) -> Result<Self, RecordError> {
        let mut lines = text.lines();
        let format = lines.next().unwrap_or_default();
        if format != format!("{FORMAT}{VERSION}") {
            return Err(match format.strip_prefix(FORMAT) {
                Some(version) if version.parse::<u32>().is_ok() => {
                    RecordError::Version(format.to_owned())
                }
                _ => RecordError::Malformed,
            });
        }
        let record = parse_lines(lines).filter(|record| record.text() == text);
        record.ok_or(RecordError::Malformed)
    }

    /// Returns the hashes in a stored record of the package `key`, if one of the `trusted` keys signed it.
    pub fn open(
        stored: &[u8],
        key: &RecordKey,
        trusted: &[VerifierKey],
    ) -> Result<TrustedRecord, RecordError> {
        let note = SignedNote::parse(stored)?;
        let signer = note.verify(trusted)?;
        let record = Self::parse(note.text())?;
        if record.key() != *key {
            return Err(RecordError::OtherPackage(Box::new(record.key())));
        }
        Ok(TrustedRecord {
            hashes: record.hashes,
            key: signer.name().clone(),
        })
    }
}

/// Parses the lines after the first. The caller checks that nothing else is in the text.
fn parse_lines<'a>(mut lines: impl Iterator<Item = &'a str>) -> Option<HashRecord> {
    let mut field = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ');
    let type_name = field("type")?.to_owned();
    let zh = Digest::parse_hex(field("zip")?).ok()?;
    let size = field("size")?.parse().ok()?;
    let h1 = parse_h1(field("h1")?)?;
    let zip_h1 = match field("zip-h1") {
        Some(text) => Some(parse_h1(text)?),
        None => None,
    };
    let is_type = !type_name.is_empty() && !type_name.contains(char::is_whitespace);
    is_type.then_some(HashRecord {
        type_name,
        hashes: PackageHashes {
            zh,
            h1,
            zip_h1,
            size,
        },
    })
}

/// Parses an `h1` hash: the Base64 form of 32 bytes.
fn parse_h1(text: &str) -> Option<Hash> {
    let hash = Hash::parse(text).ok()?;
    let digest: [u8; 32] = STANDARD.decode(hash.value()).ok()?.try_into().ok()?;
    (hash.scheme() == HashScheme::H1 && hash == Hash::h1(Digest::new(digest))).then_some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example in `docs/reference/index-format.md`.
    const TEXT: &str = "tflock package hashes v1\n\
        type random\n\
        zip 0101010101010101010101010101010101010101010101010101010101010101\n\
        size 5001000\n\
        h1 h1:AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=\n\
        zip-h1 h1:AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM=\n";

    /// The signature in the same example, which Go's package `golang.org/x/mod/sumdb/note` made, and its key.
    const SIGNATURE: &str = "— example.com/index \
        Mss3i9oO2BavpgENCI0GtEvfPA93U72MZZKuoixk4mklHp9g1IzLYG5sZRx5phWlLmNxgTwPOzxC4FRIwCfg1deAOQA=\n";
    const SIGNER: &str =
        "PRIVATE+KEY+example.com/index+32cb378b+AR6sAmmtYMexRE9O2wXvQlTpQKMpXIqjpMVD8vTqzQX1";

    fn record() -> HashRecord {
        HashRecord {
            type_name: "random".to_owned(),
            hashes: PackageHashes {
                zh: Digest::new([1; 32]),
                h1: Hash::h1(Digest::new([2; 32])),
                zip_h1: Some(Hash::h1(Digest::new([3; 32]))),
                size: 5_001_000,
            },
        }
    }

    fn signer() -> SignerKey {
        SignerKey::generate("example.com/index").unwrap()
    }

    #[test]
    fn the_text_and_the_path_are_as_specified() {
        assert_eq!(record().text(), TEXT);
        // printf 'tflock package hashes v1\ntype random\nzip 0101...01\n' | sha256sum
        assert_eq!(
            record().key().path(),
            "v1/62/62e42ecd04d824895507690dc3ca67067dd3318da3b550f215f5a71b44358a21"
        );
        assert_eq!(HashRecord::parse(TEXT), Ok(record()));
        let mut without = record();
        without.hashes.zip_h1 = None;
        assert_eq!(HashRecord::parse(&without.text()), Ok(without));
    }

    #[test]
    fn the_signature_is_the_one_that_go_makes() {
        let key = SignerKey::parse(SIGNER).unwrap();
        assert_eq!(
            record().sign(&key).to_string(),
            format!("{TEXT}\n{SIGNATURE}")
        );
    }

    #[test]
    fn zip_and_type_decide_the_path() {
        let other = |zh: u8, type_name: &str| RecordKey {
            zh: Digest::new([zh; 32]),
            type_name: type_name.to_owned(),
        };
        let path = record().key().path();
        assert_eq!(other(1, "random").path(), path);
        assert_ne!(other(2, "random").path(), path);
        assert_ne!(other(1, "null").path(), path);
    }

    #[test]
    fn a_record_has_one_form_only() {
        for (from, to) in [
            ("type random", "type  random"),
            ("type random", "type ran dom"),
            ("type random", "type "),
            ("zip 01", "zip 0"),
            ("zip 01010101", "zip 0101010A"),
            ("size 5001000", "size 05001000"),
            ("size 5001000", "size -1"),
            ("size 5001000", "size 99999999999999999999"),
            ("h1 h1:Ag", "h1 zh:Ag"),
            ("h1 h1:Ag", "h1 h1:"),
            ("AgI=\n", "AgJ=\n"),
            ("AwM=\n", "AwM=\nmore\n"),
            ("AwM=\n", "AwM="),
            ("AwM=\n", "AwM=\n\n"),
            ("\nsize", "\r\nsize"),
        ] {
            assert!(TEXT.contains(from), "{from}");
            let text = TEXT.replace(from, to);
            assert_eq!(
                HashRecord::parse(&text),
                Err(RecordError::Malformed),
                "{to:?}"
            );
        }
        for format in ["v0", "v2", "v1.1", ""] {
            let text = TEXT.replace("v1", format);
            let found = HashRecord::parse(&text).unwrap_err();
            let is_version = matches!(found, RecordError::Version(_));
            assert_eq!(is_version, ["v0", "v2"].contains(&format), "{format}");
        }
    }

    #[test]
    fn a_record_counts_for_its_package_and_with_a_trusted_signature() {
        let (signer, stranger) = (signer(), signer());
        let stored = record().sign(&signer).to_string();
        let trusted = [signer.verifier().clone()];
        let opened = HashRecord::open(stored.as_bytes(), &record().key(), &trusted).unwrap();
        assert_eq!(opened.hashes, record().hashes);
        assert_eq!(opened.key, *signer.verifier().name());
        let other = RecordKey {
            type_name: "null".to_owned(),
            ..record().key()
        };
        let found = HashRecord::open(stored.as_bytes(), &other, &trusted);
        let error = RecordError::OtherPackage(Box::new(record().key()));
        assert_eq!(found, Err(error));
        let found = HashRecord::open(
            record().sign(&stranger).to_string().as_bytes(),
            &record().key(),
            &trusted,
        );
        assert!(matches!(
            found,
            Err(RecordError::Note(NoteError::Untrusted(_)))
        ));
    }
}
