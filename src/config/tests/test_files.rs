//! Section 7 of docs/rules/config.md: test files.

use super::super::{ReadOptions, Tests};
use super::{ENGINES, Engine, Tree, requires, requires_with, show};

const ROOT: (&str, &str) = ("main.tf", "resource \"root_x\" \"a\" {\n}\n");
const SETUP: (&str, &str) = ("setup/main.tf", "resource \"setup_x\" \"a\" {\n}\n");
const RUN: &str = "run \"s\" {\n module {\n  source = \"./setup\"\n }\n}\n";
const BOTH: Result<&str, &String> = Ok("hashicorp/root, hashicorp/setup");
const ONLY_ROOT: Result<&str, &String> = Ok("hashicorp/root");

#[test]
fn which_files_are_read() {
    for (name, terraform, tofu) in [
        ("main.tftest.hcl", BOTH, BOTH),
        ("tests/main.tftest.hcl", BOTH, BOTH),
        ("tests/.x.tftest.hcl", BOTH, BOTH), // hidden files are read there
        (".x.tftest.hcl", ONLY_ROOT, ONLY_ROOT),
        ("x.tftest.hcl~", ONLY_ROOT, ONLY_ROOT),
        ("tests/deeper/main.tftest.hcl", ONLY_ROOT, ONLY_ROOT),
        ("other/main.tftest.hcl", ONLY_ROOT, ONLY_ROOT),
        ("setup/main.tftest.hcl", ONLY_ROOT, ONLY_ROOT), // in a child module
        ("main.tofutest.hcl", ONLY_ROOT, BOTH),
    ] {
        for (engine, expected) in ENGINES.into_iter().zip([terraform, tofu]) {
            let found = requires(&[ROOT, SETUP, (name, RUN)], engine);
            assert_eq!(found.as_deref(), expected, "{engine}: {name}");
        }
    }
    let json = r#"{"run": {"s": {"module": {"source": "./setup"}}}}"#;
    assert_eq!(
        requires(
            &[ROOT, SETUP, ("main.tftest.json", json)],
            Engine::Terraform
        )
        .as_deref(),
        BOTH
    );
    let twins = [
        ROOT,
        SETUP,
        ("main.tftest.hcl", "run {"),
        ("main.tofutest.hcl", RUN),
    ];
    assert_eq!(
        requires(&twins, Engine::Tofu).as_deref(),
        BOTH,
        "the `.tftest.hcl` file is ignored"
    );
}

#[test]
fn invalid_test_files() {
    for text in [
        "run \"s\" {",
        "run \"a b\" {\n}\n",
        "run \"s\" {\n}\nrun \"s\" {\n}\n",
        "run \"s\" {\n module {\n  source = var.x\n }\n}\n",
        "run \"s\" {\n module {\n  source = \"git::https://h/r\"\n }\n}\n",
        "run \"s\" {\n module {\n  source = \"./setup\"\n  version = null\n }\n}\n",
        "run \"s\" {\n module {\n  source = \"./nowhere\"\n }\n}\n",
    ] {
        for engine in ENGINES {
            assert!(
                requires(&[ROOT, SETUP, ("main.tftest.hcl", text)], engine).is_err(),
                "{text}"
            );
        }
    }
    let tree = Tree::new(&[ROOT, ("tests/x.tftest.hcl/file", "")]);
    assert!(
        tree.read(&ReadOptions::new(Engine::Terraform)).is_err(),
        "a directory with the name of a test file"
    );
    let tree = Tree::new(&[ROOT, ("tests", "")]);
    assert!(
        tree.read(&ReadOptions::new(Engine::Terraform)).is_err(),
        "a file in place of the directory"
    );
}

#[test]
fn the_test_directory_can_be_changed_and_tests_can_be_skipped() {
    let files = [ROOT, SETUP, ("checks/main.tftest.hcl", RUN)];
    let mut options = ReadOptions::new(Engine::Terraform);
    assert_eq!(requires_with(&files, &options).as_deref(), ONLY_ROOT);
    options.tests = Tests::Read {
        directory: "checks".into(),
    };
    assert_eq!(requires_with(&files, &options).as_deref(), BOTH);
    options.tests = Tests::Read {
        directory: "/checks".into(),
    }; // even an absolute path is relative to the module
    assert_eq!(requires_with(&files, &options).as_deref(), BOTH);
    options.tests = Tests::Skip;
    assert_eq!(requires_with(&files, &options).as_deref(), ONLY_ROOT);
    options.tests = Tests::Read {
        directory: "nowhere".into(),
    };
    let root = Tree::new(&files).read(&options).unwrap();
    assert_eq!(
        (show(&root, Engine::Terraform).as_str(), root.warnings.len()),
        ("hashicorp/root", 1)
    );
}

#[test]
fn provider_blocks_of_tests_apply_to_tofu_only() {
    let text = "provider \"z\" {\n version = \"~> 1.0\"\n}\nmock_provider \"y\" {\n}\n";
    let files = [ROOT, ("main.tftest.hcl", text)];
    assert_eq!(requires(&files, Engine::Terraform).as_deref(), ONLY_ROOT);
    assert_eq!(
        requires(&files, Engine::Tofu).as_deref(),
        Ok("hashicorp/root, hashicorp/z ~> 1.0")
    );
}

#[test]
fn run_modules_of_registries_are_in_the_manifest() {
    let run = "run \"s\" {\n module {\n  source = \"acme/dns/any\"\n  version = \"1.0.0\"\n }\n}\n";
    for (name, key) in [
        ("main.tftest.hcl", "test.main.s"),
        ("tests/main.tftest.hcl", "test.tests.main.s"),
    ] {
        let record = format!(
            r#"{{"Modules":[{{"Key":"{key}","Source":"acme/dns/any","Version":"1.0.0","Dir":"setup"}}]}}"#
        );
        let files = [
            ROOT,
            SETUP,
            (name, run),
            (".terraform/modules/modules.json", record.as_str()),
        ];
        assert_eq!(
            requires(&files, Engine::Terraform).as_deref(),
            BOTH,
            "{name}"
        );
    }
    assert!(requires(&[ROOT, SETUP, ("main.tftest.hcl", run)], Engine::Terraform).is_err());
}
