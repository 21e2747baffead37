//! Errors in the configuration of a unit.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use thiserror::Error;

use crate::access::AccessError;
use crate::code::Code;
use crate::span::{Explain, Place};
use crate::syntax::{EvalProblem, Exceeded, Refusal, SyntaxError};

use super::UnknownUnit;

#[derive(Debug, Error)]
pub enum UnitError {
    #[error("cannot read the directory of the unit")]
    Directory(#[source] io::Error),
    #[error("cannot read `{}`", .path.display())]
    Read {
        path: PathBuf,
        /// The expression that names the file; `None` for files with fixed names.
        place: Option<Box<Place>>,
        #[source]
        source: AccessError,
    },
    #[error("cannot read `{}`: it is larger than {limit} bytes, the limit for configuration files", .path.display())]
    TooLarge { path: PathBuf, limit: u64 },
    #[error(transparent)]
    Syntax(Box<SyntaxError>),
    #[error("{message}")]
    Invalid { place: Box<Place>, message: String },
    #[error("cannot evaluate `{name}`")]
    Value {
        name: String,
        place: Box<Place>,
        source: Box<EvalProblem>,
    },
    #[error("{budget}")]
    Exceeded { place: Box<Place>, budget: Exceeded },
    /// The error of a file that several units share.
    #[error(transparent)]
    Shared(Arc<Self>),
}

/// The reason why the evaluation of a configuration file has no result.
#[derive(Debug)]
pub(super) enum Failure {
    Error(UnitError),
    /// A value that must be known is unknown.
    Unknown(Box<UnknownUnit>),
}

pub(super) type Outcome<T> = Result<T, Failure>;

impl From<UnitError> for Failure {
    fn from(error: UnitError) -> Self {
        Self::Error(error)
    }
}

impl UnitError {
    pub(super) fn invalid(place: Place, message: impl Into<String>) -> Self {
        Self::Invalid {
            place: Box::new(place),
            message: message.into(),
        }
    }

    /// Returns the budget that was exceeded. `None` for other errors.
    pub(super) fn exceeded(&self) -> Option<Exceeded> {
        match self {
            Self::Exceeded { budget, .. } => Some(*budget),
            Self::Shared(error) => error.exceeded(),
            _ => None,
        }
    }
}

impl From<SyntaxError> for UnitError {
    fn from(error: SyntaxError) -> Self {
        Self::Syntax(Box::new(error))
    }
}

const SIMPLIFY: &str =
    "simplify the expressions of the unit and of the files that it includes and reads";

impl Explain for UnitError {
    fn code(&self) -> Code {
        match self {
            Self::Directory(_) | Self::Read { .. } | Self::TooLarge { .. } => Code::UnreadableFile,
            Self::Syntax(_) => Code::Syntax,
            Self::Invalid { .. } | Self::Value { .. } | Self::Exceeded { .. } => {
                Code::TerragruntUnit
            }
            Self::Shared(error) => error.code(),
        }
    }

    fn place(&self) -> Option<&Place> {
        match self {
            Self::Directory(_) | Self::TooLarge { .. } => None,
            Self::Read { place, .. } => place.as_deref(),
            Self::Syntax(error) => Some(&error.place),
            Self::Invalid { place, .. }
            | Self::Value { place, .. }
            | Self::Exceeded { place, .. } => Some(place),
            Self::Shared(error) => error.place(),
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Syntax(error) => return error.hint(),
            Self::Shared(error) => return error.hint(),
            Self::Exceeded { .. } => SIMPLIFY,
            Self::Read {
                source: AccessError::Outside,
                ..
            } => "permit its directory with `--allow-read DIR` if the unit may read it",
            Self::Value { source, .. } => match **source {
                EvalProblem::File {
                    refusal: Some(Refusal::Outside),
                    ..
                } => "permit its directory with `--allow-read DIR` if the unit may read it",
                EvalProblem::NoSuchFunction(_) => {
                    "use a function of Terragrunt or of Terraform 0.15.3"
                }
                _ => return None,
            },
            _ => return None,
        };
        Some(hint.to_owned())
    }
}
