//! Archives that are written field by field, including archives that no zip library would write.
//!
//! The default values produce a valid archive, and every field can be changed. Format: APPNOTE.TXT 4.3.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// The data descriptor: a record after an entry's data that repeats its checksum and sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Descriptor {
    /// No descriptor. The sizes are in the local header.
    Absent,
    /// A descriptor with the usual signature, as Go writes it.
    Signed,
    /// A descriptor without a signature, which the format allows.
    Unsigned,
    /// A descriptor with a signature and eight-byte sizes.
    Wide,
}

/// An entry of an archive.
#[derive(Debug, Clone)]
pub struct RawEntry {
    /// The name in the central directory.
    pub name: Vec<u8>,
    /// The name in the local header, if it differs.
    pub local_name: Option<Vec<u8>>,
    /// The stored data, compressed with `method`.
    pub data: Vec<u8>,
    pub method: u16,
    /// The general purpose flags, without the bit for the data descriptor.
    pub flags: u16,
    /// The field "version made by". Its upper byte names the system to which the attributes belong.
    pub made_by: u16,
    /// The external attributes. On Unix, the mode is in the upper half.
    pub attributes: u32,
    /// The CRC-32 that the local header or descriptor and the central directory contain.
    pub crc: u32,
    /// The compressed size that the headers contain, in bytes.
    pub packed: u64,
    /// The uncompressed size that the headers contain, in bytes.
    pub unpacked: u64,
    /// The kind of data descriptor.
    pub descriptor: Descriptor,
    /// Whether the sizes and the offset are in a zip64 extra field.
    pub zip64: bool,
    /// Extra fields in both headers, in addition to the one for zip64.
    pub extra: Vec<u8>,
    /// Bytes between this entry and the next record.
    pub gap: Vec<u8>,
    /// Whether the central directory contains the entry.
    pub listed: bool,
}

