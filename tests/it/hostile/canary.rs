//! A secret that attacks must not obtain, and the checks that would reveal a leak.

use std::fs;
use std::path::Path;

use tflock_test_support::{FakeRegistry, Outcome, TestContext};

/// A secret that must not be sent, printed or cached. It is valid in host names, paths and URLs.
pub(super) const SECRET: &str = "xsecretx";

/// Returns a call of a module on the server of `registry`. Its URL contains the value of the expression.
pub(super) fn sending(registry: &FakeRegistry, expression: &str) -> String {
    let server = registry.url("");
    format!(
        "module \"m\" {{\n  source = \"{server}/leak/${{urlencode({expression})}}/m.zip\"\n}}\n"
    )
}

/// Turns the tree into a git repository.
pub(super) fn repository(context: &TestContext) {
    context.write(".git/HEAD", "ref: refs/heads/main\n");
}

/// Returns the requested paths below `/leak/`.
pub(super) fn leaked(registry: &FakeRegistry) -> Vec<String> {
    let hits = registry.log().hits();
    let paths = hits.iter().map(|hit| hit.request.path.clone());
    paths.filter(|path| path.contains("leak")).collect()
}

/// Fails if the run's output or the cache contains the secret.
#[track_caller]
pub(super) fn assert_silent(outcome: &Outcome, context: &TestContext, what: &str) {
    for text in [&outcome.stdout, &outcome.stderr] {
        let line = text.lines().find(|line| line.contains(SECRET));
        assert_eq!(line, None, "{what}\n{outcome}");
    }
    assert!(
        !is_below(&context.cache()),
        "the cache contains the secret: {what}"
    );
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
