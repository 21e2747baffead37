//! Compares hashing a download with hashing a file.

mod properties;

use std::fs::File;
use std::io::Write as _;

use tflock_test_support::{Descriptor, RawEntry, RawZip};

use super::*;
use crate::package::archive::hash_archive;

const EXE: &str = "terraform-provider-p_v1.0.0";

fn exe() -> RawEntry {
    RawEntry::streamed(EXE, "exe")
}

/// Hashes bytes as a download that arrives in chunks of this size.
fn stream_in(bytes: &[u8], chunk: usize, limits: Limits) -> Streamed {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut hasher = StreamHasher::new("p", limits).unwrap();
        for chunk in bytes.chunks(chunk) {
            hasher.send(Bytes::copy_from_slice(chunk)).await.unwrap();
        }
        hasher.finish().await.unwrap()
    })
}

fn stream(zip: &RawZip) -> Streamed {
    stream_in(&zip.to_bytes(), 1_000, Limits::default())
}

fn file_of(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

/// The result of hashing an archive as a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    /// The hashes are identical to those of the file.
    Hashed,
    /// The error is identical to that of the file.
    Refused,
    /// The archive must be read from a file.
    WholeFile,
}

/// Hashes the bytes as a download and as a file. Fails if the results differ, unless the archive must be read from a file.
fn agree(bytes: &[u8], chunk: usize, limits: Limits) -> Way {
    let whole = hash_archive(&file_of(bytes), "p", &limits);
    let streamed = stream_in(bytes, chunk, limits);
    assert_eq!(
        streamed.zh().to_string(),
        tflock_test_support::sha256_hex(bytes)
    );
    assert_eq!(streamed.size(), bytes.len() as u64);
    match streamed {
        Streamed::Hashed(hashes) => {
            assert_eq!(whole, Ok(hashes));
            Way::Hashed
        }
        Streamed::Refused { error, .. } => {
            assert_eq!(whole, Err(error));
            Way::Refused
        }
        Streamed::NeedsFile { .. } => Way::WholeFile,
    }
}

/// Returns archives of valid entries that can be hashed during a download.
fn ordinary_entries() -> Vec<RawZip> {
    let large: Vec<u8> = (0..400_000_u32)
        .flat_map(|at| at.wrapping_mul(at).to_le_bytes())
        .collect();
    let with = |descriptor, entry: RawEntry| RawEntry {
        descriptor,
        ..entry
    };
    vec![
        RawZip::of([exe()]),
        RawZip::of([
            exe(),
            RawEntry::directory("docs/"),
            RawEntry::streamed("docs/a", &large),
        ]),
        RawZip::of([
            RawEntry::stored("LICENSE", &large),
            exe(),
            RawEntry::deflated("README", "text"),
        ]),
        RawZip::of([
            exe(),
            RawEntry::streamed("empty", ""),
            RawEntry::deflated("b", ""),
            RawEntry::stored("c", ""),
        ]),
        RawZip::of([
            exe(),
            with(Descriptor::Wide, RawEntry::deflated("a", "")),
            RawEntry::stored("b", "B"),
        ]),
        RawZip::of([exe(), with(Descriptor::Wide, RawEntry::deflated("a", "A"))]),
        RawZip::of([
            exe(),
            with(Descriptor::Unsigned, RawEntry::deflated("a", &large)),
        ]),
        RawZip::of([
            exe(),
            with(Descriptor::Unsigned, RawEntry::deflated("a", "")),
            exe(),
        ]),
        RawZip::of([
            exe(),
            RawEntry {
                zip64: true,
                ..RawEntry::stored("a", "A")
            },
        ]),
        RawZip::of([
            exe(),
            RawEntry {
                zip64: true,
                ..RawEntry::streamed("a", "A")
            },
        ]),
    ]
}

