//! Locating the central directory: end records, zip64, and bytes before and after the archive.

use super::*;

#[test]
fn missing_zip64_fields_end_the_directory() {
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
    // For the size of the content, this value is permitted even without a zip64 field.
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
    // The last signature is in the comment. It is used if a whole record fits there.
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
    // The offset of the directory is absolute, but those of the entries are relative.
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
    // The size in the end record is too large, so all offsets are corrected downwards.
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
    // Without a locator, the 32-bit numbers are used, and all of their bits are set.
    assert_eq!(broken(locator, 0), DirectoryFault::Outside);
    assert_eq!(
        broken(locator + 4, 1),
        DirectoryFault::Outside,
        "a different disk"
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
fn files_that_are_not_zips() {
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
    // The comment of the last central header extends over the end record.
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
