//! Data that the units of a run share: parsed files, evaluated files, and answers about the file system.

use std::borrow::Borrow;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::hash::Hash;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
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

/// The maximum number of answers of one kind to keep. Further answers are computed each time.
const MAX_ANSWERS: usize = 100_000;

/// The maximum size of the evaluated files to keep, in bytes. Further files are evaluated each time.
const MAX_EVALUATED: u64 = 64_000_000;

#[derive(Debug, Default)]
pub(super) struct SharedFiles {
    parsed: Mutex<HashMap<PathBuf, Arc<OnceLock<ParseResult>>>>,
    access: Answers<PathBuf, Arc<SharedAccess>>,
}

/// The rules for what the units of one repository may read, and the results of their reads.
#[derive(Debug)]
pub(super) struct SharedAccess {
    pub(super) rules: ReadAccess,
    /// The parsed files that the units may read.
    readable: Answers<PathBuf, ParseResult>,
    evaluated: Answers<PathBuf, Arc<EvaluatedFile>>,
    /// The approximate size of the values in `evaluated`, in bytes.
    evaluated_cost: AtomicU64,
    existing: Answers<PathBuf, bool>,
}

type ParseResult = Result<Arc<UnitConfigFile>, Arc<UnitError>>;

/// A cache of answers. Several threads may compute the same answer at the same time, with the same result.
#[derive(Debug)]
struct Answers<K, V>(RwLock<HashMap<K, V>>);

impl<K, V> Default for Answers<K, V> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<K: Eq + Hash, V: Clone> Answers<K, V> {
    fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let answers = self.0.read().unwrap_or_else(PoisonError::into_inner);
        answers.get(key).cloned()
    }

    fn insert(&self, key: K, answer: V) {
        let mut answers = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if answers.len() < MAX_ANSWERS {
            answers.insert(key, answer);
        }
    }
}

/// The result of `read_terragrunt_config`.
#[derive(Debug)]
pub(super) struct EvaluatedFile {
    pub(super) value: Value,
    pub(super) origins: Origins,
    pub(super) files_read: BTreeSet<PathBuf>,
    /// The steps, values and bytes that the evaluation took. Each use of the result takes as much from the budget of its unit, even if
    /// another unit evaluated the file.
    pub(super) cost: [u64; 3],
}

impl SharedFiles {
    /// Returns what the unit in `directory`, a path without symlinks, may read.
    pub(super) fn access(&self, rules: &ReadRules, directory: &Path) -> Arc<SharedAccess> {
        let key = find_repository(directory).unwrap_or(directory);
        self.access.get(key).unwrap_or_else(|| {
            let access = Arc::new(SharedAccess {
                rules: ReadAccess::for_root_module(rules, directory),
                readable: Answers::default(),
                evaluated: Answers::default(),
                evaluated_cost: AtomicU64::new(0),
                existing: Answers::default(),
            });
            self.access.insert(key.to_path_buf(), Arc::clone(&access));
            access
        })
    }

    /// Returns the parsed file at `real`, a path without symlinks. Each file is parsed once.
    fn parse(
        &self,
        path: &Path,
        real: &Path,
        shown: PathBuf,
        schema: &'static BodySchema,
    ) -> ParseResult {
        let cell = {
            let mut parsed = self.parsed.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(parsed.entry(path.to_path_buf()).or_default())
        };
        let parsed = cell.get_or_init(|| match parse(path, real, shown, schema) {
            Ok(file) => Ok(Arc::new(file)),
            Err(error) => Err(Arc::new(error)),
        });
        parsed.clone()
    }
}

impl SharedAccess {
    /// Whether a file or directory exists that the units may read.
    pub(super) fn exists(&self, path: &Path) -> bool {
        self.existing.get(path).unwrap_or_else(|| {
            let exists = fs::metadata(path).is_ok() && self.rules.resolve(path).is_ok();
            self.existing.insert(path.to_path_buf(), exists);
            exists
        })
    }

    /// Whether there is an entry at `path`. A symlink counts even if its target is missing or must not be read: reading it then reports the
    /// problem.
    pub(super) fn has_entry(path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok()
    }

    /// Returns the parsed file at `path`. Fails if the units must not read it.
    pub(super) fn load(
        &self,
        files: &SharedFiles,
        path: &Path,
        shown: impl FnOnce() -> PathBuf,
        schema: &'static BodySchema,
    ) -> Result<ParseResult, AccessError> {
        if let Some(known) = self.readable.get(path) {
            return Ok(known);
        }
        let real = self.rules.locate(path)?;
        let parsed = files.parse(path, &real, shown(), schema);
        self.readable.insert(path.to_path_buf(), parsed.clone());
        Ok(parsed)
    }

    pub(super) fn evaluated(&self, path: &Path) -> Option<Arc<EvaluatedFile>> {
        self.evaluated.get(path)
    }

    pub(super) fn keep_evaluated(&self, path: &Path, file: &Arc<EvaluatedFile>) {
        let [_, values, bytes] = file.cost;
        // Besides its text, a value takes about 64 bytes of memory.
        let cost = values * 64 + bytes;
        if self.evaluated_cost.fetch_add(cost, Ordering::Relaxed) < MAX_EVALUATED {
            self.evaluated.insert(path.to_path_buf(), Arc::clone(file));
        }
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
