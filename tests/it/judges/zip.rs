//! Compares `package` with the zip crate: both must find the same names, sizes, contents and hashes in every archive
//! that the zip crate accepts.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{Cursor, Read as _, Write as _};
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use tflock::package::{
    DirectoryFault, EntryFault, Limits, PackageError, hash_archive, unpack_archive,
};
use tflock_test_support::{Descriptor, RawEntry, RawZip, h1, sha256_hex};
use walkdir::WalkDir;
use zip::ZipArchive;

use crate::conformance::cases;

/// The provider's executable, which every package must contain.
const EXE: &str = "terraform-provider-p_v1.0.0";

/// The content of an archive.
#[derive(Debug, PartialEq, Eq)]
struct Contents {
    /// The files, by their paths after unpacking.
    files: BTreeMap<PathBuf, Vec<u8>>,
    /// The hash of the unpacked files.
    h1: String,
    /// The hash of the entries under their stored names. `None` if the archive has directories, because Terraform
    /// treats them differently.
    zip_h1: Option<String>,
}

/// Reads an archive with the zip crate.
fn judged(bytes: &[u8]) -> Result<Contents, String> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| error.to_string())?;
    let mut files = BTreeMap::new();
    let mut digests = BTreeMap::new();
    let mut has_directories = false;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(|error| error.to_string())?;
        let name = entry.name_raw().to_vec();
        if entry.is_dir() {
            has_directories = true;
            continue;
        }
        let mut content = Vec::new();
        let read = entry.read_to_end(&mut content);
        read.map_err(|error| error.to_string())?;
        if content.len() as u64 != entry.size() {
            let (found, declared) = (content.len(), entry.size());
            return Err(format!("{found} bytes instead of {declared}"));
        }
        digests.insert(name.clone(), sha256_hex(&content));
        files.insert(path(&name), content);
    }
    let unpacked = files
        .iter()
        .map(|(path, content): (&Vec<u8>, &Vec<u8>)| (path.clone(), sha256_hex(content)));
    Ok(Contents {
        h1: h1(&unpacked.collect()),
        zip_h1: (!has_directories).then(|| h1(&digests)),
        files: files
            .into_iter()
            .map(|(path, content)| (os_path(path), content))
            .collect(),
    })
}

/// Removes empty components and `.` from a path.
fn path(name: &[u8]) -> Vec<u8> {
    let components = name.split(|byte| *byte == b'/');
    let components = components.filter(|part| !matches!(*part, b"" | b"."));
    components.collect::<Vec<_>>().join(&b'/')
}

fn os_path(path: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;

    PathBuf::from(std::ffi::OsString::from_vec(path))
}

/// Reads an archive with tflock.
fn ours(bytes: &[u8]) -> Result<Contents, PackageError> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    let hashes = hash_archive(&file, "p", &Limits::default())?;
    assert_eq!(hashes.zh.to_string(), sha256_hex(bytes));
    assert_eq!(hashes.size, bytes.len() as u64);
    let files = unpacked(&file)?;
    Ok(Contents {
        files,
        h1: hashes.h1.to_string(),
        zip_h1: hashes.zip_h1.map(|hash| hash.to_string()),
    })
}

fn unpacked(file: &File) -> Result<BTreeMap<PathBuf, Vec<u8>>, PackageError> {
    let target = tempfile::tempdir().unwrap();
    unpack_archive(file, target.path(), &Limits::default())?;
    let entries = WalkDir::new(target.path())
        .into_iter()
        .map(|entry| entry.unwrap());
    let files = entries
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let path = entry.path().strip_prefix(target.path()).unwrap();
            (path.to_path_buf(), fs::read(entry.path()).unwrap())
        });
    Ok(files.collect())
}

