//! Reads the values that users set for the variables of a root module. See section 8 of docs/rules/config.md.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::access::{AccessError, ReadAccess};
use crate::config::{
    ConfigError, EnvironmentValue, ModuleDirectory, ReadOptions, TreeFile, Variable,
    VariableOption, clean, module_files,
};
use crate::span::Explain as _;
use crate::syntax::{
    self, ArgumentValue, Constants, EvalBudget, EvalProblem, Expr, SourceFile, Strings, Value,
};

use super::type_constraint::TypeConstraint;

/// The value of a variable before it is evaluated.
#[derive(Debug)]
enum GivenValue {
    /// An expression in a variable file.
    Written(ArgumentValue),
    /// Text from the environment or the command line.
    Text(String),
    /// An environment variable whose value an untrusted configuration must not use.
    Unknown,
}

/// The values that the user has set, by the name of the variable. If there are several, the last one takes precedence.
#[derive(Debug, Default)]
pub(super) struct VariableValues {
    are_unknown: bool,
    given: BTreeMap<String, GivenValue>,
}

/// The variable files that are read first, in this order.
const VARIABLE_FILES: [&str; 2] = ["terraform.tfvars", "terraform.tfvars.json"];
const AUTOMATIC: [&str; 2] = [".auto.tfvars", ".auto.tfvars.json"];

/// Whether a file with this name in a root module sets variables even without `--var-file`.
pub fn is_variable_file(name: &str) -> bool {
    VARIABLE_FILES.contains(&name) || AUTOMATIC.iter().any(|ending| name.ends_with(ending))
}

/// Formats an error from [`VariableValues::read`] without quoting a variable file.
pub(super) fn problem(error: &ConfigError) -> String {
    match (error, error.place()) {
        (ConfigError::ReadFile { source, .. }, _) => format!("{error}: {source}"),
        (ConfigError::Syntax(inner), Some(place)) if inner.problem.is_limit() => {
            format!("{place}: {error}")
        }
        (_, None) => error.to_string(),
        (_, Some(place)) => format!("{place}: the variable file is invalid"),
    }
}

fn invalid_file(path: &Path, reason: String) -> ConfigError {
    ConfigError::InvalidFile {
        what: "variable values from",
        path: path.to_path_buf(),
        reason,
    }
}

/// Returns the access rules for a file in `package`, or those of the root module for a file of the user.
fn access_in<'a>(package: Option<&Path>, access: &'a ReadAccess) -> Cow<'a, ReadAccess> {
    match package {
        Some(package) => Cow::Owned(access.for_package(package)),
        None => Cow::Borrowed(access),
    }
}

/// Checks that no symlink in the path of a variable file points to a file that must not be read.
fn check_link(path: &Path, access: &ReadAccess) -> Result<(), ConfigError> {
    let refused = |error| match error {
        AccessError::Read(source) => ConfigError::ReadFile {
            path: path.to_path_buf(),
            source,
        },
        AccessError::Outside | AccessError::Internal(_) | AccessError::Untracked => {
            ConfigError::LinkOutside {
                path: path.to_path_buf(),
            }
        }
    };
    access.resolve(path).map_err(refused).map(drop)
}

impl VariableValues {
    /// Reads the values from the environment, variable files and options. Symlinks in the repository may lead only to files that `access`
    /// permits; the command line may name any file.
    pub(super) fn read(
        root: &ModuleDirectory<'_>,
        options: &ReadOptions,
        access: &ReadAccess,
    ) -> Result<Self, ConfigError> {
        let mut values = Self {
            are_unknown: options.has_unknown_variables,
            ..Self::default()
        };
        for (name, value) in &options.environment {
            let given = match value {
                EnvironmentValue::Known(text) => GivenValue::Text(text.clone()),
                EnvironmentValue::Withheld => GivenValue::Unknown,
            };
            values.given.insert(name.clone(), given);
        }
        for name in VARIABLE_FILES {
            match values.read_automatic(root, name, access) {
                // A dangling symlink is treated as a missing file.
                Err(error) if error.is_not_found() => {}
                result => result?,
            }
        }
        for (name, _) in root.list()? {
            if AUTOMATIC.iter().any(|ending| name.ends_with(ending)) {
                values.read_automatic(root, &name, access)?;
            }
        }
        for option in &options.variables {
            match option {
                VariableOption::Value { name, text } => {
                    values
                        .given
                        .insert(name.clone(), GivenValue::Text(text.clone()));
                }
                VariableOption::File(path) => values.read_named(root, path, access)?,
                VariableOption::Content { path, text } => {
                    values.add(&SourceFile::parse(path, text.to_vec())?)?;
                }
            }
        }
        Ok(values)
    }

