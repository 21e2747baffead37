//! Reads configurations to find the providers that a root module and the modules that it calls require.
//!
//! ```text
//! module_files: names -> file_declarations: one file -> module: one directory with its overrides
//!                                                         `-> tree: with all modules that it calls -> RootModule
//! ```
//!
//! The rules are numbered in docs/rules/config.md. Those that differ between the engines are in `engine_rules`.

mod assembled;
mod block_problem;
mod blocks;
mod call_error;
mod call_target;
mod calls;
mod config_errors;
mod constants;
mod declaration;
mod engine_rules;
mod error;
mod file_declarations;
mod literal_sources;
mod location;
mod manifest;
mod module;
mod module_cache;
mod module_directory;
mod module_files;
mod module_source;
mod overrides;
mod provider_blocks;
mod provider_ref;
mod read_options;
mod required_providers;
mod resources;
mod root_module;
mod source_shorthand;
mod stack;
mod static_evaluation;
mod test_files;
mod tree;

pub use assembled::{
    AssembledModule, FileSelection, FileTree, GeneratedText, TreeEntry, TreeFile, TreeLayer,
};
pub use block_problem::BlockProblem;
pub use error::ConfigError;
pub use literal_sources::literal_local_sources;
pub use location::clean;
pub use module_cache::ModuleCache;
pub use module_files::{
    ModuleFiles, has_configuration_extension, is_configuration, is_tofu_only, module_files,
};
pub use module_source::{
    ModuleSource, RegistrySource, SourceError, clean_subdirectory, split_getter, split_subdirectory,
};
pub use read_options::{
    DEFAULT_TEST_DIRECTORY, EnvironmentValue, ReadOptions, Tests, VariableOption,
};
pub use root_module::{
    ChosenModule, FetchError, FetchedModule, LocalModules, ModuleFetcher, ModuleRequest,
    MovedModule, RootModule, local_callers, local_modules, local_modules_of_assembled,
    read_assembled, read_root, read_roots,
};
pub use stack::{is_stack_file, read_stack};
pub use static_evaluation::is_variable_file;
pub use test_files::is_test_file;

// The files of this module import these types from here.
use call_error::{CallError, CallProblem};
use call_target::{CallTarget, Evaluation};
use calls::{Local, ModuleCall, Variable};
use config_errors::ConfigErrors;
use declaration::{Declaration, DeclarationMap};
use file_declarations::FileDeclarations;
use location::Location;
use manifest::Manifest;
use module::Module;
use module_directory::ModuleDirectory;
use provider_blocks::ProviderBlock;
use provider_ref::ProviderRef;
use resources::{Import, Resource, ResourceKind};
use static_evaluation::{Instance, RootContext};

#[cfg(test)]
mod tests;
