//! The records of the zip format. All numbers are little-endian.
//!
//! ```text
//! local header     "PK\3\4"  version flags method time date crc csize usize nlen elen   name extra
//! data descriptor ["PK\7\8"] crc csize usize                                            (sizes of 4 or 8 bytes)
//! central header   "PK\1\2"  made-by version flags method time date crc csize usize nlen elen clen
//!                            disk internal external offset                              name extra comment
//! zip64 end        "PK\6\6"  size made-by version disk disk entries entries size offset
//! zip64 locator    "PK\6\7"  disk offset disks
//! end              "PK\5\6"  disk disk entries entries size offset clen                 comment
//! ```
//!
//! Format: <https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT>. Unusual values are interpreted as in Go's `archive/zip`,
//! with which Terraform and OpenTofu read packages.

// Signatures. In a data descriptor, the signature is optional.
pub(crate) const LOCAL: u32 = 0x0403_4b50;
pub(crate) const CENTRAL: u32 = 0x0201_4b50;
pub(crate) const END: u32 = 0x0605_4b50;
pub(crate) const LOCATOR64: u32 = 0x0706_4b50;
pub(crate) const END64: u32 = 0x0606_4b50;
pub(crate) const DESCRIPTOR: u32 = 0x0807_4b50;

// Sizes of records in bytes, without variable-length fields.
pub(crate) const LOCAL_BYTES: usize = 30;
pub(crate) const CENTRAL_BYTES: usize = 46;
pub(crate) const END_BYTES: usize = 22;
pub(crate) const LOCATOR64_BYTES: usize = 20;
pub(crate) const END64_BYTES: usize = 56;

// Compression methods.
pub(crate) const STORED: u16 = 0;
pub(crate) const DEFLATED: u16 = 8;

/// A 32-bit size or offset with this value means that the number is in the zip64 extra field.
pub(crate) const IN_ZIP64: u32 = u32::MAX;

/// The flag of an entry that has a data descriptor after its data.
const FLAG_DESCRIPTOR: u16 = 1 << 3;

// The following functions panic if the record is too short.

pub(crate) fn u16_at(record: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes_at(record, at))
}

pub(crate) fn u32_at(record: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes_at(record, at))
}

pub(crate) fn u64_at(record: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes_at(record, at))
}

fn bytes_at<const N: usize>(record: &[u8], at: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&record[at..at + N]);
    bytes
}

/// The fixed part of a local header, without name and extra field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalHeader {
    /// Whether a data descriptor follows the data.
    pub(crate) has_descriptor: bool,
    pub(crate) method: u16,
    /// The size of the compressed data in bytes; 0 if it is in the data descriptor.
    pub(crate) compressed: u32,
    /// The size of the content in bytes; 0 if it is in the data descriptor.
    pub(crate) uncompressed: u32,
    pub(crate) name_bytes: u16,
    pub(crate) extra_bytes: u16,
}

impl LocalHeader {
    /// Parses the fixed part. `None` if the signature is incorrect.
    pub(crate) fn parse(record: &[u8; LOCAL_BYTES]) -> Option<Self> {
        (u32_at(record, 0) == LOCAL).then(|| Self {
            has_descriptor: u16_at(record, 6) & FLAG_DESCRIPTOR != 0,
            method: u16_at(record, 8),
            compressed: u32_at(record, 18),
            uncompressed: u32_at(record, 22),
            name_bytes: u16_at(record, 26),
            extra_bytes: u16_at(record, 28),
        })
    }

    /// Returns the number of bytes from the start of this header to the data.
    pub(crate) fn bytes(&self) -> u64 {
        LOCAL_BYTES as u64 + u64::from(self.name_bytes) + u64::from(self.extra_bytes)
    }
}

