//! Symlinks in the tree: files outside the repository are not quoted, and special files are never opened.

use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::{Duration, Instant};

use tflock_test_support::{FakeRegistry, TestContext};

use super::canary::{SECRET, assert_silent, repository};
use crate::TFLOCK;

/// A module call whose source needs the values of variables, the workspace and the installed modules.
const NEEDS_ALL: &str = "variable \"v\" {\n  const = true\n  default = \"x\"\n}\nmodule \"m\" {\n  source = \"a/b/${var.v}\"\n}\n";

/// Names of symlinks, and the content of their targets.
const LINKED: [(&str, &str); 9] = [
    ("x.tf", "machine h.test login u password xsecretx"),
    ("x.tf", "resource \"xsecretx\" {\n}\n"),
    (
        "x.tf",
        "locals {\n  a = {}\n}\nmodule \"n\" {\n  source = { a = 1 }[\"xsecretx\"]\n}\n",
    ),
    (
        "x.tf.json",
        "{\"auths\": {\"h.test\": {\"auth\": \"xsecretx\"}}, \"module\": [\"xsecretx\"]",
    ),
    ("x.tftest.hcl", "run \"xsecretx!\" {\n}\n"),
    ("terraform.tfvars", "v = xsecretx\n"),
    ("x.auto.tfvars", "token xsecretx\n"),
    (".terraform.lock.hcl", "xsecretx\n"),
    (
        ".terraform/modules/modules.json",
        "{\"Modules\":[{\"Key\":\"m\",\"Version\":\"xsecretx\"}]}",
    ),
];

#[test]
fn files_that_links_reach_outside_are_not_quoted() {
    for (name, content) in LINKED {
        for is_repository in [true, false] {
            let registry = FakeRegistry::start();
            let context = TestContext::new(TFLOCK, &registry);
            if is_repository {
                repository(&context);
            }
            context.write("a/main.tf", NEEDS_ALL);
            context.write(
                &format!("../home/outside/{}", name.replace('/', "-")),
                content,
            );
            context.write(&format!("a/{name}x"), "");
            let target = context.path(&format!("../home/outside/{}", name.replace('/', "-")));
            symlink(target, context.path(&format!("a/{name}"))).unwrap();
            for command in [
                &["lock", "a"][..],
                &["lock", "a", "--format", "json"],
                &["lock", "a", "--format", "github"],
                &["verify", "a", "--format", "sarif"],
                &["list", "a"],
            ] {
                let outcome = context.tflock(command.iter().copied()).run();
                assert_silent(&outcome, &context, &format!("{name} {command:?}"));
            }
        }
    }
}

#[test]
fn values_of_linked_files_are_not_quoted_elsewhere() {
    let context = TestContext::offline(TFLOCK);
    repository(&context);
    let locals = format!("locals {{\n  s = \"{SECRET}\"\n}}\n");
    context.write("../home/outside.tf", locals);
    for source in [
        "{ a = 1 }[local.s]",
        "local.s",
        "\"git::file:///nowhere/${local.s}\"",
    ] {
        context.write(
            "a/main.tf",
            format!("module \"m\" {{\n  source = {source}\n}}\n"),
        );
        let _ = symlink(context.path("../home/outside.tf"), context.path("a/x.tf"));
        let outcome = context.run("lock a").expect_code(1);
        assert_silent(&outcome, &context, source);
        outcome.assert_stderr("the symlinked file `a/x.tf`");
    }
}

#[test]
fn the_message_has_the_problem_and_the_place() {
    let context = TestContext::offline(TFLOCK);
    repository(&context);
    context.write("../home/netrc", "\nmachine xsecretx\n");
    context.write("a/main.tf", "");
    symlink("../../home/netrc", context.path("a/x.tf")).unwrap();
    let text = context.run("lock a").expect_code(1).stderr;
    let expected = "\
error: `x.tf` is invalid
 --> a/x.tf:2:17
  caused by: its text is not shown, because it is outside the repository and was reached through a symlink
";
    assert_eq!(text.trim_end(), expected.trim_end());
    // Symlinks that point inside the repository are treated as files.
    context.write("shared.tf", "a = 'b'\n");
    std::fs::remove_file(context.path("a/x.tf")).unwrap();
    symlink("../shared.tf", context.path("a/x.tf")).unwrap();
    let text = context.run("lock a").expect_code(1).stderr;
    assert!(text.contains("1 | a = 'b'"), "{text}");
}

#[test]
fn variable_files_that_lead_outside_are_refused_by_name() {
    for name in [
        "terraform.tfvars",
        "terraform.tfvars.json",
        "x.auto.tfvars",
        "named.tfvars",
    ] {
        let context = TestContext::offline(TFLOCK);
        repository(&context);
        context.write("a/main.tf", NEEDS_ALL);
        context.write("../home/values", "v = \"y\"\n");
        symlink("../../home/values", context.path(&format!("a/{name}"))).unwrap();
        let lock = || {
            let program = context.command("lock a --offline");
            match name {
                "named.tfvars" => program.args(["--var-file", name]),
                _ => program,
            }
        };
        let text = lock().run().expect_code(1).stderr;
        let refused =
            format!("cannot read `a/{name}`: it is a symlink that points outside the repository");
        assert!(text.contains(&refused), "{text}");
        let text = lock().args(["--allow-read", "../home"]).run().stderr;
        assert!(!text.contains(&refused), "{text}");
        // Files named on the command line may be outside the repository.
        std::fs::remove_file(context.path(&format!("a/{name}"))).unwrap();
        let named = ["--offline", "--var-file", "../../home/values"];
        let text = context.command("lock a").args(named).run().stderr;
        assert!(!text.contains("cannot read"), "{text}");
    }
}

#[test]
fn special_files_are_not_opened() {
    let makers: [fn(&std::path::Path); 4] = [
        |path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
        |path| symlink("/dev/ptmx", path).unwrap(),
        |path| symlink("/dev/zero", path).unwrap(),
        |path| symlink("/dev/tty", path).unwrap(),
    ];
    for name in [
        "x.tf",
        "x.tf.json",
        "x.tftest.hcl",
        "tests/x.tftest.hcl",
        "terraform.tfvars",
        "x.auto.tfvars",
        ".terraform/environment",
        ".terraform/modules/modules.json",
        "m/x.tf",
    ] {
        for make in makers {
            let context = TestContext::offline(TFLOCK);
            repository(&context);
            let call =
                "module \"c\" {\n  source = \"./m\"\n}\nlocals {\n  w = terraform.workspace\n}\n";
            let call =
                format!("{NEEDS_ALL}{call}module \"w\" {{\n  source = \"a/b/${{local.w}}\"\n}}\n");
            context.write("a/main.tf", call);
            context.write("a/m/main.tf", "");
            context.write(&format!("a/{name}x"), "");
            make(&context.path(&format!("a/{name}")));
            let program = context.command("lock a --offline --engine tofu");
            let mut child = program.spawn();
            let started = Instant::now();
            while child.try_wait().unwrap().is_none() {
                if started.elapsed() > Duration::from_secs(20) {
                    child.kill().unwrap();
                    panic!("{name} hangs");
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}
