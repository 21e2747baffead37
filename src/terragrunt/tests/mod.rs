//! Evaluates units in small trees of files.

mod recorded;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::access::ReadRules;
use crate::config::EnvironmentValue;
use crate::span::Explain as _;

use super::{UnitError, UnitOptions, UnitOutcome, UnitReader};

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
            ..UnitOptions::default()
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
