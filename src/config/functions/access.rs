//! Which files the functions of a module may read: those of its repository, or of the package that it came with.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::access::{ReadAccess, ReadRules};

use super::super::location::Location;

/// What one module may have read; worked out when the first file is asked for.
#[derive(Clone, Debug)]
pub(in crate::config) struct FileAccess {
    rules: Arc<ReadRules>,
    /// The directory of the root module.
    root: PathBuf,
    /// The directories of the local modules that lead from there to this one.
    local_modules: Vec<PathBuf>,
    /// The package that the module came with.
    package: Option<PathBuf>,
    known: OnceCell<ReadAccess>,
}

impl FileAccess {
    pub(in crate::config) fn of_root(root: &Path, rules: Arc<ReadRules>) -> Self {
        Self {
            rules,
            root: root.to_path_buf(),
            local_modules: Vec::new(),
            package: None,
            known: OnceCell::new(),
        }
    }

    /// The access of a module that a module with this access calls.
    pub(super) fn of_called(&self, location: &Location) -> Self {
        let mut local_modules = self.local_modules.clone();
        if location.package.is_none() {
            local_modules.push(location.real.clone());
        }
        Self {
            rules: Arc::clone(&self.rules),
            root: self.root.clone(),
            local_modules,
            package: location.package.clone(),
            known: OnceCell::new(),
        }
    }

    pub(in crate::config) fn get(&self) -> &ReadAccess {
        self.known.get_or_init(|| {
            // A root that has no real path now cannot be read at all.
            let root = self.root.canonicalize();
            let access =
                ReadAccess::for_root_module(&self.rules, root.as_ref().unwrap_or(&self.root));
            match &self.package {
                Some(package) => access.for_package(package),
                None => self
                    .local_modules
                    .iter()
                    .fold(access, |access, module| access.for_local_module(module)),
            }
        })
    }
}
