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

/// One fault: its name, how often it happens, what the server does, and the outcome by kind of request.
struct Fault {
    name: &'static str,
    times: Times,
    rule: fn(Misbehave, Kind) -> Misbehave,
    expected: fn(Kind) -> Expected,
}

const fn fault(
    name: &'static str,
    times: Times,
    rule: fn(Misbehave, Kind) -> Misbehave,
    expected: fn(Kind) -> Expected,
) -> Fault {
    Fault {
        name,
        times,
        rule,
        expected,
    }
}

/// What came of one fault at one kind of request.
struct Tried {
    fault: &'static Fault,
    kind: Kind,
    found: String,
    time: Duration,
}

impl Tried {
    fn is_right(&self) -> bool {
        let right = match (self.fault.expected)(self.kind) {
            Locks => self.found == "locked",
            Fails(text) => self.found.contains(text),
        };
        right && self.time < MAX_TIME
    }

    fn line(&self) -> String {
        let times = if self.fault.times == Once {
            "once"
        } else {
            "ever"
        };
        let reason = self.found.rsplit(": ").next().unwrap_or_default();
        format!(
            "{:<28} {times} {:<10} {:5.2} s  {reason}",
            self.fault.name,
            format!("{:?}", self.kind),
            self.time.as_secs_f64()
        )
    }
}

async fn try_fault(authority: &TestAuthority, fault: &'static Fault, kind: Kind) -> Tried {
    let site = Site::start(authority);
    let rule = (fault.rule)(Misbehave::on(kind.path()), kind);
    site.registry.misbehave(match fault.times {
        Once => rule.times(1),
        Ever => rule,
    });
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
    let faults = || connections::FAULTS.iter().chain(bodies::FAULTS);
    let all = faults().flat_map(|fault| KINDS.map(|kind| (fault, kind)));
    let tries = all.map(|(fault, kind)| try_fault(&authority, fault, kind));
    let outcomes: Vec<Tried> = futures_util::stream::iter(tries)
        .buffered(AT_ONCE)
        .collect()
        .await;
    let (mut table, mut wrong) = (String::new(), String::new());
    for one in &outcomes {
        writeln!(table, "{}", one.line()).unwrap();
        if !one.is_right() {
            writeln!(wrong, "{}\n    {}", one.line(), one.found).unwrap();
        }
    }
    let slowest = outcomes
        .iter()
        .map(|one| one.time)
        .max()
        .unwrap_or_default();
    eprintln!(
        "{table}{} faults at {} requests, {} outcomes, the slowest after {:.1} s",
        faults().count(),
        KINDS.len(),
        outcomes.len(),
        slowest.as_secs_f64()
    );
    assert!(wrong.is_empty(), "\n{wrong}");
}
