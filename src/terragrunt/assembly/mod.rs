//! Assembles in memory the root module that Terragrunt would create in its cache. See sections 4 to 7 of docs/rules/terragrunt.md.
//!
//! | step | file |
//! | --- | --- |
//! | the source is parsed, and fetched if it is remote | [`source`], [`package`] |
//! | the files of the unit are laid over it | [`copy_filter`] |
//! | generated files are added | [`generated`], [`holes`] |
//! | the inputs and the arguments of `init` become values of variables | [`values`] |

mod copy_filter;
mod error;
mod generated;
mod holes;
mod package;
mod source;
mod values;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::{
    AssembledModule, ChosenModule, ConfigError, EnvironmentValue, FileTree, ModuleCache,
    ModuleFetcher, ReadOptions, RootModule, TreeEntry, TreeFile, TreeLayer, clean,
    has_configuration_extension, is_configuration, is_tofu_only, read_assembled,
};
use crate::provider::Engine;
use crate::span::Place;

pub use error::AssemblyError;

use super::{Unit, UnknownUnit};
use copy_filter::CopyFilter;
use generated::Generator;
use package::Package;

/// The input for the assembly of a unit, in addition to the unit.
#[derive(Clone, Copy)]
pub struct AssemblyContext<'a> {
    /// The options for a root module in the directory of the unit.
    pub options: &'a ReadOptions,
    /// The environment in which Terragrunt would run: the values of variables by name.
    pub environment: &'a BTreeMap<String, EnvironmentValue>,
    /// Fetches remote sources. Without a fetcher, all of them are unavailable.
    pub fetcher: Option<&'a dyn ModuleFetcher>,
}

/// The root module of a unit.
#[derive(Debug)]
pub struct AssembledUnit {
    pub module: AssembledModule,
    /// The options for reading the module, with the values that the unit gives to its variables.
    pub options: ReadOptions,
    /// The directory of the source, with symlinks resolved. `None` if the source is not a local directory.
    pub source_directory: Option<PathBuf>,
    /// The existing lock file that Terragrunt copies to the root module: that of the unit, or else that of the source.
    pub lock_file: Option<PathBuf>,
    /// Whether the engine finds a configuration in the root module. If not, it writes no lock file.
    pub is_configured: bool,
    /// The version chosen for a registry module that the source does not restrict to one version.
    chosen: Option<ChosenModule>,
    /// A hook that may write configuration before `init`.
    hook: Option<Place>,
    /// Like [`Unit::files_read`].
    files_read: BTreeSet<PathBuf>,
}

#[derive(Debug)]
pub enum Assembly {
    Known(Box<AssembledUnit>),
    Unknown(Box<UnknownUnit>),
}

#[derive(Debug)]
pub enum UnitModule {
    Known(Box<RootModule>),
    Unknown(Box<UnknownUnit>),
}

/// The key in [`RootModule::chosen_modules`] of the source of a unit.
const SOURCE_KEY: &str = "terraform.source";

/// The path of the package in the tree. It has two components, so that the tree can also contain a generated file at a path such as
/// `../x.tf`, which leads out of the package.
const PACKAGE: &str = "download/package";

/// Assembles the root module of a unit.
///
/// # Errors
/// Fails if Terragrunt would fail, if the source cannot be fetched, or if the unit refers to a directory that it must not read.
pub fn assemble(unit: &Unit, context: AssemblyContext<'_>) -> Result<Assembly, AssemblyError> {
    let package = package::locate(unit, context)?;
    let mut tree = FileTree::new(mount(&unit.directory));
    tree.set_missing_hint(package.missing_hint.clone());
    let filter = CopyFilter::new(unit, &unit.directory)?;
    let root = Path::new(PACKAGE).join(&package.root);
    add_package(&mut tree, &package);
    tree.add_layer(TreeLayer {
        at: root.clone(),
        directory: unit.directory.clone(),
        package: None,
        selection: filter.selection(),
    });
    let lock_file = lock_file(&filter, &package, unit, context.options.engine);
    let mut generator = Generator::new(&mut tree, &root, unit);
    if let Some(unknown) = generator.generate()? {
        return Ok(Assembly::Unknown(Box::new(unknown)));
    }
    let has_unknown_variables = generator.has_unknown_variables;
    let mut options = values::options(unit, &tree, &root, context)?;
    options.has_unknown_variables |= has_unknown_variables;
    values::add_null_inputs(unit, &mut tree, &root);
    if !has_configuration_below(&tree, &root) {
        if let Some(hook) = unit.hooks_before_init.first() {
            let unknown = error::unwritten_configuration(unit, hook);
            return Ok(Assembly::Unknown(Box::new(unknown)));
        }
        return Err(AssemblyError::NoConfiguration {
            place: Box::new(error::place_of(unit)),
        });
    }
    Ok(Assembly::Known(Box::new(AssembledUnit {
        is_configured: is_configured(&tree, &root, options.engine),
        module: AssembledModule {
            directory: unit.directory.clone(),
            root,
            files: Arc::new(tree),
        },
        options,
        source_directory: package.source_directory,
        lock_file,
        chosen: package.chosen,
        hook: unit.hooks_before_init.first().cloned(),
        files_read: unit.files_read.clone(),
    })))
}

