//! The registry, the mirrors and the programs to compare.

use std::fs;
use std::path::PathBuf;

use tflock_test_support::{
    DEFAULT_HOSTS, FakeRegistry, Program, ProviderSpec, TestAuthority, TestContext,
};

use super::case::{GeneratedCase, Operation, ToolEngine};
use super::locks::PUBLISHED;
use super::mirror::VersionLists;
use super::verdict::ToolResult;

/// An address at which no proxy listens, so that no request leaves this machine.
const NO_PROXY_THERE: &str = "http://127.0.0.1:9";

/// Everything that one thread needs to run cases.
pub(super) struct CompareSite {
    registry: FakeRegistry,
    authority: TestAuthority,
    mirrors: VersionLists,
    mirror_host: String,
    context: TestContext,
}

impl CompareSite {
    pub(super) fn start(tflock: PathBuf) -> Self {
        let mut registry = FakeRegistry::start();
        for provider in PUBLISHED {
            let spec = match provider.host {
                Some(host) => ProviderSpec::new(provider.name).hosts([host]),
                None => ProviderSpec::new(provider.name).hosts(DEFAULT_HOSTS),
            };
            registry.publish(spec.versions(provider.versions.iter().copied()));
        }
        let mirrors = VersionLists::serve(&registry);
        let context = TestContext::new(tflock, &registry);
        let authority = TestAuthority::create();
        let mirror_host = registry.serve_tls(&authority);
        Self {
            registry,
            authority,
            mirrors,
            mirror_host,
            context,
        }
    }

    /// Runs the real tool and tflock on a case.
    pub(super) fn run(&self, case: &GeneratedCase, engine: ToolEngine) -> [ToolResult; 2] {
        let mirror = (!case.versions.is_empty()).then(|| {
            format!(
                "https://{}{}",
                self.mirror_host,
                self.mirrors.add(&case.versions)
            )
        });
        let results = [
            self.run_tool(case, engine, mirror.as_deref()),
            self.run_tflock(case, engine, mirror.as_deref()),
        ];
        for directory in ["tool", "tflock"] {
            fs::remove_dir_all(self.context.path(directory)).expect("the tree is writable");
        }
        results
    }

    /// Returns the path and content of each file of a case. Lock files contain the hashes of the registry's packages.
    pub(super) fn files(&self, case: &GeneratedCase) -> Vec<(String, String)> {
        let files = case.contents().map(|(path, text)| {
            let text = match path {
                ".terraform.lock.hcl" => self.registry.fill(&text),
                _ => text,
            };
            (path.to_owned(), text)
        });
        files.collect()
    }

    fn lay_out(&self, case: &GeneratedCase, directory: &str) {
        fs::create_dir_all(self.context.path(directory)).expect("the tree is writable");
        for (path, text) in self.files(case) {
            self.context.write(&format!("{directory}/{path}"), text);
        }
    }

    fn run_tool(
        &self,
        case: &GeneratedCase,
        engine: ToolEngine,
        mirror: Option<&str>,
    ) -> ToolResult {
        self.lay_out(case, "tool");
        if case.operation == Operation::Lock && case.calls_modules() {
            let result = self.finish(self.tool(engine, &["get"], &case.values), "tool");
            if !result.accepted {
                return result;
            }
        }
        let arguments: &[&str] = match case.operation {
            Operation::Lock => &["providers", "lock"],
            Operation::Init => &["init", "-input=false", "-backend=false"],
            Operation::Upgrade => &["init", "-input=false", "-backend=false", "-upgrade"],
        };
        let mut program = self.tool(engine, arguments, &case.values);
        if case.operation == Operation::Lock {
            let platforms = case.platforms.iter();
            program = program.args(platforms.map(|platform| format!("-platform={platform}")));
            program = program.args(mirror.map(|url| format!("-net-mirror={url}")));
        }
        self.finish(program, "tool")
    }

    /// Returns a command of the real tool in the directory `tool`.
    pub(super) fn tool(
        &self,
        engine: ToolEngine,
        arguments: &[&str],
        values: &[String],
    ) -> Program {
        let program = self
            .context
            .engine(engine.name(), "tool", arguments.iter().copied());
        let program = program.expect("the tool was found before");
        self.closed(program.arg("-no-color").args(values))
            .env("TF_DATA_DIR", ".terraform")
    }

    /// Writes a file below the directory of the real tool.
    pub(super) fn write_for_tool(&self, path: &str, text: &str) -> PathBuf {
        let path = format!("tool/{path}");
        self.context.write(&path, text);
        self.context.path(&path)
    }

    fn run_tflock(
        &self,
        case: &GeneratedCase,
        engine: ToolEngine,
        mirror: Option<&str>,
    ) -> ToolResult {
        self.lay_out(case, "tflock");
        let mut arguments = vec!["lock", "tflock", "--engine", engine.name()];
        let platforms = case.platforms.join(",");
        arguments.extend(["--platform", &platforms]);
        match case.operation {
            // The real tool accepts hashes that match no package.
            Operation::Lock => arguments.extend(["--mismatch", "add"]),
            Operation::Init => arguments.push("--prune"),
            Operation::Upgrade => arguments.extend(["--prune", "--upgrade"]),
        }
        if engine == ToolEngine::Tofu {
            // `tofu providers lock` does not read test files.
            arguments.push("--no-tests");
        }
        let mut program = self.closed(self.context.tflock(arguments));
        program = program.args(mirror.map(|url| format!("--net-mirror={url}")));
        program = program.args(case.values.iter().map(|value| format!("-{value}")));
        self.finish(program, "tflock")
    }

    /// Makes sure that the program sends requests to this machine only.
    fn closed(&self, program: Program) -> Program {
        program
            .env("SSL_CERT_FILE", self.authority.certificate_file())
            .env("HTTPS_PROXY", NO_PROXY_THERE)
            .env("HTTP_PROXY", NO_PROXY_THERE)
            .env("NO_PROXY", "localhost,127.0.0.1")
            .env("GIT_SSH_COMMAND", "false")
            .env("TF_REGISTRY_DISCOVERY_RETRY", "0")
    }

    fn finish(&self, program: Program, directory: &str) -> ToolResult {
        let outcome = program.run();
        let lock = self.context.lock_file(directory).unwrap_or_default();
        ToolResult {
            accepted: outcome.code == Some(0),
            crashed: !matches!(outcome.code, Some(0..=2)),
            lock,
            message: format!("{}{}", outcome.stdout, outcome.stderr),
        }
    }
}
