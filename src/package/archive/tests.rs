//! Every row of the rules for zips, each with a hand-made archive and the same content in plain form.

use std::fs::File;
use std::io::Write as _;

use tflock_test_support::{Descriptor, RawEntry, RawZip};

use super::*;
use crate::package::{Limits, PackageError};

const EXE: &str = "terraform-provider-p_v1.0.0";

fn exe() -> RawEntry {
    RawEntry::streamed(EXE, "exe")
}

fn file_of(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

fn hash(bytes: &[u8], limits: &Limits) -> Result<ContentHashes, PackageError> {
    hash_contents(&file_of(bytes), "p", limits)
}

/// The `h1` of the executable and these entries.
fn h1(entries: impl IntoIterator<Item = RawEntry>) -> Result<String, PackageError> {
    h1_of(&RawZip::of([exe()].into_iter().chain(entries)))
}

fn h1_of(zip: &RawZip) -> Result<String, PackageError> {
    hash(&zip.to_bytes(), &Limits::default()).map(|hashes| hashes.h1.to_string())
}

/// What is wrong with entry `a`.
fn fault(entry: RawEntry) -> EntryFault {
    match h1([entry]) {
        Err(PackageError::Entry { name, fault }) if name == "a" => fault,
        other => panic!("{other:?}"),
    }
}

fn directory_fault(bytes: &[u8]) -> DirectoryFault {
    match hash(bytes, &Limits::default()) {
        Err(PackageError::Directory(fault)) => fault,
        other => panic!("{other:?}"),
    }
}

/// The executable, and `a` with content `A`.
fn plain() -> RawZip {
    RawZip::of([exe(), RawEntry::deflated("a", "A")])
}

const ALONE: &str = "h1:Oj1eh1N9nbmmxii3XU5c/6EwLuYwJZZymBjmnaipDuI=";
const WITH_A: &str = "h1:qwVEqsVWe9+kiIYSO+nC3PKJxaWkOVGBMOJTGVLzLS4=";

#[test]
fn all_hashes_of_a_file() {
    let bytes = plain().to_bytes();
    let hashes = hash_archive(&file_of(&bytes), "p", &Limits::default()).unwrap();
    assert_eq!(
        hashes.zh.to_string(),
        tflock_test_support::sha256_hex(&bytes)
    );
    assert_eq!(hashes.size, bytes.len() as u64);
    assert_eq!(hashes.h1.as_str(), WITH_A);
    assert_eq!(
        hashes.zip_h1,
        Some(hashes.h1),
        "no directories, so both are the same"
    );
}

#[test]
fn name_and_mode_make_a_directory() {
    let with = |made_by, attributes| RawEntry {
        made_by,
        attributes,
        ..RawEntry::stored("d", "x")
    };
    let directories = [
        ("name", RawEntry::stored("d/", "")),
        (
            "name over a regular mode",
            RawEntry::stored("d/", "").mode(0o100_644),
        ),
        (
            "content is not looked at",
            RawEntry {
                crc: 1,
                unpacked: 9,
                ..RawEntry::stored("d/", "x")
            },
        ),
        (
            "nor the method",
            RawEntry {
                method: 99,
                ..RawEntry::directory("d/")
            },
        ),
        ("Unix mode", with(0x0314, 0o040_755 << 16)),
        ("macOS mode", with(0x1314, 0o040_755 << 16)),
        ("MS-DOS attribute from FAT", with(0x0014, 0x10)),
        ("from NTFS", with(0x0b14, 0x10)),
        ("from VFAT", with(0x0e14, 0x30)),
        ("root", RawEntry::directory("/")),
        ("root with a dot", RawEntry::directory("./")),
        ("line feed in the name", RawEntry::directory("d\nd/")),
    ];
    for (name, entry) in directories {
        assert_eq!(h1([entry]).as_deref(), Ok(ALONE), "{name}");
    }
    let files = [
        ("MS-DOS attribute from Unix", with(0x0314, 0x10)),
        ("Unix mode from FAT", with(0x0014, 0o040_755 << 16)),
        (
            "any attribute from another system",
            with(0x0714, 0o040_755 << 16 | 0x10),
        ),
        (
            "a socket, whose type has the bit of a directory and another",
            with(0x0314, 0o140_644 << 16),
        ),
        ("a block device likewise", with(0x0314, 0o060_644 << 16)),
    ];
    for (name, entry) in files {
        assert_eq!(h1([entry]), h1([RawEntry::stored("d", "x")]), "{name}");
    }
    assert_ne!(h1([RawEntry::stored("d", "x")]).as_deref(), Ok(ALONE));
}

#[test]
fn modes_have_no_other_meaning() {
    let modes = [
        0o120_777, 0o010_644, 0o020_644, 0o060_644, 0o140_644, 0o104_755, 0o102_755, 0o101_777,
        0o100_000, 0, 0o100_444,
    ];
    for mode in modes {
        assert_eq!(
            h1([RawEntry::stored("a", "A").mode(mode)]).as_deref(),
            Ok(WITH_A),
            "{mode:o}"
        );
    }
    let read_only = || RawEntry::stored("a", "A").mode(0o100_444);
    assert_eq!(h1([read_only(), read_only()]).as_deref(), Ok(WITH_A));
    let linked = RawZip::of([RawEntry::stored(EXE, "exe").mode(0o120_777)]);
    assert_eq!(
        h1_of(&linked).as_deref(),
        Ok(ALONE),
        "a linked executable hashes as text and counts"
    );
}

#[test]
fn the_last_of_equal_paths_wins_and_the_first_must_be_readable() {
    let last = h1([RawEntry::stored("a", "2")]);
    assert_eq!(
        h1([RawEntry::stored("a", "1"), RawEntry::stored("a", "2")]),
        last
    );
    assert_eq!(
        h1([
            RawEntry::stored("a", "longer"),
            RawEntry::stored("./a", "2")
        ]),
        last
    );
    let broken = RawEntry {
        crc: 1,
        ..RawEntry::stored("a", "1")
    };
    assert!(h1([broken, RawEntry::stored("a", "2")]).is_err());
}

#[test]
fn the_central_directory_gives_name_and_order() {
    let entry = RawEntry {
        local_name: Some(b"../other".to_vec()),
        ..RawEntry::stored("a", "A")
    };
    assert_eq!(h1([entry]).as_deref(), Ok(WITH_A));
    let swapped = RawZip {
        central_order: Some(vec![2, 1, 0]),
        ..RawZip::of([
            exe(),
            RawEntry::stored("a", "A"),
            RawEntry::stored("a", "B"),
        ])
    };
    assert_eq!(h1_of(&swapped).as_deref(), Ok(WITH_A));
    let unlisted = RawEntry {
        listed: false,
        ..RawEntry::stored("b", "B")
    };
    assert_eq!(
        h1([RawEntry::stored("a", "A"), unlisted]).as_deref(),
        Ok(WITH_A)
    );
}

#[test]
fn names_are_bytes_whatever_is_said_of_their_encoding() {
    // Info-ZIP's Unicode path: version 1, CRC-32 of the name, another name.
    let unicode_path = b"up\x06\0\x01\x43\xbe\xb7\xe8b".to_vec();
    let entries = [
        RawEntry {
            flags: 0x800,
            ..RawEntry::stored(b"caf\xe9", "A")
        },
        RawEntry::stored(b"caf\xe9", "A"),
    ];
    for entry in entries {
        assert!(h1([entry]).unwrap().starts_with("h1:MfSzc7oolwU"));
    }
    for flags in [0, 0x800] {
        let entry = RawEntry {
            flags,
            ..RawEntry::stored("é中", "A")
        };
        assert!(h1([entry]).unwrap().starts_with("h1:+mAj40uMLz/"));
    }
    let entry = RawEntry {
        extra: unicode_path,
        ..RawEntry::stored("a", "A")
    };
    assert_eq!(h1([entry]).as_deref(), Ok(WITH_A));
}

#[test]
fn stored_and_deflated_with_and_without_descriptor() {
    let descriptors = [
        Descriptor::Absent,
        Descriptor::Signed,
        Descriptor::Unsigned,
        Descriptor::Wide,
    ];
    for descriptor in descriptors {
        for zip64 in [false, true] {
            for entry in [RawEntry::stored("a", "A"), RawEntry::deflated("a", "A")] {
                let entry = RawEntry {
                    descriptor,
                    zip64,
                    ..entry
                };
                assert_eq!(
                    h1([entry]).as_deref(),
                    Ok(WITH_A),
                    "{descriptor:?}, zip64: {zip64}"
                );
            }
        }
    }
    let large: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let expected = h1([RawEntry::stored("a", &large)]);
    assert!(expected.is_ok());
    assert_eq!(
        h1([RawEntry::streamed("a", &large)]),
        expected,
        "several pieces"
    );
}

#[test]
fn other_methods_are_refused() {
    for method in [9, 12, 14, 93, 99] {
        let entry = RawEntry {
            method,
            ..RawEntry::stored("a", "A")
        };
        assert_eq!(fault(entry), EntryFault::UnsupportedMethod { method });
    }
}

#[test]
fn the_flag_of_encryption_is_ignored() {
    let flagged = |entry| RawEntry { flags: 1, ..entry };
    assert_eq!(
        h1([flagged(RawEntry::stored("a", "A"))]).as_deref(),
        Ok(WITH_A)
    );
    assert_eq!(
        h1([flagged(RawEntry::deflated("a", "A"))]).as_deref(),
        Ok(WITH_A)
    );
    let cipher = RawEntry {
        data: vec![0xff; 20],
        packed: 20,
        ..RawEntry::deflated("a", "A")
    };
    assert_eq!(fault(flagged(cipher)), EntryFault::Corrupt);
}

#[test]
fn the_checksum_is_compared_unless_it_is_zero_without_descriptor() {
    for entry in [RawEntry::stored("a", "A"), RawEntry::deflated("a", "A")] {
        let wrong = RawEntry {
            crc: 1,
            ..entry.clone()
        };
        assert_eq!(fault(wrong.clone()), EntryFault::Checksum);
        assert_eq!(
            fault(RawEntry {
                descriptor: Descriptor::Signed,
                ..wrong
            }),
            EntryFault::Checksum
        );
        let zero = RawEntry { crc: 0, ..entry };
        assert_eq!(h1([zero.clone()]).as_deref(), Ok(WITH_A));
        assert_eq!(
            fault(RawEntry {
                descriptor: Descriptor::Signed,
                ..zero
            }),
            EntryFault::Checksum
        );
    }
}

#[test]
fn the_descriptor_must_be_there_and_agree() {
    // The flag in the headers, and behind the data something else or nothing.
    let flagged = |gap: &[u8]| RawEntry {
        flags: 8,
        gap: gap.to_vec(),
        ..RawEntry::stored("a", "A")
    };
    let crc = crc32fast::hash(b"A").to_le_bytes();
    assert_eq!(
        fault(flagged(b"")),
        EntryFault::Descriptor,
        "a central header follows"
    );
    assert_eq!(
        fault(flagged(b"PK\x07\x08")),
        EntryFault::Descriptor,
        "a signature alone"
    );
    assert_eq!(
        h1([flagged(&[&b"PK\x07\x08"[..], &crc].concat())]).as_deref(),
        Ok(WITH_A),
        "sizes are not read"
    );
    assert_eq!(h1([flagged(&crc)]).as_deref(), Ok(WITH_A));
    // The data of the last entry ends with the file: no room for a descriptor.
    let mut bytes = RawZip::of([exe()]).to_bytes();
    let flags_at = bytes
        .windows(4)
        .position(|window| window == b"PK\x01\x02")
        .unwrap()
        + 8;
    assert_eq!(bytes[flags_at], 8);
    bytes[flags_at + 12] = 200; // packed size: beyond the end
    assert!(matches!(
        hash(&bytes, &Limits::default()),
        Err(PackageError::Entry {
            fault: EntryFault::Descriptor,
            ..
        })
    ));
}

#[test]
fn declared_sizes_must_be_those_of_the_content() {
    let text = "A".repeat(50);
    for entry in [RawEntry::stored("a", &text), RawEntry::deflated("a", &text)] {
        for unpacked in [0, 49, 51] {
            assert_eq!(
                fault(RawEntry {
                    unpacked,
                    ..entry.clone()
                }),
                EntryFault::Size,
                "{unpacked}"
            );
        }
    }
    let deflated = RawEntry::deflated("a", &text);
    let packed = deflated.packed - 1;
    assert_eq!(
        fault(RawEntry {
            packed,
            ..deflated.clone()
        }),
        EntryFault::CutShort
    );
    assert_eq!(
        fault(RawEntry {
            packed: 0,
            ..deflated.clone()
        }),
        EntryFault::CutShort
    );
    let packed = deflated.packed + 1;
    assert!(
        h1([RawEntry {
            packed,
            gap: vec![0],
            ..deflated
        }])
        .is_ok(),
        "what follows a deflate stream is not looked at"
    );
    let stored = RawEntry::stored("a", &text);
    assert_eq!(
        fault(RawEntry {
            packed: 49,
            ..stored.clone()
        }),
        EntryFault::Size
    );
    assert_eq!(
        fault(RawEntry {
            packed: 51,
            ..stored
        }),
        EntryFault::Size
    );
}

#[test]
fn sizes_and_offsets_that_lead_out_of_the_file() {
    let past_the_end = RawEntry {
        packed: 1 << 40,
        zip64: true,
        ..RawEntry::deflated("a", "A")
    };
    assert_eq!(
        h1([past_the_end]).as_deref(),
        Ok(WITH_A),
        "deflate ends by itself"
    );
    let negative = RawEntry {
        packed: 1 << 63,
        zip64: true,
        ..RawEntry::stored("a", "A")
    };
    assert_eq!(fault(negative), EntryFault::Size);
    let mut bytes = plain().to_bytes();
    let central = bytes
        .windows(4)
        .rposition(|window| window == b"PK\x01\x02")
        .unwrap();
    bytes[central + 45] = 0x7f;
    assert!(matches!(
        hash(&bytes, &Limits::default()),
        Err(PackageError::Entry {
            fault: EntryFault::NoLocalHeader,
            ..
        })
    ));
    bytes[central + 45] = 0;
    bytes[central + 42] += 1;
    assert!(matches!(
        hash(&bytes, &Limits::default()),
        Err(PackageError::Entry {
            fault: EntryFault::NoLocalHeader,
            ..
        })
    ));
}

#[test]
fn numbers_that_should_be_in_a_zip64_field_and_are_not_end_the_directory() {
    for field in [20, 42] {
        let mut bytes = plain().to_bytes();
        let central = bytes
            .windows(4)
            .rposition(|window| window == b"PK\x01\x02")
            .unwrap();
        bytes[central + field..central + field + 4].fill(0xff);
        assert_eq!(
            directory_fault(&bytes),
            DirectoryFault::Count {
                counted: 2,
                found: 1
            },
            "{field}"
        );
    }
    // The size of the content alone may be that number.
    let mut bytes = plain().to_bytes();
    let central = bytes
        .windows(4)
        .rposition(|window| window == b"PK\x01\x02")
        .unwrap();
    bytes[central + 24..central + 28].fill(0xff);
    assert!(matches!(
        hash(
            &bytes,
            &Limits {
                ratio: u64::MAX,
                ..Limits::default()
            }
        ),
        Err(PackageError::Entry { .. })
    ));
}

#[test]
fn comments_and_bytes_after_the_end_record() {
    let with = |comment: usize, suffix: usize| RawZip {
        comment: vec![b'c'; comment],
        suffix: vec![b's'; suffix],
        ..plain()
    };
    for (comment, suffix) in [
        (1, 0),
        (60_000, 0),
        (65_535, 0),
        (0, 10),
        (0, 60_000),
        (10, 20),
        (0, 66_538),
    ] {
        assert_eq!(
            h1_of(&with(comment, suffix)).as_deref(),
            Ok(WITH_A),
            "{comment}, {suffix}"
        );
    }
    assert_eq!(
        directory_fault(&with(0, 66_539).to_bytes()),
        DirectoryFault::NoEndRecord
    );
    assert_eq!(
        directory_fault(&with(0, 70_000).to_bytes()),
        DirectoryFault::NoEndRecord
    );
    // A signature in the comment is the last one: it counts if it has room.
    let comment = [&b"PK\x05\x06"[..], &[0xff; 30]].concat();
    assert_eq!(
        directory_fault(&RawZip { comment, ..plain() }.to_bytes()),
        DirectoryFault::NoEndRecord
    );
    let comment = b"PK\x05\x06".to_vec();
    assert_eq!(
        h1_of(&RawZip { comment, ..plain() }).as_deref(),
        Ok(WITH_A),
        "no room for a record"
    );
}

#[test]
fn data_before_the_archive() {
    for prefix in [&b"#!/bin/sh\n"[..], b"PK\x03\x04", &[0; 300]] {
        for relative in [false, true] {
            let prefix = prefix.to_vec();
            assert_eq!(
                h1_of(&RawZip {
                    prefix,
                    relative,
                    ..plain()
                })
                .as_deref(),
                Ok(WITH_A),
                "{relative}"
            );
        }
    }
    // The directory by an absolute offset, the entries by relative ones.
    let zip = RawZip {
        prefix: vec![0; 300],
        relative: true,
        ..plain()
    };
    let mut bytes = zip.to_bytes();
    let at = bytes.len() - 6;
    let offset = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) + 300;
    bytes[at..at + 4].copy_from_slice(&offset.to_le_bytes());
    assert!(matches!(
        hash(&bytes, &Limits::default()),
        Err(PackageError::Entry {
            fault: EntryFault::NoLocalHeader,
            ..
        })
    ));
}

