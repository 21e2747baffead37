//! Correctly signed packages that must not be unpacked: damaged archives, hostile names, zip bombs.

use tflock_test_support::{FakeRegistry, ProviderSpec, RawEntry, RawZip, table};

use super::whole::Ends::{Locks, Refuses};
use super::whole::Prepare::{Entry, Named, Package};
use super::whole::{Case, case};

const EXE: &str = "terraform-provider-ledger_v1.0.0";

fn exe() -> RawEntry {
    RawEntry::streamed(EXE, "exe")
}

/// An archive with the executable and another entry.
pub(super) fn with(entry: RawEntry) -> Vec<u8> {
    RawZip::of([exe(), entry]).to_bytes()
}

/// An archive with this entry only.
fn alone(entry: RawEntry) -> Vec<u8> {
    RawZip::of([entry]).to_bytes()
}

/// Publishes these bytes as the package of the provider.
pub(super) fn publish(registry: &mut FakeRegistry, spec: ProviderSpec, bytes: Vec<u8>) {
    registry.publish(spec.archive("1.0.0", "linux_amd64", bytes));
}

/// The columns: the case, the name of a file in the package, and the error or `locks`.
const NAMES: &str = r"
    `../evil`                        | ../evil      | `../evil` contains `..`
    `a/../../evil`                   | a/../../evil | contains `..`
    `a\..\evil`                      | a\..\evil    | contains `..`
    `/etc/evil` is below the package | /etc/evil    | locks
    the root as a file               | .            | a file without a name
";

pub(super) fn cases() -> Vec<Case> {
    let named = table(NAMES).into_iter().map(|[case_name, name, text]| {
        let ends = if text == "locks" {
            Locks("")
        } else {
            Refuses(text)
        };
        case(case_name, Named(name), ends)
    });
    named.chain(archives()).chain(entries()).collect()
}

fn archives() -> Vec<Case> {
    vec![
        case(
            "no archive",
            Package(|| b"#!/bin/sh\n".to_vec()),
            Refuses("it has no end record"),
        ),
        case(
            "an empty file",
            Package(Vec::new),
            Refuses("it has no end record"),
        ),
        case(
            "an empty archive",
            Package(|| RawZip::default().to_bytes()),
            Refuses("empty zip archive"),
        ),
        case(
            "archive cut in half",
            Package(cut_in_half),
            Refuses("package is not a valid zip archive"),
        ),
        case(
            "central directory elsewhere",
            Package(directory_elsewhere),
            Refuses("it has no local header where the central directory says"),
        ),
        case(
            "entries that are not counted",
            Package(wrong_count),
            Refuses("its end record counts 9 entries, its central directory has 1"),
        ),
        case(
            "no executable",
            Package(|| alone(RawEntry::stored("README", "x"))),
            Refuses("package has no executable"),
        ),
        case(
            "the executable is in a directory",
            Package(|| alone(RawEntry::stored(format!("bin/{EXE}"), "x"))),
            Refuses("package has no executable"),
        ),
        case(
            "a thousand overlapping entries",
            Package(overlapping),
            Refuses("more than the"),
        ),
        case(
            "100,001 entries",
            Package(too_many_entries),
            Refuses("package has more than 100000 entries"),
        ),
        case(
            "a central directory of 17 MB",
            Package(large_directory),
            Refuses("central directory of more than 16777216 bytes"),
        ),
    ]
}

