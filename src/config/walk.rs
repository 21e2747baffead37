//! Finds the directories to work on. See `PATH`, `-r` and `-i` in docs/reference/options.md.
//!
//! Hidden directories, `.terraform` among them, are skipped, and links to directories are not followed. Ignore files of git
//! do not count: Terraform does not know them. Several threads hide the latency of disks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::error::ConfigError;
use super::files::{is_configuration, is_tofu_only};
use super::ignore::IgnoreRule;
use ignore::{DirEntry, WalkBuilder, WalkState};

/// The name of a lock file.
const LOCK_FILE: &str = ".terraform.lock.hcl";

/// The name of a config file.
const CONFIG_FILE: &str = ".tflock.toml";

/// Listing directories waits for the disk, so more threads than cores pay off (1,821 ms with one, 463 ms with eight, for
/// 20,020 directories that no cache holds).
const MIN_THREADS: usize = 8;

/// Which directories are wanted.
#[derive(Clone, Debug, Default)]
pub struct WalkOptions {
    /// Also those below the given paths.
    pub recursive: bool,
    /// Directories whose path one of these matches are skipped, with all that is below. Paths that the user names as
    /// directories are not.
    pub ignore: Vec<IgnoreRule>,
}

/// How a directory came to be worked on; the later outranks the earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Named {
    /// It was found below another one.
    Walked,
    /// One of its files was named, as pre-commit does.
    ByFile,
    /// It was named itself.
    Directly,
}

/// A directory that was named, or that has a configuration or a lock file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Directory {
    /// Relative if the user's path is.
    pub path: PathBuf,
    /// How it was found.
    pub named: Named,
    /// It has files that Terraform or OpenTofu reads.
    pub has_configuration: bool,
    /// Some of these are for OpenTofu only.
    pub has_tofu_files: bool,
    /// It has a lock file.
    pub has_lock_file: bool,
    /// It has a file whose name begins with that of a lock file: what a run may have left that was killed.
    pub has_leftovers: bool,
}

/// What was found, in the order of the paths.
#[derive(Debug, Default)]
pub struct Walk {
    /// Each directory once.
    pub directories: Vec<Directory>,
    /// Directories that have a config file of tflock, or on some systems another file with that name in other letters.
    pub config_files: BTreeSet<PathBuf>,
    /// Directories that could not be listed. They stop nothing.
    pub errors: Vec<ConfigError>,
}

/// Facts of a directory, collected entry by entry.
#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct Facts {
    named: Option<Named>,
    configuration: bool,
    tofu_files: bool,
    lock_file: bool,
    leftovers: bool,
    config_file: bool,
}

impl Facts {
    fn add(&mut self, other: Self) {
        self.named = self.named.max(other.named);
        self.configuration |= other.configuration;
        self.tofu_files |= other.tofu_files;
        self.lock_file |= other.lock_file;
        self.leftovers |= other.leftovers;
        self.config_file |= other.config_file;
    }

    fn of_file(name: &str) -> Self {
        Self {
            named: None,
            configuration: is_configuration(name),
            tofu_files: is_tofu_only(name),
            lock_file: name == LOCK_FILE,
            leftovers: name != LOCK_FILE && name.starts_with(LOCK_FILE),
            config_file: name.eq_ignore_ascii_case(CONFIG_FILE),
        }
    }

    const fn is_something(self) -> bool {
        self.named.is_some() || self.configuration || self.lock_file
    }
}

type Found = BTreeMap<PathBuf, Facts>;

