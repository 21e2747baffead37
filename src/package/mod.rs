//! What the bytes of a package say: checksum lists, signatures and hashes.