#[test]
fn an_offset_that_the_start_of_the_archive_makes_negative() {
    // The end record says that the directory is longer than it is: everything moves to the front.
    let mut bytes = plain().to_bytes();
    let at = bytes.len() - 10;
    bytes[at] += 1;
    assert!(hash(&bytes, &Limits::default()).is_err());
    bytes[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(directory_fault(&bytes), DirectoryFault::Outside);
}

#[test]
fn zip64_end_records() {
    let zip = RawZip {
        zip64: true,
        ..plain()
    };
    assert_eq!(h1_of(&zip).as_deref(), Ok(WITH_A));
    let prefix = b"#!/bin/sh\n".to_vec();
    assert_eq!(
        h1_of(&RawZip {
            prefix,
            ..zip.clone()
        })
        .as_deref(),
        Ok(WITH_A)
    );
    let bytes = zip.to_bytes();
    let position = |signature: &[u8]| {
        bytes
            .windows(4)
            .rposition(|window| window == signature)
            .unwrap()
    };
    let broken = |at: usize, value: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = value;
        directory_fault(&bytes)
    };
    let (record, locator) = (position(b"PK\x06\x06"), position(b"PK\x06\x07"));
    assert_eq!(broken(record, 0), DirectoryFault::NoZip64EndRecord);
    assert_eq!(
        broken(locator + 8, 0),
        DirectoryFault::NoZip64EndRecord,
        "wrong offset"
    );
    assert_eq!(
        broken(locator + 13, 0xff),
        DirectoryFault::NoZip64EndRecord,
        "offset past the end"
    );
    // Without locator the narrow numbers count, and they are all ones.
    assert_eq!(broken(locator, 0), DirectoryFault::Outside);
    assert_eq!(
        broken(locator + 4, 1),
        DirectoryFault::Outside,
        "another disk"
    );
    assert_eq!(
        broken(locator + 16, 2),
        DirectoryFault::Outside,
        "several disks"
    );
    assert_eq!(
        broken(locator + 15, 0x80),
        DirectoryFault::Outside,
        "a negative offset"
    );
    assert_eq!(
        broken(record + 40 + 7, 0x80),
        DirectoryFault::Outside,
        "size of the directory"
    );
    assert_eq!(
        broken(record + 48 + 7, 0x80),
        DirectoryFault::Outside,
        "offset of the directory"
    );
    assert_eq!(
        broken(record + 32, 3),
        DirectoryFault::Count {
            counted: 3,
            found: 2
        }
    );
}

