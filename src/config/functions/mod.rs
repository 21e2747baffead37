//! Terraform's functions, as far as they are used in module sources and versions.
//!
//! Functions that depend on the moment are unknown to Terraform before apply. Those that are not here have a value that is not
//! known either; a source or version that needs it names them as not supported, and what is installed is trusted instead.

mod access;
mod collections;
mod digests;
mod files;
mod letters;
mod numbers;
mod strings;
mod tables;
mod templates;
mod types;
mod yaml;

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use crate::provider::Engine;
use crate::span::Span;
use crate::syntax::{
    self, EvalBudget, EvalFault, EvalProblem, EvalScope, Exceeded, Number, Refusal, Value,
};

use super::location::Location;
use types::CommonType;

pub(super) use access::FileAccess;

/// The functions of an engine for one module.
#[derive(Clone)]
pub(super) struct Functions {
    /// What `file` and its like are relative to.
    root: PathBuf,
    engine: Engine,
    /// Which files they may read.
    files: FileAccess,
    /// What they may cost.
    budget: Rc<EvalBudget>,
}

/// What a function says when it fails.
type Outcome = Result<Value, Failure>;

/// A message, or that it is not for us to say.
enum Failure {
    Message(String),
    Unsupported,
    /// A file that cannot be read: what is wrong is said without quoting it.
    File {
        path: Option<String>,
        why: String,
        refusal: Option<Refusal>,
    },
    Exceeded(Exceeded),
}

impl From<Exceeded> for Failure {
    fn from(exceeded: Exceeded) -> Self {
        Self::Exceeded(exceeded)
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Self {
        Self::Message(message.to_owned())
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::Message(message)
    }
}

/// Handled before their arguments are looked at.
const SPECIAL: [&str; 6] = [
    "try",
    "can",
    "sensitive",
    "nonsensitive",
    "issensitive",
    "ephemeralasnull",
];

/// Terraform knows their values only when it runs. OpenTofu takes those of the moment: any will do, since a source that
/// depends on which one is an accident, and the same run must have the same result.
const MOMENTARY: [(&str, &str); 3] = [
    ("timestamp", "2026-01-01T00:00:00Z"),
    ("uuid", "6ba7b810-9dad-41d1-80b4-00c04fd430c8"),
    (
        "bcrypt",
        "$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy",
    ),
];

/// Unknown to Terraform, an error in OpenTofu.
const PLAN_TIMESTAMP: &str = "plantimestamp";

/// Known, and not here: what no address or version is made of, where being nearly right is worse than saying so.
///
/// | functions | why |
/// | --- | --- |
/// | `cidrhost`, `cidrnetmask`, `cidrsubnet`, `cidrsubnets`, `cidrcontains` | they compute addresses of networks |
/// | `formatdate`, `timeadd`, `timecmp` | they compute times |
/// | `base64gzip`, `base64gunzip`, `textencodebase64`, `textdecodebase64` | their result depends on one implementation of compression, or of old encodings |
/// | `rsadecrypt` | secrets are no part of an address |
/// | `log` | its result is that of binary floating point |
/// | `pathexpand` | it depends on who runs the tool |
/// | `fileset` | it depends on files that are no configuration |
/// | `yamlencode` | its layout is that of one implementation |
const UNSUPPORTED: [&str; 15] = [
    "base64gzip",
    "cidrhost",
    "cidrnetmask",
    "cidrsubnet",
    "cidrsubnets",
    "fileset",
    "formatdate",
    "log",
    "pathexpand",
    "rsadecrypt",
    "textdecodebase64",
    "textencodebase64",
    "timeadd",
    "timecmp",
    "yamlencode",
];

/// As [`UNSUPPORTED`], and known to OpenTofu only.
const UNSUPPORTED_BY_TOFU_ONLY: [&str; 2] = ["base64gunzip", "cidrcontains"];

/// Here, and known to OpenTofu only.
const TOFU_ONLY: [&str; 1] = ["urldecode"];

impl Functions {
    pub(super) fn new(root: &Path, engine: Engine, budget: Rc<EvalBudget>) -> Self {
        Self {
            root: root.to_path_buf(),
            engine,
            files: FileAccess::of_root(root, Arc::default()),
            budget,
        }
    }

    /// The same, with files to read.
    pub(super) fn with_files(self, files: FileAccess) -> Self {
        Self { files, ..self }
    }

    /// The functions of a module that a module with these functions calls.
    pub(super) fn of_called(&self, location: &Location) -> Self {
        let files = self.files.of_called(location);
        self.clone().with_files(files)
    }

    /// Whether the value of this function, or what it says when it fails, can be made of the content of files.
    pub(super) fn reads_files(name: &str) -> bool {
        let name = name.strip_prefix("core::").unwrap_or(name);
        name.starts_with("file") || name.starts_with("template")
    }

