//! Failures and notes as text: the message, its place with the source line, the causes, and what to do next.
//!
//! ```text
//! error: cannot read version constraint `>= 1.2, ~> 3.x.y`
//!  --> modules/queue/versions.tf:8:26, and 3 more directories
//!   |
//! 8 |       version = ">= 1.2, ~> 3.x.y"
//!   |                          ^^^^^^^^
//!   caused by: `~>` needs a number in every part
//!
//! hint: ...
//! ```

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};

use crate::access::leaves_repository;
use crate::span::{Explain, Place, is_deceptive, shown_path};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something could not be done.
    Error,
    /// Something the user should know.
    Warning,
}

/// One failure or warning, ready to be shown, and every directory it was met in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What kind it is, for programs: a stable name in kebab case.
    pub code: &'static str,
    /// What could not be done, or what should be known.
    pub message: String,
    /// Why, from the nearest cause to the last.
    pub causes: Vec<String>,
    /// What to do next.
    pub hint: Option<String>,
    /// Where it stands.
    pub place: Option<Place>,
    /// The directories that it was met in.
    pub directories: BTreeSet<PathBuf>,
}

impl Diagnostic {
    /// What `error` says of itself, met while working on `directory`. What a link reaches outside of the repository is not
    /// quoted.
    pub fn of(error: &dyn Explain, directory: &Path) -> Self {
        let told = Self {
            severity: Severity::Error,
            code: error.code(),
            message: error.to_string(),
            causes: causes_of(error),
            hint: error.hint(),
            place: error.place().cloned(),
            directories: BTreeSet::from([directory.to_path_buf()]),
        };
        match error.place().filter(|place| is_foreign(place)) {
            Some(place) => told.without_quotes(place, error.quotes_file()),
            None => told,
        }
    }

    /// The same without the source line, and without all other text of the file if there is any.
    fn without_quotes(self, place: &Place, in_words: bool) -> Self {
        let told = Self {
            place: Some(place.without_source()),
            ..self
        };
        if !in_words {
            return told;
        }
        let file = place.path.file_name().unwrap_or_default();
        Self {
            message: format!("`{}` is invalid", file.to_string_lossy()),
            causes: vec![
                "a link leads to it outside of the repository, so it is not quoted".to_owned(),
            ],
            hint: None,
            ..told
        }
    }

    /// An error that belongs to no directory.
    pub fn general(error: &dyn Explain) -> Self {
        Self {
            directories: BTreeSet::new(),
            ..Self::of(error, Path::new(""))
        }
    }

