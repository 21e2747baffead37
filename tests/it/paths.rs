//! Values of PATH: several names for one directory, unreadable directories, unusual names.

use tflock_test_support::{FakeRegistry, ProviderSpec, TestContext};
#[cfg(unix)]
use tflock_test_support::{Outcome, assert_contains};

use crate::TFLOCK;

/// Creates a tree with a root module in `a` and no lock file.
fn start() -> (FakeRegistry, TestContext) {
    let registry = FakeRegistry::with(ProviderSpec::new("acme/anvil"));
    let context = TestContext::new(TFLOCK, &registry);
    context.require("a", &[("acme/anvil", "1.0.0")]);
    (registry, context)
}

#[cfg(unix)]
fn lock(context: &TestContext, paths: &[&str]) -> Outcome {
    let arguments = "lock --platform linux_amd64";
    context.command(arguments).args(paths).run()
}

#[cfg(unix)]
#[test]
fn one_directory_under_several_names_is_processed_once() {
    let (_registry, context) = start();
    std::os::unix::fs::symlink("a", context.path("link")).unwrap();
    let absolute = context.path("a");
    let absolute = absolute.to_str().unwrap();
    for paths in [
        &["a", "./a", "a/main.tf", "../repository/a", absolute, "link"][..],
        &["link", "a"],
        &["-r", ".", "../repository", "a", "link"],
        &["-r", "../repository", "../repository/a", "."],
    ] {
        std::fs::remove_file(context.path("a/.terraform.lock.hcl")).ok();
        let outcome = lock(&context, paths).expect_success();
        let created = outcome.stdout.lines().next().unwrap();
        assert_eq!(created, "created   a", "{paths:?}\n{outcome}");
        outcome.assert_stdout("1 directory: 1 created");
    }
}

/// A directory that cannot be listed is counted once, under its own name.
#[cfg(unix)]
#[test]
fn a_directory_that_cannot_be_listed_fails_once() {
    use std::os::unix::fs::PermissionsExt as _;

    let (_registry, context) = start();
    let set_mode = |mode| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(context.path("a"), mode).unwrap();
    };
    set_mode(0o000);
    let is_root = std::fs::read_dir(context.path("a")).is_ok();
    let outcomes = ["a", "."].map(|path| lock(&context, &["-r", path]));
    set_mode(0o755);
    if is_root {
        // Permissions do not apply to root.
        return;
    }
    for outcome in outcomes {
        let outcome = outcome.expect_code(1);
        outcome.assert_stdout_starts("1 directory: 1 failed");
        let expected = "\
error: cannot read the directory `a`
 --> a
  caused by: Permission denied (os error 13)
";
        assert_eq!(outcome.stderr.trim_end(), expected.trim_end());
    }
}

/// Directory names cannot control terminals and logs.
#[cfg(unix)]
#[test]
fn names_cannot_start_lines_or_control_the_terminal() {
    let (_registry, context) = start();
    let odd = "b\n::error::c\u{1b}[31m\u{202e}d";
    let shown = "b\\n::error::c\\u{1b}[31m\\u{202e}d";
    context.require(odd, &[("acme/anvil", "1.0.0")]);
    let lock = "lock -r --diff --platform linux_amd64 .";
    let locked = context.run(lock).expect_success();
    context.write(&format!("{odd}/broken.tf"), "terraform {");
    for (program, code) in [
        (context.command("lock -r ."), 1),
        (context.command("list -r ."), 1),
        (context.command("list -r --format markdown ."), 1),
        (context.command("verify -r ."), 1),
    ] {
        let outcome = program.run().expect_code(code);
        let output = [&*outcome.stdout, &*outcome.stderr].concat();
        assert!(output.contains(shown), "{outcome}");
        assert!(
            !output.contains("\n::error") && !output.contains('\u{1b}'),
            "{outcome}"
        );
    }
    locked.assert_stdout(&format!("+++ {shown}/.terraform"));
    locked.assert_stdout(&format!("\n          {shown}\n"));
}

#[test]
fn callers_of_the_working_directory_are_processed_too() {
    let (_registry, context) = start();
    context.write("a/.git/HEAD", "");
    context.write("a/b/main.tf", "module \"a\" {\n  source = \"../\"\n}\n");
    let lock = "lock --callers --platform linux_amd64";
    let program = context.command(lock).current_dir(context.path("a"));
    let outcome = program.run().expect_success();
    outcome.assert_stdout("2 directories: 2 created");
}

#[cfg(target_os = "linux")]
#[test]
fn a_deleted_working_directory_is_named() {
    let (_registry, context) = start();
    let script = "rmdir \"$PWD\" && exec \"$0\" lock";
    context.write("gone/x", "");
    std::fs::remove_file(context.path("gone/x")).unwrap();
    let shell = std::process::Command::new("sh")
        .args(["-c", script, TFLOCK])
        .current_dir(context.path("gone"))
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&shell.stderr);
    assert_eq!(shell.status.code(), Some(2), "{stderr}");
    assert_contains(&stderr, "cannot find the working directory");
}
