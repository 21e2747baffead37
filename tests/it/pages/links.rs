//! Checks links between pages, and that README.md links to all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{anchors, clean, links, pages, prose, read, repository};

/// The maximum number of lines in README.md.
const README_LINES: usize = 220;

/// Returns why a link on a page is broken, or `None` if it is valid.
fn broken(page: &Path, link: &str, pages: &BTreeMap<PathBuf, String>) -> Option<&'static str> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
    let target = match path {
        "" => page.to_path_buf(),
        path => clean(&page.parent().unwrap().join(path)),
    };
    if !repository().join(&target).exists() {
        return Some("there is no such file");
    }
    if fragment.is_empty() {
        return None;
    }
    let anchors = pages.get(&target).map(|text| anchors(text));
    let is_there = anchors.is_some_and(|anchors| anchors.contains(fragment));
    (!is_there).then_some("there is no such heading")
}

#[test]
fn links_lead_to_files_and_headings_of_the_repository() {
    let pages = pages();
    let mut count = 0;
    let mut faults = Vec::new();
    for (page, text) in &pages {
        for link in links(text) {
            count += 1;
            if let Some(fault) = broken(page, &link, &pages) {
                faults.push(format!("{}: {link}: {fault}", page.display()));
            }
        }
    }
    assert!(count > 150, "only {count} links were found");
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_page_is_reached_from_the_readme() {
    let pages = pages();
    let mut reached = BTreeSet::new();
    let mut open = vec![PathBuf::from("README.md")];
    while let Some(page) = open.pop() {
        let Some(text) = pages.get(&page) else {
            continue;
        };
        if reached.insert(page.clone()) {
            let targets = links(text).into_iter();
            let targets = targets.map(|link| link.split('#').next().unwrap().to_owned());
            open.extend(targets.map(|path| clean(&page.parent().unwrap().join(path))));
        }
    }
    let lost: Vec<&PathBuf> = pages
        .keys()
        .filter(|page| !reached.contains(*page))
        .collect();
    assert!(lost.is_empty(), "{lost:?}");
}

#[test]
fn the_readme_is_short() {
    let lines = read("README.md").lines().count();
    assert!(lines <= README_LINES, "{lines} lines");
}

/// The directories of files that pages name in backticks.
const SOURCE_DIRECTORIES: [&str; 5] = ["src/", "tests/", "testdata/", "xtask/", ".github/"];

#[test]
fn files_named_in_prose_exist() {
    let mut missing = Vec::new();
    for (page, text) in pages() {
        for line in prose(&text) {
            let quoted = line.split('`').skip(1).step_by(2);
            let paths = quoted.filter(|path| {
                SOURCE_DIRECTORIES.iter().any(|top| path.starts_with(top))
                    && !path.contains([' ', '*', '{', '<'])
            });
            let files = paths.map(|path| path.split_once("::").map_or(path, |(file, _)| file));
            for path in files.filter(|file| !repository().join(file).exists()) {
                missing.push(format!("{}: `{path}`", page.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
