//! Compares hashing a download with hashing a file, for thousands of random archives, most of which are almost valid.

use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::*;

const ARCHIVES: u32 = 3_000;

fn names() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => prop::sample::select(vec![EXE, "a", "b", "a/b", "d/", "d", "./a", "terraform-provider-p", "d/e/f"])
            .prop_map(|name| name.as_bytes().to_vec()),
        1 => prop::collection::vec(prop::sample::select(b"ab/.\\\n\0".to_vec()), 0..6),
    ]
}

fn contents() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => prop::collection::vec(any::<u8>(), 0..40),
        2 => (any::<u8>(), 0..3_000_usize).prop_map(|(byte, count)| vec![byte; count]),
        1 => (any::<u8>(), 262_140..262_150_usize).prop_map(|(byte, count)| vec![byte; count]),
    ]
}

fn descriptors() -> impl Strategy<Value = Descriptor> {
    prop::sample::select(vec![
        Descriptor::Absent,
        Descriptor::Absent,
        Descriptor::Signed,
        Descriptor::Signed,
        Descriptor::Unsigned,
        Descriptor::Wide,
    ])
}

/// Generates entries that are mostly valid; some have one invalid field.
fn entries() -> impl Strategy<Value = RawEntry> {
    let fields = (
        names(),
        contents(),
        any::<bool>(),
        descriptors(),
        0..80_u8,
        any::<u8>(),
    );
    fields.prop_map(|(name, content, deflate, descriptor, oddity, amount)| {
        let mut entry = if deflate {
            RawEntry::deflated(name, content)
        } else {
            RawEntry::stored(name, content)
        };
        // A stored entry with a descriptor must always be read from a file.
        if deflate || amount < 20 {
            entry.descriptor = descriptor;
        }
        match oddity {
            0 => entry.crc ^= u32::from(amount),
            1 => entry.crc = 0,
            2 => entry.packed = entry.packed.wrapping_add_signed(i64::from(amount) - 128),
            3 => entry.unpacked = entry.unpacked.wrapping_add_signed(i64::from(amount) - 128),
            4 => entry.method = u16::from(amount % 16),
            5 => entry.gap = vec![amount; usize::from(amount % 20)],
            6 => entry.listed = false,
            7 => entry.zip64 = true,
            8 => entry.attributes = u32::from(amount) << 24,
            9 => entry.made_by = u16::from(amount) << 8,
            10 => entry.flags = u16::from(amount & !8),
            11 => entry.extra = vec![amount; usize::from(amount % 9)],
            12 => entry.local_name = Some(vec![amount; usize::from(amount % 9)]),
            _ => {}
        }
        entry
    })
}

fn archives() -> impl Strategy<Value = RawZip> {
    let fields = (
        prop::collection::vec(entries(), 0..5),
        any::<bool>(),
        0..30_u8,
        any::<u8>(),
    );
    fields.prop_map(|(mut entries, with_exe, oddity, amount)| {
        if with_exe {
            entries.push(exe());
        }
        let mut zip = RawZip::of(entries);
        let some = vec![amount; usize::from(amount)];
        match oddity {
            0 => zip.prefix = some,
            1 => (zip.prefix, zip.relative) = (some, true),
            2 => zip.comment = some,
            3 => zip.suffix = some,
            4 => zip.count = Some(u16::from(amount % 6)),
            5 => zip.zip64 = true,
            6 => zip.central_order = Some((0..zip.entries.len()).rev().collect()),
            7 => (zip.zip64, zip.prefix, zip.relative) = (true, some, amount % 2 == 0),
            _ => {}
        }
        zip
    })
}

/// Changes random bytes, mostly in headers near signatures.
fn changed(mut bytes: Vec<u8>, changes: &[(u16, u8, u8)]) -> Vec<u8> {
    for (place, offset, value) in changes {
        let headers: Vec<_> = (0..bytes.len().saturating_sub(1))
            .filter(|at| bytes[*at..].starts_with(b"PK"))
            .collect();
        let Some(header) = headers.get(usize::from(*place) % headers.len().max(1)) else {
            continue;
        };
        let at = header + usize::from(offset % 50);
        if let Some(byte) = bytes.get_mut(at) {
            *byte = *value;
        }
    }
    bytes
}

fn changes() -> impl Strategy<Value = Vec<(u16, u8, u8)>> {
    let value = prop_oneof![Just(0), Just(1), Just(8), Just(0xff), any::<u8>()];
    let change = (any::<u16>(), any::<u8>(), value);
    prop_oneof![1 => Just(Vec::new()), 1 => prop::collection::vec(change, 1..4)]
}

/// For any bytes, the download has the same result as the file, or must be read from a file. With `--nocapture`, the test prints
/// the number of archives with each result; every result must be frequent, so that the comparison is meaningful.
#[test]
#[expect(
    clippy::print_stderr,
    reason = "the counts are shown with `--nocapture`"
)]
fn both_ways_agree() {
    let inputs = (archives(), changes(), 0..400_usize, 1..5_000_usize);
    let ways = RefCell::new(BTreeMap::new());
    let config = Config {
        source_file: Some(file!()),
        ..Config::with_cases(ARCHIVES)
    };
    let result = TestRunner::new(config).run(&inputs, |(zip, changes, cut, chunk)| {
        let mut bytes = changed(zip.to_bytes(), &changes);
        if cut < 40 {
            bytes.truncate(bytes.len().saturating_sub(cut));
        }
        let way = agree(&bytes, chunk, Limits::default());
        *ways.borrow_mut().entry(way).or_default() += 1;
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    let ways: BTreeMap<Way, u32> = ways.into_inner();
    eprintln!("{ARCHIVES} archives: {ways:?}; no disagreement");
    for way in [Way::Hashed, Way::Refused, Way::WholeFile] {
        let count = ways.get(&way).copied().unwrap_or_default();
        assert!(count >= ARCHIVES / 20, "{way:?}: {count}");
    }
}
