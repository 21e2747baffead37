//! Limits on packages. Terraform and OpenTofu have none, but tflock reads packages that strangers publish.

/// Limits on one package. The program uses [`Limits::default`]; tests use smaller values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most entries in the central directory.
    pub entries: usize,
    /// The most bytes of the central directory, which is held in memory.
    pub directory_bytes: u64,
    /// The most bytes that all entries together unpack to.
    pub unpacked_bytes: u64,
    /// The most bytes that each byte of the zip may unpack to, in addition to [`RATIO_ALLOWANCE`].
    pub ratio: u64,
}

/// The largest packages contain a few hundred files. Reading 100,000 takes one or two seconds.
pub const MAX_ENTRIES: usize = 100_000;

/// Enough for 100,000 entries of 160 bytes.
pub const MAX_DIRECTORY_BYTES: u64 = 16 << 20;

/// The largest provider known unpacks to 0.7 GB.
pub const MAX_UNPACKED_BYTES: u64 = 16 << 30;

/// The compression ratio of programs is 4 to 10. The maximum of deflate is 1,032.
pub const MAX_RATIO: u64 = 200;

/// The bytes that may be unpacked whatever the ratio. They are harmless, and test packages consist mostly of zeros.
pub const RATIO_ALLOWANCE: u64 = 64 << 20;

/// The longest path of an entry in bytes. Linux limits it to 4,096 bytes together with the temporary directory in which Terraform
/// and OpenTofu unpack.
pub const MAX_PATH_BYTES: usize = 4_000;

/// The longest component of a path in bytes, as in most file systems.
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
    /// How many bytes a zip of `size` bytes may unpack to.
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
