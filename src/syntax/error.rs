//! Syntax errors.
//!
//! The parser works on bytes and does not know the file name. It reports a [`SyntaxFault`]: a problem and the byte range where
//! it occurs. The caller converts it into a [`SyntaxError`] with the file, line and source line.

use std::path::Path;

use thiserror::Error;

use crate::span::{Explain, Place, Span};

#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{problem}")]
pub struct SyntaxError {
    pub place: Place,
    pub problem: SyntaxProblem,
}

impl Explain for SyntaxError {
    fn place(&self) -> Option<&Place> {
        Some(&self.place)
    }

    fn hint(&self) -> Option<String> {
        self.problem.hint().map(str::to_owned)
    }
}

/// A problem and the byte range where it occurs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxFault {
    pub span: Span,
    pub problem: SyntaxProblem,
}

impl SyntaxFault {
    /// Converts the fault into an error in the file at `path`, whose content is `text`.
    pub fn in_file(self, path: &Path, text: &[u8]) -> SyntaxError {
        SyntaxError {
            place: Place::in_text(path, text, self.span),
            problem: self.problem,
        }
    }

    /// Converts the fault into an error in a generated file. `place` is the position of the code that defines the file's text.
    pub fn at_place(self, place: &Place) -> SyntaxError {
        SyntaxError {
            place: place.clone(),
            problem: self.problem,
        }
    }
}

/// A syntax problem. The variants and most of the messages follow Terraform.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SyntaxProblem {
    #[error("invalid character: `{0}` is not used in this language")]
    InvalidCharacter(char),
    #[error("invalid character encoding: the text is not UTF-8")]
    InvalidEncoding,
    #[error("argument or block definition required here")]
    ItemRequired,
    #[error("invalid argument name: argument names must not be quoted")]
    QuotedArgumentName,
    #[error("attribute redefined: `{0}` was already set in this body")]
    AttributeRedefined(String),
    #[error("unclosed configuration block: its closing brace is missing")]
    UnclosedBlock,
    #[error("invalid block definition: expected a quoted label or an opening brace")]
    InvalidBlock,
    #[error(
        "invalid single-argument block definition: a single-line block must contain at most one argument and must be closed on the same line"
    )]
    InvalidOneLineBlock,
    #[error("missing newline after argument")]
    MissingNewlineAfterArgument,
    #[error("missing newline after block definition")]
    MissingNewlineAfterBlock,
    #[error("invalid expression: expected the start of an expression")]
    ExpressionRequired,
    #[error("extra characters after expression")]
    ExtraCharacters,
    /// A number such as `1.2.3`.
    #[error("invalid number literal")]
    InvalidNumber,
    #[error("unbalanced parentheses: expected a closing parenthesis")]
    UnbalancedParentheses,
    /// `a ? b` without `: c`.
    #[error("missing false expression in conditional")]
    MissingFalseExpression,
    #[error("invalid attribute name: an attribute name is required after a dot")]
    AttributeNameRequired,
    /// Two indexes in a row, such as `a.0.1`.
    #[error("invalid legacy index syntax: two indexes cannot be chained with dots")]
    ChainedLegacyIndex,
    /// An index without its closing bracket, such as `a[0` or `a[*`.
    #[error("missing close bracket on index")]
    MissingIndexBracket,
    #[error("missing item separator: expected a comma")]
    MissingItemSeparator,
    #[error("unterminated tuple constructor expression")]
    UnterminatedTuple,
    #[error("missing key/value separator: expected an equals sign")]
    MissingKeyValueSeparator,
    #[error("missing attribute separator: expected a newline or comma")]
    MissingAttributeSeparator,
    #[error("unterminated object constructor expression")]
    UnterminatedObject,
    #[error("missing function name after `::`")]
    MissingFunctionName,
    #[error("missing open parenthesis after function name")]
    MissingOpenParenthesis,
    #[error("missing argument separator: expected a comma")]
    MissingArgumentSeparator,
    #[error("missing closing parenthesis after an expanded argument")]
    MissingCloseParenthesis,
    #[error("unterminated function call")]
    UnterminatedCall,
    #[error("invalid `for` expression: {0}")]
    InvalidFor(&'static str),
    #[error("invalid `for` directive: {0}")]
    InvalidForDirective(&'static str),
    #[error("invalid escape sequence")]
    InvalidEscape,
    #[error("invalid multi-line string: a quoted string must end on the line where it starts")]
    MultiLineString,
    #[error("unterminated template string: no closing marker was found")]
    UnterminatedTemplate,
    /// `${` or `%{` in a block label.
    #[error("invalid string literal: template sequences are not allowed in this string")]
    TemplateInLabel,
    /// `${` without its `}`.
    #[error("unclosed template interpolation sequence")]
    UnclosedInterpolation,
    #[error("extra characters after interpolation expression")]
    ExtraInInterpolation,
    #[error("invalid template directive: expected `if`, `else`, `endif`, `for` or `endfor`")]
    InvalidDirective,
    #[error("the control directives within this template are unbalanced")]
    UnbalancedDirectives,
    #[error("the nesting in this expression is deeper than {0} levels")]
    TooDeep(usize),
    #[error("this expression is too long to evaluate: the limit is {0} bytes")]
    TooLong(usize),
    #[error("the nesting in this file is deeper than {0} levels")]
    TooNested(usize),
    #[error("this file contains more than {0} arguments, blocks and values")]
    TooManyItems(usize),
    #[error("invalid JSON: {0}")]
    Json(&'static str),
}

impl SyntaxProblem {
    /// Whether the text exceeds a size limit. The report of such a problem does not quote the text.
    pub const fn is_limit(&self) -> bool {
        matches!(
            self,
            Self::TooLong(_) | Self::TooNested(_) | Self::TooManyItems(_)
        )
    }

    /// Combines this problem with the byte range where it occurs.
    pub const fn at(self, span: Span) -> SyntaxFault {
        SyntaxFault {
            span,
            problem: self,
        }
    }

    /// Returns a hint if one mistake is by far the most likely cause.
    fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::InvalidCharacter('\'') => "write strings in double quotes",
            Self::InvalidCharacter('“' | '”') => {
                "replace curly quotes with straight double quotes"
            }
            Self::InvalidCharacter(';') => "separate arguments with newlines",
            Self::InvalidCharacter('\r') => "end lines with LF or CRLF",
            Self::ExtraInInterpolation | Self::UnclosedInterpolation => {
                "to write a literal `${`, double the dollar sign"
            }
            Self::MultiLineString => {
                "add the missing `\"`; for a line break in the text, use `\\n` or a heredoc such as `<<EOT`"
            }
            _ => return None,
        })
    }
}