/// Generates valid archives: names are unique, sizes and checksums correct.
fn proper() -> impl Strategy<Value = RawZip> {
    let names = [
        "a", "b", "a-b", "d/e", "d/f/g", "é", "x y", "c\\d", "./k", "l//m", "dir/", "d/n/",
    ];
    let entries = prop::sample::subsequence(names.to_vec(), 0..6).prop_shuffle();
    let entries = entries.prop_flat_map(|names| names.into_iter().map(entry).collect::<Vec<_>>());
    let shape = (any::<[bool; 3]>(), vec(any::<u8>(), 0..40), any::<bool>());
    (entries, shape).prop_map(
        |(mut entries, ([reversed, zip64, relative], some, comment))| {
            entries.push(RawEntry::streamed(EXE, "exe"));
            let mut zip = RawZip::of(entries);
            zip.zip64 = zip64;
            zip.central_order = reversed.then(|| (0..zip.entries.len()).rev().collect());
            // The parsers differ on archives with a prefix and a zip64 end record: see `EXCEPTIONS`.
            if comment || zip64 {
                zip.comment = some;
            } else {
                (zip.prefix, zip.relative) = (some, relative);
            }
            zip
        },
    )
}

fn entry(name: &'static str) -> impl Strategy<Value = RawEntry> {
    let content = prop_oneof![
        3 => vec(any::<u8>(), 0..40),
        1 => (any::<u8>(), 0..70_000_usize).prop_map(|(byte, count)| vec![byte; count]),
    ];
    let signed = [Descriptor::Signed, Descriptor::Unsigned];
    let descriptor = select([[Descriptor::Absent; 2], signed].concat());
    let mode = select(vec![0o644, 0o755, 0o600]);
    let fields = (content, any::<[bool; 2]>(), descriptor, mode);
    fields.prop_map(move |(content, [deflate, zip64], descriptor, mode)| {
        if name.ends_with('/') {
            return RawEntry::directory(name);
        }
        let mut entry = if deflate {
            RawEntry::deflated(name, content)
        } else {
            RawEntry::stored(name, content)
        };
        entry.descriptor = descriptor;
        entry.zip64 = zip64;
        entry.mode(mode)
    })
}

/// Generates archives with some changed bytes, mostly in headers.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let value = prop_oneof![Just(0), Just(1), Just(8), Just(0xff), any::<u8>()];
    let change = (any::<prop::sample::Index>(), 0..50_usize, value);
    (proper(), vec(change, 1..3)).prop_map(|(zip, changes)| {
        let mut bytes = zip.to_bytes();
        for (header, offset, value) in changes {
            let headers = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(b"PK"));
            let headers: Vec<usize> = headers.collect();
            if let Some(byte) = bytes.get_mut(header.get(&headers) + offset) {
                *byte = value;
            }
        }
        bytes
    })
}

/// A difference between the zip crate and tflock. In each case, Terraform and OpenTofu agree with tflock.
struct ZipException {
    reason: &'static str,
    applies: fn(&Contents, &Result<Contents, PackageError>) -> bool,
}

use PackageError as Error;

const EXCEPTIONS: [ZipException; 6] = [
    ZipException {
        reason: "tflock restricts the names and files of packages, but the zip format does not",
        applies: |_, ours| {
            matches!(
                ours,
                Err(Error::ParentInName { .. }
                    | Error::NulInName { .. }
                    | Error::NewlineInName { .. }
                    | Error::NameTooLong { .. }
                    | Error::FileAtRoot
                    | Error::FileAndDirectory { .. }
                    | Error::NoExecutable { .. }
                    | Error::Empty)
            )
        },
    },
    ZipException {
        reason: "the zip crate reads as many entries as the end record claims, but tflock requires the directory to have exactly that number",
        applies: |_, ours| matches!(ours, Err(Error::Directory(DirectoryFault::Count { .. }))),
    },
    ZipException {
        reason: "the zip crate searches for a zip64 end record or directory that is not at its offset",
        applies: |_, ours| {
            use DirectoryFault::{NoZip64EndRecord, Outside};
            matches!(ours, Err(Error::Directory(NoZip64EndRecord | Outside)))
        },
    },
    ZipException {
        reason: "the zip crate does not read data descriptors",
        applies: |_, ours| {
            matches!(
                ours,
                Err(PackageError::Entry {
                    fault: EntryFault::Descriptor,
                    ..
                })
            )
        },
    },
    ZipException {
        reason: "the zip crate recognizes directories by a trailing slash in the name and ignores the attributes",
        applies: |judge, ours| {
            let is_judges = |(path, content): (&PathBuf, _)| judge.files.get(path) == Some(content);
            matches!(ours, Ok(ours) if ours.files.len() < judge.files.len() && ours.files.iter().all(is_judges))
        },
    },
    ZipException {
        reason: "the zip crate lists a name once, however often it occurs",
        applies: |judge, ours| matches!(ours, Ok(ours) if ours.files == judge.files && ours.h1 == judge.h1 && ours.zip_h1 != judge.zip_h1),
    },
];

