//! hcl-edit decides on `src/syntax`: a file that it parses has the same blocks, labels, arguments and expressions for us.

mod exceptions;
mod generator;
mod judge;
mod ours;
mod outline;
mod recorded;

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use exceptions::EXCEPTIONS;

/// Both outlines of a file, where hcl-edit and our parser do not agree on it.
#[derive(Debug)]
struct Disagreement {
    judge: Result<String, String>,
    ours: Result<String, String>,
}

/// What hcl-edit makes of a file.
enum Judgment {
    /// It refuses the file.
    Refused(Disagreement),
    /// It parses the file, and we read the same.
    Same,
    /// It parses the file, and we refuse it or read something else.
    Different(Disagreement),
}

fn judge(text: &str) -> Judgment {
    let both = Disagreement {
        judge: judge::outline(text),
        ours: ours::outline(text),
    };
    match (&both.judge, &both.ours) {
        (Err(_), _) => Judgment::Refused(both),
        (judge, ours) if judge == ours => Judgment::Same,
        _ => Judgment::Different(both),
    }
}

/// The same files in every run: an unknown way to disagree must not fail a change that has nothing to do with it.
fn runner(cases: u32) -> TestRunner {
    let config = Config {
        failure_persistence: None,
        ..Config::with_cases(cases)
    };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

/// No exception is allowed here but one: hcl-edit refuses objects with two equal keys.
#[test]
fn proper_files_have_the_same_structure() {
    let result = runner(1_500).run(&generator::proper(), |text| {
        match judge(&text) {
            Judgment::Same => {}
            Judgment::Refused(both) if exceptions::is_repeated_key(&both) => {}
            Judgment::Refused(both) | Judgment::Different(both) => {
                return Err(TestCaseError::fail(format!("{text}\n{both:#?}")));
            }
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn damaged_files_that_hcl_edit_parses_have_the_same_structure() {
    const FILES: u32 = 4_000;
    let (same, excepted) = (Cell::new(0), Cell::new(0));
    let result = runner(FILES).run(&generator::damaged(), |text| {
        match judge(&text) {
            Judgment::Refused(_) => {}
            Judgment::Same => same.set(same.get() + 1),
            Judgment::Different(both) => {
                let is_known = EXCEPTIONS
                    .iter()
                    .any(|exception| exception.applies(&text, &both));
                prop_assert!(is_known, "{}\n{:#?}", text, both);
                excepted.set(excepted.get() + 1);
            }
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    assert!(same.get() > FILES / 8, "{} files are the same", same.get());
    assert!(
        excepted.get() < FILES / 100,
        "{} exceptions",
        excepted.get()
    );
}