impl AssembledUnit {
    /// Reads the root module and all modules that it calls.
    ///
    /// # Errors
    /// Fails like [`read_assembled`], but if a module source depends on an unknown value, or a hook may write a missing module, the
    /// requirements are unknown.
    pub fn read(
        &self,
        cache: &ModuleCache,
        fetcher: Option<&dyn ModuleFetcher>,
    ) -> Result<UnitModule, Vec<Arc<ConfigError>>> {
        match read_assembled(&self.module, &self.options, cache, fetcher) {
            Ok(mut root) => {
                if let Some(chosen) = &self.chosen {
                    let modules = &mut root.chosen_modules;
                    modules.insert(SOURCE_KEY.to_owned(), chosen.clone());
                }
                Ok(UnitModule::Known(Box::new(root)))
            }
            Err(errors) if errors.iter().all(|error| error.needs_unknown_value()) => {
                let unknown = error::unknown_module(&errors, &self.module, &self.files_read);
                Ok(UnitModule::Unknown(Box::new(unknown)))
            }
            Err(errors) => match &self.hook {
                Some(hook) if errors.iter().all(|error| error.is_missing_below()) => {
                    let unknown = error::unwritten_module(&errors, hook, &self.files_read);
                    Ok(UnitModule::Unknown(Box::new(unknown)))
                }
                _ => Err(errors),
            },
        }
    }
}

/// Returns the path that identifies the tree of a unit. Nothing exists there: Terragrunt stores its copy in the same directory, under
/// another name.
fn mount(unit: &Path) -> PathBuf {
    let absolute = std::path::absolute(unit).unwrap_or_else(|_| unit.to_path_buf());
    clean(&absolute).join(".terragrunt-cache").join("in-memory")
}

fn add_package(tree: &mut FileTree, package: &Package) {
    for (path, file) in &package.files {
        let file = TreeFile::OnDisk {
            path: file.clone(),
            package: package.fetched.clone(),
        };
        tree.add_file(Path::new(PACKAGE).join(path), file);
    }
    if let Some(directory) = &package.directory {
        tree.add_layer(TreeLayer {
            at: PACKAGE.into(),
            directory: directory.clone(),
            package: package.fetched.clone(),
            selection: package.selection.clone(),
        });
    }
}

/// Returns the lock file that Terragrunt copies to the root module: that of the unit unless it is excluded, or else the one in the
/// directory of the source.
fn lock_file(
    filter: &CopyFilter,
    package: &Package,
    unit: &Unit,
    engine: Engine,
) -> Option<PathBuf> {
    let name = engine.lock_file_name();
    let own = unit.directory.join(name);
    if filter.copies(Path::new(name)) && own.is_file() {
        return Some(own);
    }
    let path = package.root.join(name);
    let found = package.directory.as_ref()?.join(&path);
    (package.copies_lock_file(&path) && found.is_file()).then_some(found)
}

/// Whether the engine finds a configuration in a directory of the tree.
fn is_configured(tree: &FileTree, root: &Path, engine: Engine) -> bool {
    let is_read =
        |name: &str| is_configuration(name) && (engine == Engine::Tofu || !is_tofu_only(name));
    let names = tree.list(root).unwrap_or_default();
    names
        .iter()
        .any(|(name, is_directory)| !is_directory && is_read(name))
}

/// The maximum number of directories in which to look for a configuration. Symlinks can make a tree endless.
const MAX_DIRECTORIES: usize = 10_000;

/// Whether a directory of the tree, or a directory below it, contains a configuration file. Terragrunt rejects a unit without one.
fn has_configuration_below(tree: &FileTree, root: &Path) -> bool {
    let mut pending = VecDeque::from([root.to_path_buf()]);
    for _ in 0..MAX_DIRECTORIES {
        let Some(path) = pending.pop_front() else {
            return false;
        };
        for (name, is_directory) in tree.list(&path).unwrap_or_default() {
            match is_directory {
                true if pending.len() < MAX_DIRECTORIES => pending.push_back(path.join(name)),
                false if has_configuration_extension(&name) => return true,
                _ => {}
            }
        }
    }
    false
}

/// Returns the file at a path in the tree.
fn file_at(tree: &FileTree, path: &Path) -> Option<TreeFile> {
    match tree.find(path)? {
        TreeEntry::File(file) => Some(file),
        TreeEntry::Directory => None,
    }
}
