//! A cold machine with a filled hash index in a bucket, compared with the same run without an index and with other tools.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tflock::index::SignerKey;
use tflock_test_support::Misbehave;

use super::directories::{PLATFORMS, lay_out, lock_files, peers, title};
use super::fixture::BenchFixture;
use super::measure::{BenchRow, once, table};
use super::relay::SlowNetwork;
use super::s3_server::BenchBucket;

/// The rate of the slow network in bytes per second, in each direction.
const RATE: u64 = 20_000_000;
/// The delay of the slow network in each direction.
const DELAY: Duration = Duration::from_millis(50);

/// Many directories, and an index that has the records of all packages.
struct FilledIndex {
    fixture: BenchFixture,
    bucket: BenchBucket,
    signer: SignerKey,
    /// The lock files of a run without the index.
    expected: Vec<String>,
}

impl FilledIndex {
    fn create(tflock: &Path) -> Self {
        let (fixture, bucket) = (lay_out(), BenchBucket::start());
        once(fixture.cold(tflock, &PLATFORMS));
        let expected = lock_files(&fixture);
        let signer = SignerKey::generate("example.com/bench").expect("random bytes are available");
        let filled = Self {
            fixture,
            bucket,
            signer,
            expected,
        };
        let mut push = filled.cold(tflock, filled.bucket.port);
        push.arg("--index-push");
        push.env("TFLOCK_INDEX_SIGNING_KEY", filled.signer.secret_text());
        once(push);
        filled
    }

    /// Returns a command that locks the tree without a cache, with the index at this port.
    fn cold(&self, tflock: &Path, port: u16) -> Command {
        let mut command = self.fixture.cold(tflock, &PLATFORMS);
        BenchBucket::configure(&mut command, port);
        command.env("TFLOCK_INDEX_KEYS", self.signer.verifier().to_string());
        command
    }

    /// Measures runs with the index, and checks that they request no package and write the same lock files.
    fn measure(&self, tflock: &Path, port: u16) -> BenchRow {
        let log = self.fixture.registry.log();
        let mut row = BenchRow::counted("", log, || {
            self.bucket.take_requests();
            self.cold(tflock, port)
        });
        let requests = self.bucket.take_requests();
        assert_eq!(log.count("GET", "*.zip"), 0, "a package is requested");
        assert!(
            lock_files(&self.fixture) == self.expected,
            "an index changes lock files"
        );
        row.name = format!("with the index: no package, {requests} requests to the index");
        row
    }

    /// Measures runs without the index.
    fn measure_without(&self, tflock: &Path) -> BenchRow {
        let log = self.fixture.registry.log();
        BenchRow::counted("without an index", log, || {
            self.fixture.cold(tflock, &PLATFORMS)
        })
    }
}

pub(super) fn run(tflock: &Path) {
    let filled = FilledIndex::create(tflock);
    let mut rows = vec![
        filled.measure(tflock, filled.bucket.port),
        filled.measure_without(tflock),
    ];
    rows.extend(peers(&filled.fixture));
    table(&format!("{}, cold", title()), &rows);
}

/// The same over a slow network.
pub(super) fn run_over_network(tflock: &Path) {
    let filled = FilledIndex::create(tflock);
    let network = SlowNetwork::new(RATE, DELAY);
    let index = network.relay(filled.bucket.port);
    redirect(
        &filled.fixture,
        network.relay(filled.fixture.registry.port()),
    );
    let rows = [
        filled.measure(tflock, index),
        filled.measure_without(tflock),
    ];
    let title = title();
    let (rate, delay) = (RATE / 1_000_000, DELAY.as_millis());
    let title = format!("{title}, cold, {rate} MB/s and {delay} ms in each direction");
    table(&title, &rows);
}

/// Makes all commands reach the registry through a relay.
fn redirect(fixture: &BenchFixture, relay: u16) {
    let (direct, relayed) = (
        fixture.registry.url(""),
        format!("http://127.0.0.1:{relay}"),
    );
    let configuration = fixture.registry.cli_config().replace(&direct, &relayed);
    fs::write(fixture.path("terraform.rc"), configuration).expect("the tree is writable");
    let rule = Misbehave::on("*/download/*").replace(&direct, &relayed);
    fixture.registry.misbehave(rule);
}
