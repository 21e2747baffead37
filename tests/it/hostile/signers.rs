//! A nested config file never allows a key that `[signers]` in a parent file forbids.

use std::path::Path;

use tflock_test_support::{
    FakeRegistry, Outcome, Program, ProviderSpec, TestContext, TestSigner, multiline, table,
};

use crate::TFLOCK;

/// The fingerprint of the key that signs `acme/anvil`.
const FIXTURE: &str = include_str!("../../../testdata/keys/fingerprint");

/// The config file in the repository root, which does not allow that key.
const TOP: &str = "\
platforms = [\"linux_amd64\"]
[signers]
\"acme/*\" = [\"0000000000000000000000000000000000000000\"]
";

/// Attempts to allow the key again: the name, the nested file, and its text. The root module is in `live/a`.
const ATTACKS: &str = r#"
    empty              | live/a/.tflock.toml |
    empty between      | live/.tflock.toml   |
    no entry           | live/a/.tflock.toml | [signers]
    other keys         | live/a/.tflock.toml | platforms = ["linux_amd64"]\nengine = "terraform"
    replaced           | live/a/.tflock.toml | [signers]\n"acme/*" = ["KEY"]
    added fingerprint  | live/.tflock.toml   | [signers]\n"acme/*" = ["0000000000000000000000000000000000000000", "KEY"]
    narrower           | live/a/.tflock.toml | [signers]\n"acme/anvil" = ["KEY"]
    narrowest          | live/a/.tflock.toml | [signers]\n"registry.terraform.io/acme/anvil" = ["KEY"]
    wider              | live/a/.tflock.toml | [signers]\n"*/*/*" = ["KEY"]
    dotted key         | live/a/.tflock.toml | signers."acme/anvil" = ["KEY"]
    escapes            | live/a/.tflock.toml | "s\u0069gners"."acme\u002Fanvil" = ['KEY']
    other case         | live/a/.tflock.toml | signers = { "ACME/Anvil" = ["KEY"] }
    name in other case | live/a/.TFLOCK.TOML | [signers]\n"acme/anvil" = ["KEY"]
    byte order mark    | live/a/.tflock.toml | BOMsigners = {}
    other engine       | live/a/.tflock.toml | engine = "tofu"
"#;

/// Creates a repository without signer rules.
fn repository(registry: &FakeRegistry) -> TestContext {
    let context = TestContext::new(TFLOCK, registry);
    context.write(".git/HEAD", "");
    // The host is explicit so that both engines resolve the same provider.
    context.require("live/a", &[("registry.terraform.io/acme/anvil", "")]);
    context.require("module", &[]);
    let source = "module \"m\" {\n  source = \"../../module\"\n}\n";
    context.write("live/a/call.tf", source);
    context
}

fn locked(registry: &FakeRegistry) -> TestContext {
    let context = repository(registry);
    let lock = "lock --platform linux_amd64 live/a";
    context.run(lock).expect_success();
    context
}

fn attack(context: &TestContext, file: &str, text: &str) {
    context.write(".tflock.toml", TOP);
    let text = multiline(text).replace("KEY", FIXTURE.trim());
    context.write(file, text.replace("BOM", "\u{feff}"));
}

fn registry() -> FakeRegistry {
    FakeRegistry::with(ProviderSpec::new("acme/anvil").platforms(["linux_amd64"]))
}

fn run(context: &TestContext, from: &str, arguments: &str) -> Outcome {
    let program: Program = context.command(arguments);
    program.current_dir(context.path(from)).run()
}

/// Returns whether the entry in the root config file caused the run to reject the key. Checks only the end of the
/// file's path, because the message shows the path relative to the working directory.
fn is_refused(outcome: &Outcome, code: i32) -> bool {
    let text = format!("{}{}", outcome.stdout, outcome.stderr).replace('\\', "/");
    outcome.code == Some(code) && text.contains(".tflock.toml:3:1) pins `acme/*`")
}

