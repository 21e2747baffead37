//! Lays out the repository of a case, and the git repositories that it uses.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tflock::provider::Engine;
use tflock_test_support::{git, git_commit_all};

use super::site::{TerragruntSite, entries};
use crate::conformance::config;

/// The file that the commands of a case create.
const SIDE_EFFECT: &str = "EXECUTED";

/// The directories of one case: `repo`, and a git repository for each source.
pub(super) struct Repository<'a> {
    pub(super) root: PathBuf,
    pub(super) case: &'a Value,
    pub(super) engine: Engine,
}

impl Repository<'_> {
    pub(super) fn lay_out(&self, site: &TerragruntSite) {
        let repo = self.root.join("repo");
        for part in ["files", "generated"] {
            self.write(&repo, &self.case[part], site);
        }
        if let Some(path) = self.case["repo"].as_str() {
            git(&repo.join(path), "init --quiet");
        }
        for (name, commits) in entries(&self.case["git"]) {
            self.commit(&self.root.join("git").join(name), commits, site);
        }
    }

    /// Creates a git repository. Each commit replaces all files. A branch starts at the commit before it, and the work tree
    /// ends on the main branch.
    fn commit(&self, directory: &Path, commits: &Value, site: &TerragruntSite) {
        fs::create_dir_all(directory).unwrap();
        git(directory, "init --quiet --initial-branch=main");
        for commit in commits.as_array().unwrap() {
            let branch = commit["branch"].as_str();
            if let Some(branch) = branch {
                git(directory, &format!("checkout --quiet -b {branch}"));
            }
            git(directory, "rm --quiet -r --ignore-unmatch .");
            self.write(directory, &commit["files"], site);
            git_commit_all(directory);
            if let Some(tag) = commit["tag"].as_str() {
                git(directory, &format!("tag {tag}"));
            }
            if branch.is_some() {
                git(directory, "checkout --quiet main");
            }
        }
    }

    fn write(&self, directory: &Path, files: &Value, site: &TerragruntSite) {
        let filled = entries(files).map(|(name, content)| {
            let content = content
                .as_str()
                .map_or_else(|| content.clone(), |text| json!(self.fill(text, site)));
            (name.clone(), content)
        });
        config::write(directory, &Value::Object(filled.collect()));
    }

    /// Fills in the addresses of this machine, and the host and hashes of lock files.
    pub(super) fn fill(&self, text: &str, site: &TerragruntSite) -> String {
        let filled = text
            .replace("@ROOT@", &self.root.display().to_string())
            .replace("@HOST@", &site.host)
            .replace("@BASE@", &site.registry.url(""))
            .replace("{host}", self.engine.default_host());
        site.registry.fill(&filled)
    }

    /// Returns whether a command of the case was executed, anywhere in its directories.
    pub(super) fn was_executed(&self) -> bool {
        contains(&self.root, SIDE_EFFECT)
    }
}

/// Returns whether a file with this name lies below a directory.
fn contains(directory: &Path, name: &str) -> bool {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(Result::unwrap).any(|entry| {
        let is_directory = entry.file_type().unwrap().is_dir();
        entry.file_name() == name || is_directory && contains(&entry.path(), name)
    })
}
