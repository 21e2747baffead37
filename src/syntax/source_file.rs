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
    /// Set only for a generated file.
    origin: Option<TextOrigin>,
    text: Vec<u8>,
    lines: OnceLock<Lines>,
    constants: FileBudget,
    syntax: FileSyntax,
}

/// Where the text of a generated file comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextOrigin {
    /// The position of the code that defines the text. Errors anywhere in the generated file are reported at this position.
    pub place: Place,
    /// The origins of the hidden values on which the text depends: values from files or from the environment, which must not be shown.
    /// If present, messages must not quote the text.
    pub hidden: Option<String>,
    /// Markers: words that stand for unknown parts of the text. Each marker occurs only once in the text.
    pub markers: Vec<String>,
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
        match FileSyntax::parse(&path, &text) {
            Ok(syntax) => Ok(Self::new(path, None, text, syntax)),
            Err(fault) => Err(fault.in_file(&path, &text)),
        }
    }

    /// Parses `text`, the content of a generated file. A name that ends in `.json` selects JSON syntax.
    pub fn parse_generated(
        name: &Path,
        text: Vec<u8>,
        origin: &TextOrigin,
    ) -> Result<Self, SyntaxError> {
        let path = origin.place.path.clone();
        match FileSyntax::parse(name, &text) {
            Ok(syntax) => Ok(Self::new(path, Some(origin.clone()), text, syntax)),
            Err(fault) => Err(fault.at_place(&origin.place)),
        }
    }

    fn new(path: PathBuf, origin: Option<TextOrigin>, text: Vec<u8>, syntax: FileSyntax) -> Self {
        Self(Arc::new(FileContent {
            path,
            origin,
            text,
            lines: OnceLock::new(),
            constants: FileBudget::default(),
            syntax,
        }))
    }

    pub fn body(&self) -> Body<'_> {
        Body(match &self.0.syntax {
            FileSyntax::Native(file) => BodySyntax::Native(NativeBody::of_file(self, file)),
            FileSyntax::Json(file) => BodySyntax::Json(JsonBody::of_file(self, file)),
        })
    }

    /// Returns the path exactly as it was passed to [`Self::parse`]. For a generated file, returns the path of the file that defines
    /// its text.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Returns the position (line and column) of a byte range in this file.
    pub fn place(&self, span: Span) -> Place {
        match &self.0.origin {
            Some(origin) => origin.place.clone(),
            None => Place::indexed(&self.0.lines, &self.0.path, &self.0.text, span),
        }
    }

    /// Returns the origins of the hidden values on which the text of a generated file depends ([`TextOrigin::hidden`]).
    pub fn hidden(&self) -> Option<&str> {
        self.0.origin.as_ref()?.hidden.as_deref()
    }

    /// Returns the markers ([`TextOrigin::markers`]) that occur in a part of the text.
    pub(super) fn markers_in(&self, part: Span) -> impl Iterator<Item = &str> {
        let markers = self.0.origin.iter().flat_map(|origin| &origin.markers);
        let text = &self.0.text;
        let part = &text[part.start.min(text.len())..part.end.min(text.len())];
        let is_in = move |marker: &&String| memchr::memmem::find(part, marker.as_bytes()).is_some();
        markers.filter(is_in).map(String::as_str)
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
        match &self.0.origin {
            Some(origin) => fault.at_place(&origin.place),
            None => fault.in_file(&self.0.path, &self.0.text),
        }
    }
}

impl FileSyntax {
    fn parse(name: &Path, text: &[u8]) -> Result<Self, SyntaxFault> {
        if name.extension().is_some_and(|ending| ending == "json") {
            JsonFile::parse(text).map(Self::Json)
        } else {
            Parser::file(text).map(Self::Native)
        }
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

    /// Returns the offset at which the range starts in the file.
    pub const fn start(&self) -> usize {
        self.span.start
    }
}
