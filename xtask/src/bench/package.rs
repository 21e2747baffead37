//! A large package for one platform, compared with raw inflate and with terraform.

use std::path::Path;
use std::process::Command;

use super::fixture::{BenchFixture, curl, large, peer, raw};
use super::measure::{BenchRow, once, table};
use super::raw::extract_deflate;

const PLATFORM: [&str; 1] = ["linux_amd64"];

pub(super) fn run(tflock: &Path) {
    let (spec, source, version) = large();
    let fixture = BenchFixture::new(&[spec]);
    fixture.require("one", &[(source, "")]);
    let zip = fixture.path("package.zip");
    let url = fixture.package_url(source, version, PLATFORM[0]);
    once(curl(&url, &zip));
    let log = fixture.registry.log();
    let mut rows = vec![
        BenchRow::counted("tflock", log, || fixture.cold(tflock, &PLATFORM)),
        BenchRow::of("raw inflate, zlib-rs", || raw("raw-inflate", &zip)),
        BenchRow::of("raw SHA-256 of the zip", || raw("raw-sha256", &zip)),
        BenchRow::of("curl to /dev/null", || curl(&url, Path::new("/dev/null"))),
    ];
    if let Some(igzip) = peer("igzip") {
        let member = fixture.path("package.gz");
        extract_deflate(&zip, &member);
        rows.push(BenchRow::of("raw inflate, ISA-L igzip", || {
            let mut command = Command::new(&igzip);
            command.args(["-d", "-c"]).arg(&member);
            command
        }));
    }
    if let Some(terraform) = peer("terraform") {
        rows.push(BenchRow::counted("terraform providers lock", log, || {
            fixture.terraform(&terraform, "one", &PLATFORM)
        }));
    }
    let bytes = std::fs::metadata(&zip).map_or(0, |metadata| metadata.len());
    table(&format!("one package, {} MB zip", bytes / 1_000_000), &rows);
}
