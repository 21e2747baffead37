//! Paths that a walk leaves out: `--ignore-path` and `ignore-paths`. See docs/reference/options.md.
//!
//! A pattern of the command line is matched with the path as it is walked, as in tfupdate; where that has `\`, one that is
//! written with `/` matches as well. One of a config file is matched
//! with the path relative to that file's directory, with `/` on every system, so that it means the same wherever tflock is
//! started.

use std::collections::BTreeMap;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::Arc;

use regex::Regex;

/// A pattern of paths to skip. Not anchored: it may match anywhere in the path.
#[derive(Clone, Debug)]
pub struct IgnoreRule {
    pattern: Regex,
    /// Walked directories with what they are called instead; `None`: paths are taken as walked.
    names: Option<Arc<BTreeMap<PathBuf, PathBuf>>>,
}

impl IgnoreRule {
    /// Matches paths as they are walked.
    pub const fn as_walked(pattern: Regex) -> Self {
        Self {
            pattern,
            names: None,
        }
    }

    /// Matches paths with their beginning replaced: each walked directory in `names` is called what it maps to. The longest
    /// beginning counts; the empty one means the working directory.
    pub const fn renamed(pattern: Regex, names: Arc<BTreeMap<PathBuf, PathBuf>>) -> Self {
        Self {
            pattern,
            names: Some(names),
        }
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        self.pattern.as_str()
    }

    /// Whether `path` is to be skipped.
    pub fn matches(&self, path: &Path) -> bool {
        let Some(beginnings) = &self.names else {
            let walked = path.to_string_lossy();
            return self.pattern.is_match(&walked)
                || MAIN_SEPARATOR != '/'
                    && self.pattern.is_match(&walked.replace(MAIN_SEPARATOR, "/"));
        };
        let renamed = beginnings.iter().rev().find_map(|(walked, name)| {
            let rest = path.strip_prefix(walked).ok()?;
            Some(name.join(rest))
        });
        let path = renamed.unwrap_or_else(|| path.to_path_buf());
        let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
        let text = parts.join("/");
        self.pattern
            .is_match(if text.is_empty() { "." } else { &text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_of_a_file_sees_paths_from_that_file() {
        // The file lies in the parent of the working directory `live`.
        let names = [("", "live"), ("../lab", "lab"), ("../lab/own", "x/own")];
        let names = names.map(|(walked, name)| (PathBuf::from(walked), PathBuf::from(name)));
        let names = Arc::new(BTreeMap::from(names));
        for (pattern, path, expected) in [
            ("^live/old$", "old", true),
            ("^old", "old", false),
            ("^lab/a", "../lab/a/b", true),
            ("^x/own$", "../lab/own", true),
            ("old", "a/older", true),
        ] {
            let pattern = Regex::new(pattern).unwrap();
            let rule = IgnoreRule::renamed(pattern.clone(), Arc::clone(&names));
            assert_eq!(rule.matches(Path::new(path)), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn a_rule_of_the_command_line_sees_paths_as_walked() {
        let rule = IgnoreRule::as_walked(Regex::new("^old").unwrap());
        assert!(rule.matches(Path::new("old/a")));
        assert!(!rule.matches(Path::new("../old/a")));
        assert_eq!(rule.as_str(), "^old");
        let below = IgnoreRule::as_walked(Regex::new("^old/a").unwrap());
        assert!(below.matches(&Path::new("old").join("a")));
    }
}
