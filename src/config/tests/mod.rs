//! Tests the rules in docs/rules/config.md, section by section: small file trees and the requirements that each engine finds.

mod assembled;
mod errors;
mod limits;
mod local_modules;
mod overrides;
mod providers;
mod remote_modules;
mod required;
mod statics;
mod test_files;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::provider::Engine;
use crate::span::Explain;

use super::{ConfigError, ModuleCache, ModuleFetcher, ReadOptions, RootModule, read_root};

const ENGINES: [Engine; 2] = [Engine::Terraform, Engine::Tofu];

/// A temporary directory with files.
struct Tree(tempfile::TempDir);

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            let path = tree.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        tree
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, options: &ReadOptions) -> Result<RootModule, Vec<Arc<ConfigError>>> {
        self.read_with(options, None)
    }

    fn read_with(
        &self,
        options: &ReadOptions,
        fetcher: Option<&dyn ModuleFetcher>,
    ) -> Result<RootModule, Vec<Arc<ConfigError>>> {
        let root = read_root(self.0.path(), options, &ModuleCache::new(), fetcher)?;
        if root.missing.is_empty() || fetcher.is_some() {
            Ok(root)
        } else {
            Err(root.missing)
        }
    }
}

/// Formats the providers to lock with their constraints and without default hosts, such as `t/p ~> 1.0, hashicorp/q`.
fn show(root: &RootModule, engine: Engine) -> String {
    let providers = root
        .requirements
        .providers
        .iter()
        .filter(|(address, _)| address.is_lockable(engine));
    let rows = providers.map(|(address, requirement)| {
        let address = address.to_string();
        let short = address
            .strip_prefix(engine.default_host())
            .and_then(|rest| rest.strip_prefix('/'))
            .unwrap_or(&address);
        format!("{short} {}", requirement.constraints)
            .trim_end()
            .to_owned()
    });
    rows.collect::<Vec<_>>().join(", ")
}

/// Returns the requirements of a tree, or the first error with its place relative to the tree.
fn requires(files: &[(&str, &str)], engine: Engine) -> Result<String, String> {
    requires_with(files, &ReadOptions::new(engine))
}

fn requires_with(files: &[(&str, &str)], options: &ReadOptions) -> Result<String, String> {
    let tree = Tree::new(files);
    match tree.read(options) {
        Ok(root) => Ok(show(&root, options.engine)),
        Err(errors) => Err(describe(&errors[0], tree.0.path())),
    }
}

fn describe(error: &ConfigError, below: &Path) -> String {
    let place = error.place().map(|place| {
        let path = place.path.strip_prefix(below).unwrap_or(&place.path);
        format!("{}:{}:{}: ", path.display(), place.line, place.column)
    });
    let mut text = place.unwrap_or_default() + &error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

/// Parses rows of the form `text | what Terraform finds | what OpenTofu finds // remark`. The last column may be omitted if both
/// engines find the same. `-` stands for an error, `nothing` for an empty string, and `\n` for a newline.
fn parse_rows(rows: &str) -> Vec<(String, Option<String>, Option<String>)> {
    let columns = |row: &str| -> Vec<String> {
        let row = row.split(" // ").next().unwrap();
        row.split(" | ").map(|it| unescape(it.trim())).collect()
    };
    let found = |column: &String| (column != "-").then(|| column.clone());
    rows.trim()
        .lines()
        .map(|row| match &columns(row)[..] {
            [text, both] => (text.clone(), found(both), found(both)),
            [text, terraform, tofu] => (text.clone(), found(terraform), found(tofu)),
            _ => panic!("{row}"),
        })
        .collect()
}

fn unescape(column: &str) -> String {
    match column {
        "nothing" => String::new(),
        _ => column.replace("\\n", "\n"),
    }
}

/// Checks rows in which each text is the content of `main.tf`.
fn check_rows(rows: &str) {
    for (text, terraform, tofu) in parse_rows(rows) {
        check(&[(&text, terraform.as_deref(), tofu.as_deref())]);
    }
}

/// Checks rows in which each text is the content of `main.tf.json`.
fn check_json_rows(rows: &str) {
    for (text, terraform, tofu) in parse_rows(rows) {
        check_json(&[(&text, terraform.as_deref(), tofu.as_deref())]);
    }
}

/// Checks rows of the form (text of `main.tf`, what Terraform finds, what OpenTofu finds). `None` stands for an error.
fn check(rows: &[(&str, Option<&str>, Option<&str>)]) {
    check_files(
        &rows
            .iter()
            .map(|(text, terraform, tofu)| (vec![("main.tf", *text)], *terraform, *tofu))
            .collect::<Vec<_>>(),
    );
}

/// Checks rows like [`check`], but in JSON syntax.
fn check_json(rows: &[(&str, Option<&str>, Option<&str>)]) {
    check_files(
        &rows
            .iter()
            .map(|(text, terraform, tofu)| (vec![("main.tf.json", *text)], *terraform, *tofu))
            .collect::<Vec<_>>(),
    );
}

/// The files of a tree, and what Terraform and OpenTofu find in them. `None` stands for an error.
type Row<'a> = (Vec<(&'a str, &'a str)>, Option<&'a str>, Option<&'a str>);

fn check_files(rows: &[Row<'_>]) {
    for (files, terraform, tofu) in rows {
        for (engine, expected) in ENGINES.into_iter().zip([terraform, tofu]) {
            match (requires(files, engine), expected) {
                (Ok(found), Some(expected)) => assert_eq!(found, *expected, "{engine}: {files:?}"),
                (Err(_), None) => {}
                (found, expected) => {
                    panic!("{engine}: {files:?}: found {found:?}, expected {expected:?}")
                }
            }
        }
    }
}
