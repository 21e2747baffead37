//! Runs the examples on the pages: every `tflock` command in a code block is run in a monorepo made for its page.

use std::path::Path;

use regex::Regex;
use tempfile::TempDir;
use tflock::index::SignerKey;
use tflock_test_support::{FakeRegistry, Program, ProviderSpec, TestContext, git};

use super::pages;
use crate::TFLOCK;

/// Parts that the examples leave to the reader, and their replacements in the monorepo.
const REPLACEMENTS: [(&str, &str); 9] = [
    ("s3://my-bucket/tflock", INDEX),
    ("file:///srv/www/tflock", INDEX),
    ("/srv/", "./"),
    ("/etc/", "./"),
    ("$RUNNER_TEMP/", "./"),
    ("origin/main", "HEAD"),
    ("$CI_MERGE_REQUEST_DIFF_BASE_SHA", "HEAD"),
    ("'", ""),
    ("\"", ""),
];

/// Stands for the address of the hash index.
const INDEX: &str = "INDEX";

/// Returns the commands on a page, without comments and without pipes and what follows them.
fn commands(page: &str) -> Vec<String> {
    let blocks = page.split("```").skip(1).step_by(2);
    let command =
        r"\btflock (?:init|lock|verify|list|mirror|index|config|cache|completions|man)\b[^|&\n]*";
    let command = Regex::new(command).unwrap();
    let space_in_constraint = Regex::new(r"(@[<>=~]+) ").unwrap();
    let of_block = |block| command.find_iter(block).map(|found| found.as_str());
    let found = blocks.flat_map(of_block);
    let plain = |found: &str| {
        let found = found.split(" #").next().unwrap_or_default();
        let replace = |text: String, (from, to): (&str, &str)| text.replace(from, to);
        let found = space_in_constraint.replace_all(found, "$1").into_owned();
        let found = REPLACEMENTS.into_iter().fold(found, replace);
        found.trim_end_matches(['`', ']', ',', ' ']).to_owned()
    };
    let is_usage = |command: &String| command.contains('[') && !command.contains('>');
    // Fails, as it should, because there is no OCI registry.
    let needs_registry =
        |command: &String| command.contains("oci-mirror") || command.contains("oci://");
    found
        .map(plain)
        .filter(|found| !is_usage(found) && !needs_registry(found))
        .collect()
}

/// A repository, its registry, and a hash index with the records of all packages in its lock files.
struct Monorepo {
    context: TestContext,
    _registry: FakeRegistry,
    index: TempDir,
    signer: SignerKey,
}

impl Monorepo {
    /// Returns a command that may read and write the index.
    fn command(&self, line: &str) -> Program {
        let index = format!("file://{}", self.index.path().display());
        let command = self.context.command(&line.replace(INDEX, &index));
        let command = command.env("TFLOCK_INDEX", index);
        let command = command.env("TFLOCK_INDEX_KEYS", self.signer.verifier().to_string());
        command.env("TFLOCK_INDEX_SIGNING_KEY", self.signer.secret_text())
    }
}

fn monorepo() -> Monorepo {
    let mut registry = FakeRegistry::start();
    for (name, versions) in [
        ("hashicorp/aws", &["5.1.0", "5.9.0", "5.100.0", "6.0.0"][..]),
        ("hashicorp/null", &["3.2.4"]),
        ("hashicorp/random", &["3.7.2"]),
        ("acme/forge", &["5.2.0"]),
    ] {
        let spec = ProviderSpec::new(name).versions(versions.iter().copied());
        registry.publish(spec.hosts(["registry.terraform.io", "registry.opentofu.org"]));
    }
    let context = TestContext::new(TFLOCK, &registry);
    for directory in ["stacks/network", "stacks/search", "legacy/site"] {
        context.require(
            directory,
            &[("hashicorp/aws", "~> 5.0"), ("acme/forge", "")],
        );
    }
    context.require("modules/vpc", &[("hashicorp/null", "")]);
    context.write(
        "stacks/network/vpc.tf",
        "module \"vpc\" {\n  source = \"../../modules/vpc\"\n}\n",
    );
    context.write(".tflock.toml", "platforms = [\"linux_amd64\"]\n");
    context.run("lock -r").expect_success();
    git(&context.work(), "init -q -b main");
    git(&context.work(), "add -A");
    git(&context.work(), "commit -q -m all");
    let monorepo = Monorepo {
        context,
        _registry: registry,
        index: tempfile::tempdir().unwrap(),
        signer: SignerKey::generate("example.com/index").unwrap(),
    };
    monorepo.command("index fill").run().expect_success();
    monorepo
}

/// Runs a command, and writes its output to the file that a redirection in the command names, if any.
fn run(monorepo: &Monorepo, page: &Path, command: &str) {
    let context = &monorepo.context;
    let (command, file) = match command.split_once(" >") {
        Some((command, file)) => (command, Some(file.trim_start_matches('>').trim())),
        None => (command, None),
    };
    let line = command.trim_start_matches("tflock ");
    if line.starts_with("init") {
        // `tflock init` never overwrites the file.
        let _ = std::fs::remove_file(context.path(".tflock.toml"));
    }
    let outcome = monorepo.command(line).run();
    // Exit code 3 means that a lock file would change or an audit has findings.
    let is_right = matches!(outcome.code, Some(0 | 3));
    assert!(is_right, "{}: `{command}`\n{outcome}", page.display());
    if let Some(file) = file.filter(|file| !file.contains(['/', '$'])) {
        context.write(file, outcome.stdout);
    }
}

#[test]
fn every_command_of_the_pages_runs() {
    let mut count = 0;
    for (page, text) in pages() {
        let commands = commands(&text);
        if commands.is_empty() {
            continue;
        }
        let monorepo = monorepo();
        for command in &commands {
            run(&monorepo, &page, command);
        }
        count += commands.len();
    }
    assert!(count > 80, "{count}");
}
