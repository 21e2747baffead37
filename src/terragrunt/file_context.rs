//! The context in which a configuration file is evaluated: its variables and functions.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use crate::functions::{FileAccess, Functions};
use crate::provider::Engine;
use crate::syntax::{self, ArgumentValue, EvalProblem, Value};

use super::config_value::config_value;
use super::error::{Failure, Outcome};
use super::evaluated_config::EvaluatedConfig;
use super::origins::{Origin, Origins};
use super::schema::ANY_ARGUMENTS;
use super::scope::Scope;
use super::shared_files::SharedAccess;
use super::unit_config_file::{Setting, UnitConfigFile};
use super::unit_run::UnitRun;
use super::{UnitError, VALUES_FILE};

/// The value of an argument, its origins, and its expression.
#[derive(Clone, Debug)]
pub(super) struct Evaluated {
    pub(super) value: Value,
    pub(super) origins: Origins,
    /// The expression, for messages.
    pub(super) written: ArgumentValue,
}

/// A value with its origins.
#[derive(Clone, Debug, Default)]
pub(super) struct Traced {
    pub(super) value: Rc<Value>,
    pub(super) origins: Origins,
}

/// An `include` block.
#[derive(Debug)]
pub(super) struct Include {
    pub(super) label: String,
    /// The absolute path of the parent.
    pub(super) path: PathBuf,
    pub(super) strategy: MergeStrategy,
    pub(super) is_exposed: bool,
    pub(super) written: ArgumentValue,
    pub(super) config: OnceCell<Rc<EvaluatedConfig>>,
    exposed: OnceCell<(Rc<Value>, Origins)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MergeStrategy {
    None,
    Shallow,
    Deep,
}

/// The context of one configuration file: of a unit, of a file that it includes, or of a file that an expression reads.
pub(super) struct FileContext<'a> {
    pub(super) unit: &'a UnitRun<'a>,
    pub(super) file: Arc<UnitConfigFile>,
    /// The directory of the unit. For a parent, it differs from the directory of the file.
    directory: PathBuf,
    /// The directory of the file if it is a parent.
    parent_directory: Option<PathBuf>,
    pub(super) functions: Functions,
    pub(super) values: Option<Traced>,
    pub(super) includes: OnceCell<Vec<Include>>,
    pub(super) features: OnceCell<BTreeMap<String, Traced>>,
    /// The locals that have been evaluated; `None` before the `locals` block is evaluated.
    pub(super) locals: RefCell<Option<BTreeMap<String, Traced>>>,
    /// The labels of the `dependency` blocks of the file and its parents; `None` until they can be used.
    pub(super) dependencies: OnceCell<BTreeSet<String>>,
}

/// Returns the member `name` of an object, or the object itself if `name` is `None`.
pub(super) fn member(
    scope: &Scope<'_>,
    object: &Rc<Value>,
    name: Option<&str>,
) -> Result<Rc<Value>, EvalProblem> {
    let Some(name) = name else {
        return Ok(Rc::clone(object));
    };
    match &**object {
        Value::Object(entries) | Value::Map(entries) => {
            let missing = || EvalProblem::NoSuchKey(name.to_owned());
            let entry = entries.get(name).ok_or_else(missing)?;
            scope.context.unit.budget.value(entry)?;
            Ok(Rc::new(entry.clone()))
        }
        _ => Ok(Rc::new(Value::Unknown)),
    }
}

fn feature_value(name: &str, feature: &Traced) -> Value {
    let entries = [("name", name.into()), ("value", (*feature.value).clone())];
    Value::Object(entries.map(|(key, value)| (key.to_owned(), value)).into())
}

fn not_here(name: &str) -> EvalProblem {
    EvalProblem::Reference(format!("`{name}` cannot be used here"))
}