/// Finds the directories that `paths` mean; a path to a file means its directory.
pub fn walk(paths: &[PathBuf], options: &WalkOptions) -> Walk {
    let mut found = Found::new();
    let mut errors = Vec::new();
    for path in paths {
        match named_directory(path) {
            Ok((directory, Named::ByFile)) if is_ignored(&directory, options) => {}
            Ok((directory, named)) => found.entry(directory).or_default().add(Facts {
                named: Some(named),
                ..Facts::default()
            }),
            Err(source) => errors.push(ConfigError::ReadDirectory {
                path: path.clone(),
                source,
            }),
        }
    }
    visit(&mut found, &mut errors, options);
    // What is told as an error is not also told as a directory that cannot be read.
    for error in &errors {
        if let ConfigError::ReadDirectory { path, .. } = error {
            found.remove(path);
        }
    }
    let config_files = found.iter().filter(|(_, facts)| facts.config_file);
    let config_files = config_files.map(|(path, _)| path.clone()).collect();
    let directories = found.into_iter().filter(|(_, facts)| facts.is_something());
    let directories = directories.map(|(path, facts)| Directory {
        path,
        named: facts.named.unwrap_or(Named::Walked),
        has_configuration: facts.configuration,
        has_tofu_files: facts.tofu_files,
        has_lock_file: facts.lock_file,
        has_leftovers: facts.leftovers,
    });
    errors.sort_by_key(ToString::to_string);
    Walk {
        directories: directories.collect(),
        config_files,
        errors,
    }
}

fn named_directory(path: &Path) -> std::io::Result<(PathBuf, Named)> {
    let path = without_dots(path);
    if path.metadata()?.is_dir() {
        return Ok((path, Named::Directly));
    }
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    Ok((
        parent.unwrap_or(Path::new(".")).to_path_buf(),
        Named::ByFile,
    ))
}

/// `./a` is `a`.
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

/// Lists the directories found so far and, if asked to, those below them.
fn visit(found: &mut Found, errors: &mut Vec<ConfigError>, options: &WalkOptions) {
    let mut roots = found.keys();
    let Some(first) = roots.next() else {
        return;
    };
    let mut builder = WalkBuilder::new(first);
    for root in roots {
        builder.add(root);
    }
    let patterns = options.clone();
    builder
        .standard_filters(false)
        .follow_links(false)
        .max_depth(if options.recursive { None } else { Some(1) })
        .threads(
            std::thread::available_parallelism()
                .map_or(MIN_THREADS, |cores| cores.get().max(MIN_THREADS)),
        )
        .filter_entry(move |entry| {
            entry.depth() == 0 || !is_directory(entry) || is_wanted(entry, &patterns)
        });
    let all = Mutex::new((std::mem::take(found), std::mem::take(errors)));
    builder.build_parallel().run(|| {
        let mut part = Part {
            found: Found::new(),
            errors: Vec::new(),
            all: &all,
        };
        Box::new(move |entry| {
            part.add(entry);
            WalkState::Continue
        })
    });
    let (all_found, all_errors) = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    (*found, *errors) = (all_found, all_errors);
}

fn is_directory(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_dir())
}

fn is_wanted(entry: &DirEntry, options: &WalkOptions) -> bool {
    let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
    !is_hidden && !is_ignored(&without_dots(entry.path()), options)
}

/// What one thread finds; it joins the rest when the thread is done.
struct Part<'a> {
    found: Found,
    errors: Vec<ConfigError>,
    all: &'a Mutex<(Found, Vec<ConfigError>)>,
}

impl Part<'_> {
    fn add(&mut self, entry: Result<DirEntry, ignore::Error>) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => return self.errors.push(unreadable(error)),
        };
        if entry.depth() == 0 || is_directory(&entry) {
            return;
        }
        let facts = Facts::of_file(&entry.file_name().to_string_lossy());
        if let Some(directory) = entry
            .path()
            .parent()
            .filter(|_| facts.is_something() || facts.leftovers || facts.config_file)
        {
            self.found
                .entry(without_dots(directory))
                .or_default()
                .add(facts);
        }
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        for (path, facts) in std::mem::take(&mut self.found) {
            all.0.entry(path).or_default().add(facts);
        }
        all.1.append(&mut self.errors);
    }
}

