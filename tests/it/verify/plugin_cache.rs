//! Checks the documented behavior of plugin caches with the real `terraform`: with tflock's lock file, `init` uses the
//! packages in a warm cache. If the `h1` hash for its platform is missing, it downloads them again, and `verify`
//! reports this beforehand.

use tflock_test_support::{FakeRegistry, ProviderSpec, TestContext};

use crate::TFLOCK;

/// Returns the platform of the installed `terraform`.
fn own_platform() -> String {
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{os}_{arch}")
}

/// Runs `init` in `count` new directories with the lock file of `from`. Returns the number of downloaded packages.
fn downloads(registry: &FakeRegistry, context: &TestContext, from: &str, count: usize) -> usize {
    registry.log().clear();
    for number in 0..count {
        let directory = format!("{from}-{number}");
        context
            .require(&directory, &[("acme/anvil", "1.0.0")])
            .write_lock_file(&directory, context.lock_file(from).unwrap());
        let init = context.terraform(&directory, ["init", "-input=false"]);
        let init = init.expect("terraform was found");
        let cache = context.path("../plugins");
        init.env("TF_PLUGIN_CACHE_DIR", cache)
            .run()
            .expect_success();
    }
    registry.log().count("GET", "*.zip")
}

#[test]
fn init_downloads_nothing_from_a_warm_cache_unless_the_lock_lacks_its_h1() {
    let own = own_platform();
    let mut registry = FakeRegistry::start();
    let platforms = [own.as_str(), "plan9_amd64"];
    registry.publish(ProviderSpec::new("acme/anvil").platforms(platforms));
    let context = TestContext::new(TFLOCK, &registry);
    if context.terraform(".", [] as [&str; 0]).is_none() {
        return;
    }
    std::fs::create_dir(context.path("../plugins")).unwrap();
    let lock = |directory: &str, platforms: &str| {
        context.require(directory, &[("acme/anvil", "1.0.0")]);
        let lock = ["lock", "--platform", platforms, directory];
        context.tflock(lock).run().expect_success();
    };
    let both = format!("{own},plan9_amd64");
    lock("good", &both);
    lock("bad", "plan9_amd64");

    assert_eq!(
        downloads(&registry, &context, "good", 1),
        1,
        "the cache is cold"
    );
    assert_eq!(downloads(&registry, &context, "good", 20), 0);
    assert_eq!(downloads(&registry, &context, "bad", 3), 3);

    let verify = |directory: &str| {
        context
            .tflock(["verify", "--platform", &both, directory])
            .run()
    };
    verify("good").expect_success();
    let outcome = verify("bad").expect_code(3);
    let expected = format!(
        "TFL007 platform-without-h1: `registry.terraform.io/acme/anvil` 1.0.0 has no `h1` hash for {own}: "
    );
    assert!(outcome.stdout.starts_with(&expected), "{outcome}");
    assert!(
        outcome
            .stdout
            .contains(&format!("fix: tflock lock --platform {own} bad"))
    );
}
