//! Untrusted text never becomes a workflow command in a log: neither on standard output nor on standard error, in any
//! format.
#![cfg(unix)]

use serde_json::{Value, json};
use tflock_test_support::{Document, FakeRegistry, Outcome, ProviderSpec, TestContext, check_rows};

use crate::TFLOCK;

/// The command that an attacker wants in the log. tflock itself never starts a line with it.
const COMMAND: &str = "::error::E";

/// Names that contain workflow commands: commands that start a line, in every form, and commands that are recognized
/// anywhere in a line.
const NAMES: [&str; 12] = [
    "::error::E",
    " \u{2003}::error::E",
    "x\n::error::E",
    "x\n \t::error::E",
    "x\r::error::E",
    "x\u{2028}::error::E",
    "\u{ad}::error::E",
    "\u{1b}[31m::error::E",
    "x ##[error]E",
    "x #\u{200b}#[error]E",
    "##vso[task.setvariable variable=E]x",
    "%0A::error::E \u{202e}\u{7f}\u{9b}2J",
];

/// Every command of tflock with each of its formats.
const RUNS: [&str; 21] = [
    "lock --check --diff -r",
    "lock --check -v -r",
    "lock --check -r --color always",
    "lock --check -r --format json",
    "lock --check -r --format github",
    "lock --check -r --format sarif",
    "verify -r",
    "verify -r -v --color always",
    "verify -r --format json",
    "verify -r --format github",
    "verify -r --format sarif",
    "list -r",
    "list -r --format json",
    "list -r --format html",
    "list -r --format markdown",
    "mirror kept --check -r",
    "mirror kept --check -r --format json",
    "mirror kept --lock --prune -v -r",
    "config",
    "cache info",
    "lock --changed=HEAD -r",
];

/// Returns the lines of `text` that must not appear in a log.
fn harm(text: &str, format: &str, is_styled: bool) -> Vec<String> {
    let is_ours = |line: &str| {
        let mut ours = ["::error file=", "::warning file=", "::notice file="].into_iter();
        format == "github" && ours.any(|start| line.starts_with(start))
    };
    let is_bad = |line: &str| {
        let plain = if is_styled {
            without_colors(line)
        } else {
            line.to_owned()
        };
        let bare: String = plain.chars().filter(|at| !is_unseen(*at)).collect();
        bare.trim_start().starts_with("::") && !is_ours(line)
            || bare.contains("##[")
            || bare.contains("##vso[")
            || plain.chars().any(|at| at != '\t' && is_unseen(at))
    };
    let bad = text.split('\n').filter(|line| is_bad(line));
    bad.map(|line| format!("{line:?}")).collect()
}

fn is_unseen(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn without_colors(line: &str) -> String {
    let color = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
    color.replace_all(line, "").into_owned()
}

/// Runs all of [`RUNS`] in a tree and returns the harmful lines.
fn harm_of(context: &TestContext, name: &str) -> Vec<String> {
    let mut harmed = Vec::new();
    for run in RUNS {
        let outcome = context.command(run).env("TFLOCK_LOG", "info").run();
        harmed.extend(harm_of_run(&outcome, run, name));
    }
    harmed
}

/// Returns the harmful lines in the output of a run.
fn harm_of_run(outcome: &Outcome, run: &str, name: &str) -> Vec<String> {
    assert_ne!(outcome.code, None, "{name}: {run}\n{outcome}");
    let is_styled = run.contains("--color always");
    let format = run.split_once("--format ").unwrap_or_default().1;
    let format = format.split(' ').next().unwrap_or_default();
    let mut harmed = harm(&outcome.stdout, format, false);
    harmed.extend(harm(&outcome.stderr, format, is_styled));
    let place = |line: String| format!("{name:?}: {run}: {line}");
    harmed.into_iter().map(place).collect()
}

/// Quotes a string for HCL.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    let escaped = escaped
        .replace('\n', "\\n")
        .replace('\r', "\\r")
        .replace('\t', "\\t");
    format!("\"{}\"", escaped.replace("${", "$${").replace("%{", "%%{"))
}

/// Returns a `module` block.
fn call(source: &str) -> String {
    format!("module \"m\" {{\n  source = {}\n}}\n", quoted(source))
}