/// Returns other archives that can be hashed during a download.
fn ordinary_archives() -> Vec<RawZip> {
    vec![
        RawZip {
            zip64: true,
            ..RawZip::of([exe()])
        },
        RawZip {
            comment: vec![b'c'; 60_000],
            ..RawZip::of([exe()])
        },
        RawZip {
            suffix: vec![b's'; 60_000],
            ..RawZip::of([exe()])
        },
        RawZip {
            central_order: Some(vec![1, 0]),
            ..RawZip::of([exe(), RawEntry::stored("a", "A")])
        },
        RawZip::of([
            exe(),
            RawEntry {
                listed: false,
                ..RawEntry::streamed("a", "A")
            },
        ]),
        RawZip::of([
            exe(),
            RawEntry::stored("a", "1"),
            RawEntry::stored("./a", "2"),
        ]),
        RawZip::of([
            exe(),
            RawEntry {
                crc: 0,
                ..RawEntry::deflated("a", "A")
            },
        ]),
        RawZip::of([
            exe(),
            RawEntry {
                local_name: Some(b"../b".to_vec()),
                ..RawEntry::stored("a", "A")
            },
        ]),
        RawZip::of(
            (0..300)
                .map(|at| RawEntry::streamed(format!("f/{at}"), format!("{at}")))
                .chain([exe()]),
        ),
    ]
}

/// Archives that can be hashed during a download must not require a file, because that would be slower.
#[test]
fn ordinary_archives_are_hashed_while_downloading() {
    for zip in ordinary_entries().into_iter().chain(ordinary_archives()) {
        let bytes = zip.to_bytes();
        for chunk in [7, 1_000, bytes.len()] {
            if chunk == 7 && bytes.len() > 100_000 {
                continue;
            }
            let streamed = stream_in(&bytes, chunk, Limits::default());
            assert!(matches!(streamed, Streamed::Hashed(_)), "{streamed:?}");
            assert_ne!(agree(&bytes, chunk, Limits::default()), Way::WholeFile);
        }
    }
}

/// The limit on the compression ratio applies to the whole archive, not to its beginning.
#[test]
fn a_high_ratio_at_the_start_is_hashed_while_downloading() {
    let noise: Vec<u8> = (0..100_000_u32)
        .flat_map(|at| at.wrapping_mul(0x9e37_79b9).to_be_bytes())
        .collect();
    let content = [vec![0; 70 << 20], noise].concat();
    let bytes = RawZip::of([RawEntry::streamed(EXE, &content)]).to_bytes();
    assert_ne!(agree(&bytes, 200_000, Limits::default()), Way::WholeFile);
    let strict = Limits {
        ratio: 1,
        ..Limits::default()
    };
    assert_eq!(agree(&bytes, 200_000, strict), Way::Refused);
}

#[test]
fn errors_that_a_file_would_also_have_are_found_without_one() {
    let bad = |change: fn(&mut RawEntry)| {
        let mut entry = RawEntry::streamed("a", "A");
        change(&mut entry);
        RawZip::of([exe(), entry]).to_bytes()
    };
    let cases = [
        ("checksum", bad(|entry| entry.crc ^= 1)),
        ("name", bad(|entry| entry.name = b"../a".to_vec())),
        (
            "no executable",
            RawZip::of([RawEntry::streamed("a", "A")]).to_bytes(),
        ),
        ("empty", RawZip::default().to_bytes()),
        (
            "count",
            RawZip {
                count: Some(3),
                ..RawZip::of([exe()])
            }
            .to_bytes(),
        ),
        ("no zip", b"<html>not found</html>".to_vec()),
        ("nothing", Vec::new()),
    ];
    for (name, bytes) in cases {
        let streamed = stream_in(&bytes, 10, Limits::default());
        assert!(
            matches!(streamed, Streamed::Refused { .. }),
            "{name}: {streamed:?}"
        );
        assert_ne!(agree(&bytes, 10, Limits::default()), Way::WholeFile);
    }
}