/// An entry of the central directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CentralEntry {
    pub(crate) name: Vec<u8>,
    /// Whether the name ends in `/`, or the mode is that of a directory.
    pub(crate) is_directory: bool,
    /// The permissions of a file, including the set-uid, set-gid and sticky bits.
    pub(crate) mode: u32,
    /// Whether a data descriptor follows the data.
    pub(crate) has_descriptor: bool,
    pub(crate) method: u16,
    /// The CRC-32 of the content; 0 can mean that it is unknown.
    pub(crate) crc: u32,
    /// The size of the compressed data in bytes.
    pub(crate) compressed: u64,
    /// The size of the content in bytes.
    pub(crate) uncompressed: u64,
    /// The offset of the local header, at first from the start of the archive. `read_directory` makes it relative to the file.
    pub(crate) offset: i64,
}

impl CentralEntry {
    /// Parses a central header with its name and extra field. The caller must have checked the signature. `None` if a number should
    /// be in a zip64 extra field but is missing there.
    pub(crate) fn parse(fixed: &[u8; CENTRAL_BYTES], name: &[u8], extra: &[u8]) -> Option<Self> {
        let sizes = [u32_at(fixed, 24), u32_at(fixed, 20), u32_at(fixed, 42)];
        let [uncompressed, compressed, offset] = zip64(sizes, extra)?;
        let made_by = u16_at(fixed, 4) >> 8;
        Some(Self {
            name: name.to_vec(),
            is_directory: name.ends_with(b"/") || is_directory_mode(made_by, u32_at(fixed, 38)),
            mode: permissions(made_by, u32_at(fixed, 38)),
            has_descriptor: u16_at(fixed, 8) & FLAG_DESCRIPTOR != 0,
            method: u16_at(fixed, 10),
            crc: u32_at(fixed, 16),
            compressed: compressed?,
            uncompressed: uncompressed.unwrap_or(u64::from(IN_ZIP64)),
            offset: offset?.cast_signed(),
        })
    }
}

/// Whether the attributes are those of a directory. Their meaning depends on the system that created the archive.
fn is_directory_mode(made_by: u16, attributes: u32) -> bool {
    const UNIX_TYPE: u32 = 0xf000;
    const UNIX_DIRECTORY: u32 = 0x4000;
    const MS_DOS_DIRECTORY: u32 = 0x10;
    match made_by {
        // Unix, macOS.
        3 | 19 => (attributes >> 16) & UNIX_TYPE == UNIX_DIRECTORY,
        // FAT, NTFS, VFAT.
        0 | 11 | 14 => attributes & MS_DOS_DIRECTORY != 0,
        _ => false,
    }
}

/// Returns the permissions in the attributes of a file. Terraform and OpenTofu set them regardless of the umask.
fn permissions(made_by: u16, attributes: u32) -> u32 {
    const MS_DOS_READ_ONLY: u32 = 0x01;
    match made_by {
        3 | 19 => (attributes >> 16) & 0o7777,
        0 | 11 | 14 if attributes & MS_DOS_READ_ONLY != 0 => 0o444,
        0 | 11 | 14 => 0o666,
        _ => 0,
    }
}

const TAG_ZIP64: u16 = 1;

/// Extends the numbers of a header to 64 bits. Numbers with the value [`IN_ZIP64`] are in the zip64 extra field, in the order of
/// `numbers`. Without such a field, they become `None`. If the field is too short, the whole result is `None`.
pub(crate) fn zip64(numbers: [u32; 3], mut extra: &[u8]) -> Option<[Option<u64>; 3]> {
    let mut wide = numbers.map(|number| (number != IN_ZIP64).then_some(u64::from(number)));
    while extra.len() >= 4 {
        let (tag, length) = (u16_at(extra, 0), usize::from(u16_at(extra, 2)));
        let Some(mut field) = extra.get(4..4 + length) else {
            break;
        };
        if tag == TAG_ZIP64 {
            for number in wide.iter_mut().filter(|number| number.is_none()) {
                *number = Some(u64_at(field.get(..8)?, 0));
                field = &field[8..];
            }
        }
        extra = &extra[4 + length..];
    }
    Some(wide)
}
