//! Parity with the real tools: tflock writes the same file as `terraform providers lock` does with the same registry.
//! Afterwards, plain `terraform init` with an empty data directory leaves the file unchanged.
//!
//! The inputs are the directories of `testdata/modules`. Each one is locked without a lock file, or with
//! `testdata/locks/CASE/before.hcl` if that exists. A second run must not change anything. The expected file is
//! `testdata/locks/CASE/.terraform.lock.hcl`, which Terraform wrote. `TFLOCK_RECORD=1` writes it again.

mod mirrors;
mod registry;
mod terragrunt;
mod terragrunt_layouts;
mod tofu;
mod trees;

use std::fs;
use std::path::{Path, PathBuf};

use tflock_test_support::{
    DEFAULT_PLATFORMS, FakeRegistry, TestContext, is_recording, terraform_on_path,
};

use crate::TFLOCK;

/// The cases in which the result of tflock or `init` differs.
const EXCEPTIONS: [(&str, ParityException); 4] = [
    (
        "all-foreign",
        ParityException::Option(["--mismatch", "add"]),
    ),
    ("out-of-range", ParityException::Replaced("acme/anvil")),
    (
        "no-longer-required",
        ParityException::InitDropsBlock("hashicorp/null"),
    ),
    (
        "unknown-schemes",
        ParityException::InitDropsLines(&["\"ZH:", "\"h2:", "\"xx:"]),
    ),
];

