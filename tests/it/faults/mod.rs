//! Faults in networks, registries, mirrors and packages. Each fault must lead to the stated result, within a bounded
//! time and with bounded memory. The lock file is either complete and correct, or unchanged.
//!
//! `cargo test --test it -- faults --nocapture` prints two tables and the figures of `recovery`. The first table shows
//! the faults of `connections` and `bodies` for each kind of request. The second shows the faults of `documents`,
//! `proofs` and `archives`, with the time and memory of a complete run for each.

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
use tflock_test_support::{Misbehave, TestAuthority, table};

use site::{KINDS, LockedSite, RequestKind};

/// The time limit for a single fault on a busy machine, with timeouts of four seconds and no pauses between attempts.
const MAX_TIME: Duration = Duration::from_secs(60);

/// The maximum number of sites tested concurrently.
const AT_ONCE: usize = 32;

/// A fault in the responses to one kind of request.
struct Fault {
    name: &'static str,
    /// Whether only the first response is faulty.
    once: bool,
    /// A rule in the syntax of [`Misbehave::rule`], `json=` followed by the response body, or `@` followed by the name
    /// of a change in `connections` or `bodies`.
    rule: &'static str,
    /// `locks`, a part of the error, or `@` followed by the name of a result in `connections` or `bodies`.
    result: &'static str,
}

fn faults() -> Vec<Fault> {
    let rows = [connections::FAULTS, bodies::FAULTS].map(table).concat();
    let fault = |[name, times, rule, result]: [&'static str; 4]| Fault {
        name,
        once: times == "once",
        rule,
        result,
    };
    rows.into_iter().map(fault).collect()
}

impl Fault {
    fn rule(&self, kind: RequestKind) -> Misbehave {
        let rule = Misbehave::on(kind.path());
        let rule = if let Some(text) = self.rule.strip_prefix("json=") {
            rule.respond(bodies::json(text))
        } else if let Some(name) = self.rule.strip_prefix('@') {
            let change = connections::change(name, rule.clone());
            let change = change.or_else(|| bodies::change(name, rule, kind));
            change.unwrap_or_else(|| panic!("no change is named `{name}`"))
        } else {
            rule.rule(self.rule)
        };
        if self.once { rule.times(1) } else { rule }
    }

    /// Returns the expected result for this kind of request: `locks`, or a part of the error.
    fn result(&self, kind: RequestKind) -> &'static str {
        let rows = [connections::RESULTS, bodies::RESULTS].map(table).concat();
        let mut result = self.result;
        while let Some(name) = result.strip_prefix('@') {
            let applies = |kinds: &str| kinds == "*" || kinds.split(' ').any(|word| kind.is(word));
            let mut rows = rows.iter();
            let row = rows.find(|[result, kinds, _]| *result == name && applies(kinds));
            result = row.unwrap_or_else(|| panic!("no result is named `{name}`"))[2];
        }
        result
    }
}

/// The result of one fault in the responses to one kind of request.
struct TriedFault<'a> {
    fault: &'a Fault,
    kind: RequestKind,
    found: String,
    time: Duration,
}

impl TriedFault<'_> {
    fn is_right(&self) -> bool {
        let is_right = match self.fault.result(self.kind) {
            "locks" => self.found == "locked",
            text => self.found.contains(text),
        };
        is_right && self.time < MAX_TIME
    }

    fn line(&self) -> String {
        let times = if self.fault.once { "once" } else { "ever" };
        let reason = self.found.rsplit(": ").next().unwrap_or_default();
        format!(
            "{:<28} {times} {:<10} {:5.2} s  {reason}",
            self.fault.name,
            format!("{:?}", self.kind),
            self.time.as_secs_f64()
        )
    }
}

async fn try_fault<'a>(
    authority: &TestAuthority,
    fault: &'a Fault,
    kind: RequestKind,
) -> TriedFault<'a> {
    let site = LockedSite::start(authority);
    site.misbehave(kind, fault.rule(kind));
    let started = Instant::now();
    let found = site.lock(kind).await;
    TriedFault {
        fault,
        kind,
        found,
        time: started.elapsed(),
    }
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::print_stderr, reason = "developers read the table")]
async fn every_fault_at_every_request() {
    let authority = TestAuthority::create();
    let faults = faults();
    let all = faults
        .iter()
        .flat_map(|fault| KINDS.map(|kind| (fault, kind)));
    let tries = all.map(|(fault, kind)| try_fault(&authority, fault, kind));
    let outcomes = futures_util::stream::iter(tries).buffered(AT_ONCE);
    let outcomes: Vec<TriedFault<'_>> = outcomes.collect().await;
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
