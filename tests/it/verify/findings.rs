//! Each finding: a typical situation that causes it, and its report in every format.

use serde_json::Value;
use tflock_test_support::{FakeRegistry, Misbehave, TestContext, assert_contains, git};

use super::{edit, json, lock, start, verify};

/// A situation and its finding.
struct FindingCase {
    code: &'static str,
    name: &'static str,
    /// Changes a correct directory.
    arrange: fn(&FakeRegistry, &TestContext),
    /// The reported location.
    place: &'static str,
    message: &'static str,
    fix: &'static str,
}

const LOCK: &str = "tflock lock --platform linux_amd64,darwin_arm64 a";
const FILE: &str = "a/.terraform.lock.hcl";

const CASES: &[FindingCase] = &[
    FindingCase {
        // A user added a directory without its lock file.
        code: "TFL001",
        name: "no-lock-file",
        arrange: |_, context| std::fs::remove_file(context.path(FILE)).unwrap(),
        place: "a/main.tf:3",
        message: "there is no lock file, and 1 provider is required",
        fix: LOCK,
    },
    FindingCase {
        // A pattern that was meant for other files.
        code: "TFL002",
        name: "lock-file-ignored",
        arrange: |_, context| {
            git(&context.work(), "init -q");
            context.write(".gitignore", "*.log\n.terraform*\n");
        },
        place: ".gitignore:2",
        message: "git ignores the lock file, by the pattern `.terraform*`",
        fix: "remove the pattern, or add `!.terraform.lock.hcl` below it; then `git add` the lock file",
    },
    FindingCase {
        // A provider was added without `init`.
        code: "TFL003",
        name: "provider-not-locked",
        arrange: |_, context| {
            let both = [("acme/anvil", "~> 1.0"), ("acme/rivet", "1.0.0")];
            context.require("a", &both);
        },
        place: "a/main.tf:4",
        message: "`registry.terraform.io/acme/rivet` is required but not locked",
        fix: LOCK,
    },
    FindingCase {
        // A bot changed the pinned version but not the lock file.
        code: "TFL004",
        name: "version-outside-constraints",
        arrange: |_, context| {
            context.require("a", &[("acme/anvil", "~> 2.0")]);
        },
        place: "a/.terraform.lock.hcl:5",
        message: "the locked version 1.1.0 of `registry.terraform.io/acme/anvil` is outside the constraints `~> 2.0`",
        fix: LOCK,
    },
    FindingCase {
        // The constraint was relaxed, and the locked version still satisfies it.
        code: "TFL005",
        name: "constraints-differ",
        arrange: |_, context| {
            context.require("a", &[("acme/anvil", ">= 1.0.0")]);
        },
        place: "a/.terraform.lock.hcl:6",
        message: "the recorded constraints of `registry.terraform.io/acme/anvil` are `~> 1.0`, but the configuration has \
                  `>= 1.0.0`",
        fix: LOCK,
    },
    FindingCase {
        // The last resource of a provider was deleted.
        code: "TFL006",
        name: "entry-not-required",
        arrange: |_, context| {
            context.write("a/main.tf", "");
        },
        place: "a/.terraform.lock.hcl:4",
        message: "`registry.terraform.io/acme/anvil` 1.1.0 is locked but not required by the configuration",
        fix: "tflock lock --prune --platform linux_amd64,darwin_arm64 a",
    },
    FindingCase {
        // `init` locked the directory on one machine.
        code: "TFL007",
        name: "platform-without-h1",
        arrange: |_, context| {
            std::fs::remove_file(context.path(FILE)).unwrap();
            lock(context, "linux_amd64");
        },
        place: "a/.terraform.lock.hcl:4",
        message: "`registry.terraform.io/acme/anvil` 1.1.0 has no `h1` hash for darwin_arm64: `init` there downloads the \
                  package even if its plugin cache has it",
        fix: "tflock lock --platform darwin_arm64 a",
    },
    FindingCase {
        // A merge lost a line.
        code: "TFL008",
        name: "hash-set-incomplete",
        arrange: |registry, context| {
            let package = registry.package("acme/anvil", "1.1.0", "windows_amd64");
            edit(context, &format!("    \"{}\",\n", package.zh), "");
        },
        place: "a/.terraform.lock.hcl:4",
        message: "1 hash that the registry lists for `registry.terraform.io/acme/anvil` 1.1.0 is not recorded",
        fix: LOCK,
    },
    FindingCase {
        // The version was published again, or an attacker replaced the hashes.
        code: "TFL009",
        name: "foreign-hashes",
        arrange: |_, context| {
            let text = context.lock_file("a").unwrap();
            let head = text.split("  hashes = [").next().unwrap();
            let hashes = format!("  hashes = [\n    \"zh:{}\",\n  ]\n}}\n", "0".repeat(64));
            context.write_lock_file("a", format!("{head}{hashes}"));
        },
        place: "a/.terraform.lock.hcl:4",
        message: "no recorded hash of `registry.terraform.io/acme/anvil` 1.1.0 belongs to one of its packages: the file was \
                  tampered with, or the version was published again",
        fix: "tflock lock --mismatch replace --platform linux_amd64,darwin_arm64 a",
    },
    FindingCase {
        // An additional hash would allow an unpublished package.
        code: "TFL010",
        name: "stray-hashes",
        arrange: |_, context| {
            let stray = format!("    \"zh:{}\",\n  ]\n", "f".repeat(64));
            edit(context, "  ]\n", &stray);
        },
        place: "a/.terraform.lock.hcl:14",
        message: "1 recorded hash of `registry.terraform.io/acme/anvil` 1.1.0 is in no signed list and no package: \
                  `zh:ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff`",
        fix: "delete the hash from the file (`--mismatch` does not remove it, because other hashes of the entry are genuine)",
    },
    FindingCase {
        // The version was withdrawn.
        code: "TFL011",
        name: "version-gone",
        arrange: |registry, _| {
            let versions = Misbehave::on("*/acme/anvil/versions");
            registry.misbehave(versions.replace("\"1.1.0\"", "\"1.1.1\""));
        },
        place: "a/.terraform.lock.hcl:5",
        message: "its registry no longer has version 1.1.0 of `registry.terraform.io/acme/anvil`",
        fix: "tflock lock --upgrade=registry.terraform.io/acme/anvil --platform linux_amd64,darwin_arm64 a",
    },
    FindingCase {
        // Windows was added to the platforms, but one provider does not support it.
        code: "TFL012",
        name: "platform-not-published",
        arrange: |_, context| {
            context.require("a", &[("acme/rivet", "1.0.0")]);
            std::fs::remove_file(context.path(FILE)).unwrap();
            lock(context, super::PLATFORMS);
            let platforms = "platforms = [\"linux_amd64\", \"windows_amd64\"]\n";
            context.write("a/.tflock.toml", platforms);
        },
        place: "a/.terraform.lock.hcl:4",
        message: "`registry.terraform.io/acme/rivet` 1.0.0 has no package for windows_amd64",
        fix: "choose a version that has one, drop windows_amd64, or accept it with `--missing-platform warn`",
    },
    FindingCase {
        // The provider has another signer.
        code: "TFL013",
        name: "signer-refused",
        arrange: |_, context| {
            let signers = format!("[signers]\n\"acme/*\" = [\"{}\"]\n", "0".repeat(40));
            let platforms = "platforms = [\"linux_amd64\"]\n";
            context.write("a/.tflock.toml", platforms.to_owned() + &signers);
        },
        place: "a/.terraform.lock.hcl:4",
        message: "the package of `registry.terraform.io/acme/anvil` 1.1.0 for linux_amd64 is not accepted: ",
        fix: "find out who signed it before you change `[signers]`",
    },
    FindingCase {
        // The file was edited by hand.
        code: "TFL014",
        name: "not-canonical",
        arrange: |_, context| edit(context, "  version ", "  # kept back\n  version "),
        place: "a/.terraform.lock.hcl",
        message: "the file is not as `terraform init` writes it",
        fix: LOCK,
    },
    FindingCase {
        // Git for Windows converted the line ends on checkout.
        code: "TFL014",
        name: "not-canonical",
        arrange: |_, context| {
            let text = context.read(FILE).replace('\n', "\r\n");
            context.write(FILE, text);
        },
        place: "a/.terraform.lock.hcl",
        message: "the file is not as `terraform init` writes it: its lines end in CRLF (`.terraform.lock.hcl text eol=lf` in \
            `.gitattributes` keeps git from making them)",
        fix: LOCK,
    },
];

