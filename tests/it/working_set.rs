//! `--changed` and `--failed`: which directories are worked on.

use std::path::Path;
use std::process::Command;

use tflock_test_support::{FakeRegistry, Outcome, ProviderSpec, TestContext, table};

use crate::TFLOCK;

/// `live/api` and `live/web` reach `modules/network` through `modules/service`, `live/web` calls `modules/dns` as well, and
/// `live/edge` calls nothing but shares a file through a link. `unit` has a lock file only, `live/edge` none.
struct Repository {
    /// Answers as long as it lives.
    _registry: FakeRegistry,
    context: TestContext,
}

impl Repository {
    fn new() -> Self {
        let mut registry = FakeRegistry::start();
        registry.publish(ProviderSpec::new("acme/anvil").versions(["1.0.0"]));
        let context = TestContext::new(TFLOCK, &registry);
        let repository = Self {
            _registry: registry,
            context,
        };
        let call = |names: &[&str]| {
            let block = |name: &&str| {
                format!("module \"{name}\" {{\n  source = \"../../modules/{name}\"\n}}\n")
            };
            names.iter().map(block).collect::<String>()
        };
        let service = "module \"network\" {\n  source = \"../network\"\n}\n";
        for (path, text) in [
            ("live/api/main.tf", call(&["service"])),
            ("live/web/main.tf", call(&["service", "dns"])),
            ("live/edge/main.tf", String::new()),
            ("modules/service/main.tf", service.to_owned()),
            ("modules/dns/main.tf", String::new()),
            ("modules/unused/main.tf", String::new()),
            ("shared/providers.tf", String::new()),
            ("README.md", String::new()),
            (".tflock.toml", "platforms = [\"linux_amd64\"]\n".to_owned()),
        ] {
            repository.context.write(path, text);
        }
        for directory in ["modules/network", "unit"] {
            repository
                .context
                .require(directory, &[("acme/anvil", "1.0.0")]);
        }
        link(
            "../../shared/providers.tf",
            &repository.context.path("live/edge/providers.tf"),
        );
        repository.git("init --quiet --initial-branch=main .");
        repository.lock("live/api live/web unit").expect_success();
        std::fs::remove_file(repository.context.path("unit/main.tf")).unwrap();
        repository.commit();
        repository
    }

    fn git(&self, arguments: &str) -> String {
        git(&self.context.work(), arguments)
    }

    fn commit(&self) {
        self.git("add --all");
        self.git("commit --quiet --allow-empty --message=change");
    }

    fn lock(&self, arguments: &str) -> Outcome {
        let arguments = arguments.split_whitespace();
        self.context
            .tflock(["lock"].into_iter().chain(arguments))
            .run()
    }

    /// The directories that are worked on, and not only looked at: `live/api live/web`.
    fn worked_on(&self, arguments: &str) -> String {
        let outcome = self.lock(&format!(
            "--check --create always --format json {arguments}"
        ));
        worked_on(&outcome)
    }

    fn write(&self, path: &str, text: &str) {
        self.context.write(path, text);
    }

    fn remove(&self, path: &str) {
        std::fs::remove_file(self.context.path(path)).unwrap();
    }
}

fn git(directory: &Path, arguments: &str) -> String {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t.test",
            "-c",
            "protocol.file.allow=always",
        ])
        .args(arguments.split_whitespace())
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "git {arguments}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn link(target: &str, path: &Path) {
    #[cfg(unix)]
    std::os::unix::fs::symlink(target, path).unwrap();
    #[cfg(windows)]
    std::os::windows::fs::symlink_file(target, path).unwrap();
}

fn report(outcome: &Outcome) -> serde_json::Value {
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}\n{outcome}"))
}

fn worked_on(outcome: &Outcome) -> String {
    let report = report(outcome);
    let directories = report["directories"].as_array().unwrap().iter();
    let paths: Vec<&str> = directories
        .map(|directory| directory["path"].as_str().unwrap())
        .collect();
    paths.join(" ")
}

/// An edit, what it does, and which directories it concerns.
type Edit = (&'static str, fn(&Repository), &'static str);

