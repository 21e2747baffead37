//! The step of the action that runs tflock: how it passes on inputs, and which outputs it sets.

use tflock::index::SignerKey;
use tflock_test_support::{FakeRegistry, ProviderSpec, assert_contains, multiline, table};

use super::workflow::{Ended, Node, Runner, can_run, step};

/// Starts a registry and creates a runner. The workspace is a repository with one commit and root modules without lock
/// files, whose names contain shell syntax.
fn start() -> Option<(FakeRegistry, Runner)> {
    if !can_run(&["bash", "git"]) {
        return None;
    }
    let mut registry = FakeRegistry::start();
    registry.publish(ProviderSpec::new("acme/anvil").versions(["1.0.0", "1.1.0"]));
    let runner = Runner::new();
    runner.install_tflock();
    std::fs::write(runner.path("terraform.rc"), registry.cli_config()).unwrap();
    for directory in DIRECTORIES {
        let directory = runner.path("workspace").join(directory);
        std::fs::create_dir_all(&directory).unwrap();
        let text = "terraform {\n  required_providers {\n    anvil = { source = \"acme/anvil\", version = \"~> 1.0\" }\n  }\n}\n";
        std::fs::write(directory.join("main.tf"), text).unwrap();
    }
    git(&runner, "init --quiet --initial-branch main");
    git(&runner, "add --all");
    git(&runner, "commit --quiet --message all");
    let configuration = runner.path("terraform.rc");
    let runner = runner
        .with("TF_CLI_CONFIG_FILE", configuration.to_str().unwrap())
        .means("inputs.command", "check")
        .means("inputs.paths", ".")
        .means("inputs.recursive", "true")
        .means("inputs.platforms", "linux_amd64")
        .means("inputs.changed", "")
        .means("inputs.args", "")
        .means("inputs.untrusted", "auto")
        .means("inputs.allow-hosts", "")
        .means("inputs.index", "")
        .means("inputs.index-keys", "")
        .means("inputs.index-signing-key", "")
        .means("github.repository", "acme/infra");
    Some((registry, without_event(runner)))
}

fn without_event(runner: Runner) -> Runner {
    let unset = |runner: Runner, field| runner.means(field, "");
    EVENT.into_iter().fold(runner, unset)
}

/// The event fields that the action reads. All are empty for a push.
const EVENT: [&str; 5] = [
    "github.event.pull_request.number",
    "github.event.pull_request.head.repo.full_name",
    "github.event.issue.pull_request.url",
    "github.event.workflow_run.id",
    "github.event.workflow_run.head_repository.full_name",
];

const DIRECTORIES: [&str; 4] = ["a", "-r", "b c", "$(touch pwned)"];

fn git(runner: &Runner, line: &str) {
    tflock_test_support::git(&runner.path("workspace"), line);
}

fn run(runner: &Runner) -> Ended {
    let action = Node::read("action.yml");
    let ended = runner.run(step(action.at("runs/steps"), "Run tflock"), "workspace");
    assert!(!runner.path("workspace/pwned").exists(), "{}", ended.output);
    ended
}

/// Checks the exit code of a run and returns its outputs `drift` and `changed-files`.
#[track_caller]
fn outputs(runner: &Runner, code: i32) -> (bool, Vec<String>) {
    run(runner).expect_code(code);
    let outputs = runner.outputs();
    assert_eq!(outputs["exit-code"], code.to_string());
    let files = outputs["changed-files"].lines().map(str::to_owned);
    (outputs["drift"] == "true", files.collect())
}

#[test]
fn drift_fails_the_check_until_lock_repairs_it() {
    let Some((_registry, runner)) = start() else {
        return;
    };
    let ended = run(&runner).expect_code(3);
    // Identical changes share one annotation, placed at the first of the files.
    let annotation = "::error file=$(touch pwned)/.terraform.lock.hcl,title=lock-file-drift::\
lock file would be created%0Aacme/anvil 1.1.0%0Ahint: run the same command without `--check`, and commit the lock files\
%0Ain $(touch pwned), -r, a, b c\n";
    assert!(ended.output.contains(annotation), "{}", ended.output);
    let summary = runner.read("temp/GITHUB_STEP_SUMMARY");
    assert_contains(&summary, "| would be created |\n| ---: |\n| 4 |\n");
    assert_eq!(runner.outputs()["drift"], "true");
    assert_eq!(runner.outputs()["changed-files"], "");

    let runner = runner.means("inputs.command", "lock");
    let (drift, files) = outputs(&runner, 0);
    let expected = ["$(touch pwned)", "-r", "a", "b c"]
        .map(|directory| format!("{directory}/.terraform.lock.hcl"));
    assert_eq!((drift, files.as_slice()), (false, expected.as_slice()));

    let runner = runner.means("inputs.command", "verify");
    assert!(!outputs(&runner, 0).0);
    let lock = runner.path("workspace/a/.terraform.lock.hcl");
    let text = std::fs::read_to_string(&lock).unwrap();
    std::fs::write(&lock, text.replace("\"~> 1.0\"", "\"~> 1.1\"")).unwrap();
    assert!(outputs(&runner, 3).0);
    assert_contains(&run(&runner).output, "title=TFL005 constraints-differ");
    assert!(outputs(&runner.means("inputs.command", "check"), 3).0);
}

