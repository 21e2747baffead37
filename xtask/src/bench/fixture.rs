//! A tree of root modules beside a registry on loopback, and the commands that work on it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use tflock_test_support::{FakeRegistry, ProviderSpec, require_or_skip};

/// Bytes of the generated executable where no real package is given: that of a large provider.
const LARGE: u64 = 700_000_000;

/// A registry, and a tree with a CLI configuration that leads to it.
pub(super) struct Fixture {
    pub(super) registry: FakeRegistry,
    root: TempDir,
}

impl Fixture {
    pub(super) fn new(providers: &[ProviderSpec]) -> Self {
        let mut registry = FakeRegistry::start();
        for provider in providers {
            registry.publish(provider);
        }
        let root = TempDir::with_prefix("tflock-bench").expect("a temporary directory");
        fs::write(root.path().join("terraform.rc"), registry.cli_config())
            .expect("the tree is ours");
        Self { registry, root }
    }

    /// A path beside the tree.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// A root module that requires these providers, as `(SOURCE, CONSTRAINTS)`.
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

    /// A file of the tree.
    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.path("work").join(path);
        let directory = path.parent().expect("a file lies in a directory");
        fs::create_dir_all(directory).expect("the tree is ours");
        fs::write(path, text).expect("the tree is ours");
    }

    /// Where `SOURCE` (on the default host) in a version is for a platform.
    pub(super) fn package_url(&self, source: &str, version: &str, platform: &str) -> String {
        let service = self.registry.service_url("registry.terraform.io");
        let base = service
            .strip_suffix("/v1/providers/")
            .expect("the service of providers");
        let filename = &self.registry.package(source, version, platform).filename;
        format!("{base}/files/{source}/{version}/{filename}")
    }

    /// A command in a directory of the tree, with its CLI configuration.
    pub(super) fn command(&self, program: &Path, directory: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.path("work").join(directory))
            .env("HOME", self.root.path())
            .env("TF_CLI_CONFIG_FILE", self.path("terraform.rc"))
            .env("TFLOCK_CACHE_DIR", self.path("cache"));
        command
    }

    /// Takes away what runs leave: lock files and the cache.
    pub(super) fn clean(&self) {
        // Neither is there before the first run.
        let _ = fs::remove_dir_all(self.path("cache"));
        self.remove_lock_files();
    }

    /// Takes away the lock files and leaves the cache.
    pub(super) fn remove_lock_files(&self) {
        remove_lock_files(&self.path("work"));
    }

    /// tflock on the whole tree, as it is.
    pub(super) fn again(&self, tflock: &Path, platforms: &[&str]) -> Command {
        let mut command = self.command(tflock, ".");
        command.args(["lock", "-r", "-q", "--platform", &platforms.join(",")]);
        command
    }

    /// tflock on the whole tree, with nothing there yet.
    pub(super) fn cold(&self, tflock: &Path, platforms: &[&str]) -> Command {
        self.clean();
        self.again(tflock, platforms)
    }

    /// `terraform providers lock` in one directory, with nothing there yet.
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

    /// `tfupdate lock -r` on the whole tree, whose lock files it completes: it creates none.
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
            fs::remove_file(path).expect("the tree is ours");
        }
    }
}

/// A large package, real if one is given: what to publish, its source and its version.
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

/// Bytes of a large executable.
pub(super) fn size() -> u64 {
    let asked = std::env::var("TFLOCK_BENCH_SIZE").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(LARGE)
}

/// A peer that is measured where it is on PATH.
pub(super) fn peer(name: &str) -> Option<PathBuf> {
    require_or_skip(name, false)
}

/// curl, which downloads `url` and does nothing else.
pub(super) fn curl(url: &str, target: &Path) -> Command {
    let mut command = Command::new("curl");
    command.args(["-sSf", "-o"]).arg(target).arg(url);
    command
}

/// This program as one of the raw limits, on `file`.
pub(super) fn raw(what: &str, file: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a running program has a file"));
    command.arg(what).arg(file);
    command
}
