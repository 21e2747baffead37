//! Evaluates attributes, indexes, splats, objects and `for` expressions.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::span::Span;

use super::super::expr::{Expr, ForExpr, ForVariables, ObjectEntry};
use super::super::value::{MAP_VALUES, Value, normalized};
use super::scope::at;
use super::{EvalFault, EvalProblem, Evaluator, operators};

/// Evaluates `value.name`. For a sensitive value, the result is unknown, but a missing attribute is still an error, which `try` can
/// catch.
pub(super) fn attribute<'a>(value: &'a Value, name: &str) -> Result<&'a Value, EvalProblem> {
    match value {
        Value::Unknown => Ok(&Value::Unknown),
        Value::Sensitive(inner) => attribute(inner, name).map(|_| &Value::Unknown),
        Value::Object(entries) | Value::Map(entries) => entries
            .get(&*normalized(name))
            .ok_or_else(|| EvalProblem::NoSuchKey(name.to_owned())),
        other => Err(EvalProblem::wrong_type("an object", other)),
    }
}

/// Evaluates `value[key]`.
pub(super) fn index<'a>(value: &'a Value, key: &Value) -> Result<&'a Value, EvalProblem> {
    match (value, key) {
        (Value::Sensitive(inner), key) => index(inner, key).map(|_| &Value::Unknown),
        (Value::Unknown, _) => Ok(&Value::Unknown),
        (Value::List(_) | Value::Tuple(_) | Value::Map(_) | Value::Object(_), key)
            if key.is_unknown() =>
        {
            Ok(&Value::Unknown)
        }
        (Value::Map(_) | Value::Object(_), key) => attribute(value, &operators::text(key)?),
        (Value::List(elements) | Value::Tuple(elements), key) => {
            let number = operators::number(key)?;
            let at = number.to_integer().and_then(|at| usize::try_from(at).ok());
            at.and_then(|at| elements.get(at))
                .ok_or_else(|| EvalProblem::NoSuchIndex(number.to_string()))
        }
        (other, _) => Err(EvalProblem::wrong_type("a list or an object", other)),
    }
}

/// Returns the keys and values of a collection, or `None` if it is unknown.
pub(super) fn elements(value: Value) -> Result<Option<Vec<(Value, Value)>>, EvalProblem> {
    match value {
        Value::Unknown | Value::Sensitive(_) => Ok(None),
        Value::Set(elements) => Ok(Some(
            elements
                .into_iter()
                .map(|element| (element.clone(), element))
                .collect(),
        )),
        Value::List(elements) | Value::Tuple(elements) => {
            let indexes = (0_i64..).map(|at| Value::Number(at.into()));
            Ok(Some(indexes.zip(elements).collect()))
        }
        Value::Map(entries) | Value::Object(entries) => {
            let entries = entries.into_iter();
            let keyed = entries.map(|(key, value)| (Value::String(key), value));
            Ok(Some(keyed.collect()))
        }
        other => Err(EvalProblem::wrong_type("a list or an object", &other)),
    }
}

