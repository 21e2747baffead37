//! Locates the source of a unit: a local directory, or a fetched package.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::access::{LinkError, ReadAccess, confine};
use crate::config::{
    ChosenModule, EnvironmentValue, FetchedModule, FileSelection, ModuleRequest, ModuleSource,
    clean,
};
use crate::provider::ModuleVersionConstraints;
use crate::terragrunt::{Unit, UnitSource};

use super::copy_filter::CopyFilter;
use super::source::{self, ParsedSource};
use super::{AssemblyContext, AssemblyError};

/// The files that come from the source of a unit. The files of the unit are later laid over them.
#[derive(Debug)]
pub(super) struct Package {
    /// The directory of the package: a local directory, or the fetched package. `None` if the unit is its own source, or if the source is a
    /// single file.
    pub(super) directory: Option<PathBuf>,
    pub(super) selection: FileSelection,
    /// Single files, by path in the package.
    pub(super) files: BTreeMap<PathBuf, PathBuf>,
    /// The path of the root module in the package.
    pub(super) root: PathBuf,
    /// The real path of the package, if it was fetched.
    pub(super) fetched: Option<PathBuf>,
    /// The directory of the root module, with symlinks resolved, if it is a local directory.
    pub(super) source_directory: Option<PathBuf>,
    pub(super) chosen: Option<ChosenModule>,
    pub(super) missing_hint: String,
    filter: Option<CopyFilter>,
}

const HINT_NO_SOURCE: &str = "Terragrunt copies only the directory of the unit: set `source` to the module, with `//` after a \
    directory that contains all local modules";

const HINT_PACKAGE: &str = "Terragrunt copies only the directory before `//` in the source: put `//` after a directory that \
    contains all local modules";

impl Package {
    fn new(missing_hint: &str) -> Self {
        Self {
            directory: None,
            selection: FileSelection::All,
            files: BTreeMap::new(),
            root: PathBuf::new(),
            fetched: None,
            source_directory: None,
            chosen: None,
            missing_hint: missing_hint.to_owned(),
            filter: None,
        }
    }

    /// Whether a lock file at this path in the package is copied.
    pub(super) fn copies_lock_file(&self, path: &Path) -> bool {
        let filter = self.filter.as_ref();
        filter.is_none_or(|filter| filter.copies(path))
    }
}

pub(super) fn locate(unit: &Unit, context: AssemblyContext<'_>) -> Result<Package, AssemblyError> {
    let is_unit = |source: &&UnitSource| matches!(source.text.as_str(), "" | ".");
    let Some(source) = unit.source.as_ref().filter(|source| !is_unit(source)) else {
        return Ok(Package::new(HINT_NO_SOURCE));
    };
    let engine = context.options.engine;
    let default_host = match context.environment.get("TG_TF_DEFAULT_REGISTRY_HOST") {
        Some(EnvironmentValue::Known(host)) if !host.is_empty() => host,
        _ => engine.default_host(),
    };
    let parsed = source::parse(&source.text, engine, default_host);
    let parsed = parsed.map_err(|problem| AssemblyError::invalid_source(source, problem))?;
    match parsed {
        ParsedSource::Local { package, root } => {
            let package = clean(&unit.directory.join(package));
            local(unit, source, package, root, context)
        }
        ParsedSource::Remote(module, versions) => {
            fetch(unit, source, &module, versions.as_ref(), context)
        }
    }
}

fn local(
    unit: &Unit,
    source: &UnitSource,
    directory: PathBuf,
    root: PathBuf,
    context: AssemblyContext<'_>,
) -> Result<Package, AssemblyError> {
    let real = real_directory(unit, &directory, context);
    let real = real.map_err(|error| AssemblyError::unreadable_source(source, &directory, error))?;
    if real.is_file() {
        let mut package = Package::new(HINT_PACKAGE);
        let name = directory.file_name().unwrap_or_default();
        package.files.insert(name.into(), directory);
        return Ok(package);
    }
    let real_root = if root.as_os_str().is_empty() {
        real
    } else {
        let below = directory.join(&root);
        let found = real_directory(unit, &below, context).and_then(|real| {
            // This fails if the path is not a directory.
            real.read_dir()?;
            Ok(real)
        });
        found.map_err(|error| AssemblyError::unreadable_source(source, &below, error))?
    };
    let filter = CopyFilter::new(unit, &directory)?;
    Ok(Package {
        selection: filter.selection(),
        directory: Some(directory),
        root,
        source_directory: Some(real_root),
        filter: Some(filter),
        ..Package::new(HINT_PACKAGE)
    })
}

/// Resolves the symlinks in the path of a local directory. Symlinks in the repository must not lead out of it. If the configuration is
/// untrusted, no path may lead out of it.
fn real_directory(
    unit: &Unit,
    path: &Path,
    context: AssemblyContext<'_>,
) -> Result<PathBuf, LinkError> {
    let real = confine(path)?;
    // This fails if the path does not exist.
    fs::metadata(&real)?;
    if context.options.is_untrusted {
        access(unit, context).resolve(&real)?;
    }
    Ok(real)
}

/// Returns which files a unit may read.
pub(super) fn access(unit: &Unit, context: AssemblyContext<'_>) -> ReadAccess {
    let real = unit.directory.canonicalize();
    let directory = real.as_ref().unwrap_or(&unit.directory);
    ReadAccess::for_root_module(&context.options.files, directory)
}

fn fetch(
    unit: &Unit,
    source: &UnitSource,
    module: &ModuleSource,
    versions: Option<&ModuleVersionConstraints>,
    context: AssemblyContext<'_>,
) -> Result<Package, AssemblyError> {
    let failed = |cause, hint| AssemblyError::unavailable(source, module, cause, hint);
    let Some(fetcher) = context.fetcher else {
        return Err(failed(
            "this command does not fetch remote modules".into(),
            None,
        ));
    };
    let confined_to = context.options.is_untrusted.then(|| access(unit, context));
    let request = ModuleRequest {
        source: module,
        versions,
        root: &unit.directory,
        place: &source.place,
        engine: context.options.engine,
        confined_to: confined_to.as_ref(),
        is_hidden: source.hidden.is_some(),
    };
    let FetchedModule {
        directory,
        package,
        version,
    } = fetcher
        .fetch(&request)
        .map_err(|error| failed(error.source, error.hint))?;
    let package = package.canonicalize().unwrap_or(package);
    let root = directory.canonicalize().unwrap_or(directory);
    let root = root.strip_prefix(&package).unwrap_or(Path::new(""));
    let is_fixed = versions.is_some() || source.hidden.is_some();
    let source = module.shown();
    let chosen = version.map(|version| ChosenModule { source, version });
    Ok(Package {
        root: root.to_path_buf(),
        directory: Some(package.clone()),
        fetched: Some(package),
        chosen: chosen.filter(|_| !is_fixed),
        ..Package::new(HINT_PACKAGE)
    })
}
