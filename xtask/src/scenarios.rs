//! What is measured: a registry on loopback, a tree, and the programs that are run on it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use tflock_test_support::{FakeRegistry, ProviderSpec, terraform_on_path};

use crate::measure::{Cost, median, once, runs, table};

/// Bytes of the generated executable where no real package is given: that of a large provider.
const LARGE: u64 = 700_000_000;
/// Executables of the four providers of the directory scenario, in bytes.
const SIZES: [u64; 4] = [120_000_000, 60_000_000, 30_000_000, 30_000_000];
const PLATFORMS: [&str; 3] = ["linux_amd64", "darwin_arm64", "windows_amd64"];
/// Root modules of the directory scenario.
const DIRECTORIES: usize = 30;
/// Directories that terraform is run in; its figures are multiplied up to [`DIRECTORIES`].
const SAMPLE: usize = 3;

/// Runs the named scenarios, or all.
pub fn run(names: &[&str]) {
    let wanted = |name: &str| names.is_empty() || names.contains(&name);
    let tflock = build();
    if wanted("package") {
        package(&tflock);
    }
    if wanted("directories") {
        directories(&tflock);
    }
}

/// The release build of tflock.
fn build() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in the project");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["build", "--release", "--bin", "tflock"])
        .current_dir(root);
    // Cargo's own variables, which it sets for this program, would make build scripts run again.
    for (name, _) in std::env::vars_os() {
        let name_text = name.to_string_lossy();
        if name_text.starts_with("CARGO_PKG_") || name_text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    let status = command.status().expect("cargo runs");
    assert!(status.success(), "tflock does not build");
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    target.join("release/tflock")
}

/// A tree with a CLI configuration that leads to the registry.
struct Tree {
    root: TempDir,
}

impl Tree {
    fn new(registry: &FakeRegistry) -> Self {
        let root = TempDir::with_prefix("tflock-bench").expect("a temporary directory");
        fs::write(root.path().join("terraform.rc"), registry.cli_config())
            .expect("the tree is ours");
        Self { root }
    }

    /// A root module that requires these providers.
    fn require(&self, directory: &str, sources: &[&str]) {
        let directory = self.root.path().join("work").join(directory);
        fs::create_dir_all(&directory).expect("the tree is ours");
        let entries: String = sources
            .iter()
            .enumerate()
            .map(|(index, source)| format!("    p{index} = {{ source = \"{source}\" }}\n"))
            .collect();
        let text = format!("terraform {{\n  required_providers {{\n{entries}  }}\n}}\n");
        fs::write(directory.join("main.tf"), text).expect("the tree is ours");
    }

    fn command(&self, program: &Path, directory: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.root.path().join("work").join(directory))
            .env("HOME", self.root.path())
            .env("TF_CLI_CONFIG_FILE", self.root.path().join("terraform.rc"))
            .env("TFLOCK_CACHE_DIR", self.root.path().join("cache"));
        command
    }

    /// Takes away what runs leave: lock files and the cache.
    fn clean(&self) {
        let _ = fs::remove_dir_all(self.root.path().join("cache"));
        remove_lock_files(&self.root.path().join("work"));
    }

    fn tflock(&self, tflock: &Path, platforms: &[&str]) -> Command {
        self.clean();
        let mut command = self.command(tflock, ".");
        command.args(["lock", "-r", "-q", "--platform", &platforms.join(",")]);
        command
    }

    fn terraform(&self, terraform: &Path, directory: &str, platforms: &[&str]) -> Command {
        self.clean();
        let mut command = self.command(terraform, directory);
        command.args(["providers", "lock"]);
        command.args(
            platforms
                .iter()
                .map(|platform| format!("-platform={platform}")),
        );
        command
    }
}

fn remove_lock_files(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            remove_lock_files(&path);
        } else if entry.file_name() == ".terraform.lock.hcl" {
            fs::remove_file(path).expect("the tree is ours");
        }
    }
}