#[test]
fn no_nested_file_lets_lock_accept_another_key() {
    let registry = registry();
    let runs = [
        (".", "lock -r ."),
        (".", "lock live/a"),
        (".", "lock live/a/main.tf"),
        (".", "lock -r live"),
        ("live/a", "lock ."),
        ("live/a", "lock"),
        (".", "lock --callers module/main.tf"),
        (".", "mirror --lock mirror live/a"),
        ("live", "mirror --lock mirror -r ."),
    ];
    let mut accepted = Vec::new();
    for [name, file, text] in table(ATTACKS) {
        for (from, arguments) in runs {
            let context = repository(&registry);
            attack(&context, file, text);
            let outcome = run(&context, from, arguments);
            if !is_refused(&outcome, 1) || context.lock_file("live/a").is_some() {
                accepted.push(format!("{name}: {arguments} in {from}\n{outcome}"));
            }
        }
    }
    assert!(accepted.is_empty(), "{}", accepted.join("\n"));
}

#[test]
fn no_nested_file_lets_verify_or_mirror_accept_another_key() {
    let registry = registry();
    let runs = [
        (".", "verify -r .", 3),
        (".", "verify live/a", 3),
        ("live/a", "verify", 3),
        (".", "verify --callers module/main.tf", 3),
        (".", "mirror mirror -r .", 1),
        ("live/a", "mirror mirror .", 1),
    ];
    let mut accepted = Vec::new();
    for [name, file, text] in table(ATTACKS) {
        let context = locked(&registry);
        attack(&context, file, text);
        for (from, arguments, code) in runs {
            let outcome = run(&context, from, arguments);
            if !is_refused(&outcome, code) || has_zip(&context.work()) {
                accepted.push(format!("{name}: {arguments} in {from}\n{outcome}"));
            }
        }
    }
    assert!(accepted.is_empty(), "{}", accepted.join("\n"));
}

/// Returns whether a directory contains a zip file at any depth.
fn has_zip(directory: &Path) -> bool {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut paths = entries.map(|entry| entry.unwrap().path());
    paths.any(|path| {
        path.extension().is_some_and(|end| end == "zip") || path.is_dir() && has_zip(&path)
    })
}

/// A nested file can forbid a key that a parent file allows, even if it lies between PATH and the directory.
#[test]
fn a_nested_file_can_forbid_a_key() {
    let registry = registry();
    for (file, text) in [
        ("live/.tflock.toml", "[signers]\n\"acme/anvil\" = []"),
        ("live/a/.tflock.toml", "[signers]\n\"*/*/*\" = []"),
    ] {
        for (from, arguments) in [
            (".", "lock -r ."),
            (".", "lock -r live"),
            ("live/a", "lock"),
        ] {
            let context = repository(&registry);
            let top = "platforms = [\"linux_amd64\"]\nsigners.\"acme/*\" = [\"KEY\"]";
            context.write(".tflock.toml", top.replace("KEY", FIXTURE.trim()));
            run(&context, from, arguments).expect_success();
            context.remove_lock_file("live/a");
            context.write(file, text);
            let outcome = run(&context, from, arguments).expect_code(1);
            outcome.assert_stderr("to no key");
            assert_eq!(context.lock_file("live/a"), None, "{file}: {arguments}");
        }
    }
}

/// An invalid nested file fails only the directories below it.
#[test]
fn an_invalid_nested_file_fails_the_directories_below_it() {
    let mut registry = registry();
    registry.publish(ProviderSpec::new("acme/bolt").signed_by(&TestSigner::generated(3)));
    let short = "[signers]\n\"acme/*\" = [\"short\"]";
    for text in ["signers = 1", "nonsense", short, "\0"] {
        let context = repository(&registry);
        context.require("live/b", &[("acme/bolt", "")]);
        context.write("live/a/.tflock.toml", text);
        let outcome = run(&context, ".", "lock -r . --platform linux_amd64").expect_code(1);
        outcome.assert_stderr("live/a/.tflock.toml:");
        assert_eq!(context.lock_file("live/a"), None, "{text}");
        assert!(context.lock_file("live/b").is_some(), "{text}\n{outcome}");
    }
}
