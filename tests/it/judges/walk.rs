//! Compares `walk` with walkdir, which uses one thread and no ignore rules: both must find the same directories with
//! the same facts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use tflock::walk::{FoundBy, IgnoreRule, WalkOptions, WalkedDirectory, walk};
use walkdir::{DirEntry, WalkDir};

const LOCK_FILE: &str = ".terraform.lock.hcl";

/// The facts about a directory that are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the facts are independent")]
struct Facts {
    is_named: bool,
    has_configuration: bool,
    has_tofu_files: bool,
    has_lock_file: bool,
    has_leftovers: bool,
}

/// Returns the directories that walkdir finds, except those that tflock skips:
///
/// - hidden directories and everything below them, unless they are named;
/// - directories that match a pattern and everything below them, unless they are named;
/// - symlinks to directories, unless they are named.
///
/// Named directories are included, as are directories with a configuration or a lock file. Hidden files are not part of
/// a configuration. Symlinks are classified by their own names, whatever their targets.
fn judged(roots: &[PathBuf], recursive: bool, ignored: Option<&str>) -> BTreeMap<PathBuf, Facts> {
    let mut found: BTreeMap<PathBuf, Facts> = BTreeMap::new();
    for root in roots {
        found.entry(root.clone()).or_default().is_named = true;
        let depth = if recursive { usize::MAX } else { 1 };
        let entries = WalkDir::new(root).max_depth(depth).into_iter();
        let entries =
            entries.filter_entry(|entry| entry.depth() == 0 || !is_skipped(entry, ignored));
        for entry in entries {
            let entry = entry.unwrap();
            if entry.depth() > 0 && !entry.file_type().is_dir() {
                let directory = entry.path().parent().unwrap().to_path_buf();
                note(found.entry(directory).or_default(), &name(&entry));
            }
        }
    }
    found.retain(|_, facts| facts.is_named || facts.has_configuration || facts.has_lock_file);
    found
}

fn is_skipped(entry: &DirEntry, ignored: Option<&str>) -> bool {
    let name = name(entry);
    entry.file_type().is_dir() && (name.starts_with('.') || ignored == Some(name.as_str()))
}

fn name(entry: &DirEntry) -> String {
    entry.file_name().to_string_lossy().into_owned()
}

fn note(facts: &mut Facts, name: &str) {
    let ends = |extensions: [&str; 2]| {
        !name.starts_with('.') && extensions.iter().any(|extension| name.ends_with(extension))
    };
    facts.has_tofu_files |= ends([".tofu", ".tofu.json"]);
    facts.has_configuration |= ends([".tf", ".tf.json"]) || ends([".tofu", ".tofu.json"]);
    facts.has_lock_file |= name == LOCK_FILE;
    facts.has_leftovers |= name.starts_with(LOCK_FILE) && name != LOCK_FILE;
}

/// Returns the same facts from tflock's walk.
fn ours(roots: &[PathBuf], recursive: bool, ignored: Option<&str>) -> BTreeMap<PathBuf, Facts> {
    let pattern = ignored.map(|name| regex::Regex::new(&format!("/{name}$")).unwrap());
    let options = WalkOptions {
        recursive,
        ignore: pattern.map(IgnoreRule::as_walked).into_iter().collect(),
    };
    let walk = walk(roots, &options);
    assert!(walk.errors.is_empty(), "{:?}", walk.errors);
    let facts = |found: &WalkedDirectory| Facts {
        is_named: found.found_by == FoundBy::DirectoryArgument,
        has_configuration: found.has_configuration,
        has_tofu_files: found.has_tofu_files,
        has_lock_file: found.has_lock_file,
        has_leftovers: found.has_leftovers,
    };
    let found = walk.directories.iter();
    found
        .map(|found| (found.path.clone(), facts(found)))
        .collect()
}

/// A file, directory or symlink in a generated tree.
#[derive(Clone, Debug)]
enum TreeItem {
    File(String),
    Directory(String),
    /// A symlink with a relative target.
    Link(String, &'static str),
}

fn items() -> impl Strategy<Value = Vec<TreeItem>> {
    let directory = select(vec![
        "a",
        "b",
        "a-b",
        ".git",
        ".terraform",
        "é",
        "x.tf",
        "lock",
    ]);
    let file = select(vec![
        "main.tf",
        "x.tf.json",
        "y.tofu",
        "z.tofu.json",
        LOCK_FILE,
        ".terraform.lock.hcl.tmp-1",
        ".x.tf",
        "y.tf~",
        "tf",
        "a.TF",
        "README.md",
        "x.tfvars",
    ]);
    let parent = vec(directory.clone(), 0..4).prop_map(|parts| {
        let parts = parts.into_iter();
        parts.fold(String::new(), |path, part| path + part + "/")
    });
    let target = select(vec!["../a", "..", "main.tf", "nowhere", "b"]);
    let item = (parent, file, directory, target, 0..10_u8).prop_map(
        |(parent, file, directory, target, kind)| match kind {
            0 => TreeItem::Directory(parent + directory),
            1 => TreeItem::Link(parent + file, target),
            2 => TreeItem::Link(parent + directory, target),
            _ => TreeItem::File(parent + file),
        },
    );
    vec(item, 0..16)
}

/// Creates the items. An item is skipped if its path already exists.
fn create(root: &Path, items: &[TreeItem]) {
    for item in items {
        let (TreeItem::File(path) | TreeItem::Directory(path) | TreeItem::Link(path, _)) = item;
        let path = root.join(path);
        let parent = path.parent().unwrap();
        // A symlink in the parent path could point outside the tree.
        let mut below_root = parent.ancestors().take_while(|parent| *parent != root);
        let is_taken = path.symlink_metadata().is_ok() || below_root.any(Path::is_symlink);
        if is_taken || fs::create_dir_all(parent).is_err() {
            continue;
        }
        match item {
            TreeItem::File(_) => fs::write(path, "").unwrap(),
            TreeItem::Directory(_) => fs::create_dir(path).unwrap(),
            TreeItem::Link(_, target) => link(target, &path),
        }
    }
}

#[cfg(unix)]
fn link(target: &str, path: &Path) {
    std::os::unix::fs::symlink(target, path).unwrap();
}

#[cfg(not(unix))]
fn link(_: &str, _: &Path) {}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn generated_trees_have_the_same_directories(
        items in items(),
        named in vec(select(vec![".", "a", "b", "a/b", ".terraform", "é"]), 1..3),
        recursive in prop::bool::weighted(0.8),
        ignored in prop::option::of(select(vec!["a", "b", "lock"])),
    ) {
        // A symlink to `..` must not reach the files of other tests.
        let parent = tempfile::tempdir().unwrap();
        let tree = parent.path().join("tree");
        fs::create_dir(&tree).unwrap();
        create(&tree, &items);
        let roots = named.iter().map(|name| if *name == "." { tree.clone() } else { tree.join(name) });
        let roots: Vec<PathBuf> = roots.filter(|root| root.is_dir()).collect();
        prop_assert_eq!(ours(&roots, recursive, ignored), judged(&roots, recursive, ignored));
    }
}

#[test]
fn recorded_trees_have_the_same_directories() {
    let roots = ["testdata", "tests", "examples"];
    let roots = roots.map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join(name));
    for ignored in [None, Some("modules")] {
        let judged = judged(&roots, true, ignored);
        assert_eq!(ours(&roots, true, ignored), judged);
        assert!(judged.len() > 100, "{} directories", judged.len());
    }
}
