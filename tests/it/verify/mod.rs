//! `tflock verify`: each finding as text, JSON and SARIF, and which packages and documents are requested.

mod findings;
mod plugin_cache;
mod reach;

use tflock_test_support::{FakeRegistry, Outcome, ProviderSpec, TestContext};

use crate::TFLOCK;

/// The platforms in these tests. Packages are published for one additional platform.
const PLATFORMS: &str = "linux_amd64,darwin_arm64";

/// Starts a registry with two providers, one of which has no package for Windows, and locks the directory `a` for both
/// platforms.
fn start() -> (FakeRegistry, TestContext) {
    let mut registry = FakeRegistry::start();
    registry
        .publish(ProviderSpec::new("acme/anvil").versions(["1.0.0", "1.1.0", "2.0.0"]))
        .publish(ProviderSpec::new("acme/rivet").without("1.0.0", "windows_amd64"));
    let context = TestContext::new(TFLOCK, &registry);
    context.require("a", &[("acme/anvil", "~> 1.0")]);
    lock(&context, PLATFORMS);
    (registry, context)
}

fn lock(context: &TestContext, platforms: &str) {
    let lock = ["lock", "--platform", platforms, "a"];
    context.tflock(lock).run().expect_success();
}

/// Replaces text in the lock file of `a`, which must contain it.
fn edit(context: &TestContext, from: &str, to: &str) {
    let text = context.lock_file("a").unwrap();
    assert!(text.contains(from), "{from}\n{text}");
    context.write_lock_file("a", text.replacen(from, to, 1));
}

/// Runs `tflock verify` with `options`, which are separated by spaces.
fn verify(context: &TestContext, options: &str) -> Outcome {
    let arguments = ["verify", "--platform", PLATFORMS].into_iter();
    let options = options.split_whitespace();
    context.tflock(arguments.chain(options)).run()
}