    /// Reads a file given with `--var-file`. A symlink in the repository may be the work of an attacker, so its target is checked.
    fn read_named(
        &mut self,
        root: &ModuleDirectory<'_>,
        path: &Path,
        access: &ReadAccess,
    ) -> Result<(), ConfigError> {
        let real_root = match root {
            ModuleDirectory::OnDisk(root) => Some(root.canonicalize().unwrap_or_default()),
            ModuleDirectory::Assembled(..) => path.is_absolute().then(PathBuf::new),
        };
        let shown = root.shown().join(path);
        if let Some(real_root) = real_root {
            if access.contains_unresolved(&clean(&real_root.join(path))) {
                check_link(&shown, access)?;
            }
            return self.add(&SourceFile::parse(&shown, module_files::read(&shown)?)?);
        }
        let Some(file) = root.file(path) else {
            let source = io::ErrorKind::NotFound.into();
            return Err(ConfigError::ReadFile {
                path: shown,
                source,
            });
        };
        if let TreeFile::OnDisk { path, package } = &file {
            check_link(path, &access_in(package.as_deref(), access))?;
        }
        self.add(&file.parse()?)
    }

    /// Reads a variable file that applies because of its name. Fails if `access` requires files that git tracks and the file is untracked,
    /// because it may then contain unrelated secrets.
    fn read_automatic(
        &mut self,
        root: &ModuleDirectory<'_>,
        name: &str,
        access: &ReadAccess,
    ) -> Result<(), ConfigError> {
        let Some(file) = root.file(Path::new(name)) else {
            return Ok(());
        };
        if let TreeFile::OnDisk { path, package } = &file {
            let access = access_in(package.as_deref(), access);
            if let Err(error @ AccessError::Untracked) = access.locate(path) {
                return Err(ConfigError::UntrackedVariables {
                    path: path.clone(),
                    reason: error.to_string(),
                });
            }
            check_link(path, &access)?;
        }
        self.add(&file.parse()?)
    }

    fn add(&mut self, file: &SourceFile) -> Result<(), ConfigError> {
        if file.body().native_blocks().next().is_some() {
            let reason = "it contains a block, but a variable file may contain only arguments";
            return Err(invalid_file(file.path(), reason.to_owned()));
        }
        for argument in file.body().arguments()? {
            self.given.insert(
                argument.name().to_owned(),
                GivenValue::Written(argument.value()),
            );
        }
        Ok(())
    }

    /// Checks that the values in variable files for these variables are constant. The error message contains the position.
    pub(super) fn check<'v>(
        &self,
        variables: impl Iterator<Item = &'v Variable>,
        budget: &EvalBudget,
    ) -> Result<(), String> {
        for variable in variables {
            if let Some(GivenValue::Written(value)) = self.given.get(&variable.name) {
                self.get(variable, &TypeConstraint::Any, budget)
                    .map_err(|problem| format!("{}: {problem}", value.place()))?;
            }
        }
        Ok(())
    }

    pub(super) fn get(
        &self,
        variable: &Variable,
        constraint: &TypeConstraint,
        budget: &EvalBudget,
    ) -> Result<Option<Value>, EvalProblem> {
        let problem = |message: &str| {
            EvalProblem::Reference(format!("the value of `var.{}` {message}", variable.name))
        };
        let invalid = || problem("is not a valid expression");
        let constant = |tree: &Expr| {
            let value = syntax::evaluate(tree, &Constants(Some(budget)));
            value.map(Some).map_err(|fault| match fault.problem {
                exceeded @ EvalProblem::Exceeded(_) => exceeded,
                _quoting => problem("is not constant"),
            })
        };
        match self.given.get(&variable.name) {
            _ if self.are_unknown => Ok(Some(Value::Unknown)),
            None => Ok(None),
            Some(GivenValue::Unknown) => Ok(Some(Value::Unknown)),
            Some(GivenValue::Written(value)) => {
                value.pay_for_tree(budget)?;
                let tree = value.tree(Strings::Plain).map_err(|_quoting| invalid())?;
                constant(&tree)
            }
            Some(GivenValue::Text(text))
                if variable.type_constraint.is_none() || constraint.is_primitive() =>
            {
                budget.bytes(text.len())?;
                Ok(Some(text.as_str().into()))
            }
            Some(GivenValue::Text(text)) => {
                syntax::pay_for_tree(text.len(), budget)?;
                let tree = syntax::parse_expression(text).map_err(|_quoting| invalid())?;
                constant(&tree)
            }
        }
    }
}