#[test]
fn every_situation_has_its_finding_in_every_format() {
    for case in CASES {
        let (registry, context) = start();
        (case.arrange)(&registry, &context);
        let before = context.lock_file("a");
        let by_file = context.path("a/.tflock.toml").exists();
        let run = |format: &str| {
            let options = format!("--format {format} a");
            let outcome = if by_file {
                context.run(&format!("verify {options}"))
            } else {
                verify(&context, &options)
            };
            outcome.expect_code(3).stdout
        };
        check_json(case, &json(&run("json")));
        check_sarif(case, &json(&run("sarif")));
        let text = run("text");
        let title = format!("{} {}: {}", case.code, case.name, case.message);
        assert!(text.starts_with(&title), "{text}");
        assert_contains(&text, &format!("\n  {}", case.place));
        assert_contains(&text, &format!("\n  fix: {}\n", case.fix));
        assert_contains(&text, "1 directory: 1 flagged; 1 finding");
        let github = run("github");
        let (file, line) = place(case);
        let line = line.map_or(String::new(), |line| format!(",line={line}"));
        let start = format!("::error file={file}{line}");
        assert!(github.starts_with(&start), "{start}\n{github}");
        assert_eq!(context.lock_file("a"), before, "{}", case.name);
    }
}

fn place(case: &FindingCase) -> (&str, Option<u64>) {
    match case.place.rsplit_once(':') {
        Some((file, line)) => (file, line.parse().ok()),
        None => (case.place, None),
    }
}

