//! A network that fails at random: a monorepo is still locked, and no package is downloaded twice.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use tflock_test_support::{
    DEFAULT_PLATFORMS, FakeRegistry, Hit, Misbehave, ProviderSpec, TestContext,
};

use crate::TFLOCK;

const DIRECTORIES: usize = 200;
const PROVIDERS: usize = 20;

/// The failing requests per thousand, for each of two faults. As many packages break off.
const PER_MILLE: u64 = 25;

/// The byte at which packages break off. Small packages are shorter, and the packages of this test are longer.
const BREAK: u64 = 50_000;

/// The limit on a busy machine, including real pauses of 1 s, 2 s and 4 s.
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

/// The responses to the requests for one package.
#[derive(Default)]
struct Fetched {
    /// The number of responses with the whole package.
    whole: usize,
    /// The total bytes of all responses.
    bytes: u64,
    requests: usize,
}

fn packages(
    hits: &[std::sync::Arc<Hit>],
    sizes: &BTreeMap<String, u64>,
) -> BTreeMap<String, Fetched> {
    let mut fetched: BTreeMap<String, Fetched> = BTreeMap::new();
    for hit in hits.iter().filter(|hit| {
        Path::new(&hit.request.path)
            .extension()
            .is_some_and(|kind| kind == "zip")
    }) {
        let name = hit.request.path.rsplit('/').next().unwrap();
        let package = fetched.entry(name.to_owned()).or_default();
        package.requests += 1;
        if hit.status() < 300 {
            package.bytes += hit.sent();
            package.whole += usize::from(hit.sent() == sizes[name]);
        }
    }
    fetched
}

fn sizes(registry: &FakeRegistry) -> BTreeMap<String, u64> {
    let names = names();
    let facts = names.iter().flat_map(|name| {
        DEFAULT_PLATFORMS.map(|platform| registry.package(name, "1.0.0", platform))
    });
    facts
        .map(|facts| (facts.filename.clone(), facts.size))
        .collect()
}

#[test]
#[expect(
    clippy::print_stderr,
    reason = "the figures are printed for developers"
)]
fn a_fleet_is_locked_although_one_request_in_twenty_fails() {
    let mut figures = String::new();
    for seed in [1, 2, 3] {
        let (registry, context) = start();
        fail_at_random(&registry, 100 * seed);
        let started = Instant::now();
        let platforms = DEFAULT_PLATFORMS.join(",");
        let lock = ["lock", "-r", "--platform", &platforms, "."];
        context.tflock(lock).run().expect_success();
        let time = started.elapsed();

        let first = context.lock_file("stacks/000").unwrap();
        assert_eq!(
            first.matches("    \"h1:").count(),
            PROVIDERS * DEFAULT_PLATFORMS.len()
        );
        for number in 1..DIRECTORIES {
            assert_eq!(
                context.lock_file(&format!("stacks/{number:03}")).as_ref(),
                Some(&first)
            );
        }
        let (hits, sizes) = (registry.log().hits(), sizes(&registry));
        let packages = packages(&hits, &sizes);
        assert_eq!(packages.len(), PROVIDERS * DEFAULT_PLATFORMS.len());
        for (name, package) in &packages {
            // Only the bytes that were in transit when a connection broke may be sent again.
            let size = sizes[name];
            assert!(
                package.whole <= 1,
                "{name} came whole {} times",
                package.whole
            );
            assert!(
                package.bytes <= size + BREAK,
                "{name}: {} bytes of {size}",
                package.bytes
            );
        }
        let failed = hits
            .iter()
            .filter(|hit| !(200..300).contains(&hit.status()))
            .count();
        let broken = packages
            .values()
            .filter(|package| package.bytes > 0 && package.whole == 0)
            .count();
        let sent: u64 = packages.values().map(|package| package.bytes).sum();
        let needed: u64 = sizes.values().sum();
        assert!(
            failed >= hits.len() / 40 && broken > 0,
            "{failed} of {} failed",
            hits.len()
        );
        assert!(time < MAX_TIME, "{time:?}");
        writeln!(
            figures,
            "seed {seed}: {} requests, {failed} refused or reset, {broken} packages broke off and were resumed; \
             {sent} bytes of packages sent, {needed} needed; {:.1} s",
            hits.len(),
            time.as_secs_f64()
        )
        .unwrap();
    }
    eprintln!(
        "{DIRECTORIES} directories, {PROVIDERS} providers, {} platforms\n{figures}",
        DEFAULT_PLATFORMS.len()
    );
}