fn entries() -> Vec<Case> {
    vec![
        case(
            "wrong CRC-32",
            Entry(|| RawEntry {
                crc: 1,
                ..RawEntry::deflated("a", "A")
            }),
            Refuses("its content does not have the CRC-32 that the archive says"),
        ),
        case(
            "wrong size",
            Entry(|| RawEntry {
                unpacked: 7,
                ..RawEntry::deflated("a", "A")
            }),
            Refuses("its content does not have the size that the central directory says"),
        ),
        case(
            "invalid deflate stream",
            Entry(|| RawEntry {
                method: 8,
                ..RawEntry::stored("a", [0xff; 99])
            }),
            Refuses("its data is corrupt"),
        ),
        case(
            "an unsupported method",
            Entry(|| RawEntry {
                method: 12,
                ..RawEntry::stored("a", "A")
            }),
            Refuses("its compression method 12 is not supported"),
        ),
        case(
            "file and directory of one name",
            Entry(|| RawEntry::stored(format!("{EXE}/b"), "x")),
            Refuses("both a file and a directory at"),
        ),
        case(
            "a link is a file",
            Entry(|| RawEntry::stored("a", "/etc/passwd").mode(0o120_777)),
            Locks(""),
        ),
        case(
            "NUL in a name",
            Entry(|| RawEntry::stored("a\0b", "x")),
            Refuses("contains a NUL byte"),
        ),
        case(
            "line feed in a name",
            Entry(|| RawEntry::stored("a\nb", "x")),
            Refuses("its name contains a line feed"),
        ),
        case(
            "a name that writes to terminals",
            Entry(|| RawEntry {
                crc: 1,
                ..RawEntry::deflated("\u{1b}[2J", "x")
            }),
            Refuses("`\\u{1b}[2J`"),
        ),
        case(
            "a name of 256 bytes",
            Entry(|| RawEntry::stored("a".repeat(256), "x")),
            Refuses("name is too long"),
        ),
        case(
            "a path of 5,000 bytes",
            Entry(|| RawEntry::stored("a/".repeat(2500) + "b", "x")),
            Refuses("name is too long"),
        ),
        case(
            "100 MB of zeros in 100 KB",
            Entry(|| RawEntry::deflated("a", vec![0; 100 << 20])),
            Refuses("unpacks to 104857603 bytes, more than the"),
        ),
        case(
            "the same, declared as 10 bytes",
            Entry(|| RawEntry {
                unpacked: 10,
                ..RawEntry::deflated("a", vec![0; 100 << 20])
            }),
            Refuses("its content does not have the size that the central directory says"),
        ),
        case(
            "16 declared size of exabytes",
            Entry(|| RawEntry {
                unpacked: u64::MAX,
                zip64: true,
                ..RawEntry::stored("a", "A")
            }),
            Refuses("unpacks to 18446744073709551615 bytes"),
        ),
    ]
}

fn wrong_count() -> Vec<u8> {
    let zip = RawZip::of([exe()]);
    RawZip {
        count: Some(9),
        ..zip
    }
    .to_bytes()
}

fn cut_in_half() -> Vec<u8> {
    let mut bytes = with(RawEntry::stored("a", [7; 9_000]));
    bytes.truncate(bytes.len() / 2);
    bytes
}

/// The central directory begins far beyond the end of the file, according to the end record.
fn directory_elsewhere() -> Vec<u8> {
    let mut bytes = alone(exe());
    let field = bytes.len() - 6..bytes.len() - 2;
    bytes[field].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
    bytes
}

/// A thousand headers of the central directory point to the same entry.
fn overlapping() -> Vec<u8> {
    let order = std::iter::once(0).chain(std::iter::repeat_n(1, 1000));
    let zip = RawZip {
        central_order: Some(order.collect()),
        ..RawZip::of([exe(), RawEntry::deflated("a", vec![0; 1 << 20])])
    };
    zip.to_bytes()
}

/// One entry more than the limit. The end record has only the lower 16 bits of their number.
fn too_many_entries() -> Vec<u8> {
    let entries = (0..100_000).map(|number| RawEntry::stored(number.to_string(), ""));
    RawZip::of(entries.chain([exe()])).to_bytes()
}

fn large_directory() -> Vec<u8> {
    let (tag, size) = (0xfeca_u16.to_le_bytes(), 60_000_u16.to_le_bytes());
    let extra = [tag.as_slice(), &size, &vec![0; 60_000]].concat();
    let entries = (0..300).map(|number| RawEntry {
        extra: extra.clone(),
        ..RawEntry::stored(number.to_string(), "")
    });
    RawZip::of(entries.chain([exe()])).to_bytes()
}
