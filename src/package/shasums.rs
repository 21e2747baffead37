//! Parses `SHA256SUMS`, the signed list of checksums for one version of a provider.
//!
//! Each line has 64 hexadecimal digits, white space and a file name. Terraform and OpenTofu parse the list twice, with different
//! rules, and both results affect the lock file:
//!
//! - **The checksum of a file.** Lines end at `\n`, and fields at any Unicode white space, including a no-break space. The checksum
//!   is on the first line whose second field is the file's name. Further fields are ignored.
//! - **The `zh` hashes.** Every line contributes one, regardless of the file that it names. If a line is invalid (it has only one
//!   field, or its first field is not 64 hexadecimal digits), only the hash of the downloaded zip is recorded. Parsing stops at a
//!   line that is longer than the line buffer of Terraform and OpenTofu; earlier lines are used.
//!
//! Terraform and OpenTofu crash on an empty line; tflock skips it.

use std::collections::{BTreeMap, BTreeSet};

use crate::package::ShasumsError;
use crate::provider::{Digest, Hash};

/// The maximum size of a list in bytes. The largest real lists are below 10 KB; this is enough for 20,000 files.
pub const MAX_SHASUMS_BYTES: usize = 2 << 20;

/// The maximum length of a line in bytes, without its line feed, when `zh` hashes are collected. The line buffer of Terraform and
/// OpenTofu has 64 KiB and must hold the line feed, too.
const MAX_LINE_BYTES: usize = (64 << 10) - 1;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shasums {
    /// The first field of the first line that names a file, by file name.
    first_fields: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The digest of every line, and whether any line with this digest names a zip. Empty if a line is invalid.
    digests: BTreeMap<Digest, bool>,
    /// Whether a line is too long, which means that the digests of later lines are missing.
    is_truncated: bool,
}

impl Shasums {
    /// Parses a list. Only an excessive size is an error: invalid lines matter only when a checksum is looked up.
    pub fn parse(document: &[u8]) -> Result<Self, ShasumsError> {
        if document.len() > MAX_SHASUMS_BYTES {
            return Err(ShasumsError::TooLarge {
                size: document.len(),
            });
        }
        let mut first_fields = BTreeMap::new();
        for line in lines(document) {
            if let [checksum, name, ..] = fields(line)[..] {
                first_fields
                    .entry(name.to_vec())
                    .or_insert_with(|| checksum.to_vec());
            }
        }
        Ok(Self {
            first_fields,
            digests: digests(document).unwrap_or_default(),
            is_truncated: lines(document).any(|line| line.len() > MAX_LINE_BYTES),
        })
    }

    pub fn digest_of(&self, filename: &str) -> Result<Digest, ShasumsError> {
        let not_listed = || ShasumsError::NotListed {
            filename: filename.to_owned(),
        };
        let checksum = self.first_fields.get(filename.as_bytes());
        let checksum = checksum.ok_or_else(not_listed)?;
        digest(checksum).ok_or_else(|| ShasumsError::UnreadableChecksum {
            filename: filename.to_owned(),
            found: String::from_utf8_lossy(checksum).into_owned(),
        })
    }

    /// Returns the `zh` hashes to record once the signature is verified. `own` is the digest of the downloaded zip.
    pub fn zh_hashes(&self, own: Digest) -> BTreeSet<Hash> {
        self.digests
            .keys()
            .copied()
            .chain([own])
            .map(Hash::zh)
            .collect()
    }

    /// Whether every line was parsed. Only then is a missing `zh` hash certainly not in the list.
    pub fn is_complete(&self) -> bool {
        !self.digests.is_empty() && !self.is_truncated
    }

    /// Returns the `zh` hashes of lines that name a zip. Hashes of manifests and other files are omitted.
    pub fn zip_hashes(&self) -> BTreeSet<Hash> {
        let zips = self.digests.iter().filter(|(_, is_zip)| **is_zip);
        zips.map(|(digest, _)| Hash::zh(*digest)).collect()
    }
}

fn lines(document: &[u8]) -> impl Iterator<Item = &[u8]> {
    document.split(|byte| *byte == b'\n')
}

/// Returns the digest of every line, and whether it names a zip. `None` if a line is invalid.
fn digests(document: &[u8]) -> Option<BTreeMap<Digest, bool>> {
    let mut digests = BTreeMap::new();
    for line in lines(document).take_while(|line| line.len() <= MAX_LINE_BYTES) {
        match fields(line)[..] {
            [] => {}
            [checksum, name, ..] => {
                *digests.entry(digest(checksum)?).or_default() |= name.ends_with(b".zip");
            }
            [_] => return None,
        }
    }
    Some(digests)
}

/// Parses 64 hexadecimal digits of either case.
fn digest(field: &[u8]) -> Option<Digest> {
    Digest::parse_hex(str::from_utf8(field).ok()?).ok()
}

