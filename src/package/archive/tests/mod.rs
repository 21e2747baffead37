//! The rules for zips, each with a handwritten archive and the expected files.

mod content;
mod end_records;
mod names;

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

/// Returns the `h1` hash of a package with the executable and these files.
fn h1(entries: impl IntoIterator<Item = RawEntry>) -> Result<String, PackageError> {
    h1_of(&RawZip::of([exe()].into_iter().chain(entries)))
}

fn h1_of(zip: &RawZip) -> Result<String, PackageError> {
    hash(&zip.to_bytes(), &Limits::default()).map(|hashes| hashes.h1.to_string())
}

/// Returns the fault of the entry `a`.
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

/// Returns an archive with the executable, and the file `a` with the content `A`.
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
fn the_executable_must_be_there() {
    let type_name = "p".to_owned();
    let zip = RawZip::of([RawEntry::stored("LICENSE", "x")]);
    assert_eq!(h1_of(&zip), Err(PackageError::NoExecutable { type_name }));
}

/// A nested archive is ordinary content.
#[test]
fn a_nested_archive_is_opaque() {
    let inner = plain().to_bytes();
    let expected = h1([RawEntry::stored("z.zip", &inner)]);
    assert!(expected.is_ok());
    assert_eq!(h1([RawEntry::streamed("z.zip", &inner)]), expected);
}

#[test]
fn limits_are_enforced_and_named() {
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

/// Compares the hash of the zip's entries with the `h1` hash of the lines that define it.
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
            "a directory marked by its mode includes its data",
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
            "but not in a different spelling",
            vec![RawEntry::stored("a", "1"), RawEntry::stored("./a", "2")],
            lines(&[("./a", "2"), ("a", "1"), exe_line]),
        ),
        ("a line feed", vec![RawEntry::directory("d\n/")], None),
        (
            "a directory with a nonzero size",
            vec![RawEntry {
                unpacked: 1,
                ..RawEntry::directory("d/")
            }],
            None,
        ),
        (
            "a directory marked by its mode, with broken data",
            vec![RawEntry {
                crc: 1,
                ..RawEntry::stored("d", "x").mode(0o040_755)
            }],
            None,
        ),
        (
            "unless a readable entry with that name follows",
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
