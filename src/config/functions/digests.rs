//! Digests of text and of files, and the identifiers that are made of one.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha512};

use crate::syntax::Value;

use super::{Failure, Function, Functions, Outcome, arity, text};

/// Bytes to digest.
type Digester = fn(&[u8]) -> Vec<u8>;

/// Digest to text.
type Shown = fn(&[u8]) -> String;

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "md5" => |_, arguments| of_text(arguments, md5, hex),
        "sha1" => |_, arguments| of_text(arguments, sha1, hex),
        "sha256" => |_, arguments| of_text(arguments, sha256, hex),
        "sha512" => |_, arguments| of_text(arguments, sha512, hex),
        "base64sha256" => |_, arguments| of_text(arguments, sha256, base64),
        "base64sha512" => |_, arguments| of_text(arguments, sha512, base64),
        "filemd5" => |functions, arguments| of_file(functions, arguments, md5, hex),
        "filesha1" => |functions, arguments| of_file(functions, arguments, sha1, hex),
        "filesha256" => |functions, arguments| of_file(functions, arguments, sha256, hex),
        "filesha512" => |functions, arguments| of_file(functions, arguments, sha512, hex),
        "filebase64sha256" => |functions, arguments| of_file(functions, arguments, sha256, base64),
        "filebase64sha512" => |functions, arguments| of_file(functions, arguments, sha512, base64),
        "uuidv5" => |_, arguments| uuid_v5(arguments),
        _ => return None,
    })
}

fn of_text(arguments: &[Value], digest: Digester, shown: Shown) -> Outcome {
    match arguments {
        [argument] => Ok(shown(&digest(text(argument)?.as_bytes())).into()),
        _ => Err(arity()),
    }
}

fn of_file(functions: &Functions, arguments: &[Value], digest: Digester, shown: Shown) -> Outcome {
    match arguments {
        [path] => Ok(shown(&digest(&functions.read(path)?)).into()),
        _ => Err(arity()),
    }
}

fn md5(bytes: &[u8]) -> Vec<u8> {
    use md5::Digest as _;
    Md5::digest(bytes).to_vec()
}

fn sha1(bytes: &[u8]) -> Vec<u8> {
    use sha1::Digest as _;
    Sha1::digest(bytes).to_vec()
}

fn sha256(bytes: &[u8]) -> Vec<u8> {
    Sha256::digest(bytes).to_vec()
}

fn sha512(bytes: &[u8]) -> Vec<u8> {
    Sha512::digest(bytes).to_vec()
}

fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// The namespaces that RFC 4122, appendix C, gives names to: they differ in their first four bytes only.
const NAMED: [(&str, &str); 4] = [
    ("dns", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
    ("url", "6ba7b811-9dad-11d1-80b4-00c04fd430c8"),
    ("oid", "6ba7b812-9dad-11d1-80b4-00c04fd430c8"),
    ("x500", "6ba7b814-9dad-11d1-80b4-00c04fd430c8"),
];

/// `uuidv5(namespace, name)`, RFC 4122, section 4.3.
fn uuid_v5(arguments: &[Value]) -> Outcome {
    let [namespace, name] = arguments else {
        return Err(arity());
    };
    let namespace = text(namespace)?;
    let named = NAMED.iter().find(|(short, _)| *short == namespace);
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

/// The bytes of `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`; other spellings that Go reads are not for us to say.
fn uuid_bytes(identifier: &str) -> Result<Vec<u8>, Failure> {
    let dashes = identifier.bytes().enumerate();
    let dashes = dashes.filter(|(_, byte)| *byte == b'-').map(|(at, _)| at);
    let digits = identifier.replace('-', "");
    let is_canonical = identifier.len() == 36 && dashes.eq([8, 13, 18, 23]);
    if !is_canonical || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Failure::Unsupported);
    }
    let number = u128::from_str_radix(&digits, 16)
        .map_err(|error| format!("`{identifier}` is no UUID: {error}"))?;
    Ok(number.to_be_bytes().to_vec())
}
