//! Rules for the paths that a walk skips: `--ignore-path` and `ignore-paths` in docs/reference/options.md.
//!
//! A pattern from the command line is matched against the path as it is walked, as in tfupdate. Where `\` is the separator, it is
//! also matched against the path written with `/`. A pattern from a config file is matched against the path relative to that
//! file's directory, written with `/`. The working directory has no effect.

use std::collections::BTreeMap;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::Arc;

use regex::Regex;

/// A pattern for paths to skip. It is not anchored, so it may match anywhere in a path.
#[derive(Clone, Debug)]
pub struct IgnoreRule {
    pattern: Regex,
    /// Prefixes of walked paths and their replacements. If `None`, paths are matched as they are walked.
    prefixes: Option<Arc<BTreeMap<PathBuf, PathBuf>>>,
}

impl IgnoreRule {
    pub const fn as_walked(pattern: Regex) -> Self {
        Self {
            pattern,
            prefixes: None,
        }
    }

    /// Creates a rule that replaces the longest prefix in `prefixes` before matching. The empty prefix is the working directory.
    pub const fn renamed(pattern: Regex, prefixes: Arc<BTreeMap<PathBuf, PathBuf>>) -> Self {
        Self {
            pattern,
            prefixes: Some(prefixes),
        }
    }

    pub fn as_str(&self) -> &str {
        self.pattern.as_str()
    }

    pub(super) fn matches(&self, path: &Path) -> bool {
        let Some(prefixes) = &self.prefixes else {
            let walked = path.to_string_lossy();
            return self.pattern.is_match(&walked)
                || MAIN_SEPARATOR != '/'
                    && self.pattern.is_match(&walked.replace(MAIN_SEPARATOR, "/"));
        };
        let renamed = prefixes.iter().rev().find_map(|(prefix, name)| {
            let rest = path.strip_prefix(prefix).ok()?;
            Some(name.join(rest))
        });
        let renamed = renamed.as_deref().unwrap_or(path);
        let parts: Vec<_> = renamed.iter().map(|part| part.to_string_lossy()).collect();
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
        // The config file is in the parent of the working directory `live`.
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
