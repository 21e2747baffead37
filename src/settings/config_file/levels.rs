//! Which config files apply to a directory.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::{ConfigFile, ConfigFileError, NAME, read, text};

/// The texts of config files: those of the work tree, or for example those of a revision.
pub trait ConfigTexts: Debug + Send + Sync {
    /// The text of the file at `path` (absolute, without links above it), which messages call `shown`. `None` if there is no
    /// such file.
    fn text(&self, path: &Path, shown: &Path) -> Result<Option<Vec<u8>>, ConfigFileError>;
}

/// The config files as they lie on disk.
#[derive(Debug)]
struct WorkTree;

impl ConfigTexts for WorkTree {
    fn text(&self, path: &Path, shown: &Path) -> Result<Option<Vec<u8>>, ConfigFileError> {
        match path.symlink_metadata() {
            Ok(_) => text(path, shown).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            // A file that may exist is never treated as missing: it may pin signers.
            Err(source) => Err(ConfigFileError::Read {
                path: shown.to_path_buf(),
                source: source.into(),
            }),
        }
    }
}

/// Finds and reads config files, each once.
#[derive(Debug)]
pub struct ConfigFiles {
    /// What files are named relative to, without links.
    working_directory: PathBuf,
    texts: Box<dyn ConfigTexts>,
    by_directory: Mutex<BTreeMap<PathBuf, Option<Arc<ConfigFile>>>>,
}

impl ConfigFiles {
    /// The config files of the work tree. `working_directory` is what they are named relative to, without links.
    pub fn of_work_tree(working_directory: PathBuf) -> Self {
        Self::new(working_directory, Box::new(WorkTree))
    }

    /// Config files with these texts.
    pub fn new(working_directory: PathBuf, texts: Box<dyn ConfigTexts>) -> Self {
        Self {
            working_directory,
            texts,
            by_directory: Mutex::default(),
        }
    }

    /// The files that apply to `directory` (absolute, without links), the nearest first.
    pub fn levels(&self, directory: &Path) -> Result<Vec<Arc<ConfigFile>>, ConfigFileError> {
        let top = crate::access::repository_root(directory);
        let levels = directory.ancestors();
        let levels = levels.take_while(|level| level.starts_with(&top));
        let files = levels.map(|level| self.file_in(level));
        files.filter_map(Result::transpose).collect()
    }

    /// The file in `directory` itself.
    fn file_in(&self, directory: &Path) -> Result<Option<Arc<ConfigFile>>, ConfigFileError> {
        let by_directory = || {
            self.by_directory
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if let Some(known) = by_directory().get(directory) {
            return Ok(known.clone());
        }
        let path = directory.join(NAME);
        let shown = shown(&path, &self.working_directory);
        let file = self.texts.text(&path, &shown)?.map(|text| {
            let mut file = read::parse(&shown, &text)?;
            file.directory = directory.to_path_buf();
            Ok(Arc::new(file))
        });
        let file = file.transpose()?;
        by_directory().insert(directory.to_path_buf(), file.clone());
        Ok(file)
    }
}

/// The file as someone in `working_directory` would name it.
fn shown(path: &Path, working_directory: &Path) -> PathBuf {
    if let Ok(below) = path.strip_prefix(working_directory) {
        return below.to_path_buf();
    }
    let directory = path.parent().unwrap_or(path);
    match working_directory.strip_prefix(directory) {
        Ok(down) => down.iter().map(|_| "..").collect::<PathBuf>().join(NAME),
        Err(_) => path.to_path_buf(),
    }
}
