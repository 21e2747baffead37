//! Tests of the generator, and a small comparison with the `terraform` on PATH.

use super::case::{CaseKind, Operation, ToolEngine};
use super::evaluation::evaluate;
use super::site::CompareSite;
use super::source_text::{CaseFile, Literal, Node};
use super::values;
use super::verdict::{Verdict, judge};
use tflock_test_support::terraform_on_path;

/// Cases without a known difference, in which all releases of Terraform agree.
const AGREEING: [(CaseKind, u64); 2] = [(CaseKind::Locks, 10), (CaseKind::Constraints, 10)];

const DIRECTORY_KINDS: [CaseKind; 5] = [
    CaseKind::Roots,
    CaseKind::Locks,
    CaseKind::Constraints,
    CaseKind::Sources,
    CaseKind::Variables,
];

/// Returns the text of a case.
fn case_text(kind: CaseKind, seed: u64, number: u64) -> String {
    let case = kind.generate(seed, number, ToolEngine::Tofu);
    format!(
        "{:?} {:?} {:?}",
        case.contents().collect::<Vec<_>>(),
        case.versions,
        case.values
    )
}

#[test]
fn seed_kind_and_number_determine_a_case() {
    for kind in DIRECTORY_KINDS {
        assert_eq!(case_text(kind, 1, 7), case_text(kind, 1, 7));
        assert_ne!(case_text(kind, 1, 7), case_text(kind, 1, 8));
        assert_ne!(case_text(kind, 1, 7), case_text(kind, 2, 7));
    }
    assert_eq!(values::generate(1, 7), values::generate(1, 7));
}

#[test]
fn terraform_and_tflock_agree_on_twenty_cases() {
    if terraform_on_path().is_none() {
        return;
    }
    let site = CompareSite::start(crate::tflock::build_for_tests());
    for (kind, count) in AGREEING {
        for number in 0..count {
            let engine = ToolEngine::Terraform;
            let case = kind.generate(1, number, engine);
            let results = site.run(&case, engine);
            let verdict = judge(case.operation, engine, &results);
            let [tool, tflock] = &results;
            assert!(
                !verdict.is_difference(),
                "{} {number}: {verdict:?}\n{}\n{}",
                kind.name(),
                tool.message,
                tflock.message
            );
        }
    }
}

/// Values whose difference is documented, and the part of `tolerated.txt` that shows the reason.
#[test]
fn documented_differences_of_values_are_tolerated() {
    if terraform_on_path().is_none() {
        return;
    }
    let site = CompareSite::start(crate::tflock::build_for_tests());
    let part = "formatlist(\"%s-%s\", [[1], [2, 3]],";
    let texts = [format!("false ? [{part} \"x\"), \"y\"] : true")];
    let engine = ToolEngine::Terraform;
    let results = evaluate(&site, &texts, engine);
    let verdict = judge(Operation::Lock, engine, &results[0]);
    assert_eq!(verdict, Verdict::Tolerated(part.to_owned()));
}

#[test]
fn a_case_is_reduced_to_the_parts_that_matter() {
    let text = "a = 1\nb = 2\n";
    let file = CaseFile::of_lines("main.tf", text);
    assert_eq!((file.content(), file.parts()), (text.to_owned(), 2));
    assert_eq!(file.without(0).content(), "b = 2\n");
    let argument = Node::argument("source", Literal::text("./\"m"));
    let file = CaseFile::new(
        "main.tf",
        vec![Node::block("module", &["m"], vec![argument])],
    );
    assert_eq!(
        file.content(),
        "module \"m\" {\n  source = \"./\\\"m\"\n}\n"
    );
    assert_eq!(file.without(1).content(), "module \"m\" {\n}\n");
    assert_eq!(file.without(0).content(), "");
}