/// Returns an entry of `required_providers` with these attributes.
fn requirement(attributes: &str) -> String {
    format!("terraform {{\n  required_providers {{\n    a = {{ {attributes} }}\n  }}\n}}\n")
}

fn site() -> (FakeRegistry, TestContext) {
    let mut registry = FakeRegistry::start();
    let spec = ProviderSpec::new("acme/anvil").platforms(["linux_amd64"]);
    registry.publish(spec.payload(10));
    let context = TestContext::new(TFLOCK, &registry);
    context.write(".git/HEAD", "");
    context.write(".tflock.toml", "platforms = [\"linux_amd64\"]\n");
    (registry, context)
}

fn assert_harmless(harmed: &[String]) {
    let shown = harmed[..harmed.len().min(40)].join("\n");
    assert!(harmed.is_empty(), "{} lines\n{shown}", harmed.len());
}

#[test]
fn names_of_directories_and_files_are_not_commands() {
    let (_registry, context) = site();
    for name in NAMES {
        let name = name.replace('/', "");
        // The directories: a root module, a caller of it, an invalid one, and one with only a lock file.
        context.require(&name, &[("acme/anvil", "")]);
        context.require(&format!("{name} twin"), &[("acme/anvil", "")]);
        let call = call(&format!("../../{name}"));
        context.write(&format!("callers/{name}/main.tf"), call);
        context.write(&format!("broken/{name}/{name}.tf"), "x = = 1\n");
        context.write_lock_file(&format!("locked/{name}"), "provider \"acme/anvil\" {\n}\n");
    }
    assert_harmless(&harm_of(&context, "names"));
}

#[test]
fn texts_of_configurations_are_not_commands() {
    let (_registry, context) = site();
    for (number, text) in NAMES.into_iter().enumerate() {
        let quoted = quoted(text);
        let files = [
            ("source", requirement(&format!("source = {quoted}"))),
            (
                "version",
                requirement(&format!("source = \"acme/anvil\", version = {quoted}")),
            ),
            (
                "engine",
                format!("terraform {{\n  required_version = {quoted}\n}}\n"),
            ),
            ("module", call(text)),
            ("local", call(&format!("./{text}"))),
            ("git", call(&format!("git::file:///nowhere/{text}"))),
            (
                "registry",
                format!("module \"m\" {{\n  source = \"acme/m/anvil\"\n  version = {quoted}\n}}\n"),
            ),
            ("raw", format!("/*\n{text}\n*/\nlocals {{\n{text}\n}}\n")),
            ("block", format!("provider {quoted} {quoted} {{\n}}\n")),
        ];
        for (name, content) in files {
            context.write(&format!("{name}{number}/main.tf"), content);
        }
        let document = json!({ text: { text: text } }).to_string();
        context.write(&format!("json{number}/main.tf.json"), document);
        context.write(&format!("tool{number}/.opentofu-version"), text);
        context.require(&format!("tool{number}"), &[("acme/anvil", "")]);
    }
    assert_harmless(&harm_of(&context, "configurations"));
}

#[test]
fn texts_of_lock_files_are_not_commands() {
    let (registry, context) = site();
    let good = {
        context.require("good", &[("acme/anvil", "")]);
        context.run("lock good").expect_success();
        context.lock_file("good").unwrap()
    };
    for (number, text) in NAMES.into_iter().enumerate() {
        let quoted = quoted(text);
        let hash = self::quoted(&format!("h7:{text}"));
        let entry = |version: &str, constraints: &str, hash: &str| {
            format!(
                "provider \"registry.terraform.io/acme/anvil\" {{\n  version = {version}\n  constraints = {constraints}\n  \
                 hashes = [\n    {hash},\n  ]\n}}\n"
            )
        };
        let one = "\"1.0.0\"";
        let stray = good.replace("hashes = [", &format!("hashes = [\n    {hash},"));
        let address = entry(one, one, "");
        let address = address.replace("\"registry.terraform.io/acme/anvil\"", &quoted);
        let files = [
            ("comment", format!("/*\n{text}\n*/\n{good}")),
            ("line", format!("# {text}\n{good}")),
            ("hash", entry(one, one, &hash)),
            ("stray", stray),
            ("version", entry(&quoted, one, "")),
            ("constraints", entry(one, &quoted, "")),
            ("address", address),
            ("broken", format!("{text}\n")),
        ];
        for (name, content) in files {
            let directory = format!("{name}{number}");
            context.require(&directory, &[("acme/anvil", "")]);
            context.write_lock_file(&directory, content);
        }
        let manifest = json!({ "Modules": [
            { "Key": "", "Source": "", "Dir": "." },
            { "Key": "m", "Source": "registry.terraform.io/acme/m/anvil", "Version": text, "Dir": text },
        ]});
        context.write(
            &format!("installed{number}/.terraform/modules/modules.json"),
            manifest.to_string(),
        );
        let call = "module \"m\" {\n  source = \"acme/m/anvil\"\n}\n";
        context.write(&format!("installed{number}/main.tf"), call);
    }
    assert_harmless(&harm_of(&context, "lock files"));
    drop(registry);
}

