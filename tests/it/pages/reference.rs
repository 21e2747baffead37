//! The reference describes every option, command, exit code, finding, variable, key and input.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tflock_test_support::TestContext;

use super::{anchors, read, repository, sources_below};
use tflock::code::Code;

use crate::TFLOCK;

/// Returns the documented commands with their `--help` output.
fn helps() -> Vec<(String, String)> {
    let commands = [
        "lock",
        "verify",
        "list",
        "mirror",
        "config",
        "cache",
        "cache clean",
        "index",
        "index keygen",
        "index fill",
        "index check",
        "index sign",
        "index info",
        "completions",
        "man",
        "",
    ];
    let context = TestContext::offline(TFLOCK);
    let help = |command: &str| {
        let arguments = command.split_whitespace().chain(["--help"]);
        let outcome = context.tflock(arguments).run().expect_success();
        (format!("tflock {command}"), outcome.stdout)
    };
    commands.map(help).to_vec()
}

/// Returns the options that a help text defines, such as `-r, --recursive` and `--format <FORMAT>`.
fn options(help: &str) -> BTreeSet<&str> {
    let lines = help.lines().map(str::trim_start);
    let defined = lines.filter(|line| line.starts_with('-') && !line.starts_with("- "));
    let words = defined.flat_map(|line| line.split([' ', ',', '=', '[', '.']));
    words.filter(|word| word.starts_with("--")).collect()
}

#[test]
fn every_option_has_a_section() {
    let anchors = anchors(&read("docs/reference/options.md"));
    let mut count = 0;
    for (command, help) in helps() {
        for option in options(&help) {
            count += 1;
            assert!(anchors.contains(option), "{command}: {option}");
        }
    }
    assert!(count > 100, "only {count} options were found");
}

#[test]
fn every_command_has_a_section() {
    let anchors = anchors(&read("docs/reference/commands.md"));
    let (_, help) = helps().pop().unwrap();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.is_empty());
    let commands = commands.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<&str> = commands
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    assert!(names.len() > 8, "{names:?}");
    for name in names.into_iter().filter(|name| *name != "help") {
        assert!(anchors.contains(name), "{name}");
    }
}

#[test]
fn every_exit_code_is_in_the_table() {
    let page = read("docs/reference/exit-codes.md");
    let (_, help) = helps().pop().unwrap();
    let codes = help
        .lines()
        .skip_while(|line| *line != "Exit codes:")
        .skip(1);
    let codes = codes.take_while(|line| !line.is_empty());
    let codes = codes.filter_map(|line| line.split_whitespace().next()?.parse::<u8>().ok());
    let codes: Vec<u8> = codes.collect();
    assert_eq!(codes, [0, 1, 2, 3, 130]);
    for code in codes {
        assert!(page.contains(&format!("\n| {code} | ")), "{code}");
    }
}

#[test]
fn every_finding_has_a_section_with_its_meaning_an_example_and_a_fix() {
    let page = read("docs/reference/findings.md");
    for code in Code::ALL.iter().filter(|code| code.is_finding()) {
        let heading = format!("\n## {}\n", code.id());
        let section = page.split_once(&heading);
        let (_, section) = section.unwrap_or_else(|| panic!("{} has no section", code.id()));
        let section = section.split("\n## ").next().unwrap();
        let name = format!("`{}`: ", code.name());
        for part in [name.as_str(), "\nExample: ", "\nFix: "] {
            assert!(section.contains(part), "{}: {part}", code.id());
        }
    }
}

#[test]
fn the_tables_of_codes_match_the_program() {
    let page = read("docs/reference/findings.md");
    for code in Code::ALL {
        let (id, name) = (code.id(), code.name());
        let severities: Vec<&str> = code.severities().iter().map(|one| one.name()).collect();
        let row = if code.is_finding() {
            format!(
                "| [{id}](#{}) | `{name}` | {} |",
                id.to_lowercase(),
                code.summary()
            )
        } else {
            let help = match code
                .help()
                .strip_prefix("See ")
                .and_then(|id| id.strip_suffix('.'))
            {
                Some(id) => format!("See [{id}](#{}).", id.to_lowercase()),
                None => code.help().to_owned(),
            };
            format!(
                "| `{id}` | {} | {} | {help} |",
                severities.join(", "),
                code.summary()
            )
        };
        assert!(page.lines().any(|line| line == row), "add this row:\n{row}");
    }
    let rows = page
        .lines()
        .filter(|line| line.starts_with("| [TFL") || line.starts_with("| `"));
    assert_eq!(rows.count(), Code::ALL.len());
}

