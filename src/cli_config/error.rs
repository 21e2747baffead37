//! Errors in a CLI configuration. None of them stops a run by itself.

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
    /// The file that the environment names does not exist. Both tools only warn.
    #[error("the CLI configuration file `{}`, which `{variable}` names, does not exist", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The environment variable.
        variable: &'static str,
    },
    /// The file or directory exists but cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: Arc<io::Error>,
    },
    /// The file is too large.
    #[error("the CLI configuration file `{}` has more than {limit} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit, `MAX_FILE_SIZE`.
        limit: u64,
    },
    /// The text is neither HCL 1 nor JSON. The whole file is ignored.
    #[error("cannot parse the CLI configuration: {problem}")]
    Syntax {
        /// Where.
        place: Box<Place>,
        /// The reason.
        problem: String,
    },
    /// A known setting has a value of the wrong type.
    #[error("`{setting}` must be {wanted}, not {found}")]
    WrongKind {
        /// Where.
        place: Box<Place>,
        /// The attribute or block.
        setting: String,
        /// The type of the setting.
        wanted: &'static str,
        /// The type of the value.
        found: &'static str,
    },
    /// The label of a `host` or `credentials` block is not a host name.
    #[error("`{label}` is not a host name, so this `{block}` block is ignored")]
    Label {
        /// Where.
        place: Box<Place>,
        /// `host` or `credentials`.
        block: &'static str,
        label: String,
        /// The reason.
        #[source]
        source: HostnameError,
    },
    /// A block that may occur once in all files occurs again.
    #[error("only the first `{block}` block counts; it is in {first}")]
    Repeated {
        /// The ignored block.
        place: Box<Place>,
        /// The name of the block.
        block: &'static str,
        /// The block that counts.
        first: Box<Place>,
    },
    /// A `provider_installation` block, or a method in it, has the wrong form.
    #[error("{problem}")]
    Installation {
        /// Where.
        place: Box<Place>,
        /// The reason.
        problem: String,
    },
    /// An element of `include` or `exclude` is not a pattern of provider addresses.
    #[error("`{pattern}` is not a pattern of provider addresses")]
    Pattern {
        /// Where.
        place: Box<Place>,
        /// The element.
        pattern: String,
        /// The reason.
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
                "nothing of this file counts, its `host` and `credentials` blocks included; its language is HCL 1".to_owned(),
            ),
            Self::Pattern { .. } => Some(
                "write `NAMESPACE/TYPE` or `HOST/NAMESPACE/TYPE`, with `*` for the type, for namespace and type, or for all three"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}
