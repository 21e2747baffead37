//! Names and modes of entries: which are files, which of several identical names is used, and which cannot be unpacked.

use super::*;

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
            "content is ignored",
            RawEntry {
                crc: 1,
                unpacked: 9,
                ..RawEntry::stored("d/", "x")
            },
        ),
        (
            "method is ignored",
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
            "a socket, whose type includes the directory bit",
            with(0x0314, 0o140_644 << 16),
        ),
        (
            "a block device, whose type includes it, too",
            with(0x0314, 0o060_644 << 16),
        ),
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
        "a symlinked executable is hashed as text and accepted"
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
fn names_are_bytes_regardless_of_their_declared_encoding() {
    // The Unicode path field of Info-ZIP: version 1, the CRC-32 of the name, and a different name. It is ignored.
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
