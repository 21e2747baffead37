//! Evaluates units in small trees of files.

mod hostile;
mod merging;
mod recorded;
mod unknown_values;
mod variables;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::access::ReadRules;
use crate::config::EnvironmentValue;
use crate::span::Explain as _;

use crate::syntax::Value;

use super::{Unit, UnitError, UnitOptions, UnitOutcome, UnitReader};

/// A temporary directory.
struct Tree(tempfile::TempDir);

impl Tree {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn root(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn make_directory(&self, directory: &str) {
        fs::create_dir_all(self.0.path().join(directory)).unwrap();
    }

    /// Writes the files of a text in which `-- PATH` precedes each file. `@ROOT@` stands for the directory.
    fn of(text: &str) -> Self {
        let tree = Self::new();
        let root = tree.root().display().to_string();
        tree.make_directory("repo/.git");
        for file in text.split("\n-- ").skip(1) {
            let (path, content) = file.split_once('\n').unwrap_or((file, ""));
            tree.write(&format!("repo/{path}"), &content.replace("@ROOT@", &root));
        }
        tree
    }

    /// Evaluates the unit in `live/app`.
    fn evaluate(&self, environment: &[(&str, &str)]) -> Result<UnitOutcome, Vec<UnitError>> {
        self.reader(environment)
            .read(&self.root().join("repo/live/app"))
    }

    fn shown(&self, text: &str) -> String {
        text.replace(&self.root().display().to_string(), "@ROOT@")
    }

    fn reader(&self, environment: &[(&str, &str)]) -> UnitReader {
        let known = |(name, value): &(&str, &str)| {
            let value = value.replace("@ROOT@", &self.root().display().to_string());
            ((*name).to_owned(), EnvironmentValue::Known(value))
        };
        let files = ReadRules {
            named: vec![self.root()],
            ..ReadRules::default()
        };
        let options = UnitOptions {
            environment: environment.iter().map(known).collect(),
            working_directory: self.root(),
            files: files.into(),
        };
        UnitReader::new(options, Arc::default())
    }
}

/// Describes errors with their places and causes.
fn described(errors: &[UnitError]) -> String {
    let describe = |error: &UnitError| {
        let place = error.place().map(ToString::to_string);
        let causes = std::iter::successors(Some(error as &dyn Error), |error| (*error).source());
        let parts = place.into_iter().chain(causes.map(ToString::to_string));
        parts.collect::<Vec<_>>().join(": ")
    };
    errors.iter().map(describe).collect::<Vec<_>>().join("\n")
}

/// Evaluates the unit in `live/app` of a tree, and describes the result in one line.
fn result_of(text: &str, environment: &[(&str, &str)]) -> String {
    let tree = Tree::of(text);
    let result = match tree.evaluate(environment) {
        Ok(UnitOutcome::Known(unit)) => summary(&unit),
        Ok(UnitOutcome::Unknown(unknown)) => {
            let hint = unknown.hint().map(|hint| format!(" ({hint})"));
            let place = &unknown.place;
            format!("{place}: {unknown}{}", hint.unwrap_or_default())
        }
        Ok(UnitOutcome::Template { .. }) => "a template".to_owned(),
        Err(errors) => described(&errors),
    };
    tree.shown(&result).replace("@ROOT@/repo/", "")
}

fn summary(unit: &Unit) -> String {
    let source = unit.source.as_ref();
    let source = source.map_or("no source".to_owned(), |source| source.text.clone());
    let generated = unit.generated.iter().map(|file| {
        let text = file.contents.text.trim_end().replace('\n', "; ");
        format!("{}: {text}", file.path)
    });
    let inputs = unit
        .inputs
        .iter()
        .map(|(name, value)| format!("{name} = {}", value_text(value)));
    let parts = std::iter::once(source).chain(generated).chain(inputs);
    parts.collect::<Vec<_>>().join(" | ")
}

fn value_text(value: &Value) -> String {
    let entries = |entries: &std::collections::BTreeMap<String, Value>| {
        let entries = entries
            .iter()
            .map(|(key, value)| format!("{key} = {}", value_text(value)));
        entries.collect::<Vec<_>>().join(", ")
    };
    match value {
        Value::Unknown => "?".to_owned(),
        Value::Null => "null".to_owned(),
        Value::Object(inner) | Value::Map(inner) => format!("{{{}}}", entries(inner)),
        other => match other.elements() {
            Some(elements) => {
                let elements: Vec<_> = elements.iter().map(value_text).collect();
                format!("[{}]", elements.join(", "))
            }
            None => other.to_text().unwrap_or_default(),
        },
    }
}
