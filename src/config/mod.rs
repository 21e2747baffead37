//! Reads configurations: which providers do a root module and the modules that it calls require?
//!
//! ```text
//! files: names -> declarations: one file -> module: one directory with its overrides
//!                                            `-> root: with all modules that it calls -> Requirements
//! ```
//!
//! docs/rules/config.md numbers the rules. `engine_rules` has those in which the engines differ.

mod block_problem;
mod blocks;
mod cache;
mod call_error;
mod call_target;
mod calls;
mod config_errors;
mod declaration;
mod declarations;
mod engine_rules;
mod error;
mod expression;
mod files;
mod functions;
mod location;
mod manifest;
mod module;
mod options;
mod overrides;
mod provider_blocks;
mod provider_ref;
mod required_providers;
mod resources;
mod root;
mod source;
mod statics;
mod test_files;
mod tree;

pub use block_problem::BlockProblem;
pub use cache::ModuleCache;
pub use error::ConfigError;
pub use files::{ModuleFiles, is_configuration, is_tofu_only, module_files};
pub use functions::evaluate_alone;
pub use location::clean;
pub use options::{DEFAULT_TEST_DIRECTORY, EnvironmentValue, ReadOptions, Tests, VariableOption};
pub use root::{
    ChosenModule, FetchError, FetchedModule, LocalModules, ModuleFetcher, ModuleRequest,
    MovedModule, RootModule, local_callers, local_modules, read_root, read_roots,
};
pub use source::{ModuleSource, RegistrySource, SourceError};
pub use statics::is_variable_file;
pub use test_files::is_test_file;

#[cfg(test)]
mod tests;
