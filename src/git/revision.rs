//! Reads files from a commit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::comparison_base::ComparisonBase;
use super::error::GitError;
use super::repository::{Repository, parse_path};
use super::settings::GitSettings;

/// A commit of a repository.
pub struct Revision<'a> {
    repository: Repository<'a>,
    commit: String,
}

impl<'a> Revision<'a> {
    /// Opens the commit that `revision` names in the repository that contains `directory`, an absolute path without symlinks.
    /// If `revision` is `None`, opens the commit at which HEAD diverged from the default branch.
    pub fn open(
        settings: &'a GitSettings,
        directory: &Path,
        revision: Option<&str>,
    ) -> Result<Self, GitError> {
        let repository = Repository::containing(settings, directory)?;
        let (_, commit) = ComparisonBase::find(&repository, revision)?;
        Ok(Self { repository, commit })
    }

    /// Returns the absolute paths and object names of all files called `name`. The object name of a symlink or submodule is `None`.
    pub fn files_named(&self, name: &str) -> Result<BTreeMap<PathBuf, Option<String>>, GitError> {
        let list = ["-r", "-z", "--full-tree", &self.commit];
        let listed = self.repository.output("ls-tree", &list)?;
        Ok(listed
            .split(|byte| *byte == 0)
            .filter_map(parse_entry)
            .filter(|(path, _)| path.file_name().is_some_and(|found| found == name))
            .map(|(path, object)| (self.repository.top.join(path), object))
            .collect())
    }

    pub fn content(&self, object: &str) -> Result<Vec<u8>, GitError> {
        self.repository.output("cat-file", &["blob", object])
    }
}

/// Parses `MODE TYPE OBJECT<TAB>PATH`.
fn parse_entry(entry: &[u8]) -> Option<(PathBuf, Option<String>)> {
    let tab = entry.iter().position(|byte| *byte == b'\t')?;
    let text = String::from_utf8_lossy(&entry[..tab]);
    let mut fields = text.split(' ');
    let is_regular = matches!(fields.next(), Some("100644" | "100755"));
    let object = fields.nth(1).filter(|_| is_regular);
    Some((parse_path(&entry[tab + 1..]), object.map(str::to_owned)))
}
