//! The content of one entry: methods, checksums, descriptors, sizes.

use super::*;

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
    // The headers have the descriptor flag, but something else or nothing follows the data.
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
    // The file ends after the data of the last entry, so the descriptor is missing.
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
        "data after a deflate stream is ignored"
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
        "a deflate stream marks its own end"
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
