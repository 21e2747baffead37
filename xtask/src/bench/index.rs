//! A run without a cache that takes all hashes from an index in a bucket, compared with the same run without an index and with other
//! tools.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tflock::index::SignerKey;
use tflock_test_support::Misbehave;

use super::directories::{PLATFORMS, lay_out, lock_files, terraform_row, tfupdate_lock, title};
use super::fixture::{BenchFixture, peer};
use super::measure::{BenchRow, Cost, counted, once, runs, table};
use super::relay::SlowNetwork;
use super::s3_server::BenchBucket;

/// The rate of the slow network in bytes per second, in each direction.
const RATE: u64 = 20_000_000;
/// The delay of the slow network in each direction.
const DELAY: Duration = Duration::from_millis(50);

/// Many directories, and an index with the records of all packages that they require.
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

    /// Returns a command that locks the tree without a cache, with the index of the server at `port`.
    fn cold(&self, tflock: &Path, port: u16) -> Command {
        let mut command = self.fixture.cold(tflock, &PLATFORMS);
        BenchBucket::configure(&mut command, port);
        command.env("TFLOCK_INDEX_KEYS", self.signer.verifier().to_string());
        command
    }

    /// Measures a run with the index, and checks that it requests no package and writes the same lock files as a run without the
    /// index. Also returns the number of requests to the index.
    fn measure(&self, tflock: &Path, port: u16) -> (Cost, usize) {
        let log = self.fixture.registry.log();
        self.bucket.take_requests();
        let cost = counted(log, self.cold(tflock, port));
        let requests = self.bucket.take_requests();
        assert_eq!(log.count("GET", "*.zip"), 0, "a package is requested");
        assert!(
            lock_files(&self.fixture) == self.expected,
            "an index changes lock files"
        );
        (cost, requests)
    }

    /// Alternately measures runs with the index, runs without it and runs of tfupdate, and then measures terraform.
    fn compare(&self, tflock: &Path, port: u16, registry: u16) -> Vec<BenchRow> {
        let (fixture, log) = (&self.fixture, self.fixture.registry.log());
        let tfupdate = peer("tfupdate");
        let (mut with, mut without, mut others) = (Vec::new(), Vec::new(), Vec::new());
        let mut most = 0;
        for _ in 0..runs() {
            let (cost, requests) = self.measure(tflock, port);
            with.push(cost);
            most = most.max(requests);
            without.push(counted(log, fixture.cold(tflock, &PLATFORMS)));
            if let Some(tfupdate) = &tfupdate {
                let mut command = tfupdate_lock(fixture, tfupdate);
                through(&mut command, fixture, registry);
                others.push(counted(log, command));
            }
        }
        let name = format!("with the index: no package, {most} requests to the index");
        let mut rows = vec![
            BenchRow::median(&name, &with),
            BenchRow::median("without an index", &without),
        ];
        if !others.is_empty() {
            rows.push(BenchRow::median("tfupdate lock -r", &others));
        }
        rows.extend(terraform_row(fixture));
        rows
    }
}

pub(super) fn run(tflock: &Path) {
    let filled = FilledIndex::create(tflock);
    let registry = filled.fixture.registry.port();
    let rows = filled.compare(tflock, filled.bucket.port, registry);
    table(&format!("{}, cold", title()), &rows);
}

/// Runs the same scenario over a slow network.
pub(super) fn run_over_network(tflock: &Path) {
    let filled = FilledIndex::create(tflock);
    let network = SlowNetwork::new(RATE, DELAY);
    let index = network.relay(filled.bucket.port);
    let registry = network.relay(filled.fixture.registry.port());
    redirect(&filled.fixture, registry);
    let rows = filled.compare(tflock, index, registry);
    let title = title();
    let (rate, delay) = (RATE / 1_000_000, DELAY.as_millis());
    let title = format!("{title}, cold, {rate} MB/s and {delay} ms in each direction");
    table(&title, &rows);
}

/// Changes the registry address of a tfupdate command to this port, which belongs to the registry or to a relay to it.
fn through(command: &mut Command, fixture: &BenchFixture, port: u16) {
    let name = "TFREGISTRY_BASE_URL";
    let direct = command.get_envs().find(|(found, _)| *found == name);
    let direct = direct
        .and_then(|(_, value)| value?.to_str())
        .expect("tfupdate has the address");
    let relayed = direct.replace(
        &fixture.registry.url(""),
        &format!("http://127.0.0.1:{port}"),
    );
    command.env(name, relayed);
}

/// Changes the CLI configuration and the package URLs so that all commands that read the configuration reach the registry through a
/// relay.
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
