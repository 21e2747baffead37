//! Concurrent runs do not overwrite each other's changes.

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use tflock_test_support::{FakeRegistry, Outcome, ProviderSpec, TestContext};

use crate::TFLOCK;

const PLATFORMS: [&str; 3] = ["linux_amd64", "darwin_arm64", "windows_amd64"];

const FILES: usize = 40;
const ROUNDS: usize = 5;

/// Creates a repository of directories that require one provider.
fn laid_out(registry: &mut FakeRegistry) -> TestContext {
    registry.publish(ProviderSpec::new("acme/anvil").versions(["1.0.0"]));
    let context = TestContext::new(TFLOCK, registry);
    fs::create_dir(context.path(".git")).unwrap();
    for number in 0..FILES {
        context.require(&directory(number), &[("acme/anvil", "1.0.0")]);
    }
    context
}

fn directory(number: usize) -> String {
    format!("stacks/{number}")
}

fn lock_files(context: &TestContext) -> BTreeMap<usize, Option<String>> {
    let read = |number| (number, context.lock_file(&directory(number)));
    (0..FILES).map(read).collect()
}

/// Starts one run per platform, all at the same time.
fn run_together(context: &TestContext) -> Vec<Outcome> {
    let run = |platform| context.tflock(["lock", "-r", "--platform", platform, "."]);
    let programs = PLATFORMS.map(run);
    thread::scope(|scope| {
        let running = programs.map(|program| scope.spawn(|| program.run()));
        running.map(|run| run.join().unwrap()).into()
    })
}

#[test]
fn runs_for_different_platforms_keep_the_hashes_of_each_other() {
    let mut registry = FakeRegistry::start();
    let context = laid_out(&mut registry);
    let platforms = PLATFORMS.join(",");
    let all = context.tflock(["lock", "-r", "--platform", &platforms, "."]);
    all.run().expect_success();
    let expected = lock_files(&context);
    let old = "provider \"registry.terraform.io/acme/anvil\" {\n  version = \"1.0.0\"\n  constraints = \"1.0.0\"\n}\n";
    for round in 0..ROUNDS {
        for number in 0..FILES {
            // In even rounds, the runs create the lock files. In odd rounds, they replace them.
            if round % 2 == 0 {
                fs::remove_file(context.path(&directory(number)).join(".terraform.lock.hcl"))
                    .unwrap();
            } else {
                context.write_lock_file(&directory(number), old);
            }
        }
        for outcome in run_together(&context) {
            outcome.expect_success();
        }
        let found = lock_files(&context);
        let lost = found
            .iter()
            .filter(|(number, text)| expected[number] != **text);
        assert_eq!(lost.count(), 0, "hashes are missing in round {round}");
    }
    for number in 0..FILES {
        let names = context.list(&directory(number));
        assert_eq!(names, [".terraform.lock.hcl", "main.tf"]);
    }
}

/// A process that holds the lock of a directory delays only the runs that write to that directory.
#[cfg(unix)]
#[test]
fn a_lock_that_is_never_released_fails_the_directory_by_name() {
    let mut registry = FakeRegistry::start();
    let context = laid_out(&mut registry);
    let held = fs::File::open(context.path("stacks/7")).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let started = Instant::now();
    let outcome = context.run("lock -r --platform linux_amd64 .");
    assert!(started.elapsed() < Duration::from_secs(30));
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let error = "cannot write lock file `stacks/7/.terraform.lock.hcl`: another process has locked its directory";
    assert!(outcome.stderr.contains(error), "{outcome:?}");
    let written = lock_files(&context);
    let missing: Vec<_> = written.iter().filter(|(_, text)| text.is_none()).collect();
    assert_eq!(missing, [(&7, &None)]);
    // Neither runs without changes nor runs with `--check` wait for the lock.
    for arguments in [
        &["lock", "--check", "stacks/7"][..],
        &["lock", "-r", "--check", "--ignore-path", "stacks/7", "."],
    ] {
        let started = Instant::now();
        context.tflock(arguments.iter().copied()).run();
        assert!(started.elapsed() < Duration::from_secs(5), "{arguments:?}");
    }
    drop(held);
    let outcome = context.run("lock --platform linux_amd64 stacks/7");
    outcome.expect_success();
}