#[test]
fn texts_of_config_files_are_not_commands() {
    for text in NAMES {
        let quoted = Value::from(text).to_string().replace("\\u2028", "\u{2028}");
        let files = [
            format!("{quoted} = 1\n"),
            format!("create = {quoted}\n"),
            format!("platforms = [{quoted}]\n"),
            format!("ignore-paths = [{quoted}]\n"),
            format!("ignore-paths = [{}]\n", Value::from(format!("({text}"))),
            format!("[signers]\n{quoted} = []\n"),
            format!("[signers]\n\"acme/*\" = [{quoted}]\n"),
            format!("# x\n{text}\n"),
        ];
        let (_registry, context) = site();
        context.require("a", &[("acme/anvil", "")]);
        for file in files {
            context.write(".tflock.toml", &file);
            for run in ["config", "lock --check -r"] {
                let outcome = context.run(run);
                assert_harmless(&harm_of_run(&outcome, run, &file));
            }
        }
    }
}

#[test]
fn responses_of_registries_are_not_commands() {
    const PROVIDER: &str = "/registry.terraform.io/v1/providers/acme/anvil";
    check_rows(NAMES, |text| {
        let mut harmed = Vec::new();
        let (registry, context) = site();
        context.require("a", &[("acme/anvil", "")]);
        let description = registry
            .document(&format!("{PROVIDER}/1.0.0/download/linux/amd64"))
            .unwrap();
        let description: Value = serde_json::from_slice(&description.body.to_vec()).unwrap();
        let with = |key: &str| {
            let mut changed = description.clone();
            changed[key] = text.into();
            Document::json(&changed)
        };
        let list = |version: &str, warning: &str| {
            let platforms = json!([{ "os": "linux", "arch": "amd64" }]);
            let version =
                json!({ "version": version, "protocols": ["5.0"], "platforms": platforms });
            let versions = json!([version]);
            Document::json(&json!({ "id": "x", "versions": versions, "warnings": [warning] }))
        };
        let download = format!("{PROVIDER}/1.0.0/download/linux/amd64");
        let versions = format!("{PROVIDER}/versions");
        let errors = json!({ "errors": [text], "protocols": [text] });
        let answers = [
            (&versions, list("1.0.0", text)),
            (&versions, list(text, "")),
            (&versions, Document::json(&json!({ "errors": [text] }))),
            (&versions, Document::octets(text)),
            (&download, with("download_url")),
            (&download, with("shasum")),
            (&download, with("filename")),
            (&download, with("os")),
            (&download, with("shasums_url")),
            (&download, Document::json(&errors)),
        ];
        for (path, answer) in answers {
            let before = registry.document(path).unwrap();
            registry.serve(path, answer);
            for run in [
                "lock --no-cache -v a",
                "lock --no-cache --format github a",
                "lock --no-cache --format json a",
                "list --no-cache a",
            ] {
                harmed.extend(harm_of_run(&context.run(run), run, text));
            }
            registry.serve(path, before);
        }
        assert_harmless(&harmed);
    });
}