impl<'a> FileContext<'a> {
    /// Creates the context of `file`. `child` is the directory of the unit if the file is a parent.
    pub(super) fn new(
        unit: &'a UnitRun<'a>,
        file: Arc<UnitConfigFile>,
        child: Option<&Path>,
    ) -> Outcome<Self> {
        let own = file.directory().to_path_buf();
        let files = FileAccess::of_root(&unit.directory, Arc::clone(&unit.reader.options.files));
        let functions = Functions::new(&own, Engine::Terraform, Rc::clone(&unit.budget));
        let mut context = Self {
            unit,
            file,
            directory: child.unwrap_or(&own).to_path_buf(),
            parent_directory: child.map(|_| own.clone()),
            functions: functions.with_files(files),
            values: None,
            includes: OnceCell::new(),
            features: OnceCell::new(),
            locals: RefCell::new(None),
            dependencies: OnceCell::new(),
        };
        let path = own.join(VALUES_FILE);
        if SharedAccess::has_entry(&path) {
            context.values = Some(context.values_beside(&path)?);
        } else {
            unit.record_read(path);
        }
        Ok(context)
    }

    /// Returns the directory to which paths in the configuration are relative.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn parent_directory(&self) -> Option<&Path> {
        self.parent_directory.as_deref()
    }

    pub(super) fn includes(&self) -> &[Include] {
        self.includes.get().map_or(&[], Vec::as_slice)
    }

    /// Evaluates the values file at `path`, and returns its arguments as an object.
    pub(super) fn values_beside(&self, path: &Path) -> Outcome<Traced> {
        let file = self.unit.load(path, &ANY_ARGUMENTS, None)?;
        let mut values = BTreeMap::new();
        let mut origins = Origins::default();
        for setting in &file.body.settings {
            let evaluated = self.evaluate(setting)?;
            origins.join(&evaluated.origins);
            values.insert(setting.name.clone(), evaluated.value);
        }
        let value = Rc::new(Value::Object(values));
        Ok(Traced { value, origins })
    }

    /// Evaluates an argument. If evaluation fails because a file or variable is missing, the value is unknown, because the file or variable
    /// may exist on other machines.
    pub(super) fn evaluate(&self, setting: &Setting) -> Outcome<Evaluated> {
        let exceeded = |budget| self.unit.exceeded(setting.place(), budget);
        let paid = setting.value.pay_for_tree(&self.unit.budget);
        paid.map_err(exceeded)?;
        let tree = &setting.tree()?.expression;
        let strict = Scope::new(self, false);
        let run = |scope: &Scope<'_>| {
            let evaluated = self
                .unit
                .nested(tree.depth(), || syntax::evaluate(tree, scope));
            match evaluated {
                Ok(result) => result.map_err(|fault| (fault.span, fault.problem)),
                Err(problem) => Err((tree.span, problem)),
            }
        };
        let (result, scope) = match run(&strict) {
            Err(_) if strict.has_missing.get() && self.unit.budget.exceeded().is_none() => {
                let lenient = Scope::new(self, true);
                (run(&lenient), lenient)
            }
            result => (result, strict),
        };
        let origins = scope.origins.into_inner();
        match result {
            Ok(value) => Ok(Evaluated {
                value,
                origins,
                written: setting.value.clone(),
            }),
            Err((span, EvalProblem::Exceeded(budget))) => Err(self
                .unit
                .exceeded(setting.value.place_of(span), budget)
                .into()),
            Err((span, problem)) => Err(UnitError::Value {
                name: setting.name.clone(),
                place: Box::new(setting.value.place_of(span)),
                source: Box::new(match origins.hidden_names() {
                    Some(names) => problem.concealed(&names),
                    None => problem,
                }),
            }
            .into()),
        }
    }

    pub(super) fn values(&self, scope: &Scope<'_>) -> Option<Rc<Value>> {
        let values = self.values.as_ref()?;
        scope.join(&values.origins);
        Some(Rc::clone(&values.value))
    }

    pub(super) fn local(
        &self,
        scope: &Scope<'_>,
        name: Option<&str>,
    ) -> Result<Rc<Value>, EvalProblem> {
        let locals = self.locals.borrow();
        let Some(locals) = &*locals else {
            return Err(not_here("local"));
        };
        let Some(name) = name else {
            let all = locals.iter().map(|(name, local)| {
                scope.join(&local.origins);
                (name.clone(), (*local.value).clone())
            });
            return Ok(Rc::new(Value::Object(all.collect())));
        };
        let missing = || EvalProblem::Reference(format!("there is no local `{name}`"));
        let local = locals.get(name).ok_or_else(missing)?;
        scope.join(&local.origins);
        Ok(Rc::clone(&local.value))
    }

    pub(super) fn feature(
        &self,
        scope: &Scope<'_>,
        name: Option<&str>,
    ) -> Result<Rc<Value>, EvalProblem> {
        let features = self.features.get().ok_or_else(|| not_here("feature"))?;
        let Some(name) = name else {
            let all = features.iter().map(|(name, feature)| {
                scope.join(&feature.origins);
                (name.clone(), feature_value(name, feature))
            });
            return Ok(Rc::new(Value::Object(all.collect())));
        };
        let missing = || EvalProblem::Reference(format!("there is no feature `{name}`"));
        let feature = features.get(name).ok_or_else(missing)?;
        scope.join(&feature.origins);
        Ok(Rc::new(feature_value(name, feature)))
    }

    pub(super) fn dependency(
        &self,
        scope: &Scope<'_>,
        name: Option<&str>,
    ) -> Result<Rc<Value>, EvalProblem> {
        let labels = self
            .dependencies
            .get()
            .ok_or_else(|| not_here("dependency"))?;
        let Some(name) = name else {
            return Ok(Rc::new(scope.unknown(Origin::Dependency("*".to_owned()))));
        };
        // A parent can also use the dependencies of the unit.
        if !labels.contains(name) && self.parent_directory.is_none() {
            let message = format!("there is no `dependency` block `{name}`");
            return Err(EvalProblem::Reference(message));
        }
        let outputs = scope.unknown(Origin::Dependency(name.to_owned()));
        let entries = BTreeMap::from([("outputs".to_owned(), outputs)]);
        Ok(Rc::new(Value::Object(entries)))
    }

    pub(super) fn include(
        &self,
        scope: &Scope<'_>,
        label: Option<&str>,
    ) -> Result<Rc<Value>, EvalProblem> {
        let includes = self.includes.get().ok_or_else(|| not_here("include"))?;
        if let [only] = includes.as_slice()
            && only.label.is_empty()
        {
            return member(scope, &only.exposed(scope)?, label);
        }
        let Some(label) = label else {
            return Err(EvalProblem::Reference(
                "`include` needs a label, as in `include.LABEL.locals`".to_owned(),
            ));
        };
        let missing = || EvalProblem::Reference(format!("there is no `include` block `{label}`"));
        let include = includes.iter().find(|include| include.label == label);
        include.ok_or_else(missing)?.exposed(scope)
    }
}

