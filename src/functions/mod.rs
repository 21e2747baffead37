//! The functions of Terraform and OpenTofu.
//!
//! `table::FUNCTIONS` lists them all. The result of an unsupported function is unknown. If a module source or version depends on such a
//! result, tflock uses the module that `init` has installed.

mod assumptions;
mod collections;
mod csv;
mod digests;
mod file_access;
mod files;
mod letters;
mod numbers;
mod sets;
mod strings;
mod table;
mod templates;
mod yaml;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use crate::provider::Engine;
use crate::span::Span;
use crate::syntax::{
    self, EvalBudget, EvalFault, EvalProblem, EvalScope, Exceeded, Expr, Number, Refusal, Value,
    ValueType,
};

use table::{Function, Implementation};

pub use file_access::{FileAccess, FileLookup, LookedUpFile};
pub use files::clean_path;

/// The functions of an engine, as the expressions in one module can call them.
#[derive(Clone)]
pub struct Functions {
    /// The directory of the root module. Relative file paths are resolved against it.
    root: PathBuf,
    engine: Engine,
    files: FileAccess,
    budget: Rc<EvalBudget>,
}

type FunctionResult = Result<Value, FunctionError>;

enum FunctionError {
    Message(String),
    /// tflock cannot compute this result.
    Unsupported,
    /// A file that cannot be read. The error does not quote its content.
    File {
        path: Option<String>,
        why: String,
        refusal: Option<Refusal>,
    },
    Exceeded(Exceeded),
}

impl From<Exceeded> for FunctionError {
    fn from(exceeded: Exceeded) -> Self {
        Self::Exceeded(exceeded)
    }
}

impl From<&str> for FunctionError {
    fn from(message: &str) -> Self {
        Self::Message(message.to_owned())
    }
}

impl From<String> for FunctionError {
    fn from(message: String) -> Self {
        Self::Message(message)
    }
}

impl Functions {
    pub fn new(root: &Path, engine: Engine, budget: Rc<EvalBudget>) -> Self {
        Self {
            root: root.to_path_buf(),
            engine,
            files: FileAccess::of_root(root, Arc::default()),
            budget,
        }
    }

    pub fn with_files(self, files: FileAccess) -> Self {
        Self { files, ..self }
    }

    /// Creates the functions for a called module. `directory` is the directory of a local module, with symlinks resolved. `package` is
    /// the package of any other module.
    pub fn for_called_module(&self, directory: &Path, package: Option<&Path>) -> Self {
        let files = self.files.for_called_module(directory, package);
        self.clone().with_files(files)
    }

    /// Whether the result or the error of a function may contain the content of files.
    pub fn reads_files(name: &str) -> bool {
        Function::find(unprefixed(name)).is_some_and(|function| function.reads_files)
    }

    /// Checks the name of a function, even if its call is never evaluated. Fails if tflock does not support the function, or if the
    /// engine rejects the name before evaluation. Any other name that does not exist is an error only when it is called.
    pub fn check(&self, name: &str) -> Result<(), EvalProblem> {
        match self.find(unprefixed(name)) {
            Ok(Some(Function {
                implementation: Implementation::Unsupported,
                name,
                ..
            })) => Err(EvalProblem::UnsupportedFunction((*name).to_owned())),
            Err(problem) if name.starts_with("provider::") || unprefixed(name) == "convert" => {
                Err(problem)
            }
            _ => Ok(()),
        }
    }

    /// Checks arguments before they are evaluated: the template of Terraform's `templatestring` must be a reference.
    pub fn check_arguments(&self, name: &str, arguments: &[Expr]) -> Result<(), EvalProblem> {
        let is_checked = self.engine == Engine::Terraform && name == "templatestring";
        if is_checked && arguments.first().is_some_and(|first| !first.is_reference()) {
            return Err(EvalProblem::Function {
                name: name.to_owned(),
                message: "the template must be a reference, such as `local.template`".to_owned(),
            });
        }
        Ok(())
    }

