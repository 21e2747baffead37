//! Values of the variables of a root module, from all the places that can give them. docs/rules/config.md 8.

use std::collections::BTreeMap;
use std::path::Path;

use crate::access::{AccessError, ReadAccess};
use crate::span::Explain as _;
use crate::syntax::{
    self, BoundedConstants, EvalBudget, EvalProblem, Expr, Expression, SourceFile, Strings, Value,
};

use super::super::calls::Variable;
use super::super::error::ConfigError;
use super::super::files;
use super::super::location::clean;
use super::super::options::{EnvironmentValue, ReadOptions, VariableOption};
use super::types::Type;

/// A value that was given.
#[derive(Debug)]
enum Given {
    /// In a variable file.
    Written(Expression),
    /// In the environment or on the command line.
    Text(String),
    /// In the environment, which an untrusted configuration may not use.
    Unknown,
}

/// What is given, by name; of several the last counts.
#[derive(Debug, Default)]
pub(super) struct Values {
    given: BTreeMap<String, Given>,
}

/// Read in this order, before those that match `*.auto.tfvars`.
const VARIABLE_FILES: [&str; 2] = ["terraform.tfvars", "terraform.tfvars.json"];
const AUTOMATIC: [&str; 2] = [".auto.tfvars", ".auto.tfvars.json"];

/// Whether a file of this name in a root module gives values to its variables without being asked to.
pub fn is_variable_file(name: &str) -> bool {
    VARIABLE_FILES.contains(&name) || AUTOMATIC.iter().any(|ending| name.ends_with(ending))
}

/// Why there are no values, in words that quote no variable file.
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

impl Values {
    /// Reads all places: environment, variable files, options. Names in the tree lead to files that `access` permits, while the
    /// command line may name anything.
    pub(super) fn read(
        root: &Path,
        options: &ReadOptions,
        access: &ReadAccess,
    ) -> Result<Self, ConfigError> {
        let mut values = Self::default();
        for (name, value) in &options.environment {
            let given = match value {
                EnvironmentValue::Known(text) => Given::Text(text.clone()),
                EnvironmentValue::Withheld => Given::Unknown,
            };
            values.given.insert(name.clone(), given);
        }
        for name in VARIABLE_FILES {
            match values.read_automatic(&root.join(name), access) {
                // A link that dangles is as good as no file.
                Err(ConfigError::ReadFile { source, .. })
                    if source.kind() == std::io::ErrorKind::NotFound => {}
                result => result?,
            }
        }
        for (name, _) in files::list(root)? {
            if AUTOMATIC.iter().any(|ending| name.ends_with(ending)) {
                values.read_automatic(&root.join(name), access)?;
            }
        }
        for option in &options.variables {
            match option {
                VariableOption::Value { name, text } => {
                    values.given.insert(name.clone(), Given::Text(text.clone()));
                }
                VariableOption::File(path) => values.read_named(root, path, access)?,
                VariableOption::Content { path, text } => values.add(path, text.to_vec())?,
            }
        }
        Ok(values)
    }

    /// A file that `--var-file` names. In the tree its content may be a link, which the tree alone answers for.
    fn read_named(
        &mut self,
        root: &Path,
        path: &Path,
        access: &ReadAccess,
    ) -> Result<(), ConfigError> {
        let shown = root.join(path);
        let real_root = root.canonicalize().unwrap_or_default();
        if access.contains_unresolved(&clean(&real_root.join(path))) {
            self.read_own(&shown, access)
        } else {
            self.add(&shown, files::read(&shown)?)
        }
    }

    /// A file that is read because of its name. One that git does not track may hold another program's secrets.
    fn read_automatic(&mut self, path: &Path, access: &ReadAccess) -> Result<(), ConfigError> {
        if let Err(error @ AccessError::Untracked) = access.locate(path) {
            return Err(ConfigError::VariableFile {
                path: path.to_path_buf(),
                reason: error.to_string(),
            });
        }
        self.read_own(path, access)
    }

    fn read_own(&mut self, path: &Path, access: &ReadAccess) -> Result<(), ConfigError> {
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
        access.resolve(path).map_err(refused)?;
        self.add(path, files::read(path)?)
    }

    fn add(&mut self, path: &Path, text: Vec<u8>) -> Result<(), ConfigError> {
        let file = SourceFile::parse(path, text)?;
        if file.body().native_blocks().next().is_some() {
            return Err(ConfigError::VariableFile {
                path: path.to_path_buf(),
                reason: "it has blocks, but a variable file may only have arguments".to_owned(),
            });
        }
        for argument in file.body().arguments()? {
            self.given
                .insert(argument.name().to_owned(), Given::Written(argument.value()));
        }
        Ok(())
    }

    /// The value that is given for a variable, if one is.
    pub(super) fn get(
        &self,
        variable: &Variable,
        constraint: &Type,
        budget: &EvalBudget,
    ) -> Result<Option<Value>, EvalProblem> {
        let problem = |message: &str| {
            EvalProblem::Reference(format!("the value of `var.{}` {message}", variable.name))
        };
        let invalid = || problem("is not an expression");
        let constant = |tree: &Expr| {
            let value = syntax::evaluate(tree, &BoundedConstants(budget));
            value.map(Some).map_err(|fault| match fault.problem {
                exceeded @ EvalProblem::Exceeded(_) => exceeded,
                _quoting => problem("is not constant"),
            })
        };
        match self.given.get(&variable.name) {
            None => Ok(None),
            Some(Given::Unknown) => Ok(Some(Value::Unknown)),
            Some(Given::Written(value)) => {
                value.pay_for_tree(budget)?;
                let tree = value.tree(Strings::Plain).map_err(|_quoting| invalid())?;
                constant(&tree)
            }
            Some(Given::Text(text))
                if variable.type_constraint.is_none() || constraint.is_primitive() =>
            {
                budget.bytes(text.len())?;
                Ok(Some(Value::String(text.clone())))
            }
            Some(Given::Text(text)) => {
                syntax::pay_for_tree(text.len(), budget)?;
                let tree = syntax::parse_expression(text).map_err(|_quoting| invalid())?;
                constant(&tree)
            }
        }
    }
}