/// One large package for one platform.
fn package(tflock: &Path) {
    let size = std::env::var("TFLOCK_BENCH_SIZE")
        .ok()
        .and_then(|text| text.parse().ok());
    let mut spec = ProviderSpec::new("acme/large")
        .versions(["1.0.0"])
        .platforms(["linux_amd64"]);
    spec = match std::env::var_os("TFLOCK_BENCH_PROVIDER") {
        Some(directory) => ProviderSpec::new("hashicorp/aws")
            .versions(["5.100.0"])
            .platforms(["linux_amd64"])
            .directory(directory),
        None => spec.payload(size.unwrap_or(LARGE)),
    };
    let (source, version) = match std::env::var_os("TFLOCK_BENCH_PROVIDER") {
        Some(_) => ("hashicorp/aws", "5.100.0"),
        None => ("acme/large", "1.0.0"),
    };
    let mut registry = FakeRegistry::start();
    registry.publish(&spec);
    let tree = Tree::new(&registry);
    tree.require("one", &[source]);
    let zip = tree.root.path().join("package.zip");
    let service = registry.service_url("registry.terraform.io");
    let base = service
        .strip_suffix("/v1/providers/")
        .expect("the service of providers");
    let filename = &registry.package(source, version, "linux_amd64").filename;
    let url = format!("{base}/files/{source}/{version}/{filename}");
    let curl = |target: &Path| {
        let mut command = Command::new("curl");
        command.args(["-sSf", "-o"]).arg(target).arg(&url);
        command
    };
    once(curl(&zip));
    let this = std::env::current_exe().expect("a running program has a file");
    let raw = |what: &str| {
        let mut command = Command::new(&this);
        command.arg(what).arg(&zip);
        command
    };
    let mut rows = vec![
        (
            "tflock".to_owned(),
            median(|| tree.tflock(tflock, &["linux_amd64"])),
        ),
        (
            "curl to /dev/null".to_owned(),
            median(|| curl(Path::new("/dev/null"))),
        ),
        (
            "raw inflate (zlib-rs)".to_owned(),
            median(|| raw("raw-inflate")),
        ),
        (
            "raw SHA-256 of the zip".to_owned(),
            median(|| raw("raw-sha256")),
        ),
    ];
    if let Some(terraform) = terraform_on_path() {
        let cost = median(|| tree.terraform(&terraform, "one", &["linux_amd64"]));
        rows.push(("terraform providers lock".to_owned(), cost));
    }
    let bytes = fs::metadata(&zip).map_or(0, |metadata| metadata.len());
    table(&format!("one package, {} MB zip", bytes / 1_000_000), &rows);
}

/// Many directories that require the same four providers, for three platforms.
fn directories(tflock: &Path) {
    let names = ["acme/a", "acme/b", "acme/c", "acme/d"];
    let mut registry = FakeRegistry::start();
    for (name, size) in names.iter().zip(SIZES) {
        let spec = ProviderSpec::new(name)
            .versions(["1.0.0"])
            .platforms(PLATFORMS)
            .payload(size);
        registry.publish(&spec);
    }
    let tree = Tree::new(&registry);
    for number in 0..DIRECTORIES {
        tree.require(&format!("d{number:03}"), &names);
    }
    let mut rows = vec![(
        format!("tflock, {DIRECTORIES} directories"),
        median(|| tree.tflock(tflock, &PLATFORMS)),
    )];
    if let Some(terraform) = terraform_on_path() {
        let mut sum = Cost::default();
        for number in 0..SAMPLE {
            let cost = once(tree.terraform(&terraform, &format!("d{number:03}"), &PLATFORMS));
            sum.wall += cost.wall;
            sum.cpu += cost.cpu;
            sum.memory = sum.memory.max(cost.memory);
        }
        let times = u32::try_from(DIRECTORIES).expect("few") / u32::try_from(SAMPLE).expect("few");
        sum.wall *= times;
        sum.cpu *= times;
        rows.push((
            format!("terraform, {SAMPLE} directories times {times}"),
            sum,
        ));
    }
    println!("\n{} runs of tflock, {SAMPLE} of terraform", runs());
    table(
        "30 directories, 4 providers of 120, 60, 30, 30 MB, 3 platforms, cold",
        &rows,
    );
}
