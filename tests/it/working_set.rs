//! `--changed` and `--failed`: which directories are processed.

use std::path::Path;

use tflock_test_support::{FakeRegistry, Outcome, ProviderSpec, TestContext, git, table};

use crate::TFLOCK;

/// A repository in which `live/api` and `live/web` call `modules/service`, which calls `modules/network`. `live/web`
/// also calls `modules/dns`. `live/edge` calls no module and has no lock file, but contains a symlink to a shared file.
/// `unit` has only a lock file.
struct ChangedRepository {
    /// Serves requests until it is dropped.
    _registry: FakeRegistry,
    context: TestContext,
}

impl ChangedRepository {
    fn new() -> Self {
        let registry = FakeRegistry::with(ProviderSpec::new("acme/anvil").versions(["1.0.0"]));
        let context = TestContext::new(TFLOCK, &registry);
        let call = |names: &[&str]| {
            let block = |name: &&str| {
                format!("module \"{name}\" {{\n  source = \"../../modules/{name}\"\n}}\n")
            };
            names.iter().map(block).collect::<String>()
        };
        context.write_tree(
            "
            -- live/edge/main.tf --
            -- modules/service/main.tf --
            module \"network\" {
              source = \"../network\"
            }
            -- modules/dns/main.tf --
            -- modules/unused/main.tf --
            -- shared/providers.tf --
            -- README.md --
            -- .tflock.toml --
            platforms = [\"linux_amd64\"]
            ",
        );
        context.write("live/api/main.tf", call(&["service"]));
        context.write("live/web/main.tf", call(&["service", "dns"]));
        for directory in ["modules/network", "unit"] {
            context.require(directory, &[("acme/anvil", "1.0.0")]);
        }
        let link_path = context.path("live/edge/providers.tf");
        link("../../shared/providers.tf", &link_path);
        let repository = Self {
            _registry: registry,
            context,
        };
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
        self.context.run(&format!("lock {arguments}"))
    }

    /// Returns the processed directories, without those that are only read: `live/api live/web`.
    fn worked_on(&self, arguments: &str) -> String {
        worked_on(&self.lock(&format!(
            "--check --create always --format json {arguments}"
        )))
    }

    fn write(&self, path: &str, text: &str) {
        self.context.write(path, text);
    }
}

fn link(target: &str, path: &Path) {
    #[cfg(unix)]
    std::os::unix::fs::symlink(target, path).unwrap();
    #[cfg(windows)]
    std::os::windows::fs::symlink_file(target, path).unwrap();
}

fn worked_on(outcome: &Outcome) -> String {
    let report = outcome.json();
    let directories = report["directories"].as_array().unwrap().iter();
    let paths = directories.map(|directory| directory["path"].as_str().unwrap());
    paths.collect::<Vec<_>>().join(" ")
}

/// The columns: the change, how to make it, and the affected directories. An edit writes a file (`FILE = text`),
/// removes one (`remove FILE`), or is named in [`edit`]. A change to a module's configuration affects the module
/// itself, which could be a root module too, and its callers.
const EDITS: &str = r#"
    nothing                            |                                                |
    a file that no tool reads          | README.md = x                                  |
    a file of a root                   | live/api/main.tf = locals {}                   | live/api
    a new file of a root, not in git   | live/api/new.tf =                              | live/api
    a file of a module, committed      | require and commit                             | live/api live/web modules/network modules/service
    a deleted file of a module         | remove modules/dns/main.tf                     | live/web
    a deleted module                   | remove modules/dns                             | live/web
    a module without callers           | modules/unused/main.tf = locals {}             | modules/unused
    a renamed module                   | rename                                         | live/web modules/names
    a new root, not in git             | live/new/main.tf =                             | live/new
    a lock file                        | live/web/.terraform.lock.hcl =                 | live/web
    a deleted lock file                | remove live/api/.terraform.lock.hcl            | live/api
    a lock file without configuration  | unit/.terraform.lock.hcl =                     | unit
    variables of a root                | live/api/terraform.tfvars =                    | live/api
    variables where none are read      | modules/service/x.auto.tfvars =                | modules/service
    other variables                    | live/api/blue.tfvars =                         |
    a test of a root                   | live/web/tests/a.tftest.hcl =                  | live/web
    the target of a link               | shared/providers.tf = locals {}                | live/edge shared
    the config file                    | .tflock.toml = platforms = ["darwin_arm64"]    | live/api live/edge live/web modules/dns modules/network modules/service modules/unused shared unit
    a config file for signers below    | live/.tflock.toml = jobs = 1                   | live/api live/edge live/web
    a version file, no lock file       | live/.opentofu-version = 1.9.0                 | live/edge
"#;

