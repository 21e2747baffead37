//! Tests the rules in sections 4 to 7 of docs/rules/terragrunt.md: units as their files would describe them, and the requirements of the root
//! modules that Terragrunt would assemble.

mod copied_files;
mod generated_files;
mod sources;
mod variables;

use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::fs;
use std::path::{Path, PathBuf};

use crate::config::{
    EnvironmentValue, FetchError, FetchedModule, ModuleCache, ModuleFetcher, ModuleRequest,
    ReadOptions, RootModule,
};
use crate::provider::Engine;
use crate::span::{Explain, Place};
use crate::terragrunt::{GeneratedFile, IfDisabled, IfExists, TextWithHoles, Unit, UnitSource};

use super::{AssembledUnit, Assembly, AssemblyContext, UnitModule, assemble};

const M: &str = "resource \"m_x\" \"x\" {}\n";
const U: &str = "resource \"u_x\" \"x\" {}\n";

/// A repository with a unit in `live/app`.
struct Repository {
    tree: tempfile::TempDir,
    unit: Unit,
    options: ReadOptions,
    environment: BTreeMap<String, EnvironmentValue>,
}

/// Fetches packages: the directory of each is `packages/`, followed by the host or the last part of its path.
struct Packages(PathBuf);

impl ModuleFetcher for Packages {
    fn fetch(&self, request: &ModuleRequest<'_>) -> Result<FetchedModule, FetchError> {
        let address = request.source.to_string();
        let (package, below) = crate::config::split_subdirectory(&address);
        let name = package.split('?').next().unwrap_or_default();
        let name = name.rsplit('/').next().unwrap_or_default();
        let package = self.0.join(name);
        let directory = package.join(below);
        let version = request
            .versions
            .map_or("9.9.9".to_owned(), ToString::to_string);
        if directory.is_dir() {
            return Ok(FetchedModule {
                directory,
                package,
                version: Some(version),
            });
        }
        Err(FetchError {
            source: "no such package".into(),
            hint: Some("look elsewhere".to_owned()),
        })
    }
}

impl Repository {
    /// Creates files. The source is empty if the unit has none.
    fn new(source: &str, files: &[(&str, &str)]) -> Self {
        let tree = tempfile::tempdir().unwrap();
        let directory = tree.path().join("live/app");
        fs::create_dir_all(&directory).unwrap();
        fs::create_dir(tree.path().join(".git")).unwrap();
        for (path, text) in files {
            let path = tree.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let source = UnitSource {
            text: source.to_owned(),
            place: place(&directory, 3),
            hidden: None,
        };
        Self {
            unit: Unit {
                directory,
                source: Some(source).filter(|source| !source.text.is_empty()),
                ..Unit::default()
            },
            tree,
            options: ReadOptions::new(Engine::Terraform),
            environment: BTreeMap::new(),
        }
    }

    fn with(mut self, change: impl FnOnce(&mut Unit)) -> Self {
        change(&mut self.unit);
        self
    }

    fn assemble(&self) -> Result<Box<AssembledUnit>, String> {
        let fetcher = Packages(self.tree.path().join("packages"));
        let context = AssemblyContext {
            options: &self.options,
            environment: &self.environment,
            fetcher: Some(&fetcher),
        };
        match assemble(&self.unit, context) {
            Ok(Assembly::Known(unit)) => Ok(unit),
            Ok(Assembly::Unknown(unknown)) => Err(self.describe(&*unknown)),
            Err(error) => Err(self.describe(&error)),
        }
    }

    fn read(&self) -> Result<RootModule, String> {
        match self.assemble()?.read(&ModuleCache::new(), None) {
            Ok(UnitModule::Known(root)) => Ok(*root),
            Ok(UnitModule::Unknown(unknown)) => Err(self.describe(&*unknown)),
            Err(errors) => Err(self.describe(&*errors[0])),
        }
    }

    /// Returns the types of the required providers, or the first error with its place.
    fn requires(&self) -> Result<String, String> {
        let root = self.read()?;
        let providers = root.requirements.providers.keys();
        let names: Vec<&str> = providers.map(|address| &*address.type_name).collect();
        Ok(names.join(" "))
    }

    /// Formats an error with its causes. Paths are relative to the repository.
    fn describe(&self, error: &dyn Explain) -> String {
        let mut text = error.place().map_or_else(String::new, |place| {
            let shown = format!("{}:{}: ", place.path.display(), place.line);
            shown
        });
        text += &error.to_string();
        let mut cause = StdError::source(error);
        while let Some(inner) = cause {
            text = format!("{text}: {inner}");
            cause = inner.source();
        }
        let base = self.tree.path().to_str().unwrap();
        text.replace(&format!("{base}/"), "").replace(base, "")
    }
}

fn place(directory: &Path, line: usize) -> Place {
    Place {
        line,
        column: 1,
        ..Place::file(&directory.join("terragrunt.hcl"))
    }
}

/// Returns a file that replaces existing ones. Text between `<` and `>` is unknown; if it starts with `!`, it can be several lines.
fn generate(path: &str, contents: &str) -> GeneratedFile {
    let holes = contents
        .replace("<!", "\u{FDD0}\u{1}")
        .replace('<', "\u{FDD0}");
    GeneratedFile {
        label: "g".to_owned(),
        path: path.to_owned(),
        if_exists: IfExists::Overwrite,
        is_disabled: false,
        if_disabled: IfDisabled::Skip,
        contents: TextWithHoles::of(&holes.replace('>', "\u{FDD1}")),
        comment_prefix: "# ".to_owned(),
        has_signature: true,
        place: place(Path::new("live/app"), 7),
        hidden: None,
    }
}
