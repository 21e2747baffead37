//! Faults of networks, registries, mirrors and packages: each ends in the outcome that is stated here, in bounded time and
//! memory, and with a lock file that is either whole and right or as it was before.
//!
//! `cargo test --test it -- faults --nocapture` prints two tables, and the figures of `recovery`: `connections` and `bodies`, each at every kind of
//! request of a whole lock; `documents`, `proofs` and `archives`, which only a run of the program shows, with the time and
//! memory that it took.

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

/// No single fault may take longer than this on a busy machine, with timeouts of four seconds and waits that do not take place.
const MAX_TIME: Duration = Duration::from_secs(60);

/// Sites under test at the same time.
const AT_ONCE: usize = 32;

/// What should come of it. The text must be in the error.
#[derive(Clone, Copy)]
enum Expected {
    Locks,
    Fails(&'static str),
}

use Expected::{Fails, Locks};

/// How often a fault happens: to the first request only, or to all.
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

/// What the server does.
enum Rule {
    /// In the words of [`Misbehave::rule`].
    Words(&'static str),
    /// Answers with this text, as JSON.
    Answer(&'static str),
    Change(fn(Misbehave, Kind) -> Misbehave),
}

/// The outcome, which may depend on the kind of request.
enum Expectation {
    All(Expected),
    ByKind(fn(Kind) -> Expected),
}

/// A fault that happens to all requests.
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

/// What came of one fault at one kind of request.
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
