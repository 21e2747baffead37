//! Faults that only a run of the program shows: it says what is wrong and exits with 1, the lock file that was there is there
//! still, nothing lies beside it, and neither time nor memory grow with what the fault pretends.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;
use tflock_test_support::{
    Cost, Document, FakeRegistry, Outcome, ProviderSpec, RawEntry, TestContext,
};

use super::{archives, documents, proofs};
use crate::TFLOCK;

/// The provider that most faults are about.
pub(super) const PROVIDER: &str = "acme/ledger";

/// Where the default registry has its answers on that provider.
pub(super) const VERSIONS: &str = "/registry.terraform.io/v1/providers/acme/ledger/versions";
pub(super) const DOWNLOAD: &str =
    "/registry.terraform.io/v1/providers/acme/ledger/1.0.0/download/linux/amd64";
pub(super) const LIST: &str =
    "/registry.terraform.io/files/acme/ledger/1.0.0/terraform-provider-ledger_1.0.0_SHA256SUMS";

/// More than any run of the table needs, in debug builds on a busy machine.
const MAX_TIME: Duration = Duration::from_secs(60);
const MAX_MEMORY: u64 = 160 << 20;

/// The lock file before the run: its version no longer fits.
const BEFORE: &str = "# This file is maintained automatically by \"terraform init\".\n";

/// How a run ends.
#[derive(Clone, Copy)]
pub(super) enum Ends {
    /// The lock file has the provider, exit code 0. With what stderr must hold.
    Locks(&'static str),
    /// Exit code 1 and the old lock file. With what stderr must hold.
    Refuses(&'static str),
}

/// One fault: what is published and spoiled, and how the run ends.
#[derive(Clone, Copy)]
pub(super) struct Case {
    pub(super) name: &'static str,
    /// Which provider is required, if not [`PROVIDER`].
    pub(super) provider: &'static str,
    pub(super) options: &'static str,
    pub(super) prepare: Prepare,
    pub(super) ends: Ends,
}

/// How the registry gets its fault.
#[derive(Clone, Copy)]
pub(super) enum Prepare {
    /// In any way.
    Publish(fn(&mut FakeRegistry, ProviderSpec)),
    /// The provider is published, and its list of versions changed.
    List(fn(&mut Value)),
    /// The provider is published, and a field of its description changed.
    Field(&'static str, fn() -> Value),
    /// The provider is published, and a field of its description is this JSON.
    JsonField(&'static str, &'static str),
    /// These are the bytes of the package, signed and served as they are.
    Package(fn() -> Vec<u8>),
    /// The package has this entry beside its executable.
    Entry(fn() -> RawEntry),
    /// The package has a file of this name beside its executable.
    Named(&'static str),
    /// A recorded release is served.
    Recorded(&'static str),
    /// OpenTofu's registry reports this of the package.
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

    /// The line of the table, and what is not as it should be.
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

/// The last line of the first error that says what is wrong.
fn last_cause(stderr: &str) -> &str {
    let mut causes = stderr.lines().map(str::trim_start);
    let cause = causes.rfind(|line| line.starts_with("caused by: "));
    let line = cause.or_else(|| stderr.lines().next()).unwrap_or_default();
    line.trim_start_matches("caused by: ")
}

/// Changes a JSON document that the registry serves.
pub(super) fn alter(registry: &FakeRegistry, path: &str, change: impl FnOnce(&mut Value)) {
    let document = registry.document(path).unwrap();
    let mut value: Value = serde_json::from_slice(&document.body.to_vec()).unwrap();
    change(&mut value);
    registry.serve(path, Document::json(&value));
}

#[test]
#[expect(clippy::print_stderr, reason = "the table is for people")]
fn what_only_whole_runs_show() {
    let cases = [documents::cases(), proofs::cases(), archives::cases()].concat();
    let (mut table, mut wrong) = (String::new(), String::new());
    for case in &cases {
        let (line, fault) = case.check();
        writeln!(table, "{line}").unwrap();
        if let Some(fault) = fault {
            writeln!(wrong, "{fault}\n").unwrap();
        }
    }
    eprintln!("{table}{} faults, each in a run of its own", cases.len());
    assert!(wrong.is_empty(), "\n{wrong}");
}