impl Evaluator<'_> {
    /// Runs `inner` with the variables of a `for` expression or directive in scope.
    pub(super) fn with_variables<T>(
        &mut self,
        variables: &ForVariables,
        (key, value): (Value, Value),
        inner: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = self.locals.names.len();
        if let Some(name) = &variables.key {
            self.locals.push(name, key);
        }
        self.locals.push(&variables.value, value);
        let result = inner(self);
        self.locals.names.truncate(outer);
        result
    }

    pub(super) fn object(&mut self, entries: &[ObjectEntry]) -> Result<Value, EvalFault> {
        let mut object = BTreeMap::new();
        let mut known = true;
        for entry in entries {
            let value = self.value(&entry.value)?;
            match self.key(&entry.key)? {
                Some(key) => {
                    let map = if object.is_empty() { MAP_VALUES } else { 0 };
                    self.pay(entry.key.span, map + 2, key.len())?;
                    drop(object.insert(key, value));
                }
                None => known = false,
            }
        }
        Ok(if known {
            Value::Object(object)
        } else {
            Value::Unknown
        })
    }

    /// Returns the key of an object entry, or `None` if it is unknown. A bare name is the key itself.
    fn key(&mut self, key: &Expr) -> Result<Option<String>, EvalFault> {
        match key.as_bare_name() {
            Some(name) => Ok(Some(normalized(name).into_owned())),
            None => self.computed_key(key),
        }
    }

    /// Evaluates `source[*].each`. A single value counts as a list of one element, and null as an empty list.
    pub(super) fn splat(&mut self, source: &Expr, each: &Expr) -> Result<Value, EvalFault> {
        let (items, is_list) = match self.value(source)? {
            Value::Unknown | Value::Sensitive(_) => return Ok(Value::Unknown),
            Value::List(items) | Value::Set(items) => (items, true),
            Value::Tuple(items) => (items, false),
            Value::Null => (Vec::new(), false),
            single => (vec![single], false),
        };
        self.pay(source.span, items.len(), 0)?;
        let mut results = Vec::with_capacity(items.len());
        for item in items {
            self.locals.items.push(Rc::new(item));
            let result = self.value(each);
            self.locals.items.pop();
            results.push(result?);
        }
        Ok(if is_list {
            Value::List(results)
        } else {
            Value::Tuple(results)
        })
    }

    pub(super) fn for_expression(
        &mut self,
        parts: &ForExpr,
        span: Span,
    ) -> Result<Value, EvalFault> {
        let source = self.value(&parts.collection)?;
        self.pay_for_turns(parts.collection.span, &source)?;
        let Some(found) = at(parts.collection.span, elements(source))? else {
            return Ok(Value::Unknown);
        };
        let mut results = ForResults::default();
        for element in found {
            self.with_variables(&parts.variables, element, |evaluator| {
                evaluator.for_element(parts, &mut results, span)
            })?;
        }
        Ok(results.finish(parts))
    }

    /// Deducts the cost of iterating over `source`: for each iteration, one step and one value (the key).
    pub(super) fn pay_for_turns(&self, span: Span, source: &Value) -> Result<(), EvalFault> {
        let turns = match (source.elements(), source.entries()) {
            (Some(elements), _) => elements.len(),
            (_, Some(entries)) => entries.len(),
            _ => 0,
        };
        at(span, self.budget.steps(turns))?;
        self.pay(span, turns, 0)
    }

    fn for_element(
        &mut self,
        parts: &ForExpr,
        results: &mut ForResults,
        span: Span,
    ) -> Result<(), EvalFault> {
        if let Some(condition) = &parts.condition {
            match self.value(condition)? {
                value if value.is_unknown() => {
                    results.unknown = true;
                    return Ok(());
                }
                value if !at(condition.span, operators::boolean(&value))? => return Ok(()),
                _ => {}
            }
        }
        let Some(key) = &parts.key else {
            let value = self.value(&parts.value)?;
            self.pay(span, 1, 0)?;
            results.list.push(value);
            return Ok(());
        };
        let Some(key) = self.computed_key(key)? else {
            results.unknown = true;
            return Ok(());
        };
        let value = self.value(&parts.value)?;
        // Each key can start a new list (4 values), and it is copied for the lookup (twice its length).
        self.pay(span, 4, 2 * key.len())?;
        if parts.grouped {
            results.groups.entry(key).or_default().push(value);
            return Ok(());
        }
        match results.object.insert(key.clone(), value) {
            None => Ok(()),
            Some(_) => Err(EvalProblem::DuplicateKey(key).at(span)),
        }
    }

    /// Evaluates a key expression. Returns `None` if the key is unknown. A bare name is a variable here.
    fn computed_key(&mut self, key: &Expr) -> Result<Option<String>, EvalFault> {
        match self.value(key)? {
            value if value.is_unknown() => Ok(None),
            value => at(key.span, operators::text(&value)).map(Some),
        }
    }
}

#[derive(Default)]
struct ForResults {
    list: Vec<Value>,
    object: BTreeMap<String, Value>,
    groups: BTreeMap<String, Vec<Value>>,
    unknown: bool,
}

impl ForResults {
    fn finish(self, parts: &ForExpr) -> Value {
        if self.unknown {
            return Value::Unknown;
        }
        if parts.key.is_none() {
            return Value::Tuple(self.list);
        }
        if parts.grouped {
            let groups = self
                .groups
                .into_iter()
                .map(|(key, values)| (key, Value::Tuple(values)));
            return Value::Object(groups.collect());
        }
        Value::Object(self.object)
    }
}
