//! What is wrong with arguments and environment.

use std::path::PathBuf;

use crate::git::GitError;
use crate::locking::TargetError;
use crate::options::RejectedArgument;
use crate::provider::{AddressError, HostnameError};
use crate::span::{Explain, Place};

use super::config_file::ConfigFileError;
use super::working_set::ReportError;

/// Why the command line cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The directory that tflock was started in is gone.
    #[error("cannot find the working directory: it was removed or renamed meanwhile")]
    NoWorkingDirectory,
    /// PATH does not exist, or cannot be looked at.
    #[error("cannot look at `{}`", path.display())]
    Path {
        /// As given.
        path: PathBuf,
        /// The option whose value it may have been meant to be.
        meant_for: Option<&'static str>,
        /// What the system says.
        source: std::io::Error,
    },
    /// An invalid value of an option that config files may set too.
    #[error(transparent)]
    Option(#[from] RejectedArgument),
    /// `--upgrade` names no provider or no version.
    #[error("cannot read `--upgrade={text}`")]
    Upgrade {
        /// As given.
        text: String,
        /// What is wrong with it.
        source: Box<TargetError>,
    },
    /// `--var` without a value.
    #[error("cannot read one of `--var`: it is not NAME=VALUE")]
    Variable,
    /// A `--var-file` that is no regular file and cannot be read.
    #[error("cannot read `--var-file {}`", path.display())]
    VariableFile {
        /// As given.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A directory of `--allow-read` that is not there.
    #[error("cannot use `--allow-read {}`", path.display())]
    AllowRead {
        /// As given.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// `TFLOCK_UNTRUSTED` is neither on nor off.
    #[error("cannot read `TFLOCK_UNTRUSTED={value}`: the values are `1` and `0`")]
    UntrustedVariable {
        /// As given.
        value: String,
    },
    /// An option that loosens `--untrusted`, without it.
    #[error("cannot use `{option}` without `--untrusted`")]
    OnlyUntrusted {
        /// The option.
        option: &'static str,
    },
    /// `--allow-host` is not a host.
    #[error("cannot read `--allow-host {text}`")]
    AllowHost {
        /// As given.
        text: String,
        /// What is wrong with it.
        source: Box<HostnameError>,
    },
    /// `TFREGISTRY_BASE_URL` cannot be used.
    #[error("cannot use `TFREGISTRY_BASE_URL`: {problem}")]
    BaseUrl {
        /// What is wrong with it. The value is not shown: it may hold a password.
        problem: &'static str,
    },
    /// `.tflock.toml` cannot be followed.
    #[error(transparent)]
    ConfigFile(#[from] Box<ConfigFileError>),
    /// `--changed` cannot be answered.
    #[error(transparent)]
    Git(#[from] Box<GitError>),
    /// `--failed` names no report that can be used.
    #[error("cannot use the report `{}`", path.display())]
    Report {
        /// As given.
        path: PathBuf,
        /// What is wrong with it.
        source: ReportError,
    },
    /// `--provider` names no provider.
    #[error("cannot read `--provider {text}`")]
    Provider {
        /// As given.
        text: String,
        /// What is wrong with it.
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
                    "if that is the value of `{option}`, write `{option}={path}`"
                ))
            }
            Self::Option(error) => error.hint(),
            Self::OnlyUntrusted { option } => Some(format!(
                "everything is allowed without `--untrusted`: add it, or drop `{option}`"
            )),
            Self::AllowHost { .. } => {
                Some("a host is written as `git.example.com` or `git.example.com:8443`".to_owned())
            }
            Self::ConfigFile(error) => error.hint(),
            Self::Git(error) => error.hint(),
            Self::Report {
                source: ReportError::Read(_),
                ..
            } => None,
            Self::Report { .. } => {
                Some("`tflock lock --format json > REPORT` writes one".to_owned())
            }
            _ => None,
        }
    }
}

impl SettingsError {
    /// The same, where `option` was given without the value that it may have: a PATH that is not there may be meant.
    pub(super) fn after(mut self, option: &'static str) -> Self {
        if let Self::Path { meant_for, .. } = &mut self {
            meant_for.get_or_insert(option);
        }
        self
    }
}
