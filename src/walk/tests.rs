use std::fs;

use super::*;

/// A directory tree with empty files.
struct Tree(tempfile::TempDir);

impl Tree {
    fn new(files: &str) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        for file in files.split_whitespace() {
            let path = tree.path(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        tree
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    /// Returns the directories found for `paths`, relative to the tree, and how each of them was found.
    fn walk(&self, paths: &str, recursive: bool, ignore: &[&str]) -> Vec<(String, FoundBy)> {
        let paths: Vec<PathBuf> = paths
            .split_whitespace()
            .map(|path| self.path(path))
            .collect();
        let rule = |pattern: &&str| IgnoreRule::as_walked(regex::Regex::new(pattern).unwrap());
        let ignore = ignore.iter().map(rule).collect();
        let walk = walk(&paths, &WalkOptions { recursive, ignore });
        assert!(walk.errors.is_empty(), "{:?}", walk.errors);
        let relative = |path: &Path| {
            let path = path.strip_prefix(self.0.path()).unwrap().to_string_lossy();
            path.replace(std::path::MAIN_SEPARATOR, "/")
        };
        let directories = walk.directories.iter();
        directories
            .map(|found| (relative(&found.path), found.found_by))
            .collect()
    }

    fn paths(&self, paths: &str, recursive: bool, ignore: &[&str]) -> Vec<String> {
        let found = self.walk(paths, recursive, ignore).into_iter();
        found.map(|(path, _)| path).collect()
    }
}

#[test]
fn every_module_and_every_lock_file_below_a_path_in_order() {
    let tree = Tree::new(
        "z/main.tf a/b/main.tofu a/c/x.tf.json a/d/README.md lock/.terraform.lock.hcl .hidden/main.tf
         z/.terraform/modules/m/main.tf e/.x.tf e/y.tf~ .git/x.tf a-b/main.tf",
    );
    assert_eq!(
        tree.paths(".", true, &[]),
        ["", "a/b", "a/c", "a-b", "lock", "z"]
    );
    assert_eq!(tree.paths("a", true, &[]), ["a", "a/b", "a/c"]);
    assert_eq!(tree.paths("a/b .", false, &[]), ["", "a/b"]);
}

#[test]
fn files_select_their_directory() {
    let tree = Tree::new("a/main.tf a/other.txt b/main.tf");
    let found = |found_by| [("a".to_owned(), found_by)];
    assert_eq!(
        tree.walk("a/main.tf a/other.txt", false, &[]),
        found(FoundBy::FileArgument)
    );
    assert_eq!(
        tree.walk("a/main.tf a", false, &[]),
        found(FoundBy::DirectoryArgument)
    );
    assert_eq!(tree.paths("a/main.tf b/main.tf", false, &["/b$"]), ["a"]);
}

#[test]
fn patterns_match_anywhere_in_the_path_and_skip_all_below() {
    let tree = Tree::new("a/legacy/x/main.tf a/new/main.tf legacy2/main.tf");
    assert_eq!(
        tree.paths("a legacy2", true, &["legacy"]),
        ["a", "a/new", "legacy2"]
    );
    assert_eq!(tree.paths("a", true, &["a/l.*y$"]), ["a", "a/new"]);
}

#[test]
fn ignore_files_of_git_do_not_apply() {
    let tree = Tree::new("a/main.tf .git/HEAD");
    fs::write(tree.path(".gitignore"), "a\n").unwrap();
    assert_eq!(tree.paths(".", true, &[]), ["", "a"]);
}

#[test]
fn facts_of_a_directory() {
    let tree = Tree::new("a/main.tofu a/.terraform.lock.hcl");
    let found = &walk(&[tree.path("a")], &WalkOptions::default()).directories[0];
    assert!(found.has_configuration && found.has_tofu_files && found.has_lock_file);
    assert!(!found.has_leftovers);
}

#[test]
fn facts_of_a_file_name() {
    // The digits stand for configuration, OpenTofu-only files, lock file, leftovers and config file. In the last row, the name of
    // the config file is in a different case.
    let rows = "main.tf 10000, main.tofu 11000, main.tofu.json 11000, .terraform.lock.hcl 00100, \
         .terraform.lock.hcl.tmp-1 00010, README.md 00000, .tflock.toml 00001, .TFLOCK.toml 00001";
    for row in rows.split(", ") {
        let (name, expected) = row.split_once(' ').unwrap();
        let facts = DirectoryFacts::of_file(name);
        let flags = [
            facts.has_configuration,
            facts.has_tofu_files,
            facts.has_lock_file,
            facts.has_leftovers,
            facts.has_config_file,
        ];
        assert_eq!(
            flags.map(|flag| if flag { "1" } else { "0" }).concat(),
            expected,
            "{name}"
        );
    }
}

#[test]
fn leftovers_alone_do_not_make_a_directory_relevant() {
    let tree = Tree::new("a/.terraform.lock.hcl.tmp-1 b/main.tf b/.terraform.lock.hcl.tmp-1");
    let options = WalkOptions {
        recursive: true,
        ..WalkOptions::default()
    };
    let found = walk(&[tree.path("b"), tree.path("a")], &options).directories;
    assert_eq!(found.iter().filter(|found| found.has_leftovers).count(), 2);
    assert_eq!(tree.paths(".", true, &[]), ["", "b"]);
}

#[test]
fn directories_with_the_name_of_a_file_are_directories() {
    let tree = Tree::new("a/x.tf/README.md a/y.tf/main.tf");
    assert_eq!(tree.paths(".", true, &[]), ["", "a/y.tf"]);
}

#[test]
fn errors_of_the_walk_name_their_path_in_every_layer() {
    let denied = || Box::new(ignore::Error::Io(io::ErrorKind::PermissionDenied.into()));
    let with_path = || {
        let path = "./a/b".into();
        Box::new(ignore::Error::WithPath {
            path,
            err: denied(),
        })
    };
    let with_depth = ignore::Error::WithDepth {
        depth: 1,
        err: with_path(),
    };
    let with_line = ignore::Error::WithLineNumber {
        line: 1,
        err: with_path(),
    };
    let rows = [
        (*with_path(), "a/b"),
        (with_depth, "a/b"),
        (with_line, "a/b"),
        (*denied(), "."),
    ];
    for (error, expected) in rows {
        let WalkError { path, source } = walk_error(error);
        assert_eq!(path, Path::new(expected));
        assert_eq!(source.kind(), io::ErrorKind::PermissionDenied);
    }
}

#[test]
fn a_missing_path_is_an_error_and_the_walk_continues() {
    let tree = Tree::new("a/main.tf");
    let walk = walk(
        &[tree.path("nope"), tree.path("a")],
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
    let tree = Tree::new("real/main.tf files/real.txt");
    std::os::unix::fs::symlink("real", tree.path("linked")).unwrap();
    std::os::unix::fs::symlink("../real/main.tf", tree.path("files/main.tf")).unwrap();
    assert_eq!(tree.paths(".", true, &[]), ["", "files", "real"]);
    assert_eq!(tree.paths("linked", true, &[]), ["linked"]);
}

#[test]
fn units_are_found_in_hidden_directories_and_in_other_units() {
    let tree = Tree::new(
        "a/terragrunt.hcl a/b/terragrunt.hcl.json .h/x/terragrunt.hcl .h/main.tf .h/.y/terragrunt.hcl .h/lock/.terraform.lock.hcl
         .terragrunt-cache/x/terragrunt.hcl a/.terragrunt-cache/1/2/terragrunt.hcl .terraform/m/terragrunt.hcl .git/terragrunt.hcl
         root.hcl live/terragrunt.stack.hcl",
    );
    assert_eq!(
        tree.paths(".", true, &[]),
        ["", ".h/.y", ".h/x", "a", "a/b"]
    );
    assert_eq!(
        tree.paths(".", true, &["[.]h/x"]),
        ["", ".h/.y", "a", "a/b"]
    );
}

#[test]
fn hidden_directories_are_entered_only_if_there_are_units() {
    let tree = Tree::new(
        "main.tf .h/terragrunt.hcl live/.terragrunt-stack/app/terragrunt.hcl live/.terragrunt-stack/app/main.tf",
    );
    assert_eq!(
        tree.paths(".", true, &[]),
        ["", "live/.terragrunt-stack/app"]
    );
    let named = tree.paths(".h", false, &[]);
    assert_eq!(named, [".h"]);
}
