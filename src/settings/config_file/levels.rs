//! The config files that apply to a directory.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::access::{open_confined, repository_root};
use crate::parallel::lock;

use super::{ConfigFile, ConfigFileError, NAME, RevisionTexts, read, read_bounded};

/// A source of config files, such as the work tree or a revision.
pub trait ConfigTexts: Debug + Send + Sync {
    /// Reads the file at `path` (absolute, with no symlinks above it). `None` if it does not exist. `shown` is the path in messages.
    fn text(&self, path: &Path, shown: &Path) -> Result<Option<Vec<u8>>, ConfigFileError>;

    /// Lists the directories with config files in the repository that contains `directory`. The default implementation returns an
    /// empty list.
    fn directories(&self, _directory: &Path) -> Result<Vec<PathBuf>, ConfigFileError> {
        Ok(Vec::new())
    }
}

/// The config files on disk.
#[derive(Debug)]
struct WorkTree;

impl ConfigTexts for WorkTree {
    fn text(&self, path: &Path, shown: &Path) -> Result<Option<Vec<u8>>, ConfigFileError> {
        match path.symlink_metadata() {
            Ok(_) => {
                let opened = open_confined(path).map(|(file, _)| file);
                read_bounded(opened, shown).map(Some)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            // A file that may exist is never treated as missing, because it may contain `[signers]`.
            Err(source) => Err(ConfigFileError::Read {
                path: shown.to_path_buf(),
                source: source.into(),
            }),
        }
    }
}

/// Finds config files, and reads each of them once.
#[derive(Debug)]
pub struct ConfigFiles {
    /// The directory to which file names in messages are relative, without symlinks.
    working_directory: PathBuf,
    texts: Box<dyn ConfigTexts>,
    by_directory: Mutex<BTreeMap<PathBuf, Option<Arc<ConfigFile>>>>,
    /// The prefix of file names in messages, such as `HEAD:`.
    prefix: String,
    /// Whether the files can only make trust settings stricter.
    is_untrusted: bool,
    /// The file given with `--config`, which takes precedence over all others for every path.
    named: Option<Arc<ConfigFile>>,
    /// The files of a revision, which take precedence over those in the tree.
    revision: Option<Box<Self>>,
}

impl ConfigFiles {
    /// Creates the config files of the work tree. Messages show their paths relative to `working_directory`, a path without symlinks.
    pub fn of_work_tree(working_directory: PathBuf) -> Self {
        Self::new(working_directory, Box::new(WorkTree))
    }

    pub fn new(working_directory: PathBuf, texts: Box<dyn ConfigTexts>) -> Self {
        Self {
            working_directory,
            texts,
            by_directory: Mutex::default(),
            prefix: String::new(),
            is_untrusted: false,
            named: None,
            revision: None,
        }
    }

    pub(in crate::settings) fn with_named(self, named: Option<ConfigFile>) -> Self {
        let named = named.map(Arc::new);
        Self { named, ..self }
    }

    /// Marks the tree as untrusted: its files can only make trust settings stricter, and the files of `revision` take precedence.
    pub(in crate::settings) fn untrusted(mut self, revision: Option<RevisionTexts>) -> Self {
        self.is_untrusted = true;
        self.revision = revision.map(|texts| {
            let prefix = format!("{}:", texts.name());
            let files = Self::new(self.working_directory.clone(), Box::new(texts));
            Box::new(Self { prefix, ..files })
        });
        self
    }

    /// Returns the directories (absolute, without symlinks) that have config files in the revision. The tree may lack these files.
    pub fn other_directories(&self, directory: &Path) -> Result<Vec<PathBuf>, ConfigFileError> {
        match &self.revision {
            Some(revision) => revision.texts.directories(directory),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the files that apply to `directory` (absolute, without symlinks), in this order: `--config`, the revision, the tree.
    /// Within the revision and the tree, the nearest file is first.
    pub fn levels(&self, directory: &Path) -> Result<Vec<Arc<ConfigFile>>, ConfigFileError> {
        let top = repository_root(directory);
        let mut all: Vec<_> = self.named.clone().into_iter().collect();
        if let Some(revision) = &self.revision {
            all.extend(revision.levels(directory)?);
        }
        for level in directory
            .ancestors()
            .take_while(|level| level.starts_with(&top))
        {
            all.extend(self.file_in(level)?);
        }
        Ok(all)
    }

    fn file_in(&self, directory: &Path) -> Result<Option<Arc<ConfigFile>>, ConfigFileError> {
        if let Some(known) = lock(&self.by_directory).get(directory) {
            return Ok(known.clone());
        }
        let path = directory.join(NAME);
        let relative = relative_path(&path, &self.working_directory);
        let shown = PathBuf::from(format!("{}{}", self.prefix, relative.display()));
        let file = self.texts.text(&path, &shown)?.map(|text| {
            let mut file = read::parse(&shown, &text)?;
            file.directory = directory.to_path_buf();
            if self.is_untrusted {
                file.options = file.options.without_loosening();
            }
            Ok(Arc::new(file))
        });
        let file = file.transpose()?;
        lock(&self.by_directory).insert(directory.to_path_buf(), file.clone());
        Ok(file)
    }
}

/// Makes the path of a config file relative to `working_directory` if one of the two directories contains the other.
fn relative_path(path: &Path, working_directory: &Path) -> PathBuf {
    if let Ok(below) = path.strip_prefix(working_directory) {
        return below.to_path_buf();
    }
    let directory = path.parent().unwrap_or(path);
    match working_directory.strip_prefix(directory) {
        Ok(down) => down.iter().map(|_| "..").collect::<PathBuf>().join(NAME),
        Err(_) => path.to_path_buf(),
    }
}
