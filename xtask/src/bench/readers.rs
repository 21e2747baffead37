//! Tests whether concurrent processes disturb each other; their speed is secondary. Runs `terraform init` in many directories at
//! once, from a mirror and from a shared plugin cache, and repeats `terraform init` while tflock changes the mirror.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tflock_test_support::ProviderSpec;

use super::fixture::{BenchFixture, peer};
use super::measure::once;

const LINUX: [&str; 1] = ["linux_amd64"];
const PROVIDERS: [&str; 4] = ["acme/a", "acme/b", "acme/c", "acme/d"];
/// The number of concurrent `init` processes.
const INITS: usize = 50;
/// The number of directories in which `init` is run repeatedly.
const LOOPS: usize = 8;
/// The duration of the scenario with repeated runs.
const TIME: Duration = Duration::from_secs(60);

fn fixture() -> BenchFixture {
    let of_size = |name: &&str| ProviderSpec::new(name).platforms(LINUX).payload(5_000_000);
    let mut providers: Vec<_> = PROVIDERS.iter().map(of_size).collect();
    let other = ProviderSpec::new("acme/other").platforms(LINUX);
    providers.push(other.versions(["1.0.0", "2.0.0"]).payload(2_000_000));
    BenchFixture::new(&providers)
}

fn directory(number: usize) -> String {
    format!("d{number:03}")
}

/// Writes root modules with their lock files, and a CLI configuration with the mirror.
fn lay_out(fixture: &BenchFixture, tflock: &Path, count: usize) {
    let pins = PROVIDERS.map(|name| (name, "1.0.0"));
    for number in 0..count {
        fixture.require(&directory(number), &pins);
    }
    once(fixture.cold(tflock, &LINUX));
    once(mirror(fixture, tflock, &["."]));
    fixture.registry.log().clear();
}

fn mirror(fixture: &BenchFixture, tflock: &Path, paths: &[&str]) -> Command {
    let mut command = fixture.command(tflock, ".");
    command.args(["mirror", "-q", "--platform", LINUX[0], "--cli-config"]);
    command
        .arg(fixture.path("mirror.rc"))
        .arg(fixture.path("mirror"))
        .args(paths);
    command
}

