//! Errors of configurations.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::code::Code;
use crate::provider::{AddressError, ConstraintError, Engine};
use crate::span::{Explain, Place};
use crate::syntax::{EvalProblem, Exceeded, Refusal, SourceRange, SyntaxError, Value};

use super::block_problem::BlockProblem;
use super::source::SourceError;

/// A reason why a module or its requirements cannot be read.
#[derive(Debug, Error)]
pub enum ConfigError {
    #[error("cannot read the directory `{path}`")]
    ReadDirectory { path: PathBuf, source: io::Error },
    /// A dangling link, a link to a directory, missing permission.
    #[error("cannot read `{path}`")]
    ReadFile { path: PathBuf, source: io::Error },
    #[error(
        "cannot read `{path}`: it is a link that leads out of the repository; `--allow-read DIR` permits its target"
    )]
    LinkOutside { path: PathBuf },
    #[error(
        "cannot read `{path}`: it has more than {limit} bytes, the limit for configuration files"
    )]
    TooLarge { path: PathBuf, limit: u64 },
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
    /// A local name or resource type that cannot name a provider.
    #[error("`{name}` cannot be the name of a provider")]
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
    #[error("cannot read the manifest of installed modules `{path}`")]
    Manifest {
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error(
        "the manifest of installed modules `{path}` has the invalid version `{version}` for `{key}`"
    )]
    ManifestVersion {
        path: PathBuf,
        key: String,
        version: String,
    },
    #[error("the manifest of installed modules `{path}` has `{key}` twice")]
    ManifestKey { path: PathBuf, key: String },
    #[error("invalid module source")]
    Source {
        place: Box<Place>,
        source: Box<SourceError>,
    },
    /// The `source` or `version` of a call is not a string that the files determine.
    #[error("the {what} of module `{module}` is {found}")]
    UnknownCall {
        what: &'static str,
        module: String,
        found: &'static str,
        place: Box<Place>,
    },
    #[error("module `{module}` has a `version`, but only modules from a registry have versions")]
    VersionWithoutRegistry { module: String, place: Box<Place> },
    #[error("module `{module}` is in `{directory}`, which cannot be read")]
    NoModuleDirectory {
        module: String,
        directory: PathBuf,
        place: Box<Place>,
        source: io::Error,
    },
    #[error("module `{module}` calls `{directory}`, which leads to this call again")]
    Recursion {
        module: String,
        directory: PathBuf,
        place: Box<Place>,
    },
    #[error("module `{module}` is nested deeper than {limit} calls")]
    TooDeep {
        module: String,
        limit: usize,
        place: Box<Place>,
    },
    #[error(
        "the root module makes more than {limit} module calls, counting those of called modules"
    )]
    TooMany { limit: usize, place: Box<Place> },
    #[error("module `{module}` from `{source_text}` is not installed")]
    NotInstalled {
        module: String,
        source_text: String,
        place: Box<Place>,
    },
    #[error(
        "module `{module}` is installed from `{recorded}`, but the configuration requires `{wanted}`"
    )]
    SourceChanged {
        module: String,
        recorded: String,
        wanted: String,
        place: Box<Place>,
    },
    #[error(
        "module `{module}` is installed in version `{recorded}`, but the configuration requires `{wanted}`"
    )]
    VersionChanged {
        module: String,
        recorded: String,
        wanted: String,
        place: Box<Place>,
    },
    #[error("cannot get module `{module}` from `{source_text}`")]
    Fetch {
        module: String,
        source_text: String,
        place: Box<Place>,
        source: Box<dyn std::error::Error + Send + Sync>,
        hint: Option<String>,
    },
    #[error(
        "module `{module}` is called at `{path}`, which is outside of the package of its caller"
    )]
    LeavesPackage {
        module: String,
        path: String,
        place: Box<Place>,
    },
    #[error(
        "module `{module}` is called at `{path}`, which is outside of the repository, and this run is `--untrusted`"
    )]
    LeavesRepository {
        module: String,
        path: String,
        place: Box<Place>,
    },
    #[error(
        "a test can only run modules from a local directory or a registry, and `{source_text}` is neither"
    )]
    RemoteRunModule {
        source_text: String,
        place: Box<Place>,
    },
    /// Replaces an error whose text would reveal a hidden value.
    #[error("{failure}: {reason}")]
    Concealed {
        failure: String,
        /// Which attribute is hidden, and why.
        reason: String,
        /// The code of the replaced error.
        code: Code,
        is_missing: bool,
        place: Box<Place>,
    },
    #[error("cannot read variable values from `{path}`: {reason}")]
    VariableFile { path: PathBuf, reason: String },
    #[error("{budget}")]
    Exceeded { place: Box<Place>, budget: Exceeded },
    #[error("cannot tell the value of {what}")]
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

    pub(super) fn import_in_called_module(import: &SourceRange) -> Self {
        Self::invalid(import.place(), BlockProblem::ImportInChild)
    }

    /// Whether a module is not available, which `--missing-module warn` turns into a warning.
    pub(super) const fn is_missing_module(&self) -> bool {
        matches!(
            self,
            Self::NotInstalled { .. }
                | Self::SourceChanged { .. }
                | Self::VersionChanged { .. }
                | Self::Fetch { .. }
                | Self::Concealed {
                    is_missing: true,
                    ..
                }
        )
    }

    /// Replaces a message that quotes the source or version of a call, which must stay hidden for the given reason.
    pub(super) fn concealed(self, reason: &str) -> Self {
        let failure = match &self {
            Self::Source { .. } => "the module source is invalid".to_owned(),
            Self::Constraint { .. } => "the version constraint is invalid".to_owned(),
            Self::NoModuleDirectory { module, .. } => {
                format!("cannot read the directory of module `{module}`")
            }
            Self::NotInstalled { module, .. } => format!("module `{module}` is not installed"),
            Self::SourceChanged { module, .. } => {
                format!("module `{module}` is installed from another source")
            }
            Self::VersionChanged { module, .. } => {
                format!("module `{module}` is installed in another version")
            }
            Self::Fetch { module, .. } => format!("cannot get module `{module}`"),
            Self::LeavesPackage { module, .. } => {
                format!("module `{module}` is outside of the package of its caller")
            }
            // Other messages contain only names and places.
            _ => return self,
        };
        let place = self.place().cloned();
        Self::Concealed {
            failure,
            reason: reason.to_owned(),
            code: self.code(),
            is_missing: self.is_missing_module(),
            place: Box::new(place.unwrap_or_else(|| Place::file(Path::new("")))),
        }
    }
}

