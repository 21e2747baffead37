//! Keeps `tests/rows.md` true: every rule in its tables names tests, and every test that it names is in the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The tables: rules of Terraform, and the tests that pin them.
const LIST: &str = "tests/rows.md";

/// The cells of a table's lines: section, rule, tests, departure.
const COLUMNS: usize = 4;

#[test]
fn every_rule_names_tests_that_exist() {
    let mut known = BTreeMap::new();
    let mut faults = Vec::new();
    let mut rules = 0;
    let list = fs::read_to_string(in_repository(LIST)).unwrap();
    for (number, line) in list.lines().enumerate().filter(|(_, line)| is_rule(line)) {
        rules += 1;
        let number = number + 1;
        let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
        if cells.len() != COLUMNS {
            faults.push(format!("line {number} has {} cells", cells.len()));
            continue;
        }
        let mut references = references(cells[2]).peekable();
        if references.peek().is_none() {
            faults.push(format!("line {number} names no test"));
        }
        for (path, name) in references {
            let tests = known.entry(path).or_insert_with(|| tests_of(path));
            if !tests.contains(name) {
                faults.push(format!("line {number}: there is no test `{path}::{name}`"));
            }
        }
    }
    assert!(rules > 250, "the tables are there");
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Whether a line of the list is one of a table, and neither its head nor the rule below that.
fn is_rule(line: &str) -> bool {
    line.starts_with('|') && !line.starts_with("| section |") && !line.starts_with("| --- |")
}

/// The `path::test_name` between backticks in a cell.
fn references(cell: &str) -> impl Iterator<Item = (&str, &str)> {
    cell.split('`')
        .skip(1)
        .step_by(2)
        .map(|quoted| quoted.split_once("::").unwrap_or((quoted, "")))
}

/// The names of the tests in a source file; none if there is no such file.
fn tests_of(path: &str) -> BTreeSet<String> {
    tests_in(&fs::read_to_string(in_repository(path)).unwrap_or_default())
}

fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The functions in `code` that have a test attribute.
fn tests_in(code: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut is_test = false;
    for line in code.lines().map(str::trim_start) {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_test = true;
        } else if let Some(rest) = line
            .strip_prefix("fn ")
            .or_else(|| line.strip_prefix("async fn "))
        {
            let name = rest.split('(').next().unwrap_or_default();
            if std::mem::take(&mut is_test) {
                names.insert(name.to_owned());
            }
        }
    }
    names
}

/// Sections whose every row says by whom the rule was seen.
const MARKED: [&str; 2] = ["## Registries", "## Mirrors and CLI configuration"];

#[test]
fn rules_of_registries_and_mirrors_say_who_was_seen() {
    let list = fs::read_to_string(in_repository(LIST)).unwrap();
    let (mut marked, mut faults) = (0, Vec::new());
    let mut is_marked = false;
    for line in list.lines() {
        if line.starts_with("## ") {
            is_marked = MARKED.contains(&line);
        } else if is_marked && is_rule(line) {
            let section = line.trim_matches('|').split('|').next().unwrap_or_default();
            let has_mark = ["[V]", "[N]", "[T]"]
                .iter()
                .any(|mark| section.contains(mark));
            marked += 1;
            if !has_mark {
                faults.push(line);
            }
        }
    }
    assert!(marked > 150, "the tables are there: {marked}");
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn tests_are_told_from_other_functions() {
    let code = "fn a() {}\n#[test]\nfn b() {}\n  #[tokio::test]\n  #[cfg(unix)]\n  async fn c() {}\nfn d(x: u8) {}\n// #[test]\n";
    assert_eq!(tests_in(code), ["b", "c"].map(str::to_owned).into());
    let cell = " `a/b.rs::c`, `d.rs::e` (and more) ";
    assert_eq!(
        references(cell).collect::<Vec<_>>(),
        [("a/b.rs", "c"), ("d.rs", "e")]
    );
    assert!(is_rule("| 1 | x | `a::b` | |"));
    assert!(!is_rule("| --- | --- | --- | --- |") && !is_rule("") && !is_rule("text"));
}
