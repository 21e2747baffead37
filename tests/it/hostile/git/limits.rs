//! Limits on the time, memory and processes of git.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tflock_test_support::{send_signal, wait_until, write_script};

use super::site::{Git, GitSite, bare, commit_submodules, commit_tree, git_with};

/// Builds a tree of 10^8 paths: at each of eight levels, the tree contains the next level ten times.
fn bomb(repository: &Path, kind: &str, object: &str) -> String {
    let mut entry = format!("{kind} {object}");
    for level in 0..8 {
        let lines: Vec<String> = (0..10).map(|name| format!("{entry}\t{name}\n")).collect();
        let lines = lines.concat();
        if level == 7 {
            return lines;
        }
        entry = format!("040000 tree {}", git_with(repository, "mktree", &lines));
    }
    unreachable!("the last level returns")
}

#[test]
fn trees_with_too_many_paths_are_refused_before_they_are_checked_out() {
    let site = GitSite::start(Git::Installed);
    let files = bare(&site, "files");
    let blob = git_with(&files, "hash-object -w --stdin", "x");
    let top = bomb(&files, "100644 blob", &blob);
    let commit = commit_tree(&files, &top);
    let directories = bare(&site, "directories");
    let empty = git_with(&directories, "mktree", "");
    let top = bomb(&directories, "040000 tree", &empty);
    commit_tree(&directories, &top);
    let outer = bare(&site, "outer");
    let url = format!("file://{}", files.display());
    commit_submodules(&outer, &["s"], &url, &commit);
    for repository in ["files", "directories", "outer"] {
        let (outcome, wall, _) = site.fail_to_lock(repository);
        let message = "exceeds the limit of 500000 files and directories";
        assert!(outcome.stderr.contains(message), "{repository}: {outcome}");
        assert!(wall < Duration::from_secs(20), "{repository}: {wall:?}");
    }
}

/// In a chain of commits, each has two submodules that refer to the previous commit of the same repository.
#[test]
fn submodules_do_not_multiply_without_an_end() {
    let site = GitSite::start(Git::Installed);
    let repository = bare(&site, "many");
    let url = format!("file://{}", repository.display());
    let mut commit = commit_tree(&repository, "");
    for _ in 0..12 {
        commit = commit_submodules(&repository, &["a", "b"], &url, &commit);
    }
    fs::remove_file(site.outside("bin/git")).unwrap();
    let (outcome, ..) = site.fail_to_lock("many");
    let message = "exceeds the limit of 100 submodules, including nested ones";
    outcome.assert_stderr(message);
}

#[test]
fn output_of_git_is_bounded_in_memory() {
    let site = GitSite::start(Git::Installed);
    let long_error =
        "head -c 400000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo fatal: the end >&2; exit 128";
    let no_memory =
        "echo 'fatal: Out of memory, malloc failed (tried to allocate 9 bytes)' >&2; exit 128";
    for (script, message) in [
        (long_error, "fatal: the end"),
        ("yes", "exceeds the limit of 1048576 bytes"),
        (no_memory, "the limit for each process is 4294967296 bytes"),
    ] {
        write_script(&site.outside("bin/git"), script);
        let (outcome, wall, memory) = site.fail_to_lock("modules");
        assert!(outcome.stderr.contains(message), "{script}: {outcome}");
        assert!(memory < 200 << 20, "{script}: {memory}");
        assert!(wall < Duration::from_secs(30), "{script}: {wall:?}");
    }
}

/// A child process that outlives git is killed too.
#[test]
fn an_interrupt_kills_the_children_of_git() {
    let site = GitSite::start(Git::Installed);
    let pid = site.outside("pid");
    let script = format!("sleep 600 & echo $! > '{}'; wait", pid.display());
    write_script(&site.outside("bin/git"), &script);
    site.call_modules("root");
    let mut child = site.tflock("root", "lock --platform linux_amd64 .").spawn();
    let started = || fs::read_to_string(&pid).unwrap_or_default();
    wait_until(|| started().ends_with('\n'));
    assert!(send_signal("INT", &child.id().to_string()));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let helper = started();
    let arguments = ["-o", "stat=", "-p", helper.trim()];
    // The orphaned process may remain as a zombie.
    wait_until(|| {
        let state = Command::new("ps").args(arguments).output().unwrap().stdout;
        state.iter().all(u8::is_ascii_whitespace) || state.starts_with(b"Z")
    });
}
