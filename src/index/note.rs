//! Signed notes: a text, an empty line, and one line per signature (c2sp.org/signed-note).

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::key::{KeyName, SignerKey, VerifierKey};

/// The maximum size of a note, in bytes. It leaves room for 16 signatures of any kind, which every reader of notes must accept.
pub const MAX_NOTE_BYTES: u64 = 128 * 1024;

const MAX_SIGNATURES: usize = 16;

/// The start of a signature line, before the name: an em dash and a space.
const SIGNATURE_PREFIX: &str = "\u{2014} ";

/// A text and its signatures. The signatures must not be trusted until [`SignedNote::verify`] has checked them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedNote {
    /// The signed text, which ends with a line feed.
    text: String,
    signatures: Vec<NoteSignature>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct NoteSignature {
    key: KeyName,
    bytes: Vec<u8>,
}

/// The reason why a note is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    #[error("it is not a signed note: {0}")]
    Malformed(&'static str),
    #[error("it has more than {MAX_SIGNATURES} signatures")]
    TooManySignatures,
    #[error("its signature by the trusted key `{0}` is wrong")]
    WrongSignature(KeyName),
    #[error("it is not signed by a trusted key, but by {}", names(.0))]
    Untrusted(Vec<KeyName>),
}

fn names(keys: &[KeyName]) -> String {
    let names: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    names.join(", ")
}

impl SignedNote {
    /// Signs a text, which must end with a line feed.
    pub fn sign(text: String, key: &SignerKey) -> Self {
        let mut note = Self {
            text,
            signatures: Vec::new(),
        };
        note.add_signature(key);
        note
    }

    /// Whether the note has so many signatures that readers would reject another one.
    pub fn is_full(&self) -> bool {
        self.signatures.len() >= MAX_SIGNATURES
    }

    /// Adds a signature, and removes an older one by the same key.
    pub fn add_signature(&mut self, key: &SignerKey) {
        let name = key.verifier().name();
        self.signatures.retain(|signature| signature.key != *name);
        self.signatures.push(NoteSignature {
            key: name.clone(),
            bytes: key.sign(&self.text),
        });
    }

    pub fn parse(bytes: &[u8]) -> Result<Self, NoteError> {
        let note =
            str::from_utf8(bytes).map_err(|_utf8| NoteError::Malformed("it is not UTF-8"))?;
        if note.contains(|char: char| char < ' ' && char != '\n') {
            return Err(NoteError::Malformed("it contains control characters"));
        }
        let split = note.rfind("\n\n");
        let split = split.ok_or(NoteError::Malformed(
            "no empty line precedes the signatures",
        ))?;
        let (text, lines) = (&note[..=split], &note[split + 2..]);
        let lines = lines.strip_suffix('\n');
        let lines = lines.ok_or(NoteError::Malformed("it has no complete signature"))?;
        let lines = lines.split('\n').collect::<Vec<_>>();
        if lines.len() > MAX_SIGNATURES {
            return Err(NoteError::TooManySignatures);
        }
        let signatures = lines.into_iter().map(parse_signature);
        let signatures: Option<Vec<_>> = signatures.collect();
        Ok(Self {
            text: text.to_owned(),
            signatures: signatures.ok_or(NoteError::Malformed("a signature is invalid"))?,
        })
    }

    /// Returns the first of the trusted keys that signed the note. A wrong signature by any trusted key makes the note invalid.
    /// Signatures by other keys are ignored.
    pub fn verify<'a>(&self, trusted: &'a [VerifierKey]) -> Result<&'a VerifierKey, NoteError> {
        for key in trusted {
            let mut own = self
                .signatures
                .iter()
                .filter(|found| found.key == *key.name());
            if own.any(|found| !key.verifies(&self.text, &found.bytes)) {
                return Err(NoteError::WrongSignature(key.name().clone()));
            }
        }
        let has_signed = |key: &&VerifierKey| self.signers().any(|name| name == key.name());
        let signers = || self.signers().cloned().collect();
        trusted
            .iter()
            .find(has_signed)
            .ok_or_else(|| NoteError::Untrusted(signers()))
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the keys that claim to have signed the note, whether they did or not.
    pub fn signers(&self) -> impl Iterator<Item = &KeyName> {
        self.signatures.iter().map(|signature| &signature.key)
    }
}

/// Displays the note in the form that is stored.
impl fmt::Display for SignedNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text)?;
        for NoteSignature { key, bytes } in &self.signatures {
            let mut encoded = key.id().to_be_bytes().to_vec();
            encoded.extend(bytes);
            let encoded = STANDARD.encode(encoded);
            writeln!(f, "{SIGNATURE_PREFIX}{} {encoded}", key.name())?;
        }
        Ok(())
    }
}