impl From<SyntaxError> for ConfigError {
    fn from(error: SyntaxError) -> Self {
        Self::Syntax(Box::new(error))
    }
}

const ALLOW_READ: &str =
    "if its content may become part of an address, permit its directory with `--allow-read DIR`";

/// The hint for a module that is installed from another source. The same address on the default registry of the other engine
/// means that the other engine ran `init`.
fn source_changed_hint(recorded: &str, wanted: &str) -> String {
    let path = |text: &str| text.split_once('/').map(|(_, path)| path.to_owned());
    let other = [Engine::Terraform, Engine::Tofu]
        .into_iter()
        .find(|engine| recorded.starts_with(engine.default_host()));
    match other {
        Some(engine) if path(recorded) == path(wanted) => {
            format!(
                "`{engine} init` wrote `modules.json` in this directory; run the other tool's `init`, or choose `--engine {engine}`"
            )
        }
        _ => "run `init` or `get` in this directory again".to_owned(),
    }
}

impl Explain for ConfigError {
    fn code(&self) -> Code {
        match self {
            Self::ReadDirectory { .. }
            | Self::ReadFile { .. }
            | Self::LinkOutside { .. }
            | Self::TooLarge { .. } => Code::UnreadableFile,
            Self::Syntax(_) => Code::Syntax,
            Self::Constraint { .. } => Code::InvalidConstraint,
            Self::NoModuleDirectory { .. }
            | Self::NotInstalled { .. }
            | Self::SourceChanged { .. }
            | Self::VersionChanged { .. }
            | Self::Fetch { .. }
            | Self::RemoteRunModule { .. } => Code::ModuleUnavailable,
            Self::Concealed { code, .. } => *code,
            _ => Code::Configuration,
        }
    }

    fn place(&self) -> Option<&Place> {
        match self {
            Self::ReadDirectory { .. }
            | Self::ReadFile { .. }
            | Self::LinkOutside { .. }
            | Self::TooLarge { .. }
            | Self::Manifest { .. }
            | Self::ManifestVersion { .. }
            | Self::ManifestKey { .. }
            | Self::VariableFile { .. } => None,
            Self::Syntax(error) => Some(&error.place),
            Self::Invalid { place, .. }
            | Self::Address { place, .. }
            | Self::ProviderName { place, .. }
            | Self::Constraint { place, .. }
            | Self::Source { place, .. }
            | Self::UnknownCall { place, .. }
            | Self::VersionWithoutRegistry { place, .. }
            | Self::NoModuleDirectory { place, .. }
            | Self::Recursion { place, .. }
            | Self::TooDeep { place, .. }
            | Self::TooMany { place, .. }
            | Self::NotInstalled { place, .. }
            | Self::SourceChanged { place, .. }
            | Self::VersionChanged { place, .. }
            | Self::Fetch { place, .. }
            | Self::LeavesPackage { place, .. }
            | Self::LeavesRepository { place, .. }
            | Self::RemoteRunModule { place, .. }
            | Self::Concealed { place, .. }
            | Self::Exceeded { place, .. }
            | Self::Value { place, .. } => Some(place),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Syntax(error) => error.hint(),
            Self::Exceeded { budget, .. } => Some(budget.hint().to_owned()),
            Self::Fetch { hint, .. } => hint.clone(),
            Self::NotInstalled { .. } => {
                Some("run `init` or `get` in this directory first".to_owned())
            }
            Self::SourceChanged {
                recorded, wanted, ..
            } => Some(source_changed_hint(recorded, wanted)),
            Self::VersionChanged { .. } => {
                Some("run `init` or `get` in this directory again".to_owned())
            }
            Self::Value { source, .. } => match **source {
                EvalProblem::File {
                    refusal: Some(Refusal::Outside),
                    ..
                } => Some(ALLOW_READ.to_owned()),
                _ => None,
            },
            Self::UnknownCall { found, .. } if *found == Value::Unknown.type_name() => Some(
                "Terraform knows only variables with `const = true` here, and no resources"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}
