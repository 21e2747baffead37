//! On a network that fails at random, a monorepo is still locked, and no package is downloaded twice.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tflock_test_support::{
    DEFAULT_PLATFORMS, FakeRegistry, Hit, Misbehave, ProviderSpec, TestContext,
};

use crate::TFLOCK;

const DIRECTORIES: usize = 200;
const PROVIDERS: usize = 20;

/// How many requests per thousand fail with each of two faults. The same share of package downloads breaks off.
const PER_MILLE: u64 = 25;

/// The number of bytes after which a package download breaks off. All packages in this test are larger.
const BREAK: u64 = 50_000;

/// The time limit on a busy machine, including real pauses of 1 s, 2 s and 4 s between attempts.
const MAX_TIME: Duration = Duration::from_secs(240);

fn names() -> Vec<String> {
    (0..PROVIDERS)
        .map(|number| format!("acme/p{number}"))
        .collect()
}

fn start() -> (FakeRegistry, TestContext) {
    let mut registry = FakeRegistry::start();
    for name in names() {
        registry.publish(ProviderSpec::new(&name).payload(400_000));
    }
    let context = TestContext::new(TFLOCK, &registry);
    let names = names();
    let required: Vec<_> = names.iter().map(|name| (name.as_str(), "~> 1.0")).collect();
    for number in 0..DIRECTORIES {
        context.require(&format!("stacks/{number:03}"), &required);
    }
    (registry, context)
}

/// Makes one request in twenty fail. In addition, one package download in forty breaks off.
fn fail_at_random(registry: &FakeRegistry, seed: u64) {
    let share = |rule: Misbehave, salt: u64| rule.at_random(seed + salt, PER_MILLE);
    registry.misbehave(share(Misbehave::on("*.zip").cut(BREAK), 1));
    registry.misbehave(share(Misbehave::on("*").reset(), 2));
    registry.misbehave(share(Misbehave::on("*").status(503).retry_after("1"), 3));
}

/// All responses to the requests for one package.
#[derive(Default)]
struct FetchedPackage {
    /// The number of responses that contained the whole package.
    whole: usize,
    /// The total number of bytes in all responses.
    bytes: u64,
}

fn packages(hits: &[Arc<Hit>], sizes: &BTreeMap<String, u64>) -> BTreeMap<String, FetchedPackage> {
    let mut fetched: BTreeMap<String, FetchedPackage> = BTreeMap::new();
    for hit in hits {
        let name = hit.request.path.rsplit('/').next().unwrap();
        let Some(size) = sizes.get(name) else {
            continue;
        };
        let package = fetched.entry(name.to_owned()).or_default();
        if hit.status() < 300 {
            package.bytes += hit.sent();
            package.whole += usize::from(hit.sent() == *size);
        }
    }
    fetched
}

/// Returns the sizes of all packages.
fn sizes(registry: &FakeRegistry) -> BTreeMap<String, u64> {
    let mut sizes = BTreeMap::new();
    for name in names() {
        for platform in DEFAULT_PLATFORMS {
            let package = registry.package(&name, "1.0.0", platform);
            sizes.insert(package.filename.clone(), package.size);
        }
    }
    sizes
}

/// Checks that every directory has the same complete lock file.
fn assert_complete(context: &TestContext) {
    let first = context.lock_file("stacks/000").unwrap();
    let h1_hashes = first.matches("    \"h1:").count();
    assert_eq!(h1_hashes, PROVIDERS * DEFAULT_PLATFORMS.len());
    for number in 1..DIRECTORIES {
        let lock_file = context.lock_file(&format!("stacks/{number:03}"));
        assert_eq!(lock_file.as_ref(), Some(&first));
    }
}

/// Checks that each package was downloaded once even though requests failed. Returns the figures of the run.
fn check_requests(registry: &FakeRegistry) -> String {
    let (hits, sizes) = (registry.log().hits(), sizes(registry));
    let packages = packages(&hits, &sizes);
    assert_eq!(packages.len(), sizes.len());
    for (name, FetchedPackage { whole, bytes }) in &packages {
        // Only the bytes that were in transit when a connection broke may be sent again.
        let size = sizes[name];
        assert!(*whole <= 1, "{name} was sent completely {whole} times");
        assert!(*bytes <= size + BREAK, "{name}: {bytes} bytes of {size}");
    }
    let succeeds = |hit: &&Arc<Hit>| (200..300).contains(&hit.status());
    let failed = hits.len() - hits.iter().filter(succeeds).count();
    let is_resumed = |package: &&FetchedPackage| package.bytes > 0 && package.whole == 0;
    let resumed = packages.values().filter(is_resumed).count();
    let total = hits.len();
    assert!(
        failed >= total / 40 && resumed > 0,
        "{failed} of {total} failed"
    );
    let sent: u64 = packages.values().map(|package| package.bytes).sum();
    let needed: u64 = sizes.values().sum();
    format!(
        "{total} requests, {failed} refused or reset, {resumed} packages broke off and were resumed; \
         {sent} bytes of packages sent, {needed} needed"
    )
}

#[test]
#[expect(clippy::print_stderr, reason = "developers read the figures")]
fn a_fleet_is_locked_although_one_request_in_twenty_fails() {
    let platforms = DEFAULT_PLATFORMS.join(",");
    for seed in [1, 2, 3] {
        let (registry, context) = start();
        fail_at_random(&registry, 100 * seed);
        let started = Instant::now();
        let lock = ["lock", "-r", "--platform", &platforms, "."];
        context.tflock(lock).run().expect_success();
        let time = started.elapsed();
        assert!(time < MAX_TIME, "{time:?}");
        assert_complete(&context);
        let figures = check_requests(&registry);
        eprintln!("seed {seed}: {figures}; {:.1} s", time.as_secs_f64());
    }
}
