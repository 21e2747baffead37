//! Checks the tables in `docs/rules`: every rule is numbered, names the program in which it was observed, and names
//! existing tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The pages with the rules of Terraform and OpenTofu.
const PAGES: [&str; 8] = [
    "config",
    "constraints",
    "hashes",
    "lock-file",
    "mirrors",
    "oci",
    "registry",
    "terragrunt",
];

/// The header of a table of rules.
const HEAD: &str = "| no. | rule | seen in | tests | departure |";

/// The marks that stand for programs, as explained in `docs/rules/README.md`.
const MARKS: [&str; 7] = ["V", "N", "R", "T", "D", "S", "G"];

/// A line of a table.
#[derive(Debug, PartialEq)]
struct RuleRow<'a> {
    number: &'a str,
    seen_in: &'a str,
    tests: &'a str,
}

#[test]
fn every_rule_is_numbered_and_names_tests_that_exist() {
    let mut known = BTreeMap::new();
    let mut faults = Vec::new();
    let mut count = 0;
    for page in PAGES {
        let text = fs::read_to_string(in_repository(&format!("docs/rules/{page}.md"))).unwrap();
        for (section, rows) in tables(&text) {
            for (row, index) in rows.iter().zip(1..) {
                count += 1;
                for fault in faults_of(row, section, index, &mut known) {
                    faults.push(format!("{page}.md {}: {fault}", row.number));
                }
            }
        }
    }
    assert!(count > 400, "only {count} rows were found");
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_page_explains_exactly_its_marks() {
    for page in PAGES {
        let text = fs::read_to_string(in_repository(&format!("docs/rules/{page}.md"))).unwrap();
        let (_, rest) = text.split_once("\nMarks: ").unwrap_or_default();
        let (explanation, rules) = rest.split_once("\n\n").unwrap_or_default();
        let rows: Vec<RuleRow<'_>> = tables(&text)
            .into_iter()
            .flat_map(|(_, rows)| rows)
            .collect();
        for mark in MARKS {
            let is_explained = explanation.contains(&format!("**{mark}**"));
            let is_used = rules.contains(&format!("[{mark}]"))
                || rows
                    .iter()
                    .any(|row| row.seen_in.split(' ').any(|seen| seen == mark));
            assert_eq!(is_explained, is_used, "{page}.md: mark {mark}");
        }
    }
}

/// Returns the tables of a page, with the number of the section before each.
fn tables(text: &str) -> Vec<(&str, Vec<RuleRow<'_>>)> {
    let mut found = Vec::new();
    let mut section = "";
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("## ") {
            section = title.split('.').next().unwrap_or_default();
        } else if line == HEAD {
            let rows = lines.by_ref().skip(1).take_while(|line| !line.is_empty());
            found.push((section, rows.filter_map(row).collect()));
        }
    }
    found
}

fn row(line: &str) -> Option<RuleRow<'_>> {
    let mut cells = line.trim_matches('|').split('|').map(str::trim);
    let (number, _rule) = (cells.next()?, cells.next()?);
    Some(RuleRow {
        number,
        seen_in: cells.next()?,
        tests: cells.next()?,
    })
}

/// Returns the problems of a row. `known` caches the tests of each source file.
fn faults_of(
    row: &RuleRow<'_>,
    section: &str,
    index: usize,
    known: &mut BTreeMap<String, BTreeSet<String>>,
) -> Vec<String> {
    let mut faults = Vec::new();
    if row.number != format!("{section}.{index}") {
        faults.push(format!("the number should be {section}.{index}"));
    }
    let marks: Vec<&str> = row.seen_in.split(' ').collect();
    if !marks.iter().all(|mark| MARKS.contains(mark)) {
        faults.push(format!("invalid marks `{}`", row.seen_in));
    }
    let mut references = references(row.tests).peekable();
    if references.peek().is_none() {
        faults.push("names no test".to_owned());
    }
    for (path, name) in references {
        let tests = known
            .entry(path.to_owned())
            .or_insert_with(|| tests_of(path));
        if !tests.contains(name) {
            faults.push(format!("there is no test `{path}::{name}`"));
        }
    }
    faults
}

/// Returns the references to tests in a cell, which are written as `path::test_name` between backticks.
fn references(cell: &str) -> impl Iterator<Item = (&str, &str)> {
    cell.split('`')
        .skip(1)
        .step_by(2)
        .map(|quoted| quoted.split_once("::").unwrap_or((quoted, "")))
}

/// Returns the names of the tests in a source file, or an empty set if there is no such file.
fn tests_of(path: &str) -> BTreeSet<String> {
    tests_in(&fs::read_to_string(in_repository(path)).unwrap_or_default())
}

fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Returns the names of the functions in `code` that have a test attribute.
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

#[test]
fn only_functions_with_a_test_attribute_are_tests() {
    let code = "fn a() {}\n#[test]\nfn b() {}\n  #[tokio::test]\n  #[cfg(unix)]\n  async fn c() {}\nfn d(x: u8) {}\n// #[test]\n";
    assert_eq!(tests_in(code), ["b", "c"].map(str::to_owned).into());
    let cell = " `a/b.rs::c`, `d.rs::e` (and more) ";
    assert_eq!(
        references(cell).collect::<Vec<_>>(),
        [("a/b.rs", "c"), ("d.rs", "e")]
    );
}

#[test]
fn tables_belong_to_the_section_before_them() {
    let text = format!(
        "## 3. Title\n\n| x |\n\n{HEAD}\n| --- |\n| 3.1 | rule | V T | `a.rs::b` | |\n\nx\n"
    );
    let found = RuleRow {
        number: "3.1",
        seen_in: "V T",
        tests: "`a.rs::b`",
    };
    assert_eq!(tables(&text), [("3", vec![found])]);
    let [(section, rows)] = &tables(&text)[..] else {
        panic!("expected one table");
    };
    let faults = faults_of(&rows[0], section, 2, &mut BTreeMap::new());
    let expected = ["the number should be 3.2", "there is no test `a.rs::b`"];
    assert_eq!(faults, expected);
}
