//! One mirror for many directories, compared with `terraform providers mirror` in each of them.

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
const PLATFORMS: [&str; 3] = ["linux_amd64", "darwin_arm64", "windows_amd64"];
/// The number of root modules.
const DIRECTORIES: usize = 20;

pub(super) fn run(tflock: &Path) {
    let spec = |(name, size): (&str, u64)| {
        let spec = ProviderSpec::new(name).versions(["1.0.0"]);
        spec.platforms(PLATFORMS).payload(size)
    };
    let fixture = BenchFixture::new(&PROVIDERS.map(spec));
    let pins = PROVIDERS.map(|(name, _)| (name, "1.0.0"));
    for number in 0..DIRECTORIES {
        fixture.require(&directory(number), &pins);
    }
    once(fixture.cold(tflock, &PLATFORMS));
    let log = fixture.registry.log();
    let mut rows = Vec::new();
    for (name, layout) in [("packed", "packed"), ("unpacked", "unpacked")] {
        rows.push(BenchRow::counted(
            &format!("tflock mirror, {name}"),
            log,
            || {
                empty(&fixture);
                ours(&fixture, tflock, layout)
            },
        ));
        rows.push(BenchRow::counted(
            &format!("the same again, {name}"),
            log,
            || ours(&fixture, tflock, layout),
        ));
    }
    rows.push(BenchRow::counted(
        "tflock mirror --lock, packed",
        log,
        || {
            empty(&fixture);
            fixture.clean();
            let mut command = ours(&fixture, tflock, "packed");
            command.arg("--lock");
            command
        },
    ));
    if let Some(terraform) = peer("terraform") {
        rows.push(theirs(&fixture, &terraform));
    }
    let title =
        format!("{DIRECTORIES} directories, 4 providers of 120, 60, 30, 30 MB, 3 platforms");
    table(&title, &rows);
}

fn directory(number: usize) -> String {
    format!("d{number:03}")
}

/// Removes the mirror and the cache but not the lock files.
fn empty(fixture: &BenchFixture) {
    for name in ["mirror", "cache"] {
        // The directories do not exist before the first run.
        let _ = fs::remove_dir_all(fixture.path(name));
    }
}

fn ours(fixture: &BenchFixture, tflock: &Path, layout: &str) -> Command {
    let mut command = fixture.command(tflock, ".");
    command.args(["mirror", "-q", "--layout", layout, "--platform"]);
    command.arg(PLATFORMS.join(",")).arg(fixture.path("mirror"));
    command
}

/// Runs terraform in one directory after another, always with the same mirror as its target.
fn theirs(fixture: &BenchFixture, terraform: &Path) -> BenchRow {
    empty(fixture);
    let mut sum = Cost::default();
    let log = fixture.registry.log();
    for number in 0..DIRECTORIES {
        log.clear();
        let mut command = fixture.command(terraform, &directory(number));
        let platforms = PLATFORMS.map(|platform| format!("-platform={platform}"));
        command.args(["providers", "mirror"]).args(platforms);
        command.arg(fixture.path("mirror"));
        let cost = once(command);
        sum.wall += cost.wall;
        sum.cpu += cost.cpu;
        sum.memory = sum.memory.max(cost.memory);
        sum.requests += log.total() as u64;
        sum.bytes += log.bytes("*");
    }
    BenchRow {
        name: "terraform providers mirror, one directory after the other, once".to_owned(),
        cost: sum,
    }
}