/// The configuration of a module that is called concerns the module as well, since it could be a root of its own.
const EDITS: [Edit; 21] = [
    ("nothing", |_| {}, ""),
    (
        "a file that no tool reads",
        |r| r.write("README.md", "x"),
        "",
    ),
    (
        "a file of a root",
        |r| r.write("live/api/main.tf", "locals {}\n"),
        "live/api",
    ),
    (
        "a new file of a root, not known to git",
        |r| r.write("live/api/new.tf", ""),
        "live/api",
    ),
    (
        "a file of a module, committed",
        |r| {
            r.context
                .require("modules/network", &[("acme/anvil", ">= 1.0.0")]);
            r.commit();
        },
        "live/api live/web modules/network modules/service",
    ),
    (
        "a file that is gone from a module",
        |r| r.remove("modules/dns/main.tf"),
        "live/web",
    ),
    (
        "a module that is gone",
        |r| std::fs::remove_dir_all(r.context.path("modules/dns")).unwrap(),
        "live/web",
    ),
    (
        "a module that nothing calls",
        |r| r.write("modules/unused/main.tf", "locals {}\n"),
        "modules/unused",
    ),
    (
        "a module with another name",
        |r| {
            r.git("mv modules/dns modules/names");
            let text = r
                .context
                .read("live/web/main.tf")
                .replace("modules/dns", "modules/names");
            r.context.write("live/web/main.tf", text);
        },
        "live/web modules/names",
    ),
    (
        "a new root, not known to git",
        |r| r.write("live/new/main.tf", ""),
        "live/new",
    ),
    (
        "a lock file",
        |r| r.write("live/web/.terraform.lock.hcl", ""),
        "live/web",
    ),
    (
        "a lock file that is gone",
        |r| r.remove("live/api/.terraform.lock.hcl"),
        "live/api",
    ),
    (
        "a lock file beside no configuration",
        |r| r.write("unit/.terraform.lock.hcl", ""),
        "unit",
    ),
    (
        "variables of a root",
        |r| r.write("live/api/terraform.tfvars", ""),
        "live/api",
    ),
    (
        "variables where none are read",
        |r| r.write("modules/service/x.auto.tfvars", ""),
        "modules/service",
    ),
    (
        "other variables",
        |r| r.write("live/api/blue.tfvars", ""),
        "",
    ),
    (
        "a test of a root",
        |r| r.write("live/web/tests/a.tftest.hcl", ""),
        "live/web",
    ),
    (
        "the target of a link",
        |r| r.write("shared/providers.tf", "locals {}\n"),
        "live/edge shared",
    ),
    (
        "the config file",
        |r| r.write(".tflock.toml", "platforms = [\"darwin_arm64\"]\n"),
        "live/api live/edge live/web modules/dns modules/network modules/service modules/unused shared unit",
    ),
    (
        "a config file further down, whose signers would count",
        |r| r.write("live/.tflock.toml", "jobs = 1\n"),
        "live/api live/edge live/web",
    ),
    // Lock files say which engine the others have.
    (
        "a version file",
        |r| r.write("live/.opentofu-version", "1.9.0\n"),
        "live/edge",
    ),
];

#[test]
fn each_edit_concerns_exactly_these_directories() {
    for (what, edit, expected) in EDITS {
        let repository = Repository::new();
        repository.git("switch --quiet --create work");
        edit(&repository);
        assert_eq!(repository.worked_on("-r --changed ."), expected, "{what}");
    }
}

#[test]
fn changes_count_from_a_commit_or_from_the_default_branch() {
    let repository = Repository::new();
    repository.git("switch --quiet --create work");
    for directory in ["api", "web"] {
        repository
            .context
            .write(&format!("live/{directory}/{directory}.tf"), "");
        repository.commit();
    }
    // What happens on the default branch meanwhile does not concern this one.
    repository.git("switch --quiet main");
    repository.context.write("live/edge/more.tf", "");
    repository.commit();
    repository.git("switch --quiet work");
    for (arguments, expected) in [
        ("-r --changed .", "live/api live/web"),
        ("-r --changed=HEAD~1 .", "live/web"),
        ("-r --changed=HEAD .", ""),
        ("-r --changed=main .", "live/api live/edge live/web"),
        ("--changed live/web live/edge", "live/web"),
        ("--changed live/web/main.tf live/edge/main.tf", "live/web"),
    ] {
        assert_eq!(repository.worked_on(arguments), expected, "{arguments}");
    }
    let commit = repository.git("merge-base HEAD main");
    let outcome = repository.lock("-r --changed .").expect_success();
    let note = format!(
        "working on what can have changed since {}, where HEAD left main in ",
        &commit[..12]
    );
    assert!(outcome.stderr.starts_with(&note), "{outcome}");
    assert_eq!(
        repository.lock("-r --changed -q .").expect_success().stderr,
        ""
    );
}

