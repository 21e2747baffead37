//! OpenPGP keys that sign checksum lists.
//!
//! The usual signer is a key that `gpg` made (`testdata/keys/`, with a README that says how); [`SigningKey::generated`]
//! makes one from a seed, [`GpgHome::key`](crate::GpgHome::key) one that `gpg` also signs with.

use std::fmt;
use std::sync::Arc;

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

/// The secret key of the usual signer.
const FIXTURE: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../testdata/keys/registry.sec.asc"
));

/// Makes a detached signature over a document.
type Sign = Arc<dyn Fn(&[u8]) -> Vec<u8> + Send + Sync>;

/// A public key as registries hand it out, and the means to sign with it.
#[derive(Clone)]
pub struct SigningKey {
    /// The public key, armored.
    pub ascii_armor: String,
    /// The key ID, upper-case hex.
    pub key_id: String,
    /// The signature of a partner tier, armored; empty for none.
    pub trust_signature: String,
    sign: Sign,
}

impl SigningKey {
    /// The usual signer: RSA 2048, made by `gpg`.
    pub fn fixture() -> Self {
        let (secret, _) =
            SignedSecretKey::from_string(FIXTURE).expect("the fixture is a secret key");
        Self::of(secret)
    }

    /// A signature of the usual signer, made so many days ago: not before 2024, when the key was.
    pub fn fixture_signature(document: &[u8], days_ago: u32) -> Vec<u8> {
        let (secret, _) =
            SignedSecretKey::from_string(FIXTURE).expect("the fixture is a secret key");
        let key = &secret.primary_key;
        let made = Timestamp::now().as_secs() - days_ago * 24 * 60 * 60;
        let hashed = [
            SubpacketData::SignatureCreationTime(Timestamp::from_secs(made)),
            SubpacketData::IssuerFingerprint(key.fingerprint()),
        ];
        let hashed = hashed.map(|data| Subpacket::regular(data).expect("both are short"));
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

    /// An Ed25519 key that depends on nothing but `seed`, bar the time it is made at.
    pub fn generated(seed: u64) -> Self {
        let mut parameters = SecretKeyParamsBuilder::default();
        parameters
            .key_type(KeyType::Ed25519Legacy)
            .can_certify(true)
            .can_sign(true)
            .primary_user_id(format!("generated {seed} <generated@tflock.example>"));
        let parameters = parameters.build().expect("the parameters are complete");
        let secret = parameters.generate(StdRng::seed_from_u64(seed));
        Self::of(secret.expect("an Ed25519 key can always be made"))
    }

    /// A key of which only the public half and a way to sign are known.
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

    /// The same key with this signature of a partner tier.
    pub fn with_trust_signature(mut self, trust_signature: &str) -> Self {
        trust_signature.clone_into(&mut self.trust_signature);
        self
    }

    /// A detached signature over `document`, binary.
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

impl fmt::Debug for SigningKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SigningKey({})", self.key_id)
    }
}