fn reason(zip: &RawZip) -> NeedsFile {
    match stream(zip) {
        Streamed::NeedsFile { reason, .. } => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn archives_that_must_be_read_from_a_file() {
    let zip = |entry| RawZip::of([exe(), entry]);
    let a = || RawEntry::deflated("a", "A");
    let b = || RawEntry::stored("b", "B");
    let cases = [
        (
            zip(RawEntry {
                descriptor: Descriptor::Signed,
                ..RawEntry::stored("a", "A")
            }),
            NeedsFile::StoredWithDescriptor,
        ),
        (zip(RawEntry { method: 12, ..a() }), NeedsFile::Unreadable),
        (
            zip(RawEntry {
                data: vec![0xff; 9],
                packed: 9,
                ..a()
            }),
            NeedsFile::Unreadable,
        ),
        (
            zip(RawEntry {
                packed: 99_999,
                ..RawEntry::stored("a", "A")
            }),
            NeedsFile::Unreadable,
        ),
        (
            zip(RawEntry {
                packed: 9,
                ..RawEntry::streamed("a", "A")
            }),
            NeedsFile::Descriptor,
        ),
        (
            zip(RawEntry {
                unpacked: 9,
                descriptor: Descriptor::Wide,
                ..a()
            }),
            NeedsFile::Descriptor,
        ),
        (
            zip(RawEntry {
                packed: 4,
                gap: vec![0],
                ..a()
            }),
            NeedsFile::Disagrees,
        ),
        (
            RawZip::of([
                exe(),
                RawEntry {
                    gap: b"gap".to_vec(),
                    ..a()
                },
                b(),
            ]),
            NeedsFile::Disagrees,
        ),
        (
            RawZip {
                prefix: b"#!/bin/sh\n".to_vec(),
                ..zip(a())
            },
            NeedsFile::Disagrees,
        ),
        (
            RawZip {
                prefix: b"#!/bin/sh\n".to_vec(),
                relative: true,
                ..zip(a())
            },
            NeedsFile::Disagrees,
        ),
    ];
    for (zip, expected) in cases {
        assert_eq!(reason(&zip), expected);
        assert_eq!(
            agree(&zip.to_bytes(), 100, Limits::default()),
            Way::WholeFile
        );
    }
}

/// The descriptor flag is set only in the central directory, or only in the local header.
#[test]
fn headers_that_differ_need_a_file() {
    let bytes = RawZip::of([exe(), RawEntry::deflated("a", "A")]).to_bytes();
    for signature in [b"PK\x01\x02", b"PK\x03\x04"] {
        let mut bytes = bytes.clone();
        let at = bytes
            .windows(4)
            .rposition(|window| window == signature)
            .unwrap();
        bytes[at + if signature[2] == 1 { 8 } else { 6 }] ^= 8;
        assert_eq!(agree(&bytes, 100, Limits::default()), Way::WholeFile);
    }
}

/// The data after the directory is longer than the retained end.
#[test]
fn a_directory_before_the_retained_end_needs_a_file() {
    let limits = Limits {
        directory_bytes: 10,
        ..Limits::default()
    };
    let long = RawZip {
        suffix: vec![0; 200_000],
        ..RawZip::of([exe(), RawEntry::deflated("a", "A")])
    };
    assert_eq!(agree(&long.to_bytes(), 9_999, limits), Way::WholeFile);
}

#[test]
fn limits_of_a_download_require_the_file_and_its_error() {
    let text = "A".repeat(500_000);
    let bytes = RawZip::of([exe(), RawEntry::streamed("a", &text)]).to_bytes();
    let limits = Limits {
        entries: 2,
        unpacked_bytes: 500_003,
        ..Limits::default()
    };
    assert_ne!(agree(&bytes, 1_000, limits), Way::WholeFile);
    for limits in [
        Limits {
            entries: 1,
            ..limits
        },
        Limits {
            unpacked_bytes: 500_002,
            ..limits
        },
    ] {
        let streamed = stream_in(&bytes, 1_000, limits);
        assert!(
            matches!(
                streamed,
                Streamed::NeedsFile {
                    reason: NeedsFile::TooLarge,
                    ..
                }
            ),
            "{streamed:?}"
        );
        assert!(hash_archive(&file_of(&bytes), "p", &limits).is_err());
    }
}

/// Dropping the hasher closes its queues, so the threads end and send their results.
#[test]
fn a_dropped_hasher_ends_its_threads() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let bytes = RawZip::of([RawEntry::streamed("a", vec![0; 3_000_000]), exe()]).to_bytes();
    for sent in [0, 10, bytes.len() / 2, bytes.len()] {
        let hasher = runtime.block_on(async {
            let mut hasher = StreamHasher::new("p", Limits::default()).unwrap();
            hasher
                .send(Bytes::copy_from_slice(&bytes[..sent]))
                .await
                .unwrap();
            hasher
        });
        let StreamHasher {
            feed,
            zip,
            contents,
        } = hasher;
        drop(feed);
        assert!(zip.blocking_recv().is_ok());
        assert!(contents.blocking_recv().is_ok());
    }
}