/// Splits a line at white space. Invalid UTF-8 is not white space.
fn fields(line: &[u8]) -> Vec<&[u8]> {
    let mut fields = Vec::new();
    let mut start = 0;
    let mut at = 0;
    for chunk in line.utf8_chunks() {
        for character in chunk.valid().chars() {
            let end = at + character.len_utf8();
            if character.is_whitespace() {
                fields.push(&line[start..at]);
                start = end;
            }
            at = end;
        }
        at += chunk.invalid().len();
    }
    fields.push(&line[start..]);
    fields.retain(|field| !field.is_empty());
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZIP: &str = "terraform-provider-p_1.0.0_linux_amd64.zip";

    fn hex(digit: char) -> String {
        digit.to_string().repeat(64)
    }

    fn digest_of(digit: u8) -> Digest {
        Digest::parse_hex(&hex(char::from(digit))).expect("64 hex digits")
    }

    /// Returns the first digits of the recorded `zh` hashes. Each test digest repeats one digit; `0` is the downloaded zip.
    fn recorded(document: impl AsRef<[u8]>) -> String {
        let list = Shasums::parse(document.as_ref()).expect("small");
        let hashes = list.zh_hashes(digest_of(b'0'));
        hashes
            .iter()
            .map(|hash| hash.to_string().remove(3))
            .collect()
    }

    /// Returns a list with the downloaded zip, the zip of a different platform, and a manifest.
    fn list() -> String {
        format!(
            "{}  {ZIP}\n{}  terraform-provider-p_1.0.0_darwin_arm64.zip\n{}  terraform-provider-p_1.0.0_manifest.json\n",
            hex('0'),
            hex('1'),
            hex('2')
        )
    }

    #[test]
    fn every_line_is_recorded_regardless_of_its_file_name() {
        assert_eq!(recorded(list()), "012");
        assert_eq!(recorded(list() + &list()), "012", "duplicates count once");
        let upper = list().replace(&hex('1'), &hex('A'));
        assert_eq!(recorded(upper), "02a", "upper case becomes lower case");
    }

    #[test]
    fn white_space_in_lines_is_ignored() {
        let cases = [
            ("CRLF", list().replace('\n', "\r\n")),
            ("tabs", list().replace("  ", "\t")),
            (
                "vertical tab, form feed",
                list().replace("  ", "\u{b}\u{c}"),
            ),
            ("several spaces", list().replace("  ", "     ")),
            (
                "leading spaces",
                format!("  {}", list().replace('\n', "\n  ").trim_end()),
            ),
            ("no-break space", list().replace("  ", "\u{a0}")),
            ("ideographic space", list().replace("  ", "\u{3000}")),
            ("no final newline", list().trim_end().to_owned()),
            ("an extra third field", list().replace('\n', " extra\n")),
            (
                "empty lines",
                format!("\n{}\n \n\t\r\n", list().replace('\n', "\n\n")),
            ),
        ];
        for (name, document) in cases {
            assert_eq!(recorded(&document), "012", "{name}");
            let list = Shasums::parse(document.as_bytes()).expect("small");
            assert_eq!(list.digest_of(ZIP), Ok(digest_of(b'0')), "{name}");
        }
    }

    #[test]
    fn with_an_invalid_line_only_the_downloaded_zip_is_recorded() {
        let cases = [
            ("one field", hex('3')),
            ("a comment", "# checksums of 1.0.0".to_owned()),
            ("a SHA-512 line", format!("{}{}  file", hex('3'), hex('3'))),
            ("63 digits", format!("{}  file", &hex('3')[1..])),
            ("65 digits", format!("{}3  file", hex('3'))),
            ("no hex digit", format!("{}g  file", &hex('3')[1..])),
            ("no ASCII digit", format!("{}é  file", &hex('3')[2..])),
            ("a header", "-----BEGIN PGP SIGNED MESSAGE-----".to_owned()),
        ];
        for (name, line) in cases {
            assert_eq!(
                recorded(format!("{line}\n{}", list())),
                "0",
                "{name}, first"
            );
            assert_eq!(recorded(format!("{}{line}", list())), "0", "{name}, last");
        }
        let latin1 = [format!("{}  caf", hex('3')).as_bytes(), b"\xe9\n"].concat();
        for (line, expected) in [
            (&b"\xff\n"[..], "0"),
            (b"\xff \xfe\n", "0"),
            (&latin1, "0123"),
        ] {
            let document = [list().as_bytes(), line].concat();
            assert_eq!(
                recorded(document),
                expected,
                "only names may be invalid UTF-8"
            );
        }
    }

    #[test]
    fn a_byte_order_mark_makes_the_first_line_invalid() {
        let ours_first = format!("\u{feff}{}", list());
        assert_eq!(recorded(&ours_first), "0");
        let parsed = Shasums::parse(ours_first.as_bytes()).expect("small");
        let found = format!("\u{feff}{}", hex('0'));
        assert_eq!(parsed.digest_of(ZIP), unreadable(found));

        let ours_later = format!("\u{feff}{} other\n{}", hex('3'), list());
        let parsed = Shasums::parse(ours_later.as_bytes()).expect("small");
        assert_eq!(parsed.digest_of(ZIP), Ok(digest_of(b'0')));
        assert_eq!(recorded(&ours_later), "0");
    }

    fn unreadable(found: String) -> Result<Digest, ShasumsError> {
        let filename = ZIP.to_owned();
        Err(ShasumsError::UnreadableChecksum { filename, found })
    }

    #[test]
    fn collecting_zh_hashes_stops_at_a_line_over_64_kib() {
        let line = |length: usize| {
            let start = format!("{} ", hex('3'));
            format!("{start}{}", "n".repeat(length - start.len()))
        };
        let (fits, too_long, next) = (line(65_535), line(65_536), hex('4'));
        assert_eq!(recorded(format!("{}{fits}\n{next} x\n", list())), "01234");
        assert_eq!(
            recorded(format!("{}{fits}", list())),
            "0123",
            "without line feed"
        );
        assert_eq!(recorded(format!("{}{too_long}\n{next} x\n", list())), "012");
        let first = format!("{too_long}\n{}", list());
        assert_eq!(recorded(&first), "0", "the first line is too long");
        let parsed = Shasums::parse(first.as_bytes()).expect("small");
        assert_eq!(
            parsed.digest_of(ZIP),
            Ok(digest_of(b'0')),
            "lookups are not affected"
        );
    }

    #[test]
    fn a_file_is_looked_up_by_its_exact_name_and_its_first_line_applies() {
        let five = hex('5');
        let cases = [
            (
                "two lines",
                format!("{five}  {ZIP}\n{}  {ZIP}\n", hex('6')),
                Some(b'5'),
            ),
            ("upper case", format!("{}  {ZIP}", hex('A')), Some(b'a')),
            ("binary mark", format!("{five}  *{ZIP}\n"), None),
            ("in a directory", format!("{five}  ./{ZIP}\n"), None),
            ("followed by NUL", format!("{five}  {ZIP}\0\n"), None),
            ("as third field", format!("{five}  x {ZIP}\n"), None),
            ("name alone", ZIP.to_owned(), None),
            ("empty list", String::new(), None),
        ];
        for (name, document, expected) in cases {
            let list = Shasums::parse(document.as_bytes()).expect("small");
            let filename = ZIP.to_owned();
            let not_listed = ShasumsError::NotListed { filename };
            let expected = expected.map(digest_of).ok_or(not_listed);
            assert_eq!(list.digest_of(ZIP), expected, "{name}");
        }
    }

    #[test]
    fn short_and_non_hexadecimal_checksums_are_invalid() {
        for found in ["00", "zz", &format!("{}0", hex('0'))] {
            let list = Shasums::parse(format!("{found} {ZIP}").as_bytes()).expect("small");
            assert_eq!(list.digest_of(ZIP), unreadable(found.to_owned()));
        }
    }

    /// Returns the first digits of the `zh` hashes of zips.
    fn zip_digits(document: impl AsRef<[u8]>) -> String {
        let list = Shasums::parse(document.as_ref()).expect("small");
        let hashes = list.zip_hashes();
        hashes
            .iter()
            .map(|hash| hash.to_string().remove(3))
            .collect()
    }

    #[test]
    fn zips_are_distinguished_from_manifests() {
        assert_eq!(zip_digits(list()), "01");
        let same_digest = format!("{0} a.json\n{0} a.zip\n{0} b.json\n", hex('7'));
        assert_eq!(zip_digits(same_digest), "7");
        let invalid_utf8 = [hex('7').as_bytes(), b"  \xff\xfe\xe9.zip extra\n"].concat();
        assert_eq!(zip_digits(invalid_utf8), "7");
    }

    #[test]
    fn a_list_is_complete_if_every_line_is_valid() {
        for (document, expected) in [
            (list(), true),
            (format!("{}{}", list(), hex('3')), false),
            (format!("{}{}", list(), "x".repeat(65_536)), false),
            (String::new(), false),
        ] {
            let list = Shasums::parse(document.as_bytes()).expect("small");
            assert_eq!(list.is_complete(), expected);
        }
    }

    #[test]
    fn a_list_over_the_limit_is_an_error() {
        let size = MAX_SHASUMS_BYTES + 1;
        let expected = Err(ShasumsError::TooLarge { size });
        assert_eq!(Shasums::parse(&vec![b'\n'; size]), expected);
        assert!(Shasums::parse(&vec![b'\n'; MAX_SHASUMS_BYTES]).is_ok());
    }
}
