//! Faults of networks, registries, mirrors and packages. Each has the result that is stated here, within a bounded time
//! and with bounded memory. The lock file is either complete and correct or unchanged.
//!
//! `cargo test --test it -- faults --nocapture` prints two tables and the figures of `recovery`. The first table has
//! `connections` and `bodies` for each kind of request of a lock. The second has `documents`, `proofs` and `archives`,
//! which need a run of the program, with the time and memory of each run.

mod archives;
mod bodies;
mod connections;
mod documents;
mod proofs;
mod recovery;
mod site;
mod whole;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use tflock_test_support::{Misbehave, TestAuthority};

use site::{KINDS, Kind, Site};

/// The limit for a single fault on a busy machine, with timeouts of four seconds and without pauses between attempts.
const MAX_TIME: Duration = Duration::from_secs(60);

/// The number of sites that are tested at the same time.
const AT_ONCE: usize = 32;

/// The expected result. An error must contain the text.
#[derive(Clone, Copy)]
enum Expected {
    Locks,
    Fails(&'static str),
}

use Expected::{Fails, Locks};

/// How often a fault happens: for the first request only, or for all.
#[derive(Clone, Copy, PartialEq)]
enum Times {
    Once,
    Ever,
}

use Times::{Ever, Once};

/// One fault: its name, how often it happens, what the server does, and the outcome.
struct Fault {
    name: &'static str,
    times: Times,
    rule: Rule,
    expected: Expectation,
}

/// The behavior of the server.
enum Rule {
    /// A rule in the syntax of [`Misbehave::rule`].
    Words(&'static str),
    /// The server responds with this JSON text.
    Answer(&'static str),
    Change(fn(Misbehave, Kind) -> Misbehave),
}

/// The expected result, which may depend on the kind of request.
enum Expectation {
    All(Expected),
    ByKind(fn(Kind) -> Expected),
}

/// A fault of all requests.
fn fault(
    name: &'static str,
    rule: fn(Misbehave, Kind) -> Misbehave,
    expected: fn(Kind) -> Expected,
) -> Fault {
    Fault {
        name,
        times: Ever,
        rule: Rule::Change(rule),
        expected: Expectation::ByKind(expected),
    }
}

impl Fault {
    fn rule(&self, kind: Kind) -> Misbehave {
        let rule = Misbehave::on(kind.path());
        let rule = match self.rule {
            Rule::Words(words) => rule.rule(words),
            Rule::Answer(text) => rule.respond(bodies::json(text)),
            Rule::Change(change) => change(rule, kind),
        };
        match self.times {
            Once => rule.times(1),
            Ever => rule,
        }
    }

    fn expected(&self, kind: Kind) -> Expected {
        match self.expected {
            Expectation::All(expected) => expected,
            Expectation::ByKind(expected) => expected(kind),
        }
    }
}

/// The result of one fault at one kind of request.
struct Tried<'a> {
    fault: &'a Fault,
    kind: Kind,
    found: String,
    time: Duration,
}

impl Tried<'_> {
    fn is_right(&self) -> bool {
        let right = match self.fault.expected(self.kind) {
            Locks => self.found == "locked",
            Fails(text) => self.found.contains(text),
        };
        right && self.time < MAX_TIME
    }

    fn line(&self) -> String {
        let is_once = self.fault.times == Once;
        let times = if is_once { "once" } else { "ever" };
        let reason = self.found.rsplit(": ").next().unwrap_or_default();
        format!(
            "{:<28} {times} {:<10} {:5.2} s  {reason}",
            self.fault.name,
            format!("{:?}", self.kind),
            self.time.as_secs_f64()
        )
    }
}

async fn try_fault<'a>(authority: &TestAuthority, fault: &'a Fault, kind: Kind) -> Tried<'a> {
    let site = Site::start(authority);
    site.registry.misbehave(fault.rule(kind));
    let started = Instant::now();
    let found = site.lock(kind).await;
    Tried {
        fault,
        kind,
        found,
        time: started.elapsed(),
    }
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::print_stderr, reason = "the table is for people")]
async fn every_fault_at_every_request() {
    let authority = TestAuthority::create();
    let mut faults = connections::faults();
    faults.extend(bodies::faults());
    let all = faults
        .iter()
        .flat_map(|fault| KINDS.map(|kind| (fault, kind)));
    let tries = all.map(|(fault, kind)| try_fault(&authority, fault, kind));
    let outcomes = futures_util::stream::iter(tries).buffered(AT_ONCE);
    let outcomes: Vec<Tried<'_>> = outcomes.collect().await;
    let (mut table, mut wrong) = (String::new(), String::new());
    for one in &outcomes {
        writeln!(table, "{}", one.line()).unwrap();
        if !one.is_right() {
            writeln!(wrong, "{}\n    {}", one.line(), one.found).unwrap();
        }
    }
    let slowest = outcomes.iter().map(|one| one.time).max();
    eprintln!(
        "{table}{} faults at {} requests, {} outcomes, the slowest after {:.1} s",
        faults.len(),
        KINDS.len(),
        outcomes.len(),
        slowest.unwrap_or_default().as_secs_f64()
    );
    assert!(wrong.is_empty(), "\n{wrong}");
}
