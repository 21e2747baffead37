//! A committed `.terraform` directory: its module manifest must not point outside the tree.

use std::fs;
use std::os::unix::fs::symlink;

use tflock_test_support::TestContext;

use crate::TFLOCK;

/// A provider required by a configuration outside the repository. It is listed only if that configuration is read.
const CANARY: &str = "acme/canary";

/// Creates a repository whose root module calls a remote module, and a module outside the repository.
fn tree() -> TestContext {
    let context = TestContext::offline(TFLOCK);
    fs::create_dir(context.path(".git")).unwrap();
    context.write(
        "main.tf",
        "module \"m\" {\n  source = \"git::https://127.0.0.1:9/m.git\"\n}\n",
    );
    context.require("../outside/module", &[(CANARY, "")]);
    context.require("inside", &[("acme/inside", "")]);
    context
}

fn manifest(directory: &str) -> String {
    format!(
        r#"{{"Modules":[{{"Key":"m","Source":"git::https://127.0.0.1:9/m.git","Dir":"{directory}"}}]}}"#
    )
}

/// Returns the output of `tflock list` for the root module.
fn output_of_list(context: &TestContext, data_directory: Option<&str>) -> String {
    let mut program = context.command("list --offline --format json .");
    if let Some(directory) = data_directory {
        program = program.env("TF_DATA_DIR", directory);
    }
    let outcome = program.run();
    outcome.stdout + &outcome.stderr
}

#[test]
fn records_name_directories_of_the_tree_only() {
    let context = tree();
    let outside = context.path("../outside/module").canonicalize().unwrap();
    let modules = context.path(".terraform/modules");
    fs::create_dir_all(&modules).unwrap();
    symlink(&outside, modules.join("linked")).unwrap();
    for (directory, is_read) in [
        ("inside", true),
        (".terraform/modules/../../inside", true),
        ("../outside/module", false),
        (outside.to_str().unwrap(), false),
        (".terraform/modules/linked", false),
    ] {
        fs::write(modules.join("modules.json"), manifest(directory)).unwrap();
        let output = output_of_list(&context, None);
        assert!(!output.contains(CANARY), "{directory}: {output}");
        assert_eq!(
            output.contains("acme/inside"),
            is_read,
            "{directory}: {output}"
        );
    }
}

#[test]
fn manifests_do_not_come_from_outside() {
    let context = tree();
    let manifest = manifest("../../inside");
    context.write(
        "../outside/modules/modules.json",
        manifest.replace("../..", "."),
    );
    context.write("../outside/secret.json", "{\"Modules\": \"acme/canary\"}");
    let link = |target: &str, path: &str| {
        let _ = fs::remove_file(context.path(path));
        symlink(target, context.path(path)).unwrap();
    };
    // First the whole directory is a symlink, then only the file.
    link("../outside", ".terraform");
    assert!(!output_of_list(&context, None).contains("acme/inside"));
    fs::remove_file(context.path(".terraform")).unwrap();
    fs::create_dir_all(context.path(".terraform/modules")).unwrap();
    for target in [
        "../../../outside/secret.json",
        "/dev/zero",
        "/proc/self/environ",
    ] {
        link(target, ".terraform/modules/modules.json");
        let output = output_of_list(&context, None);
        assert!(
            !output.contains(CANARY) && !output.contains("acme/inside"),
            "{output}"
        );
    }
}

/// `TF_DATA_DIR`, which the user sets, may name any directory.
#[test]
fn the_data_directory_of_the_user_may_be_outside() {
    let context = tree();
    let data = context.path("../data");
    context.require("../data/modules/m", &[("acme/installed", "")]);
    let data = data.canonicalize().unwrap();
    for directory in [
        data.join("modules/m").to_str().unwrap(),
        "../data/modules/m",
    ] {
        context.write("../data/modules/modules.json", manifest(directory));
        let output = output_of_list(&context, data.to_str());
        assert!(output.contains("acme/installed"), "{output}");
    }
}
