//! Values of the variables of a root module, from all the places that can give them. spec/config.md 8.

use std::collections::BTreeMap;
use std::path::Path;

use crate::syntax::{self, Constants, EvalProblem, Strings, Value};

use super::super::body::File;
use super::super::calls::Variable;
use super::super::error::ConfigError;
use super::super::expression::Expression;
use super::super::files;
use super::super::options::{ReadOptions, VariableOption};
use super::types::Type;

/// A value that was given.
#[derive(Debug)]
enum Given {
    /// In a variable file.
    Written(Expression),
    /// In the environment or on the command line.
    Text(String),
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

impl Values {
    /// Reads all places: environment, variable files, options.
    pub(super) fn read(root: &Path, options: &ReadOptions) -> Result<Self, ConfigError> {
        let mut values = Self::default();
        for (name, text) in &options.environment {
            values.given.insert(name.clone(), Given::Text(text.clone()));
        }
        for name in VARIABLE_FILES {
            match values.read_file(&root.join(name)) {
                // A link that dangles is as good as no file.
                Err(ConfigError::ReadFile { source, .. })
                    if source.kind() == std::io::ErrorKind::NotFound => {}
                result => result?,
            }
        }
        for (name, _) in files::list(root)? {
            if AUTOMATIC.iter().any(|ending| name.ends_with(ending)) {
                values.read_file(&root.join(name))?;
            }
        }
        for option in &options.variables {
            match option {
                VariableOption::Value { name, text } => {
                    values.given.insert(name.clone(), Given::Text(text.clone()));
                }
                VariableOption::File(path) => values.read_file(&root.join(path))?,
            }
        }
        Ok(values)
    }

    fn read_file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let file = File::parse(path, files::read(path)?)?;
        if file.body().first_block().is_some() {
            let message =
                "it holds blocks, and only arguments can be in a variable file".to_owned();
            return Err(ConfigError::Variables {
                origin: format!("`{}`", path.display()),
                message,
            });
        }
        for argument in file.body().arguments()? {
            self.given
                .insert(argument.name, Given::Written(argument.value));
        }
        Ok(())
    }

    /// The value that is given for a variable, if one is.
    pub(super) fn get(
        &self,
        variable: &Variable,
        constraint: &Type,
    ) -> Result<Option<Value>, EvalProblem> {
        let problem = |message: String| {
            EvalProblem::Reference(format!("the value of `var.{}` {message}", variable.name))
        };
        match self.given.get(&variable.name) {
            None => Ok(None),
            Some(Given::Written(value)) => {
                let tree = value
                    .tree(Strings::Plain)
                    .map_err(|error| problem(format!("is no expression: {error}")))?;
                let value = syntax::evaluate(&tree, &Constants);
                value
                    .map(Some)
                    .map_err(|fault| problem(format!("is not constant: {}", fault.problem)))
            }
            Some(Given::Text(text))
                if variable.type_constraint.is_none() || constraint.is_primitive() =>
            {
                Ok(Some(Value::String(text.clone())))
            }
            Some(Given::Text(text)) => {
                let tree = syntax::parse_expression(text)
                    .map_err(|fault| problem(format!("is no expression: {}", fault.problem)))?;
                let value = syntax::evaluate(&tree, &Constants);
                value
                    .map(Some)
                    .map_err(|fault| problem(format!("is not constant: {}", fault.problem)))
            }
        }
    }
}
