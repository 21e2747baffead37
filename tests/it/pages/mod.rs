//! Checks the documentation: its links are valid, and it describes every option, code, variable and key.

mod citations;
mod examples;
mod links;
mod reference;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The directories with pages, in addition to the repository root.
const DIRECTORIES: [&str; 4] = ["docs", "docs/guide", "docs/reference", "docs/rules"];

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(page: &str) -> String {
    fs::read_to_string(repository().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
}

/// Returns the pages by their path from the repository root.
fn pages() -> BTreeMap<PathBuf, String> {
    let mut pages = BTreeMap::new();
    for directory in ["."].into_iter().chain(DIRECTORIES) {
        for entry in fs::read_dir(repository().join(directory)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let name = path.strip_prefix(repository()).unwrap();
                let text = fs::read_to_string(&path).unwrap();
                pages.insert(clean(name), text);
            }
        }
    }
    pages
}

/// Removes `.` and `..` from a path.
fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                clean.pop();
            }
            Component::CurDir => {}
            part => clean.push(part),
        }
    }
    clean
}

/// Returns the lines of a page outside code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Returns the anchors that GitHub creates for headings. The second of two identical anchors ends in `-1`.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let headings = prose(text).filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let anchor = anchor(line.trim_start_matches('#').trim());
            let count = seen.entry(anchor.clone()).or_default();
            *count += 1;
            match *count {
                1 => anchor,
                count => format!("{anchor}-{}", count - 1),
            }
        })
        .collect()
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        letter if letter.is_alphanumeric() => Some(letter),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

/// Returns the targets of links and pictures in Markdown and HTML.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in prose(text) {
        let line = without_code(line);
        for (opening, closing) in [
            ("](", ')'),
            ("src=\"", '"'),
            ("srcset=\"", '"'),
            ("href=\"", '"'),
        ] {
            let parts = line.split(opening).skip(1);
            found.extend(parts.filter_map(|part| Some(part.split_once(closing)?.0.to_owned())));
        }
    }
    found
}

/// Removes code spans from a line, because brackets in them do not form links.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// Collects the source files below a directory.
fn sources_below(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources_below(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn headings_have_the_anchors_of_github() {
    let text = "# A `--b[=C]`\n\n```sh\n# no heading\n```\n## 4. Package authentication, in order\n## A `--b[=C]`\n";
    let expected = ["4-package-authentication-in-order", "a---bc", "a---bc-1"];
    assert_eq!(anchors(text), expected.map(str::to_owned).into());
    assert_eq!(links("[a](b#c) `[x](y)` <img src=\"d\">"), ["b#c", "d"]);
}
