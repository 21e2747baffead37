//! The result of evaluating a unit.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use thiserror::Error;

use crate::code::Code;
use crate::span::{Explain, Place};
use crate::syntax::Value;

use super::TextWithHoles;

/// The parts of a unit that decide which providers its root module requires.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    /// The directory of the unit, as the user would write it.
    pub directory: PathBuf,
    /// `None` if the directory of the unit is the root module.
    pub source: Option<UnitSource>,
    /// The globs of `include_in_copy`.
    pub included_in_copy: Vec<String>,
    /// The globs of `exclude_from_copy`.
    pub excluded_from_copy: Vec<String>,
    /// The `generate` blocks, sorted by label.
    pub generated: Vec<GeneratedFile>,
    /// The file of `remote_state.generate`, which contains only a backend. Its text is not computed.
    pub backend: Option<GeneratedFile>,
    /// The inputs, which Terragrunt passes as `TF_VAR_NAME`. Values and parts of values can be unknown.
    pub inputs: BTreeMap<String, Value>,
    /// Whether the unit may have further inputs, because the value of `inputs` as a whole is unknown.
    pub has_unknown_inputs: bool,
    /// The `extra_arguments` blocks that apply to `init`, in order.
    pub init_arguments: Vec<ExtraArguments>,
    pub terraform_binary: Option<String>,
    /// Whether Terragrunt copies the lock file back to the unit.
    pub copies_lock_file: bool,
    /// Whether `exclude` prevents all runs in the unit.
    pub never_runs: bool,
    /// The positions of hooks that run before `init` or before the source is read. They may write configuration files.
    pub hooks_before_init: Vec<Place>,
    /// The absolute paths of the files that determine the result, and of missing files that were searched for.
    pub files_read: BTreeSet<PathBuf>,
}

/// The `source` argument of the `terraform` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitSource {
    pub text: String,
    pub place: Place,
    /// The origins of the hidden values, such as environment variables, on which the text depends. If present, messages must not
    /// show the text.
    pub hidden: Option<String>,
}

/// A file that Terragrunt generates in the root module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedFile {
    pub label: String,
    /// The path relative to the root module, or an absolute path.
    pub path: String,
    pub if_exists: IfExists,
    pub is_disabled: bool,
    pub if_disabled: IfDisabled,
    /// The text without the signature.
    pub contents: TextWithHoles,
    pub comment_prefix: String,
    /// Whether the file starts with a comment that contains the signature of Terragrunt.
    pub has_signature: bool,
    pub place: Place,
    /// Like [`UnitSource::hidden`], for the path and the contents.
    pub hidden: Option<String>,
}

/// What happens if the file already exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfExists {
    Overwrite,
    /// Overwrites a file with a signature. Fails for other files.
    OverwriteTerragrunt,
    Skip,
    Fail,
}

/// What happens to an existing file if `disable` is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IfDisabled {
    Remove,
    /// Removes a file with a signature. Fails for other files.
    RemoveTerragrunt,
    #[default]
    Skip,
}

/// An `extra_arguments` block. `None` stands for an unknown value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExtraArguments {
    pub arguments: Vec<Option<String>>,
    pub required_variable_files: Vec<Option<String>>,
    pub optional_variable_files: Vec<Option<String>>,
    pub environment: BTreeMap<String, Option<String>>,
    pub place: Option<Place>,
}

/// The reason why the requirements of a unit are unknown.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("cannot determine what the unit requires: {what} depends on {origins}")]
pub struct UnknownUnit {
    /// What is unknown, such as "the source".
    pub what: String,
    /// The origins of the unknown value.
    pub origins: String,
    pub place: Place,
    /// How the user can provide the value, if that is possible.
    pub hint: Option<String>,
    /// Like [`Unit::files_read`].
    pub files_read: BTreeSet<PathBuf>,
}

impl Explain for UnknownUnit {
    fn code(&self) -> Code {
        Code::UnknownUnit
    }

    fn place(&self) -> Option<&Place> {
        Some(&self.place)
    }

    fn hint(&self) -> Option<String> {
        self.hint.clone()
    }
}

#[derive(Clone, Debug)]
pub enum UnitOutcome {
    Known(Box<Unit>),
    Unknown(Box<UnknownUnit>),
    /// The unit is a template in a catalog: it requires values that only a stack sets, and it has no values file.
    Template {
        files_read: BTreeSet<PathBuf>,
    },
}
