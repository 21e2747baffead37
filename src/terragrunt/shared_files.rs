//! What the units of a run share: parsed files, evaluated files, and answers about the file system.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::hash::Hash;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use crate::access::{
    AccessError, ReadAccess, ReadRules, find_repository, open_regular, read_limited,
};
use crate::syntax::Value;

use super::UnitError;
use super::origins::Origins;
use super::schema::BodySchema;
use super::unit_config_file::UnitConfigFile;

/// The maximum size of a configuration file, in bytes, as for configurations of Terraform.
const MAX_FILE_SIZE: u64 = 16 << 20;

#[derive(Debug, Default)]
pub(super) struct SharedFiles {
    parsed: Mutex<HashMap<PathBuf, Arc<OnceLock<ParseResult>>>>,
    evaluated: Answers<PathBuf, Arc<EvaluatedFile>>,
    existing: Answers<PathBuf, bool>,
    access: Answers<PathBuf, Arc<ReadAccess>>,
}

type ParseResult = Result<Arc<UnitConfigFile>, Arc<UnitError>>;

/// Answers that any number of threads may compute at the same time, with the same result.
#[derive(Debug)]
struct Answers<K, V>(RwLock<HashMap<K, V>>);

impl<K, V> Default for Answers<K, V> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<K: Eq + Hash, V: Clone> Answers<K, V> {
    fn get(&self, key: &K) -> Option<V> {
        let answers = self.0.read().unwrap_or_else(PoisonError::into_inner);
        answers.get(key).cloned()
    }

    fn insert(&self, key: K, answer: V) {
        let mut answers = self.0.write().unwrap_or_else(PoisonError::into_inner);
        answers.insert(key, answer);
    }
}

/// The result of `read_terragrunt_config`.
#[derive(Debug)]
pub(super) struct EvaluatedFile {
    pub(super) value: Value,
    pub(super) origins: Origins,
    pub(super) files_read: BTreeSet<PathBuf>,
    /// The steps, values and bytes that the evaluation took. Each use costs as much, whoever evaluated the file.
    pub(super) cost: [u64; 3],
}

impl SharedFiles {
    /// Returns the access rules for the unit in `directory`, a path without symlinks.
    pub(super) fn access(&self, rules: &ReadRules, directory: &Path) -> Arc<ReadAccess> {
        let key = find_repository(directory)
            .unwrap_or(directory)
            .to_path_buf();
        self.access.get(&key).unwrap_or_else(|| {
            let access = Arc::new(ReadAccess::for_root_module(rules, directory));
            self.access.insert(key, Arc::clone(&access));
            access
        })
    }

    /// Whether a file or directory exists that the unit may read.
    pub(super) fn exists(&self, path: &Path, access: &ReadAccess) -> bool {
        let exists = self.existing.get(&path.to_path_buf()).unwrap_or_else(|| {
            let exists = fs::metadata(path).is_ok();
            self.existing.insert(path.to_path_buf(), exists);
            exists
        });
        exists && access.resolve(path).is_ok()
    }

    /// Returns a parsed file. Each file is parsed once.
    pub(super) fn parse(
        &self,
        path: &Path,
        real: &Path,
        shown: impl FnOnce() -> PathBuf,
        schema: &'static BodySchema,
    ) -> Result<Arc<UnitConfigFile>, Arc<UnitError>> {
        let cell = {
            let mut parsed = self.parsed.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(parsed.entry(path.to_path_buf()).or_default())
        };
        let parsed = cell.get_or_init(|| {
            parse(path, real, shown(), schema)
                .map(Arc::new)
                .map_err(Arc::new)
        });
        parsed.clone()
    }

    pub(super) fn evaluated(&self, path: &Path) -> Option<Arc<EvaluatedFile>> {
        self.evaluated.get(&path.to_path_buf())
    }

    pub(super) fn keep_evaluated(&self, path: &Path, file: &Arc<EvaluatedFile>) {
        self.evaluated.insert(path.to_path_buf(), Arc::clone(file));
    }
}

/// Reads and parses the file at `real`, a path without symlinks.
pub(super) fn parse(
    path: &Path,
    real: &Path,
    shown: PathBuf,
    schema: &'static BodySchema,
) -> Result<UnitConfigFile, UnitError> {
    let failed = |source| UnitError::Read {
        path: shown.clone(),
        place: None,
        source: AccessError::Read(source),
    };
    let file = open_regular(real).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let text = read_limited(file, length, MAX_FILE_SIZE).map_err(failed)?;
    let Some(text) = text else {
        return Err(UnitError::TooLarge {
            path: shown,
            limit: MAX_FILE_SIZE,
        });
    };
    UnitConfigFile::parse(path, shown, text, schema)
}
