//! How parents are merged. See docs/rules/terragrunt.md.

use super::*;

/// Evaluates a unit with a parent.
fn merged(strategy: &str, unit: &str, parent: &str) -> String {
    result_of(
        &format!(
            "\n-- live/app/terragrunt.hcl\ninclude \"root\" {{\n  path = \"../root.hcl\"\n  merge_strategy = \"{strategy}\"\n}}\n{unit}\n-- live/root.hcl\n{parent}\n"
        ),
        &[],
    )
}

#[test]
fn settings_of_the_unit_take_precedence() {
    for (strategy, unit, parent, expected) in [
        (
            "shallow",
            "terraform {\n  source = \"./u\"\n}",
            "terraform {\n  source = \"./p\"\n}",
            "./u",
        ),
        (
            "shallow",
            "terraform {}",
            "terraform {\n  source = \"./p\"\n}",
            "./p",
        ),
        (
            "shallow",
            "terraform {\n  source = null\n}",
            "terraform {\n  source = \"./p\"\n}",
            "./p",
        ),
        (
            "no_merge",
            "",
            "terraform {\n  source = \"./p\"\n}",
            "no source",
        ),
        (
            "shallow",
            "inputs = { a = 1 }",
            "inputs = { a = 2, b = 3 }",
            "no source | a = 1 | b = 3",
        ),
        (
            "shallow",
            "inputs = { a = { x = 1 } }",
            "inputs = { a = { y = 2 } }",
            "no source | a = {x = 1}",
        ),
        (
            "deep",
            "inputs = { a = { x = 1 } }",
            "inputs = { a = { y = 2 } }",
            "no source | a = {x = 1, y = 2}",
        ),
        (
            "deep",
            "inputs = { a = [1] }",
            "inputs = { a = [2] }",
            "no source | a = [2, 1]",
        ),
        (
            "shallow",
            "",
            "inputs = { a = path_relative_to_include() }",
            "no source | a = app",
        ),
        (
            "shallow",
            "",
            "inputs = { a = get_terragrunt_dir() }",
            "no source | a = live/app",
        ),
        (
            "shallow",
            "",
            "inputs = { a = get_parent_terragrunt_dir() }",
            "no source | a = live",
        ),
        (
            "shallow",
            "",
            "inputs = { a = fileexists(\"root.hcl\") }",
            "no source | a = true",
        ),
    ] {
        assert_eq!(
            merged(strategy, unit, parent).replace("@ROOT@/repo/", ""),
            expected,
            "{strategy} {unit}"
        );
    }
}

#[test]
fn lists_of_the_unit_are_lost_in_a_shallow_merge() {
    for (strategy, parent, expected) in [
        (
            "shallow",
            "terraform {\n  include_in_copy = [\"p\"]\n}",
            vec!["p"],
        ),
        ("shallow", "terraform {}", vec![]),
        ("shallow", "", vec!["u"]),
        (
            "deep",
            "terraform {\n  include_in_copy = [\"p\"]\n}",
            vec!["u", "p"],
        ),
        ("deep", "terraform {}", vec!["u"]),
    ] {
        let files = format!(
            "\n-- live/app/terragrunt.hcl\ninclude \"root\" {{\n  path = \"../root.hcl\"\n  merge_strategy = \"{strategy}\"\n}}\nterraform {{\n  include_in_copy = [\"u\"]\n}}\n-- live/root.hcl\n{parent}\n"
        );
        let Ok(UnitOutcome::Known(unit)) = Tree::of(&files).evaluate(&[]) else {
            panic!("unknown");
        };
        assert_eq!(unit.included_in_copy, expected, "{strategy} {parent}");
    }
}

#[test]
fn parents_are_visible_if_they_are_exposed() {
    let parent = "-- live/root.hcl\nlocals {\n  name = \"m\"\n}\n";
    let include = |label: &str, expose: &str| {
        format!("include {label} {{\n  path = \"../root.hcl\"\n{expose}\n}}\n")
    };
    for (blocks, source, expected) in [
        (
            include("\"root\"", "expose = true"),
            "include.root.locals.name",
            "m",
        ),
        (include("", "expose = true"), "include.locals.name", "m"),
        (
            include("\"root\"", ""),
            "include.root.locals.name",
            "live/app/terragrunt.hcl:6:12: cannot evaluate `source`: the included file is not visible: its `include` block needs `expose = true`",
        ),
        (
            include("\"root\"", "expose = true"),
            "include.other.locals.name",
            "live/app/terragrunt.hcl:6:12: cannot evaluate `source`: there is no `include` block `other`",
        ),
    ] {
        let unit = format!(
            "\n-- live/app/terragrunt.hcl\n{blocks}terraform {{\n  source = {source}\n}}\n{parent}"
        );
        assert_eq!(result_of(&unit, &[]), expected, "{source}");
    }
}

#[test]
fn later_includes_and_the_autoinclude_take_precedence() {
    let unit = "\n-- live/app/terragrunt.hcl\ninclude \"a\" {\n  path = \"../a.hcl\"\n}\ninclude \"b\" {\n  path = \"../b.hcl\"\n}\n-- live/a.hcl\nterraform {\n  source = \"./a\"\n}\n-- live/b.hcl\nterraform {\n  source = \"./b\"\n}\n";
    assert_eq!(result_of(unit, &[]), "./b");
    let auto = format!(
        "{unit}-- live/app/terragrunt.autoinclude.hcl\nterraform {{\n  source = \"./auto\"\n}}\n"
    );
    assert_eq!(result_of(&auto, &[]), "./auto");
}

#[test]
fn what_was_read_is_recorded() {
    let tree = Tree::of(
        "\n-- live/app/terragrunt.hcl\ninclude {\n  path = find_in_parent_folders(\"root.hcl\")\n}\n-- root.hcl\nlocals {\n  env = read_terragrunt_config(find_in_parent_folders(\"env.hcl\", \"none.hcl\"), {})\n  text = file(\"text\")\n}\n-- text\n-- live/env.hcl\nlocals {\n  a = 1\n}\n",
    );
    // The second unit uses what the first one has evaluated.
    tree.write(
        "repo/live/other/terragrunt.hcl",
        "include {\n  path = find_in_parent_folders(\"root.hcl\")\n}\n",
    );
    let reader = tree.reader(&[]);
    for unit in ["app", "other"] {
        let Ok(UnitOutcome::Known(found)) = reader.read(&tree.root().join("repo/live").join(unit))
        else {
            panic!("unknown");
        };
        let read = found
            .files_read
            .iter()
            .map(|path| tree.shown(&path.display().to_string()));
        let read: Vec<_> = read.collect();
        for path in [
            format!("live/{unit}/terragrunt.hcl"),
            format!("live/{unit}/terragrunt.values.hcl"),
            "live/root.hcl".to_owned(),
            "root.hcl".to_owned(),
            "live/env.hcl".to_owned(),
            "text".to_owned(),
        ] {
            assert!(
                read.contains(&format!("@ROOT@/repo/{path}")),
                "{path} in {read:?}"
            );
        }
    }
}
