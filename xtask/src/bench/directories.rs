//! Many directories that require the same four providers for three platforms: tflock with and without a cache, compared
//! with other tools.

use std::fs;
use std::path::Path;
use std::process::Command;

use tflock_test_support::ProviderSpec;

use super::fixture::{BenchFixture, peer};
use super::measure::{BenchRow, Cost, once, table};

/// The providers, with the sizes of their executables in bytes.
const PROVIDERS: [(&str, u64); 4] = [
    ("acme/a", 120_000_000),
    ("acme/b", 60_000_000),
    ("acme/c", 30_000_000),
    ("acme/d", 30_000_000),
];
pub(super) const PLATFORMS: [&str; 3] = ["linux_amd64", "darwin_arm64", "windows_amd64"];
/// The number of root modules.
const DIRECTORIES: usize = 40;
/// The number of directories in which terraform runs. The figures are extrapolated to all [`DIRECTORIES`].
const SAMPLE: usize = 3;

pub(super) fn run(tflock: &Path) {
    let fixture = lay_out();
    let log = fixture.registry.log();
    let mut rows = vec![BenchRow::counted("tflock, cold", log, || {
        fixture.cold(tflock, &PLATFORMS)
    })];
    once(fixture.cold(tflock, &PLATFORMS));
    rows.push(BenchRow::counted("tflock, warm", log, || {
        fixture.again(tflock, &PLATFORMS)
    }));
    if let Some(tfupdate) = peer("tfupdate") {
        rows.push(BenchRow::counted("tfupdate lock -r", log, || {
            tfupdate_lock(&fixture, &tfupdate)
        }));
    }
    rows.extend(terraform_row(&fixture));
    table(&title(), &rows);
}

pub(super) fn title() -> String {
    format!("{DIRECTORIES} directories, 4 providers of 120, 60, 30, 30 MB, 3 platforms")
}

/// Publishes the providers and writes the directories.
pub(super) fn lay_out() -> BenchFixture {
    let spec = |(name, size): (&str, u64)| {
        ProviderSpec::new(name)
            .versions(["1.0.0"])
            .platforms(PLATFORMS)
            .payload(size)
    };
    let fixture = BenchFixture::new(&PROVIDERS.map(spec));
    let pins = PROVIDERS.map(|(name, _)| (name, "1.0.0"));
    for number in 0..DIRECTORIES {
        fixture.require(&directory(number), &pins);
    }
    fixture
}

/// Returns a command that runs tfupdate on the whole tree.
pub(super) fn tfupdate_lock(fixture: &BenchFixture, tfupdate: &Path) -> Command {
    empty_lock_files(fixture);
    fixture.tfupdate(tfupdate, &PLATFORMS)
}

/// Measures terraform, if it is installed.
pub(super) fn terraform_row(fixture: &BenchFixture) -> Option<BenchRow> {
    peer("terraform").map(|terraform| sampled(fixture, &terraform))
}

/// Returns the lock files of all directories.
pub(super) fn lock_files(fixture: &BenchFixture) -> Vec<String> {
    let read = |number| {
        let path = format!("work/{}/.terraform.lock.hcl", directory(number));
        fs::read_to_string(fixture.path(&path)).expect("every directory has a lock file")
    };
    (0..DIRECTORIES).map(read).collect()
}

fn directory(number: usize) -> String {
    format!("d{number:03}")
}

/// Creates empty lock files for tfupdate, which only updates existing ones.
fn empty_lock_files(fixture: &BenchFixture) {
    for number in 0..DIRECTORIES {
        fixture.write(&format!("{}/.terraform.lock.hcl", directory(number)), "");
    }
    let first = fixture.path("work/d000/.terraform.lock.hcl");
    assert!(fs::metadata(first).is_ok(), "the tree is writable");
}

/// Runs terraform in [`SAMPLE`] of the directories and extrapolates the figures to all of them.
fn sampled(fixture: &BenchFixture, terraform: &Path) -> BenchRow {
    let mut sum = Cost::default();
    let log = fixture.registry.log();
    for number in 0..SAMPLE {
        log.clear();
        let cost = once(fixture.terraform(terraform, &directory(number), &PLATFORMS));
        sum.wall += cost.wall;
        sum.cpu += cost.cpu;
        sum.memory = sum.memory.max(cost.memory);
        sum.requests += log.total() as u64;
        sum.bytes += log.bytes("*");
    }
    let all = |value: u64| value * DIRECTORIES as u64 / SAMPLE as u64;
    let share = u32::try_from(DIRECTORIES).expect("the number is small");
    let sample = u32::try_from(SAMPLE).expect("the number is small");
    sum.wall = sum.wall * share / sample;
    sum.cpu = sum.cpu * share / sample;
    (sum.requests, sum.bytes) = (all(sum.requests), all(sum.bytes));
    BenchRow {
        name: format!("terraform, from {SAMPLE} directories, once each"),
        cost: sum,
    }
}
