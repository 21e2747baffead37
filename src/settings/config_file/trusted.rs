//! Config files that the author of a pull request cannot change: the file given with `--config`, and the files of a revision.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::access::find_repository;
use crate::git::{GitError, GitSettings, Revision};
use crate::parallel::lock;

use super::{ConfigFile, ConfigFileError, ConfigTexts, NAME, read, read_bounded};

/// Reads the file given with `--config`. Its `ignore-paths` are relative to `working_directory`.
pub(in crate::settings) fn read_named(
    path: &Path,
    working_directory: &Path,
) -> Result<ConfigFile, ConfigFileError> {
    let opened = File::open(working_directory.join(path));
    let text = read_bounded(opened.map_err(Into::into), path)?;
    let mut file = read::parse(path, &text)?;
    file.directory = working_directory.to_path_buf();
    Ok(file)
}

/// The config files of a revision.
#[derive(Debug)]
pub(in crate::settings) struct RevisionTexts {
    git: GitSettings,
    revision: Option<String>,
    /// The config files of each repository that has been read, by repository root.
    known: Mutex<BTreeMap<PathBuf, Arc<RepositoryTexts>>>,
}

/// The content of the config files of one repository, by path. `None` for a path that is not a regular file.
type RepositoryTexts = BTreeMap<PathBuf, Option<Vec<u8>>>;

impl RevisionTexts {
    /// Provides the config files of `revision`. `None` stands for the commit at which HEAD diverged from the default branch.
    pub(in crate::settings) fn new(git: GitSettings, revision: Option<String>) -> Self {
        Self {
            git,
            revision,
            known: Mutex::default(),
        }
    }

    /// Returns the name by which messages refer to the revision.
    pub(super) fn name(&self) -> &str {
        self.revision.as_deref().unwrap_or("merge base")
    }

    fn read_repository(&self, top: &Path) -> Result<Arc<RepositoryTexts>, GitError> {
        let mut known = lock(&self.known);
        if let Some(texts) = known.get(top) {
            return Ok(Arc::clone(texts));
        }
        let revision = Revision::open(&self.git, top, self.revision.as_deref())?;
        let mut texts = RepositoryTexts::new();
        for (path, object) in revision.files_named(NAME)? {
            let text = object.map(|object| revision.content(&object)).transpose()?;
            texts.insert(path, text);
        }
        let texts = Arc::new(texts);
        known.insert(top.to_path_buf(), Arc::clone(&texts));
        Ok(texts)
    }

    /// Returns the config files of the repository that contains `directory`, or `None` if no repository does.
    fn repository_texts(
        &self,
        directory: &Path,
    ) -> Result<Option<Arc<RepositoryTexts>>, ConfigFileError> {
        let top = find_repository(directory);
        let texts = top.map(|top| self.read_repository(top)).transpose();
        texts.map_err(|source| ConfigFileError::Revision(Box::new(source)))
    }
}

impl ConfigTexts for RevisionTexts {
    fn text(&self, path: &Path, shown: &Path) -> Result<Option<Vec<u8>>, ConfigFileError> {
        let texts = self.repository_texts(path.parent().unwrap_or(path))?;
        match texts.as_ref().and_then(|texts| texts.get(path)) {
            None => Ok(None),
            Some(Some(text)) => Ok(Some(text.clone())),
            Some(None) => Err(ConfigFileError::Read {
                path: shown.to_path_buf(),
                source: std::io::Error::other("it is not a regular file").into(),
            }),
        }
    }

    fn directories(&self, directory: &Path) -> Result<Vec<PathBuf>, ConfigFileError> {
        let texts = self.repository_texts(directory)?;
        let paths = texts.iter().flat_map(|texts| texts.keys());
        Ok(paths
            .filter_map(|path| path.parent().map(Path::to_path_buf))
            .collect())
    }
}
