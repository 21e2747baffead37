//! Splits HCL native syntax into tokens, except inside strings: <https://github.com/hashicorp/hcl/blob/main/hclsyntax/spec.md>.
//!
//! The parser requests one token at a time. The lexer recognizes only the start of strings and heredocs; the parser reads their
//! content ([`super::parser`]), because only the parser knows which `}` ends an interpolation. Comments are skipped, but the
//! newline that ends a `#` or `//` comment is a token.

use memchr::{memchr, memmem};

use crate::span::Span;

use super::error::{SyntaxFault, SyntaxProblem};

/// A token and its source range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// The end of the text.
    End,
    Newline,
    Identifier,
    /// A word that starts with a digit. The parser checks that it is a number.
    Number,
    /// The opening quote of a string.
    Quote,
    /// `<<WORD` or `<<-WORD` with the newline after it.
    Heredoc,
    OpenBrace,
    CloseBrace,
    /// `~}`, which trims the text after it.
    TrimCloseBrace,
    OpenBracket,
    CloseBracket,
    OpenParen,
    CloseParen,
    Equal,
    Colon,
    DoubleColon,
    Comma,
    Dot,
    Ellipsis,
    FatArrow,
    Question,
    Bang,
    Star,
    Slash,
    Percent,
    Plus,
    Minus,
    EqualTo,
    NotEqualTo,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    And,
    Or,
}

/// Splits `text` into tokens, starting at the offset `at`.
#[derive(Clone, Debug)]
pub(super) struct Lexer<'a> {
    pub(super) text: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Lexer<'a> {
    /// Reads the next token. At the end of the text, every call returns `End`.
    pub(super) fn token(&mut self) -> Result<Token, SyntaxFault> {
        self.skip_blanks();
        let start = self.at;
        let Some(&byte) = self.text.get(start) else {
            return Ok(self.emit(TokenKind::End, 0));
        };
        match byte {
            b'\n' => Ok(self.emit(TokenKind::Newline, 1)),
            b'\r' if self.rest().starts_with(b"\r\n") => Ok(self.emit(TokenKind::Newline, 2)),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => Ok(self.identifier()),
            b'0'..=b'9' => Ok(self.number()),
            b'"' => Ok(self.emit(TokenKind::Quote, 1)),
            0x80.. => self.unicode_identifier(),
            _ => self.symbol(byte),
        }
    }

    /// Returns the text from the current offset on.
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    fn emit(&mut self, kind: TokenKind, length: usize) -> Token {
        let span = Span::new(self.at, self.at + length);
        self.at = span.end;
        Token { kind, span }
    }

    /// Skips spaces, tabs and comments. Comments may contain any bytes, even invalid UTF-8.
    fn skip_blanks(&mut self) {
        loop {
            match self.rest() {
                [b' ' | b'\t', ..] => self.at += 1,
                [b'#', ..] | [b'/', b'/', ..] => {
                    let length = memchr(b'\n', self.rest());
                    self.at = length.map_or(self.text.len(), |length| self.at + length);
                }
                [b'/', b'*', tail @ ..] => match memmem::find(tail, b"*/") {
                    Some(length) => self.at += length + 4,
                    None => return,
                },
                _ => return,
            }
        }
    }

    fn identifier(&mut self) -> Token {
        let rest = self.rest();
        let length = identifier_length(rest);
        self.emit(TokenKind::Identifier, length)
    }

    fn unicode_identifier(&mut self) -> Result<Token, SyntaxFault> {
        match character(self.rest()) {
            Some((first, _)) if unicode_ident::is_xid_start(first) => Ok(self.identifier()),
            Some((first, width)) => Err(self.fault(width, SyntaxProblem::InvalidCharacter(first))),
            None => Err(self.fault(1, SyntaxProblem::InvalidEncoding)),
        }
    }

    fn fault(&self, length: usize, problem: SyntaxProblem) -> SyntaxFault {
        problem.at(Span::new(self.at, self.at + length))
    }

    /// Reads the longest run of digits, dots and exponents that does not end in a dot.
    fn number(&mut self) -> Token {
        let rest = self.rest();
        let mut length = 1;
        let mut whole = 1;
        loop {
            length += match &rest[length..] {
                [b'0'..=b'9' | b'.', ..] => 1,
                [b'e' | b'E', b'0'..=b'9', ..] => 2,
                [b'e' | b'E', b'+' | b'-', b'0'..=b'9', ..] => 3,
                _ => break,
            };
            if rest[length - 1] != b'.' {
                whole = length;
            }
        }
        self.emit(TokenKind::Number, whole)
    }

    fn symbol(&mut self, byte: u8) -> Result<Token, SyntaxFault> {
        let (kind, length) = match self.rest() {
            [b'=', b'=', ..] => (TokenKind::EqualTo, 2),
            [b'=', b'>', ..] => (TokenKind::FatArrow, 2),
            [b'!', b'=', ..] => (TokenKind::NotEqualTo, 2),
            [b'<', b'=', ..] => (TokenKind::LessOrEqual, 2),
            [b'>', b'=', ..] => (TokenKind::GreaterOrEqual, 2),
            [b'&', b'&', ..] => (TokenKind::And, 2),
            [b'|', b'|', ..] => (TokenKind::Or, 2),
            [b':', b':', ..] => (TokenKind::DoubleColon, 2),
            [b'.', b'.', b'.', ..] => (TokenKind::Ellipsis, 3),
            [b'~', b'}', ..] => (TokenKind::TrimCloseBrace, 2),
            [b'<', b'<', tail @ ..] if heredoc_introducer(tail).is_some() => (
                TokenKind::Heredoc,
                2 + heredoc_introducer(tail).unwrap_or(0),
            ),
            _ => (single(byte).ok_or_else(|| self.invalid(byte))?, 1),
        };
        Ok(self.emit(kind, length))
    }

    fn invalid(&self, byte: u8) -> SyntaxFault {
        self.fault(1, SyntaxProblem::InvalidCharacter(char::from(byte)))
    }
}

