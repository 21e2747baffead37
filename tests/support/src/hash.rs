//! `h1` and `zh` hashes, computed independently of tflock so that tests can compare the results.
//!
//! `h1` is the Base64 form of a SHA-256 digest over one line `HEX  NAME` per file, sorted by the bytes of the names.
//! `zh` is the hexadecimal SHA-256 digest of the archive.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 digest of `bytes` in lower-case hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    to_hex(&Sha256::digest(bytes))
}

/// Returns the `h1:` hash of a package. `files` maps names to the lower-case hexadecimal SHA-256 digest of the content.
pub fn h1(files: &BTreeMap<Vec<u8>, String>) -> String {
    let mut hasher = Sha256::new();
    for (name, digest) in files {
        hasher.update(digest);
        hasher.update(b"  ");
        hasher.update(name);
        hasher.update(b"\n");
    }
    format!("h1:{}", STANDARD.encode(hasher.finalize()))
}

/// Returns `bytes` in lower-case hexadecimal digits.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("writing to a string cannot fail");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h1_of_the_reference_package_is_the_recorded_one() {
        let files = BTreeMap::from([(b"terraform-provider-p_v1.0.0".to_vec(), sha256_hex(b"exe"))]);
        assert!(h1(&files).starts_with("h1:Oj1eh1N9nbm"));
    }
}