    /// Whether there is such a function.
    pub(super) fn check(&self, name: &str) -> Result<(), EvalProblem> {
        let name = name.strip_prefix("core::").unwrap_or(name);
        let is_terraform = self.engine == Engine::Terraform;
        if is_terraform && (TOFU_ONLY.contains(&name) || UNSUPPORTED_BY_TOFU_ONLY.contains(&name)) {
            return Err(EvalProblem::NoSuchFunction(name.to_owned()));
        }
        let is_here = SPECIAL.contains(&name)
            || Self::find(name).is_some()
            || MOMENTARY.iter().any(|(momentary, _)| *momentary == name)
            || (is_terraform
                && (name == "convert" || name == PLAN_TIMESTAMP || name.starts_with("provider::")));
        let is_unsupported =
            UNSUPPORTED.contains(&name) || UNSUPPORTED_BY_TOFU_ONLY.contains(&name);
        match (is_here, is_unsupported) {
            (true, _) => Ok(()),
            (false, true) => Err(EvalProblem::UnsupportedFunction(name.to_owned())),
            (false, false) => Err(EvalProblem::NoSuchFunction(name.to_owned())),
        }
    }

    /// Calls one. What multiplies its arguments asks for room first; every result is paid for.
    pub(super) fn call(&self, name: &str, arguments: &[Value]) -> Result<Value, EvalProblem> {
        let result = self.call_unpaid(name, arguments)?;
        self.budget.value(&result)?;
        Ok(result)
    }

    /// An unknown argument makes the result unknown, but where a function can do without it.
    fn call_unpaid(&self, name: &str, arguments: &[Value]) -> Result<Value, EvalProblem> {
        let name = name.strip_prefix("core::").unwrap_or(name);
        match (name, arguments) {
            ("sensitive", [Value::Sensitive(inner)]) => return Ok(Value::Sensitive(inner.clone())),
            ("sensitive", [value]) => return Ok(Value::Sensitive(Box::new(value.clone()))),
            ("nonsensitive", [Value::Sensitive(inner)]) => return Ok((**inner).clone()),
            // Nothing that is known before a run is ephemeral.
            ("nonsensitive" | "ephemeralasnull", [value]) => return Ok(value.clone()),
            ("issensitive", [Value::Unknown]) => return Ok(Value::Unknown),
            ("issensitive", [value]) => {
                return Ok(matches!(value, Value::Sensitive(_)).into());
            }
            (name, _) if SPECIAL.contains(&name) => {
                return Err(EvalProblem::Function {
                    name: name.to_owned(),
                    message: "it takes one argument".to_owned(),
                });
            }
            _ => {}
        }
        if let Some(function) = Self::find(name) {
            return self.call_found(name, function, arguments);
        }
        self.check(name)?;
        let moment = MOMENTARY.iter().find(|(momentary, _)| *momentary == name);
        Ok(match (self.engine, moment) {
            (Engine::Tofu, Some((_, value))) => Value::from(*value),
            _ => Value::Unknown,
        })
    }

    fn call_found(
        &self,
        name: &str,
        function: Function,
        arguments: &[Value],
    ) -> Result<Value, EvalProblem> {
        let failed = |failure| match failure {
            Failure::Message(message) => EvalProblem::Function {
                name: name.to_owned(),
                message,
            },
            Failure::Unsupported => EvalProblem::UnsupportedFunction(name.to_owned()),
            Failure::File { path, why, refusal } => EvalProblem::File {
                function: name.to_owned(),
                path,
                why,
                refusal,
            },
            Failure::Exceeded(exceeded) => exceeded.into(),
        };
        if name == "coalesce" {
            // The first known value that is neither null nor empty decides, unless an unknown one comes before it.
            let decisive = arguments.iter().find(|value| {
                !matches!(value, Value::Null) && value.to_text().as_deref() != Some("")
            });
            if let Some(value) = decisive {
                let common = CommonType::of(arguments);
                return common.map(|common| common.convert(value)).map_err(failed);
            }
        }
        if arguments.iter().any(Value::has_unknown) {
            return Ok(Value::Unknown);
        }
        function(self, arguments).map_err(failed)
    }

    fn find(name: &str) -> Option<Function> {
        let tables = [
            strings::find,
            collections::find,
            numbers::find,
            files::find,
            templates::find,
            digests::find,
            tables::find,
        ];
        tables.iter().find_map(|find| find(name))
    }
}

/// The value of a text that is one expression, with the functions of an engine and without variables.
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

/// Functions without variables.
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

/// A function with all its arguments.
type Function = fn(&Functions, &[Value]) -> Outcome;

fn text(value: &Value) -> Result<String, Failure> {
    value
        .to_text()
        .ok_or_else(|| format!("a string is needed, and there is {}", value.type_name()).into())
}

fn number(value: &Value) -> Result<Number, Failure> {
    value
        .to_number()
        .ok_or_else(|| format!("a number is needed, and there is {}", value.type_name()).into())
}

fn integer(value: &Value) -> Result<i64, Failure> {
    number(value)?
        .to_integer()
        .ok_or_else(|| "a whole number is needed".into())
}

fn list(value: &Value) -> Result<&[Value], Failure> {
    match value {
        Value::Tuple(elements) => Ok(elements),
        other => Err(format!("a list is needed, and there is {}", other.type_name()).into()),
    }
}

/// A position in a list or string.
fn position(value: &Value) -> Result<usize, Failure> {
    usize::try_from(integer(value)?)
        .map_err(|error| format!("a number that is not negative is needed: {error}").into())
}

/// A length as a number.
fn size(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

fn arity() -> Failure {
    "it does not take so many arguments".into()
}

#[cfg(test)]
mod tests;