    /// What went wrong outside of any directory, told as a warning: the run goes on.
    pub fn caution(error: &impl Explain) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::general(error)
        }
    }

    /// An error of which nothing but its chain of causes is known.
    pub fn chain(error: &(dyn Error + 'static)) -> Self {
        Self {
            severity: Severity::Error,
            code: "failure",
            message: error.to_string(),
            causes: causes_of(error),
            hint: None,
            place: None,
            directories: BTreeSet::new(),
        }
    }

    /// A warning met while working on `directory`, if it belongs to one.
    pub fn warning(
        code: &'static str,
        message: impl Into<String>,
        directory: Option<&Path>,
    ) -> Self {
        Self {
            severity: Severity::Warning,
            code,
            message: message.into(),
            causes: Vec::new(),
            hint: None,
            place: None,
            directories: directory.map(Path::to_path_buf).into_iter().collect(),
        }
    }

    /// The same as a warning.
    pub fn into_warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// The same, standing there.
    pub fn at(self, place: Option<Place>) -> Self {
        let quoted = |place: Place| {
            if is_foreign(&place) {
                place.without_source()
            } else {
                place
            }
        };
        Self {
            place: place.map(quoted),
            ..self
        }
    }

    /// Whether something could not be done.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// What diagnostics of the same cause have in common.
    fn cause(&self) -> (Severity, String, Vec<String>, Option<String>) {
        let (message, causes) = (self.message.clone(), self.causes.clone());
        (self.severity, message, causes, self.hint.clone())
    }

    /// The text for a person, with a final newline. `styled` adds ANSI colors.
    pub fn render(&self, styled: bool) -> String {
        let paint = Paint { styled };
        let (label, style) = match self.severity {
            Severity::Error => ("error", AnsiColor::Red.on_default().bold()),
            Severity::Warning => ("warning", AnsiColor::Yellow.on_default().bold()),
        };
        let mut text = format!(
            "{}: {}\n",
            paint.with(style, label),
            paint.with(Style::new().bold(), &visible(&self.message))
        );
        self.render_place(paint, &mut text);
        for cause in &self.causes {
            let _ = writeln!(text, "  caused by: {}", visible(cause));
        }
        if let Some(hint) = &self.hint {
            let style = AnsiColor::Cyan.on_default().bold();
            let hint = visible(hint);
            let _ = write!(text, "\n{}: {hint}\n", paint.with(style, "hint"));
        }
        text
    }

    fn render_place(&self, paint: Paint, text: &mut String) {
        let blue = AnsiColor::Blue.on_default().bold();
        let more = match self.directories.len().saturating_sub(1) {
            0 => String::new(),
            1 => ", and 1 more directory".to_owned(),
            n => format!(", and {n} more directories"),
        };
        let Some(place) = &self.place else {
            if let Some(first) = self.directories.first() {
                let first = shown(first);
                let _ = writeln!(text, " {} {first}{more}", paint.with(blue, "-->"));
            }
            return;
        };
        let _ = writeln!(text, " {} {place}{more}", paint.with(blue, "-->"));
        let Some(source_line) = &place.source_line else {
            return;
        };
        let number = place.line.to_string();
        let margin = " ".repeat(number.len());
        let bar = paint.with(blue, "|");
        let lead: String = source_line
            .chars()
            .take(place.column.saturating_sub(1))
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        let marks = "^".repeat(place.width.max(1));
        let _ = writeln!(text, "{margin} {bar}");
        let source_line = visible(source_line);
        let _ = writeln!(text, "{} {bar} {source_line}", paint.with(blue, &number));
        let _ = writeln!(text, "{margin} {bar} {lead}{}", paint.with(blue, &marks));
    }
}

/// Whether a place in a file is in one that a link reaches outside of the repository.
fn is_foreign(place: &Place) -> bool {
    thread_local! {
        /// The last file that was looked at: tens of thousands of places can be in one.
        static LAST: RefCell<Option<(PathBuf, bool)>> = const { RefCell::new(None) };
    }
    if place.line == 0 {
        return false;
    }
    LAST.with_borrow_mut(|last| match last {
        Some((path, is_foreign)) if *path == place.path => *is_foreign,
        _ => {
            let is_foreign = leaves_repository(&place.path);
            *last = Some((place.path.clone(), is_foreign));
            is_foreign
        }
    })
}

/// No message needs more characters, bar those that quote what strangers sent.
const MAX_SHOWN: usize = 4_000;

/// A text that may quote registries, archives and files of strangers, made harmless: it neither steers the terminal nor
/// turns around what is read, plays no line of its own, and has an end.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len().min(MAX_SHOWN));
    for character in text.chars().take(MAX_SHOWN) {
        match character {
            '\n' => shown.push_str("\n    "),
            '\t' => shown.push('\t'),
            deceptive if is_deceptive(deceptive) => {
                shown.extend(deceptive.escape_unicode());
            }
            other => shown.push(other),
        }
    }
    if text.chars().nth(MAX_SHOWN).is_some() {
        shown.push_str("...");
    }
    shown
}

/// A directory as a person writes it: never empty.
fn shown(directory: &Path) -> String {
    if directory.as_os_str().is_empty() {
        ".".to_owned()
    } else {
        shown_path(directory)
    }
}

