//! Tests limits with the last allowed and the first rejected number, and modules that are read repeatedly.

use super::{ENGINES, Engine, ReadOptions, Tree, requires};

/// Creates a chain of modules in which each calls the next one. The root module calls the first one.
fn row(length: usize) -> Vec<(String, String)> {
    let call = |to: usize| format!("module \"m\" {{\n  source = \"../{to}\"\n}}\n");
    let inner = (1..length).map(|level| (format!("{level}/main.tf"), call(level + 1)));
    let last = (format!("{length}/x"), String::new());
    let root = ("main.tf".to_owned(), call(1).replace("../", "./"));
    inner.chain([last, root]).collect()
}

fn borrowed(files: &[(String, String)]) -> Vec<(&str, &str)> {
    let pairs = files.iter();
    pairs
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect()
}

#[test]
fn calls_nest_sixty_deep() {
    for (length, is_fine) in [(59, true), (60, true), (61, false)] {
        let found = requires(&borrowed(&row(length)), Engine::Terraform);
        assert_eq!(found.is_ok(), is_fine, "{length}: {found:?}");
        let message = found.err().unwrap_or_default();
        let is_expected = message.ends_with("module `m` is nested more than 60 calls deep");
        assert!(is_fine || is_expected, "{message}");
    }
}

#[test]
fn calls_with_computed_sources_are_limited() {
    // The sources are computed, so each of the 2^16 visits could have a different result.
    let call = |name: &str, to: usize| {
        format!("module \"{name}\" {{\n  source = \"../${{tostring({to})}}\"\n}}\n")
    };
    let mut files: Vec<(String, String)> = (1..17)
        .map(|level| {
            let calls = call("a", level + 1) + &call("b", level + 1);
            (format!("{level}/main.tf"), calls)
        })
        .collect();
    files.push(("17/x".to_owned(), String::new()));
    files.push(("main.tf".to_owned(), call("m", 1).replace("../", "./")));
    let found = requires(&borrowed(&files), Engine::Tofu).unwrap_err();
    assert!(found.contains("more than 50000"), "{found}");
}

#[test]
fn at_most_a_hundred_errors_of_a_module_are_reported() {
    let wrong = "provider \"P\" {\n}\n";
    let twice = "resource \"q_x\" \"a\" {\n}\n";
    for (first, each) in [("", wrong), (twice, twice)] {
        for (faults, expected) in [(99, 99), (100, 100), (150, 100)] {
            let text = format!("{first}{}", each.repeat(faults));
            let tree = Tree::new(&[("main.tf", &text)]);
            let errors = tree.read(&ReadOptions::new(Engine::Terraform)).unwrap_err();
            assert_eq!(errors.len(), expected, "{faults} times {each}");
        }
    }
}

#[test]
fn modules_with_remote_calls_are_read_for_each_of_their_callers() {
    let remote = "module \"inner\" {\n  source = \"git::https://h/inner.git\"\n}\n";
    // One directory is recorded with two keys. The module that it calls is installed only below `a`.
    let record = |key: &str, source: &str, directory: &str| {
        format!("{{\"Key\":\"{key}\",\"Source\":\"{source}\",\"Dir\":\"{directory}\"}}")
    };
    let inner = record("a.inner", "git::https://h/inner.git", "inner");
    let outer = ["a", "b"].map(|key| record(key, "git::https://h/m.git", "m"));
    for source in ["./m", "git::https://h/m.git"] {
        let root = ["a", "b"]
            .map(|name| format!("module \"{name}\" {{\n  source = \"{source}\"\n}}\n"))
            .concat();
        let manifest = format!("{{\"Modules\":[{inner},{}]}}", outer.join(","));
        let files = [
            ("main.tf", root.as_str()),
            (".terraform/modules/modules.json", manifest.as_str()),
            ("m/main.tf", remote),
            ("inner/main.tf", "provider \"q\" {}\n"),
        ];
        for engine in ENGINES {
            let missing = requires(&files, engine).unwrap_err();
            let expected =
                "m/main.tf:1:8: module `inner` from `git::https://h/inner.git` is not installed";
            assert_eq!(missing, expected, "{source}");
        }
    }
}
