//! Determines which files the functions in a module may read: those in its repository or in its package.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::access::{ReadAccess, ReadRules};

/// The files that one module may read, computed when a function first reads a file.
#[derive(Clone, Debug)]
pub struct FileAccess {
    rules: Arc<ReadRules>,
    /// The directory of the root module.
    root: PathBuf,
    /// The real directories of the local modules on the call path from the root to this module.
    local_modules: Vec<PathBuf>,
    /// The package that contains the module, if it was installed or fetched.
    package: Option<PathBuf>,
    access: OnceCell<ReadAccess>,
}

impl FileAccess {
    pub fn of_root(root: &Path, rules: Arc<ReadRules>) -> Self {
        Self {
            rules,
            root: root.to_path_buf(),
            local_modules: Vec::new(),
            package: None,
            access: OnceCell::new(),
        }
    }

    /// Creates the `FileAccess` for a module that this module calls.
    pub(super) fn for_called_module(&self, directory: &Path, package: Option<&Path>) -> Self {
        let mut local_modules = self.local_modules.clone();
        if package.is_none() {
            local_modules.push(directory.to_path_buf());
        }
        Self {
            rules: Arc::clone(&self.rules),
            root: self.root.clone(),
            local_modules,
            package: package.map(Path::to_path_buf),
            access: OnceCell::new(),
        }
    }

    pub fn get(&self) -> &ReadAccess {
        self.access.get_or_init(|| {
            // A failure can be ignored: without the real path of the root module, none of its files can be read either.
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