fn causes_of(error: &dyn Error) -> Vec<String> {
    std::iter::successors(error.source(), |cause| (*cause).source())
        .map(ToString::to_string)
        .collect()
}

/// Makes one diagnostic of all that have the same cause, and sorts them by the first directory they were met in. Errors
/// in one file that several directories reach are one as well.
pub fn merge(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut merged: Vec<Diagnostic> = Vec::new();
    let mut known = BTreeMap::new();
    for diagnostic in diagnostics {
        match known.entry(diagnostic.cause()) {
            Entry::Occupied(at) => {
                let same: &mut Diagnostic = &mut merged[*at.get()];
                same.directories.extend(diagnostic.directories);
            }
            Entry::Vacant(entry) => {
                entry.insert(merged.len());
                merged.push(diagnostic);
            }
        }
    }
    merged.sort_by(|a, b| {
        (a.severity, &a.directories, &a.place).cmp(&(b.severity, &b.directories, &b.place))
    });
    merged
}

#[derive(Clone, Copy)]
struct Paint {
    styled: bool,
}

impl Paint {
    fn with(self, style: Style, text: &str) -> String {
        if self.styled {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::Span;

    #[derive(Debug, thiserror::Error)]
    #[error("`~>` needs a number in every part")]
    struct Cause;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot read version constraint `>= 1.2, ~> 3.x.y`")]
    struct Sample {
        place: Option<Place>,
        source: Cause,
    }

    impl Explain for Sample {
        fn place(&self) -> Option<&Place> {
            self.place.as_ref()
        }

        fn hint(&self) -> Option<String> {
            Some("write a number.".to_owned())
        }
    }

    fn sample(place: Option<Place>, directory: &str) -> Diagnostic {
        Diagnostic::of(
            &Sample {
                place,
                source: Cause,
            },
            Path::new(directory),
        )
    }

    #[test]
    fn an_error_shows_place_line_cause_and_hint() {
        let text = b"terraform {\n\tversion = \">= 1.2, ~> 3.x.y\"\n}\n";
        let place = Place::in_text(Path::new("queue/versions.tf"), text, Span::new(32, 40));
        let expected = "\
error: cannot read version constraint `>= 1.2, ~> 3.x.y`
 --> queue/versions.tf:2:21
  |
2 | \tversion = \">= 1.2, ~> 3.x.y\"
  | \t                   ^^^^^^^^
  caused by: `~>` needs a number in every part

hint: write a number.
";
        assert_eq!(sample(Some(place), "queue").render(false), expected);
    }

    #[test]
    fn equal_causes_are_one_message_that_counts_directories() {
        let merged = merge(vec![
            sample(None, "c"),
            sample(None, "a"),
            sample(None, "b"),
        ]);
        assert_eq!(merged.len(), 1);
        let text = merged[0].render(false);
        assert!(text.contains(" --> a, and 2 more directories\n"), "{text}");
    }

    #[test]
    fn colors_only_where_asked() {
        assert!(sample(None, "a").render(true).contains("\u{1b}["));
        assert!(!sample(None, "a").render(false).contains('\u{1b}'));
    }

    #[test]
    fn texts_of_strangers_are_harmless() {
        for (text, expected) in [
            ("bücher\tx", "bücher\tx"),
            ("\u{1b}[31mred\u{7}", "\\u{1b}[31mred\\u{7}"),
            ("\u{9b}2J\u{7f}\r", "\\u{9b}2J\\u{7f}\\u{d}"),
            ("moc.\u{202e}live", "moc.\\u{202e}live"),
            ("a\nerror: b", "a\n    error: b"),
        ] {
            assert_eq!(visible(text), expected);
        }
        let long = "x".repeat(MAX_SHOWN + 1);
        assert_eq!(visible(&long).len(), MAX_SHOWN + 3);
        assert_eq!(visible(&long[1..]), long[1..]);
    }
}
