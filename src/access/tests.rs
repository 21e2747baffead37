//! Tests which files may be read in a tree with symlinks and internal directories.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;

/// Creates `repository/` with a file and internal directories, and `outside/secret` next to it.
fn tree() -> (tempfile::TempDir, PathBuf) {
    let tree = tempfile::tempdir().unwrap();
    let base = tree.path().canonicalize().unwrap();
    for directory in ["repository/.git", "repository/a/.terraform", "outside"] {
        fs::create_dir_all(base.join(directory)).unwrap();
    }
    for file in [
        "repository/x",
        "repository/.git/config",
        "repository/a/.terraform/x",
        "outside/secret",
    ] {
        fs::write(base.join(file), file).unwrap();
    }
    (tree, base)
}

/// Returns "ok" or the error message.
fn outcome<T, E: ToString>(result: Result<T, E>) -> String {
    result.map_or_else(|error| error.to_string(), |_| "ok".to_owned())
}

#[cfg(unix)]
#[test]
fn paths_are_confined_after_links_are_resolved() {
    let (_tree, base) = tree();
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(target, base.join("repository").join(name)).unwrap();
    };
    link("x", "inside");
    link("../outside/secret", "leaving");
    link("../outside", "leaving-directory");
    link(".git", "hidden");
    link("/proc/self", "process");
    link("../outside/missing", "leaving-nowhere");
    link("missing", "dangling");
    link("loop", "loop");
    let access = ReadAccess::below([base.join("repository")]);
    for row in [
        "x                         | ok",
        "inside                    | ok",
        "a/../x                    | ok",
        "leaving                   | it is outside of the repository",
        "leaving-directory/secret  | it is outside of the repository",
        "leaving-directory/missing | it is outside of the repository",
        "../outside/secret         | it is outside of the repository",
        "../outside/missing        | it is outside of the repository",
        "/etc/passwd               | it is outside of the repository",
        "/nowhere/at/all           | it is outside of the repository",
        "process/environ           | it is outside of the repository",
        ".git/config               | files in `.git` cannot be read by the configuration",
        "hidden/config             | files in `.git` cannot be read by the configuration",
        ".git/missing              | files in `.git` cannot be read by the configuration",
        "a/.terraform/x            | files in `.terraform` cannot be read by the configuration",
        "a                         | it is not a regular file",
        "missing                   | No such file or directory (os error 2)",
        "dangling                  | No such file or directory (os error 2)",
        "leaving-nowhere           | it is outside of the repository",
        "leaving-nowhere/x         | it is outside of the repository",
        "loop                      | it is outside of the repository",
    ] {
        let (path, expected) = row.split_once('|').unwrap();
        let opened = access.open(&base.join("repository").join(path.trim()));
        assert_eq!(outcome(opened), expected.trim(), "{path}");
    }
}

#[cfg(unix)]
#[test]
fn special_files_are_never_opened() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    let status = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(status.unwrap().success());
    for path in [&pipe, Path::new("/dev/ptmx"), Path::new("/dev/zero")] {
        let opened = outcome(open_regular(path));
        assert_eq!(opened, "it is not a regular file", "{}", path.display());
    }
}

#[test]
fn access_to_a_nested_directory_does_not_hide_internal_ones() {
    let (_tree, base) = tree();
    let mut access = ReadAccess::below([base.join("repository/a")]);
    access.permit(&base.join("repository"));
    assert!(matches!(
        access.open(&base.join("repository/.git/config")),
        Err(AccessError::Internal(".git"))
    ));
    assert!(access.open(&base.join("repository/x")).is_ok());
}

#[test]
fn a_list_limits_what_the_command_line_does_not_permit() {
    const UNTRACKED: &str = "git does not track it, and `--untrusted` allows only tracked files";
    let (_tree, base) = tree();
    fs::write(base.join("repository/listed"), "").unwrap();
    let rules = ReadRules {
        named: Vec::new(),
        allowed: vec![base.join("outside")],
        listed: Some(FileList::new(|path| Ok(path.ends_with("listed")))),
    };
    let access = ReadAccess::for_root_module(&rules, &base.join("repository"));
    for (path, expected) in [
        ("repository/listed", "ok"),
        ("repository/x", UNTRACKED),
        ("outside/secret", "ok"),
    ] {
        assert_eq!(outcome(access.open(&base.join(path))), expected, "{path}");
    }
    let package = access.for_package(&base.join("repository/a"));
    fs::write(base.join("repository/a/y"), "").unwrap();
    assert!(package.open(&base.join("repository/a/y")).is_ok());
}

