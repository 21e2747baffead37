//! A package over networks of 100 MB/s and 20 MB/s: the time that tflock adds to the transfer.

use std::path::Path;

use tflock_test_support::Misbehave;

use super::fixture::{BenchFixture, curl, large, peer};
use super::measure::{BenchRow, table};

const PLATFORM: [&str; 1] = ["linux_amd64"];
/// The speeds of the network in megabytes per second.
const LINKS: [u64; 2] = [100, 20];

pub(super) fn run(tflock: &Path) {
    let (spec, source, version) = large();
    let fixture = BenchFixture::new(&[spec]);
    fixture.require("one", &[(source, "")]);
    let url = fixture.package_url(source, version, PLATFORM[0]);
    let log = fixture.registry.log();
    for link in LINKS {
        fixture.registry.behave();
        let rule = Misbehave::on("*.zip").rate(link * 1_000_000);
        fixture.registry.misbehave(rule);
        let mut rows = vec![
            BenchRow::counted("curl to /dev/null", log, || {
                curl(&url, Path::new("/dev/null"))
            }),
            BenchRow::counted("tflock", log, || fixture.cold(tflock, &PLATFORM)),
        ];
        if let Some(terraform) = peer("terraform") {
            rows.push(BenchRow::counted("terraform providers lock", log, || {
                fixture.terraform(&terraform, "one", &PLATFORM)
            }));
        }
        table(&format!("one package over {link} MB/s"), &rows);
    }
}
