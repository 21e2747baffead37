//! Checks the blocks of a lock file and their values, and collects all errors.

use std::collections::BTreeSet;

use super::LockFile;
use crate::lockfile::ProviderLock;
use crate::lockfile::error::{ParseError, ParseProblem};
use crate::provider::{Engine, Hash, ProviderAddr, Version, VersionConstraints};
use crate::span::{Place, Span};
use crate::syntax::{
    ArgumentValue, Block, Body, Constants, EvalFault, Expr, ExprKind, SourceFile, Strings,
    SyntaxError, Value, check_references, evaluate,
};

pub(super) struct LockFileParser<'a> {
    pub(super) text: &'a [u8],
    pub(super) engine: Engine,
    pub(super) file: LockFile,
    /// The first byte of each block, and whether it is a `module` block.
    pub(super) starts: Vec<(usize, bool)>,
    pub(super) first_module: Option<Place>,
    pub(super) errors: Vec<ParseError>,
}

impl LockFileParser<'_> {
    fn error(&mut self, place: Place, problem: ParseProblem) {
        self.errors.push(ParseError { place, problem });
    }

    pub(super) fn parse(&mut self, file: &SourceFile) {
        let body = file.body();
        self.reject_arguments(&body, &[]);
        for block in body.native_blocks() {
            let kind = block.kind();
            if kind != "provider" && kind != "module" {
                self.error(
                    block.place(),
                    ParseProblem::UnsupportedBlock(kind.to_owned()),
                );
            } else if self.has_one_label(&block) {
                let is_module = kind == "module";
                self.starts.push((block.range().start(), is_module));
                if is_module {
                    self.first_module.get_or_insert_with(|| block.place());
                } else {
                    self.provider(&block);
                }
            }
        }
    }

    fn reject_arguments(&mut self, body: &Body<'_>, known: &[&str]) {
        for argument in self.keep(body.arguments()).unwrap_or_default() {
            if !known.contains(&argument.name()) {
                let problem = ParseProblem::UnsupportedArgument(argument.name().to_owned());
                self.error(argument.place(), problem);
            }
        }
    }

    fn argument(&mut self, body: &Body<'_>, name: &str) -> Option<ArgumentValue> {
        self.keep(body.value(name)).flatten()
    }

    fn keep<T>(&mut self, result: Result<T, SyntaxError>) -> Option<T> {
        result
            .map_err(|error| self.error(error.place, ParseProblem::Syntax(error.problem)))
            .ok()
    }

    fn has_one_label(&mut self, block: &Block<'_>) -> bool {
        let kind = block.kind().to_owned();
        match block.labels() {
            [] => self.error(block.place(), ParseProblem::MissingLabel(kind)),
            [_] => return true,
            [_, _, ..] => {
                let place = block.label_range(1).place();
                self.error(place, ParseProblem::ExtraneousLabel(kind));
            }
        }
        false
    }

    /// Parses a `provider` block. Its content is checked even if its address is invalid.
    fn provider(&mut self, block: &Block<'_>) {
        let body = block.body();
        let address = self.address(block);
        self.reject_arguments(body, &["version", "constraints", "hashes"]);
        for inner in body.native_blocks() {
            self.error(
                inner.place(),
                ParseProblem::UnsupportedBlock(inner.kind().to_owned()),
            );
        }
        let version = self.version(body, block);
        let constraints = self.argument(body, "constraints");
        let constraints = constraints.map(|argument| self.constraints(&argument));
        let hashes = self.argument(body, "hashes");
        let hashes = hashes.map(|argument| self.hashes(&argument));
        if let (Some(address), Some(version)) = (address, version) {
            let lock = ProviderLock {
                version,
                constraints: constraints.flatten().unwrap_or_default(),
                hashes: hashes.unwrap_or_default(),
            };
            self.file.locks.providers.insert(address, lock);
        }
    }

    /// Parses the label of a `provider` block. Only the first block for each address is accepted.
    fn address(&mut self, block: &Block<'_>) -> Option<ProviderAddr> {
        let label = block.labels().first()?;
        let place = block.label_range(0).place();
        let address = match ProviderAddr::parse(&label.text, self.engine) {
            Ok(address) => address,
            Err(error) => {
                self.error(place, ParseProblem::InvalidAddress(error));
                return None;
            }
        };
        let engine = self.engine;
        if !address.is_lockable(engine) {
            self.error(place, ParseProblem::NotLockable { address, engine });
            return None;
        }
        if address.to_string() != label.text {
            self.error(place, ParseProblem::NonNormalizedAddress(address));
            return None;
        }
        if let Some(first) = self.file.places.get(&address) {
            let line = first.line;
            self.error(place, ParseProblem::Duplicate { address, line });
            return None;
        }
        self.file.places.insert(address.clone(), block.place());
        Some(address)
    }

    fn version(&mut self, body: &Body<'_>, block: &Block<'_>) -> Option<Version> {
        let Some(argument) = self.argument(body, "version") else {
            self.error(block.place(), ParseProblem::MissingVersion);
            return None;
        };
        let expr = self.expression(&argument)?;
        let value = self.value(&argument, &expr)?;
        if value == Value::Null {
            self.error(argument.place(), ParseProblem::MissingVersion);
            return None;
        }
        let text = self.string(&argument, expr.span, value)?;
        let problem = match Version::parse(&text) {
            Ok(version) if version.to_string() == text => return Some(version),
            Ok(version) => ParseProblem::NonCanonicalVersion(version.to_string()),
            Err(error) => ParseProblem::InvalidVersion(error),
        };
        self.error(argument.place(), problem);
        None
    }

    fn constraints(&mut self, argument: &ArgumentValue) -> Option<VersionConstraints> {
        let expr = self.expression(argument)?;
        let value = self.value(argument, &expr)?;
        let text = self.string(argument, expr.span, value)?;
        match VersionConstraints::parse_canonical(&text) {
            Ok(constraints) => Some(constraints),
            Err(error) => {
                let place = self.place_within(argument, &expr, &text, error.span);
                self.error(place, ParseProblem::InvalidConstraints(error));
                None
            }
        }
    }

    fn hashes(&mut self, argument: &ArgumentValue) -> BTreeSet<Hash> {
        let Some(expr) = self.expression(argument) else {
            return BTreeSet::new();
        };
        let ExprKind::Tuple(elements) = &expr.kind else {
            self.error(argument.place(), ParseProblem::NotAList);
            return BTreeSet::new();
        };
        if elements.is_empty() {
            self.error(argument.place(), ParseProblem::EmptyHashSet);
        }
        elements
            .iter()
            .filter_map(|element| self.hash(argument, element))
            .collect()
    }

    fn hash(&mut self, argument: &ArgumentValue, element: &Expr) -> Option<Hash> {
        let value = self.value(argument, element)?;
        let text = self.string(argument, element.span, value)?;
        match Hash::parse(&text) {
            Ok(hash) => Some(hash),
            Err(error) => {
                let place = argument.place_of(element.span);
                self.error(place, ParseProblem::InvalidHash(error));
                None
            }
        }
    }

    fn expression(&mut self, argument: &ArgumentValue) -> Option<Expr> {
        self.keep(argument.tree(Strings::Plain))
    }

    /// Evaluates an expression. References and function calls are errors, even in branches that are not evaluated.
    fn value(&mut self, argument: &ArgumentValue, expr: &Expr) -> Option<Value> {
        if let Some(text) = expr.as_text() {
            return Some(Value::String(text));
        }
        let result = check_references(expr, &Constants(None))
            .and_then(|()| evaluate(expr, &Constants(None)));
        match result {
            Ok(value) => Some(value),
            Err(EvalFault { span, problem }) => {
                self.error(argument.place_of(span), ParseProblem::Value(problem));
                None
            }
        }
    }

    fn string(&mut self, argument: &ArgumentValue, span: Span, value: Value) -> Option<String> {
        if let Value::String(text) = value {
            return Some(text);
        }
        let text = value.to_text();
        if text.is_none() {
            let place = argument.place_of(span);
            self.error(place, ParseProblem::NotAString(value.type_name()));
        }
        text
    }

    /// Returns the position of a part of a string. If the string has escapes or is computed, returns the position of the whole
    /// expression.
    fn place_within(
        &self,
        argument: &ArgumentValue,
        expr: &Expr,
        string: &str,
        part: Span,
    ) -> Place {
        let start = expr.span.start + 1;
        let verbatim = self.text.get(start..start + string.len()) == Some(string.as_bytes());
        let span = if verbatim && expr.as_text().is_some() {
            Span::new(start + part.start, start + part.end)
        } else {
            expr.span
        };
        argument.place_of(span)
    }
}
