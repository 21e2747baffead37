//! Digests of strings and files, and UUIDs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha512};

use crate::syntax::Value;

use super::{FunctionError, FunctionResult, Functions, text};

type Digester = fn(&[u8]) -> Vec<u8>;

type Encoder = fn(&[u8]) -> String;

pub(super) fn of_text(value: &Value, digest: Digester, encode: Encoder) -> FunctionResult {
    Ok(encode(&digest(text(value)?.as_bytes())).into())
}

pub(super) fn of_file(
    functions: &Functions,
    path: &Value,
    digest: Digester,
    encode: Encoder,
) -> FunctionResult {
    Ok(encode(&digest(&functions.read(path)?)).into())
}

pub(super) fn md5(bytes: &[u8]) -> Vec<u8> {
    use md5::Digest as _;
    Md5::digest(bytes).to_vec()
}

pub(super) fn sha1(bytes: &[u8]) -> Vec<u8> {
    use sha1::Digest as _;
    Sha1::digest(bytes).to_vec()
}

pub(super) fn sha256(bytes: &[u8]) -> Vec<u8> {
    Sha256::digest(bytes).to_vec()
}

pub(super) fn sha512(bytes: &[u8]) -> Vec<u8> {
    Sha512::digest(bytes).to_vec()
}

pub(super) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// The predefined namespaces (RFC 4122, appendix C).
const NAMESPACES: [(&str, &str); 4] = [
    ("dns", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
    ("url", "6ba7b811-9dad-11d1-80b4-00c04fd430c8"),
    ("oid", "6ba7b812-9dad-11d1-80b4-00c04fd430c8"),
    ("x500", "6ba7b814-9dad-11d1-80b4-00c04fd430c8"),
];

/// Implements `uuidv5(namespace, name)` (RFC 4122, section 4.3).
pub(super) fn uuid_v5(namespace: &Value, name: &Value) -> FunctionResult {
    let namespace = text(namespace)?;
    let named = NAMESPACES.iter().find(|(short, _)| *short == namespace);
    let identifier = named.map_or(namespace.as_str(), |(_, identifier)| identifier);
    let mut bytes = uuid_bytes(identifier)?;
    bytes.extend_from_slice(text(name)?.as_bytes());
    let mut digest = sha1(&bytes);
    digest[6] = digest[6] & 0x0f | 0x50;
    digest[8] = digest[8] & 0x3f | 0x80;
    let digits = hex(&digest[..16]);
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
    Ok(parts.join("-").into())
}

/// Parses `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`. The other forms that Go accepts are unsupported.
fn uuid_bytes(identifier: &str) -> Result<Vec<u8>, FunctionError> {
    let dashes = identifier.match_indices('-').map(|(index, _)| index);
    let digits = identifier.replace('-', "");
    let is_canonical = identifier.len() == 36 && dashes.eq([8, 13, 18, 23]);
    if !is_canonical || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(FunctionError::Unsupported);
    }
    let number = u128::from_str_radix(&digits, 16)
        .map_err(|error| format!("`{identifier}` is not a valid UUID: {error}"))?;
    Ok(number.to_be_bytes().to_vec())
}