/// Parses `— NAME SIGNATURE`, where SIGNATURE is the Base64 form of the key's ID in four bytes and of the signature.
fn parse_signature(line: &str) -> Option<NoteSignature> {
    let (name, encoded) = line.strip_prefix(SIGNATURE_PREFIX)?.split_once(' ')?;
    let decoded = STANDARD.decode(encoded).ok()?;
    let (id, bytes) = decoded.split_first_chunk::<4>()?;
    let key = KeyName::new(name, u32::from_be_bytes(*id))?;
    (!bytes.is_empty()).then(|| NoteSignature {
        key,
        bytes: bytes.to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of Go's package `golang.org/x/mod/sumdb/note`.
    const NOTE: &str = "If you think cryptography is the answer to your problem,\n\
        then you don't know what your problem is.\n\n\
        — PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";

    fn peter() -> VerifierKey {
        let key = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
        VerifierKey::parse(key).unwrap()
    }

    fn key(name: &str) -> SignerKey {
        SignerKey::generate(name).unwrap()
    }

    #[test]
    fn a_note_by_go_is_verified_and_displayed_unchanged() {
        let note = SignedNote::parse(NOTE.as_bytes()).unwrap();
        assert_eq!(note.verify(&[peter()]), Ok(&peter()));
        assert!(note.text().ends_with("problem is.\n"));
        assert_eq!(note.to_string(), NOTE);
    }

    #[test]
    fn a_signature_covers_every_byte_of_the_text() {
        for (from, to) in [
            ("answer", "Answer"),
            ("problem is.\n\n", "problem is.\n\n\n"),
        ] {
            let note = SignedNote::parse(NOTE.replace(from, to).as_bytes()).unwrap();
            let name = peter().name().clone();
            assert_eq!(
                note.verify(&[peter()]),
                Err(NoteError::WrongSignature(name))
            );
        }
    }

    #[test]
    fn one_trusted_signature_is_enough_and_one_wrong_one_too_much() {
        let (a, b, stranger) = (key("a"), key("b"), key("c"));
        let mut note = SignedNote::sign("text\n".to_owned(), &a);
        note.add_signature(&stranger);
        note.add_signature(&a);
        assert_eq!(note.signers().count(), 2);
        let [a, b] = [a, b].map(|key| key.verifier().clone());
        assert_eq!(note.verify(&[b.clone(), a.clone()]), Ok(&a));
        let signers = note.signers().cloned().collect();
        assert_eq!(
            note.verify(std::slice::from_ref(&b)),
            Err(NoteError::Untrusted(signers))
        );
        assert!(matches!(note.verify(&[]), Err(NoteError::Untrusted(_))));
        // The trusted name with another key is an unknown key.
        let impostor = SignedNote::sign("text\n".to_owned(), &key("a"));
        assert!(matches!(
            impostor.verify(std::slice::from_ref(&a)),
            Err(NoteError::Untrusted(_))
        ));
        // The trusted name and ID with another key's signature.
        let forged = NoteSignature {
            key: a.name().clone(),
            bytes: key("a").sign("text\n"),
        };
        note.signatures.push(forged);
        let wrong = NoteError::WrongSignature(a.name().clone());
        assert_eq!(note.verify(&[b, a]), Err(wrong));
    }

    #[test]
    fn malformed_notes_are_errors() {
        let line = "— a AAAAAAA=\n";
        let many = format!("t\n\n{}", line.repeat(MAX_SIGNATURES + 1));
        assert_eq!(
            SignedNote::parse(many.as_bytes()),
            Err(NoteError::TooManySignatures)
        );
        let most = format!("t\n\n{}", line.repeat(MAX_SIGNATURES));
        assert!(SignedNote::parse(most.as_bytes()).is_ok());
        for text in [
            "",
            "\n",
            "text\n",
            "text\n\n",
            "text\n\n— a AAAAAAA=",
            "text\n— a AAAAAAA=\n",
            "te\txt\n\n— a AAAAAAA=\n",
            "te\rxt\n\n— a AAAAAAA=\n",
            "text\n\n- a AAAAAAA=\n",
            "text\n\n—  AAAAAAA=\n",
            "text\n\n— a\n",
            "text\n\n— a AAAA\n",
            "text\n\n— a AAAAAA==\n",
            "text\n\n— a AAAAAAA\n",
            "text\n\n— a  AAAAAAA=\n",
            "text\n\n— a AAAAAAA=\nmore\n",
        ] {
            let found = SignedNote::parse(text.as_bytes());
            assert!(
                matches!(found, Err(NoteError::Malformed(_))),
                "{text:?} {found:?}"
            );
        }
        assert!(SignedNote::parse(b"\xff\n\n").is_err());
    }
}