#[test]
fn inputs_reach_tflock_unchanged() {
    // The columns: inputs separated by `;`, the exit code, and the directories whose lock files change, separated by
    // commas.
    for [inputs, code, expected] in table(
        r"
        paths=a\nb c                                        | 0 | a,b c
        paths=-r                                            | 0 | -r
        paths=$(touch pwned)\n\n;recursive=false            | 0 | $(touch pwned)
        paths=;args=--ignore-path\nb c\n--ignore-path=-r|[$] | 0 | a
        paths=a;platforms=linux_amd64,darwin_arm64          | 0 | a
        platforms=$(touch pwned)                            | 2 |
        platforms=--help                                    | 2 |
        args=--no-such-option                               | 2 |
        args=--var\nname=`touch pwned`;paths=a              | 0 | a
        changed=--output=pwned                              | 2 |
        changed=$(touch pwned)                              | 2 |
        changed=false;paths=a                               | 0 | a
        changed=true                                        | 0 |
        changed=HEAD                                        | 0 |
        ",
    ) {
        let Some((_registry, mut runner)) = start() else {
            return;
        };
        runner = runner.means("inputs.command", "lock");
        for input in inputs.split(';') {
            let (name, value) = input.split_once('=').unwrap();
            runner = runner.means(&format!("inputs.{name}"), &multiline(value));
        }
        let (drift, files) = outputs(&runner, code.parse().unwrap());
        let expected = expected
            .split(',')
            .filter(|directory| !directory.is_empty());
        let lock_file = |directory| format!("{directory}/.terraform.lock.hcl");
        let expected: Vec<String> = expected.map(lock_file).collect();
        assert_eq!((drift, files), (false, expected), "{inputs}");
    }
}

/// An untrusted run refuses to contact the host of `acme/anvil` if only other hosts are allowed.
#[test]
fn pull_requests_from_forks_are_untrusted() {
    let [number, head, comment, run_id, run_head] = EVENT;
    for (event, untrusted, code) in [
        (&[][..], "auto", 0),
        (&[(number, "7"), (head, "acme/infra")], "auto", 0),
        (&[(number, "7"), (head, "mallory/infra")], "auto", 1),
        (&[(number, "7")], "auto", 1), // the fork was deleted
        (&[(comment, "https://api.github.test/pulls/7")], "auto", 1),
        (&[(run_id, "9"), (run_head, "acme/infra")], "auto", 0),
        (&[(run_id, "9"), (run_head, "mallory/infra")], "auto", 1),
        (&[(number, "7"), (head, "mallory/infra")], "false", 0),
        (&[], "true", 1),
        (&[], "yes", 2),
    ] {
        let Some((_registry, runner)) = start() else {
            return;
        };
        let set = |runner: Runner, (field, value): &(&str, &str)| runner.means(field, value);
        let runner = event
            .iter()
            .fold(runner, set)
            .means("inputs.command", "lock")
            .means("inputs.paths", "a")
            .means("inputs.untrusted", untrusted)
            .means("inputs.allow-hosts", "one.test,two.test\nthree.test");
        let ended = run(&runner).expect_code(code);
        let refusal = "host `registry.terraform.io` is not allowed";
        let is_refused = ended.output.contains(refusal);
        assert_eq!(is_refused, code == 1, "{event:?} {}", ended.output);
    }
}

