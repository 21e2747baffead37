//! Runs the examples on the pages: every `tflock` command in a code block is run in a monorepo made for its page.

use std::path::Path;

use regex::Regex;
use tflock_test_support::{FakeRegistry, ProviderSpec, TestContext, git};

use super::pages;
use crate::TFLOCK;

/// Parts that the examples leave to the reader, and their replacements in the monorepo.
const REPLACEMENTS: [(&str, &str); 7] = [
    ("/srv/", "./"),
    ("/etc/", "./"),
    ("$RUNNER_TEMP/", "./"),
    ("origin/main", "HEAD"),
    ("$CI_MERGE_REQUEST_DIFF_BASE_SHA", "HEAD"),
    ("'", ""),
    ("\"", ""),
];

/// Returns the commands on a page, without comments and without pipes and what follows them.
fn commands(page: &str) -> Vec<String> {
    let blocks = page.split("```").skip(1).step_by(2);
    let command =
        r"\btflock (?:init|lock|verify|list|mirror|config|cache|completions|man)\b[^|&\n]*";
    let command = Regex::new(command).unwrap();
    let of_block = |block| command.find_iter(block).map(|found| found.as_str());
    let found = blocks.flat_map(of_block);
    let plain = |found: &str| {
        let found = found.split(" #").next().unwrap_or_default();
        let replace = |text: String, (from, to): (&str, &str)| text.replace(from, to);
        let found = REPLACEMENTS.into_iter().fold(found.to_owned(), replace);
        found.trim_end_matches(['`', ']', ',', ' ']).to_owned()
    };
    let is_usage = |command: &String| command.contains('[') && !command.contains('>');
    // Fails, as it should, because the monorepo has no hash index.
    let needs_index = |command: &String| command.contains("--no-download");
    found
        .map(plain)
        .filter(|found| !is_usage(found) && !needs_index(found))
        .collect()
}

fn monorepo() -> (FakeRegistry, TestContext) {
    let mut registry = FakeRegistry::start();
    for (name, versions) in [
        ("hashicorp/aws", &["5.1.0", "5.9.0", "5.100.0", "6.0.0"][..]),
        ("hashicorp/null", &["3.2.4"]),
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
    (registry, context)
}

/// Runs a command, and writes its output to the file that a redirection in the command names, if any.
fn run(context: &TestContext, page: &Path, command: &str) {
    let (command, file) = match command.split_once('>') {
        Some((command, file)) => (command, Some(file.trim_start_matches('>').trim())),
        None => (command, None),
    };
    let line = command.trim_start_matches("tflock ");
    if line.starts_with("init") {
        // `tflock init` never overwrites the file.
        let _ = std::fs::remove_file(context.path(".tflock.toml"));
    }
    let outcome = context.run(line);
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
        let (_registry, context) = monorepo();
        for command in &commands {
            run(&context, &page, command);
        }
        count += commands.len();
    }
    assert!(count > 60, "{count}");
}
