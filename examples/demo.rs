//! Demonstrates tflock without Terraform and without the internet: `cargo run --example demo`
//!
//! Starts a signed provider registry on loopback, creates a small monorepo in a temporary directory, and runs the real `tflock`
//! binary there, first with an empty cache and then with the cache of that run.

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use tflock_test_support::{FakeRegistry, ProviderSpec, TestContext};

/// The root of the workspace.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The platforms that the demo's lock files support.
const PLATFORMS: &str = "linux_amd64,darwin_arm64,windows_amd64";

/// The unpacked size of each provider executable in bytes.
const EXECUTABLE: u64 = 6 << 20;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let tflock = build()?;
    println!("Publishing signed packages in a local registry ...");
    let registry = registry();
    let context = TestContext::new(tflock, &registry);
    lay_out(&context, &registry);
    println!("Registry: {} (no internet needed)", registry.url("/"));
    println!("Repository: {}\n", context.work().display());

    let session: [(&str, &[&str]); 5] = [
        (
            "The first run: lock files are created, completed and updated to the pinned versions.",
            &["lock", "-r", "--platform", PLATFORMS, "./"],
        ),
        (
            "The second run: every lock file is up to date, and no request is sent.",
            &["lock", "-r", "--platform", PLATFORMS, "./"],
        ),
        (
            "In CI: would a lock file change?",
            &["lock", "-r", "--check", "--platform", PLATFORMS, "./"],
        ),
        (
            "An audit: do the lock files match what the registry signed?",
            &["verify", "-r", "--platform", PLATFORMS, "./"],
        ),
        (
            "Which directory requires which provider, and which upgrades are available?",
            &["list", "-r", "./"],
        ),
    ];
    let mut done = true;
    for (what, arguments) in session {
        done &= show(what, arguments, &context, &registry);
    }
    println!(
        "# stacks/billing/.terraform.lock.hcl\n\n{}",
        context.read("stacks/billing/.terraform.lock.hcl")
    );
    Ok(if done {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Builds the binary with the profile of this example and returns its path.
fn build() -> Result<PathBuf, Box<dyn Error>> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        // Cargo selects the same features as for `cargo run --example demo` if the example is in the same command. It then compiles
        // nothing twice.
        .args(["build", "--bin", "tflock", "--example", "demo"])
        .current_dir(ROOT);
    // `cargo run` sets these variables. Build scripts would see them as a change, and half of the crates would be
    // recompiled.
    let prefixes = ["CARGO_PKG_", "CARGO_MANIFEST_"];
    for (name, _) in env::vars_os() {
        if prefixes
            .iter()
            .any(|start| name.to_string_lossy().starts_with(start))
        {
            command.env_remove(&name);
        }
    }
    // This executable is TARGET/PROFILE/examples/demo.
    let profile = env::current_exe()?
        .ancestors()
        .nth(2)
        .map(Path::to_path_buf);
    let profile = profile.ok_or("this program is not in a target directory")?;
    if profile.ends_with("release") {
        command.arg("--release");
    }
    println!("$ cargo build --bin tflock");
    if !command.status()?.success() {
        return Err("tflock does not build".into());
    }
    Ok(profile.join(format!("tflock{}", env::consts::EXE_SUFFIX)))
}

fn registry() -> FakeRegistry {
    let mut registry = FakeRegistry::start();
    for (source, versions) in [
        ("acme/forge", ["5.1.0", "5.2.0"]),
        ("hashicorp/null", ["3.1.1", "3.2.1"]),
        ("registry.example.com/finance/ledger", ["2.3.1", "2.4.0"]),
    ] {
        registry.publish(
            ProviderSpec::new(source)
                .versions(versions)
                .payload(EXECUTABLE),
        );
    }
    registry
}

/// Copies the demo's repository, and inserts the hashes of this registry's packages into its outdated lock file.
fn lay_out(context: &TestContext, registry: &FakeRegistry) {
    let source = Path::new(ROOT).join("testdata/demo");
    context.copy(&source, ".");
    let old = context.read("stacks/billing/.terraform.lock.hcl");
    context.write_lock_file("stacks/billing", registry.fill(&old));
}

/// Runs tflock in the repository and prints its output. Returns whether it succeeded.
fn show(what: &str, arguments: &[&str], context: &TestContext, registry: &FakeRegistry) -> bool {
    println!("# {what}\n$ tflock {}", arguments.join(" "));
    registry.log().clear();
    let start = Instant::now();
    let program = context
        .tflock(arguments.iter().copied())
        .env_remove("NO_COLOR");
    let succeeded = program.show();
    let elapsed = start.elapsed();
    let log = registry.log();
    let megabytes = log.bytes("*") / 1_000_000;
    println!(
        "# {elapsed:.2?}, {} requests, {megabytes} MB\n",
        log.total()
    );
    succeeded
}
