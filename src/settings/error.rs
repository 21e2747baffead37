//! Errors in the command line and the environment.

use std::path::PathBuf;

use crate::git::GitError;
use crate::locking::TargetError;
use crate::options::RejectedArgument;
use crate::provider::{AddressError, HostnameError};
use crate::span::{Explain, Place};

use super::config_file::ConfigFileError;
use super::working_set::ReportError;

/// An error in the command line or the environment.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The working directory does not exist any more.
    #[error("cannot find the working directory: it was removed or renamed meanwhile")]
    NoWorkingDirectory,
    /// PATH does not exist or is not accessible.
    #[error("cannot look at `{}`", path.display())]
    Path {
        /// The path on the command line.
        path: PathBuf,
        /// The option before it, if PATH may be meant as its value.
        meant_for: Option<&'static str>,
        /// The error of the system.
        source: std::io::Error,
    },
    /// An invalid value of an option that config files may set too.
    #[error(transparent)]
    Option(#[from] RejectedArgument),
    /// `--upgrade` has an invalid provider or version.
    #[error("cannot read `--upgrade={text}`")]
    Upgrade {
        /// The value on the command line.
        text: String,
        /// The reason.
        source: Box<TargetError>,
    },
    /// `--var` without a value.
    #[error("cannot read one of `--var`: it is not NAME=VALUE")]
    Variable,
    /// A `--var-file` that is not a regular file and cannot be read.
    #[error("cannot read `--var-file {}`", path.display())]
    VariableFile {
        /// The path on the command line.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A directory of `--allow-read` is missing.
    #[error("cannot use `--allow-read {}`", path.display())]
    AllowRead {
        /// The path on the command line.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// `TFLOCK_UNTRUSTED` has an unknown value.
    #[error("cannot read `TFLOCK_UNTRUSTED={value}`: the values are `1` and `0`")]
    UntrustedVariable { value: String },
    /// An option that only has a meaning with `--untrusted`.
    #[error("cannot use `{option}` without `--untrusted`")]
    OnlyUntrusted { option: &'static str },
    /// `--allow-host` has an invalid host.
    #[error("cannot read `--allow-host {text}`")]
    AllowHost {
        /// The value on the command line.
        text: String,
        /// The reason.
        source: Box<HostnameError>,
    },
    /// `TFREGISTRY_BASE_URL` is invalid.
    #[error("cannot use `TFREGISTRY_BASE_URL`: {problem}")]
    BaseUrl {
        /// The reason. The value is not shown, because it may contain a password.
        problem: &'static str,
    },
    /// An error in `.tflock.toml`.
    #[error(transparent)]
    ConfigFile(#[from] Box<ConfigFileError>),
    /// git cannot list the changes for `--changed`.
    #[error(transparent)]
    Git(#[from] Box<GitError>),
    /// The report of `--failed` cannot be used.
    #[error("cannot use the report `{}`", path.display())]
    Report {
        /// The path on the command line.
        path: PathBuf,
        /// The reason.
        source: ReportError,
    },
    /// `--provider` has an invalid provider address.
    #[error("cannot read `--provider {text}`")]
    Provider {
        /// The value on the command line.
        text: String,
        /// The reason.
        source: Box<AddressError>,
    },
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
            } => {
                let path = path.display();
                Some(format!(
                    "if `{path}` is the value of `{option}`, write `{option}={path}`"
                ))
            }
            Self::Option(error) => error.hint(),
            Self::OnlyUntrusted { option } => Some(format!(
                "add `--untrusted`, or remove `{option}`: everything is allowed without `--untrusted`"
            )),
            Self::AllowHost { .. } => {
                Some("write a host as `git.example.com` or `git.example.com:8443`".to_owned())
            }
            Self::ConfigFile(error) => error.hint(),
            Self::Git(error) => error.hint(),
            Self::Report {
                source: ReportError::Read(_),
                ..
            } => None,
            Self::Report { .. } => {
                Some("write a report with `tflock lock --format json > REPORT`".to_owned())
            }
            _ => None,
        }
    }
}

impl SettingsError {
    /// Adds `option`, which was given without its optional value: a missing PATH may be meant as that value.
    pub(super) fn after(mut self, option: &'static str) -> Self {
        if let Self::Path { meant_for, .. } = &mut self {
            meant_for.get_or_insert(option);
        }
        self
    }
}
