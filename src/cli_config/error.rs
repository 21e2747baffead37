//! Errors in a CLI configuration. They do not stop a run.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::cli_config::PatternProblem;
use crate::code::Code;
use crate::provider::HostnameError;
use crate::span::{Explain, Place};

/// An error in the CLI configuration. The file, block or attribute that contains it is ignored.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CliConfigError {
    /// The file named by an environment variable does not exist. Terraform and OpenTofu only print a warning in this case.
    #[error("the CLI configuration file `{}` named by `{variable}` does not exist", path.display())]
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
    #[error("the CLI configuration file `{}` is larger than {limit} bytes", path.display())]
    TooLarge { path: PathBuf, limit: u64 },
    /// The file is neither valid HCL 1 nor valid JSON. The whole file is ignored.
    #[error("cannot parse the CLI configuration: {problem}")]
    Syntax { place: Box<Place>, problem: String },
    #[error("`{setting}` must be {wanted}, not {found}")]
    WrongKind {
        place: Box<Place>,
        setting: String,
        wanted: &'static str,
        found: &'static str,
    },
    /// The label of a `host` or `credentials` block is not a valid host name.
    #[error("`{label}` is not a valid host name, so this `{block}` block is ignored")]
    Label {
        place: Box<Place>,
        /// The name of the block: `host` or `credentials`.
        block: &'static str,
        label: String,
        #[source]
        source: HostnameError,
    },
    /// A block that may occur only once in the whole configuration is repeated.
    #[error("only the first `{block}` block is used; it is at {first}")]
    Repeated {
        /// The position of the ignored block.
        place: Box<Place>,
        block: &'static str,
        /// The position of the block that is used.
        first: Box<Place>,
    },
    /// An invalid block, such as `provider_installation` or one of its methods.
    #[error("{problem}")]
    Installation { place: Box<Place>, problem: String },
    /// An element of `include` or `exclude` is not a valid provider pattern.
    #[error("`{pattern}` is not a valid provider pattern")]
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
                "fix the file, which must be valid HCL 1: until then, all of it is ignored, including its `host` and `credentials` blocks".to_owned(),
            ),
            Self::Pattern { .. } => Some(
                "write `NAMESPACE/TYPE` or `HOST/NAMESPACE/TYPE`; `*` can replace the type, the namespace and type, or all three"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}
