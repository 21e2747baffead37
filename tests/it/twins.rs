//! OpenTofu's twins of entries for Terraform's registry, if the version of an entry changes.
//!
//! `tofu providers lock` rejects a lock file with an entry that does not satisfy its constraints. The expected files are
//! those that it writes after these entries have been deleted. If `tofu` is installed, the tests compare them.

use tflock_test_support::{DEFAULT_HOSTS, FakeRegistry, ProviderSpec, TestContext, table};

use crate::TFLOCK;

/// The columns: the locked versions, the constraints, the options, the versions afterwards, and the entries to delete for
/// OpenTofu. `old` is the entry for Terraform's registry, `new` the one for OpenTofu's. A twin without hashes is in
/// parentheses.
///
/// - Rows 1 to 4: an entry is dropped, and its twin with it.
/// - Rows 5 and 6: the entry is kept.
/// - Rows 7 and 8: the twin replaces a dropped entry, because it satisfies the constraints.
/// - Rows 9 to 11: it does not, or its original is dropped, too.
const ROWS: &str = "
    old 1.0.0            | old ~> 2.0             |           | old 2.1.0             | old
    old 1.0.0            | old ~> 2.0, new *      |           | new 3.0.0 old 2.1.0   | old
    old 1.0.0            | old ~> 2.0, new ~> 1.0 |           | new 1.0.0 old 2.1.0   | old
    old 1.0.0            | old *                  | --upgrade | old 3.0.0             | old
    old 1.0.0            | old *                  |           | (new 1.0.0) old 1.0.0 |
    old 1.0.0            | old *, new *           |           | new 1.0.0 old 1.0.0   |
    new 1.0.0, old 2.0.0 | new ~> 2.0             |           | new 2.0.0 old 2.0.0   | new
    new 1.0.0, old 2.0.0 | new ~> 2.0, old *      |           | new 2.0.0 old 2.0.0   | new
    new 1.0.0, old 2.0.0 | new ~> 2.0, old ~> 3.0 |           | new 2.1.0 old 3.0.0   | new old
    new 1.0.0, old 1.0.0 | new ~> 2.0, old ~> 2.0 |           | new 2.1.0 old 2.1.0   | new old
    new 1.0.0, old 2.0.0 | new ~> 3.0             |           | new 3.0.0 old 2.0.0   | -
";

const ADDRESSES: [(&str, &str); 2] = [
    ("new", "registry.opentofu.org/hashicorp/x"),
    ("old", "registry.terraform.io/hashicorp/x"),
];

fn start() -> (FakeRegistry, TestContext) {
    let spec = ProviderSpec::new("hashicorp/x").hosts(DEFAULT_HOSTS);
    let registry = FakeRegistry::with(spec.versions(["1.0.0", "2.0.0", "2.1.0", "3.0.0"]));
    let context = TestContext::new(TFLOCK, &registry);
    (registry, context)
}

fn address(name: &str) -> &'static str {
    let found = ADDRESSES.iter().find(|(other, _)| *other == name);
    found.unwrap().1
}

/// Returns a configuration that requires the providers in `required`.
fn configuration(required: &str) -> String {
    let entry = |part: &str| {
        let (name, constraint) = part.split_once(' ').unwrap();
        let version = match constraint {
            "*" => String::new(),
            constraint => format!(", version = \"{constraint}\""),
        };
        let source = address(name);
        format!("    {name} = {{ source = \"{source}\"{version} }}\n")
    };
    let entries: String = required.split(", ").map(entry).collect();
    format!("terraform {{\n  required_providers {{\n{entries}  }}\n}}\n")
}

/// Returns a lock file with the entries in `locked`, except those in `deleted`.
fn lock_file(locked: &str, deleted: &str, registry: &FakeRegistry) -> String {
    let header = "# This file is maintained automatically by \"tofu init\".\n".to_owned();
    let kept = locked
        .split(", ")
        .map(|entry| entry.split_once(' ').unwrap());
    kept.filter(|(name, _)| !deleted.contains(name)).fold(header, |text, (name, version)| {
        let (address, h1) = (address(name), h1(version, registry));
        format!("{text}provider \"{address}\" {{\n  version = \"{version}\"\n  hashes = [\"{h1}\"]\n}}\n")
    })
}

fn h1<'a>(version: &str, registry: &'a FakeRegistry) -> &'a str {
    &registry.package("hashicorp/x", version, "linux_amd64").h1
}

/// Returns the entries of a lock file in the form of [`ROWS`].
fn entries(text: &str) -> String {
    let entry = |block: &str| {
        let quoted = |start: &str| {
            let line = block
                .lines()
                .find(|line| line.trim_start().starts_with(start));
            line.and_then(|line| line.split('"').nth(1))
        };
        let host = block.lines().next().unwrap();
        let (name, _) = ADDRESSES
            .iter()
            .find(|(_, address)| host.contains(address))
            .unwrap();
        let entry = format!("{name} {}", quoted("version").unwrap());
        if block.contains("hashes") {
            entry
        } else {
            format!("({entry})")
        }
    };
    let entries: Vec<_> = text.split("\nprovider ").skip(1).map(entry).collect();
    entries.join(" ")
}

#[test]
fn twins_of_dropped_entries() {
    let (registry, context) = start();
    for [locked, required, options, expected, deleted] in table(ROWS) {
        context.write("a/main.tf", configuration(required));
        context.write_lock_file("a", lock_file(locked, "", &registry));
        let lock = format!("lock --engine tofu --platform linux_amd64 {options} a");
        context.run(&lock).expect_success();
        let written = context.lock_file("a").unwrap();
        assert_eq!(entries(&written), expected, "{locked} | {required}");
        context.run(&format!("{lock} --check")).expect_success();

        if deleted == "-" {
            continue;
        }
        context.write_lock_file("a", lock_file(locked, deleted, &registry));
        let arguments = ["providers", "lock", "-platform=linux_amd64"];
        if let Some(tofu) = context.tofu("a", arguments) {
            tofu.run().expect_success();
            let reference = context.lock_file("a").unwrap();
            assert_eq!(written, reference, "{locked} | {required}");
        }
    }
}

/// `tofu providers lock` adds twins to each file in which they are missing, and `tofu init` removes them again.
#[test]
fn a_twin_that_nothing_requires_is_no_reason_to_change_a_file() {
    let (_registry, context) = start();
    context.write("a/main.tf", configuration("old *"));
    let lock = "lock --engine tofu --platform linux_amd64 a";
    context.run(lock).expect_success();
    let written = context.lock_file("a").unwrap();
    assert_eq!(entries(&written), "old 3.0.0");
    let outcome = context.run(&format!("{lock} --check")).expect_success();
    assert!(!outcome.stderr.contains("were added"), "{outcome}");
    if let Some(tofu) = context.tofu("a", ["init"]) {
        tofu.run().expect_success();
        assert_eq!(context.lock_file("a").unwrap(), written);
    }
}
