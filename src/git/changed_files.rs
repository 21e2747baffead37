//! Finds the files that differ from a commit, including uncommitted and untracked files.
//!
//! Both names of a renamed file count as changed. Ignored files do not count, because their earlier content is unknown.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::comparison_base::ComparisonBase;
use super::error::GitError;
use super::repository::Repository;
use super::settings::GitSettings;

/// The changed files of one repository.
#[derive(Clone, Debug)]
pub struct ChangedFiles {
    /// The repository root, without symlinks.
    pub top: PathBuf,
    pub base: ComparisonBase,
    /// Absolute paths of files, symlinks and submodules that were added, changed or deleted, and of directories that are
    /// untracked repositories.
    pub paths: BTreeSet<PathBuf>,
}

impl ChangedFiles {
    /// Finds the files that changed since `revision` in the repository that contains `directory`, an absolute path without
    /// symlinks. If `revision` is `None`, the base is the commit at which HEAD diverged from the default branch.
    pub fn since(
        settings: &GitSettings,
        directory: &Path,
        revision: Option<&str>,
    ) -> Result<Self, GitError> {
        let repository = Repository::containing(settings, directory)?;
        let (base, commit) = ComparisonBase::find(&repository, revision)?;
        let tracked = [
            "--name-only",
            "-z",
            "--no-renames",
            "--no-relative",
            "--no-ext-diff",
            "--ignore-submodules=none",
            &commit,
            "--",
        ];
        let untracked = ["-z", "--others", "--exclude-standard"];
        let mut paths = repository.paths("diff", &tracked)?;
        paths.extend(repository.paths("ls-files", &untracked)?);
        Ok(Self {
            top: repository.top,
            base,
            paths,
        })
    }
}