#[test]
fn the_count_of_the_end_record_must_agree_in_16_bits() {
    for counted in [0, 1, 3, 0xfffe] {
        let zip = RawZip {
            count: Some(counted),
            ..plain()
        };
        let fault = DirectoryFault::Count {
            counted: u64::from(counted),
            found: 2,
        };
        assert_eq!(directory_fault(&zip.to_bytes()), fault);
    }
    let many = (0..65_537).map(|_| RawEntry::stored("a", "A"));
    let zip = RawZip {
        count: Some(2),
        ..RawZip::of([exe()].into_iter().chain(many))
    };
    assert_eq!(h1_of(&zip).as_deref(), Ok(WITH_A), "65,538 entries");
}

#[test]
fn what_is_no_zip() {
    let gzip = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0".repeat(9);
    for bytes in [
        &b""[..],
        b"x",
        b"PK\x05\x06",
        b"PK\x03\x04",
        &gzip,
        &b"<html>".repeat(20_000),
    ] {
        assert_eq!(directory_fault(bytes), DirectoryFault::NoEndRecord);
    }
    assert_eq!(h1_of(&RawZip::default()), Err(PackageError::Empty));
    let zip = plain().to_bytes();
    for cut in 1..zip.len() {
        assert!(
            hash(&zip[..zip.len() - cut], &Limits::default()).is_err(),
            "{cut} bytes are missing"
        );
    }
}

