//! Four large packages at once, compared with the raw work on them (inflating and hashing), divided by the number of cores.

use std::path::Path;
use std::time::Duration;

use tflock_test_support::ProviderSpec;

use super::fixture::{BenchFixture, curl, peer, raw, size};
use super::measure::{BenchRow, Cost, once, table};

const PLATFORMS: [&str; 4] = ["darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64"];

pub(super) fn run(tflock: &Path) {
    let fixture = BenchFixture::new(&[ProviderSpec::new("acme/large")
        .versions(["1.0.0"])
        .platforms(PLATFORMS)
        .payload(size())]);
    fixture.require("one", &[("acme/large", "")]);
    let zip = fixture.path("package.zip");
    once(curl(
        &fixture.package_url("acme/large", "1.0.0", PLATFORMS[0]),
        &zip,
    ));
    let log = fixture.registry.log();
    let mut rows = vec![
        BenchRow::counted("tflock, four packages", log, || {
            fixture.cold(tflock, &PLATFORMS)
        }),
        BenchRow {
            name: "raw work of four, by all cores".to_owned(),
            cost: raw_work(&zip),
        },
    ];
    if let Some(terraform) = peer("terraform") {
        rows.push(BenchRow::counted("terraform providers lock", log, || {
            fixture.terraform(&terraform, "one", &PLATFORMS)
        }));
    }
    table("four packages at once", &rows);
}

/// Measures the CPU time of the raw work on four packages, divided by the number of cores. The raw work is inflating,
/// and SHA-256 of the zip and of its contents.
fn raw_work(zip: &Path) -> Cost {
    let inflate = BenchRow::of("", || raw("raw-inflate", zip)).cost;
    let whole = BenchRow::of("", || raw("raw-sha256", zip)).cost;
    let content = BenchRow::of("", || raw("raw-sha256-content", zip)).cost;
    let cpu = (inflate.cpu + whole.cpu + content.cpu) * 4;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = u32::try_from(cores).unwrap_or(1);
    Cost {
        wall: Duration::from_nanos(u64::try_from(cpu.as_nanos()).expect("the time is short"))
            / cores,
        cpu,
        ..Cost::default()
    }
}
