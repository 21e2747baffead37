//! Implements the function that lists the files that match a pattern.

use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::config::clean;
use crate::syntax::{EvalProblem, Value};

use super::super::scope::Scope;
use super::reading::absolute;
use super::{CallResult, failed, only};

const NAME: &str = "mark_glob_as_read";

/// The maximum length of a pattern, in bytes.
const MAX_PATTERN: usize = 4096;

/// The maximum depth of the directories that are searched.
const MAX_DEPTH: usize = 100;

/// Implements `mark_glob_as_read(pattern)`: returns the absolute paths of the files that match. Only directories that the unit may
/// read are searched.
pub(super) fn mark_glob_as_read(scope: &Scope<'_>, arguments: &[String]) -> CallResult {
    let given = only(NAME, arguments)?;
    let pattern = absolute(scope, given);
    let pattern = pattern.to_string_lossy();
    if pattern.len() > MAX_PATTERN {
        let message = format!("the pattern is longer than {MAX_PATTERN} bytes");
        return Err(failed(NAME, &message));
    }
    let literal = pattern
        .find(['*', '?', '[', '{', '\\'])
        .unwrap_or(pattern.len());
    let base = pattern[..literal]
        .rsplit_once('/')
        .map_or("/", |(base, _)| base);
    let regex = regex(&pattern).ok_or_else(|| failed(NAME, "the pattern is invalid"))?;
    let mut found = Vec::new();
    search(
        scope,
        &clean(Path::new(base)),
        &regex,
        &mut found,
        MAX_DEPTH,
    )?;
    found.sort();
    let unit = scope.context.unit;
    let mut paths = Vec::new();
    for path in found {
        paths.push(path.to_string_lossy().into_owned().into());
        unit.record_read(path);
    }
    Ok(Value::List(paths))
}

fn search(
    scope: &Scope<'_>,
    directory: &Path,
    regex: &Regex,
    found: &mut Vec<PathBuf>,
    depth: usize,
) -> Result<(), EvalProblem> {
    let unit = scope.context.unit;
    let readable = unit.access.rules.resolve(directory).is_ok();
    let Some(entries) = readable.then(|| fs::read_dir(directory).ok()).flatten() else {
        return Ok(());
    };
    for entry in entries.flatten() {
        unit.budget.steps(10)?;
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 && entry.file_name() != ".git" => {
                search(scope, &path, regex, found, depth - 1)?;
            }
            Ok(kind) if !kind.is_dir() && regex.is_match(&path.to_string_lossy()) => {
                unit.budget.values(1)?;
                found.push(path);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Translates a pattern: `**` matches any text, `*` and `?` match within a name, and `{a,b}` matches either.
fn regex(pattern: &str) -> Option<Regex> {
    let mut text = String::from("^");
    let mut letters = pattern.chars().peekable();
    let mut open = 0_usize;
    while let Some(letter) = letters.next() {
        match letter {
            '*' if letters.peek() == Some(&'*') => {
                letters.next();
                text.push_str(".*");
            }
            '*' => text.push_str("[^/]*"),
            '?' => text.push_str("[^/]"),
            '{' => {
                open += 1;
                text.push_str("(?:");
            }
            '}' if open > 0 => {
                open -= 1;
                text.push(')');
            }
            ',' if open > 0 => text.push('|'),
            '[' | ']' | '-' | '^' => text.push(letter),
            '\\' => text.push_str(&regex::escape(&letters.next()?.to_string())),
            other => text.push_str(&regex::escape(&other.to_string())),
        }
    }
    text.push('$');
    (open == 0).then(|| Regex::new(&text).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_paths() {
        for (pattern, path, expected) in [
            ("/a/*.json", "/a/b.json", true),
            ("/a/*.json", "/a/b/c.json", false),
            ("/a/**.json", "/a/b/c.json", true),
            ("/a/{b,c}.?", "/a/c.x", true),
            ("/a/[bc]", "/a/d", false),
            ("/a/\\*", "/a/*", true),
            ("/a/x-y+z", "/a/x-y+z", true),
        ] {
            assert_eq!(
                regex(pattern).unwrap().is_match(path),
                expected,
                "{pattern} {path}"
            );
        }
        assert!(regex("/a/{b").is_none());
    }
}
