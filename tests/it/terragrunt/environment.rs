//! Environment variables of Terragrunt.

use tflock_test_support::{FakeRegistry, TestContext, assert_contains};

use crate::TFLOCK;

#[test]
fn variables_that_replace_sources_are_ignored_with_a_note() {
    let context = TestContext::new(TFLOCK, &FakeRegistry::start());
    for name in ["TG_SOURCE", "TERRAGRUNT_SOURCE", "TG_SOURCE_MAP"] {
        let outcome = context.command("lock -r .").env(name, "../modules").run();
        let note =
            format!("ignoring `{name}`: lock files are computed for the sources in the units");
        assert_contains(&outcome.expect_success().stderr, &note);
    }
}
