//! OpenPGP keys that sign checksum lists.
//!
//! The default key was created with `gpg` (see the README in `testdata/keys/`). [`TestSigner::generated`] creates a key
//! from a seed, and [`GpgHome::key`](crate::GpgHome::key) creates one whose signatures `gpg` makes.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use pgp::composed::{
    ArmorOptions, Deserializable as _, DetachedSignature, KeyType, SecretKeyParamsBuilder,
    SignedPublicKey, SignedSecretKey, SubpacketConfig,
};
use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::{Subpacket, SubpacketData};
use pgp::ser::Serialize as _;
use pgp::types::{KeyDetails as _, Password, Timestamp};
use rand::SeedableRng as _;
use rand::rngs::StdRng;

/// The secret key of the default signer.
const FIXTURE: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../testdata/keys/registry.sec.asc"
));

/// A function that creates a detached signature of a document.
type SignDocument = Arc<dyn Fn(&[u8]) -> Vec<u8> + Send + Sync>;

/// A public key in the form in which registries send it, and a function that signs with the secret key.
#[derive(Clone)]
pub struct TestSigner {
    /// The armored public key.
    pub ascii_armor: String,
    /// The key ID in upper-case hexadecimal digits.
    pub key_id: String,
    /// The armored trust signature of a partner key. Empty for other keys.
    pub trust_signature: String,
    sign: SignDocument,
}

impl TestSigner {
    /// Returns the default signer: a 2048-bit RSA key, created with `gpg`.
    pub fn fixture() -> Self {
        let (secret, _) =
            SignedSecretKey::from_string(FIXTURE).expect("the fixture is a secret key");
        Self::of(secret)
    }

    /// Returns a signature of the default signer that states `time` as its creation time. It must not be earlier than
    /// 2024, when the key was created.
    pub fn fixture_signature(document: &[u8], time: SystemTime) -> Vec<u8> {
        let (secret, _) =
            SignedSecretKey::from_string(FIXTURE).expect("the fixture is a secret key");
        let key = &secret.primary_key;
        let made = Timestamp::try_from(time).expect("the time is in this century");
        let hashed = [
            SubpacketData::SignatureCreationTime(made),
            SubpacketData::IssuerFingerprint(key.fingerprint()),
        ];
        let hashed =
            hashed.map(|data| Subpacket::regular(data).expect("both subpackets are short"));
        let subpackets = SubpacketConfig::UserDefined {
            hashed: hashed.to_vec(),
            unhashed: Vec::new(),
        };
        DetachedSignature::sign_binary_data_with_subpackets(
            rand::thread_rng(),
            key,
            &Password::empty(),
            HashAlgorithm::Sha256,
            document,
            subpackets,
        )
        .and_then(|signature| signature.to_bytes())
        .expect("an unprotected key can sign")
    }

    /// Generates an Ed25519 key from `seed`. Its creation time is the current time.
    pub fn generated(seed: u64) -> Self {
        let mut parameters = SecretKeyParamsBuilder::default();
        parameters
            .key_type(KeyType::Ed25519Legacy)
            .can_certify(true)
            .can_sign(true)
            .primary_user_id(format!("generated {seed} <generated@tflock.example>"));
        let parameters = parameters.build().expect("the parameters are complete");
        let secret = parameters.generate(StdRng::seed_from_u64(seed));
        Self::of(secret.expect("Ed25519 keys can always be generated"))
    }

    /// Creates a signer from a public key and a function that signs.
    pub fn custom(
        ascii_armor: &str,
        key_id: &str,
        sign: impl Fn(&[u8]) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        Self {
            ascii_armor: ascii_armor.to_owned(),
            key_id: key_id.to_owned(),
            trust_signature: String::new(),
            sign: Arc::new(sign),
        }
    }

    /// Sets the trust signature of a partner key.
    pub fn with_trust_signature(mut self, trust_signature: &str) -> Self {
        trust_signature.clone_into(&mut self.trust_signature);
        self
    }

    /// Returns a binary detached signature of `document`.
    pub fn sign(&self, document: &[u8]) -> Vec<u8> {
        (self.sign)(document)
    }

    fn of(secret: SignedSecretKey) -> Self {
        let public = SignedPublicKey::from(secret.clone());
        let ascii_armor = public
            .to_armored_string(ArmorOptions::default())
            .expect("a public key can be armored");
        let key_id = secret.legacy_key_id().to_string().to_ascii_uppercase();
        Self::custom(&ascii_armor, &key_id, move |document| {
            DetachedSignature::sign_binary_data(
                rand::thread_rng(),
                &secret.primary_key,
                &Password::empty(),
                HashAlgorithm::Sha256,
                document,
            )
            .and_then(|signature| signature.to_bytes())
            .expect("an unprotected key can sign")
        })
    }
}

impl fmt::Debug for TestSigner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "TestSigner({})", self.key_id)
    }
}
