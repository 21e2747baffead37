//! Faults that need a run of the program. The run reports the fault, exits with 1, keeps the old lock file and leaves
//! no other file. Neither its time nor its memory grows with the size that the response claims.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;
use tflock_test_support::{FakeRegistry, Outcome, ProviderSpec, RawEntry, RunCost, TestContext};

use super::{archives, documents, proofs};
use crate::TFLOCK;

/// The provider in which most faults occur.
pub(super) const PROVIDER: &str = "acme/ledger";

/// The paths of requests for this provider in the default registry.
pub(super) const VERSIONS: &str = "/registry.terraform.io/v1/providers/acme/ledger/versions";
pub(super) const DOWNLOAD: &str =
    "/registry.terraform.io/v1/providers/acme/ledger/1.0.0/download/linux/amd64";
pub(super) const LIST: &str =
    "/registry.terraform.io/files/acme/ledger/1.0.0/terraform-provider-ledger_1.0.0_SHA256SUMS";

/// Limits for a run of a debug build on a busy machine.
const MAX_TIME: Duration = Duration::from_secs(60);
const MAX_MEMORY: u64 = 160 << 20;

/// The lock file that exists before the run.
const BEFORE: &str = "# This file is maintained automatically by \"terraform init\".\n";

/// A fault in a published provider, and the expected result.
#[derive(Clone, Copy)]
pub(super) struct RunFault {
    pub(super) name: &'static str,
    /// The required provider, usually [`PROVIDER`].
    pub(super) provider: &'static str,
    pub(super) options: &'static str,
    pub(super) setup: FaultSetup,
    /// With `locks` or `locks: TEXT`, the lock file contains the provider and the exit code is 0. With any other TEXT,
    /// the lock file is unchanged and the exit code is 1. Standard error contains TEXT.
    pub(super) result: &'static str,
}

/// How a fault is created in the registry.
#[derive(Clone, Copy)]
pub(super) enum FaultSetup {
    /// Calls a function with the name of the fault.
    Publish(fn(&str, &mut FakeRegistry, ProviderSpec)),
    /// Publishes the provider and [sets](set) a value in the JSON document at this path.
    Json(&'static str, &'static str, &'static str),
    /// Publishes a package with the bytes that the function returns for the name of the fault, with a valid signature.
    Package(fn(&str) -> Vec<u8>),
    /// Publishes a package with the executable and this entry, in the syntax of [`archives::entry`].
    Entry(&'static str),
    /// Publishes a package with the executable and a file of this name.
    Named(&'static str),
    /// Serves a recorded release.
    Recorded(&'static str),
    /// Publishes the provider in OpenTofu's registry and changes one value in the registry's `packages` field.
    Report(&'static str, &'static str),
}

/// Creates a fault of [`PROVIDER`] in Terraform's registry.
pub(super) fn fault(name: &'static str, setup: FaultSetup, result: &'static str) -> RunFault {
    RunFault {
        name,
        provider: PROVIDER,
        options: "",
        setup,
        result,
    }
}

impl RunFault {
    fn publish(&self, registry: &mut FakeRegistry) {
        let spec = ProviderSpec::new(self.provider).platforms(["linux_amd64"]);
        match self.setup {
            FaultSetup::Publish(publish) => publish(self.name, registry, spec),
            FaultSetup::Json(path, pointer, value) => {
                registry.publish(spec);
                registry.change_json(path, |document| set(document, pointer, value));
            }
            FaultSetup::Package(bytes) => archives::publish(registry, spec, bytes(self.name)),
            FaultSetup::Entry(words) => {
                archives::publish(registry, spec, archives::with(archives::entry(words)));
            }
            FaultSetup::Named(name) => {
                let name = name.replace(r"\0", "\0").replace(r"\n", "\n");
                archives::publish(registry, spec, archives::with(RawEntry::stored(name, "x")));
            }
            FaultSetup::Recorded(name) => proofs::serve_recorded(registry, name),
            FaultSetup::Report(pointer, value) => proofs::report(registry, spec, pointer, value),
        }
    }

    fn run(&self) -> (Outcome, RunCost, Option<String>, Vec<String>) {
        let mut registry = FakeRegistry::start();
        self.publish(&mut registry);
        let context = TestContext::new(TFLOCK, &registry);
        context.require("a", &[(self.provider, "")]);
        context.write_lock_file("a", BEFORE);
        let line = format!("lock --platform linux_amd64 a {}", self.options);
        let (outcome, cost) = context.command(&line).measure();
        (outcome, cost, context.lock_file("a"), context.list("a"))
    }

    /// Returns the line for the table, and a description of the difference if the result is unexpected.
    fn check(&self) -> (String, Option<String>) {
        let (outcome, cost, lock_file, files) = self.run();
        let lock_file = lock_file.unwrap_or_default();
        let (code, text, is_right) = match self.result.strip_prefix("locks") {
            Some(text) => {
                let text = text.trim_start_matches(": ");
                (0, text, lock_file.contains(self.provider))
            }
            None => (1, self.result, lock_file == BEFORE),
        };
        let is_right = is_right
            && outcome.code == Some(code)
            && unwrapped(&outcome.stderr).contains(text)
            && !outcome.stderr.contains("panicked")
            && !outcome.stderr.contains('\u{1b}')
            && files == [".terraform.lock.hcl", "main.tf"]
            && cost.wall < MAX_TIME
            && cost.peak_memory < MAX_MEMORY;
        let line = format!(
            "{:<36} exit {} {:5.2} s {:4} MB  {}",
            self.name,
            outcome.code.unwrap_or(-1),
            cost.wall.as_secs_f64(),
            cost.peak_memory >> 20,
            last_cause(&outcome.stderr),
        );
        let wrong =
            (!is_right).then(|| format!("{line}\nexpected `{text}`, files {files:?}\n{outcome}"));
        (line, wrong)
    }
}

fn unwrapped(text: &str) -> String {
    text.replace('\n', " ")
}

/// Returns the last cause of the first error.
fn last_cause(stderr: &str) -> &str {
    let mut causes = stderr.lines().map(str::trim_start);
    let cause = causes.rfind(|line| line.starts_with("caused by: "));
    let line = cause.or_else(|| stderr.lines().next()).unwrap_or_default();
    line.trim_start_matches("caused by: ")
}

/// Sets the value at a JSON pointer to the parsed JSON `value`. A last component of `-` appends to an array. An empty
/// `value` changes nothing.
pub(super) fn set(document: &mut Value, pointer: &str, value: &str) {
    if value.is_empty() {
        return;
    }
    let value = serde_json::from_str(value).unwrap();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match document.pointer_mut(parent).unwrap() {
        Value::Array(items) => items.push(value),
        object => object[name] = value,
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "developers read the table")]
fn faults_of_whole_runs() {
    let faults = [documents::faults(), proofs::faults(), archives::faults()].concat();
    let (mut table, mut wrong) = (String::new(), String::new());
    for fault in &faults {
        let (line, difference) = fault.check();
        writeln!(table, "{line}").unwrap();
        if let Some(difference) = difference {
            writeln!(wrong, "{difference}\n").unwrap();
        }
    }
    eprintln!("{table}{} faults, each in a separate run", faults.len());
    assert!(wrong.is_empty(), "\n{wrong}");
}
