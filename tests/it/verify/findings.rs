//! Each finding: a typical situation that causes it, and how every format reports it.

use serde_json::Value;
use tflock_test_support::{FakeRegistry, Misbehave, TestContext, assert_contains, git};

use super::{edit, lock, start, verify};

/// A situation and its finding.
struct FindingCase {
    situation: &'static str,
    code: &'static str,
    name: &'static str,
    /// The reported location.
    place: &'static str,
    /// The start of the message.
    message: &'static str,
    fix: &'static str,
}

/// The cases of four lines each: `# SITUATION`, `CODE NAME PLACE`, the message and the fix.
const CASES: &str = include_str!("findings.txt");

fn cases() -> Vec<FindingCase> {
    let case = |text: &'static str| {
        let lines: [&str; 4] = text.lines().collect::<Vec<_>>().try_into().unwrap();
        let [situation, finding, message, fix] = lines;
        let words: [&str; 3] = finding.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let [code, name, place] = words;
        FindingCase {
            situation: situation.trim_start_matches("# "),
            code,
            name,
            place,
            message,
            fix,
        }
    };
    CASES.split("\n\n").map(case).collect()
}

const FILE: &str = "a/.terraform.lock.hcl";

/// Changes the correct directory `a` to create this situation.
fn arrange(situation: &str, registry: &FakeRegistry, context: &TestContext) {
    let require = |source, constraint| {
        context.require("a", &[(source, constraint)]);
    };
    let write = |path, text: &str| {
        context.write(path, text);
    };
    match situation {
        "A user added a directory without its lock file" => {
            context.remove_lock_file("a");
        }
        "A pattern intended for other files" => {
            git(&context.work(), "init -q");
            write(".gitignore", "*.log\n.terraform*\n");
        }
        "A provider was added without `init`" => {
            let both = [("acme/anvil", "~> 1.0"), ("acme/rivet", "1.0.0")];
            context.require("a", &both);
        }
        "A bot changed the pinned version but not the lock file" => require("acme/anvil", "~> 2.0"),
        "The constraint was relaxed, and the locked version still satisfies it" => {
            require("acme/anvil", ">= 1.0.0");
        }
        "The last resource of a provider was deleted" => write("a/main.tf", ""),
        "`init` locked the directory on one machine" => {
            context.remove_lock_file("a");
            lock(context, "linux_amd64");
        }
        "The version was withdrawn" => {
            let versions = Misbehave::on("*/acme/anvil/versions");
            registry.misbehave(versions.replace("\"1.1.0\"", "\"1.1.1\""));
        }
        "Windows was added to the platforms, but one provider does not support it" => {
            require("acme/rivet", "1.0.0");
            context.remove_lock_file("a");
            lock(context, super::PLATFORMS);
            let platforms = "platforms = [\"linux_amd64\", \"windows_amd64\"]\n";
            write("a/.tflock.toml", platforms);
        }
        "The provider has a different signer" => {
            let key = "0".repeat(40);
            let signers = format!("[signers]\n\"acme/*\" = [\"{key}\"]\n");
            let text = "platforms = [\"linux_amd64\"]\n".to_owned() + &signers;
            write("a/.tflock.toml", &text);
        }
        _ => edit_lock_file(situation, registry, context),
    }
}

fn edit_lock_file(situation: &str, registry: &FakeRegistry, context: &TestContext) {
    match situation {
        "A merge lost a line" => {
            let package = registry.package("acme/anvil", "1.1.0", "windows_amd64");
            edit(context, &format!("    \"{}\",\n", package.zh), "");
        }
        "The version was published again, or an attacker replaced the hashes" => {
            let text = context.lock_file("a").unwrap();
            let head = text.split("  hashes = [").next().unwrap();
            let hashes = format!("  hashes = [\n    \"zh:{}\",\n  ]\n}}\n", "0".repeat(64));
            context.write_lock_file("a", format!("{head}{hashes}"));
        }
        "An additional hash would allow an unpublished package" => {
            let stray = format!("    \"zh:{}\",\n  ]\n", "f".repeat(64));
            edit(context, "  ]\n", &stray);
        }
        "A trial version of an engine locked modules" => {
            let text = context.lock_file("a").unwrap();
            context.write_lock_file("a", text + "\nmodule \"m\" {\n  version = \"1.0.0\"\n}\n");
        }
        "Terragrunt's provider cache server wrote the file" => {
            context.write("a/terragrunt.hcl", "");
            edit(context, "\"~> 1.0\"", "\"~> 1.0.0\"");
        }
        "The file was edited by hand" => edit(context, "  version ", "  # kept back\n  version "),
        "Git for Windows converted the line endings on checkout" => {
            context.write(FILE, context.read(FILE).replace('\n', "\r\n"));
        }
        _ => panic!("the situation `{situation}` is unknown"),
    }
}

#[test]
fn every_situation_has_its_finding_in_every_format() {
    for case in &cases() {
        let (registry, context) = start();
        arrange(case.situation, &registry, &context);
        let before = context.lock_file("a");
        let by_file = context.path("a/.tflock.toml").exists();
        let run = |format: &str| {
            let options = format!("--format {format} a");
            let outcome = if by_file {
                context.run(&format!("verify {options}"))
            } else {
                verify(&context, &options)
            };
            outcome.expect_code(3)
        };
        check_json(case, &run("json").json());
        check_sarif(case, &run("sarif").json());
        let text = run("text").stdout;
        let title = format!("{} {}: {}", case.code, case.name, case.message);
        assert!(text.starts_with(&title), "{text}");
        assert_contains(&text, &format!("\n  {}", case.place));
        assert_contains(&text, &format!("\n  fix: {}\n", case.fix));
        assert_contains(&text, "1 directory: 1 flagged; 1 finding");
        let github = run("github").stdout;
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
