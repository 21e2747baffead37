//! Ed25519 keys in the text forms of C2SP signed notes and of Go's checksum database.
//!
//! A verifier key is `NAME+HASH+KEY`, a signer key `PRIVATE+KEY+NAME+HASH+KEY`. HASH is the key's ID in eight hexadecimal digits.
//! KEY is the Base64 form of the byte 1, which stands for Ed25519, and the public key or the seed of the private key. NAME cannot
//! contain a plus sign, but Base64 can.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use sha2::{Digest as _, Sha256};

/// The byte that precedes a key and identifies it as an Ed25519 key.
const ED25519_TYPE: u8 = 1;

/// The length of a public key and of the seed of a private key, in bytes.
const KEY_BYTES: usize = 32;

const PRIVATE_PREFIX: &str = "PRIVATE+KEY+";

/// The maximum length of a key's name, in bytes.
const MAX_NAME_BYTES: usize = 255;

/// The name and the ID of a key, which together identify it. Signatures contain both.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyName {
    name: String,
    id: u32,
}

impl KeyName {
    /// Checks the name: not empty, no white space, no control characters and no plus sign.
    pub(super) fn new(name: &str, id: u32) -> Option<Self> {
        let is_bad = |char: char| char.is_whitespace() || char.is_control() || char == '+';
        let is_valid = !name.is_empty() && name.len() <= MAX_NAME_BYTES && !name.contains(is_bad);
        is_valid.then(|| Self {
            name: name.to_owned(),
            id,
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub const fn id(&self) -> u32 {
        self.id
    }
}

/// Displays `NAME+HASH`, the beginning of the verifier key.
impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{:08x}", self.name, self.id)
    }
}

/// The reason why a text is not a key. It never contains the text, which may be a private key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("a verifier key has the form NAME+HASH+KEY")]
    VerifierForm,
    #[error("a signing key has the form PRIVATE+KEY+NAME+HASH+KEY")]
    SignerForm,
    #[error(
        "it is a signing key, which must stay secret; a verifier key has the form NAME+HASH+KEY"
    )]
    Private,
    #[error("the name is invalid: it must be 1 to 255 bytes without spaces and plus signs")]
    Name,
    #[error("the key is not an Ed25519 key in Base64")]
    Encoding,
    #[error("the hash {stated:08x} belongs to another name or key")]
    Hash { stated: u32 },
    #[error("the system's random number generator failed")]
    Random,
}

/// A public key that can verify the signatures of notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifierKey {
    name: KeyName,
    public: [u8; KEY_BYTES],
}

impl VerifierKey {
    fn new(name: &str, public: [u8; KEY_BYTES]) -> Result<Self, KeyError> {
        let name = KeyName::new(name, key_id(name, &public)).ok_or(KeyError::Name)?;
        Ok(Self { name, public })
    }

    /// Parses `NAME+HASH+KEY`. White space around it is ignored, so that the content of a key file can be passed.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let text = text.trim();
        if text.starts_with(PRIVATE_PREFIX) {
            return Err(KeyError::Private);
        }
        let (name, stated, public) = split(text).ok_or(KeyError::VerifierForm)?;
        let key = Self::new(name, decode(public)?)?;
        key.check_id(stated)?;
        Ok(key)
    }

    pub const fn name(&self) -> &KeyName {
        &self.name
    }

    pub(super) fn verifies(&self, text: &str, signature: &[u8]) -> bool {
        let key = UnparsedPublicKey::new(&ED25519, self.public);
        key.verify(text.as_bytes(), signature).is_ok()
    }

    fn check_id(&self, stated: u32) -> Result<(), KeyError> {
        if self.name.id == stated {
            return Ok(());
        }
        Err(KeyError::Hash { stated })
    }
}

/// Displays `NAME+HASH+KEY`.
impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.name, encode(&self.public))
    }
}

/// A private key that can sign notes. Its `Debug` form does not contain the key.
pub struct SignerKey {
    verifier: VerifierKey,
    seed: [u8; KEY_BYTES],
    pair: Ed25519KeyPair,
}

impl SignerKey {
    /// Creates a new key with this name.
    pub fn generate(name: &str) -> Result<Self, KeyError> {
        let mut seed = [0; KEY_BYTES];
        let filled = SystemRandom::new().fill(&mut seed);
        filled.map_err(|ring::error::Unspecified| KeyError::Random)?;
        Self::from_seed(name, seed)
    }

    /// Parses `PRIVATE+KEY+NAME+HASH+KEY`. White space around it is ignored.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let rest = text.trim().strip_prefix(PRIVATE_PREFIX);
        let (name, stated, seed) = rest.and_then(split).ok_or(KeyError::SignerForm)?;
        let key = Self::from_seed(name, decode(seed)?)?;
        key.verifier.check_id(stated)?;
        Ok(key)
    }

    fn from_seed(name: &str, seed: [u8; KEY_BYTES]) -> Result<Self, KeyError> {
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed);
        let pair = pair.map_err(|_rejected| KeyError::Encoding)?;
        let public = pair.public_key().as_ref().try_into();
        let public = public.map_err(|_length| KeyError::Encoding)?;
        Ok(Self {
            verifier: VerifierKey::new(name, public)?,
            seed,
            pair,
        })
    }

    /// Returns the public key that verifies this key's signatures.
    pub const fn verifier(&self) -> &VerifierKey {
        &self.verifier
    }

    /// Returns the secret form `PRIVATE+KEY+NAME+HASH+KEY`.
    pub fn secret_text(&self) -> String {
        format!(
            "{PRIVATE_PREFIX}{}+{}",
            self.verifier.name,
            encode(&self.seed)
        )
    }

    pub(super) fn sign(&self, text: &str) -> Vec<u8> {
        self.pair.sign(text.as_bytes()).as_ref().to_vec()
    }
}

