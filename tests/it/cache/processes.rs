//! Many processes that share one cache and one tree neither block each other nor damage each other's files.

use std::thread;

use tflock_test_support::{FakeRegistry, ProviderSpec, TestContext};

use super::{NOTHING, entries, request_counts};
use crate::TFLOCK;

const PROCESSES: usize = 8;
const DIRECTORIES: usize = 200;
const ARGUMENTS: [&str; 5] = ["lock", "-r", "--platform", "linux_amd64,darwin_arm64", "."];

/// Creates a tree whose directories require three providers in different versions.
fn tree() -> (FakeRegistry, TestContext) {
    let mut registry = FakeRegistry::start();
    for source in ["acme/anvil", "acme/bolt", "acme/vise"] {
        let spec = ProviderSpec::new(source).versions(["1.0.0", "1.1.0"]);
        registry.publish(spec.payload(50_000));
    }
    let context = TestContext::new(TFLOCK, &registry);
    for number in 0..DIRECTORIES {
        let pin = if number % 2 == 0 { "1.0.0" } else { "~> 1.0" };
        let providers = [
            ("acme/anvil", pin),
            ("acme/bolt", "~> 1.0"),
            ("acme/vise", pin),
        ];
        context.require(&format!("stacks/{number:03}"), &providers);
    }
    (registry, context)
}

/// Returns the expected lock files of the two kinds of directories, written by one process without a cache.
fn expected(context: &TestContext) -> [String; 2] {
    let run = context.tflock(ARGUMENTS).arg("--no-cache").run();
    run.expect_success();
    let locked = [0, 1].map(|number| context.lock_file(&format!("stacks/{number:03}")).unwrap());
    for number in 0..DIRECTORIES {
        std::fs::remove_file(context.path(&format!("stacks/{number:03}/.terraform.lock.hcl")))
            .unwrap();
    }
    locked
}

fn run_all_at_once(context: &TestContext) {
    thread::scope(|scope| {
        for _ in 0..PROCESSES {
            scope.spawn(|| context.tflock(ARGUMENTS).run().expect_success());
        }
    });
}

fn check(context: &TestContext, expected: &[String; 2]) {
    for number in 0..DIRECTORIES {
        let directory = format!("stacks/{number:03}");
        assert_eq!(
            context.lock_file(&directory).unwrap(),
            expected[number % 2],
            "{directory}"
        );
        assert_eq!(context.list(&directory), [".terraform.lock.hcl", "main.tf"]);
    }
}

#[test]
fn eight_processes_share_a_cache_and_a_tree() {
    let (registry, context) = tree();
    let expected = expected(&context);
    run_all_at_once(&context);
    check(&context, &expected);
    // Versions 1.0.0 and 1.1.0 of two providers and 1.1.0 of the third, for two platforms each.
    for kind in ["hashes", "answers"] {
        assert_eq!(
            entries(&context, kind).len(),
            10,
            "{kind}: exactly the expected entries"
        );
    }
    request_counts(&registry);
    run_all_at_once(&context);
    check(&context, &expected);
    assert_eq!(request_counts(&registry), NOTHING, "every entry is valid");
}

#[test]
fn a_cache_may_be_cleaned_at_any_time() {
    let (_registry, context) = tree();
    let expected = expected(&context);
    thread::scope(|scope| {
        let runs: Vec<_> = (0..PROCESSES)
            .map(|_| scope.spawn(|| context.tflock(ARGUMENTS).run().expect_success()))
            .collect();
        while runs.iter().any(|run| !run.is_finished()) {
            context.run("cache clean").expect_success();
        }
        for run in runs {
            assert_eq!(run.join().unwrap().stderr, "");
        }
    });
    check(&context, &expected);
}
