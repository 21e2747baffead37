//! Modules that `init` or `get` installed: which directories they may call.

use serde_json::{Value, json};
use tflock_test_support::{
    DEFAULT_HOSTS, FakeRegistry, Outcome, ProviderSpec, TestContext, assert_contains,
};

use super::binary::{call, requiring};
use super::git::ModuleRepository;
use crate::TFLOCK;

const REFUSED: &str = "points outside its caller's package";

/// A tree with a root module for tflock and a copy of it for the real tool.
struct InstalledTree<'a> {
    context: &'a TestContext,
    engine: &'static str,
    /// The source of the remote module.
    source: String,
    directories: [String; 2],
}

/// Returns the remote module. Its second call points outside its package if the module is installed in `m`.
fn remote_module() -> String {
    call("in", "../inside", "") + &call("up", "../../outside", "")
}

impl<'a> InstalledTree<'a> {
    fn new(context: &'a TestContext, engine: &'static str, source: &str) -> Self {
        let directories = ["ours", "theirs"].map(|name| format!("{engine}-{name}"));
        for directory in &directories {
            context.write(&format!("{directory}/main.tf"), call("m", source, ""));
        }
        let source = source.to_owned();
        Self {
            context,
            engine,
            source,
            directories,
        }
    }

    /// Installs the modules in both directories, and records those with these keys in the manifest.
    fn install(&self, keys: &[&str]) {
        let record = |key: &&str| -> Value {
            let (source, directory) = match *key {
                "m" => (self.source.as_str(), "m/m"),
                "m.in" => ("../inside", "m/inside"),
                _ => ("../../outside", "outside"),
            };
            json!({"Key": key, "Source": source, "Dir": format!(".terraform/modules/{directory}")})
        };
        let records: Vec<Value> = keys.iter().map(record).collect();
        let files = [
            ("m/m/main.tf", remote_module()),
            ("m/inside/main.tf", requiring("acme/anvil", "1.0.0")),
            ("outside/main.tf", requiring("acme/bolt", "1.0.0")),
            ("modules.json", json!({ "Modules": records }).to_string()),
        ];
        for directory in &self.directories {
            for (name, text) in &files {
                let path = format!("{directory}/.terraform/modules/{name}");
                self.context.write(&path, text);
            }
        }
    }

    fn lock(&self) -> Outcome {
        let lock = ["lock", "--engine", self.engine, "--platform", "linux_amd64"];
        self.context.tflock(lock).arg(&self.directories[0]).run()
    }

    /// Runs the real tool. Returns `None` if it is not installed.
    fn run_tool(&self, line: &str) -> Option<Outcome> {
        let arguments = line.split(' ');
        let tool = self
            .context
            .engine(self.engine, &self.directories[1], arguments);
        Some(tool?.env("TF_DATA_DIR", ".terraform").run())
    }
}

#[test]
fn a_call_out_of_an_installed_package_is_followed_only_where_it_is_recorded() {
    let mut registry = FakeRegistry::start();
    for name in ["acme/anvil", "acme/bolt"] {
        registry.publish(ProviderSpec::new(name).hosts(DEFAULT_HOSTS));
    }
    let context = TestContext::new(TFLOCK, &registry);
    let repository = ModuleRepository::create();
    repository
        .write("m/main.tf", &remote_module())
        .write("inside/main.tf", &requiring("acme/anvil", "1.0.0"))
        .commit();
    for engine in ["terraform", "tofu"] {
        let tree = InstalledTree::new(&context, engine, &format!("{}//m", repository.url()));
        if let Some(get) = tree.run_tool("get -no-color") {
            let refused = get.expect_code(1).to_string();
            assert_contains(&refused, "Local module path escapes module package");
        }
        assert_contains(&tree.lock().expect_code(1).to_string(), REFUSED);

        // The module is now installed, but no record names the call that leaves its package, so the call is refused.
        tree.install(&["m", "m.in"]);
        if let Some(lock) = tree.run_tool("providers lock -platform=linux_amd64") {
            let refused = lock.expect_code(1).to_string();
            assert_contains(&refused, "Module not installed");
            assert_contains(&refused, "m/m/main.tf");
        }
        assert_contains(&tree.lock().expect_code(1).to_string(), REFUSED);

        // Once the manifest records that call, whichever program wrote it, the call is followed.
        tree.install(&["m", "m.in", "m.up"]);
        tree.lock().expect_success();
        let written = context.lock_file(&tree.directories[0]).unwrap();
        assert_contains(&written, "acme/anvil");
        assert_contains(&written, "acme/bolt");
        if let Some(lock) = tree.run_tool("providers lock -platform=linux_amd64") {
            lock.expect_success();
            let theirs = context.lock_file(&tree.directories[1]);
            assert_eq!(theirs, Some(written), "{engine}");
        }
    }
}
