//! Evaluates Terragrunt units without running Terragrunt. See docs/rules/terragrunt.md.
//!
//! A unit is a directory with a `terragrunt.hcl`. Terragrunt assembles a root module from the unit's source, its own files and generated
//! files, and runs the engine there. This module determines what Terragrunt would assemble. It executes nothing: the results of commands,
//! hooks and other programs, and the outputs of other units, are unknown values.

mod assembly;
mod config_value;
mod error;
mod evaluated_config;
mod evaluation;
mod file_context;
mod functions;
mod merge;
mod origins;
mod reader;
mod schema;
mod scope;
mod shared_files;
mod text_with_holes;
mod unit;
mod unit_builder;
mod unit_config_file;
mod unit_run;

pub use assembly::{AssembledUnit, Assembly, AssemblyContext, AssemblyError, UnitModule, assemble};
pub use error::UnitError;
pub use reader::{UnitOptions, UnitReader};
pub use text_with_holes::{Hole, TextWithHoles};
pub use unit::{
    ExtraArguments, GeneratedFile, IfDisabled, IfExists, Unit, UnitOutcome, UnitSource, UnknownUnit,
};

use std::path::Path;

/// The name of the file of a unit.
pub const UNIT_FILE: &str = "terragrunt.hcl";

/// The name of the file of a unit in JSON syntax. It takes precedence over [`UNIT_FILE`].
pub const UNIT_FILE_JSON: &str = "terragrunt.hcl.json";

/// Whether this is the name of the file of a unit.
pub fn is_unit_file(name: &str) -> bool {
    name == UNIT_FILE || name == UNIT_FILE_JSON
}

/// The name of the file with the values that a stack gives to a unit.
const VALUES_FILE: &str = "terragrunt.values.hcl";

/// The name of a file that is merged into the configuration beside it. Its settings take precedence.
const AUTOINCLUDE_FILE: &str = "terragrunt.autoinclude.hcl";

/// The names of the files of stacks.
const STACK_FILE: &str = "terragrunt.stack.hcl";
const AUTOINCLUDE_STACK_FILE: &str = "terragrunt.autoinclude.stack.hcl";

/// Whether a directory contains the file of a unit.
pub fn is_unit(directory: &Path) -> bool {
    [UNIT_FILE_JSON, UNIT_FILE]
        .into_iter()
        .any(|name| directory.join(name).is_file())
}

#[cfg(test)]
mod tests;
