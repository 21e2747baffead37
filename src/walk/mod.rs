//! Finds module directories in and below the paths given on the command line: `PATH`, `-r` and `-i` in docs/reference/options.md.
//!
//! The walk does not follow symlinks to directories. `.gitignore` files have no effect, because Terraform does not read them.
//! Hidden directories contain no root modules, but Terragrunt finds units in them (see `hidden.rs`).

mod hidden;
mod ignore_rule;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use ignore::{DirEntry, WalkBuilder, WalkState};
use thiserror::Error;

use crate::code::Code;
use crate::config::{is_configuration, is_stack_file, is_tofu_only};
use crate::lockfile::{FILE_NAME as LOCK_FILE_NAME, is_lock_file};
use crate::parallel::lock;
use crate::span::Explain;
use crate::terragrunt::is_unit_file;

use hidden::{HiddenDirectories, add_hidden_units};
pub use ignore_rule::IgnoreRule;

pub const CONFIG_FILE_NAME: &str = ".tflock.toml";

/// The minimum number of threads. Listing directories waits for the disk, so it pays to use more threads than cores: listing
/// 20,020 directories that are not in the page cache takes 1,821 ms with one thread and 463 ms with eight.
const MIN_THREADS: usize = 8;

/// The options that determine which directories a walk visits.
#[derive(Clone, Debug, Default)]
pub struct WalkOptions {
    /// Whether to visit the directories below the given paths.
    pub recursive: bool,
    /// Rules for the directories to skip, together with everything below them. A directory that the user names is never skipped.
    pub ignore: Vec<IgnoreRule>,
}

/// How a directory was found. If several variants apply, the last of them takes precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FoundBy {
    /// The directory is below a given path.
    Walk,
    /// The user named a file in the directory, as pre-commit does.
    FileArgument,
    DirectoryArgument,
}

/// A directory that the user named, or that has a configuration or a lock file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the facts are independent")]
pub struct WalkedDirectory {
    /// Relative if the user's path is relative.
    pub path: PathBuf,
    pub found_by: FoundBy,
    /// Whether it contains configuration files that Terraform or OpenTofu reads.
    pub has_configuration: bool,
    /// Whether it contains configuration files that only OpenTofu reads.
    pub has_tofu_files: bool,
    /// Whether it contains files of a Terraform stack.
    pub has_stack_files: bool,
    pub has_lock_file: bool,
    /// Whether it contains the file of a Terragrunt unit.
    pub has_unit_file: bool,
    /// Whether the name of another file starts with `.terraform.lock.hcl`. A killed run may have left such a file behind.
    pub has_leftovers: bool,
}

/// The result of a walk, sorted by path.
#[derive(Debug, Default)]
pub struct WalkResult {
    pub directories: Vec<WalkedDirectory>,
    /// Directories with a file called `.tflock.toml`, in upper or lower case, because some file systems ignore case.
    pub config_files: BTreeSet<PathBuf>,
    /// Paths that could not be read. The walk continues after each error.
    pub errors: Vec<WalkError>,
}

#[derive(Debug, Error)]
#[error("cannot read the directory `{path}`")]
pub struct WalkError {
    pub path: PathBuf,
    pub source: io::Error,
}

impl Explain for WalkError {
    fn code(&self) -> Code {
        Code::UnreadableFile
    }
}

/// What the command line and the names of its files reveal about a directory.
#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the facts are independent")]
struct DirectoryFacts {
    /// `None` if the directory was not named on the command line.
    named: Option<FoundBy>,
    has_configuration: bool,
    has_tofu_files: bool,
    has_stack_files: bool,
    has_lock_file: bool,
    has_unit_file: bool,
    has_leftovers: bool,
    has_config_file: bool,
}

type FactsByPath = BTreeMap<PathBuf, DirectoryFacts>;

impl DirectoryFacts {
    fn of_file(name: &str) -> Self {
        Self {
            named: None,
            has_configuration: is_configuration(name),
            has_tofu_files: is_tofu_only(name),
            has_stack_files: is_stack_file(name),
            has_lock_file: is_lock_file(name),
            has_unit_file: is_unit_file(name),
            has_leftovers: !is_lock_file(name) && name.starts_with(LOCK_FILE_NAME),
            has_config_file: name.eq_ignore_ascii_case(CONFIG_FILE_NAME),
        }
    }

    fn merge(&mut self, other: Self) {
        self.named = self.named.max(other.named);
        self.has_configuration |= other.has_configuration;
        self.has_tofu_files |= other.has_tofu_files;
        self.has_stack_files |= other.has_stack_files;
        self.has_lock_file |= other.has_lock_file;
        self.has_unit_file |= other.has_unit_file;
        self.has_leftovers |= other.has_leftovers;
        self.has_config_file |= other.has_config_file;
    }

    /// Returns the facts about a hidden directory. If it has no unit, its configuration and lock file are ignored.
    const fn without_modules(self) -> Self {
        Self {
            has_configuration: self.has_configuration && self.has_unit_file,
            has_tofu_files: self.has_tofu_files && self.has_unit_file,
            has_stack_files: self.has_stack_files && self.has_unit_file,
            has_lock_file: self.has_lock_file && self.has_unit_file,
            ..self
        }
    }

    /// Whether the walk returns the directory.
    const fn is_relevant(self) -> bool {
        self.named.is_some()
            || self.has_configuration
            || self.has_stack_files
            || self.has_lock_file
            || self.has_unit_file
    }
}