#[test]
fn the_directory_must_not_end_with_the_file() {
    // The comment of the last central header takes in the end record.
    let mut bytes = plain().to_bytes();
    let central = bytes
        .windows(4)
        .rposition(|window| window == b"PK\x01\x02")
        .unwrap();
    bytes[central + 32] = 22;
    assert_eq!(directory_fault(&bytes), DirectoryFault::CutShort);
    bytes[central + 32] = 21;
    assert_eq!(
        h1_of(&plain()),
        hash(&bytes, &Limits::default()).map(|hashes| hashes.h1.to_string())
    );
    bytes[central + 32] = 23;
    assert_eq!(
        directory_fault(&bytes),
        DirectoryFault::Count {
            counted: 2,
            found: 1
        }
    );
}

#[test]
fn names_that_cannot_be_unpacked() {
    let name = |name: &str| name.to_owned();
    let cases: [(&[u8], PackageError); 6] = [
        (b"", PackageError::FileAtRoot),
        (b".", PackageError::FileAtRoot),
        (
            b"a/../b",
            PackageError::ParentInName {
                name: name("a/../b"),
            },
        ),
        (
            b"..\\b",
            PackageError::ParentInName {
                name: name("..\\b"),
            },
        ),
        (
            b"a\0",
            PackageError::NulInName {
                name: name("a\\u{0}"),
            },
        ),
        (b"a\n", PackageError::NewlineInName { name: name("a\\n") }),
    ];
    for (stored, expected) in cases {
        assert_eq!(h1([RawEntry::stored(stored, "x")]), Err(expected));
    }
    let parent = Err(PackageError::ParentInName { name: name("../") });
    assert_eq!(h1([RawEntry::directory("../")]), parent);
    let long = "x".repeat(256);
    assert!(matches!(
        h1([RawEntry::stored(&long, "x")]),
        Err(PackageError::NameTooLong { .. })
    ));
    assert!(h1([RawEntry::stored(&long[1..], "x")]).is_ok());
}

