//! Parity with the real tools, on the directories of `testdata/modules`. Each is locked fresh; or, where
//! `testdata/locks/CASE/before.hcl` is there, starting from that lock file. The expected file is
//! `testdata/locks/CASE/.terraform.lock.hcl`, which Terraform wrote: `TFLOCK_RECORD=1` writes it anew.

mod registry;

use std::fs;
use std::path::{Path, PathBuf};

use tflock_test_support::{DEFAULT_PLATFORMS, FakeRegistry, TestContext, terraform_on_path};

use crate::TFLOCK;

/// The case that Terraform refuses until the entry of this provider is deleted.
const REPLACED: (&str, &str) = ("out-of-range", "acme/anvil");

/// One directory of `testdata/modules`.
struct Case {
    name: String,
    /// The lock file to start from, templates filled in.
    before: Option<String>,
}

impl Case {
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
        Self {
            before: before.map(|text| registry.fill(&text)),
            name,
        }
    }

    /// A fresh copy of the case as `directory`.
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
}

#[test]
fn recorded_lock_files_are_what_terraform_writes() {
    if terraform_on_path().is_none() {
        return;
    }
    let registry = registry::start();
    let context = TestContext::new(TFLOCK, &registry);
    let record = std::env::var("TFLOCK_RECORD").is_ok_and(|value| value == "1");
    for case in Case::all(&registry) {
        case.lay_out(&case.name, &context);
        if case.name == REPLACED.0 {
            let before = case.before.as_deref().unwrap();
            context.write_lock_file(&case.name, without_block(before, REPLACED.1));
        }
        let written = lock_with_terraform(&case.name, &context);
        if record {
            fs::create_dir_all(case.recorded_path().parent().unwrap()).unwrap();
            fs::write(case.recorded_path(), &written).unwrap();
        }
        assert_eq!(written, case.recorded(), "{}", case.name);
    }
}

/// Runs `providers lock` of the real Terraform in a directory, for all platforms; the file it left.
fn lock_with_terraform(directory: &str, context: &TestContext) -> String {
    let platforms = DEFAULT_PLATFORMS.map(|platform| format!("-platform={platform}"));
    let arguments = ["providers", "lock", "-no-color"];
    let arguments = arguments
        .into_iter()
        .chain(platforms.iter().map(String::as_str));
    let program = context.terraform(directory, arguments);
    program.unwrap().run().expect_success();
    context.lock_file(directory).unwrap()
}

fn testdata(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata")
        .join(relative)
}

/// `locks` without the block of `provider`, and without the empty line before it.
fn without_block(locks: &str, provider: &str) -> String {
    let start = locks
        .find(&format!("\nprovider \"registry.terraform.io/{provider}\""))
        .unwrap();
    let end = start + locks[start..].find("\n}\n").unwrap() + "\n}\n".len();
    format!("{}{}", &locks[..start], &locks[end..])
}
