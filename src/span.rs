//! Positions in text files, as byte ranges and as lines and columns.
//!
//! A [`Span`] is small and is stored with parsed values. A [`Place`] is computed from a span for a report, and owns everything
//! that the report shows: path, line, column and source line.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::code::Code;
use crate::display::shown_path;

/// A half-open byte range of one file's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    pub start: usize,
    /// The offset after the last byte.
    pub end: usize,
}

impl Span {
    /// Creates the range from `start` up to, but not including, `end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// Returns the smallest range that contains both ranges.
    pub fn to(self, other: Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

/// A position in a file, with the source line for reports.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The path of the file, as the user would write it.
    pub path: PathBuf,
    /// The line, counted from 1. 0 refers to the whole file.
    pub line: usize,
    /// The column in characters, counted from 1. 0 refers to the whole file.
    pub column: usize,
    /// The source line without its line ending. `None` if it is unknown, too long, or must not be shown.
    pub source_line: Option<String>,
    /// The number of characters to mark, starting at `column`. At least 1 if there is a source line.
    pub width: usize,
}

/// The maximum length of a source line in reports, in characters. Longer lines, as in minified files, are not shown.
const MAX_SOURCE_LINE: usize = 400;

impl Place {
    pub fn file(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
            line: 0,
            column: 0,
            source_line: None,
            width: 0,
        }
    }

    /// Returns the same position without its source line.
    pub fn without_source(&self) -> Self {
        Self {
            source_line: None,
            ..self.clone()
        }
    }

    /// Computes the position of `span` in `text`, the content of `path`. Offsets past the end of the text are treated as its end.
    pub fn in_text(path: &Path, text: &[u8], span: Span) -> Self {
        let start = span.start.min(text.len());
        let line_start = memchr::memrchr(b'\n', &text[..start]).map_or(0, |at| at + 1);
        let line_end = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |at| start + at);
        let before = String::from_utf8_lossy(&text[line_start..start]);
        Self {
            line: memchr::memchr_iter(b'\n', &text[..line_start]).count() + 1,
            column: before.trim_start_matches(MARK).chars().count() + 1,
            ..Self::in_line(path, text, span, line_start..line_end)
        }
    }

    /// Like [`Place::in_text`], but faster for many positions in one text: the first call stores an index of its lines in
    /// `lines`.
    pub fn indexed(lines: &OnceLock<Lines>, path: &Path, text: &[u8], span: Span) -> Self {
        if text.len() <= SHORT_TEXT {
            return Self::in_text(path, text, span);
        }
        let lines = lines.get_or_init(|| Lines::new(text));
        lines.place(path, text, span)
    }

    /// Computes the fields that depend only on the line, which is at `range`. `line` and `column` stay 0.
    fn in_line(path: &Path, text: &[u8], span: Span, range: Range<usize>) -> Self {
        let start = span.start.min(text.len());
        let marked = &text[start..span.end.clamp(start, range.end)];
        let line = &text[range];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let source_line = (line.len() <= MAX_SOURCE_LINE * MAX_CHARACTER)
            .then(|| String::from_utf8_lossy(line))
            .filter(|line| line.chars().count() <= MAX_SOURCE_LINE);
        Self {
            path: path.to_path_buf(),
            line: 0,
            column: 0,
            width: String::from_utf8_lossy(marked).chars().count().max(1),
            source_line: source_line.map(|line| line.trim_start_matches(MARK).to_owned()),
        }
    }
}

/// The length, in bytes, up to which counting the lines for each position is faster than building an index.
const SHORT_TEXT: usize = 16 << 10;

/// The byte order mark, which does not count as a column.
const MARK: char = '\u{feff}';

/// The maximum length of a character in UTF-8, in bytes.
const MAX_CHARACTER: usize = 4;

/// An index of the lines and characters of a text. With it, the time to compute a position does not depend on the length of the
/// text or of its lines.
#[derive(Clone, Debug)]
pub struct Lines {
    /// The offset at which each line starts.
    starts: Vec<usize>,
    /// The number of characters that begin before each multiple of [`STEP`] bytes.
    characters: Vec<usize>,
}

/// The distance between indexed character counts, in bytes.
const STEP: usize = 1024;

impl Lines {
    pub fn new(text: &[u8]) -> Self {
        let ends = memchr::memchr_iter(b'\n', text).map(|at| at + 1);
        let mut before = 0;
        let counted = text.chunks(STEP).map(|chunk| {
            let first = before;
            before += count_characters(chunk);
            first
        });
        Self {
            characters: counted.collect(),
            starts: std::iter::once(0).chain(ends).collect(),
        }
    }

