//! Limits on packages. Terraform and OpenTofu have none, but tflock reads packages from untrusted publishers.

/// Limits on one package. The program uses [`Limits::default`]; tests use smaller values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of entries in the central directory.
    pub entries: usize,
    /// The maximum size of the central directory in bytes. It is held in memory.
    pub directory_bytes: u64,
    /// The maximum total size of the unpacked entries in bytes.
    pub unpacked_bytes: u64,
    /// The maximum number of unpacked bytes for each byte of the zip, in addition to [`RATIO_ALLOWANCE`].
    pub ratio: u64,
}

/// The default limit on entries. The largest packages contain a few hundred files. Reading 100,000 takes one or two seconds.
pub const MAX_ENTRIES: usize = 100_000;

/// The default limit on the central directory, which is enough for 100,000 entries of 160 bytes.
pub const MAX_DIRECTORY_BYTES: u64 = 16 << 20;

/// The default limit on unpacked bytes. The largest known provider unpacks to 0.7 GB.
pub const MAX_UNPACKED_BYTES: u64 = 16 << 30;

/// The default limit on the compression ratio. Programs have a ratio of 4 to 10. The maximum of deflate is 1,032.
pub const MAX_RATIO: u64 = 200;

/// The number of bytes that may be unpacked regardless of the ratio. This amount is harmless, and test packages, which consist mostly
/// of zeros, need it.
pub const RATIO_ALLOWANCE: u64 = 64 << 20;

/// The maximum length of an entry's path in bytes. The limit of Linux is 4,096 bytes, including the temporary directory in which
/// Terraform and OpenTofu unpack.
pub const MAX_PATH_BYTES: usize = 4_000;

/// The maximum length of a path component in bytes, as in most file systems.
pub const MAX_COMPONENT_BYTES: usize = 255;

impl Default for Limits {
    fn default() -> Self {
        Self {
            entries: MAX_ENTRIES,
            directory_bytes: MAX_DIRECTORY_BYTES,
            unpacked_bytes: MAX_UNPACKED_BYTES,
            ratio: MAX_RATIO,
        }
    }
}

impl Limits {
    /// Returns the maximum number of bytes to which a zip of `size` bytes may unpack.
    pub(crate) fn unpacked_from(&self, size: u64) -> u64 {
        let by_ratio = size
            .saturating_mul(self.ratio)
            .saturating_add(RATIO_ALLOWANCE);
        self.unpacked_bytes.min(by_ratio)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shifts_have_the_intended_values() {
        let limits = Limits::default();
        assert_eq!(limits.directory_bytes, 16_777_216);
        assert_eq!(limits.unpacked_bytes, 17_179_869_184);
        assert_eq!(limits.unpacked_from(0), 67_108_864);
    }

    #[test]
    fn the_smaller_of_total_and_ratio_applies() {
        let limits = Limits {
            unpacked_bytes: RATIO_ALLOWANCE + 5,
            ratio: 2,
            ..Limits::default()
        };
        assert_eq!(limits.unpacked_from(0), RATIO_ALLOWANCE);
        assert_eq!(limits.unpacked_from(1), RATIO_ALLOWANCE + 2);
        assert_eq!(limits.unpacked_from(2), RATIO_ALLOWANCE + 4);
        assert_eq!(limits.unpacked_from(3), RATIO_ALLOWANCE + 5);
        assert_eq!(limits.unpacked_from(u64::MAX), RATIO_ALLOWANCE + 5);
    }
}
