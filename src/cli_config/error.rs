//! Errors in a CLI configuration. They do not stop a run.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::cli_config::PatternProblem;
use crate::code::Code;
use crate::provider::HostnameError;
use crate::span::{Explain, Place};

/// A part of the CLI configuration that is unreadable or ignored.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CliConfigError {
    /// The file that the environment names does not exist. Terraform and OpenTofu only warn about it.
    #[error("the CLI configuration file `{}`, which `{variable}` names, does not exist", path.display())]
    Missing {
        path: PathBuf,
        variable: &'static str,
    },
    #[error("cannot read `{}`", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: Arc<io::Error>,
    },
    #[error("the CLI configuration file `{}` has more than {limit} bytes", path.display())]
    TooLarge { path: PathBuf, limit: u64 },
    /// The text is neither HCL 1 nor JSON. The whole file is ignored.
    #[error("cannot parse the CLI configuration: {problem}")]
    Syntax { place: Box<Place>, problem: String },
    #[error("`{setting}` must be {wanted}, not {found}")]
    WrongKind {
        place: Box<Place>,
        setting: String,
        wanted: &'static str,
        found: &'static str,
    },
    /// The label of a `host` or `credentials` block is not a host name.
    #[error("`{label}` is not a host name, so this `{block}` block is ignored")]
    Label {
        place: Box<Place>,
        /// `host` or `credentials`.
        block: &'static str,
        label: String,
        #[source]
        source: HostnameError,
    },
    /// A block that may occur once in all files occurs again.
    #[error("only the first `{block}` block counts; it is in {first}")]
    Repeated {
        /// The ignored block.
        place: Box<Place>,
        block: &'static str,
        /// The block that counts.
        first: Box<Place>,
    },
    /// A `provider_installation` block, or a method in it, has the wrong form.
    #[error("{problem}")]
    Installation { place: Box<Place>, problem: String },
    /// An element of `include` or `exclude` is not a pattern of provider addresses.
    #[error("`{pattern}` is not a pattern of provider addresses")]
    Pattern {
        place: Box<Place>,
        pattern: String,
        #[source]
        source: PatternProblem,
    },
}

impl Explain for CliConfigError {
    fn code(&self) -> Code {
        Code::CliConfiguration
    }

    fn place(&self) -> Option<&Place> {
        match self {
            Self::Missing { .. } | Self::Read { .. } | Self::TooLarge { .. } => None,
            Self::Syntax { place, .. }
            | Self::WrongKind { place, .. }
            | Self::Label { place, .. }
            | Self::Repeated { place, .. }
            | Self::Installation { place, .. }
            | Self::Pattern { place, .. } => Some(place),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Syntax { .. } => Some(
                "correct the file: until then all of it is ignored, also its `host` and `credentials` blocks; its language is HCL 1".to_owned(),
            ),
            Self::Pattern { .. } => Some(
                "write `NAMESPACE/TYPE` or `HOST/NAMESPACE/TYPE`, with `*` for the type, for namespace and type, or for all three"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}