/// Returns the string literals in a source file, without those in its unit tests.
fn literals(source: &Path) -> Vec<String> {
    let text = fs::read_to_string(source).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap();
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let quoted = lines.flat_map(|line| line.split('"').skip(1).step_by(2));
    quoted.map(str::to_owned).collect()
}

#[test]
fn every_environment_variable_is_described() {
    let page = read("docs/reference/environment.md");
    let mut sources = Vec::new();
    for module in ["settings", "run", "cli_config"] {
        sources_below(&repository().join("src").join(module), &mut sources);
    }
    let found: Vec<String> = sources.iter().flat_map(|source| literals(source)).collect();
    let is_name = |text: &str| {
        let mut bytes = text.bytes();
        text.len() > 1 && bytes.all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    };
    let starts = [
        "TF_",
        "TFLOCK_",
        "TFREGISTRY_",
        "OPENTOFU_",
        "SSL_",
        "XDG_",
        "GITHUB_",
        "NO_",
    ];
    let others = [
        "CI",
        "HOME",
        "NETRC",
        "APPDATA",
        "LOCALAPPDATA",
        "TERRAFORM_CONFIG",
    ];
    let mut names: BTreeSet<&str> = found.iter().map(String::as_str).collect();
    names.retain(|name| is_name(name));
    names
        .retain(|name| others.contains(name) || starts.iter().any(|start| name.starts_with(start)));
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        assert!(page.contains(&format!("`{name}")), "{name}");
    }
}

#[test]
fn every_key_of_the_config_file_is_described() {
    let context = TestContext::offline(TFLOCK);
    context.write(".tflock.toml", "zzzzzzzzzzzzzzzzzz = 1\n");
    let outcome = context.run("config").expect_code(2);
    let (_, hint) = outcome.stderr.split_once("the valid keys are ").unwrap();
    let keys: Vec<&str> = hint
        .lines()
        .next()
        .unwrap()
        .split('`')
        .skip(1)
        .step_by(2)
        .collect();
    assert!(keys.len() >= 10, "{outcome}");
    let anchors = anchors(&read("docs/reference/config-file.md"));
    let options = read("docs/reference/options.md");
    for key in keys {
        let is_option = options.contains(&format!("\nKey: `{key}`."));
        assert!(is_option || anchors.contains(key), "{key}");
    }
}

/// Checks the examples of a complete config file in the reference and in README.md.
#[test]
fn the_config_files_of_the_pages_are_valid() {
    let context = TestContext::offline(TFLOCK);
    for page in [
        "README.md",
        "docs/reference/config-file.md",
        "docs/guide/monorepo.md",
    ] {
        let text = read(page);
        let blocks: Vec<&str> = text.split("```toml\n").skip(1).collect();
        assert!(!blocks.is_empty(), "{page}");
        for block in blocks {
            context.write(".tflock.toml", block.split("```").next().unwrap());
            context.run("config").expect_success();
        }
    }
}

/// Checks that every input and output of the action is described.
#[test]
fn every_input_and_output_of_the_action_is_described() {
    let page = read("docs/guide/ci.md");
    let action = read("action.yml");
    let (head, _) = action.split_once("\nruns:\n").unwrap();
    let is_name =
        |line: &&str| line.starts_with("  ") && !line.starts_with("   ") && line.ends_with(':');
    let names: Vec<&str> = head
        .lines()
        .filter(is_name)
        .map(|line| line.trim().trim_end_matches(':'))
        .collect();
    assert!(names.len() > 12, "{names:?}");
    for name in names {
        assert!(page.contains(&format!("\n| `{name}` | ")), "{name}");
    }
}

#[test]
fn options_are_words_at_the_start_of_their_line() {
    let help =
        "  -r, --recursive\n      --changed[=<REV>]\n          - auto: see --else\n  --x <Y>\n";
    assert_eq!(options(help), ["--changed", "--recursive", "--x"].into());
}
