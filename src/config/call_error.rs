//! Errors in module calls.

use std::error::Error as StdError;
use std::path::PathBuf;

use thiserror::Error;

use crate::code::Code;
use crate::provider::Engine;
use crate::span::Place;
use crate::syntax::Value;

/// The error for a module call that cannot be followed.
#[derive(Debug, Error)]
#[error("{}", concealed.clone().unwrap_or_else(|| problem.message(module).into()))]
pub struct CallError {
    module: String,
    pub(super) place: Box<Place>,
    pub(super) problem: CallProblem,
    source: Option<Box<dyn StdError + Send + Sync>>,
    /// The message that replaces the full one, without the source and version of the call. `None` if the full message may be shown.
    concealed: Option<Box<str>>,
}

/// The reason why a module call cannot be followed.
#[derive(Debug)]
pub(super) enum CallProblem {
    InvalidSource,
    InvalidVersion,
    /// The value of `source` or `version` is not a string, or it is not known.
    NotText {
        attribute: &'static str,
        found: &'static str,
    },
    VersionWithoutRegistry,
    UnreadableDirectory(PathBuf),
    Recursion(PathBuf),
    TooDeep(usize),
    TooMany(usize),
    NotInstalled(String),
    SourceChanged {
        recorded: String,
        required: String,
    },
    VersionChanged {
        recorded: String,
        required: String,
    },
    Fetch {
        address: String,
        hint: Option<String>,
    },
    LeavesPackage(String),
    LeavesRepository(String),
    /// A local module that is not in the tree of an assembled root module.
    NotAssembled {
        path: String,
        hint: Option<String>,
    },
    RemoteRunModule(String),
}

impl CallError {
    pub(super) fn new(module: &str, place: Place, problem: CallProblem) -> Self {
        Self {
            module: module.to_owned(),
            place: Box::new(place),
            problem,
            source: None,
            concealed: None,
        }
    }

    pub(super) fn caused_by(self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self {
            source: Some(source.into()),
            ..self
        }
    }

    /// Replaces the message if it quotes the source or version of the call. `reason` says why these must not be shown; it is
    /// `None` if they may be shown.
    pub(super) fn conceal(self, reason: Option<&str>) -> Self {
        let failure = self.problem.message_without_quotes(&self.module);
        match failure.zip(reason) {
            Some((failure, reason)) => Self {
                source: None,
                concealed: Some(format!("{failure}: {reason}").into()),
                ..self
            },
            None => self,
        }
    }

    /// Whether the module is unavailable. `--missing-module warn` turns such errors into warnings.
    pub(super) const fn is_missing_module(&self) -> bool {
        matches!(
            self.problem,
            CallProblem::NotInstalled(_)
                | CallProblem::SourceChanged { .. }
                | CallProblem::VersionChanged { .. }
                | CallProblem::Fetch { .. }
        )
    }

    /// Whether the module is missing in an assembled root module, in a directory below the caller.
    pub(super) fn is_missing_below(&self) -> bool {
        matches!(&self.problem, CallProblem::NotAssembled { path, .. } if path.starts_with("./"))
    }

    /// Whether the source or version is unknown.
    pub(super) fn needs_unknown_value(&self) -> bool {
        let unknown = Value::Unknown.type_name();
        matches!(self.problem, CallProblem::NotText { found, .. } if found == unknown)
    }

    pub(super) const fn code(&self) -> Code {
        match self.problem {
            CallProblem::InvalidVersion => Code::InvalidConstraint,
            CallProblem::UnreadableDirectory(_) | CallProblem::RemoteRunModule(_) => {
                Code::ModuleUnavailable
            }
            _ if self.is_missing_module() => Code::ModuleUnavailable,
            _ => Code::Configuration,
        }
    }

