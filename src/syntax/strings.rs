//! The literal text of strings and heredocs: where it ends, what it may contain, and its escape sequences.

use crate::span::Span;

use super::error::{SyntaxFault, SyntaxProblem};
use super::lexer::character;

/// Returns the length of the literal text at the start of `text`. It ends at `${`, at `%{` or at the end of `text`. In a `quoted`
/// string, it also ends at the closing quote. In a heredoc or bare template, it also ends after a newline. `at` is the offset of `text`
/// in the file.
pub(super) fn literal_length(text: &[u8], at: usize, quoted: bool) -> Result<usize, SyntaxFault> {
    let mut length = 0;
    let fault = |start: usize, width: usize, problem: SyntaxProblem| {
        Err(problem.at(Span::new(at + start, at + start + width)))
    };
    while let Some(&byte) = text.get(length) {
        let rest = &text[length..];
        length += match byte {
            b'"' if quoted => break,
            b'\\' if quoted => match escape(rest) {
                Some((_, width)) => width,
                None => return fault(length, 2, SyntaxProblem::InvalidEscape),
            },
            b'$' | b'%' => match sequence(rest) {
                Sequence::Begins => break,
                Sequence::Escaped => 3,
                Sequence::None => 1,
            },
            b'\n' | b'\r' if quoted => return fault(length, 1, SyntaxProblem::MultiLineString),
            b'\n' => return Ok(length + 1),
            b'\r' if rest.starts_with(b"\r\n") => return Ok(length + 2),
            b'\r' => return fault(length, 1, SyntaxProblem::InvalidCharacter('\r')),
            0x80.. => match character(rest) {
                Some((_, width)) => width,
                None => return fault(length, 1, SyntaxProblem::InvalidEncoding),
            },
            _ => 1,
        };
    }
    Ok(length)
}

enum Sequence {
    /// `${` or `%{`.
    Begins,
    /// `$${` or `%%{`.
    Escaped,
    None,
}

fn sequence(text: &[u8]) -> Sequence {
    match text {
        [_, b'{', ..] => Sequence::Begins,
        [first, second, b'{', ..] if first == second => Sequence::Escaped,
        _ => Sequence::None,
    }
}

/// Returns the character of the backslash sequence at the start of `text`, and the length of the sequence in bytes.
fn escape(text: &[u8]) -> Option<(char, usize)> {
    Some(match text.get(1)? {
        b'n' => ('\n', 2),
        b'r' => ('\r', 2),
        b't' => ('\t', 2),
        b'"' => ('"', 2),
        b'\\' => ('\\', 2),
        b'u' => (hexadecimal(text.get(2..6)?)?, 6),
        b'U' => (hexadecimal(text.get(2..10)?)?, 10),
        _ => return None,
    })
}

fn hexadecimal(digits: &[u8]) -> Option<char> {
    let number = digits.iter().try_fold(0_u32, |number, &digit| {
        Some((number << 4) | char::from(digit).to_digit(16)?)
    });
    number.and_then(char::from_u32)
}

/// Replaces the escape sequences in literal text: `$${` and `%%{`, and in quoted strings also backslash sequences. The text
/// must have been accepted by [`literal_length`].
pub(super) fn decode(text: &[u8], quoted: bool) -> String {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(&byte) = rest.first() {
        let width = match byte {
            b'\\' if quoted => match escape(rest) {
                Some((letter, width)) => {
                    decoded.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                    width
                }
                None => 1,
            },
            b'$' | b'%' if matches!(sequence(rest), Sequence::Escaped) => {
                decoded.extend_from_slice(&[byte, b'{']);
                3
            }
            _ => {
                decoded.push(byte);
                1
            }
        };
        rest = &rest[width..];
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_ends_at_the_quote_or_a_sequence() {
        for (text, length) in [
            ("abc\" d", 3),
            ("a${b}", 1),
            ("a%{if", 1),
            ("$${a}\"", 5),
            ("$$${a}\"", 6), // a dollar sign, then an escaped `${`
            ("a$\"", 2),
            ("50% \"", 4),
            (r#"\"\\\n\u00e9\U0001F600""#, 22),
            ("", 0),
        ] {
            assert_eq!(
                literal_length(text.as_bytes(), 0, true),
                Ok(length),
                "{text}"
            );
        }
    }

    #[test]
    fn invalid_characters_in_quoted_strings() {
        for (text, problem) in [
            ("a\nb", SyntaxProblem::MultiLineString),
            ("a\rb", SyntaxProblem::MultiLineString),
            (r"\x", SyntaxProblem::InvalidEscape),
            (r"\u12", SyntaxProblem::InvalidEscape),
            (r"\ud800", SyntaxProblem::InvalidEscape),
            (r"\U00110000", SyntaxProblem::InvalidEscape),
            (r"\", SyntaxProblem::InvalidEscape),
        ] {
            let found = literal_length(text.as_bytes(), 0, true).expect_err(text);
            assert_eq!(found.problem, problem, "{text}");
        }
        let found = literal_length(b"a\xff", 7, true).expect_err("not UTF-8");
        assert_eq!(
            (found.problem, found.span.start),
            (SyntaxProblem::InvalidEncoding, 8)
        );
    }

    #[test]
    fn meaning_of_literal_text() {
        for (text, quoted, meaning) in [
            (r"a\n\t\\", true, "a\n\t\\"),
            (r"a\n", false, r"a\n"),
            ("$${a} %%{b}", true, "${a} %{b}"),
            ("$$ $$$", true, "$$ $$$"),
            (r"\u00e9\U0001F600", true, "é😀"),
        ] {
            assert_eq!(decode(text.as_bytes(), quoted), meaning, "{text}");
        }
    }

    #[test]
    fn lines_end_with_their_newline() {
        assert_eq!(literal_length(b"ab\ncd", 0, false), Ok(3));
        assert_eq!(literal_length(b"ab\r\ncd", 0, false), Ok(4));
        assert_eq!(literal_length(b"\"\\x${", 0, false), Ok(3));
        assert!(literal_length(b"a\rb", 0, false).is_err());
    }
}
