//! `SHA256SUMS`: the signed list of checksums that a registry names for every version of a provider.
//!
//! One line per file: 64 hex digits, white space, file name. Terraform and OpenTofu read the list twice, by different
//! rules, and both matter for what a lock file holds:
//!
//! - **The checksum of one file.** Lines end at `\n`, fields at any white space (Unicode's, so a no-break space too); the
//!   first line whose second field is exactly the file's name counts, and further fields are ignored.
//! - **The `zh` hashes.** Every line gives one, whatever file it names. As soon as one line is not of that form (a single
//!   field, a first field that is not 64 hex digits), the document is no checksum list to them, and only the zip at hand
//!   is recorded. Reading stops at a line that is too long for their line reader; what came before counts.
//!
//! Both tools crash on an empty line; here it is skipped.

use std::collections::{BTreeMap, BTreeSet};

use crate::package::ShasumsError;
use crate::provider::{Digest, Hash};

/// The largest list that is read, in bytes. The largest real ones are below 10 KB; this is room for 20,000 files.
pub const MAX_SHASUMS_BYTES: usize = 2 << 20;

/// The longest line, without its line feed, that counts towards the `zh` hashes: the tools read lines through a buffer of
/// 64 KiB that must hold the line feed as well.
const MAX_LINE_BYTES: usize = (64 << 10) - 1;

/// A checksum list, as far as its signature vouches for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shasums {
    /// First field of the first line of each file.
    first_fields: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Digest of every line, with whether its file is a zip. Empty if the document is no checksum list to the tools.
    digests: BTreeMap<Digest, bool>,
    /// Whether a line was too long, and what follows it did not count.
    is_cut: bool,
}

impl Shasums {
    /// Reads a list. Only its size can be wrong: what it is good for shows when it is asked.
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
            is_cut: lines(document).any(|line| line.len() > MAX_LINE_BYTES),
        })
    }

    /// The checksum that the list gives for a file.
    pub fn digest_of(&self, filename: &str) -> Result<Digest, ShasumsError> {
        let checksum =
            self.first_fields
                .get(filename.as_bytes())
                .ok_or_else(|| ShasumsError::NotListed {
                    filename: filename.to_owned(),
                })?;
        digest(checksum).ok_or_else(|| ShasumsError::UnreadableChecksum {
            filename: filename.to_owned(),
            found: String::from_utf8_lossy(checksum).into_owned(),
        })
    }

    /// The `zh` hashes to record once the signature holds and `own`, the zip at hand, is found in the list.
    pub fn zh_hashes(&self, own: Digest) -> BTreeSet<Hash> {
        self.digests
            .keys()
            .copied()
            .chain([own])
            .map(Hash::zh)
            .collect()
    }

    /// Whether every line was understood, so that a `zh` which is not here is certainly not listed.
    pub fn is_readable(&self) -> bool {
        !self.digests.is_empty() && !self.is_cut
    }

    /// The `zh` hashes of lines that name a zip. Manifests and other files by the side of the packages are left out: they
    /// say nothing about whether recorded hashes belong to these packages.
    pub fn zip_hashes(&self) -> BTreeSet<Hash> {
        let zips = self.digests.iter().filter(|(_, is_zip)| **is_zip);
        zips.map(|(digest, _)| Hash::zh(*digest)).collect()
    }
}

fn lines(document: &[u8]) -> impl Iterator<Item = &[u8]> {
    document.split(|byte| *byte == b'\n')
}

/// The digest of every line, or `None` if a line shows that this is no checksum list.
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

/// 64 hex digits of either case.
fn digest(field: &[u8]) -> Option<Digest> {
    Digest::parse_hex(str::from_utf8(field).ok()?).ok()
}

