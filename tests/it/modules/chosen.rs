//! A run reports when a lock file changes because of a new module version, even in directories without `init`.

use std::fs;

use serde_json::Value;
use tflock_test_support::{FakeRegistry, ProviderSpec, TestContext, assert_contains};

use super::binary::{call, publish_module, requiring, with_modules};
use crate::TFLOCK;

const LOCK: &str = "lock --platform linux_amd64 a";

/// Locks a root module while its module is at 3.1.0. The module is then published at 3.2.0 and requires a different
/// provider version.
fn start(version: &str) -> (FakeRegistry, TestContext) {
    let mut registry = FakeRegistry::start();
    registry.publish(ProviderSpec::new("acme/anvil").versions(["1.0.0", "2.0.0"]));
    let context = TestContext::new(TFLOCK, &registry);
    context.set_cli_config(&with_modules(&registry));
    context.write(
        "a/main.tf",
        call("vpc", "modules.test/acme/vpc/any", version),
    );
    publish(&registry, "3.1.0", "~> 1.0");
    run(&context, LOCK, 0);
    publish(&registry, "3.2.0", "~> 2.0");
    (registry, context)
}

fn publish(registry: &FakeRegistry, version: &str, provider: &str) {
    let text = requiring("acme/anvil", provider);
    publish_module(registry, "acme/vpc/any", version, &[("main.tf", &text)]);
}

#[track_caller]
fn run(context: &TestContext, arguments: &str, code: i32) -> String {
    context.run(arguments).expect_code(code).stdout
}

/// Returns the `moved_modules` field of the only directory in the JSON report.
fn moved(context: &TestContext, arguments: &str, code: i32) -> Value {
    let outcome = context.run(&format!("{arguments} --format json"));
    outcome.expect_code(code).json()["directories"][0]["moved_modules"].clone()
}

const MOVED: &str = "module vpc 3.1.0 -> 3.2.0";

#[test]
fn a_new_module_version_is_reported_until_the_lock_file_is_updated() {
    let (_registry, context) = start(">= 3.0");
    // A check changes nothing, so the second check reports the same.
    for _ in 0..2 {
        let text = run(&context, &format!("{LOCK} --check"), 3);
        for part in ["acme/anvil 1.0.0 -> 2.0.0", MOVED] {
            assert_contains(&text, part);
        }
    }
    let expected = serde_json::json!([{
        "call": "vpc",
        "version": { "old": "3.1.0", "new": "3.2.0" },
    }]);
    assert_eq!(moved(&context, &format!("{LOCK} --check"), 3), expected);
    let text = run(&context, LOCK, 0);
    assert!(text.contains(MOVED), "{text}");
    assert_eq!(moved(&context, LOCK, 0), Value::Array(Vec::new()));
}

/// Makes a change between two runs.
type Arrange = fn(&FakeRegistry, &TestContext);

#[test]
fn unknown_module_versions_are_not_reported() {
    let cases: [(&str, &str, Arrange); 4] = [
        (
            "an exact version, which changes only with a commit",
            "3.1.0",
            |_, context| {
                context.write(
                    "a/main.tf",
                    call("vpc", "modules.test/acme/vpc/any", "3.2.0"),
                );
            },
        ),
        (
            "another module under the same name",
            ">= 3.0",
            |registry, context| {
                let text = requiring("acme/anvil", "~> 2.0");
                publish_module(registry, "acme/net/any", "3.2.0", &[("main.tf", &text)]);
                context.write(
                    "a/main.tf",
                    call("vpc", "modules.test/acme/net/any", ">= 3.0"),
                );
            },
        ),
        ("records that a crash truncated", ">= 3.0", |_, context| {
            for entry in fs::read_dir(context.cache().join("v1/modules")).unwrap() {
                let path = entry.unwrap().path();
                if path.is_file() {
                    let bytes = fs::read(&path).unwrap();
                    fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
                }
            }
        }),
        ("a deleted cache", ">= 3.0", |_, context| {
            fs::remove_dir_all(context.cache().join("v1")).unwrap();
        }),
    ];
    for (what, version, arrange) in cases {
        let (registry, context) = start(version);
        arrange(&registry, &context);
        let text = run(&context, LOCK, 0);
        assert!(text.contains("acme/anvil 1.0.0 -> 2.0.0"), "{what}: {text}");
        assert!(!text.contains("module vpc"), "{what}: {text}");
    }
}

#[test]
fn roots_without_such_modules_leave_no_record() {
    let registry = FakeRegistry::with(ProviderSpec::new("acme/anvil"));
    let context = TestContext::new(TFLOCK, &registry);
    context.require("a", &[("acme/anvil", "1.0.0")]);
    run(&context, LOCK, 0);
    assert!(!context.cache().join("v1/modules").exists());
}
