//! A tree of root modules, a registry on loopback, and the commands to measure.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use tflock_test_support::{FakeRegistry, ProviderSpec, require_or_skip};

/// The size of the generated executable in bytes, unless the user sets another one. Large providers have this size.
const LARGE: u64 = 700_000_000;

/// A registry, and a tree with a CLI configuration that redirects to it.
pub(super) struct BenchFixture {
    pub(super) registry: FakeRegistry,
    root: TempDir,
}

impl BenchFixture {
    pub(super) fn new(providers: &[ProviderSpec]) -> Self {
        let mut registry = FakeRegistry::start();
        for provider in providers {
            registry.publish(provider);
        }
        let root = TempDir::with_prefix("tflock-bench").expect("a temporary directory");
        fs::write(root.path().join("terraform.rc"), registry.cli_config())
            .expect("the tree is writable");
        Self { registry, root }
    }

    /// Returns a path next to the tree.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Writes a root module that requires these providers, given as `(SOURCE, CONSTRAINTS)`.
    pub(super) fn require(&self, directory: &str, providers: &[(&str, &str)]) {
        let entries = providers.iter().enumerate();
        let entries: String = entries
            .map(|(index, (source, constraints))| {
                let version = match *constraints {
                    "" => String::new(),
                    text => format!(", version = \"{text}\""),
                };
                format!("    p{index} = {{ source = \"{source}\"{version} }}\n")
            })
            .collect();
        let text = format!("terraform {{\n  required_providers {{\n{entries}  }}\n}}\n");
        self.write(&format!("{directory}/main.tf"), &text);
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.path("work").join(path);
        let directory = path.parent().expect("a file has a parent directory");
        fs::create_dir_all(directory).expect("the tree is writable");
        fs::write(path, text).expect("the tree is writable");
    }

    /// Returns the URL of a package. `source` is a provider on the default host.
    pub(super) fn package_url(&self, source: &str, version: &str, platform: &str) -> String {
        let service = self.registry.service_url("registry.terraform.io");
        let base = service
            .strip_suffix("/v1/providers/")
            .expect("the URL ends with the path of the service");
        let filename = &self.registry.package(source, version, platform).filename;
        format!("{base}/files/{source}/{version}/{filename}")
    }

    /// Returns a command that runs in a directory of the tree, with the tree's CLI configuration.
    pub(super) fn command(&self, program: &Path, directory: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.path("work").join(directory))
            .env("HOME", self.root.path())
            .env("TF_CLI_CONFIG_FILE", self.path("terraform.rc"))
            .env("TFLOCK_CACHE_DIR", self.path("cache"));
        command
    }

    /// Removes the lock files and the cache of earlier runs.
    pub(super) fn clean(&self) {
        // The cache and the lock files do not exist before the first run.
        let _ = fs::remove_dir_all(self.path("cache"));
        self.remove_lock_files();
    }

    /// Removes the lock files but not the cache.
    pub(super) fn remove_lock_files(&self) {
        remove_lock_files(&self.path("work"));
    }

    /// Returns a command that runs tflock on the whole tree.
    pub(super) fn again(&self, tflock: &Path, platforms: &[&str]) -> Command {
        let mut command = self.command(tflock, ".");
        command.args(["lock", "-r", "-q", "--platform", &platforms.join(",")]);
        command
    }

    /// Removes the lock files and the cache, and returns a command that runs tflock on the whole tree.
    pub(super) fn cold(&self, tflock: &Path, platforms: &[&str]) -> Command {
        self.clean();
        self.again(tflock, platforms)
    }

    /// Returns a command that runs `terraform providers lock` in a directory without a lock file.
    pub(super) fn terraform(
        &self,
        terraform: &Path,
        directory: &str,
        platforms: &[&str],
    ) -> Command {
        self.clean();
        let mut command = self.command(terraform, directory);
        let platforms = platforms.iter().map(|name| format!("-platform={name}"));
        command.args(["providers", "lock"]).args(platforms);
        command
    }

    /// Returns a command that runs `tfupdate lock -r` on the whole tree. tfupdate only updates existing lock files.
    pub(super) fn tfupdate(&self, tfupdate: &Path, platforms: &[&str]) -> Command {
        let service = self.registry.service_url("registry.terraform.io");
        let base = service.strip_suffix("v1/providers/").expect("the service");
        let mut command = self.command(tfupdate, ".");
        let platforms = platforms.iter().map(|name| format!("--platform={name}"));
        command
            .env("TFREGISTRY_BASE_URL", base)
            .arg("lock")
            .args(platforms)
            .args(["-r", "."]);
        command
    }
}

fn remove_lock_files(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            remove_lock_files(&path);
        } else if entry.file_name() == ".terraform.lock.hcl" {
            fs::remove_file(path).expect("the tree is writable");
        }
    }
}

/// Returns a large package: the spec to publish, its source and its version. Uses the real package if one is given.
pub(super) fn large() -> (ProviderSpec, &'static str, &'static str) {
    if let Some(directory) = std::env::var_os("TFLOCK_BENCH_PROVIDER") {
        let spec = ProviderSpec::new("hashicorp/aws")
            .versions(["5.100.0"])
            .platforms(["linux_amd64"])
            .directory(directory);
        return (spec, "hashicorp/aws", "5.100.0");
    }
    let spec = ProviderSpec::new("acme/large")
        .versions(["1.0.0"])
        .platforms(["linux_amd64"])
        .payload(size());
    (spec, "acme/large", "1.0.0")
}

/// Returns the size of a large executable in bytes.
pub(super) fn size() -> u64 {
    let size = std::env::var("TFLOCK_BENCH_SIZE").ok();
    size.and_then(|text| text.parse().ok()).unwrap_or(LARGE)
}

/// Returns the path of a program to compare with, or `None` if it is not installed.
pub(super) fn peer(name: &str) -> Option<PathBuf> {
    require_or_skip(name, false)
}

/// Returns a command that downloads `url` with curl.
pub(super) fn curl(url: &str, target: &Path) -> Command {
    let mut command = Command::new("curl");
    command.args(["-sSf", "-o"]).arg(target).arg(url);
    command
}

/// Returns a command that runs one of this program's raw operations on `file`.
pub(super) fn raw(what: &str, file: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a running program has a file"));
    command.arg(what).arg(file);
    command
}