/// The runs of bytes between white space. Bytes that are no UTF-8 are no white space.
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

    /// The digits of the recorded `zh` hashes, each of which stands for a digest of that digit alone; `0` is our zip.
    fn recorded(document: impl AsRef<[u8]>) -> String {
        let list = Shasums::parse(document.as_ref()).expect("small");
        let hashes = list.zh_hashes(digest_of(b'0'));
        let digits = hashes.iter().map(|hash| hash.to_string().remove(3));
        digits.collect()
    }

    /// A list of our zip, another platform's, and a manifest.
    fn list() -> String {
        format!(
            "{}  {ZIP}\n{}  terraform-provider-p_1.0.0_darwin_arm64.zip\n{}  terraform-provider-p_1.0.0_manifest.json\n",
            hex('0'),
            hex('1'),
            hex('2')
        )
    }

    #[test]
    fn every_line_is_recorded_whatever_file_it_names() {
        assert_eq!(recorded(list()), "012");
        assert_eq!(recorded(list() + &list()), "012", "duplicates count once");
        assert_eq!(
            recorded(list().replace(&hex('1'), &hex('A'))),
            "02a",
            "upper-case digits are lowered"
        );
    }

    #[test]
    fn layout_of_lines_is_free() {
        let cases = [
            ("CRLF", list().replace('\n', "\r\n")),
            ("tabs", list().replace("  ", "\t")),
            (
                "vertical tab and form feed",
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
                "empty lines, where the tools crash",
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
    fn a_line_of_another_form_leaves_only_our_own_zip() {
        let cases = [
            ("one field", hex('3')),
            ("a comment", "# checksums of 1.0.0".to_owned()),
            ("a SHA-512 line", format!("{}{}  file", hex('3'), hex('3'))),
            ("63 digits", format!("{}  file", &hex('3')[1..])),
            ("65 digits", format!("{}3  file", hex('3'))),
            ("no hex digit", format!("{}g  file", &hex('3')[1..])),
            ("no ASCII digit", format!("{}é  file", &hex('3')[2..])),
            (
                "a clear-sign header",
                "-----BEGIN PGP SIGNED MESSAGE-----".to_owned(),
            ),
        ];
        for (name, line) in cases {
            assert_eq!(
                recorded(format!("{line}\n{}", list())),
                "0",
                "{name}, first"
            );
            assert_eq!(recorded(format!("{}{line}", list())), "0", "{name}, last");
        }
        assert_eq!(
            recorded([list().as_bytes(), b"\xff\n"].concat()),
            "0",
            "bytes that are no UTF-8"
        );
        assert_eq!(recorded([list().as_bytes(), b"\xff \xfe\n"].concat()), "0");
        let latin1 = [format!("{}  caf", hex('3')).as_bytes(), b"\xe9\n"].concat();
        assert_eq!(
            recorded([list().as_bytes(), &latin1].concat()),
            "0123",
            "the name may be any bytes"
        );
    }

    #[test]
    fn a_byte_order_mark_spoils_the_first_line() {
        let ours_first = format!("\u{feff}{}", list());
        assert_eq!(recorded(&ours_first), "0");
        let parsed = Shasums::parse(ours_first.as_bytes()).expect("small");
        let found = format!("\u{feff}{}", hex('0'));
        let filename = ZIP.to_owned();
        assert_eq!(
            parsed.digest_of(ZIP),
            Err(ShasumsError::UnreadableChecksum { filename, found })
        );

        let ours_later = format!("\u{feff}{} other\n{}", hex('3'), list());
        let parsed = Shasums::parse(ours_later.as_bytes()).expect("small");
        assert_eq!(parsed.digest_of(ZIP), Ok(digest_of(b'0')));
        assert_eq!(recorded(&ours_later), "0");
    }

    #[test]
    fn reading_for_zh_stops_at_a_line_over_64_kib() {
        let line = |length: usize| {
            let start = format!("{} ", hex('3'));
            format!("{start}{}", "n".repeat(length - start.len()))
        };
        let fits = line(65_535);
        let too_long = line(65_536);
        assert_eq!(
            recorded(format!("{}{fits}\n{} x\n", list(), hex('4'))),
            "01234"
        );
        assert_eq!(
            recorded(format!("{}{fits}", list())),
            "0123",
            "without line feed"
        );
        assert_eq!(
            recorded(format!("{}{too_long}\n{} x\n", list(), hex('4'))),
            "012"
        );
        assert_eq!(
            recorded(format!("{too_long}\n{}", list())),
            "0",
            "nothing before it"
        );
        let parsed = Shasums::parse(format!("{too_long}\n{}", list()).as_bytes()).expect("small");
        assert_eq!(
            parsed.digest_of(ZIP),
            Ok(digest_of(b'0')),
            "the look-up goes on"
        );
    }

    #[test]
    fn a_file_is_looked_up_by_its_exact_name_and_its_first_line_counts() {
        let not_listed = |filename: &str| {
            let filename = filename.to_owned();
            Err(ShasumsError::NotListed { filename })
        };
        let cases = [
            (
                "the first line of two",
                format!("{}  {ZIP}\n{}  {ZIP}\n", hex('5'), hex('6')),
                Ok(digest_of(b'5')),
            ),
            (
                "upper case",
                format!("{}  {ZIP}", hex('A')),
                Ok(digest_of(b'a')),
            ),
            (
                "binary mark",
                format!("{}  *{ZIP}\n", hex('5')),
                not_listed(ZIP),
            ),
            (
                "in a directory",
                format!("{}  ./{ZIP}\n", hex('5')),
                not_listed(ZIP),
            ),
            (
                "a NUL behind it",
                format!("{}  {ZIP}\0\n", hex('5')),
                not_listed(ZIP),
            ),
            (
                "as third field",
                format!("{}  x {ZIP}\n", hex('5')),
                not_listed(ZIP),
            ),
            ("name alone", ZIP.to_owned(), not_listed(ZIP)),
            ("empty list", String::new(), not_listed(ZIP)),
        ];
        for (name, document, expected) in cases {
            let list = Shasums::parse(document.as_bytes()).expect("small");
            assert_eq!(list.digest_of(ZIP), expected, "{name}");
        }
    }

    #[test]
    fn a_checksum_that_is_too_short_or_no_hex_is_unreadable() {
        for found in ["00", "zz", &format!("{}0", hex('0'))] {
            let list = Shasums::parse(format!("{found} {ZIP}").as_bytes()).expect("small");
            let expected = ShasumsError::UnreadableChecksum {
                filename: ZIP.to_owned(),
                found: found.to_owned(),
            };
            assert_eq!(list.digest_of(ZIP), Err(expected));
        }
    }

    #[test]
    fn zips_are_told_from_manifests() {
        let list = Shasums::parse(list().as_bytes()).expect("small");
        let digits: Vec<_> = list
            .zip_hashes()
            .iter()
            .map(|hash| hash.to_string().remove(3))
            .collect();
        assert_eq!(digits, ['0', '1']);
        let both = format!("{0} a.json\n{0} a.zip\n{0} b.json\n", hex('7'));
        let list = Shasums::parse(both.as_bytes()).expect("small");
        assert_eq!(
            list.zip_hashes().len(),
            1,
            "a digest under two names is a zip if one of them is"
        );
    }

    #[test]
    fn bytes_that_are_no_utf8_count_by_their_length() {
        let line = [hex('7').as_bytes(), b"  \xff\xfe\xe9.zip extra\n"].concat();
        let list = Shasums::parse(&line).expect("small");
        assert_eq!(
            list.zip_hashes().len(),
            1,
            "the second field ends where white space begins"
        );
    }

    #[test]
    fn a_list_is_readable_if_every_line_is() {
        let readable = |document: String| {
            Shasums::parse(document.as_bytes())
                .expect("small")
                .is_readable()
        };
        assert!(readable(list()));
        assert!(!readable(format!("{}{}", list(), hex('3'))));
        assert!(!readable(format!("{}{}", list(), "x".repeat(65_536))));
        assert!(!readable(String::new()));
    }

    #[test]
    fn a_list_over_the_limit_is_refused() {
        let size = MAX_SHASUMS_BYTES + 1;
        assert_eq!(
            Shasums::parse(&vec![b'\n'; size]),
            Err(ShasumsError::TooLarge { size })
        );
        assert!(Shasums::parse(&vec![b'\n'; MAX_SHASUMS_BYTES]).is_ok());
    }
}
