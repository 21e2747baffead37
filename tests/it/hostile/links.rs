//! Symlinks and special files in the tree: tflock never accesses files outside the repository, and it never blocks.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tflock_test_support::{FakeRegistry, Outcome, ProviderSpec, TestContext, assert_contains};

use crate::TFLOCK;

const HOST: &str = "registry.terraform.io";
const ZIP: &str = "terraform-provider-anvil_1.0.0_linux_amd64.zip";
const CANARY: &str = "canary-of-a-file-outside";

/// A repository whose directory `stack` requires and locks one provider. The directory `outside`, next to the
/// repository, contains a secret and a mirror of the user.
struct Hostile {
    context: TestContext,
    _registry: FakeRegistry,
}

impl Hostile {
    fn new() -> Self {
        let mut registry = FakeRegistry::with(ProviderSpec::new("acme/anvil").versions(["1.0.0"]));
        registry.publish(ProviderSpec::new("acme/unneeded").versions(["1.0.0"]));
        let context = TestContext::new(TFLOCK, &registry);
        fs::create_dir(context.path(".git")).unwrap();
        context.require("stack", &[("acme/anvil", "1.0.0")]);
        context.require("../outside/user", &[("acme/unneeded", "1.0.0")]);
        context.write("../outside/secret", format!("{CANARY} {{\n"));
        let hostile = Self {
            context,
            _registry: registry,
        };
        for directory in ["stack", "../outside/user"] {
            let lock = format!("lock --platform linux_amd64 {directory}");
            hostile.run(&lock).expect_success();
        }
        hostile
            .run("mirror ../outside/mirror ../outside/user --platform linux_amd64")
            .expect_success();
        hostile
    }

    fn outside(&self, path: &str) -> PathBuf {
        self.context
            .path("../outside")
            .canonicalize()
            .unwrap()
            .join(path)
    }

    /// Creates a symlink in the repository, and its parent directories.
    fn link(&self, target: impl AsRef<Path>, path: &str) {
        let path = self.context.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&path);
        symlink(target, path).unwrap();
    }

    /// Runs tflock in the repository. Fails the test if the run blocks.
    fn run(&self, arguments: &str) -> Outcome {
        let program = self.context.command(arguments);
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || drop(sender.send(program.run())));
        let outcome = receiver.recv_timeout(Duration::from_secs(20));
        let outcome = outcome.unwrap_or_else(|_| panic!("{arguments} did not finish"));
        let output = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(!output.contains(CANARY), "shows a file\n{outcome}");
        outcome
    }

    /// Returns all files outside the repository, which tflock must not change.
    fn everything_outside(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        collect(&self.outside(""), &mut found);
        collect(&self.context.path(".git"), &mut found);
        found
    }

    /// Runs tflock and returns its error output. Fails if a file outside the repository has changed.
    #[track_caller]
    fn refused(&self, arguments: &str) -> String {
        let before = self.everything_outside();
        let outcome = self.run(arguments);
        assert_eq!(self.everything_outside(), before, "{arguments}");
        assert!(outcome.code.is_some_and(|code| code > 0), "{outcome}");
        outcome.stderr
    }
}

fn collect(directory: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.insert(path.clone(), Vec::new());
            collect(&path, found);
        } else {
            let bytes = fs::read(&path).unwrap_or_default();
            found.insert(path, bytes);
        }
    }
}

/// Each way in which `mirror` writes to `m`.
const MIRRORS: [&str; 5] = [
    "mirror m --platform linux_amd64 stack",
    "mirror m --platform linux_amd64 --prune=all stack",
    "mirror m --platform linux_amd64 --prune=all --layout unpacked stack",
    "mirror m --platform linux_amd64 --lock stack",
    "mirror m --platform linux_amd64 --check stack",
];

#[test]
fn a_mirror_that_leaves_the_repository_is_refused() {
    let hostile = Hostile::new();
    for target in [
        "../outside/mirror",
        "../outside",
        "../outside/new",
        ".git",
        ".git/hooks",
        "/dev/shm",
    ] {
        hostile.link(target, "m");
        for arguments in MIRRORS {
            let error = hostile.refused(arguments);
            assert_contains(&error, "cannot use `m` as a mirror");
        }
    }
    // A symlink in the parent path.
    hostile.link("../outside", "d");
    let error = hostile.refused("mirror d/mirror --prune=all stack");
    assert_contains(&error, "cannot use `d/mirror` as a mirror");
}