#[test]
fn the_executable_must_be_there() {
    let type_name = "p".to_owned();
    let zip = RawZip::of([RawEntry::stored("LICENSE", "x")]);
    assert_eq!(h1_of(&zip), Err(PackageError::NoExecutable { type_name }));
}

/// A nested archive is content like any other.
#[test]
fn a_nested_archive_is_opaque() {
    let inner = plain().to_bytes();
    let expected = h1([RawEntry::stored("z.zip", &inner)]);
    assert!(expected.is_ok());
    assert_eq!(h1([RawEntry::streamed("z.zip", &inner)]), expected);
}

#[test]
fn limits_are_kept_and_named() {
    let text = "A".repeat(5_000);
    let bytes = RawZip::of([exe(), RawEntry::deflated("a", &text)]).to_bytes();
    let size = bytes.len() as u64;
    let limits = Limits {
        entries: 2,
        directory_bytes: 2 * 46 + 28,
        unpacked_bytes: 5_003,
        ..Limits::default()
    };
    assert!(hash(&bytes, &limits).is_ok());
    let refused = [
        (
            Limits {
                entries: 1,
                ..limits
            },
            PackageError::TooManyEntries { limit: 1 },
        ),
        (
            Limits {
                directory_bytes: 119,
                ..limits
            },
            PackageError::DirectoryTooLarge { limit: 119 },
        ),
        (
            Limits {
                unpacked_bytes: 5_002,
                ..limits
            },
            PackageError::UnpacksTooLarge {
                size,
                unpacked: 5_003,
                limit: 5_002,
            },
        ),
    ];
    for (limits, error) in refused {
        assert_eq!(hash(&bytes, &limits), Err(error));
    }
    let limit = Limits::default().unpacked_from(0);
    assert!(limit > crate::package::RATIO_ALLOWANCE - 1);
    let bomb = RawEntry {
        unpacked: u64::MAX,
        zip64: true,
        ..RawEntry::stored("a", "A")
    };
    assert!(matches!(
        h1([bomb]),
        Err(PackageError::UnpacksTooLarge {
            unpacked: u64::MAX,
            ..
        })
    ));
    let directory = RawEntry {
        unpacked: u64::MAX,
        zip64: true,
        ..RawEntry::directory("d/")
    };
    assert_eq!(h1([directory]).as_deref(), Ok(ALONE));
}

