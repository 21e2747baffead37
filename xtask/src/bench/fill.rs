//! `tflock index fill` for many packages: its time compared with the raw work on the packages, and its downloads if it is killed and
//! repeated.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use tflock::index::SignerKey;
use tflock_test_support::ProviderSpec;

use super::fixture::{BenchFixture, curl, raw};
use super::measure::{BenchRow, Cost, counted, once, runs, table};

const PLATFORMS: [&str; 4] = [
    "darwin_arm64",
    "linux_amd64",
    "linux_arm64",
    "windows_amd64",
];
/// The number of providers. Each has one package for each platform.
const PROVIDERS: u64 = 50;
/// The sizes of the smallest and the largest executable in bytes. The others are spread evenly between them.
const SIZES: (u64, u64) = (10_000_000, 90_000_000);
/// How many times the command is killed.
const KILLS: usize = 10;

/// Many packages, and the directory and the key of an index for their records.
struct FillFixture {
    fixture: BenchFixture,
    signer: SignerKey,
    index: TempDir,
}

pub(super) fn run(tflock: &Path) {
    let specs: Vec<_> = (0..PROVIDERS).map(spec).collect();
    let mut fill = FillFixture {
        fixture: BenchFixture::new(&specs),
        signer: SignerKey::generate("example.com/bench").expect("random bytes are available"),
        index: new_index(),
    };
    fill.fixture.write(".git/HEAD", "");
    let (mut filled, mut raw) = (Vec::new(), Vec::new());
    for _ in 0..runs() {
        fill.index = new_index();
        filled.push(counted(fill.fixture.registry.log(), fill.command(tflock)));
        raw.push(raw_work(&fill.fixture));
    }
    let rows = [
        BenchRow::median("tflock index fill", &filled),
        BenchRow::median("raw inflate and SHA-256, spread over all cores", &raw),
    ];
    table(&format!("{} packages", packages()), &rows);
    fill.index = new_index();
    kill_and_resume(&fill, tflock);
}

fn packages() -> usize {
    usize::try_from(PROVIDERS).expect("the number is small") * PLATFORMS.len()
}

fn new_index() -> TempDir {
    TempDir::with_prefix("tflock-bench-index").expect("a temporary directory")
}

fn source(number: u64) -> String {
    format!("acme/p{number:02}")
}

fn spec(number: u64) -> ProviderSpec {
    let step = (SIZES.1 - SIZES.0) / (PROVIDERS - 1);
    ProviderSpec::new(&source(number))
        .versions(["1.0.0"])
        .platforms(PLATFORMS)
        .payload(SIZES.0 + number * step)
}

impl FillFixture {
    /// Returns a command that fills the index, without a cache.
    fn command(&self, tflock: &Path) -> Command {
        self.fixture.clean();
        let mut command = self.fixture.command(tflock, ".");
        let index = format!("file://{}", self.index.path().display());
        command
            .args(["index", "fill"])
            .args((0..PROVIDERS).map(source))
            .env("TFLOCK_INDEX", index)
            .env("TFLOCK_INDEX_SIGNING_KEY", self.signer.secret_text());
        command
    }

    /// Returns the number of requests for packages.
    fn downloads(&self) -> usize {
        self.fixture.registry.log().count("GET", "*.zip")
    }
}

/// Measures the CPU time of the raw work on all packages, and divides it by the number of cores. The raw work is inflating, and
/// SHA-256 of the zips and of their contents.
fn raw_work(fixture: &BenchFixture) -> Cost {
    let zip = fixture.path("package.zip");
    let mut cost = Cost::default();
    for number in 0..PROVIDERS {
        for platform in PLATFORMS {
            let url = fixture.package_url(&source(number), "1.0.0", platform);
            once(curl(&url, &zip));
            for what in ["raw-inflate", "raw-sha256", "raw-sha256-content"] {
                cost.cpu += once(raw(what, &zip)).cpu;
            }
        }
    }
    let cores = thread::available_parallelism().map_or(1, usize::from);
    cost.wall = cost.cpu / u32::try_from(cores).expect("the number is small");
    cost
}

/// Kills the command [`KILLS`] times, each time after an equal share of the packages, and then lets it finish. Prints how many
/// packages were requested in all runs together.
fn kill_and_resume(fill: &FillFixture, tflock: &Path) {
    fill.fixture.registry.log().clear();
    for kill in 1..=KILLS {
        let mut command = fill.command(tflock);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("tflock can be started");
        while fill.downloads() < packages() * kill / (KILLS + 1) {
            let ended = child.try_wait().expect("the child was not waited for");
            assert!(ended.is_none(), "the run ended before it was killed");
            thread::sleep(Duration::from_millis(2));
        }
        child.kill().expect("the child is running");
        child.wait().expect("the child was not waited for");
    }
    once(fill.command(tflock));
    let requested = fill.downloads();
    fill.fixture.registry.log().clear();
    once(fill.command(tflock));
    assert_eq!(fill.downloads(), 0, "a record is missing");
    println!(
        "\nkilled {KILLS} times and resumed: {requested} requests for {} packages",
        packages()
    );
}
