//! Parity for repositories with Terragrunt units: one `lock -r` writes the same files as `terragrunt run --all`, which runs
//! the engine in one unit after another.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use tflock_test_support::{
    Document, FakeRegistry, Outcome, Program, ProviderSpec, TestAuthority, TestContext,
    require_or_skip,
};

use super::terragrunt_layouts::{LAYOUTS, Layout, LayoutSite, PROVIDERS};
use super::trees::lock_files;
use crate::TFLOCK;

const PLATFORMS: [&str; 2] = ["linux_amd64", "darwin_arm64"];

/// A registry for providers and modules, and the tree of the repositories.
struct UnitSite {
    registry: FakeRegistry,
    authority: TestAuthority,
    host: String,
    context: TestContext,
}

/// What a program wrote and what it cost.
struct UnitRun {
    locks: BTreeMap<String, String>,
    wall: Duration,
    requests: usize,
    /// The number of packages and module archives that were requested.
    downloads: usize,
    bytes: u64,
}

impl UnitSite {
    fn start() -> Self {
        let mut registry = FakeRegistry::start();
        for provider in PROVIDERS {
            let spec = ProviderSpec::new(provider).hosts(tflock_test_support::DEFAULT_HOSTS);
            registry.publish(
                spec.platforms(PLATFORMS)
                    .versions(["1.0.0", "1.1.0", "2.0.0"]),
            );
        }
        let authority = TestAuthority::create();
        let host = registry.serve_tls(&authority);
        let discovery = Document::json(&json!({"modules.v1": "/modules/"}));
        registry.serve(&format!("/{host}/.well-known/terraform.json"), discovery);
        let context = TestContext::new(TFLOCK, &registry);
        Self {
            registry,
            authority,
            host,
            context,
        }
    }

    /// Writes a repository, runs a program in it, and returns what it wrote.
    fn run(&self, layout: &Layout, who: &str, command: impl Fn(&str) -> Program) -> UnitRun {
        let directory = format!("{}-{who}", layout.name);
        (layout.write)(&LayoutSite {
            context: &self.context,
            registry: &self.registry,
            directory: &directory,
            host: &self.host,
        });
        let log = self.registry.log();
        log.clear();
        let started = Instant::now();
        let program = command(&format!("{directory}/live"))
            .env("SSL_CERT_FILE", self.authority.certificate_file());
        let _: Outcome = program.run().expect_success();
        UnitRun {
            wall: started.elapsed(),
            requests: log.total(),
            downloads: log.count("GET", "*.zip"),
            bytes: log.bytes("*"),
            locks: lock_files(&self.context.path(&directory)),
        }
    }

    fn tflock(&self, directory: &str, engine: &str) -> Program {
        let platforms = PLATFORMS.join(",");
        let arguments = ["lock", "-r", "--engine", engine, "--platform", &platforms];
        let cache = self.context.path(&format!("cache/{directory}"));
        let program = self.context.tflock(arguments).arg(directory);
        program.env("TFLOCK_CACHE_DIR", cache)
    }

    fn terragrunt(&self, directory: &str, engine: &Path, terragrunt: &Path) -> Program {
        let platforms = PLATFORMS.map(|platform| format!("-platform={platform}"));
        self.context
            .other(terragrunt, directory)
            .env("TG_TF_PATH", engine)
            .env("TG_NON_INTERACTIVE", "true")
            .args(["run", "--all", "--", "providers", "lock"])
            .args(platforms)
    }
}

/// Returns the lock files outside the caches of Terragrunt.
fn in_units(locks: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let locks = locks.into_iter();
    locks
        .filter(|(directory, _)| !directory.contains(".terragrunt-cache"))
        .collect()
}

#[test]
#[expect(clippy::print_stderr, reason = "developers read the figures")]
fn one_run_locks_every_unit_as_terragrunt_does() {
    for engine in ["terraform", "tofu"] {
        let site = UnitSite::start();
        for layout in &LAYOUTS {
            let ours = site.run(layout, &format!("{engine}-ours"), |directory| {
                site.tflock(directory, engine)
            });
            assert_eq!(ours.locks.len(), layout.units, "{}", layout.name);
            let tools = [engine, "terragrunt"].map(|name| require_or_skip(name, false));
            let [Some(program), Some(terragrunt)] = &tools else {
                continue;
            };
            let theirs = site.run(layout, &format!("{engine}-theirs"), |directory| {
                site.terragrunt(directory, program, terragrunt)
            });
            let their_locks = in_units(theirs.locks.clone());
            assert_eq!(their_locks, ours.locks, "{}", layout.name);
            let shown = |run: &UnitRun| {
                format!(
                    "{:.2} s, {} requests, {} downloads, {} bytes",
                    run.wall.as_secs_f64(),
                    run.requests,
                    run.downloads,
                    run.bytes
                )
            };
            eprintln!(
                "{} units, {}, {engine}: terragrunt {}; tflock {}; {:.0} times faster, {} times fewer downloads",
                layout.units,
                layout.name,
                shown(&theirs),
                shown(&ours),
                theirs.wall.as_secs_f64() / ours.wall.as_secs_f64(),
                theirs.downloads / ours.downloads
            );
        }
    }
}
