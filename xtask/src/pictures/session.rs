//! The terminal session in README.md: tflock creates and verifies lock files, and an error shows its location.

use std::path::Path;

use tflock_test_support::{FakeRegistry, ProviderSpec, TestContext};

use super::terminal;

/// The width of the terminal in columns.
const COLUMNS: usize = 80;

/// The size of the executable in each package, in bytes.
const EXECUTABLE: u64 = 12 << 20;

const INVALID: &str = r#"terraform {
  required_providers {
    forge = {
      source  = "acme/forge"
      version = ">= 1.0, ~> 3.x.y"
    }
  }
}
"#;

/// Runs tflock and returns a picture of its output as SVG.
pub(super) fn draw(tflock: &Path) -> String {
    let registry = registry();
    let context = TestContext::new(tflock, &registry);
    lay_out(&context);
    let mut lines = Vec::new();
    show(&context, &mut lines);
    lines.push(String::new());
    show(&context, &mut lines);
    context.write("stacks/queue/versions.tf", INVALID);
    lines.push(String::new());
    show(&context, &mut lines);
    terminal::draw(&lines, COLUMNS)
}

fn registry() -> FakeRegistry {
    let mut registry = FakeRegistry::start();
    for (source, versions) in [
        ("acme/forge", ["5.1.0", "5.2.0"]),
        ("hashicorp/aws", ["5.99.0", "5.100.0"]),
        ("hashicorp/null", ["3.1.1", "3.2.4"]),
    ] {
        let spec = ProviderSpec::new(source).versions(versions);
        registry.publish(spec.payload(EXECUTABLE));
    }
    registry
}

fn lay_out(context: &TestContext) {
    let platforms = "platforms = [\"linux_amd64\", \"darwin_arm64\"]\n";
    let forge_and_aws = [("acme/forge", "~> 5.1"), ("hashicorp/aws", "~> 5.0")];
    context
        .write(".git/HEAD", "ref: refs/heads/main\n")
        .write(".tflock.toml", platforms)
        .require("modules/dns", &[("hashicorp/null", "")])
        .require("stacks/billing", &forge_and_aws)
        .require("stacks/network", &forge_and_aws)
        .require("stacks/search", &forge_and_aws)
        .write(
            "stacks/billing/dns.tf",
            "module \"dns\" {\n  source = \"../../modules/dns\"\n}\n",
        );
}

/// Runs tflock, and appends the command and its output to the lines of the session.
fn show(context: &TestContext, lines: &mut Vec<String>) {
    let arguments = ["lock", "-r", "--color", "always"];
    let program = context.tflock(arguments).env_remove("NO_COLOR");
    let outcome = program.run();
    lines.push("\u{1b}[2m$\u{1b}[0m \u{1b}[1mtflock lock -r\u{1b}[0m".to_owned());
    for text in [&outcome.stdout, &outcome.stderr] {
        lines.extend(text.trim_end().lines().map(str::to_owned));
    }
}
