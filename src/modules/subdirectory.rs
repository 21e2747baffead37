//! The module within its package: `//SUBDIRECTORY`, whose components may hold the wildcards of Go's `filepath.Match`.
//!
//! Exactly one path must match, as in Terraform: archives of code hosts have one directory of an unforeseeable name at their
//! top, and `//*` is how to say that.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::redacted_url::RedactedUrl;

use super::error::ModuleError;

/// The directory that `subdirectory` names in the package at `root`, a real path. `address` is for messages.
pub(super) fn find(
    root: &Path,
    subdirectory: &str,
    address: &RedactedUrl,
) -> Result<PathBuf, ModuleError> {
    let mut matching = vec![root.to_path_buf()];
    for component in subdirectory.split('/') {
        match component {
            "" | "." => {}
            ".." => return Err(escapes(subdirectory, address)),
            _ => matching = step(&matching, component)?,
        }
    }
    let missing = || ModuleError::NoSubdirectory {
        address: address.clone(),
        subdirectory: subdirectory.to_owned(),
    };
    match &matching[..] {
        [found] => {
            let real = fs::canonicalize(found).map_err(|_not_there| missing())?;
            if !real.starts_with(root) {
                return Err(escapes(subdirectory, address));
            }
            if real.is_dir() {
                Ok(real)
            } else {
                Err(missing())
            }
        }
        [] => Err(missing()),
        several => Err(ModuleError::AmbiguousSubdirectory {
            address: address.clone(),
            subdirectory: subdirectory.to_owned(),
            found: several.len(),
        }),
    }
}

fn escapes(subdirectory: &str, address: &RedactedUrl) -> ModuleError {
    ModuleError::Escapes {
        address: address.clone(),
        path: subdirectory.to_owned(),
    }
}

/// What one component matches below each of the directories.
fn step(directories: &[PathBuf], component: &str) -> Result<Vec<PathBuf>, ModuleError> {
    let Some(pattern) = pattern(component) else {
        let exact = directories
            .iter()
            .map(|directory| directory.join(component));
        return Ok(exact
            .filter(|path| path.symlink_metadata().is_ok())
            .collect());
    };
    let mut found = Vec::new();
    for directory in directories.iter().filter(|directory| directory.is_dir()) {
        let failed = |source: io::Error| ModuleError::Disk {
            path: directory.clone(),
            source,
        };
        for entry in fs::read_dir(directory).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            if name.to_str().is_some_and(|name| pattern.is_match(name)) {
                found.push(directory.join(name));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The expression for a component with wildcards; `None` for one without, or with brackets that are not closed.
fn pattern(component: &str) -> Option<Regex> {
    if !component.contains(['*', '?', '[', '\\']) {
        return None;
    }
    let mut expression = String::from("^(?s:");
    let mut characters = component.chars();
    while let Some(character) = characters.next() {
        match character {
            '*' => expression.push_str(".*"),
            '?' => expression.push('.'),
            '\\' => expression.push_str(&regex::escape(&characters.next()?.to_string())),
            '[' => class(&mut characters, &mut expression)?,
            plain => expression.push_str(&regex::escape(&plain.to_string())),
        }
    }
    Regex::new(&(expression + ")$")).ok()
}

/// `[^a-z]`, without the opening bracket.
fn class(characters: &mut std::str::Chars<'_>, expression: &mut String) -> Option<()> {
    expression.push('[');
    let mut first = true;
    loop {
        match characters.next()? {
            ']' if !first => break,
            '^' if first && expression.ends_with('[') => {
                expression.push('^');
                continue;
            }
            '\\' => expression.push_str(&regex::escape(&characters.next()?.to_string())),
            '-' => expression.push('-'),
            plain if plain.is_alphanumeric() => expression.push(plain),
            // Brackets, ampersands and tildes have a meaning in classes of expressions; `\u{5b}` has none.
            plain => expression.extend(plain.escape_unicode()),
        }
        first = false;
    }
    expression.push(']');
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_path_must_match() {
        let package = tempfile::tempdir().unwrap();
        let root = package.path().canonicalize().unwrap();
        for directory in [
            "repo-1a2b/modules/net",
            "repo-1a2b/modules/dns",
            "repo-1a2b/[x]",
            ".git",
        ] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        fs::write(root.join("repo-1a2b/file"), "").unwrap();
        for (subdirectory, expected) in [
            ("", ""),
            ("repo-1a2b", "repo-1a2b"),
            ("./repo-1a2b/./modules/net/", "repo-1a2b/modules/net"),
            ("repo-*/modules/net", "repo-1a2b/modules/net"),
            ("r*/m*/d??", "repo-1a2b/modules/dns"),
            ("r*/modules/[^d]*", "repo-1a2b/modules/net"),
            ("r*/modules/[a-m]*", "repo-1a2b/modules/dns"),
            ("r*/\\[x\\]", "repo-1a2b/[x]"),
            (
                "r*/modules/*",
                "`a` has 2 directories that match `r*/modules/*`, and one is needed",
            ),
            ("nope", "`a` has no directory `nope`"),
            ("r*/nope", "`a` has no directory `r*/nope`"),
            ("r*/file", "`a` has no directory `r*/file`"),
            ("r*/file/x", "`a` has no directory `r*/file/x`"),
            ("r*/[x", "`a` has no directory `r*/[x`"),
            ("../x", "`../x` in `a` leads out of the module package"),
            ("r*/..", "`r*/..` in `a` leads out of the module package"),
        ] {
            let found = match find(&root, subdirectory, &RedactedUrl::parse("a")) {
                Ok(path) => crate::span::shown_path(path.strip_prefix(&root).unwrap()),
                Err(error) => error.to_string(),
            };
            assert_eq!(found, expected, "{subdirectory}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_in_the_package() {
        let (package, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = package.path().canonicalize().unwrap();
        fs::create_dir(root.join("a")).unwrap();
        std::os::unix::fs::symlink("a", root.join("in")).unwrap();
        std::os::unix::fs::symlink(other.path(), root.join("out")).unwrap();
        assert_eq!(
            find(&root, "in", &RedactedUrl::parse("x")).unwrap(),
            root.join("a")
        );
        assert!(matches!(
            find(&root, "out", &RedactedUrl::parse("x")),
            Err(ModuleError::Escapes { .. })
        ));
    }
}