/// Returns a command that runs `terraform init` in a directory without installed providers.
fn init(fixture: &BenchFixture, terraform: &Path, directory: &str, configuration: &str) -> Command {
    // The directory does not exist before the first run.
    let _ = fs::remove_dir_all(fixture.path("work").join(directory).join(".terraform"));
    let mut command = fixture.command(terraform, directory);
    command
        .args(["init", "-no-color", "-input=false"])
        .env("TF_CLI_CONFIG_FILE", fixture.path(configuration))
        .env("CHECKPOINT_DISABLE", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

/// Runs [`INITS`] `init` processes at once, first with the mirror and then with the plugin cache.
pub(super) fn inits(tflock: &Path) {
    let Some(terraform) = peer("terraform") else {
        return;
    };
    let fixture = fixture();
    lay_out(&fixture, tflock, INITS);
    println!(
        "\n{INITS} times `terraform init` at once, {} providers\n",
        PROVIDERS.len()
    );
    println!("| from | failed | lock files changed | requests | MB from the registry | wall s |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for (name, configuration) in [
        ("a mirror of tflock", "mirror.rc"),
        ("a shared TF_PLUGIN_CACHE_DIR, empty", "terraform.rc"),
    ] {
        let cache = fixture.path("plugin-cache");
        fs::create_dir_all(&cache).expect("the tree is writable");
        let before = lock_files(&fixture, INITS);
        fixture.registry.log().clear();
        let started = Instant::now();
        let children: Vec<Child> = (0..INITS)
            .map(|number| {
                let mut command = init(&fixture, &terraform, &directory(number), configuration);
                if configuration == "terraform.rc" {
                    command.env("TF_PLUGIN_CACHE_DIR", &cache);
                }
                command.spawn().expect("terraform can be started")
            })
            .collect();
        let ended = children.into_iter().map(|child| child.wait_with_output());
        let failed = ended.filter(|ended| !ended.as_ref().is_ok_and(|out| out.status.success()));
        let failed = failed.count();
        let wall = started.elapsed().as_secs_f64();
        let changed = before
            .iter()
            .zip(lock_files(&fixture, INITS))
            .filter(|(old, new)| *old != new)
            .count();
        let log = fixture.registry.log();
        println!(
            "| {name} | {failed} | {changed} | {} | {:.0} | {wall:.1} |",
            log.total(),
            log.bytes("*") as f64 / 1e6
        );
    }
}

fn lock_files(fixture: &BenchFixture, count: usize) -> Vec<Option<String>> {
    let path = |number| format!("work/{}/.terraform.lock.hcl", directory(number));
    let read = |number| fs::read_to_string(fixture.path(&path(number))).ok();
    (0..count).map(read).collect()
}

/// Runs `init` in [`LOOPS`] loops for a minute while a further loop adds and prunes packages with tflock.
pub(super) fn beside(tflock: &Path) {
    let Some(terraform) = peer("terraform") else {
        return;
    };
    let fixture = fixture();
    lay_out(&fixture, tflock, LOOPS);
    for version in ["1.0.0", "2.0.0"] {
        fixture.require(&format!("other-{version}"), &[("acme/other", version)]);
    }
    let before = lock_files(&fixture, LOOPS);
    once(fixture.again(tflock, &LINUX));
    let loops = InitLoops::default();
    let runs = std::thread::scope(|scope| {
        for name in (0..LOOPS).map(directory) {
            let (fixture, terraform, loops) = (&fixture, &terraform, &loops);
            let run_init = move || init(fixture, terraform, &name, "mirror.rc");
            scope.spawn(move || loops.run(run_init));
        }
        let runs = mirror_and_prune(&fixture, tflock);
        loops.are_done.store(true, Ordering::Relaxed);
        runs
    });
    let is_unchanged = lock_files(&fixture, LOOPS) == before;
    println!(
        "\n{LOOPS} loops of `terraform init` alongside `tflock mirror --prune` for {} s: {} runs of init, {} failed; {runs} runs \
         of tflock, each adds a version and removes one, none failed; lock files {}",
        TIME.as_secs(),
        loops.inits.into_inner(),
        loops.failures.into_inner(),
        if is_unchanged { "unchanged" } else { "CHANGED" },
    );
}

/// The state of the threads that repeat `init`: whether they must stop, and the numbers of runs and failures.
#[derive(Default)]
struct InitLoops {
    are_done: AtomicBool,
    inits: AtomicUsize,
    failures: AtomicUsize,
}

impl InitLoops {
    fn run(&self, init: impl Fn() -> Command) {
        while !self.are_done.load(Ordering::Relaxed) {
            let output = init().output().expect("terraform can be started");
            self.inits.fetch_add(1, Ordering::Relaxed);
            if !output.status.success() {
                self.failures.fetch_add(1, Ordering::Relaxed);
                println!("{}", String::from_utf8_lossy(&output.stderr));
            }
        }
    }
}

/// Adds packages to the mirror and prunes others, again and again for [`TIME`]. Returns the number of runs of tflock.
fn mirror_and_prune(fixture: &BenchFixture, tflock: &Path) -> usize {
    let started = Instant::now();
    let mut paths: Vec<String> = (0..LOOPS).map(directory).collect();
    paths.push(String::new());
    let mut runs = 0;
    while started.elapsed() < TIME {
        paths[LOOPS] = format!("other-{}.0.0", runs % 2 + 1);
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let mut command = mirror(fixture, tflock, &paths);
        command.arg("--prune");
        once(command);
        runs += 1;
    }
    runs
}
