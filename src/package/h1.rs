//! The `h1` scheme: one digest over the digests and names of files.
//!
//! Each file has a line: the lower-case hexadecimal SHA-256 of the content, two spaces, the name and a line feed. The lines are
//! sorted by the bytes of the names. `h1` is the Base64 form of their SHA-256. A name that contains a line feed would be ambiguous,
//! so it is an error ([`NewlineInName`](crate::package::PackageError::NewlineInName)).

use sha2::{Digest as _, Sha256};

use crate::provider::{Digest, Hash};

/// Computes the hash of files, which must be sorted by name.
pub(crate) fn h1<'a>(sorted: impl IntoIterator<Item = (&'a [u8], Digest)>) -> Hash {
    let mut lines = Sha256::new();
    for (name, content) in sorted {
        lines.update(content.to_string());
        lines.update(b"  ");
        lines.update(name);
        lines.update(b"\n");
    }
    Hash::h1(Digest::new(lines.finalize().into()))
}

pub(crate) fn sha256(bytes: &[u8]) -> Digest {
    Digest::new(Sha256::digest(bytes).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hash of two files is compared with an independent computation:
    /// `printf '%s  d/a\n%s  terraform-provider-p\n' $(printf 1 | sha256sum | cut -c-64) $(printf x | sha256sum | cut -c-64)
    /// | openssl dgst -sha256 -binary | base64`.
    #[test]
    fn two_files() {
        let files = [
            (&b"d/a"[..], sha256(b"1")),
            (b"terraform-provider-p", sha256(b"x")),
        ];
        assert_eq!(
            h1(files).to_string(),
            "h1:2BNBa3Xw+xRNi5JsR9VzWmHVc0G91SHKM0rth6EJmb8="
        );
    }
}
