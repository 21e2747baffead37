//! Parity with OpenTofu: tflock writes the same file as `tofu providers lock` does with the same registry. Afterwards,
//! plain `tofu init` with an empty data directory leaves the file unchanged.
//!
//! The inputs are those of the tests with Terraform and `testdata/tofu/modules`, which covers every difference between
//! the tools. `testdata/tofu/locks/CASE` records what OpenTofu wrote, and `testdata/tofu/VERSION` its version. The
//! tests compare tflock's files with these records, and with those of `tofu` itself if it is installed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tflock_test_support::{
    DEFAULT_PLATFORMS, FakeRegistry, Program, TestContext, is_recording, tofu_on_path,
};

use super::{registry, testdata};
use crate::TFLOCK;

/// The OpenTofu command that wrote a recorded file.
#[derive(Clone, Copy, PartialEq)]
enum By {
    /// `providers lock`, for all platforms.
    Lock,
    /// `init`, for [`RECORDED_ON`]. Unlike `providers lock`, it reads test files.
    Init,
}

/// Cases with test files. tflock must write the same file as `init` and, without the test files, as `providers lock`.
const WITH_TESTS: [&str; 1] = ["test-files"];

/// Cases that plain `init` rejects or rewrites, with the reason. `init` also removes entries for Terraform's registry
/// from old lock files.
const NOT_FOR_INIT: [(&str, &str); 2] = [
    ("legacy-and-built-in", "it refuses legacy addresses"),
    ("test-files", "it needs more than `providers lock` finds"),
];

/// The platform on which the results of `init` were recorded.
const RECORDED_ON: &str = "linux_amd64";

struct TofuCase {
    name: String,
    input: PathBuf,
    before: Option<String>,
    by: By,
}

impl TofuCase {
    fn all(registry: &FakeRegistry) -> Vec<Self> {
        let mut inputs = BTreeMap::new();
        for parent in ["modules", "tofu/modules"] {
            for entry in fs::read_dir(testdata(parent)).unwrap() {
                let entry = entry.unwrap();
                let name = entry.file_name().into_string().unwrap();
                let known = inputs.insert(name, entry.path());
                assert!(known.is_none(), "a second case has the name of {known:?}");
            }
        }
        let mut cases = Vec::new();
        for (name, input) in inputs {
            let with_tests = WITH_TESTS.contains(&name.as_str());
            for by in [By::Lock, By::Init] {
                if by == By::Lock || with_tests {
                    cases.push(Self::read(&name, &input, by, registry));
                }
            }
        }
        cases
    }

    fn read(name: &str, input: &Path, by: By, registry: &FakeRegistry) -> Self {
        let before = ["tofu/locks", "locks"]
            .map(|parent| testdata(&format!("{parent}/{name}/before.hcl")))
            .iter()
            .find_map(|path| fs::read_to_string(path).ok());
        let suffix = if by == By::Init { "-by-init" } else { "" };
        Self {
            name: format!("{name}{suffix}"),
            input: input.to_path_buf(),
            before: before.map(|text| registry.fill(&text)),
            by,
        }
    }

    /// Creates a fresh copy of the case below `work`.
    fn lay_out(&self, context: &TestContext) {
        context.copy(&self.input, &self.name);
        if let Some(before) = &self.before {
            context.write_lock_file(&self.name, before);
        }
    }

    fn recorded_path(&self) -> PathBuf {
        testdata(&format!("tofu/locks/{}/.terraform.lock.hcl", self.name))
    }

    fn recorded(&self) -> String {
        let path = self.recorded_path();
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Runs OpenTofu and returns the lock file.
    fn lock_with_tofu(&self, context: &TestContext) -> String {
        let data = context.path(&format!("{}-data", self.name));
        let run = |arguments: &[&str]| {
            let arguments = arguments.iter().copied();
            let tofu = context.tofu(&self.name, arguments).unwrap();
            tofu.env("TF_DATA_DIR", &data).run().expect_success();
        };
        if self.by == By::Init {
            run(&["init", "-no-color"]);
        } else {
            run(&["get", "-no-color"]);
            let platforms = DEFAULT_PLATFORMS.map(|platform| format!("-platform={platform}"));
            let mut arguments = vec!["providers", "lock", "-no-color"];
            arguments.extend(platforms.iter().map(String::as_str));
            run(&arguments);
        }
        context.lock_file(&self.name).unwrap_or_default()
    }

    fn tflock(&self, context: &TestContext) -> Program {
        let all = DEFAULT_PLATFORMS.join(",");
        let (platforms, tests) = match self.by {
            By::Lock => (all.as_str(), Some("--no-tests")),
            By::Init => (RECORDED_ON, None),
        };
        let arguments = ["lock", "--engine", "tofu", "--platform", platforms];
        context
            .tflock(arguments.into_iter().chain(tests))
            .arg(&self.name)
    }
}

#[test]
fn tofu_still_writes_the_recorded_lock_files() {
    let registry = registry::start();
    let context = TestContext::new(TFLOCK, &registry);
    let Some(version) = context.tofu(".", ["version"]) else {
        return;
    };
    let version = version.run().expect_success();
    let record = is_recording();
    let version = version.stdout.lines().next().unwrap_or_default().to_owned();
    if record {
        fs::write(testdata("tofu/VERSION"), format!("{version}\n")).unwrap();
    }
    for case in TofuCase::all(&registry) {
        if case.by == By::Init && !is_recorded_platform() {
            continue;
        }
        case.lay_out(&context);
        let written = case.lock_with_tofu(&context);
        if record {
            fs::create_dir_all(case.recorded_path().parent().unwrap()).unwrap();
            fs::write(case.recorded_path(), &written).unwrap();
        }
        assert_eq!(written, case.recorded(), "{} with {version}", case.name);
    }
}

#[test]
fn tflock_writes_what_tofu_wrote_and_init_leaves_it() {
    let registry = registry::start();
    let context = TestContext::new(TFLOCK, &registry);
    let has_tofu = tofu_on_path().is_some();
    for case in TofuCase::all(&registry) {
        case.lay_out(&context);
        case.tflock(&context).run().expect_success();
        let written = context.lock_file(&case.name).unwrap_or_default();
        assert_eq!(written, case.recorded(), "{}", case.name);

        let modified = context.lock_file_modified(&case.name);
        case.tflock(&context).run().expect_success();
        let modified_again = context.lock_file_modified(&case.name);
        assert_eq!(modified_again, modified, "{}", case.name);

        let is_for_init = NOT_FOR_INIT.iter().all(|(name, _)| *name != case.name);
        if has_tofu && case.before.is_none() && is_for_init {
            witness(&case, &written, &context);
        }
    }
}

/// Runs plain `tofu init` on the file that tflock wrote. It must not change the file.
fn witness(case: &TofuCase, written: &str, context: &TestContext) {
    for arguments in [
        &["init", "-no-color", "-lockfile=readonly"][..],
        &["init", "-no-color"],
    ] {
        let arguments = arguments.iter().copied();
        let tofu = context.tofu(&case.name, arguments).unwrap();
        let outcome = tofu.run().expect_success();
        let is_unchanged = !outcome.stdout.contains("lock file not updated");
        assert!(is_unchanged, "{}: {outcome}", case.name);
    }
    let lock_file = context.lock_file(&case.name).unwrap();
    assert_eq!(lock_file, written, "{}", case.name);
}

fn is_recorded_platform() -> bool {
    cfg!(all(target_os = "linux", target_arch = "x86_64"))
}