fn check_json(case: &FindingCase, document: &Value) {
    let directory = &document["directories"][0];
    let findings = directory["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{}\n{document:#}", case.name);
    let finding = &findings[0];
    assert_eq!(finding["code"], case.code, "{document:#}");
    assert_eq!(finding["name"], case.name);
    assert_eq!(finding["fix"], case.fix);
    let message = finding["message"].as_str().unwrap();
    assert!(message.starts_with(case.message), "{message}");
    let (file, line) = place(case);
    assert_eq!(finding["file"], file, "{}", case.name);
    assert_eq!(finding["line"].as_u64(), line, "{}", case.name);
    assert_eq!(directory["status"], "flagged");
    assert_eq!(document["summary"]["findings"], 1);
}

fn check_sarif(case: &FindingCase, document: &Value) {
    let run = &document["runs"][0];
    let rule = &run["tool"]["driver"]["rules"][0];
    assert_eq!(rule["id"], case.code);
    assert_eq!(rule["name"], case.name);
    let result = &run["results"][0];
    assert_eq!(result["ruleId"], case.code);
    let text = result["message"]["text"].as_str().unwrap();
    assert!(text.starts_with(case.message), "{text}");
    assert!(text.ends_with(&format!("\nfix: {}", case.fix)), "{text}");
    let location = &result["locations"][0]["physicalLocation"];
    let (file, line) = place(case);
    assert_eq!(location["artifactLocation"]["uri"], file);
    assert_eq!(location["region"]["startLine"], line.unwrap_or(1));
}