/// The path that an error of the walk is about is in one of its layers.
fn unreadable(error: ignore::Error) -> ConfigError {
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
        .unwrap_or_else(|| std::io::Error::other(text));
    ConfigError::ReadDirectory { path, source }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A tree of files; the result is relative to it.
    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new(files: &[&str]) -> Self {
            let tree = Self(tempfile::tempdir().unwrap());
            for file in files {
                let path = tree.0.path().join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, "").unwrap();
            }
            tree
        }

        fn walk(&self, paths: &[&str], recursive: bool, ignore: &[&str]) -> Vec<(String, Named)> {
            let paths: Vec<PathBuf> = paths.iter().map(|path| self.0.path().join(path)).collect();
            let ignore = ignore
                .iter()
                .map(|pattern| IgnoreRule::as_walked(regex::Regex::new(pattern).unwrap()))
                .collect();
            let walk = walk(&paths, &WalkOptions { recursive, ignore });
            assert!(walk.errors.is_empty(), "{:?}", walk.errors);
            let relative = |path: &Path| {
                path.strip_prefix(self.0.path())
                    .unwrap()
                    .to_string_lossy()
                    .replace(std::path::MAIN_SEPARATOR, "/")
            };
            walk.directories
                .iter()
                .map(|found| (relative(&found.path), found.named))
                .collect()
        }

        fn paths(&self, paths: &[&str], recursive: bool, ignore: &[&str]) -> Vec<String> {
            self.walk(paths, recursive, ignore)
                .into_iter()
                .map(|(path, _)| path)
                .collect()
        }
    }

    #[test]
    fn every_module_and_every_lock_file_below_a_path_in_order() {
        let tree = Tree::new(&[
            "z/main.tf",
            "a/b/main.tofu",
            "a/c/x.tf.json",
            "a/d/README.md",
            "lock/.terraform.lock.hcl",
            ".hidden/main.tf",
            "z/.terraform/modules/m/main.tf",
            "e/.x.tf",
            "e/y.tf~",
            ".git/x.tf",
            "a-b/main.tf",
        ]);
        assert_eq!(
            tree.paths(&["."], true, &[]),
            ["", "a/b", "a/c", "a-b", "lock", "z"]
        );
        assert_eq!(tree.paths(&["a"], true, &[]), ["a", "a/b", "a/c"]);
        assert_eq!(tree.paths(&["a/b", "."], false, &[]), ["", "a/b"]);
    }

    #[test]
    fn files_mean_their_directory() {
        let tree = Tree::new(&["a/main.tf", "a/other.txt", "b/main.tf"]);
        let expected = [("a".to_owned(), Named::ByFile)];
        assert_eq!(
            tree.walk(&["a/main.tf", "a/other.txt"], false, &[]),
            expected
        );
        assert_eq!(
            tree.walk(&["a/main.tf", "a"], false, &[]),
            [("a".to_owned(), Named::Directly)]
        );
        assert_eq!(
            tree.paths(&["a/main.tf", "b/main.tf"], false, &["/b$"]),
            ["a"]
        );
    }

    #[test]
    fn patterns_match_anywhere_in_the_path_and_skip_all_below() {
        let tree = Tree::new(&["a/legacy/x/main.tf", "a/new/main.tf", "legacy2/main.tf"]);
        assert_eq!(
            tree.paths(&["a", "legacy2"], true, &["legacy"]),
            ["a", "a/new", "legacy2"]
        );
        assert_eq!(tree.paths(&["a"], true, &["a/l.*y$"]), ["a", "a/new"]);
    }

    #[test]
    fn ignore_files_of_git_do_not_count() {
        let tree = Tree::new(&["a/main.tf", ".git/HEAD"]);
        fs::write(tree.0.path().join(".gitignore"), "a\n").unwrap();
        assert_eq!(tree.paths(&["."], true, &[]), ["", "a"]);
    }

    #[test]
    fn what_a_directory_holds() {
        let tree = Tree::new(&["a/main.tofu", "a/.terraform.lock.hcl"]);
        let found = &walk(&[tree.0.path().join("a")], &WalkOptions::default()).directories[0];
        assert!(found.has_configuration && found.has_tofu_files && found.has_lock_file);
        assert!(!found.has_leftovers);
    }

    #[test]
    fn what_a_file_tells() {
        let facts = |name: &str| {
            let facts = Facts::of_file(name);
            let told = [
                facts.configuration,
                facts.tofu_files,
                facts.lock_file,
                facts.leftovers,
                facts.config_file,
            ];
            told.map(u8::from)
        };
        for (name, expected) in [
            ("main.tf", [1, 0, 0, 0, 0]),
            ("main.tofu", [1, 1, 0, 0, 0]),
            ("main.tofu.json", [1, 1, 0, 0, 0]),
            (".terraform.lock.hcl", [0, 0, 1, 0, 0]),
            (".terraform.lock.hcl.tmp-1", [0, 0, 0, 1, 0]),
            (".tflock.toml", [0, 0, 0, 0, 1]),
            // The same file where case does not count.
            (".TFLOCK.toml", [0, 0, 0, 0, 1]),
            ("README.md", [0, 0, 0, 0, 0]),
        ] {
            assert_eq!(facts(name), expected, "{name}");
        }
        // Leftovers alone make no directory; beside something else they are told.
        let tree = Tree::new(&[
            "a/.terraform.lock.hcl.tmp-1",
            "b/main.tf",
            "b/.terraform.lock.hcl.tmp-1",
        ]);
        let options = WalkOptions {
            recursive: true,
            ..WalkOptions::default()
        };
        let found = walk(
            &[tree.0.path().join("b"), tree.0.path().join("a")],
            &options,
        )
        .directories;
        assert_eq!(found.iter().filter(|found| found.has_leftovers).count(), 2);
        assert_eq!(tree.paths(&["."], true, &[]), ["", "b"]);
    }

    #[test]
    fn directories_with_the_name_of_a_file_are_directories() {
        let tree = Tree::new(&["a/x.tf/README.md", "a/y.tf/main.tf"]);
        assert_eq!(tree.paths(&["."], true, &[]), ["", "a/y.tf"]);
    }

    #[test]
    fn errors_of_the_walk_name_their_path_in_whatever_layer_it_is() {
        let denied = || ignore::Error::Io(std::io::ErrorKind::PermissionDenied.into());
        let with_path = || ignore::Error::WithPath {
            path: "./a/b".into(),
            err: Box::new(denied()),
        };
        for (error, expected) in [
            (with_path(), "a/b"),
            (
                ignore::Error::WithDepth {
                    depth: 1,
                    err: Box::new(with_path()),
                },
                "a/b",
            ),
            (
                ignore::Error::WithLineNumber {
                    line: 1,
                    err: Box::new(with_path()),
                },
                "a/b",
            ),
            (denied(), "."),
        ] {
            let ConfigError::ReadDirectory { path, source } = unreadable(error) else {
                panic!("it is about a directory");
            };
            assert_eq!(path, Path::new(expected));
            assert_eq!(source.kind(), std::io::ErrorKind::PermissionDenied);
        }
    }

    #[test]
    fn a_missing_path_is_an_error_that_stops_nothing() {
        let tree = Tree::new(&["a/main.tf"]);
        let walk = walk(
            &[tree.0.path().join("nope"), tree.0.path().join("a")],
            &WalkOptions::default(),
        );
        assert_eq!((walk.directories.len(), walk.errors.len()), (1, 1));
    }

    #[test]
    fn dots_in_front_are_dropped() {
        for (path, expected) in [
            ("./a/./b", "a/b"),
            (".", "."),
            ("./", "."),
            ("../a", "../a"),
            ("/a", "/a"),
        ] {
            assert_eq!(without_dots(Path::new(path)), Path::new(expected));
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_to_directories_are_not_followed_unless_named() {
        let tree = Tree::new(&["real/main.tf", "files/real.txt"]);
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(target, tree.0.path().join(name)).unwrap();
        };
        link("real", "linked");
        link("../real/main.tf", "files/main.tf");
        assert_eq!(tree.paths(&["."], true, &[]), ["", "files", "real"]);
        assert_eq!(tree.paths(&["linked"], true, &[]), ["linked"]);
    }
}
