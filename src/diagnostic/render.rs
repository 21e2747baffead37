//! Renders a diagnostic as text for people.
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

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use super::{Diagnostic, Severity};
use crate::display::{is_deceptive, shown_path};

/// The maximum length of a message, a cause or a hint, in characters. Only text that quotes remote input is longer.
const MAX_CHARACTERS: usize = 4_000;

impl Diagnostic {
    /// Renders the text for people, with a final newline. `styled` adds ANSI colors.
    pub fn render(&self, styled: bool) -> String {
        let paint = Paint { styled };
        let color = match self.severity {
            Severity::Error => AnsiColor::Red,
            Severity::Warning => AnsiColor::Yellow,
            Severity::Notice => AnsiColor::Green,
        };
        let mut text = format!(
            "{}: {}\n",
            paint.bold(color, self.severity.name()),
            paint.with(Style::new().bold(), &escape(&self.message))
        );
        self.render_place(paint, &mut text);
        for cause in &self.causes {
            let _ = writeln!(text, "  caused by: {}", escape(cause));
        }
        if let Some(hint) = &self.hint {
            let _ = write!(
                text,
                "\n{}: {}\n",
                paint.bold(AnsiColor::Cyan, "hint"),
                escape(hint)
            );
        }
        text
    }

    fn render_place(&self, paint: Paint, text: &mut String) {
        let blue = |text: &str| paint.bold(AnsiColor::Blue, text);
        let more = match self.directories.len().saturating_sub(1) {
            0 => String::new(),
            1 => ", and 1 more directory".to_owned(),
            n => format!(", and {n} more directories"),
        };
        let Some(place) = &self.place else {
            if let Some(first) = self.directories.first() {
                let _ = writeln!(text, " {} {}{more}", blue("-->"), shown_path(first));
            }
            return;
        };
        let _ = writeln!(text, " {} {place}{more}", blue("-->"));
        let Some(source_line) = &place.source_line else {
            return;
        };
        let number = place.line.to_string();
        let margin = " ".repeat(number.len());
        let bar = blue("|");
        let lead: String = source_line
            .chars()
            .take(place.column.saturating_sub(1))
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        let marks = "^".repeat(place.width.max(1));
        let _ = writeln!(text, "{margin} {bar}");
        let _ = writeln!(text, "{} {bar} {}", blue(&number), escape(source_line));
        let _ = writeln!(text, "{margin} {bar} {lead}{}", blue(&marks));
    }
}

/// Escapes text that may quote untrusted registries, archives and files. The result cannot control the terminal or change the
/// text direction. All lines after the first are indented, and the length is limited.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len().min(MAX_CHARACTERS));
    for character in text.chars().take(MAX_CHARACTERS) {
        match character {
            '\n' => escaped.push_str("\n    "),
            '\t' => escaped.push('\t'),
            deceptive if is_deceptive(deceptive) => escaped.extend(deceptive.escape_unicode()),
            other => escaped.push(other),
        }
    }
    if text.chars().nth(MAX_CHARACTERS).is_some() {
        escaped.push_str("...");
    }
    escaped
}

#[derive(Clone, Copy)]
struct Paint {
    styled: bool,
}

impl Paint {
    fn bold(self, color: AnsiColor, text: &str) -> String {
        self.with(color.on_default().bold(), text)
    }

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
    use super::super::samples::diagnostic;
    use super::*;
    use crate::span::{Place, Span};
    use std::path::Path;

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
        assert_eq!(diagnostic(Some(place), "queue").render(false), expected);
    }

    #[test]
    fn colors_only_if_requested() {
        assert!(diagnostic(None, "a").render(true).contains("\u{1b}["));
        assert!(!diagnostic(None, "a").render(false).contains('\u{1b}'));
    }

    #[test]
    fn quoted_text_is_harmless() {
        for (text, expected) in [
            ("bücher\tx", "bücher\tx"),
            ("\u{1b}[31mred\u{7}", "\\u{1b}[31mred\\u{7}"),
            ("\u{9b}2J\u{7f}\r", "\\u{9b}2J\\u{7f}\\u{d}"),
            ("moc.\u{202e}live", "moc.\\u{202e}live"),
            ("a\nerror: b", "a\n    error: b"),
        ] {
            assert_eq!(escape(text), expected);
        }
        let long = "x".repeat(MAX_CHARACTERS + 1);
        assert_eq!(escape(&long).len(), MAX_CHARACTERS + 3);
        assert_eq!(escape(&long[1..]), long[1..]);
    }
}