#[test]
fn a_root_module_reads_its_repository_or_what_the_user_named() {
    let (_tree, base) = tree();
    fs::create_dir_all(base.join("lone/sub")).unwrap();
    fs::write(base.join("lone/x"), "").unwrap();
    let rules = |named: &[&str], allowed: &[&str]| ReadRules {
        named: named.iter().map(|name| base.join(name)).collect(),
        allowed: allowed.iter().map(|name| base.join(name)).collect(),
        listed: None,
    };
    let nothing = rules(&[], &[]);
    let outside = rules(&["outside", "/"], &[]);
    let allowed = rules(&[], &["outside", "repository/.git"]);
    for (rules, root, file, is_read) in [
        (&nothing, "repository/a", "repository/x", true),
        (&nothing, "repository/a", "outside/secret", false),
        // Directories named by the user are readable outside repositories only.
        (&outside, "repository/a", "outside/secret", false),
        (&outside, "lone/sub", "outside/secret", true),
        (&outside, "lone", "lone/x", true),
        (&outside, "lone/sub", "lone/x", false),
        (&allowed, "repository/a", "outside/secret", true),
        (&allowed, "repository/a", "repository/.git/config", false),
    ] {
        let access = ReadAccess::for_root_module(rules, &base.join(root));
        let opened = access.open(&base.join(file));
        assert_eq!(opened.is_ok(), is_read, "{rules:?} {root} {file}");
    }
}

#[test]
fn packages_and_local_modules_have_separate_access() {
    let (_tree, base) = tree();
    let rules = ReadRules {
        allowed: vec![base.join("outside")],
        ..ReadRules::default()
    };
    let repository = ReadAccess::for_root_module(&rules, &base.join("repository"));
    let package = repository.for_package(&base.join("repository/a/.terraform"));
    let inside = package.open(&base.join("repository/a/.terraform/x"));
    assert!(inside.is_ok());
    assert!(package.open(&base.join("repository/x")).is_err());
    assert!(package.open(&base.join("outside/secret")).is_ok());
    let local = ReadAccess::for_root_module(&ReadRules::default(), &base.join("repository"));
    let local = local.for_local_module(&base.join("outside"));
    assert!(local.open(&base.join("outside/secret")).is_err());
    let lone = ReadAccess::for_root_module(&ReadRules::default(), &base.join("outside"));
    let lone = lone.for_local_module(&base.join("repository"));
    assert!(lone.open(&base.join("repository/x")).is_ok());
}

#[cfg(target_os = "linux")]
#[test]
fn special_file_systems_are_never_permitted() {
    let everything = ReadAccess::below(["/"]);
    for path in ["/proc/self/environ", "/dev/null", "/sys/kernel/mm"] {
        let resolved = everything.resolve(Path::new(path));
        assert!(matches!(resolved, Err(AccessError::Outside)), "{path}");
    }
    assert!(everything.resolve(Path::new("/etc")).is_ok());
}

#[cfg(unix)]
#[test]
fn links_out_of_the_repository_are_detected() {
    let (_tree, base) = tree();
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(target, base.join(name)).unwrap();
    };
    fs::create_dir_all(base.join("other/.git")).unwrap();
    fs::write(base.join("other/x"), "").unwrap();
    link("x", "repository/inside");
    link("../outside/secret", "repository/leaving");
    link("../outside", "repository/directory");
    link("../other", "repository/other");
    link("nowhere", "repository/dangling");
    link("repository", "way");
    for (path, leaves) in [
        ("repository/x", false),
        ("repository/inside", false),
        ("repository/leaving", true),
        ("repository/directory/secret", true),
        ("repository/other/x", true),
        ("repository/dangling", false),
        ("repository/missing", false),
        // A symlink above the root is not part of the repository.
        ("way/x", false),
        ("way/leaving", true),
        ("outside/secret", false),
    ] {
        assert_eq!(leaves_repository(&base.join(path)), leaves, "{path}");
    }
    link("../repository/x", "outside/link");
    assert!(leaves_repository(&base.join("outside/link")));
}

#[cfg(unix)]
#[test]
fn listed_files_are_opened_like_others() {
    let (_tree, base) = tree();
    std::os::unix::fs::symlink("x", base.join("repository/link")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", base.join("repository/zero")).unwrap();
    for (name, expected) in [
        ("x", "ok"),
        ("link", "ok"),
        ("zero", "it is not a regular file"),
        ("a", "it is not a regular file"),
        ("missing", "No such file or directory (os error 2)"),
    ] {
        let opened = open_listed(&base.join("repository").join(name));
        assert_eq!(outcome(opened), expected, "{name}");
    }
}

#[test]
fn the_nearest_repository_is_found() {
    let (_tree, base) = tree();
    assert_eq!(
        find_repository(&base.join("repository/a")),
        Some(&*base.join("repository"))
    );
    assert_eq!(find_repository(&base.join("outside")), None);
    assert_eq!(repository_root(&base.join("outside")), base.join("outside"));
}