#[test]
fn worktrees_and_submodules_are_repositories_too() {
    let repository = Repository::new();
    let elsewhere = repository.context.path("module");
    std::fs::create_dir(&elsewhere).unwrap();
    git(&elsewhere, "init --quiet --initial-branch=main .");
    git(&elsewhere, "commit --quiet --allow-empty --message=start");
    repository.git("submodule --quiet add ./module vendor/module");
    repository.context.write(
        "live/vend/main.tf",
        "module \"m\" {\n  source = \"../../vendor/module\"\n}\n",
    );
    std::fs::remove_dir_all(&elsewhere).unwrap();
    repository.commit();
    repository.git("worktree add --quiet -b work tree");
    repository.context.write("tree/live/api/new.tf", "");
    let run = |directory: &str| {
        let arguments = "lock --check --create always --format json -r --changed .";
        let program = repository.context.command(arguments);
        worked_on(
            &program
                .current_dir(repository.context.path(directory))
                .run(),
        )
    };
    assert_eq!(run("tree"), "live/api");
    assert_eq!(run("live"), "");
    repository.context.write("vendor/module/main.tf", "");
    assert_eq!(run("live"), "vend");
}

#[test]
fn what_git_cannot_tell_is_an_error_with_a_way_out() {
    let repository = Repository::new();
    let work = repository.context.work();
    repository.commit();
    git(
        &work,
        &format!("clone --quiet --depth=1 file://{} shallow", work.display()),
    );
    git(&work, "init --quiet --initial-branch=other empty");
    git(
        &work.join("empty"),
        "commit --quiet --allow-empty --message=start",
    );
    std::fs::create_dir(work.join("../outside")).unwrap();
    for [directory, arguments, message, hint] in table(
        "
            shallow    | --changed            | is a shallow clone              | `git fetch --unshallow` (`fetch-depth: 0`
            shallow    | --changed=HEAD~1     | there is no commit `HEAD~1`     | `git fetch --depth=1 origin HEAD~1`
            .          | --changed=--output=x | there is no commit `--output=x` | `origin/main`
            .          | --changed=a..b       | there is no commit `a..b`       | `origin/main`
            empty      | --changed            | no branch of                    | `git remote set-head origin --auto`
            ../outside | --changed            | is in no git repository         | leave it out
        ",
    ) {
        let program = repository.context.tflock(["lock", "-r", arguments]);
        let outcome = program
            .current_dir(work.join(directory))
            .run()
            .expect_code(2);
        assert!(
            outcome.stderr.contains(message) && outcome.stderr.contains(hint),
            "{arguments}\n{outcome}"
        );
    }
    let program = repository.context.command("lock -r --changed");
    let outcome = program.env("PATH", "").run().expect_code(2);
    outcome.assert_stderr("`git` does not start");
    assert_eq!(repository.lock("-r --changed=HEAD shallow").code, Some(0));
}

#[test]
fn only_what_failed_is_worked_on_again() {
    let mut registry = FakeRegistry::start();
    registry.publish(ProviderSpec::new("acme/anvil").versions(["1.0.0"]));
    let context = TestContext::new(TFLOCK, &registry);
    for number in 0..300 {
        let source = if number % 15 == 0 {
            "acme/late"
        } else {
            "acme/anvil"
        };
        context.require(&format!("stacks/{number:03}"), &[(source, "1.0.0")]);
    }
    let lock = [
        "lock",
        "-r",
        "--platform",
        "linux_amd64",
        "--format",
        "json",
    ];
    let first = context
        .tflock(lock.into_iter().chain(["."]))
        .run()
        .expect_code(1);
    assert_eq!(report(&first)["summary"]["failed"], 20);
    context.write("report.json", &first.stdout);

    registry.publish(ProviderSpec::new("acme/late").versions(["1.0.0"]));
    let before = registry.log().total();
    let again = lock.into_iter().chain(["--failed", "report.json", "."]);
    let second = context.tflock(again).run().expect_success();
    let report = report(&second);
    assert_eq!(report["summary"]["directories"], 20, "{second}");
    assert_eq!(report["summary"]["created"], 20, "{second}");
    assert!(
        second
            .stderr
            .starts_with("working on the 20 directories that failed\n"),
        "{second}"
    );
    assert_eq!(
        registry.log().total() - before,
        5,
        "versions, package, list, signature, zip: of the mended one alone"
    );
}

/// Nothing to do is never said of directories that nobody looked at.
#[test]
fn failed_directories_are_found_or_told_of() {
    let registry = FakeRegistry::start();
    let context = TestContext::new(TFLOCK, &registry);
    context.require("a", &[("acme/late", "1.0.0")]);
    context.require("b", &[("acme/late", "1.0.0")]);
    let lock = "lock -r --format json .";
    let first = context.run(lock).expect_code(1);
    context.write("report.json", &first.stdout);
    std::fs::remove_dir_all(context.path("b")).unwrap();
    let gone = "left out: 1 directory that failed, and cannot be found from here";
    for (arguments, code, told) in [
        ("", 1, "working on the 1 directory that failed\n"),
        ("-r .", 1, gone),
        ("a", 1, gone),
        (
            ".",
            0,
            "left out: 1 directory that failed outside of the given paths",
        ),
    ] {
        let lock = ["lock", "--failed", "report.json"].into_iter();
        let program = context.tflock(lock.chain(arguments.split_whitespace()));
        let outcome = program.run().expect_code(code);
        assert!(outcome.stderr.contains(told), "{arguments}\n{outcome}");
    }
}

#[test]
fn a_report_that_cannot_be_used_is_an_error() {
    let registry = FakeRegistry::start();
    let context = TestContext::new(TFLOCK, &registry);
    context
        .write("text", "all is well")
        .write("later", "{\"schema_version\": 99, \"directories\": []}");
    for (name, cause) in [
        ("none", "caused by: "),
        ("text", "caused by: it is no report of `--format json`"),
        (
            "later",
            "caused by: its `schema_version` is 99, and this tflock knows 1",
        ),
    ] {
        let outcome = context
            .tflock(["lock", "-r", "--failed", name, "."])
            .run()
            .expect_code(2);
        outcome.assert_stderr(&format!("cannot use the report `{name}`\n"));
        outcome.assert_stderr(cause);
    }
}

/// Hooks are given the files of a commit; a module that others call has no lock file of its own.
#[test]
fn files_of_a_module_mean_those_who_call_it() {
    for [arguments, expected] in table(
        "
            modules/network/main.tf | modules/network
            --callers modules/network/main.tf | live/api live/web modules/network modules/service
            --callers modules/dns/main.tf live/edge/main.tf | live/edge live/web modules/dns
            --callers unit/.terraform.lock.hcl | unit
        ",
    ) {
        let repository = Repository::new();
        assert_eq!(repository.worked_on(arguments), expected, "{arguments}");
    }
    let repository = Repository::new();
    // Callers are governed by the files that are nearest to them.
    repository.write("live/web/.tflock.toml", "platforms = [\"darwin_arm64\"]\n");
    let network = [("acme/anvil", ">= 1.0.0")];
    repository.context.require("modules/network", &network);
    repository
        .lock("--callers modules/network/main.tf")
        .expect_success();
    for (directory, hashes) in [("live/api", 1), ("live/web", 2)] {
        let text = repository.context.lock_file(directory).unwrap();
        assert!(text.contains("constraints = \">= 1.0.0\""), "{text}");
        assert_eq!(text.matches("h1:").count(), hashes, "{text}");
    }
    assert_eq!(repository.context.lock_file("modules/network"), None);
}

/// Whose rules a caller is read by is not known when callers are looked for: what either tool would follow counts.
#[test]
fn callers_are_found_by_the_rules_of_either_tool() {
    let call = "module \"dns\" {\n  source = \"../../modules/dns\"\n}\n";
    // Terraform does not read the block, and so nothing of the directory.
    let for_tofu_only =
        "provider \"anvil\" {\n  alias    = \"by_name\"\n  for_each = toset([\"x\"])\n}\n";
    for (file, text) in [
        ("live/new/main.tofu", call.to_owned()),
        ("live/new/main.tf", format!("{for_tofu_only}{call}")),
    ] {
        let repository = Repository::new();
        repository.write(file, &text);
        let found = repository.worked_on("--callers modules/dns/main.tf");
        assert!(
            found.split(' ').any(|directory| directory == "live/new"),
            "{file}: {found}"
        );
    }
}
