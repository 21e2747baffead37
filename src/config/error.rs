//! Errors in configurations.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::code::Code;
use crate::provider::{AddressError, ConstraintError};
use crate::span::{Explain, Place};
use crate::syntax::{EvalProblem, Exceeded, Refusal, SyntaxError, TextOrigin};

use super::{BlockProblem, CallError};

/// A reason why a module or its requirements cannot be read.
#[derive(Debug, Error)]
pub enum ConfigError {
    #[error("cannot read the directory `{path}`")]
    ReadDirectory { path: PathBuf, source: io::Error },
    /// For example, a dangling symlink, a symlink to a directory, or a file without read permission.
    #[error("cannot read `{path}`")]
    ReadFile { path: PathBuf, source: io::Error },
    #[error(
        "cannot read `{path}`: it is a symlink that points outside the repository; permit its target with `--allow-read DIR`"
    )]
    LinkOutside { path: PathBuf },
    #[error(
        "cannot read `{path}`: it is larger than {limit} bytes, the limit for configuration files"
    )]
    TooLarge { path: PathBuf, limit: u64 },
    #[error("cannot read {what} `{path}`: {reason}")]
    InvalidFile {
        /// What the file contains, such as `the manifest of installed modules`.
        what: &'static str,
        path: PathBuf,
        reason: String,
    },
    /// A variable file that an untrusted configuration must not use.
    #[error("cannot read variable values from `{path}`: {reason}")]
    UntrackedVariables { path: PathBuf, reason: String },
    /// A variable file or a value in it is invalid. The message contains the position. The error has no position of its own, because
    /// messages would then quote the file, which may contain secrets.
    #[error("{0}")]
    InvalidVariables(String),
    /// A generated file with an error whose message could quote hidden values.
    #[error("the generated file is invalid, and is not shown because it depends on {}", .0.hidden.as_deref().unwrap_or_default())]
    HiddenText(Box<TextOrigin>),
    #[error(transparent)]
    Syntax(Box<SyntaxError>),
    #[error("{problem}")]
    Invalid {
        place: Box<Place>,
        problem: Box<BlockProblem>,
    },
    #[error("invalid provider address")]
    Address {
        place: Box<Place>,
        source: Box<AddressError>,
    },
    /// A local name or resource type from which no valid provider name can be derived.
    #[error("`{name}` is not a valid provider name")]
    ProviderName {
        place: Box<Place>,
        name: String,
        source: Box<AddressError>,
    },
    #[error("invalid version constraint")]
    Constraint {
        place: Box<Place>,
        source: Box<ConstraintError>,
    },
    #[error(transparent)]
    Call(Box<CallError>),
    #[error("{budget}")]
    Exceeded { place: Box<Place>, budget: Exceeded },
    #[error("cannot evaluate {what}")]
    Value {
        what: &'static str,
        place: Box<Place>,
        source: Box<EvalProblem>,
    },
}

impl ConfigError {
    pub(super) fn invalid(place: Place, problem: BlockProblem) -> Self {
        Self::Invalid {
            place: Box::new(place),
            problem: Box::new(problem),
        }
    }

    /// Whether evaluation failed because tflock does not support a function.
    pub(super) fn needs_unsupported_function(&self) -> bool {
        matches!(self, Self::Value { source, .. } if matches!(**source, EvalProblem::UnsupportedFunction(_)))
    }

    /// Whether a module is missing in an assembled root module, in a directory below the caller.
    pub fn is_missing_below(&self) -> bool {
        matches!(self, Self::Call(error) if error.is_missing_below())
    }

    /// Whether a module cannot be found because its source or version depends on an unknown value, or on a function whose result
    /// tflock cannot compute.
    pub fn needs_unknown_value(&self) -> bool {
        match self {
            Self::Call(error) => error.needs_unknown_value(),
            _ => self.needs_unsupported_function(),
        }
    }

    /// Whether a file or directory does not exist.
    pub(super) fn is_not_found(&self) -> bool {
        match self {
            Self::ReadDirectory { source, .. } | Self::ReadFile { source, .. } => {
                source.kind() == io::ErrorKind::NotFound
            }
            _ => false,
        }
    }
}

impl From<SyntaxError> for ConfigError {
    fn from(error: SyntaxError) -> Self {
        Self::Syntax(Box::new(error))
    }
}

impl From<CallError> for ConfigError {
    fn from(error: CallError) -> Self {
        Self::Call(Box::new(error))
    }
}

const CORRECT_VARIABLES: &str =
    "correct the value or file: Terraform and OpenTofu reject it even if no module depends on it";

const ALLOW_READ: &str = "if the file's content may become part of an address, permit its directory with `--allow-read DIR`";

impl Explain for ConfigError {
    fn code(&self) -> Code {
        match self {
            Self::ReadDirectory { .. }
            | Self::ReadFile { .. }
            | Self::LinkOutside { .. }
            | Self::TooLarge { .. } => Code::UnreadableFile,
            Self::Syntax(_) => Code::Syntax,
            Self::Constraint { .. } => Code::InvalidConstraint,
            Self::Call(error) => error.code(),
            _ => Code::Configuration,
        }
    }

    fn place(&self) -> Option<&Place> {
        match self {
            Self::ReadDirectory { .. }
            | Self::ReadFile { .. }
            | Self::LinkOutside { .. }
            | Self::TooLarge { .. }
            | Self::InvalidFile { .. }
            | Self::UntrackedVariables { .. }
            | Self::InvalidVariables(_) => None,
            Self::HiddenText(origin) => Some(&origin.place),
            Self::Syntax(error) => Some(&error.place),
            Self::Call(error) => Some(&error.place),
            Self::Invalid { place, .. }
            | Self::Address { place, .. }
            | Self::ProviderName { place, .. }
            | Self::Constraint { place, .. }
            | Self::Exceeded { place, .. }
            | Self::Value { place, .. } => Some(place),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::InvalidVariables(_) => Some(CORRECT_VARIABLES.to_owned()),
            Self::Syntax(error) => error.hint(),
            Self::Address { source, .. } => source.hint(),
            Self::Constraint { source, .. } => source.hint(),
            Self::Call(error) => error.hint(),
            Self::Exceeded { budget, .. } => Some(budget.hint().to_owned()),
            Self::Value { source, .. } => match **source {
                EvalProblem::File {
                    refusal: Some(Refusal::Outside),
                    ..
                } => Some(ALLOW_READ.to_owned()),
                _ => None,
            },
            _ => None,
        }
    }
}
