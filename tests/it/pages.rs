//! The documentation: its links lead somewhere, and it describes every option, code, variable and key that there is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use tflock_test_support::TestContext;

use crate::TFLOCK;

/// Directories with pages, besides the top of the repository.
const DIRECTORIES: [&str; 4] = ["docs", "docs/guide", "docs/reference", "docs/rules"];

/// The most lines of README.md.
const README_LINES: usize = 220;

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(page: &str) -> String {
    fs::read_to_string(repository().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
}

/// The pages by their path from the top of the repository.
fn pages() -> BTreeMap<PathBuf, String> {
    let mut pages = BTreeMap::new();
    for directory in ["."].into_iter().chain(DIRECTORIES) {
        for entry in fs::read_dir(repository().join(directory)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let name = path.strip_prefix(repository()).unwrap();
                let text = fs::read_to_string(&path).unwrap();
                pages.insert(clean(name), text);
            }
        }
    }
    pages
}

/// A path without `.` and `..`.
fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                clean.pop();
            }
            Component::CurDir => {}
            part => clean.push(part),
        }
    }
    clean
}

/// The lines of a page outside of its code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// The anchors of a page, as GitHub makes them of headings: the second of two equal ones ends in `-1`.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let headings = prose(text).filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let anchor = anchor(line.trim_start_matches('#').trim());
            let count = seen.entry(anchor.clone()).or_default();
            *count += 1;
            match *count {
                1 => anchor,
                count => format!("{anchor}-{}", count - 1),
            }
        })
        .collect()
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        letter if letter.is_alphanumeric() => Some(letter),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

/// The targets of links and pictures, in Markdown and in HTML.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in prose(text) {
        let line = without_code(line);
        for (opening, closing) in [
            ("](", ')'),
            ("src=\"", '"'),
            ("srcset=\"", '"'),
            ("href=\"", '"'),
        ] {
            let parts = line.split(opening).skip(1);
            found.extend(parts.filter_map(|part| Some(part.split_once(closing)?.0.to_owned())));
        }
    }
    found
}

/// A line without what is between backticks, where brackets are no links.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// Why a link of a page leads nowhere.
fn broken(page: &Path, link: &str, pages: &BTreeMap<PathBuf, String>) -> Option<&'static str> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
    let target = match path {
        "" => page.to_path_buf(),
        path => clean(&page.parent().unwrap().join(path)),
    };
    if !repository().join(&target).exists() {
        return Some("there is no such file");
    }
    if fragment.is_empty() {
        return None;
    }
    let anchors = pages.get(&target).map(|text| anchors(text));
    let is_there = anchors.is_some_and(|anchors| anchors.contains(fragment));
    (!is_there).then_some("there is no such heading")
}

#[test]
fn links_lead_to_files_and_headings_of_the_repository() {
    let pages = pages();
    let mut count = 0;
    let mut faults = Vec::new();
    for (page, text) in &pages {
        for link in links(text) {
            count += 1;
            if let Some(fault) = broken(page, &link, &pages) {
                faults.push(format!("{}: {link}: {fault}", page.display()));
            }
        }
    }
    assert!(count > 150, "links are found: {count}");
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_page_is_reached_from_the_readme() {
    let pages = pages();
    let mut reached = BTreeSet::new();
    let mut open = vec![PathBuf::from("README.md")];
    while let Some(page) = open.pop() {
        let Some(text) = pages.get(&page) else {
            continue;
        };
        if reached.insert(page.clone()) {
            let targets = links(text).into_iter();
            let targets = targets.map(|link| link.split('#').next().unwrap().to_owned());
            open.extend(targets.map(|path| clean(&page.parent().unwrap().join(path))));
        }
    }
    let lost: Vec<&PathBuf> = pages
        .keys()
        .filter(|page| !reached.contains(*page))
        .collect();
    assert!(lost.is_empty(), "{lost:?}");
}

#[test]
fn the_readme_is_short() {
    let lines = read("README.md").lines().count();
    assert!(lines <= README_LINES, "{lines} lines");
}

/// The commands whose options count, with what `--help` prints for each.
fn helps() -> Vec<(String, String)> {
    let commands = [
        "lock",
        "verify",
        "list",
        "mirror",
        "config",
        "cache",
        "cache clean",
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

/// The options that a help text defines: `-r, --recursive` and `--format <FORMAT>`.
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
    assert!(count > 100, "options are found: {count}");
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
    for rule in tflock::locking::Rule::ALL {
        let (_, section) = page.split_once(&format!("\n## {}\n", rule.code())).unwrap();
        let section = section.split("\n## ").next().unwrap();
        let name = format!("`{}`: ", rule.name());
        for part in [name.as_str(), "\nExample: ", "\nFix: "] {
            assert!(section.contains(part), "{}: {part}", rule.code());
        }
    }
}

/// The string literals of source files below `directory`, with the lines that they are in.
fn literals(directory: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            literals(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            for line in code
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"))
            {
                let quoted = line.split('"').skip(1).step_by(2);
                found.extend(quoted.map(|literal| (literal.to_owned(), line.to_owned())));
            }
        }
    }
}

/// Variables that tflock reads by a name in its sources, and those that it names without reading them.
#[test]
fn every_environment_variable_is_described() {
    let page = read("docs/reference/environment.md");
    let mut found = Vec::new();
    for room in ["settings", "run", "cli_config"] {
        literals(&repository().join("src").join(room), &mut found);
    }
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
    let mut names: BTreeSet<&str> = found.iter().map(|(literal, _)| literal.as_str()).collect();
    names.retain(|name| is_name(name));
    names
        .retain(|name| others.contains(name) || starts.iter().any(|start| name.starts_with(start)));
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        assert!(page.contains(&format!("`{name}")), "{name}");
    }
}

#[test]
fn every_key_of_the_config_file_has_a_section() {
    let context = TestContext::offline(TFLOCK);
    context.write(".tflock.toml", "zzzzzzzzzzzzzzzzzz = 1\n");
    let outcome = context.tflock(["config"]).run().expect_code(2);
    let (_, hint) = outcome.stderr.split_once("the keys are ").unwrap();
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
    for key in keys {
        assert!(anchors.contains(key), "{key}");
    }
}

/// The example of a complete config file in its reference, and that of README.md.
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
            context.tflock(["config"]).run().expect_success();
        }
    }
}

/// Inputs and outputs of the action.
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
fn headings_have_the_anchors_of_github() {
    let text = "# A `--b[=C]`\n\n```sh\n# no heading\n```\n## 4. Package authentication, in order\n## A `--b[=C]`\n";
    let expected = ["4-package-authentication-in-order", "a---bc", "a---bc-1"];
    assert_eq!(anchors(text), expected.map(str::to_owned).into());
    assert_eq!(links("[a](b#c) `[x](y)` <img src=\"d\">"), ["b#c", "d"]);
    let help =
        "  -r, --recursive\n      --changed[=<REV>]\n          - auto: see --else\n  --x <Y>\n";
    assert_eq!(options(help), ["--changed", "--recursive", "--x"].into());
}
