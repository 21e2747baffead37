//! Measures the cost of parsing and rendering a lock file.
//!
//! ```text
//! cargo bench --bench renderer
//! ```
//!
//! The lock file has 20 providers with 3 `h1` and 14 `zh` hashes each, the numbers for three platforms and a typical
//! release. Each figure is the median of five rounds, each long enough to measure.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::cast_precision_loss, reason = "the figures are rounded")]

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use tflock::lockfile::{self, LockChanges, Locks, ProviderLock};
use tflock::provider::{Digest, Engine, Hash, ProviderAddr, Version, VersionConstraints};

const PROVIDERS: u8 = 20;
const PLATFORMS: u8 = 3;
const ZIPS: u8 = 14;
const REPEATS: u32 = 500;
const ROUNDS: usize = 5;

fn main() {
    let locks = locks();
    let text = locks.render(Engine::Terraform);
    let path = Path::new(".terraform.lock.hcl");
    println!("{PROVIDERS} providers, {} bytes", text.len());
    report("render", text.len(), || {
        black_box(black_box(&locks).render(Engine::Terraform));
    });
    report("parse", text.len(), || {
        let parsed = lockfile::parse(path, black_box(text.as_bytes()), Engine::Terraform);
        black_box(parsed.expect("what tflock writes"));
    });
    report("compare", text.len(), || {
        black_box(LockChanges::between(black_box(&locks), black_box(&locks)));
    });
}

fn locks() -> Locks {
    let entry = |number: u8| {
        let source = format!("acme/provider{number}");
        let address = ProviderAddr::parse(&source, Engine::Terraform).expect("an address");
        let h1 = (0..PLATFORMS).map(|platform| Hash::h1(Digest::new([number ^ platform; 32])));
        let zh = (0..ZIPS).map(|zip| Hash::zh(Digest::new([number.wrapping_add(zip); 32])));
        let lock = ProviderLock {
            version: Version::parse("5.100.0").expect("a version"),
            constraints: VersionConstraints::parse("~> 5.0, >= 5.31.0").expect("constraints"),
            hashes: h1.chain(zh).collect(),
        };
        (address, lock)
    };
    Locks {
        providers: (0..PROVIDERS).map(entry).collect(),
    }
}

fn report(name: &str, bytes: usize, work: impl Fn()) {
    let time = median(|| {
        let started = Instant::now();
        for _ in 0..REPEATS {
            work();
        }
        started.elapsed() / REPEATS
    });
    let rate = bytes as f64 / 1e6 / time.as_secs_f64();
    println!(
        "{name:<10} {:>8.1} us  {rate:>6.0} MB/s",
        time.as_secs_f64() * 1e6
    );
}

fn median(mut round: impl FnMut() -> Duration) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS).map(|_| round()).collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}