impl fmt::Debug for SignerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignerKey")
            .field("name", &self.verifier.name)
            .finish_non_exhaustive()
    }
}

/// Returns the first four bytes of the SHA-256 of the name, a line feed, the type of the key and the key.
fn key_id(name: &str, public: &[u8; KEY_BYTES]) -> u32 {
    let mut hash = Sha256::new();
    hash.update(name);
    hash.update([b'\n', ED25519_TYPE]);
    hash.update(public);
    let digest: [u8; 32] = hash.finalize().into();
    u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]])
}

/// Splits `NAME+HASH+KEY`.
fn split(text: &str) -> Option<(&str, u32, &str)> {
    let (name, rest) = text.split_once('+')?;
    let (id, key) = rest.split_once('+')?;
    let is_hex = id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let id = u32::from_str_radix(id, 16).ok().filter(|_| is_hex)?;
    Some((name, id, key))
}

fn decode(text: &str) -> Result<[u8; KEY_BYTES], KeyError> {
    let bytes = STANDARD.decode(text).ok();
    let key = bytes
        .as_deref()
        .and_then(|bytes| bytes.strip_prefix(&[ED25519_TYPE]));
    key.and_then(|key| key.try_into().ok())
        .ok_or(KeyError::Encoding)
}

fn encode(key: &[u8; KEY_BYTES]) -> String {
    let mut bytes = vec![ED25519_TYPE];
    bytes.extend(key);
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of Go's package `golang.org/x/mod/sumdb/note`.
    const VERIFIER: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    const SIGNER: &str =
        "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";

    #[test]
    fn keys_have_the_text_forms_of_go() {
        let signer = SignerKey::parse(SIGNER).unwrap();
        assert_eq!(signer.verifier().to_string(), VERIFIER);
        assert_eq!(signer.secret_text(), SIGNER);
        let verifier = VerifierKey::parse(&format!(" {VERIFIER}\n")).unwrap();
        assert_eq!(&verifier, signer.verifier());
        assert_eq!(verifier.name().to_string(), "PeterNeumann+c74f20a3");
        assert!(!format!("{signer:?}").contains("AYEK"), "{signer:?}");
    }

    #[test]
    fn generated_keys_differ_and_can_be_parsed() {
        let key = SignerKey::generate("example.com/index").unwrap();
        let other = SignerKey::generate("example.com/index").unwrap();
        assert_ne!(key.verifier(), other.verifier());
        let parsed = SignerKey::parse(&key.secret_text()).unwrap();
        let signature = parsed.sign("text\n");
        assert!(key.verifier().verifies("text\n", &signature));
        assert!(!key.verifier().verifies("text", &signature));
        assert!(!other.verifier().verifies("text\n", &signature));
    }

    #[test]
    fn invalid_keys_are_errors_that_do_not_quote_them() {
        let other_hash = VERIFIER.replace("c74f20a3", "c74f20a4");
        let other_name = VERIFIER.replace("Peter", "Paul");
        let short = VERIFIER.replace("10TW", "");
        let other_type = VERIFIER.replace("+ARpc", "+AhpM");
        for (text, error) in [
            ("", KeyError::VerifierForm),
            ("name", KeyError::VerifierForm),
            ("name+c74f20a3", KeyError::VerifierForm),
            ("name+c74f20a+ARpc", KeyError::VerifierForm),
            ("name++c74f20a+ARpc", KeyError::VerifierForm),
            (SIGNER, KeyError::Private),
            (
                &*other_hash,
                KeyError::Hash {
                    stated: 0xc74f_20a4,
                },
            ),
            (
                &*other_name,
                KeyError::Hash {
                    stated: 0xc74f_20a3,
                },
            ),
            (&*short, KeyError::Encoding),
            (&*other_type, KeyError::Encoding),
            (&*VERIFIER.replace("PeterNeumann", ""), KeyError::Name),
            (&*VERIFIER.replace("PeterNeumann", "a b"), KeyError::Name),
        ] {
            assert_eq!(VerifierKey::parse(text), Err(error), "{text}");
        }
        for (text, error) in [
            (VERIFIER, KeyError::SignerForm),
            ("PRIVATE+KEY+x", KeyError::SignerForm),
            (
                &*SIGNER.replace("c74f20a3", "00000000"),
                KeyError::Hash { stated: 0 },
            ),
        ] {
            assert_eq!(SignerKey::parse(text).unwrap_err(), error, "{text}");
        }
        for name in ["", "a b", "a+b", "a\u{7}", &"x".repeat(256)] {
            assert_eq!(SignerKey::generate(name).unwrap_err(), KeyError::Name);
        }
    }
}
