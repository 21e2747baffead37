//! Correctly signed packages that must not be unpacked: damaged archives, hostile names, zip bombs.

use tflock_test_support::{FakeRegistry, ProviderSpec, RawEntry, RawZip, table};

use super::whole::FaultSetup::{Entry, Named, Package};
use super::whole::{RunFault, fault};

const EXE: &str = "terraform-provider-ledger_v1.0.0";

fn exe() -> RawEntry {
    RawEntry::streamed(EXE, "exe")
}

/// Builds an archive with the executable and one more entry.
pub(super) fn with(entry: RawEntry) -> Vec<u8> {
    RawZip::of([exe(), entry]).to_bytes()
}

/// Builds an archive with this entry only.
fn alone(entry: RawEntry) -> Vec<u8> {
    RawZip::of([entry]).to_bytes()
}

/// Publishes these bytes as the provider's package.
pub(super) fn publish(registry: &mut FakeRegistry, spec: ProviderSpec, bytes: Vec<u8>) {
    registry.publish(spec.archive("1.0.0", "linux_amd64", bytes));
}

/// The columns: the fault, the name of a file in the package (with `\0` and `\n`), and the result.
const NAMES: &str = r"
    `../evil`                        | ../evil      | `../evil` contains `..`
    `a/../../evil`                   | a/../../evil | contains `..`
    `a\..\evil`                      | a\..\evil    | contains `..`
    `/etc/evil` is below the package | /etc/evil    | locks
    the root as a file               | .            | a file without a name
    file and directory of one name   | terraform-provider-ledger_v1.0.0/b | is both a file and a directory
    NUL in a name                    | a\0b         | contains a NUL byte
    line feed in a name              | a\nb         | its name contains a line feed
";

/// The columns: the fault, the entry in the syntax of [`entry`], and the result.
const ENTRIES: &str = r"
    wrong CRC-32                        | deflated=A crc=1      | the CRC-32 of its content differs from the CRC-32 in the archive
    wrong size                          | deflated=A unpacked=7 | the size of its content differs from the size in the central directory
    invalid deflate stream              | stored=ggg method=8 | its data is corrupt
    an unsupported method               | stored=A method=12    | its compression method 12 is not supported
    a link is a file                    | stored=/etc/passwd mode=41471 | locks
    terminal escape sequence in a name  | deflated=x crc=1 escape | `\u{1b}[2J`
    a name of 256 bytes                 | stored=x name=256     | name is too long
    a path of 5,000 bytes               | stored=x path=5000    | name is too long
    100 MB of zeros in 100 KB           | zeros=104857600       | unpacks to 104857603 bytes; the limit is
    the same, declared as 10 bytes      | zeros=104857600 unpacked=10 | the size of its content differs from the size in the central directory
    16 exabytes declared                | stored=A unpacked=18446744073709551615 zip64 | unpacks to 18446744073709551615 bytes
";

/// The columns: the name of an archive in [`archive`], and the result.
const ARCHIVES: &str = "
    no archive                       | it has no end record
    an empty file                    | it has no end record
    an empty archive                 | empty zip archive
    archive cut in half              | package is not a valid zip archive
    central directory elsewhere      | there is no local header at the offset that the central directory gives for it
    entries that are not counted     | its end record counts 9 entries, but its central directory has 1
    no executable                    | package has no executable
    the executable is in a directory | package has no executable
    a thousand overlapping entries   | the limit is
    100,001 entries                  | package has too many entries: the limit is 100000
    a central directory of 17 MB     | central directory that is too large: the limit is 16777216 bytes
";

pub(super) fn faults() -> Vec<RunFault> {
    let mut faults = Vec::new();
    for [name, file, result] in table(NAMES) {
        faults.push(fault(name, Named(file), result));
    }
    for [name, words, result] in table(ENTRIES) {
        faults.push(fault(name, Entry(words), result));
    }
    for [name, result] in table(ARCHIVES) {
        faults.push(fault(name, Package(archive), result));
    }
    faults
}

/// Parses an entry `a` from text such as `deflated=A crc=1`: its content, then the header fields to change.
pub(super) fn entry(words: &str) -> RawEntry {
    let mut entry = RawEntry::stored("a", "");
    for word in words.split(' ') {
        let (field, value) = word.split_once('=').unwrap_or((word, "0"));
        let length = || value.parse::<usize>().unwrap();
        match field {
            "stored" => entry = RawEntry::stored("a", value),
            "deflated" => entry = RawEntry::deflated("a", value),
            "zeros" => entry = RawEntry::deflated("a", vec![0; length()]),
            "crc" => entry.crc = value.parse().unwrap(),
            "unpacked" => entry.unpacked = value.parse().unwrap(),
            "method" => entry.method = value.parse().unwrap(),
            "mode" => entry = entry.mode(value.parse().unwrap()),
            "zip64" => entry.zip64 = true,
            "escape" => entry.name = b"\x1b[2J".to_vec(),
            "name" => entry.name = vec![b'a'; length()],
            "path" => entry.name = format!("{}b", "a/".repeat(length() / 2)).into_bytes(),
            _ => panic!("`{word}` is not a field of an entry"),
        }
    }
    entry
}

fn archive(name: &str) -> Vec<u8> {
    match name {
        "no archive" => b"#!/bin/sh\n".to_vec(),
        "an empty file" => Vec::new(),
        "an empty archive" => RawZip::default().to_bytes(),
        "archive cut in half" => cut_in_half(),
        "central directory elsewhere" => directory_elsewhere(),
        "entries that are not counted" => wrong_count(),
        "no executable" => alone(RawEntry::stored("README", "x")),
        "the executable is in a directory" => alone(RawEntry::stored(format!("bin/{EXE}"), "x")),
        "a thousand overlapping entries" => overlapping(),
        "100,001 entries" => too_many_entries(),
        "a central directory of 17 MB" => large_directory(),
        _ => panic!("no archive is named `{name}`"),
    }
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

/// Builds an archive whose end record places the central directory far beyond the end of the file.
fn directory_elsewhere() -> Vec<u8> {
    let mut bytes = alone(exe());
    let field = bytes.len() - 6..bytes.len() - 2;
    bytes[field].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
    bytes
}

/// Builds an archive with a thousand headers in its central directory that point to the same entry.
fn overlapping() -> Vec<u8> {
    let order = std::iter::once(0).chain(std::iter::repeat_n(1, 1000));
    let zip = RawZip {
        central_order: Some(order.collect()),
        ..RawZip::of([exe(), RawEntry::deflated("a", vec![0; 1 << 20])])
    };
    zip.to_bytes()
}

/// Builds an archive with one entry too many. Its end record holds only the lower 16 bits of their number.
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
