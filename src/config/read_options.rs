//! Options of reading a root module. Environment variables are passed as values: `config` does not read the environment.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::access::ReadRules;
use crate::provider::Engine;

#[derive(Clone, Debug)]
pub struct ReadOptions {
    pub engine: Engine,
    /// `TF_DATA_DIR`, relative to the directory of the root module. `None` means `.terraform`.
    pub data_directory: Option<PathBuf>,
    pub workspace: Option<EnvironmentValue>,
    /// The variables `TF_VAR_NAME` of the environment, by `NAME`.
    pub environment: BTreeMap<String, EnvironmentValue>,
    /// `--var` and `--var-file` in the order of the command line; later values take precedence.
    pub variables: Vec<VariableOption>,
    /// Whether to read modules that only test files run.
    pub tests: Tests,
    /// The author of the configuration is not trusted: it may use only those directories of this machine that `files` permits, and
    /// installed modules are ignored, because the author may have committed them.
    pub is_untrusted: bool,
    /// The files that functions and links may read.
    pub files: Arc<ReadRules>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvironmentValue {
    Known(String),
    /// A value that evaluation may not use: the configuration is untrusted, and the user has not allowed the variable.
    Withheld,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariableOption {
    /// `--var NAME=TEXT`.
    Value { name: String, text: String },
    /// `--var-file PATH`, relative to the root module's directory.
    File(PathBuf),
    /// `--var-file PATH` for a pipe or another file that can be read only once.
    Content { path: PathBuf, text: Arc<[u8]> },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tests {
    Skip,
    /// Test files are read in the directory of the root module and in one directory below it.
    Read {
        directory: PathBuf,
    },
}

pub const DEFAULT_TEST_DIRECTORY: &str = "tests";

impl ReadOptions {
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