/// The results for all compared archives.
#[derive(Debug, Default)]
struct Verdicts {
    same: u32,
    excepted: BTreeSet<&'static str>,
    /// The names of the archives that only tflock accepts.
    refused: Vec<String>,
}

impl Verdicts {
    /// Compares the results for an archive. Returns an error that describes a difference no exception explains.
    fn add(&mut self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let mut ours = ours(bytes);
        let Ok(judge) = judged(bytes) else {
            self.refused.extend(ours.is_ok().then(|| name.to_owned()));
            return Ok(());
        };
        if let (Ok(ours), None) = (&mut ours, &judge.zip_h1) {
            ours.zip_h1 = None;
        }
        if ours.as_ref() == Ok(&judge) {
            self.same += 1;
            return Ok(());
        }
        let exception = EXCEPTIONS.iter().find(|it| (it.applies)(&judge, &ours));
        let exception = exception.ok_or_else(|| format!("{name}: {judge:?}\n{ours:?}"))?;
        self.excepted.insert(exception.reason);
        Ok(())
    }
}

/// Returns a test runner with a fixed seed. With a random seed, an unknown difference could fail an unrelated change.
fn runner(cases: u32) -> TestRunner {
    let config = Config {
        failure_persistence: None,
        ..Config::with_cases(cases)
    };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

#[test]
fn valid_archives_are_read_alike() {
    let result = runner(400).run(&proper(), |zip| {
        let bytes = zip.to_bytes();
        let mut ours = ours(&bytes).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let judge = judged(&bytes).map_err(TestCaseError::fail)?;
        if judge.zip_h1.is_none() {
            ours.zip_h1 = None;
        }
        prop_assert_eq!(ours, judge);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn damaged_archives_that_the_zip_crate_reads_are_read_alike() {
    let verdicts = RefCell::new(Verdicts::default());
    let result = runner(800).run(&damaged(), |bytes| {
        let verdict = verdicts.borrow_mut().add("generated", &bytes);
        verdict.map_err(TestCaseError::fail)
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    assert!(verdicts.borrow().same > 200, "{verdicts:?}");
}

/// Every exception must occur in this test. An unused one is an error.
#[test]
fn recorded_archives_are_read_alike() {
    let mut verdicts = Verdicts::default();
    for case in cases("zips.jsonl") {
        let bytes = STANDARD.decode(case["zip"].as_str().unwrap()).unwrap();
        verdicts
            .add(case["name"].as_str().unwrap(), &bytes)
            .unwrap();
    }
    for zip in shifted_and_undescribed() {
        verdicts.add("made", &zip.to_bytes()).unwrap();
    }
    assert_eq!(
        verdicts.refused,
        ["enc stored", "flag1 deflate ok", "crc0", "crc0 stored"],
        "Terraform ignores the encryption flag and treats a CRC-32 of 0 as unknown"
    );
    let unused = EXCEPTIONS
        .iter()
        .filter(|it| !verdicts.excepted.contains(it.reason));
    let unused: Vec<&str> = unused.map(|it| it.reason).collect();
    assert!(unused.is_empty(), "{unused:?}");
    assert!(verdicts.same > 25, "{verdicts:?}");
}

/// Returns archives for two exceptions that no recorded archive shows.
fn shifted_and_undescribed() -> [RawZip; 2] {
    let mut shifted = RawZip::of([RawEntry::streamed(EXE, "exe")]);
    (shifted.zip64, shifted.prefix, shifted.relative) = (true, b"before".to_vec(), true);
    let mut undescribed = RawEntry::stored(EXE, "exe");
    undescribed.flags = 8;
    undescribed.gap = vec![0; 20];
    [shifted, RawZip::of([undescribed])]
}
