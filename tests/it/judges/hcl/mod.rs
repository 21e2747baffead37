//! Compares `src/syntax` with hcl-edit: both must find the same blocks, labels, arguments and expressions in every file
//! that hcl-edit accepts.

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

/// The outlines of a file, one from each parser.
#[derive(Debug)]
struct Disagreement {
    judge: Result<String, String>,
    ours: Result<String, String>,
}

/// The result of the comparison.
enum Judgment {
    /// hcl-edit rejects the file.
    Refused(Disagreement),
    /// Both parsers accept the file and agree on its structure.
    Same,
    /// hcl-edit accepts the file, but tflock rejects it or finds a different structure.
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

/// Returns a test runner with a fixed seed. With a random seed, an unknown difference could fail an unrelated change.
fn runner(cases: u32) -> TestRunner {
    let config = Config {
        failure_persistence: None,
        ..Config::with_cases(cases)
    };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

/// The only permitted difference is that hcl-edit rejects objects with duplicate keys.
#[test]
fn valid_files_have_the_same_structure() {
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
    assert!(same.get() > FILES / 8, "{} files agree", same.get());
    assert!(
        excepted.get() < FILES / 100,
        "{} files are exceptions",
        excepted.get()
    );
}
