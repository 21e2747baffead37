//! Options for reading a root module. They include values from the environment, because `config` does not read it.

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
    /// The values of the environment variables `TF_VAR_NAME`, by `NAME`.
    pub environment: BTreeMap<String, EnvironmentValue>,
    /// The `--var` and `--var-file` options in command-line order; later values take precedence.
    pub variables: Vec<VariableOption>,
    /// Whether the variables of the root module may have values other than those given here. If so, all variables are unknown.
    pub has_unknown_variables: bool,
    /// Whether to read modules that only test files run.
    pub tests: Tests,
    /// Whether the author of the configuration is untrusted. If so, the configuration may use only those local directories that
    /// `files` permits, and installed modules are ignored, because the author may have committed them.
    pub is_untrusted: bool,
    /// The rules for which files can be read by functions and through symlinks.
    pub files: Arc<ReadRules>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvironmentValue {
    Known(String),
    /// A value that must not be used, because the configuration is untrusted and the user has not allowed the variable.
    Withheld,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariableOption {
    /// The option `--var NAME=TEXT`.
    Value { name: String, text: String },
    /// The option `--var-file PATH`, where PATH is relative to the root module's directory.
    File(PathBuf),
    /// The option `--var-file PATH` for a pipe or another file that can be read only once.
    Content { path: PathBuf, text: Arc<[u8]> },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tests {
    Skip,
    /// Read the test files in the root module's directory and in one directory below it.
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
            has_unknown_variables: false,
            tests: Tests::Read {
                directory: DEFAULT_TEST_DIRECTORY.into(),
            },
            is_untrusted: false,
            files: Arc::default(),
        }
    }
}
