//! Escapes text that a CI system would execute as a command.
//!
//! CI systems scan the stdout and stderr of a program for commands. GitHub Actions executes lines that begin with `::` after any
//! white space, and `##[` anywhere. Azure Pipelines executes `##vso[`, and `TeamCity` executes `##teamcity[`. Names in a
//! repository and responses from registries are untrusted, so tflock escapes these sequences in all text, on every system: the
//! second `:` becomes `\u{3a}`, and `[` becomes `\u{5b}`. Characters that control a terminal, and invisible characters, are
//! escaped too.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::iter::Peekable;
use std::str::CharIndices;

use crate::display::is_deceptive;

/// Escapes text for people. Color sequences are kept if the text is `styled`.
pub(crate) fn text(text: &str, styled: bool) -> Cow<'_, str> {
    let may_harm =
        |character: char| character != '\n' && character != '\t' && is_deceptive(character);
    if !text.contains(may_harm) && !text.contains(':') && !text.contains('#') {
        return Cow::Borrowed(text);
    }
    LogEscaper::new(text, styled).run()
}

/// Escapes a JSON document. Parsers still read the same strings, because the escapes are JSON escapes.
pub(crate) fn json(document: &str) -> Cow<'_, str> {
    if is_plain(document) && !document.contains("##") {
        return Cow::Borrowed(document);
    }
    let is_harmless = |(at, character): (usize, char)| {
        character == '\n' || !is_deceptive(character) && !opens_command(document, at, character)
    };
    let mut harmless = String::with_capacity(document.len() + 16);
    for (at, character) in document.char_indices() {
        if is_harmless((at, character)) {
            harmless.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _ = write!(harmless, "\\u{unit:04x}");
        }
    }
    Cow::Owned(harmless)
}

/// Returns whether text is printable ASCII. This check is fast, and almost all documents pass it.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'\n' | b' '..=b'~'))
}

/// Returns whether `character`, at byte `at` of `text`, is the bracket of `##[` or `##NAME[`.
fn opens_command(text: &str, at: usize, character: char) -> bool {
    if character != '[' {
        return false;
    }
    let mut before = text[..at]
        .chars()
        .rev()
        .filter(|character| !is_variation(*character))
        .skip_while(char::is_ascii_alphabetic);
    before.next() == Some('#') && before.next() == Some('#')
}

/// Returns whether a character is a variation selector. These have a legitimate use, so they are not escaped. They have no width,
/// and some text comparisons ignore them, so a command that contains them must still be recognized.
const fn is_variation(character: char) -> bool {
    matches!(character, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

struct LogEscaper<'a> {
    text: &'a str,
    rest: Peekable<CharIndices<'a>>,
    styled: bool,
    harmless: String,
    /// Whether the line contains only white space so far.
    at_start: bool,
}

impl<'a> LogEscaper<'a> {
    fn new(text: &'a str, styled: bool) -> Self {
        Self {
            text,
            rest: text.char_indices().peekable(),
            styled,
            harmless: String::with_capacity(text.len() + 16),
            at_start: true,
        }
    }

    fn run(mut self) -> Cow<'a, str> {
        while let Some((at, character)) = self.rest.next() {
            match character {
                '\n' => {
                    self.harmless.push('\n');
                    self.at_start = true;
                }
                '\t' => self.harmless.push('\t'),
                '\u{1b}' if self.styled && self.style(at) => {}
                ':' if self.at_start => self.colon(),
                _ if is_deceptive(character) || opens_command(self.text, at, character) => {
                    self.harmless.extend(character.escape_unicode());
                    self.at_start = false;
                }
                _ => {
                    self.harmless.push(character);
                    self.at_start &= character.is_whitespace() || is_variation(character);
                }
            }
        }
        Cow::Owned(self.harmless)
    }

    /// Writes the first `:` of a line, and escapes a second one directly after it.
    fn colon(&mut self) {
        self.harmless.push(':');
        self.at_start = false;
        while let Some((_, next)) = self.rest.next_if(|(_, next)| is_variation(*next)) {
            self.harmless.push(next);
        }
        if let Some((_, colon)) = self.rest.next_if(|(_, next)| *next == ':') {
            self.harmless.extend(colon.escape_unicode());
        }
    }

    /// Copies the color sequence `ESC [ NUMBERS m` at byte `at`. Returns whether there is one.
    fn style(&mut self, at: usize) -> bool {
        let Some(numbers) = self.text[at..].strip_prefix("\u{1b}[") else {
            return false;
        };
        let end = numbers.find(|character: char| !matches!(character, '0'..='9' | ';'));
        let Some(end) = end.filter(|end| numbers[*end..].starts_with('m')) else {
            return false;
        };
        let length = "\u{1b}[m".len() + end;
        let sequence = &self.text[at..at + length];
        self.harmless.push_str(sequence);
        for _ in 1..length {
            self.rest.next();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_escaped_and_nothing_else_changes() {
        for (given, expected) in [
            ("plain a::b # ## [x]", "plain a::b # ## [x]"),
            ("a: b\nc", "a: b\nc"),
            ("::error::x", ":\\u{3a}error::x"),
            (
                "x\n \t\u{2003}::set-env name=A::b",
                "x\n \t\u{2003}:\\u{3a}set-env name=A::b",
            ),
            (
                "\u{fe0f}:\u{fe0f}:error::",
                "\u{fe0f}:\u{fe0f}\\u{3a}error::",
            ),
            (": :x", ": :x"),
            ("a ##[error]b", "a ##\\u{5b}error]b"),
            ("####[x", "####\\u{5b}x"),
            ("#\u{fe00}#[x", "#\u{fe00}#\\u{5b}x"),
            (
                "##vso[a] ##teamcity[b] ## [c] ##a.b[c",
                "##vso\\u{5b}a] ##teamcity\\u{5b}b] ## [c] ##a.b[c",
            ),
            ("\r::error::x", "\\u{d}::error::x"),
            ("\u{ad}::error::x", "\\u{ad}::error::x"),
            ("a\u{2028}::b", "a\\u{2028}::b"),
            ("\u{1b}[1ma\u{7}", "\\u{1b}[1ma\\u{7}"),
        ] {
            assert_eq!(text(given, false), expected);
            // Escaping twice changes nothing.
            assert_eq!(text(expected, false), expected);
        }
    }

    #[test]
    fn only_colors_are_kept_in_styled_text() {
        for (given, expected) in [
            ("\u{1b}[1;31mred\u{1b}[0m", "\u{1b}[1;31mred\u{1b}[0m"),
            ("\u{1b}[1m ::x", "\u{1b}[1m :\\u{3a}x"),
            (
                "\u{1b}[2J\u{1b}]0;x\u{7}\u{1b}",
                "\\u{1b}[2J\\u{1b}]0;x\\u{7}\\u{1b}",
            ),
        ] {
            assert_eq!(text(given, true), expected);
        }
    }

    #[test]
    fn escaped_documents_have_the_same_content() {
        let harmful = "::error::x\n##[y] ##vso[z] \u{7f}\u{202e}\u{e0041}\u{9b} ä";
        let document = serde_json::to_string_pretty(&[harmful]).unwrap();
        let shown = json(&document);
        assert!(
            !shown.contains("##[") && !shown.contains("##vso["),
            "{shown}"
        );
        assert!(
            !shown
                .chars()
                .any(|character| character != '\n' && is_deceptive(character)),
            "{shown}"
        );
        let read: Vec<String> = serde_json::from_str(&shown).unwrap();
        assert_eq!(read, [harmful]);
    }
}
