//! The names that an expression in a configuration file can use.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::syntax::{EvalBudget, EvalProblem, EvalScope, HOLE_END, HOLE_START, Value};

use super::file_context::{FileContext, member};
use super::functions;
use super::origins::{Origin, Origins, names};
use super::text_with_holes::BLOCK;

/// The scope of one expression. Variables and functions are looked up during evaluation, so `try` can catch missing ones.
pub(super) struct Scope<'a> {
    pub(super) context: &'a FileContext<'a>,
    /// The origins of the unknown and hidden values found so far.
    pub(super) origins: RefCell<Origins>,
    /// Whether missing files and variables are unknown values instead of errors.
    pub(super) is_lenient: bool,
    /// Whether a missing file or variable has caused an error.
    pub(super) has_missing: Cell<bool>,
}

/// The message for a unit without values. [`is_missing_values`] recognizes the error by this message.
const NO_VALUES: &str =
    "`values` is not available, because there is no `terragrunt.values.hcl` beside the file";

/// Whether an error means that a unit needs values that only a stack gives it.
pub(super) fn is_missing_values(problem: &EvalProblem) -> bool {
    matches!(problem, EvalProblem::Reference(message) if message == NO_VALUES)
}

impl<'a> Scope<'a> {
    pub(super) fn new(context: &'a FileContext<'a>, is_lenient: bool) -> Self {
        Self {
            context,
            origins: RefCell::default(),
            is_lenient,
            has_missing: Cell::new(false),
        }
    }

    pub(super) fn hide(&self, origin: Origin) {
        self.origins.borrow_mut().hidden.insert(origin);
    }

    pub(super) fn unknown(&self, origin: Origin) -> Value {
        self.origins.borrow_mut().unknown.insert(origin);
        Value::Unknown
    }

    /// Returns an unknown value for a missing file or variable. Fails with `problem` unless the scope is lenient.
    pub(super) fn missing(
        &self,
        origin: Origin,
        problem: EvalProblem,
    ) -> Result<Value, EvalProblem> {
        if self.is_lenient {
            return Ok(self.unknown(origin));
        }
        self.has_missing.set(true);
        Err(problem)
    }

    /// Returns the origin of a missing file. The path is left out if it may contain a hidden value.
    pub(super) fn missing_file(&self, path: &str) -> Origin {
        let is_hidden = !self.origins.borrow().hidden.is_empty();
        Origin::MissingFile(if is_hidden { "…" } else { path }.to_owned())
    }

    pub(super) fn join(&self, origins: &Origins) {
        self.origins.borrow_mut().join(origins);
    }

    /// Returns the text of a hole, which stands for an unknown part of a string. It names the origins of the unknown values so far.
    fn hole_text(&self, is_block: bool) -> String {
        let origins = self.origins.borrow();
        let mut text = String::from(HOLE_START);
        if is_block {
            text.push(BLOCK);
        }
        text.push_str(&names(&origins.unknown));
        text.push(HOLE_END);
        text
    }
}

impl EvalScope for Scope<'_> {
    fn reference(&self, root: &str, attribute: Option<&str>) -> Result<Rc<Value>, EvalProblem> {
        let no_such = |message: String| Err(EvalProblem::Reference(message));
        match (root, attribute) {
            ("local", name) => self.context.local(self, name),
            ("include", label) => self.context.include(self, label),
            ("feature", name) => self.context.feature(self, name),
            ("dependency", name) => self.context.dependency(self, name),
            ("values", name) => match self.context.values(self) {
                Some(values) => member(self, &values, name),
                None => no_such(NO_VALUES.to_owned()),
            },
            (other, _) => no_such(format!("there is no variable `{other}` here")),
        }
    }

    fn budget(&self) -> Option<&EvalBudget> {
        Some(&self.context.unit.budget)
    }

    fn check_function(&self, _: &str) -> Result<(), EvalProblem> {
        Ok(())
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Result<Value, EvalProblem> {
        functions::call(self, name, arguments)
    }

    fn hole(&self, is_block: bool) -> Option<String> {
        Some(self.hole_text(is_block))
    }
}

impl Scope<'_> {
    /// Returns the hole for a single unknown value.
    pub(super) fn value_hole(&self) -> String {
        self.hole_text(false)
    }
}
