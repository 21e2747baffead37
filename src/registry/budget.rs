//! How much patience one run has with one host.
//!
//! Retries are for the odd failure. A host that is down would use all of them for every provider that lives there, minutes
//! in total; so each host has a purse of retries, refilled by its answers, and one that does not answer at all is not
//! asked again.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::registry::fault::Fault;

/// Retries that a host gets without having answered anything.
const FREE_RETRIES: u32 = 100;

/// Every so many answers buy one more retry: hosts that fail at random, up to one request in five, are borne with.
const ANSWERS_PER_RETRY: u32 = 5;

/// After so many requests in a row that got no answer in all their tries, the host counts as gone.
const FAILURES_UNTIL_GONE: u32 = 3;

/// The same for a host that has answered before: it may only be restarting.
const FAILURES_UNTIL_LOST: u32 = 10;

/// The state of all hosts of one run.
#[derive(Debug, Default)]
pub(super) struct Budget {
    hosts: Mutex<BTreeMap<String, Host>>,
}

#[derive(Debug, Default)]
struct Host {
    answers: u32,
    retries: u32,
    failures_in_a_row: u32,
    last: Option<Fault>,
}

impl Budget {
    /// The reason not to ask the host at all, if there is one.
    pub(super) fn verdict(&self, host: &str) -> Option<Fault> {
        self.with(host, |state| {
            let earlier = Box::new(state.last.clone()?);
            let limit = if state.answers == 0 {
                FAILURES_UNTIL_GONE
            } else {
                FAILURES_UNTIL_LOST
            };
            (state.failures_in_a_row >= limit).then(|| Fault::GivenUp {
                host: host.to_owned(),
                failures: state.failures_in_a_row,
                earlier,
            })
        })
    }

    /// Takes one retry from the host's purse, if one is left.
    pub(super) fn take_retry(&self, host: &str) -> bool {
        self.with(host, |state| {
            let granted =
                state.retries < FREE_RETRIES.saturating_add(state.answers / ANSWERS_PER_RETRY);
            state.retries += u32::from(granted);
            granted
        })
    }

    /// The host gave an answer, whatever it said.
    pub(super) fn answered(&self, host: &str) {
        self.with(host, |state| {
            state.answers = state.answers.saturating_add(1);
            state.failures_in_a_row = 0;
        });
    }

    /// A request to the host failed for good. Only silence speaks against the host itself.
    pub(super) fn failed(&self, host: &str, fault: &Fault) {
        if matches!(fault, Fault::Connect(_) | Fault::Timeout(_)) {
            self.with(host, |state| {
                state.failures_in_a_row += 1;
                state.last = Some(fault.clone());
            });
        }
    }

    fn with<T>(&self, host: &str, change: impl FnOnce(&mut Host) -> T) -> T {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        change(hosts.entry(host.to_owned()).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::fault::Cause;

    #[test]
    fn a_silent_host_is_given_up() {
        let budget = Budget::default();
        let silence = Fault::Connect(Cause::text("refused"));
        for _ in 0..FAILURES_UNTIL_GONE {
            assert!(budget.verdict("h").is_none());
            budget.failed("h", &silence);
        }
        assert!(matches!(
            budget.verdict("h"),
            Some(Fault::GivenUp { failures: 3, .. })
        ));
        assert!(budget.verdict("other").is_none());
        budget.answered("h");
        assert!(budget.verdict("h").is_none());
        for _ in 0..FAILURES_UNTIL_LOST {
            assert!(budget.verdict("h").is_none());
            budget.failed("h", &silence);
        }
        assert!(budget.verdict("h").is_some());
    }

    #[test]
    fn an_answer_is_no_silence() {
        let budget = Budget::default();
        for _ in 0..10 {
            budget.failed(
                "h",
                &Fault::Status {
                    status: 500,
                    is_page: false,
                },
            );
        }
        assert!(budget.verdict("h").is_none());
    }

    #[test]
    fn answers_refill_the_purse() {
        let budget = Budget::default();
        assert!((0..FREE_RETRIES).all(|_| budget.take_retry("h")));
        assert!(!budget.take_retry("h"));
        for _ in 0..ANSWERS_PER_RETRY {
            budget.answered("h");
        }
        assert!(budget.take_retry("h"));
        assert!(!budget.take_retry("h"));
    }
}
