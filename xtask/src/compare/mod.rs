//! `cargo xtask compare` generates random cases, and compares tflock with the `terraform` and `tofu` on PATH.
//!
//! The seed, the kind and the number determine a case. Verdicts are appended to `results.tsv` in the directory of results,
//! so a stopped run continues where it stopped. `differences/` has a directory for each difference, with the smallest
//! case that shows it and the output of both programs.

mod arguments;
mod blocks;
mod case;
mod constraints;
mod difference;
mod evaluation;
mod locks;
mod minimize;
mod mirror;
mod names;
mod random;
mod results;
mod roots;
mod site;
mod source_text;
mod sources;
mod summary;
#[cfg(test)]
mod tests;
mod values;
mod variables;
mod verdict;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tflock_test_support::require_or_skip;

use arguments::CompareArguments;
pub(crate) use arguments::USAGE;
use case::{CaseKind, Operation, ToolEngine};
use difference::write_difference;
use minimize::minimize;
use results::{CompareResults, ResultKey};
use site::CompareSite;
use verdict::{ToolResult, Verdict, judge};

/// A real tool on PATH.
#[derive(Clone)]
struct InstalledTool {
    engine: ToolEngine,
    /// The name and version, such as `terraform-1.15.9`.
    name: String,
}

/// Cases of one kind, for one tool. For the kind `values`, one task has many cases, which are evaluated together.
struct CompareTask {
    tool: InstalledTool,
    kind: CaseKind,
    numbers: Vec<u64>,
}

/// The state that all threads share.
struct CompareRun {
    arguments: CompareArguments,
    results: CompareResults,
    tflock: PathBuf,
}

/// Compares cases. `words` are the arguments after `compare`. Fails if a difference is found.
pub(crate) fn run(words: &[&str]) -> ExitCode {
    let Some(arguments) = CompareArguments::parse(words) else {
        eprintln!("usage: {USAGE}");
        return ExitCode::from(2);
    };
    let tools: Vec<_> = arguments
        .engines
        .iter()
        .filter_map(|&engine| find_tool(engine))
        .collect();
    let directory = arguments.out.join(format!("seed-{}", arguments.seed));
    std::fs::create_dir_all(&directory).expect("the directory of results is writable");
    let results = directory.join("results.tsv");
    let run = CompareRun {
        results: CompareResults::open(&results),
        tflock: crate::tflock::build_for_development(),
        arguments,
    };
    let tasks = run.tasks(&tools);
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..run.arguments.jobs {
            scope.spawn(|| run.work(&tasks, &next, &directory));
        }
    });
    summary::print(&CompareResults::open(&results), &directory)
}

fn find_tool(engine: ToolEngine) -> Option<InstalledTool> {
    let path = require_or_skip(engine.name(), false)?;
    let mut command = Command::new(path);
    command
        .arg("version")
        .env_remove("TF_CLI_CONFIG_FILE")
        .env("CHECKPOINT_DISABLE", "1");
    let output = command.output().expect("the tool can be started");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut words = text
        .split_whitespace()
        .filter_map(|word| word.strip_prefix('v'));
    let version = words.next().expect("the tool prints its version");
    let name = format!("{}-{version}", engine.name());
    Some(InstalledTool { engine, name })
}

impl CompareRun {
    /// Returns the tasks for the cases that must run.
    fn tasks(&self, tools: &[InstalledTool]) -> Vec<CompareTask> {
        let mut tasks = Vec::new();
        for &kind in &self.arguments.kinds {
            for tool in tools {
                let numbers = self.numbers(tool, kind);
                let size = if kind == CaseKind::Values {
                    evaluation::BATCH
                } else {
                    1
                };
                tasks.extend(numbers.chunks(size).map(|numbers| CompareTask {
                    tool: tool.clone(),
                    kind,
                    numbers: numbers.to_vec(),
                }));
            }
        }
        tasks
    }

    fn numbers(&self, tool: &InstalledTool, kind: CaseKind) -> Vec<u64> {
        if !self.arguments.only.is_empty() {
            return self.arguments.only.clone();
        }
        let is_left = |number: &u64| match self.results.get(&(tool.name.clone(), kind, *number)) {
            Some(verdict) => self.arguments.again && verdict.is_difference(),
            None => true,
        };
        (0..self.arguments.cases).filter(is_left).collect()
    }

    /// Runs tasks until all are done.
    fn work(&self, tasks: &[CompareTask], next: &AtomicUsize, directory: &Path) {
        let site = CompareSite::start(self.tflock.clone());
        while let Some(task) = tasks.get(next.fetch_add(1, Ordering::SeqCst)) {
            if task.kind == CaseKind::Values {
                self.compare_values(&site, task, directory);
            } else {
                for &number in &task.numbers {
                    self.compare_case(&site, task, number, directory);
                }
            }
        }
    }

    fn compare_case(&self, site: &CompareSite, task: &CompareTask, number: u64, directory: &Path) {
        let engine = task.tool.engine;
        let mut case = task.kind.generate(self.arguments.seed, number, engine);
        let mut results = site.run(&case, engine);
        let verdict = judge(case.operation, engine, &results);
        let is_chosen = !self.arguments.only.is_empty();
        if verdict.is_difference() && !is_chosen {
            case = minimize(site, &case, engine, &verdict);
            results = site.run(&case, engine);
        }
        let key = self.record(task, number, &verdict);
        let options = format!(
            "{:?} {} {}",
            case.operation,
            case.platforms.join(","),
            case.values.join(" ")
        );
        let files = site.files(&case);
        self.report(&key, &verdict, directory, &files, &options, &results);
    }

    fn compare_values(&self, site: &CompareSite, task: &CompareTask, directory: &Path) {
        let texts: Vec<_> = task
            .numbers
            .iter()
            .map(|&number| values::generate(self.arguments.seed, number))
            .collect();
        let results = evaluation::evaluate(site, &texts, task.tool.engine);
        for ((&number, text), results) in task.numbers.iter().zip(texts).zip(results) {
            let verdict = judge(Operation::Lock, task.tool.engine, &results);
            let key = self.record(task, number, &verdict);
            let files = [("expression".to_owned(), text)];
            self.report(&key, &verdict, directory, &files, "", &results);
        }
    }

    fn record(&self, task: &CompareTask, number: u64, verdict: &Verdict) -> ResultKey {
        let key = (task.tool.name.clone(), task.kind, number);
        self.results.record(&key, verdict);
        key
    }

    /// Writes the directory of a difference, or of a case that the user requested.
    fn report(
        &self,
        key: &ResultKey,
        verdict: &Verdict,
        directory: &Path,
        files: &[(String, String)],
        options: &str,
        results: &[ToolResult; 2],
    ) {
        let (tool, kind, number) = key;
        let path = directory
            .join("differences")
            .join(format!("{}-{number}-{tool}", kind.name()));
        // An earlier run may have written a difference that no longer exists.
        drop(std::fs::remove_dir_all(&path));
        if verdict.is_difference() || !self.arguments.only.is_empty() {
            write_difference(&path, verdict, files, options, results);
            println!("{}: {}", path.display(), verdict.words().0);
        }
    }
}
