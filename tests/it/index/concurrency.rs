//! Runs on many machines fill an empty index at the same time. They need no locks, because a record is created once and never changed.

use std::thread;

use tflock_test_support::{FakeRegistry, Outcome, Program, ProviderSpec, TestContext};

use super::s3::{S3Server, SECRET_KEY};
use super::{IndexFixture, LOCK, PLATFORMS, start, warnings};
use crate::TFLOCK;

const RUNNERS: usize = 8;
const PROVIDERS: [&str; 4] = ["acme/anvil", "acme/bolt", "acme/clamp", "acme/drill"];
const RECORDS: usize = PROVIDERS.len() * PLATFORMS.len();

/// Rounds in each test. `TFLOCK_TEST_ROUNDS` overrides it.
const ROUNDS: usize = 3;

fn rounds() -> usize {
    let rounds = std::env::var("TFLOCK_TEST_ROUNDS").ok();
    rounds.map_or(ROUNDS, |text| text.parse().unwrap())
}

/// A registry, a machine for each runner, and the lock file that all runners must write.
struct Runners {
    registry: FakeRegistry,
    machines: Vec<TestContext>,
    expected: String,
}

impl Runners {
    fn start() -> Self {
        let mut registry = FakeRegistry::start();
        for name in PROVIDERS {
            registry.publish(ProviderSpec::new(name).platforms(PLATFORMS));
        }
        let required = PROVIDERS.map(|name| (name, ""));
        let machine = |_| {
            let context = TestContext::new(TFLOCK, &registry);
            context.require("a", &required);
            context
        };
        let machines: Vec<_> = (0..RUNNERS).map(machine).collect();
        machines[0].run(&format!("{LOCK} a")).expect_success();
        let expected = machines[0].lock_file("a").unwrap();
        Self {
            registry,
            machines,
            expected,
        }
    }

    /// Runs `lock` on all machines at the same time.
    fn lock(&self, options: &str, configure: impl Fn(Program) -> Program) -> Vec<Outcome> {
        self.registry.log().clear();
        let program = |machine: &TestContext| {
            if machine.lock_file("a").is_some() {
                machine.remove_lock_file("a");
            }
            configure(machine.command(&format!("{LOCK} a {options}")))
        };
        let programs: Vec<_> = self.machines.iter().map(program).collect();
        let run = |program: Program| program.run().expect_success();
        let outcomes: Vec<_> = thread::scope(|scope| {
            let running: Vec<_> = programs
                .into_iter()
                .map(|program| scope.spawn(move || run(program)))
                .collect();
            running.into_iter().map(|run| run.join().unwrap()).collect()
        });
        for (machine, outcome) in self.machines.iter().zip(&outcomes) {
            let lock_file = machine.lock_file("a");
            assert_eq!(lock_file.as_ref(), Some(&self.expected), "{outcome}");
            assert_eq!(warnings(outcome), 0, "{outcome}");
        }
        outcomes
    }

    /// Fills the empty index and checks all of its records. Returns how many the runs created together.
    fn fill(&self, configure: impl Fn(Program) -> Program) -> usize {
        let pushed = self.lock("--index-push", &configure);
        self.lock("--no-download", &configure);
        assert_eq!(self.registry.log().count("GET", "*.zip"), 0);
        self.lock("--index-audit 100", &configure);
        pushed.iter().map(added).sum()
    }
}

/// Returns the number of records that a run added.
fn added(outcome: &Outcome) -> usize {
    let line = outcome
        .stdout
        .lines()
        .find(|line| line.starts_with("added "));
    let number = line.and_then(|line| line.split(' ').nth(1));
    number.map_or(0, |number| number.parse().unwrap())
}

fn with_keys(program: Program, fixture: &IndexFixture) -> Program {
    let program = program.env("TFLOCK_INDEX_SIGNING_KEY", fixture.signer.secret_text());
    program.env("TFLOCK_INDEX_KEYS", fixture.signer.verifier().to_string())
}

#[test]
fn runners_fill_a_directory_at_the_same_time() {
    let runners = Runners::start();
    for _ in 0..rounds() {
        let fixture = start();
        let configure =
            |program: Program| with_keys(program.env("TFLOCK_INDEX", fixture.url()), &fixture);
        assert_eq!(runners.fill(configure), RECORDS, "each is created once");
        let files = walkdir::WalkDir::new(fixture.directory()).into_iter();
        let files = files.filter(|entry| entry.as_ref().unwrap().file_type().is_file());
        assert_eq!(files.count(), RECORDS, "no temporary file is left");
    }
}

/// The server in this test creates an object in two steps, so that two runners can both believe that they created it.
#[test]
fn runners_fill_a_bucket_at_the_same_time() {
    let runners = Runners::start();
    for _ in 0..rounds() {
        let (fixture, server) = (start(), S3Server::start());
        let configure =
            |program: Program| with_keys(server.configure(program, SECRET_KEY), &fixture);
        assert!(runners.fill(configure) >= RECORDS);
    }
}
