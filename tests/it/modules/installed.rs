//! Modules that `init` or `get` installed: which directories their own calls may name.

use serde_json::json;
use tflock_test_support::{FakeRegistry, Program, ProviderSpec, TestContext};

use super::git::Repository;
use crate::TFLOCK;

const LOCK: [&str; 3] = ["providers", "lock", "-platform=linux_amd64"];

fn tool(engine: &str, root: &str, arguments: &[&str], context: &TestContext) -> Option<Program> {
    let arguments = arguments.iter().copied();
    let tool = match engine {
        "tofu" => context.tofu(root, arguments),
        _ => context.terraform(root, arguments),
    };
    Some(tool?.env("TF_DATA_DIR", ".terraform"))
}

fn requiring(name: &str) -> String {
    format!(
        "terraform {{\n  required_providers {{\n    {name} = {{\n      source = \"acme/{name}\"\n    }}\n  }}\n}}\n"
    )
}

#[test]
fn a_call_out_of_an_installed_package_is_followed_only_where_it_is_recorded() {
    let mut registry = FakeRegistry::start();
    for name in ["acme/anvil", "acme/bolt"] {
        let hosts = ["registry.terraform.io", "registry.opentofu.org"];
        registry.publish(ProviderSpec::new(name).hosts(hosts));
    }
    let context = TestContext::new(TFLOCK, &registry);
    let repository = Repository::create();
    let inside = "module \"in\" {\n  source = \"../inside\"\n}\n";
    let outside = "module \"up\" {\n  source = \"../../outside\"\n}\n";
    repository
        .write("m/main.tf", &format!("{inside}{outside}"))
        .write("inside/main.tf", &requiring("anvil"))
        .commit();
    let source = format!("{}//m", repository.url());
    let root = format!("module \"m\" {{\n  source = \"{source}\"\n}}\n");
    for engine in ["terraform", "tofu"] {
        let (ours, theirs) = (format!("{engine}-ours"), format!("{engine}-theirs"));
        let lock = ["lock", "--engine", engine, "--platform", "linux_amd64"];
        let tflock = || context.tflock(lock).arg(&ours).run();
        for directory in [&ours, &theirs] {
            context.write(&format!("{directory}/main.tf"), &root);
        }
        if let Some(get) = tool(engine, &theirs, &["get", "-no-color"], &context) {
            let refused = get.run().expect_code(1).to_string();
            assert!(
                refused.contains("Local module path escapes module package"),
                "{refused}"
            );
        }
        let refused = tflock().expect_code(1).to_string();
        assert!(
            refused.contains("which is outside of the package of its caller"),
            "{refused}"
        );

        // The module is now installed, but the call that leaves its package has no record. It is still refused.
        let record = |key: &str, source: &str, directory: &str| {
            let directory = format!(".terraform/modules/{directory}");
            json!({"Key": key, "Source": source, "Dir": directory})
        };
        let mut records = vec![
            record("m", &source, "m/m"),
            record("m.in", "../inside", "m/inside"),
        ];
        let install = |records: &[serde_json::Value]| {
            for directory in [&ours, &theirs] {
                let modules = format!("{directory}/.terraform/modules");
                context.write(
                    &format!("{modules}/m/m/main.tf"),
                    format!("{inside}{outside}"),
                );
                context.write(&format!("{modules}/m/inside/main.tf"), requiring("anvil"));
                context.write(&format!("{modules}/outside/main.tf"), requiring("bolt"));
                let manifest = json!({"Modules": records}).to_string();
                context.write(&format!("{modules}/modules.json"), manifest);
            }
        };
        install(&records);
        if let Some(lock) = tool(engine, &theirs, &LOCK, &context) {
            let refused = lock.run().expect_code(1).to_string();
            assert!(refused.contains("Module not installed"), "{refused}");
            assert!(refused.contains("m/m/main.tf"), "{refused}");
        }
        let refused = tflock().expect_code(1).to_string();
        assert!(
            refused.contains("which is outside of the package of its caller"),
            "{refused}"
        );

        // With a record of that call, from any program, it is followed.
        records.push(record("m.up", "../../outside", "outside"));
        install(&records);
        tflock().expect_success();
        let written = context.lock_file(&ours).unwrap();
        assert!(
            written.contains("acme/anvil") && written.contains("acme/bolt"),
            "{written}"
        );
        if let Some(lock) = tool(engine, &theirs, &LOCK, &context) {
            lock.run().expect_success();
            assert_eq!(context.lock_file(&theirs), Some(written), "{engine}");
        }
    }
}