/// Finds the directories for `paths`. The path of a file selects the directory that contains the file.
pub fn walk(paths: &[PathBuf], options: &WalkOptions) -> WalkResult {
    let mut facts = FactsByPath::new();
    let mut errors = Vec::new();
    for path in paths {
        match named_directory(path) {
            Ok((directory, FoundBy::FileArgument)) if is_ignored(&directory, options) => {}
            Ok((directory, named)) => facts.entry(directory).or_default().merge(DirectoryFacts {
                named: Some(named),
                ..DirectoryFacts::default()
            }),
            Err(source) => errors.push(WalkError {
                path: path.clone(),
                source,
            }),
        }
    }
    let hidden = Arc::new(Mutex::new(Vec::new()));
    let noted = HiddenDirectories::Note(Arc::clone(&hidden));
    collect_facts(&mut facts, &mut errors, options, &noted);
    let hidden = std::mem::take(&mut *lock(&hidden));
    add_hidden_units(&mut facts, hidden, &mut errors, options);
    for error in &errors {
        facts.remove(&error.path);
    }
    errors.sort_by_key(ToString::to_string);
    let has_config_file =
        |(path, facts): (&PathBuf, &DirectoryFacts)| facts.has_config_file.then(|| path.clone());
    WalkResult {
        config_files: facts.iter().filter_map(has_config_file).collect(),
        directories: facts
            .into_iter()
            .filter(|(_, facts)| facts.is_relevant())
            .map(|(path, facts)| WalkedDirectory {
                path,
                found_by: facts.named.unwrap_or(FoundBy::Walk),
                has_configuration: facts.has_configuration,
                has_tofu_files: facts.has_tofu_files,
                has_stack_files: facts.has_stack_files,
                has_lock_file: facts.has_lock_file,
                has_unit_file: facts.has_unit_file,
                has_leftovers: facts.has_leftovers,
            })
            .collect(),
        errors,
    }
}

fn named_directory(path: &Path) -> io::Result<(PathBuf, FoundBy)> {
    let path = without_dots(path);
    if path.metadata()?.is_dir() {
        return Ok((path, FoundBy::DirectoryArgument));
    }
    let parent = path.parent().unwrap_or(Path::new(""));
    Ok((without_dots(parent), FoundBy::FileArgument))
}

/// Removes `.` components. An empty result becomes `.`.
fn without_dots(path: &Path) -> PathBuf {
    let plain: PathBuf = path
        .components()
        .filter(|part| *part != Component::CurDir)
        .collect();
    if plain.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        plain
    }
}

fn is_ignored(path: &Path, options: &WalkOptions) -> bool {
    options.ignore.iter().any(|rule| rule.matches(path))
}

/// Lists the directories in `facts` and, if `recursive` is set, all directories below them.
fn collect_facts(
    facts: &mut FactsByPath,
    errors: &mut Vec<WalkError>,
    options: &WalkOptions,
    hidden: &HiddenDirectories,
) {
    let mut roots = facts.keys();
    let Some(first) = roots.next() else {
        return;
    };
    let mut builder = WalkBuilder::new(first);
    for root in roots {
        builder.add(root);
    }
    let cores = thread::available_parallelism().map_or(MIN_THREADS, usize::from);
    let (filter_options, hidden) = (options.clone(), hidden.clone());
    builder
        .standard_filters(false)
        .follow_links(false)
        .max_depth(if options.recursive { None } else { Some(1) })
        .threads(cores.max(MIN_THREADS))
        .filter_entry(move |entry| {
            entry.depth() == 0
                || !is_directory(entry)
                || is_visited(entry, &filter_options, &hidden)
        });
    let all = Mutex::new((std::mem::take(facts), std::mem::take(errors)));
    builder.build_parallel().run(|| {
        let mut collector = ThreadCollector {
            facts: FactsByPath::new(),
            errors: Vec::new(),
            all: &all,
        };
        Box::new(move |entry| {
            collector.add(entry);
            WalkState::Continue
        })
    });
    (*facts, *errors) = all.into_inner().unwrap_or_else(PoisonError::into_inner);
}

fn is_directory(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_dir())
}

fn is_visited(directory: &DirEntry, options: &WalkOptions, hidden: &HiddenDirectories) -> bool {
    let path = without_dots(directory.path());
    !is_ignored(&path, options) && hidden.allows(&path, &directory.file_name().to_string_lossy())
}

/// What one thread has found. When the thread ends, it drops this value, which adds the results to `all`.
struct ThreadCollector<'a> {
    facts: FactsByPath,
    errors: Vec<WalkError>,
    all: &'a Mutex<(FactsByPath, Vec<WalkError>)>,
}

impl ThreadCollector<'_> {
    fn add(&mut self, entry: Result<DirEntry, ignore::Error>) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => return self.errors.push(walk_error(error)),
        };
        if entry.depth() == 0 || is_directory(&entry) {
            return;
        }
        let facts = DirectoryFacts::of_file(&entry.file_name().to_string_lossy());
        if (facts.is_relevant() || facts.has_leftovers || facts.has_config_file)
            && let Some(directory) = entry.path().parent()
        {
            let directory = without_dots(directory);
            self.facts.entry(directory).or_default().merge(facts);
        }
    }
}

impl Drop for ThreadCollector<'_> {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        for (path, facts) in std::mem::take(&mut self.facts) {
            all.0.entry(path).or_default().merge(facts);
        }
        all.1.append(&mut self.errors);
    }
}

fn walk_error(error: ignore::Error) -> WalkError {
    /// Returns the path in the error, or in an error nested in it.
    fn path_of(error: &ignore::Error) -> Option<&Path> {
        match error {
            ignore::Error::WithPath { path, .. } => Some(path),
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
                path_of(err)
            }
            _ => None,
        }
    }
    let path = without_dots(path_of(&error).unwrap_or(Path::new(".")));
    let text = error.to_string();
    let source = error
        .into_io_error()
        .unwrap_or_else(|| io::Error::other(text));
    WalkError { path, source }
}

#[cfg(test)]
mod tests;
