//! Errors in the command line and the environment.

use std::path::{Path, PathBuf};

use crate::git::GitError;
use crate::options::RejectedArgument;
use crate::provider::{Engine, HostnameError, ProviderAddr};
use crate::span::{Explain, Place};

use super::config_file::ConfigFileError;
use super::index::IndexSettingsError;
use super::working_set::ReportError;

/// An error in the command line or the environment.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("cannot find the working directory: it has been removed or renamed")]
    NoWorkingDirectory,
    /// PATH does not exist or is not accessible.
    #[error("cannot access `{}`", path.display())]
    Path {
        path: PathBuf,
        /// The option before PATH, if the user may have meant PATH as its value.
        meant_for: Option<&'static str>,
        source: std::io::Error,
    },
    /// An invalid value of an option that config files can also set.
    #[error(transparent)]
    Option(#[from] RejectedArgument),
    /// An invalid value of any other option.
    #[error("invalid value in `{argument}`")]
    Argument {
        /// The option and its value.
        argument: String,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error(
        "invalid value in one of the `--var` options: expected NAME=VALUE, without a space before `=`"
    )]
    Variable,
    #[error("cannot use `--allow-read {}`", path.display())]
    AllowRead {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("invalid value in `TFLOCK_UNTRUSTED={value}`: expected `1` or `0`")]
    UntrustedVariable { value: String },
    /// An option of `tflock mirror` that is for directories only.
    #[error("cannot use `{option}` with a mirror in an OCI registry")]
    NotForRegistries { option: &'static str },
    /// An option that has no effect without `--untrusted`.
    #[error("cannot use `{option}` without `--untrusted`")]
    OnlyUntrusted { option: &'static str },
    #[error("invalid value in `--allow-host {text}`")]
    AllowHost {
        text: String,
        source: Box<HostnameError>,
    },
    /// `TFREGISTRY_BASE_URL` is invalid. Its value is not shown, because it may contain a password.
    #[error("cannot use `TFREGISTRY_BASE_URL`: {problem}")]
    BaseUrl { problem: &'static str },
    #[error(transparent)]
    ConfigFile(#[from] Box<ConfigFileError>),
    #[error(transparent)]
    Index(#[from] Box<IndexSettingsError>),
    /// Git cannot list the changes for `--changed`.
    #[error(transparent)]
    Git(#[from] Box<GitError>),
    #[error("cannot use the report `{}`", path.display())]
    Report { path: PathBuf, source: ReportError },
}

impl Explain for SettingsError {
    fn place(&self) -> Option<&Place> {
        match self {
            Self::ConfigFile(error) => error.place(),
            _ => None,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Path {
                path,
                meant_for: Some(option),
                ..
            } => Some(format!(
                "if `{path}` is the value of `{option}`, write `{option}={path}`",
                path = path.display()
            )),
            Self::Path { path, .. } => provider_hint(path),
            Self::Option(error) => error.hint(),
            Self::OnlyUntrusted { option } => Some(format!(
                "add `--untrusted`, or remove `{option}`: everything is allowed without `--untrusted`"
            )),
            Self::AllowHost { .. } => {
                Some("name a host such as `git.example.com` or `git.example.com:8443`".to_owned())
            }
            Self::ConfigFile(error) => error.hint(),
            Self::Git(error) => error.hint(),
            Self::Index(error) => error.hint(),
            Self::Report { source, .. } if !matches!(source, ReportError::Read(_)) => {
                Some("create a report with `tflock lock --format json > REPORT`".to_owned())
            }
            _ => None,
        }
    }
}

impl SettingsError {
    pub(super) fn argument(
        argument: String,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        let source = source.into();
        Self::Argument { argument, source }
    }

    /// Records that `option` was given without its optional value. The user may have meant the missing PATH as that value.
    pub(super) fn after(mut self, option: &'static str) -> Self {
        if let Self::Path { meant_for, .. } = &mut self {
            meant_for.get_or_insert(option);
        }
        self
    }
}

/// Returns a hint if a missing PATH is probably the address of a provider, which `providers lock` accepts as an argument.
fn provider_hint(path: &Path) -> Option<String> {
    let address = path.to_str().filter(|text| text.contains('/'))?;
    let parent = path.parent()?;
    let is_provider = ProviderAddr::parse(address, Engine::Terraform).is_ok() && !parent.exists();
    is_provider.then(|| format!("if `{address}` is a provider, use `--provider {address}`"))
}
