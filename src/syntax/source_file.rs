//! A parsed file in native or JSON syntax.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::span::{Lines, Place, Span};

use super::body::{Body, BodySyntax};
use super::budget::FileBudget;
use super::error::{SyntaxError, SyntaxFault};
use super::json::{JsonBody, JsonFile};
use super::native::{NativeBody, NativeFile};
use super::parser::Parser;

/// A parsed file without syntax errors. Clones share its content.
#[derive(Clone, Debug)]
pub struct SourceFile(Arc<FileContent>);

#[derive(Debug)]
struct FileContent {
    path: PathBuf,
    text: Vec<u8>,
    lines: OnceLock<Lines>,
    constants: FileBudget,
    syntax: FileSyntax,
}

#[derive(Debug)]
pub(super) enum FileSyntax {
    Native(NativeFile),
    Json(JsonFile),
}

impl SourceFile {
    /// Parses `text`, the content of the file at `path`. A path that ends in `.json` selects JSON syntax. Like Terraform,
    /// returns the first syntax error anywhere in the file.
    pub fn parse(path: impl Into<PathBuf>, text: Vec<u8>) -> Result<Self, SyntaxError> {
        let path = path.into();
        let is_json = path.extension().is_some_and(|ending| ending == "json");
        let parsed = if is_json {
            JsonFile::parse(&text).map(FileSyntax::Json)
        } else {
            Parser::file(&text).map(FileSyntax::Native)
        };
        match parsed {
            Ok(syntax) => Ok(Self(Arc::new(FileContent {
                path,
                text,
                lines: OnceLock::new(),
                constants: FileBudget::default(),
                syntax,
            }))),
            Err(fault) => Err(fault.in_file(&path, &text)),
        }
    }

    pub fn body(&self) -> Body<'_> {
        Body(match &self.0.syntax {
            FileSyntax::Native(file) => BodySyntax::Native(NativeBody::of_file(self, file)),
            FileSyntax::Json(file) => BodySyntax::Json(JsonBody::of_file(self, file)),
        })
    }

    /// Returns the path exactly as it was passed to [`Self::parse`].
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Returns the place (line and column) of a byte range in this file.
    pub fn place(&self, span: Span) -> Place {
        Place::indexed(&self.0.lines, &self.0.path, &self.0.text, span)
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.0.text
    }

    pub(super) fn syntax(&self) -> &FileSyntax {
        &self.0.syntax
    }

    /// Returns the evaluation budget that all constant expressions in this file share.
    pub(super) fn constants(&self) -> &FileBudget {
        &self.0.constants
    }

    pub(super) fn error(&self, fault: SyntaxFault) -> SyntaxError {
        fault.in_file(&self.0.path, &self.0.text)
    }
}

/// A byte range in a file. Its line and column are computed only when it is reported, because a large file has many
/// declarations and few of them appear in messages.
#[derive(Clone, Debug)]
pub struct SourceRange {
    file: SourceFile,
    span: Span,
}

impl SourceRange {
    pub(super) const fn new(file: SourceFile, span: Span) -> Self {
        Self { file, span }
    }

    /// Returns the line and column, together with the source line.
    pub fn place(&self) -> Place {
        self.file.place(self.span)
    }

    /// Returns the position of the first byte in the file.
    pub const fn start(&self) -> usize {
        self.span.start
    }
}