/// Git hooks pass file names as arguments.
#[test]
fn arguments_are_not_commands() {
    let (_registry, context) = site();
    let mut harmed = Vec::new();
    for text in NAMES {
        for arguments in [
            &["lock", text][..],
            &["lock", &format!("--{text}")],
            &["lock", "--platform", text],
            &["lock", "--var", text],
            &["lock", "--ignore-path", &format!("({text}")],
            &["lock", "--provider", text],
            &[text],
        ] {
            let outcome = context.tflock(arguments.iter().copied()).run();
            harmed.extend(harm_of_run(&outcome, "lock", text));
        }
    }
    assert_harmless(&harmed);
}

/// Names are escaped in the Markdown of the job summary and of `list`.
#[test]
fn names_are_not_markup() {
    let (_registry, context) = site();
    let names = [
        "<img src=x>",
        "`<img src=x>`",
        "<img src=x>`",
        "``<img src=x>` `",
        "x\\|<img src=x>",
        "x|<img src=x>",
        "[x](evil)",
        "![x](evil)",
        "<details>",
        "</script><script>",
        "x\r# <img src=x>",
    ];
    for name in names.map(|name| name.replace('/', "")) {
        context.require(&format!("live/{name}"), &[("acme/anvil", "")]);
        let call = call(&format!("../../called/{name}"));
        context.write(&format!("callers/{name}/main.tf"), call);
        context.require(&format!("called/{name}"), &[("acme/anvil", "")]);
        let version = format!("source = \"acme/anvil\", version = {}", quoted(&name));
        context.write(&format!("broken/{name}/main.tf"), requirement(&version));
    }
    let lock = context.command("lock --check -r --format github");
    let summary = context.path("summary.md");
    let lock = lock.env("GITHUB_STEP_SUMMARY", &summary);
    lock.run().expect_code(1);
    let list = context.run("list -r --format markdown");
    let summary = std::fs::read_to_string(summary).unwrap();
    for text in [&summary, &list.stdout] {
        assert!(text.contains("img"), "{text}");
        for line in text.lines() {
            let is_row = line.starts_with('|');
            let cells = if is_row {
                cells(line)
            } else {
                vec![line.to_owned()]
            };
            for cell in cells {
                let shown = outside_code(&cell).replace("<br>", "");
                let shown = shown.replace("\\[", "").replace("\\]", "");
                for markup in ["<", "](", "\r"] {
                    assert!(!shown.contains(markup), "{line}\n{shown}");
                }
            }
        }
    }
    let page = context.run("list -r --format html").stdout;
    let count = |text| page.matches(text).count();
    assert_eq!(count("</script>"), count("<script"), "{page}");
    assert!(!page.contains("<img"), "{page}");
}

/// Splits a row into cells as GitHub does: a backslash escapes the next character.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        if character == '|' {
            cells.push(String::new());
            continue;
        }
        let cell = cells.last_mut().unwrap();
        cell.push(character);
        if character == '\\' {
            cell.extend(characters.next());
        }
    }
    cells
}

/// Returns the text outside code spans. A span begins with a run of backticks and ends at the next run of the same length.
fn outside_code(text: &str) -> String {
    let mut rest = text;
    let mut outside = String::new();
    while let Some(at) = rest.find('`') {
        let (before, from) = rest.split_at(at);
        outside.push_str(before);
        if before.ends_with('\\') {
            outside.push('`');
            rest = &from[1..];
            continue;
        }
        let run = from.len() - from.trim_start_matches('`').len();
        let after = &from[run..];
        rest = end_of_run(after, run).map_or(after, |end| &after[end..]);
    }
    outside + rest
}

fn end_of_run(text: &str, length: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(start) = text[at..].find('`') {
        let from = at + start;
        let run = text[from..].len() - text[from..].trim_start_matches('`').len();
        if run == length {
            return Some(from + run);
        }
        at = from + run;
    }
    None
}

#[test]
fn the_check_detects_harmful_output() {
    assert_eq!(harm(COMMAND, "", false).len(), 1);
    assert_eq!(harm("a\n \t::x", "github", false).len(), 1);
    assert_eq!(harm("::error file=a::x ##[y]", "github", false).len(), 1);
    let ours = "::error file=a::x\n: a::b # [\tc";
    assert_eq!(harm(ours, "github", false).len(), 0);
    assert_eq!(outside_code("a `b<c` d ``e`<``\\`f` <"), "a  d \\`f <");
}
