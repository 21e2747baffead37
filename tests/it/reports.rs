//! The output of `--format` in real runs.

use serde_json::{Value, json};
use tflock_test_support::{FakeRegistry, ProviderSpec, TestContext, assert_starts};

use crate::TFLOCK;

/// Creates one directory of each kind: correct, to be created, to be updated, failing, without requirements.
fn start() -> (FakeRegistry, TestContext) {
    let mut registry = FakeRegistry::start();
    registry.publish(ProviderSpec::new("acme/anvil").versions(["1.0.0", "1.1.0"]));
    let context = TestContext::new(TFLOCK, &registry);
    for (directory, constraint) in [("right", "1.0.0"), ("moved", "1.0.0")] {
        context.require(directory, &[("acme/anvil", constraint)]);
    }
    let lock = "lock -r --platform linux_amd64 .";
    context.run(lock).expect_success();
    context
        .require("moved", &[("acme/anvil", "1.1.0")])
        .require("fresh", &[("acme/anvil", "~> 1.0")])
        .require("broken", &[("acme/anvil", "~> 3.0")])
        .write("empty/main.tf", "");
    (registry, context)
}

/// Sets every `seconds` to 0.
fn without_times(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(without_times),
        Value::Object(fields) => {
            for (name, field) in fields {
                match name.as_str() {
                    "seconds" => *field = json!(0),
                    _ => without_times(field),
                }
            }
        }
        _ => {}
    }
}

/// A truncated report must not look like a complete one, so the run fails. The lock files are written nevertheless.
#[cfg(target_os = "linux")]
#[test]
fn a_report_that_cannot_be_written_is_an_error() {
    for format in ["text", "json", "github", "sarif"] {
        let (_registry, context) = start();
        let lock = [
            "lock",
            "-r",
            "--platform",
            "linux_amd64",
            "--format",
            format,
        ];
        let full = std::fs::File::create("/dev/full").unwrap();
        let outcome = context.tflock(lock).run_into(full).expect_code(2);
        let message = "error: cannot write the report to standard output\n  caused by: No space left on device";
        outcome.assert_stderr(message);
        assert!(context.lock_file("fresh").is_some());
    }
}

#[test]
fn json_reports_the_whole_run() {
    let (registry, context) = start();
    let lock = "lock -r --platform linux_amd64 --format json -q .";
    let outcome = context.run(lock).expect_code(1);
    let document = outcome.json();
    let statuses: Vec<(&str, &str)> = document["directories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|directory| {
            let text = |name: &str| directory[name].as_str().unwrap();
            (text("path"), text("status"))
        })
        .collect();
    let expected = [
        ("broken", "failed"),
        ("empty", "skipped"),
        ("fresh", "created"),
        ("moved", "updated"),
        ("right", "unchanged"),
    ];
    assert_eq!(statuses, expected);
    let diagnostic = &document["directories"][0]["diagnostics"][0];
    assert_eq!(diagnostic["code"], "no-matching-version");
    assert_eq!(diagnostic["file"], "broken/main.tf");
    assert_eq!(diagnostic["line"], 3);

    let moved = &document["directories"][3]["providers"][0];
    assert_eq!(moved["version"], json!({"old": "1.0.0", "new": "1.1.0"}));
    let package = registry.package("acme/anvil", "1.1.0", "linux_amd64");
    let h1 = json!({"hash": package.h1, "from": "package", "platform": "linux_amd64", "index_key": null});
    let zh = json!({"hash": package.zh, "from": "list", "platform": null, "index_key": null});
    let added = moved["hashes"]["added"].as_array().unwrap();
    assert!(added.contains(&h1) && added.contains(&zh), "{moved:#}");
    assert_eq!(moved["packages"][0]["signer"]["tier"], "self-signed");
    let right = &document["directories"][4]["providers"][0];
    assert_eq!(right["status"], "unchanged");
    assert_eq!(right["hashes"]["added"], json!([]));
}

#[test]
fn only_times_differ_between_runs_over_the_same_state() {
    let (_registry, context) = start();
    let run = || {
        let lock = "lock -r --platform linux_amd64 --format json --check --no-cache .";
        let outcome = context.run(lock).expect_code(1);
        let mut document = outcome.json();
        without_times(&mut document);
        document
    };
    assert_eq!(run(), run());
}

#[test]
fn github_gets_annotations_and_a_summary() {
    let (_registry, context) = start();
    let summary = context.path("summary.md");
    std::fs::write(&summary, "before\n").unwrap();
    let lock = "lock -r --platform linux_amd64 --format github --check .";
    let program = context
        .command(lock)
        .env("GITHUB_WORKSPACE", context.work().parent().unwrap())
        .env("GITHUB_STEP_SUMMARY", &summary);
    let outcome = program.run().expect_code(1);
    let commands: Vec<&str> = outcome.stdout.lines().collect();
    let expected = [
        "::error file=repository/broken/main.tf,line=3,col=5,endColumn=10,title=no-matching-version::\
cannot lock `registry.terraform.io/acme/anvil`%0Acaused by: no available releases match the constraints `~> 3.0`\
%0Ahint: the newest version that its registry lists is 1.1.0",
        "::error file=repository/fresh/.terraform.lock.hcl,title=lock-file-drift::\
lock file would be created%0Aacme/anvil 1.1.0%0Ahint: run the same command without `--check`, and commit the lock files",
        "::error file=repository/moved/.terraform.lock.hcl,line=4,col=1,endColumn=9,title=lock-file-drift::\
lock file would change%0Aacme/anvil 1.0.0 -> 1.1.0, constraints `1.0.0` -> `1.1.0`\
%0Ahint: run the same command without `--check`, and commit the lock files",
    ];
    assert_eq!(commands[..3], expected, "{outcome}");
    assert!(commands[3].starts_with("5 directories: 1 would be updated"));
    assert_eq!(outcome.stderr, "");
    let summary = context.read("summary.md");
    assert_starts(&summary, "before\n### tflock lock\n");
    assert!(summary.contains("- ❌ `moved/.terraform.lock.hcl:4:1`: lock file would change<br>"));
}

#[test]
fn sarif_names_rules_and_places() {
    let (_registry, context) = start();
    let lock = "lock -r --platform linux_amd64 --format sarif --check .";
    let outcome = context.run(lock).expect_code(1);
    let run = outcome.json()["runs"][0].clone();
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap();
    let found: Vec<(&str, &str)> = results
        .iter()
        .map(|result| {
            let rule = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(rules[rule]["id"], result["ruleId"]);
            let location = &result["locations"][0]["physicalLocation"]["artifactLocation"];
            (
                result["ruleId"].as_str().unwrap(),
                location["uri"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [
        ("no-matching-version", "broken/main.tf"),
        ("lock-file-drift", "fresh/.terraform.lock.hcl"),
        ("lock-file-drift", "moved/.terraform.lock.hcl"),
    ];
    assert_eq!(found, expected);
}