/// How the result of a case differs.
#[derive(Clone, Copy, PartialEq)]
enum ParityException {
    /// tflock writes the same file only with these options.
    Option([&'static str; 2]),
    /// Terraform fails until the entry of this provider is deleted.
    Replaced(&'static str),
    /// `init` rewrites the file without the block of this provider.
    InitDropsBlock(&'static str),
    /// `init` rewrites the file without the lines that contain one of these texts.
    InitDropsLines(&'static [&'static str]),
}

/// A directory of `testdata/modules`.
struct TerraformCase {
    name: String,
    /// The initial lock file, with its placeholders filled in.
    before: Option<String>,
    exception: Option<ParityException>,
}

impl TerraformCase {
    fn all(registry: &FakeRegistry) -> Vec<Self> {
        let mut names: Vec<_> = fs::read_dir(testdata("modules"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
            .into_iter()
            .map(|name| Self::read(name, registry))
            .collect()
    }

    fn read(name: String, registry: &FakeRegistry) -> Self {
        let before = fs::read_to_string(testdata(&format!("locks/{name}/before.hcl"))).ok();
        let exception = EXCEPTIONS.iter().find(|(case, _)| *case == name);
        Self {
            before: before.map(|text| registry.fill(&text)),
            exception: exception.map(|(_, exception)| *exception),
            name,
        }
    }

    /// Creates a fresh copy of the case in `directory`.
    fn lay_out(&self, directory: &str, context: &TestContext) {
        context.copy(&testdata(&format!("modules/{}", self.name)), directory);
        if let Some(before) = &self.before {
            context.write_lock_file(directory, before);
        }
    }

    fn recorded_path(&self) -> PathBuf {
        testdata(&format!("locks/{}/.terraform.lock.hcl", self.name))
    }

    fn recorded(&self) -> String {
        let path = self.recorded_path();
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Returns the expected lock file after `init`, given the file before it.
    fn after_init(&self, locked: &str) -> String {
        match self.exception {
            Some(ParityException::InitDropsBlock(provider)) => without_block(locked, provider),
            Some(ParityException::InitDropsLines(marks)) => without_lines(locked, marks),
            _ => locked.to_owned(),
        }
    }
}

#[test]
fn terraform_still_writes_the_recorded_lock_files() {
    if terraform_on_path().is_none() {
        return;
    }
    let registry = registry::start();
    let context = TestContext::new(TFLOCK, &registry);
    let record = is_recording();
    for case in TerraformCase::all(&registry) {
        case.lay_out(&case.name, &context);
        if let Some(ParityException::Replaced(provider)) = case.exception {
            let before = case.before.as_deref().unwrap();
            context.write_lock_file(&case.name, without_block(before, provider));
        }
        let written = lock_with_terraform(&case.name, &context);
        if record {
            fs::create_dir_all(case.recorded_path().parent().unwrap()).unwrap();
            fs::write(case.recorded_path(), &written).unwrap();
        }
        assert_eq!(written, case.recorded(), "{}", case.name);
    }
}

#[test]
fn tflock_writes_the_recorded_lock_files_and_init_leaves_them() {
    let registry = registry::start();
    let context = TestContext::new(TFLOCK, &registry);
    let terraform = terraform_on_path();
    for case in TerraformCase::all(&registry) {
        let directory = case.name.as_str();
        case.lay_out(directory, &context);
        lock(&case, &context);
        let written = context.lock_file(directory).unwrap();
        assert_eq!(written, case.recorded(), "{directory}");

        let modified = context.lock_file_modified(directory);
        lock(&case, &context);
        let modified_again = context.lock_file_modified(directory);
        assert_eq!(modified_again, modified, "{directory}");

        if terraform.is_some() {
            witness(&case, &written, &context);
        }
    }
}

/// Runs `terraform init` with an empty data directory on the file that tflock wrote. It must succeed with a read-only
/// lock file, and it must change nothing without that restriction.
fn witness(case: &TerraformCase, written: &str, context: &TestContext) {
    let init = |options: &[&'static str]| {
        let arguments = ["init", "-no-color"]
            .into_iter()
            .chain(options.iter().copied());
        context.terraform(&case.name, arguments).unwrap().run()
    };
    let after = case.after_init(written);
    if after == written {
        let outcome = init(&["-lockfile=readonly"]).expect_success();
        let is_unchanged = !outcome.stdout.contains("lock file not updated");
        assert!(is_unchanged, "{outcome}");
    }
    init(&[]).expect_success();
    let lock_file = context.lock_file(&case.name).unwrap();
    assert_eq!(lock_file, after, "{}", case.name);
}

/// Runs `tflock lock` on a case, for all platforms.
fn lock(case: &TerraformCase, context: &TestContext) {
    let platforms = DEFAULT_PLATFORMS.join(",");
    let mut program = context.tflock(["lock", "--engine", "terraform", "--platform", &platforms]);
    if let Some(ParityException::Option(option)) = case.exception {
        program = program.args(option);
    }
    program.arg(&case.name).run().expect_success();
}

/// Runs `terraform providers lock` in a directory for all platforms, after installing its local modules. Returns the
/// lock file.
fn lock_with_terraform(directory: &str, context: &TestContext) -> String {
    let data = context.path(&format!("{directory}-data"));
    let run = |arguments: &[&str]| {
        let terraform = context.terraform(directory, arguments.iter().copied());
        terraform
            .unwrap()
            .env("TF_DATA_DIR", &data)
            .run()
            .expect_success();
    };
    run(&["get", "-no-color"]);
    let platforms = DEFAULT_PLATFORMS.map(|platform| format!("-platform={platform}"));
    let mut arguments = vec!["providers", "lock", "-no-color"];
    arguments.extend(platforms.iter().map(String::as_str));
    run(&arguments);
    context.lock_file(directory).unwrap()
}

fn testdata(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata")
        .join(relative)
}

/// Returns `locks` without the block of `provider` and the empty line before it.
fn without_block(locks: &str, provider: &str) -> String {
    let start = locks
        .find(&format!("\nprovider \"registry.terraform.io/{provider}\""))
        .unwrap();
    let end = start + locks[start..].find("\n}\n").unwrap() + "\n}\n".len();
    format!("{}{}", &locks[..start], &locks[end..])
}

/// Returns `locks` without the lines that contain one of `marks`.
fn without_lines(locks: &str, marks: &[&str]) -> String {
    let kept = |line: &&str| !marks.iter().any(|mark| line.contains(mark));
    locks.split_inclusive('\n').filter(kept).collect()
}
