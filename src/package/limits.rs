//! How much of a package is taken in. The tools know no such limits; whoever reads what strangers publish needs some.

/// Bounds on one package. [`Limits::default`] has the figures that the program uses; tests set smaller ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most entries in the central directory.
    pub entries: usize,
    /// Most bytes of the central directory: it and what is made from it are held in memory.
    pub directory_bytes: u64,
    /// Most bytes that all entries unpack to.
    pub unpacked_bytes: u64,
    /// Most bytes that one byte of the zip may unpack to, on top of [`RATIO_ALLOWANCE`].
    pub ratio: u64,
}

/// The largest packages hold a few hundred files. 100,000 take a second or two.
pub const MAX_ENTRIES: usize = 100_000;

/// 100,000 entries of 160 bytes each.
pub const MAX_DIRECTORY_BYTES: u64 = 16 << 20;

/// The largest provider known unpacks to 0.7 GB.
pub const MAX_UNPACKED_BYTES: u64 = 16 << 30;

/// Programs shrink to a fourth or a tenth; deflate cannot go beyond 1,032.
pub const MAX_RATIO: u64 = 200;

/// This many bytes may be unpacked whatever the ratio: below it no harm is done, and test packages are full of zeros.
pub const RATIO_ALLOWANCE: u64 = 64 << 20;

/// The longest path of an entry in bytes. The tools unpack below a temporary directory, and the kernel takes 4,096 bytes
/// for both.
pub const MAX_PATH_BYTES: usize = 4_000;

/// The longest component of a path in bytes: what file systems take.
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

    /// Shifts are easy to get wrong.
    #[test]
    fn figures() {
        let limits = Limits::default();
        assert_eq!(limits.directory_bytes, 16_777_216);
        assert_eq!(limits.unpacked_bytes, 17_179_869_184);
        assert_eq!(limits.unpacked_from(0), 67_108_864);
    }

    #[test]
    fn the_smaller_of_total_and_ratio_counts() {
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
