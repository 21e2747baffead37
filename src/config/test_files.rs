//! Reads test files and the modules that they run. See section 7 of docs/rules/config.md.

use std::collections::BTreeSet;
use std::path::Path;

use crate::provider::Engine;
use crate::syntax::SourceFile;

use super::module_files::is_hidden;
use super::{
    BlockProblem, ConfigError, DEFAULT_TEST_DIRECTORY, ModuleCall, ModuleDirectory, ProviderBlock,
    calls, provider_blocks,
};

#[derive(Debug)]
pub(super) struct RunModule {
    /// The key of the module in the manifest of installed modules.
    pub(super) key: String,
    pub(super) call: ModuleCall,
}

#[derive(Debug, Default)]
pub(super) struct TestFiles {
    pub(super) runs: Vec<RunModule>,
    /// The `provider` blocks, which only OpenTofu takes into account.
    pub(super) providers: Vec<ProviderBlock>,
    pub(super) errors: Vec<ConfigError>,
    pub(super) warnings: Vec<String>,
}

const ENDINGS: [&str; 2] = [".tftest.hcl", ".tftest.json"];
const TOFU_ENDINGS: [&str; 2] = [".tofutest.hcl", ".tofutest.json"];

/// Whether a file with this name is a test file for at least one of the engines.
pub fn is_test_file(name: &str) -> bool {
    let endings = ENDINGS.iter().chain(&TOFU_ENDINGS);
    endings.into_iter().any(|ending| name.ends_with(ending))
}

pub(super) fn read(root: &ModuleDirectory<'_>, directory: &Path, engine: Engine) -> TestFiles {
    let mut found = TestFiles::default();
    match root.list() {
        Ok(entries) => {
            let is_read = |(name, is_dir): &(String, bool)| !is_dir && !is_hidden(name);
            let entries = entries.into_iter().filter(is_read).collect();
            found.read_all(root, "", entries, engine);
        }
        Err(error) => found.errors.push(error),
    }
    root.below(directory.strip_prefix("/").unwrap_or(directory), |tests| {
        found.read_test_directory(tests, directory, engine);
    });
    found
}

/// Selects the names of test files. For OpenTofu, a `.tofutest` file hides the `.tftest` file with the same stem.
fn select(names: Vec<String>, engine: Engine) -> Vec<String> {
    let ends = |name: &str, endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    let tofu = engine.reads_tofu_files();
    let twin =
        |name: &String| ends(name, &TOFU_ENDINGS).then(|| name.replace(".tofutest.", ".tftest."));
    let hidden: BTreeSet<String> = names.iter().filter(|_| tofu).filter_map(twin).collect();
    let is_read = |name: &String| {
        (ends(name, &ENDINGS) && !hidden.contains(name)) || (tofu && ends(name, &TOFU_ENDINGS))
    };
    names.into_iter().filter(is_read).collect()
}

impl TestFiles {
    /// Reads the test files in `tests`, the test directory. `directory` is its path as the user wrote it.
    fn read_test_directory(
        &mut self,
        tests: &ModuleDirectory<'_>,
        directory: &Path,
        engine: Engine,
    ) {
        match tests.list() {
            Ok(entries) => {
                let prefix = directory.iter().fold(String::new(), |all, part| {
                    all + &part.to_string_lossy() + "."
                });
                // In the test directory, hidden files are read, and a directory with the name of a test file is an error.
                self.read_all(tests, &prefix, entries, engine);
            }
            Err(error) if error.is_not_found() => {
                if directory != Path::new(DEFAULT_TEST_DIRECTORY) {
                    let path = tests.shown();
                    let warning = format!("the test directory `{}` does not exist", path.display());
                    self.warnings.push(warning);
                }
            }
            Err(error) => self.errors.push(error),
        }
    }

    /// Reads the test files among the entries of a directory.
    fn read_all(
        &mut self,
        directory: &ModuleDirectory<'_>,
        prefix: &str,
        entries: Vec<(String, bool)>,
        engine: Engine,
    ) {
        let names = entries.into_iter().map(|(name, _)| name).collect();
        for name in select(names, engine) {
            let Some(file) = directory.file(Path::new(&name)) else {
                continue;
            };
            let result = file
                .parse()
                .and_then(|file| self.read_file(&file, prefix, &name, engine));
            self.errors.extend(result.err());
        }
    }

    fn read_file(
        &mut self,
        file: &SourceFile,
        prefix: &str,
        name: &str,
        engine: Engine,
    ) -> Result<(), ConfigError> {
        let base = name.strip_suffix(ENDINGS[0]).unwrap_or(name);
        let body = file.body();
        let mut names = BTreeSet::new();
        for run in body.labelled_blocks("run", 1)? {
            let run_name = run.name(0)?;
            if !names.insert(run_name.clone()) {
                let problem = BlockProblem::Duplicate {
                    what: format!("run `{run_name}`"),
                    first: run.label_range(0).place(),
                };
                return Err(ConfigError::invalid(run.label_range(0).place(), problem));
            }
            // A `module` block names the module to run instead of the root module.
            if let Some(module) = run.body().labelled_blocks("module", 0)?.first() {
                self.runs.push(RunModule {
                    key: format!("test.{prefix}{base}.{run_name}"),
                    call: calls::read_run_module(module, &run_name)?,
                });
            }
        }
        if engine.counts_test_providers() {
            for block in body.labelled_blocks("provider", 1)? {
                self.providers.push(provider_blocks::read(&block, engine)?);
            }
        }
        Ok(())
    }
}
