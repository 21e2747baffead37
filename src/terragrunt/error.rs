//! Errors in the configuration of a unit.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::access::AccessError;
use crate::code::Code;
use crate::span::{Explain, Place};
use crate::syntax::{EvalProblem, Exceeded, SyntaxError};

#[derive(Debug, Error)]
pub enum UnitError {
    #[error("cannot read `{}`", .path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(transparent)]
    Syntax(Box<SyntaxError>),
    #[error("{message}")]
    Invalid { place: Box<Place>, message: String },
    #[error("cannot evaluate {what}")]
    Value {
        what: String,
        place: Box<Place>,
        source: Box<EvalProblem>,
    },
    /// A file that the configuration names.
    #[error("cannot read the file that this expression names")]
    File {
        place: Box<Place>,
        source: AccessError,
    },
    #[error("{budget}")]
    Exceeded { place: Box<Place>, budget: Exceeded },
}

impl From<SyntaxError> for UnitError {
    fn from(error: SyntaxError) -> Self {
        Self::Syntax(Box::new(error))
    }
}

impl Explain for UnitError {
    fn code(&self) -> Code {
        match self {
            Self::Read { .. } => Code::UnreadableFile,
            Self::Syntax(_) => Code::Syntax,
            _ => Code::TerragruntUnit,
        }
    }

    fn place(&self) -> Option<&Place> {
        match self {
            Self::Read { .. } => None,
            Self::Syntax(error) => Some(&error.place),
            Self::Invalid { place, .. }
            | Self::Value { place, .. }
            | Self::File { place, .. }
            | Self::Exceeded { place, .. } => Some(place),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Syntax(error) => error.hint(),
            _ => None,
        }
    }
}