const fn single(byte: u8) -> Option<TokenKind> {
    Some(match byte {
        b'{' => TokenKind::OpenBrace,
        b'}' => TokenKind::CloseBrace,
        b'[' => TokenKind::OpenBracket,
        b']' => TokenKind::CloseBracket,
        b'(' => TokenKind::OpenParen,
        b')' => TokenKind::CloseParen,
        b'=' => TokenKind::Equal,
        b':' => TokenKind::Colon,
        b',' => TokenKind::Comma,
        b'.' => TokenKind::Dot,
        b'?' => TokenKind::Question,
        b'!' => TokenKind::Bang,
        b'*' => TokenKind::Star,
        b'/' => TokenKind::Slash,
        b'%' => TokenKind::Percent,
        b'+' => TokenKind::Plus,
        b'-' => TokenKind::Minus,
        b'<' => TokenKind::Less,
        b'>' => TokenKind::Greater,
        _ => return None,
    })
}

/// Returns the length of the `WORD` or `-WORD` at the start of `tail`, including the newline after it. `tail` is the text after `<<`.
fn heredoc_introducer(tail: &[u8]) -> Option<usize> {
    let dash = usize::from(tail.first() == Some(&b'-'));
    let word = &tail[dash..];
    let length = identifier_length(word);
    let newline = match &word[length..] {
        [b'\n', ..] => 1,
        [b'\r', b'\n', ..] => 2,
        _ => return None,
    };
    (length > 0).then_some(dash + length + newline)
}

/// Returns the length of the identifier at the start of `text`, or 0 if `text` starts with something else. Identifiers
/// consist of letters, digits, `_` and `-`, and do not start with a digit or `-`.
pub(super) fn identifier_length(text: &[u8]) -> usize {
    let mut length = 0;
    while let Some(&byte) = text.get(length) {
        length += match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => 1,
            b'0'..=b'9' | b'-' if length > 0 => 1,
            0x80.. => match character(&text[length..]) {
                Some((letter, width))
                    if (length > 0 && unicode_ident::is_xid_continue(letter))
                        || unicode_ident::is_xid_start(letter) =>
                {
                    width
                }
                _ => break,
            },
            _ => break,
        };
    }
    length
}

/// Whether the whole `text` is an identifier.
pub fn is_identifier(text: &str) -> bool {
    !text.is_empty() && identifier_length(text.as_bytes()) == text.len()
}

/// Returns the first character of `text` and its length in bytes, or `None` if there is no valid UTF-8 character.
pub(super) fn character(text: &[u8]) -> Option<(char, usize)> {
    let head = &text[..text.len().min(4)];
    let valid = match std::str::from_utf8(head) {
        Ok(valid) => valid,
        Err(error) => std::str::from_utf8(&head[..error.valid_up_to()]).ok()?,
    };
    valid.chars().next().map(|first| (first, first.len_utf8()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        let mut lexer = Lexer {
            text: text.as_bytes(),
            at: 0,
        };
        let mut found = Vec::new();
        loop {
            let token = lexer.token().expect("only valid tokens here");
            if token.kind == TokenKind::End {
                return found;
            }
            found.push(token.kind);
        }
    }

    #[test]
    fn comments_are_dropped_but_their_newlines_are_kept() {
        use TokenKind::{Identifier, Newline, Slash, Star};
        for (text, expected) in [
            ("a # b\nc", vec![Identifier, Newline, Identifier]),
            ("a // b\rc\nd", vec![Identifier, Newline, Identifier]),
            ("/* \n */a/**/", vec![Identifier]),
            ("a #", vec![Identifier]),
            ("/*/", vec![Slash, Star, Slash]), // not closed
        ] {
            assert_eq!(kinds(text), expected, "{text}");
        }
    }

    #[test]
    fn number_tokens_have_the_right_length() {
        for (text, length) in [
            ("1", 1),
            ("1.5", 3),
            ("1.2.3", 5),
            ("1..", 1),
            ("1...", 1),
            ("1e5", 3),
            ("1e+5x", 4),
            ("1ex", 1),
            ("1.e5", 4),
        ] {
            let bytes = text.as_bytes();
            let mut lexer = Lexer { text: bytes, at: 0 };
            let token = lexer.token().expect("a number");
            assert_eq!(
                (token.kind, token.span.end),
                (TokenKind::Number, length),
                "{text}"
            );
        }
    }

    #[test]
    fn identifiers_may_contain_dashes_and_letters_of_any_script() {
        for (text, length) in [
            ("p-q_1.", 5),
            ("é", 2),
            ("a\u{301}x", 4),
            ("-a", 0),
            ("1a", 0),
            ("日本", 6),
        ] {
            assert_eq!(identifier_length(text.as_bytes()), length, "{text}");
        }
    }

    #[test]
    fn a_heredoc_needs_its_word_and_newline() {
        assert_eq!(kinds("<<EOT\r\n"), [TokenKind::Heredoc]);
        assert_eq!(kinds("<<-é\n"), [TokenKind::Heredoc]);
        assert_eq!(kinds("<< "), [TokenKind::Less, TokenKind::Less]);
        assert_eq!(
            kinds("<<EOT"),
            [TokenKind::Less, TokenKind::Less, TokenKind::Identifier]
        );
    }
}