#[test]
fn links_within_a_mirror_are_refused() {
    let hostile = Hostile::new();
    let outside = hostile.outside("mirror");
    let of_host = outside.join(HOST);
    let inside = PathBuf::from("../../../stack");
    for (target, path) in [
        (outside.clone(), format!("m/{HOST}")),
        (of_host.join("acme"), format!("m/{HOST}/acme")),
        (
            of_host.join("acme/unneeded"),
            format!("m/{HOST}/acme/anvil"),
        ),
        // A symlink within the repository could mix the packages of two providers.
        (inside, format!("m/{HOST}/acme/anvil")),
    ] {
        hostile.link(&target, &path);
        for arguments in MIRRORS {
            let error = hostile.refused(arguments);
            let expected = format!("cannot use `{path}` in a mirror: it is a symlink");
            assert!(error.contains(&expected), "{arguments}: {error}");
        }
        fs::remove_dir_all(hostile.context.path("m")).unwrap();
    }
}

#[test]
fn files_of_a_mirror_are_not_links_and_not_special() {
    let hostile = Hostile::new();
    let provider = format!("m/{HOST}/acme/anvil");
    let secret = hostile.outside("secret");
    for name in [ZIP, "index.json", "1.0.0.json"] {
        for target in [secret.to_str().unwrap(), "/dev/zero", "/proc/self/environ"] {
            let path = format!("{provider}/{name}");
            hostile.run(MIRRORS[0]).expect_success();
            hostile.link(target, &path);
            for arguments in [MIRRORS[0], MIRRORS[1], MIRRORS[4]] {
                let outcome = hostile.refused(arguments);
                let output = outcome + &hostile.run(arguments).stdout;
                assert!(
                    output.contains("it is a symlink"),
                    "{path} -> {target}: {output}"
                );
            }
            fs::remove_dir_all(hostile.context.path("m")).unwrap();
        }
    }
    // A git repository cannot contain named pipes, but an archive can.
    for name in [ZIP, "index.json", "1.0.0.json"] {
        hostile.run(MIRRORS[0]).expect_success();
        let path = hostile.context.path(&format!("{provider}/{name}"));
        fs::remove_file(&path).unwrap();
        let made = Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        assert_eq!(hostile.run(MIRRORS[4]).code, Some(3), "{name}");
        hostile.run(MIRRORS[0]).expect_success();
        hostile.run(MIRRORS[4]).expect_success();
    }
}

#[test]
fn unpacked_packages_must_not_contain_links() {
    let hostile = Hostile::new();
    let fill = "mirror m --platform linux_amd64 --layout unpacked stack";
    let check = &format!("{fill} --check");
    hostile.run(fill).expect_success();
    let version = format!("m/{HOST}/acme/anvil/1.0.0");
    for (target, name) in [
        (hostile.outside("secret"), "more"),
        (PathBuf::from("/dev/zero"), "more"),
        (PathBuf::from("/proc/self/environ"), "d/more"),
        (hostile.outside("user"), "more"),
    ] {
        let path = format!("{version}/linux_amd64/{name}");
        let before = hostile.everything_outside();
        hostile.link(&target, &path);
        let outcome = hostile.run(check);
        outcome.expect_code(3).assert_stdout("is a symlink");
        // The next run replaces it with the correct package.
        hostile.run(fill).expect_success();
        hostile.run(check).expect_success();
        assert_eq!(hostile.everything_outside(), before);
    }
    for (linked, target) in [("linux_amd64", "user"), ("", "mirror")] {
        let path = format!("{version}/{linked}");
        let path = path.trim_end_matches('/');
        fs::remove_dir_all(hostile.context.path(path)).unwrap();
        hostile.link(hostile.outside(target), path);
        for arguments in [fill, check] {
            let error = hostile.refused(arguments);
            assert!(error.contains("in a mirror: it is a symlink"), "{error}");
        }
        fs::remove_file(hostile.context.path(path)).unwrap();
    }
}

/// Symlinks above the repository and directories named outside it are under the user's control.
#[test]
fn mirrors_named_by_the_user_are_used() {
    let hostile = Hostile::new();
    let outside = hostile.outside("kept");
    hostile.link("outside", "../own");
    for directory in [
        outside.to_str().unwrap(),
        "../outside/kept",
        "../own/kept",
        "new/m",
    ] {
        for option in ["", "--prune=all", "--check"] {
            let mirror = format!("mirror {directory} --platform linux_amd64 stack {option}");
            hostile.run(&mirror).expect_success();
        }
    }
    hostile.link("new/m", "inside");
    hostile
        .run("mirror inside --platform linux_amd64 --check stack")
        .expect_success();
}

