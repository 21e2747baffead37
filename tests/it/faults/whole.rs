//! Faults that need a run of the program. It reports the fault and exits with 1, the old lock file is unchanged, no
//! other file remains, and neither time nor memory grow with the size that the response claims.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;
use tflock_test_support::{
    Cost, Document, FakeRegistry, Outcome, ProviderSpec, RawEntry, TestContext,
};

use super::{archives, documents, proofs};
use crate::TFLOCK;

/// The provider in most cases.
pub(super) const PROVIDER: &str = "acme/ledger";

/// The paths of this provider in the default registry.
pub(super) const VERSIONS: &str = "/registry.terraform.io/v1/providers/acme/ledger/versions";
pub(super) const DOWNLOAD: &str =
    "/registry.terraform.io/v1/providers/acme/ledger/1.0.0/download/linux/amd64";
pub(super) const LIST: &str =
    "/registry.terraform.io/files/acme/ledger/1.0.0/terraform-provider-ledger_1.0.0_SHA256SUMS";

/// Limits for a run in a debug build on a busy machine.
const MAX_TIME: Duration = Duration::from_secs(60);
const MAX_MEMORY: u64 = 160 << 20;

/// The lock file before the run.
const BEFORE: &str = "# This file is maintained automatically by \"terraform init\".\n";

/// The expected result of a run.
#[derive(Clone, Copy)]
pub(super) enum Ends {
    /// The lock file has the provider and the exit code is 0. Standard error contains this text.
    Locks(&'static str),
    /// The lock file is unchanged and the exit code is 1. Standard error contains this text.
    Refuses(&'static str),
}

/// A fault in a published provider, and the expected result.
#[derive(Clone, Copy)]
pub(super) struct Case {
    pub(super) name: &'static str,
    /// The required provider, usually [`PROVIDER`].
    pub(super) provider: &'static str,
    pub(super) options: &'static str,
    pub(super) prepare: Prepare,
    pub(super) ends: Ends,
}

/// How a fault is created in the registry.
#[derive(Clone, Copy)]
pub(super) enum Prepare {
    /// Calls a function.
    Publish(fn(&mut FakeRegistry, ProviderSpec)),
    /// Publishes the provider with a changed version list.
    List(fn(&mut Value)),
    /// Publishes the provider with a changed field in its description.
    Field(&'static str, fn() -> Value),
    /// Publishes the provider with this JSON as the value of a field in its description.
    JsonField(&'static str, &'static str),
    /// Publishes these bytes as the package, with a valid signature.
    Package(fn() -> Vec<u8>),
    /// Publishes a package with this entry and the executable.
    Entry(fn() -> RawEntry),
    /// Publishes a package with a file of this name and the executable.
    Named(&'static str),
    /// Serves a recorded release.
    Recorded(&'static str),
    /// Makes OpenTofu's registry report this for the package.
    Report(fn(&mut Value)),
}

/// A fault of [`PROVIDER`] in Terraform's registry.
pub(super) fn case(name: &'static str, prepare: Prepare, ends: Ends) -> Case {
    Case {
        name,
        provider: PROVIDER,
        options: "",
        prepare,
        ends,
    }
}

impl Prepare {
    fn apply(self, registry: &mut FakeRegistry, spec: ProviderSpec) {
        match self {
            Self::Publish(publish) => publish(registry, spec),
            Self::List(change) => {
                registry.publish(spec);
                alter(registry, VERSIONS, change);
            }
            Self::Field(name, value) => {
                registry.publish(spec);
                alter(registry, DOWNLOAD, |description| {
                    description[name] = value();
                });
            }
            Self::JsonField(name, value) => {
                registry.publish(spec);
                alter(registry, DOWNLOAD, |description| {
                    description[name] = serde_json::from_str(value).unwrap();
                });
            }
            Self::Package(bytes) => archives::publish(registry, spec, bytes()),
            Self::Entry(entry) => archives::publish(registry, spec, archives::with(entry())),
            Self::Named(name) => {
                archives::publish(registry, spec, archives::with(RawEntry::stored(name, "x")));
            }
            Self::Recorded(name) => proofs::serve_recorded(registry, name),
            Self::Report(change) => proofs::report(registry, spec, change),
        }
    }
}

impl Case {
    fn run(&self) -> (Outcome, Cost, Option<String>, Vec<String>) {
        let mut registry = FakeRegistry::start();
        let spec = ProviderSpec::new(self.provider).platforms(["linux_amd64"]);
        self.prepare.apply(&mut registry, spec);
        let context = TestContext::new(TFLOCK, &registry);
        context.require("a", &[(self.provider, "")]);
        context.write_lock_file("a", BEFORE);
        let line = format!("lock --platform linux_amd64 a {}", self.options);
        let (outcome, cost) = context.command(&line).measure();
        (outcome, cost, context.lock_file("a"), context.list("a"))
    }

    /// The line of the table, and a description of the difference if the result is unexpected.
    fn check(&self) -> (String, Option<String>) {
        let (outcome, cost, lock_file, files) = self.run();
        let lock_file = lock_file.unwrap_or_default();
        let (code, text, is_right) = match self.ends {
            Ends::Locks(text) => (0, text, lock_file.contains(self.provider)),
            Ends::Refuses(text) => (1, text, lock_file == BEFORE),
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

/// The last cause of the first error.
fn last_cause(stderr: &str) -> &str {
    let mut causes = stderr.lines().map(str::trim_start);
    let cause = causes.rfind(|line| line.starts_with("caused by: "));
    let line = cause.or_else(|| stderr.lines().next()).unwrap_or_default();
    line.trim_start_matches("caused by: ")
}

/// Changes a JSON document in the registry.
pub(super) fn alter(registry: &FakeRegistry, path: &str, change: impl FnOnce(&mut Value)) {
    let document = registry.document(path).unwrap();
    let mut value: Value = serde_json::from_slice(&document.body.to_vec()).unwrap();
    change(&mut value);
    registry.serve(path, Document::json(&value));
}

#[test]
#[expect(clippy::print_stderr, reason = "the table is for people")]
fn faults_of_whole_runs() {
    let cases = [documents::cases(), proofs::cases(), archives::cases()].concat();
    let (mut table, mut wrong) = (String::new(), String::new());
    for case in &cases {
        let (line, fault) = case.check();
        writeln!(table, "{line}").unwrap();
        if let Some(fault) = fault {
            writeln!(wrong, "{fault}\n").unwrap();
        }
    }
    eprintln!("{table}{} faults, each in a separate run", cases.len());
    assert!(wrong.is_empty(), "\n{wrong}");
}
