//! Splits HCL 1 text into tokens.
//!
//! HCL 1 differs from HCL 2 as follows: an identifier may contain dots (`providers.v1`), `${...}` is part of a string and may contain
//! quotes and line breaks, `true` and `false` are the only keywords, and a bare word is a key, never a value.

use crate::cli_config::escape;
use crate::cli_config::tree::ConfigSyntaxError;
use crate::span::Span;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Hcl1Token {
    /// A bare word.
    Ident(String),
    /// The content of a quoted string, with escapes decoded.
    String(String),
    /// The content of a heredoc, including line breaks.
    Heredoc(String),
    /// A number as written.
    Number(String),
    Bool(bool),
    /// One of `{`, `}`, `[`, `]`, `=` and `,`.
    Sign(char),
    /// The end of the file. After that, the scanner returns only this token.
    End,
}

impl Hcl1Token {
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Ident(word) => format!("`{word}`"),
            Self::String(_) => "a string".to_owned(),
            Self::Heredoc(_) => "a heredoc".to_owned(),
            Self::Number(number) => format!("`{number}`"),
            Self::Bool(value) => format!("`{value}`"),
            Self::Sign(sign) => format!("`{sign}`"),
            Self::End => "the end of the file".to_owned(),
        }
    }
}

pub(super) struct Hcl1Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Hcl1Scanner<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn next(&mut self) -> Result<(Hcl1Token, Span), ConfigSyntaxError> {
        self.skip_blank()?;
        let start = self.at;
        let Some(first) = self.peek() else {
            return Ok((Hcl1Token::End, Span::new(start, start)));
        };
        let token = match first {
            '{' | '}' | '[' | ']' | '=' | ',' => {
                self.at += 1;
                Hcl1Token::Sign(first)
            }
            '"' => self.string()?,
            '<' => self.heredoc()?,
            '-' | '0'..='9' => self.number()?,
            _ if is_letter(first) => self.word(),
            _ => {
                let span = Span::new(start, start + first.len_utf8());
                return Err(ConfigSyntaxError::new(
                    format!("unexpected `{}`", first.escape_default()),
                    span,
                ));
            }
        };
        Ok((token, Span::new(start, self.at)))
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Skips white space and comments (`#`, `//` and `/* */`).
    fn skip_blank(&mut self) -> Result<(), ConfigSyntaxError> {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            self.at += blank;
            let rest = &rest[blank..];
            if rest.starts_with('#') || rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                let Some(length) = rest.find("*/") else {
                    let span = Span::new(self.at, self.at + 2);
                    return Err(ConfigSyntaxError::new("this comment is not closed", span));
                };
                self.at += length + 2;
            } else {
                return Ok(());
            }
        }
    }

    fn word(&mut self) -> Hcl1Token {
        let rest = self.rest();
        let length = rest
            .find(|c: char| !(is_letter(c) || c.is_numeric() || c == '-' || c == '.'))
            .unwrap_or(rest.len());
        self.at += length;
        match &rest[..length] {
            "true" => Hcl1Token::Bool(true),
            "false" => Hcl1Token::Bool(false),
            word => Hcl1Token::Ident(word.to_owned()),
        }
    }

    /// Scans a number. Only its characters are checked, because the value is used only as text.
    fn number(&mut self) -> Result<Hcl1Token, ConfigSyntaxError> {
        let rest = self.rest();
        let sign = usize::from(rest.starts_with('-'));
        let digits = &rest[sign..];
        let mut previous = ' ';
        let length = digits
            .find(|c: char| {
                let exponent = matches!(previous, 'e' | 'E') && matches!(c, '+' | '-');
                previous = c;
                !(c.is_ascii_alphanumeric() || c == '.' || exponent)
            })
            .unwrap_or(digits.len());
        let span = Span::new(self.at, self.at + sign + length);
        if !digits.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(ConfigSyntaxError::new("expected a number after `-`", span));
        }
        self.at = span.end;
        Ok(Hcl1Token::Number(rest[..sign + length].to_owned()))
    }

    fn string(&mut self) -> Result<Hcl1Token, ConfigSyntaxError> {
        let start = self.at;
        let raw = escape::quoted(&self.text[start + 1..]);
        let Some(raw) = raw else {
            let line = self.rest().find('\n').unwrap_or(self.rest().len());
            return Err(ConfigSyntaxError::new(
                "this string must end on its first line",
                Span::new(start, start + line),
            ));
        };
        self.at = start + raw.len() + 2;
        let text = escape::unescape(raw).map_err(|at| {
            let at = start + 1 + at;
            ConfigSyntaxError::new("unknown escape sequence", Span::new(at, at + 2))
        })?;
        Ok(Hcl1Token::String(text))
    }

    /// Scans a heredoc: `<<WORD` or `<<-WORD`, its lines, and a last line that contains only the word and may be indented.
    fn heredoc(&mut self) -> Result<Hcl1Token, ConfigSyntaxError> {
        let start = self.at;
        let fail =
            |problem: &str| Err(ConfigSyntaxError::new(problem, Span::new(start, start + 1)));
        let Some(opening) = self.rest().strip_prefix("<<") else {
            return fail("unexpected `<`");
        };
        let indented = opening.starts_with('-');
        let Some((word, body)) = opening[usize::from(indented)..].split_once('\n') else {
            return fail("this heredoc has no lines");
        };
        let word = word.trim_end_matches('\r');
        if word.is_empty() || !word.chars().all(|c| is_letter(c) || c.is_numeric()) {
            return fail("a heredoc must begin with `<<` and a word");
        }
        let mut length = 0;
        for line in body.split_inclusive('\n') {
            if line.trim_start().trim_end_matches(['\r', '\n']) == word {
                self.at = self.text.len() - body.len() + length + line.trim_end_matches('\n').len();
                return Ok(Hcl1Token::Heredoc(dedent(&body[..length], indented)));
            }
            length += line.len();
        }
        fail("this heredoc is not closed")
    }
}

/// Removes the indentation that all lines share, if `indented` is set.
fn dedent(body: &str, indented: bool) -> String {
    if !indented {
        return body.to_owned();
    }
    let blanks = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let common = body.lines().map(blanks).min().unwrap_or(0);
    body.split_inclusive('\n')
        .map(|line| &line[common..])
        .collect()
}

fn is_letter(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}
