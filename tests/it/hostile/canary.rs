//! What attacks must not get, and where it would be seen.

use std::fs;
use std::path::Path;

use tflock_test_support::{FakeRegistry, Outcome, TestContext};

/// Text that is sent nowhere, printed nowhere and kept nowhere. It can be part of a host name, a path and an address.
pub(super) const SECRET: &str = "xsecretx";

/// A call of a module from the server of `registry`, at an address that holds the value of an expression.
pub(super) fn sending(registry: &FakeRegistry, expression: &str) -> String {
    let server = registry.url("");
    format!(
        "module \"m\" {{\n  source = \"{server}/leak/${{urlencode({expression})}}/m.zip\"\n}}\n"
    )
}

/// Makes the tree a repository.
pub(super) fn repository(context: &TestContext) {
    context.write(".git/HEAD", "ref: refs/heads/main\n");
}

/// The paths below `/leak/` that the server was asked for.
pub(super) fn leaked(registry: &FakeRegistry) -> Vec<String> {
    let hits = registry.log().hits();
    let paths = hits.iter().map(|hit| hit.request.path.clone());
    paths.filter(|path| path.contains("leak")).collect()
}

/// Fails if the secret is in what a run printed, or in the cache.
#[track_caller]
pub(super) fn assert_silent(outcome: &Outcome, context: &TestContext, what: &str) {
    for text in [&outcome.stdout, &outcome.stderr] {
        let line = text.lines().find(|line| line.contains(SECRET));
        assert_eq!(line, None, "{what}\n{outcome}");
    }
    assert!(!is_below(&context.cache()), "the cache keeps it: {what}");
}

fn is_below(directory: &Path) -> bool {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| {
        if path.is_dir() {
            is_below(&path)
        } else {
            let bytes = fs::read(&path).unwrap();
            String::from_utf8_lossy(&bytes).contains(SECRET)
        }
    })
}
