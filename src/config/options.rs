//! What is given from outside when a root module is read. Environment variables come as values: this room reads none.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::access::ReadRules;
use crate::provider::Engine;

/// How a root module is read.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Whose rules.
    pub engine: Engine,
    /// `TF_DATA_DIR`; relative to the root module's directory. `.terraform` if not given.
    pub data_directory: Option<PathBuf>,
    /// `TF_WORKSPACE`.
    pub workspace: Option<EnvironmentValue>,
    /// The variables `TF_VAR_NAME` of the environment, by `NAME`.
    pub environment: BTreeMap<String, EnvironmentValue>,
    /// `--var` and `--var-file`, in the order of the command line.
    pub variables: Vec<VariableOption>,
    /// Whether modules that only test files run are read.
    pub tests: Tests,
    /// The configuration may be a stranger's: local modules and addresses on this machine stay where files may be read, and
    /// what `init` has installed is not used, because the stranger can have committed that as well.
    pub is_untrusted: bool,
    /// Which files functions and links may have read.
    pub files: Arc<ReadRules>,
}

/// The value of an environment variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvironmentValue {
    /// For evaluation.
    Known(String),
    /// Unknown to evaluation: the configuration is untrusted, and the user does not allow the variable.
    Withheld,
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
    /// `--var-file PATH` that can be read only once, such as a pipe, and was.
    Content {
        /// As given.
        path: PathBuf,
        /// What it held.
        text: Arc<[u8]>,
    },
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
            is_untrusted: false,
            files: Arc::default(),
        }
    }
}