    /// Computes the same position as [`Place::in_text`]. `text` must be the indexed text.
    pub fn place(&self, path: &Path, text: &[u8], span: Span) -> Place {
        let start = span.start.min(text.len());
        let line = self.starts.partition_point(|begin| *begin <= start);
        let line_start = self.starts[line - 1];
        let line_end = self.starts.get(line).map_or(text.len(), |next| next - 1);
        let marks = text[line_start..start].chunks(MARK.len_utf8());
        let marks = marks.take_while(|bytes| *bytes == MARK.encode_utf8(&mut [0; 4]).as_bytes());
        let characters = self.characters_before(text, start)
            - self.characters_before(text, line_start)
            - marks.count();
        Place {
            line,
            column: characters + 1,
            ..Place::in_line(path, text, span, line_start..line_end)
        }
    }

    fn characters_before(&self, text: &[u8], at: usize) -> usize {
        // If the length of the text is a multiple of `STEP`, there is no count for its end.
        let step = (at / STEP).min(self.characters.len().saturating_sub(1));
        let counted = self.characters.get(step).copied().unwrap_or(0);
        counted + count_characters(&text[step * STEP..at])
    }
}

/// Counts the characters that begin in `text`, which may start in the middle of a character.
fn count_characters(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&shown_path(&self.path))?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        Ok(())
    }
}

/// An error with a code and, if available, a position in a file and a hint.
///
/// The message (`Display`) says what could not be done, and its `source` chain says why.
pub trait Explain: std::error::Error + Send + Sync + 'static {
    fn code(&self) -> Code {
        Code::Failure
    }

    /// Returns the position in the file that caused the error.
    fn place(&self) -> Option<&Place> {
        None
    }

    /// Whether the message, the causes or the hint may contain text from the file in [`Explain::place`].
    fn quotes_file(&self) -> bool {
        true
    }

    /// Returns a suggestion for the user, if it is likely to solve the problem.
    fn hint(&self) -> Option<String> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str, start: usize, end: usize) -> Place {
        Place::in_text(Path::new("a.tf"), text.as_bytes(), Span::new(start, end))
    }

    #[test]
    fn lines_and_columns_count_from_one_and_in_characters() {
        let text = "é = 1\r\nb = é!\n";
        assert_eq!(place(text, 0, 2).to_string(), "a.tf:1:1");
        let second = place(text, text.find('!').expect("in text"), text.len());
        assert_eq!((second.line, second.column, second.width), (2, 6, 1));
        assert_eq!(second.source_line.as_deref(), Some("b = é!"));
    }

    #[test]
    fn a_byte_order_mark_is_not_a_column() {
        assert_eq!(place("\u{feff}x", 3, 4).column, 1);
    }

    #[test]
    fn an_index_of_lines_gives_the_same_places() {
        let long = "é".repeat(2 * STEP) + "x";
        let texts = [
            "",
            "\n",
            "a\r\nbé\n\n x",
            "\u{feff}\u{feff}é x\ny\n",
            &long,
            &format!("{long}\n{long}\r\n{long}"),
        ];
        for text in texts {
            let lines = Lines::new(text.as_bytes());
            let ends = text.char_indices().map(|(at, _)| at);
            for start in ends.chain([text.len(), text.len() + 9]) {
                for width in [0, 1, 2, 9_999] {
                    let span = Span::new(start, start + width);
                    let found = lines.place(Path::new("a.tf"), text.as_bytes(), span);
                    assert_eq!(found, place(text, start, start + width), "{start} {width}");
                }
            }
        }
    }

    /// If the time to compute a place grew with the length of the text or of the line, this test would take minutes.
    #[test]
    fn many_places_in_one_text_are_found() {
        const PLACES: usize = 40_000;
        for separator in [" ", "\n"] {
            let text = format!("{:200}{separator}", "x").repeat(PLACES);
            let lines = Lines::new(text.as_bytes());
            for at in 0..PLACES {
                let span = Span::new(at * 201, at * 201 + 3);
                let place = lines.place(Path::new("a"), text.as_bytes(), span);
                let expected = if separator == " " {
                    (1, at * 201 + 1)
                } else {
                    (at + 1, 1)
                };
                assert_eq!((place.line, place.column), expected);
            }
        }
    }

    #[test]
    fn offsets_past_the_end_mean_the_end() {
        assert_eq!(place("ab\n", 99, 120).to_string(), "a.tf:2:1");
        assert_eq!(place("", 0, 0).to_string(), "a.tf:1:1");
    }
}
