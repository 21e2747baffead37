//! What is given from outside when a root module is read. Environment variables come as values: this room reads none.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::access::ReadAccess;
use crate::provider::Engine;

/// How a root module is read.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Whose rules.
    pub engine: Engine,
    /// `TF_DATA_DIR`; relative to the root module's directory. `.terraform` if not given.
    pub data_directory: Option<PathBuf>,
    /// `TF_WORKSPACE`.
    pub workspace: Option<String>,
    /// The variables `TF_VAR_NAME` of the environment, by `NAME`.
    pub environment: BTreeMap<String, String>,
    /// `--var` and `--var-file`, in the order of the command line.
    pub variables: Vec<VariableOption>,
    /// Whether modules that only test files run are read.
    pub tests: Tests,
    /// Where local modules and addresses on this machine may lead; `None`: anywhere. With it, what `init` has installed is
    /// not used either: whoever wrote the configuration can have written that.
    pub confined_to: Option<ReadAccess>,
}

/// `--var` or `--var-file`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariableOption {
    /// `--var NAME=TEXT`.
    Value {
        /// The variable.
        name: String,
        /// Its value, as text.
        text: String,
    },
    /// `--var-file PATH`, relative to the root module's directory.
    File(PathBuf),
}

/// Test files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tests {
    /// Not read.
    Skip,
    /// Read, in the root module's directory and in this directory below it.
    Read {
        /// `tests` if nothing else is asked for.
        directory: PathBuf,
    },
}

/// The directory of test files unless another one is named.
pub const DEFAULT_TEST_DIRECTORY: &str = "tests";

impl ReadOptions {
    /// The rules of `engine`, an empty environment, and test files in their usual place.
    pub fn new(engine: Engine) -> Self {
        Self {
            engine,
            data_directory: None,
            workspace: None,
            environment: BTreeMap::new(),
            variables: Vec::new(),
            tests: Tests::Read {
                directory: DEFAULT_TEST_DIRECTORY.into(),
            },
            confined_to: None,
        }
    }
}