/// Makes one of the edits in [`EDITS`].
fn edit(repository: &ChangedRepository, edit: &str) {
    let path = |path: &str| repository.context.path(path);
    match edit {
        "" => {}
        "require and commit" => {
            let network = [("acme/anvil", ">= 1.0.0")];
            repository.context.require("modules/network", &network);
            repository.commit();
        }
        "rename" => {
            repository.git("mv modules/dns modules/names");
            let text = repository.context.read("live/web/main.tf");
            let text = text.replace("modules/dns", "modules/names");
            repository.context.write("live/web/main.tf", text);
        }
        "remove modules/dns" => std::fs::remove_dir_all(path("modules/dns")).unwrap(),
        _ => match (edit.strip_prefix("remove "), edit.split_once(" =")) {
            (Some(file), _) => std::fs::remove_file(path(file)).unwrap(),
            (None, Some((file, text))) => repository.write(file, text.trim_start()),
            (None, None) => panic!("`{edit}` is not an edit"),
        },
    }
}

#[test]
fn each_edit_affects_exactly_these_directories() {
    for [what, change, expected] in table(EDITS) {
        let repository = ChangedRepository::new();
        repository.git("switch --quiet --create work");
        edit(&repository, change);
        assert_eq!(repository.worked_on("-r --changed ."), expected, "{what}");
    }
}

#[test]
fn changes_count_from_a_commit_or_from_the_default_branch() {
    let repository = ChangedRepository::new();
    repository.git("switch --quiet --create work");
    for directory in ["api", "web"] {
        repository.write(&format!("live/{directory}/{directory}.tf"), "");
        repository.commit();
    }
    // Later commits on the default branch do not count as changes on this branch.
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
    let commit = &commit[..12];
    assert!(outcome.stderr.starts_with("processing only directories"));
    let note = format!("affected by changes since {commit}, where HEAD diverged from main\n");
    outcome.assert_stderr(&note);
    let quiet = repository.lock("-r --changed -q .").expect_success();
    assert_eq!(quiet.stderr, "");
}

#[test]
fn worktrees_and_submodules_are_repositories_too() {
    let repository = ChangedRepository::new();
    let elsewhere = repository.context.path("module");
    std::fs::create_dir(&elsewhere).unwrap();
    git(&elsewhere, "init --quiet --initial-branch=main .");
    git(&elsewhere, "commit --quiet --allow-empty --message=start");
    repository.git("submodule --quiet add ./module vendor/module");
    let call = "module \"m\" {\n  source = \"../../vendor/module\"\n}\n";
    repository.write("live/vend/main.tf", call);
    std::fs::remove_dir_all(&elsewhere).unwrap();
    repository.commit();
    repository.git("worktree add --quiet -b work tree");
    repository.context.write("tree/live/api/new.tf", "");
    let run = |directory: &str| {
        let arguments = "lock --check --create always --format json -r --changed .";
        let program = repository.context.command(arguments);
        let program = program.current_dir(repository.context.path(directory));
        worked_on(&program.run())
    };
    assert_eq!(run("tree"), "live/api");
    assert_eq!(run("live"), "");
    repository.context.write("vendor/module/main.tf", "");
    assert_eq!(run("live"), "vend");
}