impl RawEntry {
    /// Creates a stored regular file with the mode 0644.
    pub fn stored(name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Self {
        let content = content.as_ref();
        Self {
            name: name.as_ref().to_vec(),
            local_name: None,
            data: content.to_vec(),
            method: 0,
            flags: 0,
            made_by: 0x0314,
            attributes: 0o100_644 << 16,
            crc: crc32fast::hash(content),
            packed: content.len() as u64,
            unpacked: content.len() as u64,
            descriptor: Descriptor::Absent,
            zip64: false,
            extra: Vec::new(),
            gap: Vec::new(),
            listed: true,
        }
    }

    /// Creates a deflated regular file with the mode 0644.
    pub fn deflated(name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Self {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder
            .write_all(content.as_ref())
            .expect("writing to memory cannot fail");
        let data = encoder.finish().expect("writing to memory cannot fail");
        let packed = data.len() as u64;
        Self {
            data,
            packed,
            method: 8,
            ..Self::stored(name, content)
        }
    }

    /// Creates a deflated file with a signed descriptor, as Go writes it.
    pub fn streamed(name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Self {
        Self {
            descriptor: Descriptor::Signed,
            ..Self::deflated(name, content)
        }
    }

    /// Creates a directory. By convention, its name ends in `/`.
    pub fn directory(name: impl AsRef<[u8]>) -> Self {
        Self {
            attributes: 0o040_755 << 16 | 0x10,
            ..Self::stored(name, b"")
        }
    }

    /// Sets the Unix mode, including the file type.
    pub fn mode(self, mode: u32) -> Self {
        Self {
            attributes: mode << 16,
            ..self
        }
    }

    fn flag_bits(&self) -> u16 {
        self.flags
            | if self.descriptor == Descriptor::Absent {
                0
            } else {
                0x0008
            }
    }

    fn write_local(&self, out: &mut Vec<u8>) {
        let name = self.local_name.as_ref().unwrap_or(&self.name);
        let known = self.descriptor == Descriptor::Absent;
        let (crc, packed, unpacked) = if known {
            (self.crc, self.packed, self.unpacked)
        } else {
            (0, 0, 0)
        };
        let mut extra = Vec::new();
        if self.zip64 {
            zip64_field(&mut extra, &[unpacked, packed]);
        }
        extra.extend_from_slice(&self.extra);
        out.extend_from_slice(b"PK\x03\x04\x14\0");
        put16(out, &[self.flag_bits(), self.method, 0, 0x5821]);
        put32(
            out,
            &[crc, clamp(packed, self.zip64), clamp(unpacked, self.zip64)],
        );
        put16(out, &[length(name), length(&extra)]);
        out.extend_from_slice(name);
        out.extend_from_slice(&extra);
        out.extend_from_slice(&self.data);
        self.write_descriptor(out);
        out.extend_from_slice(&self.gap);
    }

    fn write_descriptor(&self, out: &mut Vec<u8>) {
        if matches!(self.descriptor, Descriptor::Signed | Descriptor::Wide) {
            out.extend_from_slice(b"PK\x07\x08");
        }
        match self.descriptor {
            Descriptor::Absent => {}
            Descriptor::Signed | Descriptor::Unsigned => {
                put32(
                    out,
                    &[
                        self.crc,
                        clamp(self.packed, false),
                        clamp(self.unpacked, false),
                    ],
                );
            }
            Descriptor::Wide => {
                put32(out, &[self.crc]);
                out.extend_from_slice(&self.packed.to_le_bytes());
                out.extend_from_slice(&self.unpacked.to_le_bytes());
            }
        }
    }

    fn write_central(&self, offset: u64, out: &mut Vec<u8>) {
        let mut extra = Vec::new();
        if self.zip64 {
            zip64_field(&mut extra, &[self.unpacked, self.packed, offset]);
        }
        extra.extend_from_slice(&self.extra);
        out.extend_from_slice(b"PK\x01\x02");
        put16(
            out,
            &[self.made_by, 20, self.flag_bits(), self.method, 0, 0x5821],
        );
        put32(
            out,
            &[
                self.crc,
                clamp(self.packed, self.zip64),
                clamp(self.unpacked, self.zip64),
            ],
        );
        put16(out, &[length(&self.name), length(&extra), 0, 0, 0]);
        put32(out, &[self.attributes, clamp(offset, self.zip64)]);
        out.extend_from_slice(&self.name);
        out.extend_from_slice(&extra);
    }
}

/// An archive to write.
#[derive(Debug, Clone, Default)]
pub struct RawZip {
    /// The entries, in the order of their data and of the central directory.
    pub entries: Vec<RawEntry>,
    /// Bytes before the first entry.
    pub prefix: Vec<u8>,
    /// Whether offsets are relative to the first entry rather than the start of the file.
    pub relative: bool,
    pub comment: Vec<u8>,
    /// Bytes after the end record.
    pub suffix: Vec<u8>,
    /// The number of entries that the end record claims, if it is incorrect.
    pub count: Option<u16>,
    /// Whether the zip64 end records are written.
    pub zip64: bool,
    /// The order of the central directory, as indexes into `entries`, if it differs from theirs.
    pub central_order: Option<Vec<usize>>,
}

impl RawZip {
    /// Creates an archive with these entries.
    pub fn of(entries: impl IntoIterator<Item = RawEntry>) -> Self {
        Self {
            entries: entries.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Returns the bytes of the archive.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = self.prefix.clone();
        let base = if self.relative {
            self.prefix.len() as u64
        } else {
            0
        };
        let mut offsets = Vec::new();
        for entry in &self.entries {
            offsets.push(out.len() as u64 - base);
            entry.write_local(&mut out);
        }
        let order = self
            .central_order
            .clone()
            .unwrap_or_else(|| (0..offsets.len()).collect());
        let start = out.len() as u64 - base;
        let mut central = Vec::new();
        let listed = order
            .into_iter()
            .filter(|&index| self.entries[index].listed);
        let mut count = 0_u16;
        for index in listed {
            self.entries[index].write_central(offsets[index], &mut central);
            count = count.wrapping_add(1);
        }
        out.extend_from_slice(&central);
        self.write_end(count, start, central.len() as u64, base, &mut out);
        out
    }

    fn write_end(&self, count: u16, start: u64, size: u64, base: u64, out: &mut Vec<u8>) {
        let count = self.count.unwrap_or(count);
        if self.zip64 {
            let record = out.len() as u64 - base;
            out.extend_from_slice(b"PK\x06\x06");
            out.extend_from_slice(&44_u64.to_le_bytes());
            put16(out, &[45, 45]);
            put32(out, &[0, 0]);
            for value in [u64::from(count), u64::from(count), size, start] {
                out.extend_from_slice(&value.to_le_bytes());
            }
            out.extend_from_slice(b"PK\x06\x07\0\0\0\0");
            out.extend_from_slice(&record.to_le_bytes());
            put32(out, &[1]);
        }
        out.extend_from_slice(b"PK\x05\x06\0\0\0\0");
        let shown = if self.zip64 { u16::MAX } else { count };
        put16(out, &[shown, shown]);
        put32(out, &[clamp(size, self.zip64), clamp(start, self.zip64)]);
        put16(out, &[length(&self.comment)]);
        out.extend_from_slice(&self.comment);
        out.extend_from_slice(&self.suffix);
    }
}

fn put16(out: &mut Vec<u8>, values: &[u16]) {
    for value in values {
        out.extend_from_slice(&value.to_le_bytes());
    }
}

fn put32(out: &mut Vec<u8>, values: &[u32]) {
    for value in values {
        out.extend_from_slice(&value.to_le_bytes());
    }
}

fn zip64_field(extra: &mut Vec<u8>, values: &[u64]) {
    put16(
        extra,
        &[1, u16::try_from(values.len() * 8).expect("a few values")],
    );
    for value in values {
        extra.extend_from_slice(&value.to_le_bytes());
    }
}

/// Returns the value of a four-byte field: `value`, or 0xFFFFFFFF if the zip64 field holds it.
fn clamp(value: u64, zip64: bool) -> u32 {
    if zip64 {
        u32::MAX
    } else {
        u32::try_from(value).unwrap_or(u32::MAX)
    }
}

fn length(bytes: &[u8]) -> u16 {
    u16::try_from(bytes.len()).expect("names and comments are under 64 KiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The size of an end record without a comment, in bytes.
    const END: usize = 22;

    #[test]
    fn a_plain_archive_is_local_data_central_directory_and_end() {
        let bytes = RawZip::of([RawEntry::stored("a", "1")]).to_bytes();
        assert_eq!(bytes.len(), (30 + 1 + 1) + (46 + 1) + END);
        assert_eq!(&bytes[bytes.len() - END..][..4], b"PK\x05\x06");
    }

    #[test]
    fn offsets_count_from_the_prefix_only_when_relative() {
        for (relative, expected) in [(false, 3 + 32_u32), (true, 32)] {
            let zip = RawZip {
                prefix: b"#!x".to_vec(),
                relative,
                ..RawZip::of([RawEntry::stored("a", "1")])
            };
            let bytes = zip.to_bytes();
            let field = &bytes[bytes.len() - 6..][..4];
            assert_eq!(field, expected.to_le_bytes());
        }
    }
}
