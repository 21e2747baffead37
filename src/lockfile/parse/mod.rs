//! The strict parser, which converts bytes to [`Locks`].
//!
//! The file is HCL in which values may be computed from constants, but from nothing else. Its schema:
//!
//! ```text
//! provider "HOST/NAMESPACE/TYPE" {
//!   version     = string, canonical
//!   constraints = string, canonical, may be empty or missing
//!   hashes      = list in brackets, of one or more strings SCHEME:VALUE; may be missing
//! }
//! module "PATH" { ... }            ignored, and not written back
//! ```
//!
//! Any form that Terraform and OpenTofu do not accept is an error. All errors in a file are reported together.

mod parser;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::Locks;
use super::error::{ParseError, ParseProblem};
use super::render::header;
use crate::provider::{Engine, ProviderAddr};
use crate::span::{Place, Span};
use crate::syntax::{SourceFile, SyntaxError};
use parser::LockFileParser;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockFile {
    pub locks: Locks,
    /// Where the block of each provider begins.
    pub places: BTreeMap<ProviderAddr, Place>,
    /// The `module` blocks, if there are any. Like Terraform and OpenTofu, tflock does not write them back.
    pub modules: Option<ModuleBlocks>,
    /// The engine that the header names.
    pub written_by: Option<Engine>,
}

/// The `module` blocks of a lock file, which neither Terraform nor OpenTofu supports yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleBlocks {
    /// Where the first block begins.
    pub first: Place,
    pub count: usize,
    /// The content of the file without the blocks.
    pub rest: Arc<[u8]>,
}

impl ModuleBlocks {
    /// Creates the value for a file with `module` blocks, the first of which is at `first`. For each block in the file, in order,
    /// `starts` contains the offset of its first byte and whether it is a `module` block.
    fn new(first: Place, text: &[u8], starts: &[(usize, bool)]) -> Self {
        let ends = starts.iter().skip(1).map(|(start, _)| *start);
        let blocks = starts.iter().zip(ends.chain([text.len()]));
        let mut rest = text[..starts.first().map_or(0, |(start, _)| *start)].to_vec();
        for ((start, is_module), end) in blocks {
            if !is_module {
                rest.extend_from_slice(&text[*start..end]);
            }
        }
        if starts.last().is_some_and(|(_, is_module)| *is_module) {
            // Removes the empty line before the last block.
            while rest.ends_with(b"\n\n") {
                rest.pop();
            }
        }
        Self {
            first,
            count: starts.iter().filter(|(_, is_module)| *is_module).count(),
            rest: rest.into(),
        }
    }
}

/// Parses the content of the lock file at `path`. `engine` determines which addresses cannot be locked, and the host of an
/// address without a host.
pub fn parse(path: &Path, text: &[u8], engine: Engine) -> Result<LockFile, Vec<ParseError>> {
    let document = match SourceFile::parse(path, text.to_vec()) {
        Ok(document) => document,
        Err(error) => return Err(vec![syntax_error(path, text, error)]),
    };
    let mut parser = LockFileParser {
        text,
        engine,
        file: LockFile {
            written_by: written_by(text),
            ..LockFile::default()
        },
        starts: Vec::new(),
        first_module: None,
        errors: Vec::new(),
    };
    parser.parse(&document);
    let first = parser.first_module.take();
    parser.file.modules = first.map(|first| ModuleBlocks::new(first, text, &parser.starts));
    if parser.errors.is_empty() {
        return Ok(parser.file);
    }
    parser.errors.sort_by(|a, b| a.place.cmp(&b.place));
    Err(parser.errors)
}

/// Returns the engine whose header is at the start of the text. Anywhere else, a header is just a comment.
fn written_by(text: &[u8]) -> Option<Engine> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let first_line = |text: &[u8]| {
        text.split(|byte| *byte == b'\n')
            .next()
            .map(<[u8]>::trim_ascii_end)
            .map(<[u8]>::to_vec)
    };
    [Engine::Terraform, Engine::Tofu]
        .into_iter()
        .find(|engine| first_line(text) == first_line(header(*engine).as_bytes()))
}

/// Converts a syntax error. If the text has conflict markers, reports an unfinished merge instead.
fn syntax_error(path: &Path, text: &[u8], error: SyntaxError) -> ParseError {
    let mut start = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b"<<<<<<< ") || line.starts_with(b">>>>>>> ") {
            let span = Span::new(start, start + line.trim_ascii_end().len());
            return ParseError {
                place: Place::in_text(path, text, span),
                problem: ParseProblem::ConflictMarker,
            };
        }
        start += line.len();
    }
    ParseError {
        place: error.place,
        problem: ParseProblem::Syntax(error.problem),
    }
}

#[cfg(test)]
mod tests;
