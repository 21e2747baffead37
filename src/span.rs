//! Places in text files: byte ranges and what they mean to a person.
//!
//! A [`Span`] is cheap and goes with parsed values; a [`Place`] is made from it when something is to be reported, and owns
//! all that a report shows: path, line, column and the source line.

use std::borrow::Cow;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

/// A half-open byte range of one file's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The range from `start` up to and without `end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The smallest span that holds both.
    pub fn to(self, other: Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

/// Where something stands in a file, with the source line for the report. Lines and columns count from 1; columns count
/// characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file as the user would name it.
    pub path: PathBuf,
    /// Line, from 1; 0 when the whole file is meant.
    pub line: usize,
    /// Column in characters, from 1; 0 when the whole file is meant.
    pub column: usize,
    /// The source line without its line ending, if it is known.
    pub source_line: Option<String>,
    /// How many characters are marked from `column` on, at least 1 where a source line is shown.
    pub width: usize,
}

/// Source lines longer than this many characters are not shown: a report is no place for a minified file.
const MAX_SOURCE_LINE: usize = 400;

impl Place {
    /// The file as a whole.
    pub fn file(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
            line: 0,
            column: 0,
            source_line: None,
            width: 0,
        }
    }

    /// The same, where the source line has nothing to tell.
    pub fn without_source(&self) -> Self {
        Self {
            source_line: None,
            ..self.clone()
        }
    }

    /// The place of `span` in `text`, the content of `path`. Offsets past the end mean the end; offsets inside a
    /// character mean its start.
    pub fn in_text(path: &Path, text: &[u8], span: Span) -> Self {
        let start = span.start.min(text.len());
        let line_start = memchr::memrchr(b'\n', &text[..start]).map_or(0, |at| at + 1);
        let line_end = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |at| start + at);
        let line = memchr::memchr_iter(b'\n', &text[..line_start]).count() + 1;
        let full = text[line_start..line_end]
            .strip_suffix(b"\r")
            .unwrap_or(&text[line_start..line_end]);
        let before = String::from_utf8_lossy(&text[line_start..start]);
        let marked_end = span.end.clamp(start, line_end);
        let marked = String::from_utf8_lossy(&text[start..marked_end]);
        let source_line = String::from_utf8_lossy(full).into_owned();
        Self {
            path: path.to_path_buf(),
            line,
            column: before.trim_start_matches('\u{feff}').chars().count() + 1,
            width: marked.chars().count().max(1),
            source_line: (source_line.chars().count() <= MAX_SOURCE_LINE)
                .then(|| source_line.trim_start_matches('\u{feff}').to_owned()),
        }
    }
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

/// A path as messages name it: with `/` on every system, and harmless.
pub fn shown_path(path: &Path) -> String {
    let text = path.to_string_lossy();
    visible_name(&text.replace(MAIN_SEPARATOR, "/")).into_owned()
}

/// The name of a file or directory, made harmless for a terminal and a log: names are chosen by whoever wrote the tree, and
/// neither steer the terminal, nor begin lines of their own, nor turn around what is read.
pub fn visible_name(name: &str) -> Cow<'_, str> {
    if !name.contains(is_deceptive) {
        return Cow::Borrowed(name);
    }
    let mut shown = String::with_capacity(name.len());
    for character in name.chars() {
        if is_deceptive(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Whether a character is none to be read: control characters, separators of lines, those that change the direction of text, and
/// those that cannot be seen. They hide what a name really says.
pub fn is_deceptive(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{17b4}'
                | '\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e00ff}'
                | '\u{e01f0}'..='\u{e0fff}'
        )
}

/// An error that can say more than its message: where it stands, and what may help.
///
/// The text of the error (`Display`) says what could not be done; its `source` chain says why.
pub trait Explain: std::error::Error + Send + Sync + 'static {
    /// What kind of trouble it is, for programs that read reports: a stable name in kebab case.
    fn code(&self) -> &'static str {
        "failure"
    }

    /// The place in a file that the error is about.
    fn place(&self) -> Option<&Place> {
        None
    }

    /// Whether its text, causes and hint can quote the file that it stands in.
    fn quotes_file(&self) -> bool {
        true
    }

    /// A sentence that says what to do next, offered only where it is likely to be right.
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
    fn a_byte_order_mark_is_no_column() {
        assert_eq!(place("\u{feff}x", 3, 4).column, 1);
    }

    #[test]
    fn offsets_past_the_end_mean_the_end() {
        assert_eq!(place("ab\n", 99, 120).to_string(), "a.tf:2:1");
        assert_eq!(place("", 0, 0).to_string(), "a.tf:1:1");
    }
}