    /// Finds a function of the engine. Returns `None` for a provider's function: Terraform does not know its result before apply.
    fn find(&self, name: &str) -> Result<Option<&'static Function>, EvalProblem> {
        let exists =
            |function: &&Function| function.only_in.is_none_or(|engine| engine == self.engine);
        match Function::find(name).filter(exists) {
            None if self.engine == Engine::Terraform && name.starts_with("provider::") => Ok(None),
            None => Err(EvalProblem::NoSuchFunction(name.to_owned())),
            found => Ok(found),
        }
    }

    /// Converts a value to a type. The error says what cannot be converted.
    fn convert(&self, value: &Value, target: &ValueType) -> FunctionResult {
        let is_open = |element: &ValueType| *element == ValueType::Dynamic;
        let message = match target {
            ValueType::Bool | ValueType::Number | ValueType::String => {
                "the value cannot be converted"
            }
            ValueType::List(element) if !is_open(element) => "an element cannot be converted",
            _ => NO_COMMON_TYPE,
        };
        let converted = value.clone().convert(target, &self.budget);
        converted.ok_or_else(|| message.into())
    }

    fn to_list(&self, value: &Value) -> FunctionResult {
        self.convert(value, &ValueType::list(ValueType::Dynamic))
    }

    fn to_set(&self, value: &Value) -> FunctionResult {
        self.convert(value, &ValueType::set(ValueType::Dynamic))
    }

    fn to_map(&self, value: &Value) -> FunctionResult {
        self.convert(value, &ValueType::map(ValueType::Dynamic))
    }

    /// Converts the elements of a list, set or tuple to one type.
    fn list_of(&self, value: &Value, element: ValueType) -> Result<Vec<Value>, FunctionError> {
        list(value)?;
        match self.convert(value, &ValueType::list(element))? {
            Value::List(elements) => Ok(elements),
            other => Err(wrong_type("a list", &other)),
        }
    }

    /// Calls a function and charges the budget for the result. Functions whose results can be much larger than their arguments check
    /// the budget first.
    pub fn call(&self, name: &str, arguments: &[Value]) -> Result<Value, EvalProblem> {
        let is_known = !arguments.iter().any(Value::has_unknown);
        self.call_checked(name, arguments, is_known)
    }

    /// Calls a function whose arguments contain holes, which are placeholders for unknown text. The function must copy the holes
    /// unchanged.
    pub fn call_with_holes(&self, name: &str, arguments: &[Value]) -> Result<Value, EvalProblem> {
        self.call_checked(name, arguments, true)
    }

    fn call_checked(
        &self,
        name: &str,
        arguments: &[Value],
        is_known: bool,
    ) -> Result<Value, EvalProblem> {
        let Some(function) = self.find(unprefixed(name))? else {
            return Ok(Value::Unknown);
        };
        for argument in arguments {
            self.budget.numbers(argument)?;
        }
        let name = function.name.to_owned();
        let result = function
            .call(self, arguments, is_known)
            .map_err(|error| match error {
                FunctionError::Message(message) => EvalProblem::Function { name, message },
                FunctionError::Unsupported => EvalProblem::UnsupportedFunction(name),
                FunctionError::File { path, why, refusal } => EvalProblem::File {
                    function: name,
                    path,
                    why,
                    refusal,
                },
                FunctionError::Exceeded(exceeded) => exceeded.into(),
            })?;
        self.budget.value(&result)?;
        Ok(result)
    }
}

/// Removes the prefix of built-in functions: `core::lower` becomes `lower`.
fn unprefixed(name: &str) -> &str {
    name.strip_prefix("core::").unwrap_or(name)
}

/// Evaluates an expression with the functions of an engine, but without variables.
pub fn evaluate_alone(text: &str, engine: Engine) -> Result<Value, EvalFault> {
    let budget = Rc::new(EvalBudget::of_root(Arc::default()));
    syntax::pay_for_tree(text.len(), &budget).map_err(|exceeded| EvalFault {
        span: Span::default(),
        problem: exceeded.into(),
    })?;
    let tree = syntax::parse_expression(text)?;
    let scope = FunctionsAlone(Functions::new(Path::new("."), engine, budget));
    syntax::check_references(&tree, &scope).and_then(|()| syntax::evaluate(&tree, &scope))
}

struct FunctionsAlone(Functions);

impl EvalScope for FunctionsAlone {
    fn reference(&self, root: &str, _: Option<&str>) -> Result<Rc<Value>, EvalProblem> {
        Err(EvalProblem::VariablesNotAllowed(root.to_owned()))
    }

    fn budget(&self) -> Option<&EvalBudget> {
        Some(&self.0.budget)
    }

    fn check_function(&self, name: &str) -> Result<(), EvalProblem> {
        self.0.check(name)
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Result<Value, EvalProblem> {
        self.0.call(name, arguments)
    }
}

fn text(value: &Value) -> Result<String, FunctionError> {
    value.to_text().ok_or_else(|| wrong_type("a string", value))
}

fn number(value: &Value) -> Result<Number, FunctionError> {
    value
        .to_number()
        .ok_or_else(|| wrong_type("a number", value))
}

fn integer(value: &Value) -> Result<i64, FunctionError> {
    let number = number(value)?.to_integer();
    number.ok_or_else(|| NOT_WHOLE.into())
}

const NOT_WHOLE: &str = "a whole number is required";

/// Returns the elements of a list, set or tuple.
fn list(value: &Value) -> Result<&[Value], FunctionError> {
    value.elements().ok_or_else(|| wrong_type("a list", value))
}

/// Returns the elements of a list or tuple.
fn sequence(value: &Value) -> Result<&[Value], FunctionError> {
    match value {
        Value::List(elements) | Value::Tuple(elements) => Ok(elements),
        other => Err(wrong_type("a list", other)),
    }
}

fn entries(value: &Value) -> Result<&BTreeMap<String, Value>, FunctionError> {
    value.entries().ok_or_else(|| wrong_type("a map", value))
}

/// The error for values of different types, such as numbers and booleans.
const NO_COMMON_TYPE: &str = "the values have no common type";

fn wrong_type(required: &str, value: &Value) -> FunctionError {
    format!("{required} is required, but this is {}", value.type_name()).into()
}

/// Converts a value used as a list index or a length to `usize`.
fn size(value: &Value) -> Result<usize, FunctionError> {
    usize::try_from(integer(value)?).map_err(|_negative| "the number must not be negative".into())
}

fn to_i64(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