#[test]
fn the_cli_configuration_is_not_written_through_links() {
    let hostile = Hostile::new();
    let fill = |file: &str| format!("mirror m --platform linux_amd64 stack --cli-config {file}");
    for target in [
        "../outside/new.tfrc",
        "../outside/secret",
        ".git/new",
        "/dev/shm/x",
    ] {
        hostile.link(target, "m.tfrc");
        let error = hostile.refused(&fill("m.tfrc"));
        assert!(error.contains("cannot write `m.tfrc`"), "{target}: {error}");
    }
    fs::remove_file(hostile.context.path("m.tfrc")).unwrap();
    for name in ["m.tfrc", "m.tfrc", "../outside/own.tfrc"] {
        hostile.run(&fill(name)).expect_success();
    }
}

const LEAVES: &str = "a symlink points outside the repository";

#[test]
fn lock_files_do_not_lead_out_of_the_repository() {
    let hostile = Hostile::new();
    let lock = hostile.context.lock_file("stack").unwrap();
    hostile.context.write("../outside/lock.hcl", &lock);
    hostile.context.write(".git/lock.hcl", &lock);
    for (target, expected) in [
        ("../../outside/lock.hcl", LEAVES),
        ("../../outside/missing", LEAVES),
        ("../../outside/secret", LEAVES),
        ("/dev/ptmx", LEAVES),
        ("/dev/zero", LEAVES),
        ("/proc/self/environ", LEAVES),
        ("../.git/lock.hcl", "a symlink points into `.git`"),
        ("../.git/missing", "a symlink points into `.git`"),
        ("../.git", "a symlink points into `.git`"),
        ("..", "it is not a regular file"),
    ] {
        hostile.link(target, "stack/.terraform.lock.hcl");
        for arguments in [
            "lock --platform linux_amd64,darwin_arm64 stack",
            "lock --check --diff --platform linux_amd64,darwin_arm64 stack",
            "verify --platform linux_amd64 stack",
            "list stack",
            "mirror m --lock stack",
        ] {
            let error = hostile.refused(arguments);
            assert!(error.contains(expected), "{arguments} {target}: {error}");
        }
    }
    // The target is a different regular file in the repository.
    hostile.context.write("shared.hcl", &lock);
    hostile.link("../shared.hcl", "stack/.terraform.lock.hcl");
    hostile
        .run("lock --platform linux_amd64,darwin_arm64 stack")
        .expect_success();
    assert_ne!(hostile.context.read("shared.hcl"), lock);
}

#[test]
fn named_directories_do_not_lead_out_of_the_repository() {
    let hostile = Hostile::new();
    fs::remove_file(hostile.outside("user/.terraform.lock.hcl")).unwrap();
    hostile.link("../outside/user", "linked");
    hostile.link("../outside", "d");
    hostile.link("../../outside", "d2/up");
    for path in [
        "linked",
        "linked/",
        "d/user",
        "d2/up/user",
        "linked/main.tf",
    ] {
        for command in ["lock", "lock -r", "list", "verify"] {
            let platform = if command == "list" {
                ""
            } else {
                "--platform linux_amd64"
            };
            let error = hostile.refused(&format!("{command} {platform} {path}"));
            assert_contains(&error, "points outside the repository");
        }
    }
    // Symlinks within the repository and paths without symlinks are allowed.
    hostile.link("stack", "inside");
    for path in ["inside", "../outside/user"] {
        let lock = format!("lock --platform linux_amd64 {path}");
        hostile.run(&lock).expect_success();
    }
}

#[test]
fn config_files_do_not_lead_out_of_the_repository() {
    let hostile = Hostile::new();
    for (target, expected) in [
        ("../outside/secret", LEAVES),
        ("../outside/missing", LEAVES),
        ("/dev/ptmx", LEAVES),
        ("/dev/zero", LEAVES),
        ("/proc/self/environ", LEAVES),
        (".git/config", "a symlink points into `.git`"),
        ("stack", "it is not a regular file"),
    ] {
        hostile.link(target, ".tflock.toml");
        for arguments in ["lock stack", "config stack", "verify stack"] {
            let error = hostile.refused(arguments);
            assert_contains(&error, "cannot read the config file `.tflock.toml`");
            assert_contains(&error, expected);
        }
    }
    hostile
        .context
        .write("shared.toml", "platforms = [\"linux_amd64\"]\n");
    hostile.link("shared.toml", ".tflock.toml");
    hostile.run("lock --check stack").expect_success();
}