impl Include {
    pub(super) fn new(
        label: &str,
        path: PathBuf,
        (strategy, is_exposed): (MergeStrategy, bool),
        written: ArgumentValue,
    ) -> Self {
        Self {
            label: label.to_owned(),
            path,
            strategy,
            is_exposed,
            written,
            config: OnceCell::new(),
            exposed: OnceCell::new(),
        }
    }

    fn exposed(&self, scope: &Scope<'_>) -> Result<Rc<Value>, EvalProblem> {
        let Some(config) = self.config.get().filter(|_| self.is_exposed) else {
            let message =
                "the included file is not visible: its `include` block needs `expose = true`";
            return Err(EvalProblem::Reference(message.to_owned()));
        };
        let (value, origins) = self.exposed.get_or_init(|| {
            let (value, origins) = config_value(config);
            (Rc::new(value), origins)
        });
        scope.join(origins);
        Ok(Rc::clone(value))
    }
}

impl Evaluated {
    /// Returns the failure for this value, which must be known but is not. `what` names the value in messages.
    pub(super) fn unknown(&self, what: &str, unit: &UnitRun<'_>) -> Failure {
        Failure::Unknown(Box::new(unit.unknown(
            what,
            &self.origins,
            self.written.place(),
        )))
    }

    /// Returns the error for an invalid value. The error does not quote the value.
    pub(super) fn invalid(&self, message: impl Into<String>) -> Failure {
        UnitError::invalid(self.written.place(), message).into()
    }
}
