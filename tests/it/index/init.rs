//! The real tools accept lock files whose hashes came from an index.

use tflock_test_support::{DEFAULT_HOSTS, FakeRegistry, ProviderSpec, TestContext};

use super::{LOCK, start};
use crate::TFLOCK;

/// `init` downloads the packages of this platform, unpacks them, and compares them with their `h1` hashes.
#[test]
fn init_accepts_hashes_from_an_index() {
    for engine in ["terraform", "tofu"] {
        let fixture = start();
        let mut registry = FakeRegistry::start();
        for name in ["acme/anvil", "acme/bolt"] {
            registry.publish(ProviderSpec::new(name).hosts(DEFAULT_HOSTS));
        }
        let context = TestContext::new(TFLOCK, &registry);
        context.require("a", &[("acme/anvil", ""), ("acme/bolt", ">= 1.0")]);
        let lock = |option: &str| {
            let command = context.command(&format!("{LOCK} --engine {engine} a {option}"));
            let trusted = fixture.signer.verifier().to_string();
            let command = command
                .env("TFLOCK_INDEX", fixture.url())
                .env("TFLOCK_INDEX_KEYS", trusted)
                .env("TFLOCK_INDEX_SIGNING_KEY", fixture.signer.secret_text());
            command.run().expect_success();
            context.lock_file("a").unwrap()
        };
        let downloaded = lock("--index-push");
        context.remove_lock_file("a");
        registry.log().clear();
        let locked = lock("--no-download");
        assert_eq!(registry.log().count("GET", "*.zip"), 0);
        assert_eq!(locked, downloaded);

        let arguments = ["init", "-no-color", "-lockfile=readonly"];
        if let Some(init) = context.engine(engine, "a", arguments) {
            init.run().expect_success();
            assert_eq!(registry.log().count("GET", "*.zip"), 2);
            assert_eq!(context.lock_file("a").unwrap(), locked);
        }
    }
}