    pub(super) fn hint(&self) -> Option<String> {
        if self.concealed.is_some() {
            return None;
        }
        let hint = match &self.problem {
            CallProblem::Fetch { hint, .. } | CallProblem::NotAssembled { hint, .. } => {
                return hint.clone();
            }
            CallProblem::SourceChanged { recorded, required } => {
                return Some(source_changed_hint(recorded, required));
            }
            CallProblem::NotInstalled(_) => "run `init` or `get` in this directory first",
            CallProblem::VersionChanged { .. } => INSTALL_AGAIN,
            CallProblem::NotText { found, .. } if *found == Value::Unknown.type_name() => {
                "use only values known before apply, such as variables with `const = true`"
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

impl CallProblem {
    fn message(&self, module: &str) -> String {
        match self {
            Self::InvalidSource => "invalid module source".to_owned(),
            Self::InvalidVersion => "invalid version constraint".to_owned(),
            Self::NotText { attribute, found } => {
                format!("`{attribute}` of module `{module}` must be a string, but it is {found}")
            }
            Self::VersionWithoutRegistry => format!(
                "module `{module}` has a `version`, but only modules from a registry have versions"
            ),
            Self::UnreadableDirectory(path) => format!(
                "cannot read the directory `{}` of module `{module}`",
                path.display()
            ),
            Self::Recursion(path) => format!(
                "module `{module}` is recursive: `{}` calls itself, directly or through other modules",
                path.display()
            ),
            Self::TooDeep(limit) => {
                format!("module `{module}` is nested more than {limit} calls deep")
            }
            Self::TooMany(limit) => format!(
                "the root module makes more than {limit} module calls, including those of called modules"
            ),
            Self::NotInstalled(address) => {
                format!("module `{module}` from `{address}` is not installed")
            }
            Self::SourceChanged { recorded, required } => format!(
                "module `{module}` is installed from `{recorded}`, but the configuration requires `{required}`"
            ),
            Self::VersionChanged { recorded, required } => format!(
                "version `{recorded}` of module `{module}` is installed, but the configuration requires `{required}`"
            ),
            Self::Fetch { address, .. } => format!("cannot get module `{module}` from `{address}`"),
            Self::LeavesPackage(path) => format!(
                "the source `{path}` of module `{module}` points outside its caller's package"
            ),
            Self::LeavesRepository(path) => format!(
                "the source `{path}` of module `{module}` points outside the repository, which `--untrusted` does not allow"
            ),
            Self::NotAssembled { path, .. } => format!(
                "the source `{path}` of module `{module}` is not among the files of this root module"
            ),
            Self::RemoteRunModule(address) => format!(
                "a test can run only modules from a local directory or a registry, but `{address}` is neither"
            ),
        }
    }

    /// Returns the message without the source and version. `None` if the full message quotes neither.
    fn message_without_quotes(&self, module: &str) -> Option<String> {
        Some(match self {
            Self::InvalidSource => "the module source is invalid".to_owned(),
            Self::InvalidVersion => "the version constraint is invalid".to_owned(),
            Self::UnreadableDirectory(_) => {
                format!("cannot read the directory of module `{module}`")
            }
            Self::NotInstalled(_) => format!("module `{module}` is not installed"),
            Self::SourceChanged { .. } => {
                format!("module `{module}` is installed from a different source")
            }
            Self::VersionChanged { .. } => {
                format!("a different version of module `{module}` is installed")
            }
            Self::Fetch { .. } => format!("cannot get module `{module}`"),
            Self::LeavesPackage(_) => {
                format!("module `{module}` is outside its caller's package")
            }
            Self::LeavesRepository(_) => {
                format!("module `{module}` is outside the repository")
            }
            Self::NotAssembled { .. } => {
                format!("module `{module}` is not among the files of this root module")
            }
            Self::Recursion(_) => format!("module `{module}` is recursive"),
            Self::RemoteRunModule(_) => {
                "a test can only run modules from a local directory or a registry".to_owned()
            }
            _ => return None,
        })
    }
}

const INSTALL_AGAIN: &str = "run `init` or `get` in this directory again";

/// Returns the hint for a module that is installed from a different source. If only the default registry differs, the other
/// engine ran `init`.
fn source_changed_hint(recorded: &str, required: &str) -> String {
    let path = |text: &str| text.split_once('/').map(|(_, path)| path.to_owned());
    let (terraform, tofu) = (Engine::Terraform, Engine::Tofu);
    let written_by = [(terraform, tofu), (tofu, terraform)]
        .into_iter()
        .find(|(engine, _)| recorded.starts_with(engine.default_host()));
    match written_by {
        Some((engine, other)) if path(recorded) == path(required) => format!(
            "`{engine} init` wrote `modules.json` in this directory; run `{other} init`, or choose `--engine {engine}`"
        ),
        _ => INSTALL_AGAIN.to_owned(),
    }
}