#[test]
fn failures_of_git_are_errors_with_a_hint() {
    let repository = ChangedRepository::new();
    let work = repository.context.work();
    repository.commit();
    let clone = format!("clone --quiet --depth=1 file://{} shallow", work.display());
    git(&work, &clone);
    git(&work, "init --quiet --initial-branch=other empty");
    let empty = work.join("empty");
    git(&empty, "commit --quiet --allow-empty --message=start");
    std::fs::create_dir(work.join("../outside")).unwrap();
    for [directory, arguments, message, hint] in table(
        "
            shallow    | --changed            | is a shallow clone              | `git fetch --unshallow` (`fetch-depth: 0`
            shallow    | --changed=HEAD~1     | cannot find the commit `HEAD~1` | `git fetch --depth=1 origin HEAD~1`
            .          | --changed=--output=x | cannot find the commit `--output=x` | `origin/main`
            .          | --changed=a..b       | cannot find the commit `a..b` | `origin/main`
            empty      | --changed            | cannot determine the default branch | `git remote set-head origin --auto`
            ../outside | --changed            | cannot find a git repository | omit `--changed`
        ",
    ) {
        let program = repository.context.tflock(["lock", "-r", arguments]);
        let outcome = program.current_dir(work.join(directory)).run();
        let outcome = outcome.expect_code(2);
        outcome.assert_stderr(message).assert_stderr(hint);
    }
    let program = repository.context.command("lock -r --changed");
    let outcome = program.env("PATH", "").run().expect_code(2);
    outcome.assert_stderr("cannot run `git`");
    assert_eq!(repository.lock("-r --changed=HEAD shallow").code, Some(0));
}

#[test]
fn only_failed_directories_are_processed_again() {
    let mut registry = FakeRegistry::with(ProviderSpec::new("acme/anvil").versions(["1.0.0"]));
    let context = TestContext::new(TFLOCK, &registry);
    for number in 0..300 {
        let is_late = number % 15 == 0;
        let source = if is_late { "acme/late" } else { "acme/anvil" };
        context.require(&format!("stacks/{number:03}"), &[(source, "1.0.0")]);
    }
    let lock = "lock -r --platform linux_amd64 --format json";
    let first = context.run(&format!("{lock} .")).expect_code(1);
    assert_eq!(first.json()["summary"]["failed"], 20);
    context.write("report.json", &first.stdout);

    registry.publish(ProviderSpec::new("acme/late").versions(["1.0.0"]));
    let before = registry.log().total();
    let again = context.run(&format!("{lock} --failed report.json ."));
    let second = again.expect_success();
    let report = second.json();
    assert_eq!(report["summary"]["directories"], 20, "{second}");
    assert_eq!(report["summary"]["created"], 20, "{second}");
    second.assert_stderr("processing the 20 directories that failed\n");
    // The run requests the version list, description, checksum list, signature and zip of the new provider, and nothing
    // for the other provider.
    assert_eq!(registry.log().total() - before, 5);
}

/// "Nothing to do" is printed only if the directories were actually checked.
#[test]
fn failed_directories_are_found_or_reported() {
    let registry = FakeRegistry::start();
    let context = TestContext::new(TFLOCK, &registry);
    context.require("a", &[("acme/late", "1.0.0")]);
    context.require("b", &[("acme/late", "1.0.0")]);
    let lock = "lock -r --format json .";
    let first = context.run(lock).expect_code(1);
    context.write("report.json", &first.stdout);
    std::fs::remove_dir_all(context.path("b")).unwrap();
    let gone = "left out: 1 directory that failed but cannot be found";
    let elsewhere = "left out: 1 directory that failed outside the given paths";
    for (arguments, code, message) in [
        ("", 1, "processing the 1 directory that failed\n"),
        ("-r .", 1, gone),
        ("a", 1, gone),
        (".", 0, elsewhere),
    ] {
        let outcome = context.run(&format!("lock --failed report.json {arguments}"));
        outcome.expect_code(code).assert_stderr(message);
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
        ("text", "caused by: it is not a `--format json` report"),
        (
            "later",
            "caused by: its `schema_version` is 99, but this version of tflock supports 1",
        ),
    ] {
        let outcome = context.run(&format!("lock -r --failed {name} ."));
        let outcome = outcome.expect_code(2);
        outcome.assert_stderr(&format!("cannot use the report `{name}`\n"));
        outcome.assert_stderr(cause);
    }
}

/// Git hooks receive the files of a commit. A called module has no lock file, so its callers are processed.
#[test]
fn files_of_a_module_select_its_callers() {
    for [arguments, expected] in table(
        "
            modules/network/main.tf | modules/network
            --callers modules/network/main.tf | live/api live/web modules/network modules/service
            --callers modules/dns/main.tf live/edge/main.tf | live/edge live/web modules/dns
            --callers unit/.terraform.lock.hcl | unit
        ",
    ) {
        let repository = ChangedRepository::new();
        assert_eq!(repository.worked_on(arguments), expected, "{arguments}");
    }
    let repository = ChangedRepository::new();
    // The config file nearest to each caller applies to it.
    repository.write("live/web/.tflock.toml", "platforms = [\"darwin_arm64\"]\n");
    let network = [("acme/anvil", ">= 1.0.0")];
    repository.context.require("modules/network", &network);
    let outcome = repository.lock("--callers modules/network/main.tf");
    outcome.expect_success();
    for (directory, hashes) in [("live/api", 1), ("live/web", 2)] {
        let text = repository.context.lock_file(directory).unwrap();
        assert!(text.contains("constraints = \">= 1.0.0\""), "{text}");
        assert_eq!(text.matches("h1:").count(), hashes, "{text}");
    }
    assert_eq!(repository.context.lock_file("modules/network"), None);
}

/// `tflock mirror` processes whole trees, so it has no such option.
#[test]
fn the_list_includes_callers_too() {
    let context = TestContext::offline(TFLOCK);
    context.write(".git/HEAD", "ref: refs/heads/main\n");
    context.write("modules/dns/main.tf", "locals {}\n");
    let call = "module \"dns\" {\n  source = \"../../modules/dns\"\n}\n";
    context
        .write("live/web/main.tf", call)
        .write("live/api/main.tf", "");
    let list = |options: &str| {
        let line = format!("list --offline {options} modules/dns/main.tf");
        context.run(&line).expect_success().stdout
    };
    assert!(!list("").contains("live/"));
    let listed = list("--callers");
    assert!(
        listed.contains("live/web") && !listed.contains("live/api"),
        "{listed}"
    );
}

/// The engine of a caller is unknown while callers are searched, so calls that either tool follows are included.
#[test]
fn callers_are_found_by_the_rules_of_either_tool() {
    let call = "module \"dns\" {\n  source = \"../../modules/dns\"\n}\n";
    // Terraform cannot parse this block, so it ignores the whole directory.
    let for_tofu_only =
        "provider \"anvil\" {\n  alias    = \"by_name\"\n  for_each = toset([\"x\"])\n}\n";
    for (file, text) in [
        ("live/new/main.tofu", call.to_owned()),
        ("live/new/main.tf", format!("{for_tofu_only}{call}")),
    ] {
        let repository = ChangedRepository::new();
        repository.write(file, &text);
        let found = repository.worked_on("--callers modules/dns/main.tf");
        let is_new = |directory: &str| directory == "live/new";
        assert!(found.split(' ').any(is_new), "{file}: {found}");
    }
}
