//! A run killed at any time leaves each lock file unchanged or complete. The next run removes temporary files.

use std::thread;
use std::time::{Duration, Instant};

use tflock_test_support::{FakeRegistry, ProviderSpec, TestContext};

use crate::TFLOCK;

/// The number of runs that are killed, at times spread evenly over the duration of a complete run.
const MOMENTS: u32 = 20;

/// The number of directories: large enough for some of the kills to happen while lock files are written.
const DIRECTORIES: usize = 200;

const ARGUMENTS: [&str; 5] = ["lock", "-r", "--platform", "linux_amd64,darwin_arm64", "."];

/// Resets the lock files of all directories to a version that no longer satisfies the constraints.
fn reset(context: &TestContext, old: &str) {
    for number in 0..DIRECTORIES {
        context.write_lock_file(&format!("stacks/{number}"), old);
    }
}

/// Runs tflock to completion and returns the duration.
fn finish(context: &TestContext) -> Duration {
    let start = Instant::now();
    context.tflock(ARGUMENTS).run().expect_success();
    start.elapsed()
}

#[test]
fn a_killed_run_leaves_old_or_new_lock_files() {
    let mut registry = FakeRegistry::start();
    registry.publish(
        ProviderSpec::new("acme/anvil")
            .versions(["1.0.0", "2.0.0"])
            .payload(200_000),
    );
    let context = TestContext::new(TFLOCK, &registry);
    for number in 0..DIRECTORIES {
        context.require(&format!("stacks/{number}"), &[("acme/anvil", "1.0.0")]);
    }
    finish(&context);
    let old = context.lock_file("stacks/0").unwrap();
    for number in 0..DIRECTORIES {
        context.require(&format!("stacks/{number}"), &[("acme/anvil", "2.0.0")]);
    }
    let whole = finish(&context);
    let new = context.lock_file("stacks/0").unwrap();
    assert_ne!(old, new);

    for moment in 0..MOMENTS {
        reset(&context, &old);
        let mut child = context.tflock(ARGUMENTS).spawn();
        thread::sleep(whole * moment / MOMENTS);
        child.kill().unwrap();
        child.wait().unwrap();
        for number in 0..DIRECTORIES {
            let found = context.lock_file(&format!("stacks/{number}")).unwrap();
            assert!(
                found == old || found == new,
                "moment {moment}, stacks/{number}:\n{found}"
            );
        }
    }

    finish(&context);
    for number in 0..DIRECTORIES {
        let directory = format!("stacks/{number}");
        assert_eq!(
            context.list(&directory),
            [".terraform.lock.hcl", "main.tf"],
            "{directory}"
        );
        assert_eq!(context.lock_file(&directory).unwrap(), new, "{directory}");
    }
}
