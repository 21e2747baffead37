//! The `h1` scheme: one digest over the digests and names of files.
//!
//! One line per file, sorted by the bytes of the names: the lower-case hex SHA-256 of the content, two spaces, the name, a
//! line feed. `h1` is the SHA-256 of these lines, in base64. A name with a line feed cannot be told from two lines, so it
//! is an error ([`NewlineInName`](crate::package::PackageError::NewlineInName)).

use sha2::{Digest as _, Sha256};

use crate::provider::{Digest, Hash};

/// The hash of files in the order given, which is to be that of their names.
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

/// The digest of some bytes.
pub(crate) fn sha256(bytes: &[u8]) -> Digest {
    Digest::new(Sha256::digest(bytes).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The two-file example of the scheme's description, against an independent computation:
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