/// Git treats a directory with `HEAD`, `objects`, `refs` and `config` as a repository and runs the programs that
/// `config` names.
#[test]
fn a_directory_that_resembles_a_repository_is_not_used_as_one() {
    let Some((_registry, runner)) = start() else {
        return;
    };
    let canary = runner.path("pwned");
    let config = format!(
        "[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = \"touch {0}; false\"\n\
         [filter \"x\"]\nclean = \"touch {0}; cat\"\n",
        canary.display()
    );
    for (name, text) in [
        ("HEAD", "ref: refs/heads/main\n"),
        ("config", &config),
        ("objects/x", ""),
        ("refs/x", ""),
        (".gitattributes", "* filter=x\n"),
    ] {
        let path = runner.path("workspace/a").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let action = Node::read("action.yml");
    let runner = runner.means("inputs.command", "lock");
    let step = step(action.at("runs/steps"), "Run tflock");
    runner.run(step, "workspace/a").expect_code(0);
    assert!(!canary.exists());
    let changed = &runner.outputs()["changed-files"];
    assert_eq!(changed.trim(), ".terraform.lock.hcl");
}

#[test]
fn only_changed_directories_are_processed() {
    let Some((_registry, runner)) = start() else {
        return;
    };
    let main = runner.path("workspace/a/main.tf");
    let text = std::fs::read_to_string(&main).unwrap();
    std::fs::write(main, text.replace("~> 1.0", "1.0.0")).unwrap();
    git(&runner, "commit --quiet --all --message a");
    let runner = runner
        .means("inputs.command", "lock")
        .means("inputs.changed", "HEAD^1");
    assert_eq!(outputs(&runner, 0).1, ["a/.terraform.lock.hcl"]);
}

#[test]
fn a_command_that_does_not_exist_is_refused() {
    let Some((_registry, runner)) = start() else {
        return;
    };
    for command in ["list", "", "check; touch pwned"] {
        let runner = Runner::new()
            .means("inputs.command", command)
            .means("inputs.args", "")
            .means("inputs.untrusted", "auto")
            .means("inputs.allow-hosts", "")
            .means("github.repository", "acme/infra");
        let mut runner = without_event(runner);
        for name in [
            "paths",
            "recursive",
            "platforms",
            "changed",
            "index",
            "index-keys",
            "index-signing-key",
        ] {
            runner = runner.means(&format!("inputs.{name}"), "");
        }
        let ended = run(&runner).expect_code(2);
        let message = format!("invalid command `{command}`: expected check, lock, verify or fill");
        assert!(ended.output.contains(&message), "{}", ended.output);
    }
    drop(runner);
}

/// The scripts use every declared input and output.
#[test]
fn inputs_and_outputs_are_complete() {
    let action = Node::read("action.yml");
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/action.yml")).unwrap();
    for (name, input) in action.at("inputs").map() {
        for field in ["default", "description"] {
            assert!(input.get(field).is_some(), "{name}: {field}");
        }
        assert!(text.contains(&format!("inputs.{name} ")), "{name}");
    }
    let run = step(action.at("runs/steps"), "Run tflock").at("run").text();
    let install = step(action.at("runs/steps"), "Install tflock");
    let install = install.at("run").text();
    for (name, output) in action.at("outputs").map() {
        let value = output.at("value").text();
        let is_of_run = value.contains("steps.run.");
        let script = if is_of_run { run } else { install };
        assert!(value.ends_with(&format!(".outputs.{name} }}}}")), "{value}");
        let writes = |sign: &str| script.contains(&format!("{name}{sign}"));
        assert!(writes("=") || writes("<<"), "{name}");
    }
}

/// A job fills an index from lock files, and another one without packages reads it.
#[test]
fn an_index_is_filled_and_read() {
    let Some((registry, runner)) = start() else {
        return;
    };
    let key = SignerKey::generate("example.com/index").unwrap();
    std::fs::create_dir(runner.path("index")).unwrap();
    let index = format!("file://{}", runner.path("index").display());
    let runner = runner.means("inputs.command", "lock");
    outputs(&runner, 0);
    let runner = runner
        .means("inputs.command", "fill")
        .means("inputs.index", &index)
        .means("inputs.index-signing-key", &key.secret_text());
    let ended = run(&runner).expect_code(0);
    assert_contains(&ended.output, "1 package: 1 added;");
    let runner = runner
        .means("inputs.args", "acme/anvil@1.0.0")
        .means("inputs.paths", "");
    let ended = run(&runner).expect_code(0);
    assert_contains(&ended.output, "acme/anvil 1.0.0 (linux_amd64)");

    registry.log().clear();
    let runner = runner
        .means("inputs.command", "check")
        .means("inputs.index-signing-key", "")
        .means("inputs.index-keys", &key.verifier().to_string())
        .means("inputs.args", "--no-cache\n--no-download")
        .means("inputs.paths", ".");
    run(&runner).expect_code(0);
    assert_eq!(registry.log().count("GET", "*.zip"), 0);
    let fork = runner
        .means("inputs.command", "fill")
        .means("inputs.untrusted", "true");
    let ended = run(&fork).expect_code(2);
    assert_contains(&ended.output, "`fill` does not run for untrusted content");
}