/// The zip-based hash, against `h1` over the lines that it is defined by.
#[test]
fn the_zip_based_hash() {
    let lines = |names: &[(&str, &str)]| {
        let lines = names.iter().map(|(name, content)| {
            (
                name.as_bytes(),
                crate::package::h1::sha256(content.as_bytes()),
            )
        });
        Some(crate::package::h1::h1(lines))
    };
    let zip_h1 = |entries: Vec<RawEntry>| {
        let zip = RawZip::of([exe()].into_iter().chain(entries));
        hash(&zip.to_bytes(), &Limits::default()).unwrap().zip_h1
    };
    let exe_line = (EXE, "exe");
    let cases = [
        ("plain", vec![], lines(&[exe_line])),
        (
            "a directory",
            vec![RawEntry::directory("d/")],
            lines(&[("d/", ""), exe_line]),
        ),
        (
            "a directory by its mode has its data",
            vec![RawEntry::stored("d", "x").mode(0o040_755)],
            lines(&[("d", "x"), exe_line]),
        ),
        (
            "names as stored",
            vec![RawEntry::stored("./a", "A")],
            lines(&[("./a", "A"), exe_line]),
        ),
        (
            "duplicates count twice, with the last content",
            vec![RawEntry::stored("a", "1"), RawEntry::stored("a", "2")],
            lines(&[("a", "2"), ("a", "2"), exe_line]),
        ),
        (
            "but not in another spelling",
            vec![RawEntry::stored("a", "1"), RawEntry::stored("./a", "2")],
            lines(&[("./a", "2"), ("a", "1"), exe_line]),
        ),
        ("a line feed", vec![RawEntry::directory("d\n/")], None),
        (
            "a directory of some size",
            vec![RawEntry {
                unpacked: 1,
                ..RawEntry::directory("d/")
            }],
            None,
        ),
        (
            "a directory by its mode with broken data",
            vec![RawEntry {
                crc: 1,
                ..RawEntry::stored("d", "x").mode(0o040_755)
            }],
            None,
        ),
        (
            "unless a readable one of that name follows",
            vec![
                RawEntry {
                    crc: 1,
                    ..RawEntry::stored("d", "x").mode(0o040_755)
                },
                RawEntry::stored("d", "y").mode(0o040_755),
            ],
            lines(&[("d", "y"), ("d", "y"), exe_line]),
        ),
    ];
    for (name, entries, expected) in cases {
        assert_eq!(zip_h1(entries), expected, "{name}");
    }
    let mut bytes = RawZip::of([exe(), RawEntry::directory("d/")]).to_bytes();
    let local = bytes
        .windows(4)
        .rposition(|window| window == b"PK\x03\x04")
        .unwrap();
    bytes[local] = 0;
    let hashes = hash(&bytes, &Limits::default()).unwrap();
    assert_eq!(
        (hashes.h1.as_str(), hashes.zip_h1),
        (ALONE, None),
        "a directory without local header"
    );
}
