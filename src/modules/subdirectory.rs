//! Locates the `//SUBDIRECTORY` of a module in its package. Path components may contain the wildcards of Go's `filepath.Match`.
//!
//! Exactly one path must match, as in Terraform. Archives from code hosts contain a single top-level directory with an unpredictable
//! name, which `//*` matches.

use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::redacted_url::RedactedUrl;

use super::{ModuleError, disk};

/// Finds the directory that `subdirectory` names in the package at `root`, a path without symlinks. `address` is used in error
/// messages.
pub(super) fn find(
    root: &Path,
    subdirectory: &str,
    address: &RedactedUrl,
) -> Result<PathBuf, ModuleError> {
    let escapes = || ModuleError::Escapes {
        address: address.clone(),
        path: subdirectory.to_owned(),
    };
    let mut matching = vec![root.to_path_buf()];
    for component in subdirectory.split('/') {
        match component {
            "" | "." => {}
            ".." => return Err(escapes()),
            _ => matching = match_component(&matching, component)?,
        }
    }
    let missing = || ModuleError::NoSubdirectory {
        address: address.clone(),
        subdirectory: subdirectory.to_owned(),
    };
    match &matching[..] {
        [found] => {
            let real = fs::canonicalize(found).map_err(|_not_there| missing())?;
            match (real.starts_with(root), real.is_dir()) {
                (false, _) => Err(escapes()),
                (true, false) => Err(missing()),
                (true, true) => Ok(real),
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

fn match_component(directories: &[PathBuf], component: &str) -> Result<Vec<PathBuf>, ModuleError> {
    let Some(pattern) = pattern(component) else {
        return Ok(directories
            .iter()
            .map(|directory| directory.join(component))
            .filter(|path| path.symlink_metadata().is_ok())
            .collect());
    };
    let mut found = Vec::new();
    for directory in directories.iter().filter(|directory| directory.is_dir()) {
        let failed = disk(directory);
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

/// Translates a path component with wildcards to a regular expression. `None` if it has no wildcards or is not a valid pattern.
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
            '[' => translate_class(&mut characters, &mut expression)?,
            plain => expression.push_str(&regex::escape(&plain.to_string())),
        }
    }
    Regex::new(&(expression + ")$")).ok()
}

/// Translates the rest of a character class such as `[^a-z]`, after its opening bracket.
fn translate_class(characters: &mut std::str::Chars<'_>, expression: &mut String) -> Option<()> {
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
            // Unescaped, brackets, ampersands and tildes would be special in a character class of a regular expression.
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
        const TWO_MATCH: &str =
            "`a` has 2 directories that match `r*/modules/*`, but exactly one must match";
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
            ("", "."),
            ("repo-1a2b", "repo-1a2b"),
            ("./repo-1a2b/./modules/net/", "repo-1a2b/modules/net"),
            ("repo-*/modules/net", "repo-1a2b/modules/net"),
            ("r*/m*/d??", "repo-1a2b/modules/dns"),
            ("r*/modules/[^d]*", "repo-1a2b/modules/net"),
            ("r*/modules/[a-m]*", "repo-1a2b/modules/dns"),
            ("r*/\\[x\\]", "repo-1a2b/[x]"),
            ("r*/modules/*", TWO_MATCH),
            ("nope", "`a` has no directory `nope`"),
            ("r*/nope", "`a` has no directory `r*/nope`"),
            ("r*/file", "`a` has no directory `r*/file`"),
            ("r*/file/x", "`a` has no directory `r*/file/x`"),
            ("r*/[x", "`a` has no directory `r*/[x`"),
            ("../x", "`../x` in `a` points outside the module package"),
            ("r*/..", "`r*/..` in `a` points outside the module package"),
        ] {
            let found = match find(&root, subdirectory, &RedactedUrl::parse("a")) {
                Ok(path) => crate::display::shown_path(path.strip_prefix(&root).unwrap()),
                Err(error) => error.to_string(),
            };
            assert_eq!(found, expected, "{subdirectory}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn symlinks_must_stay_in_the_package() {
        let (package, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = package.path().canonicalize().unwrap();
        fs::create_dir(root.join("a")).unwrap();
        std::os::unix::fs::symlink("a", root.join("in")).unwrap();
        std::os::unix::fs::symlink(other.path(), root.join("out")).unwrap();
        let address = RedactedUrl::parse("x");
        assert_eq!(find(&root, "in", &address).unwrap(), root.join("a"));
        let out = find(&root, "out", &address);
        assert!(matches!(out, Err(ModuleError::Escapes { .. })));
    }
}
