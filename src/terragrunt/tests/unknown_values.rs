//! Values that tflock does not know. See docs/rules/terragrunt.md.

use super::*;

#[test]
fn unknown_values_spread_and_known_parts_stay() {
    for (inputs, expected) in [
        ("a = run_cmd(\"x\")", "a = ?"),
        ("a = \"${run_cmd(\"x\")}\"", "a = ?"),
        ("a = dependency.d.outputs.x.y[0]", "a = ?"),
        ("a = upper(dependency.d.outputs.x)", "a = ?"),
        ("a = dependency.d.outputs.x == \"a\" ? 1 : 2", "a = ?"),
        (
            "a = \"pre-${dependency.d.outputs.x}\" == \"pre-a\" ? 1 : 2",
            "a = ?",
        ),
        (
            "a = merge({ x = 1 }, { y = dependency.d.outputs.y })",
            "a = {x = 1, y = ?}",
        ),
        ("a = merge(dependency.d.outputs.x, { y = 1 })", "a = ?"),
        ("a = length([dependency.d.outputs.x, 1])", "a = 2"),
        ("a = keys({ x = dependency.d.outputs.x })", "a = [x]"),
        (
            "a = lookup({ x = 1 }, \"y\", dependency.d.outputs.x)",
            "a = ?",
        ),
        (
            "a = lookup({ x = 1 }, \"x\", dependency.d.outputs.x)",
            "a = 1",
        ),
        (
            "a = [for v in [dependency.d.outputs.x, \"b\"] : v]",
            "a = [?, b]",
        ),
        (
            "a = { for k, v in { x = dependency.d.outputs.x } : k => v }",
            "a = {x = ?}",
        ),
        ("a = { \"${dependency.d.outputs.x}-k\" = 1 }", "a = ?"),
        ("a = try(dependency.d.outputs.x, 1)", "a = ?"),
        ("a = concat([1], [dependency.d.outputs.x])[0]", "a = 1"),
        ("a = timestamp()", "a = ?"),
        ("a = cidrsubnet(\"10.0.0.0/8\", 8, 1)", "a = ?"),
        ("a = get_env(\"NOT_SET\")", "a = ?"),
        ("a = try(get_env(\"NOT_SET\"), \"b\")", "a = b"),
        ("a = file(\"secret\")", "a = ?"),
        ("a = try(file(\"secret\"), \"b\")", "a = b"),
        ("a = fileexists(\"secret\")", "a = false"),
        (
            "a = yamldecode(file(find_in_parent_folders(\"secret.yaml\"))).b",
            "a = ?",
        ),
    ] {
        let unit = format!(
            "\n-- live/app/terragrunt.hcl\ndependency \"d\" {{\n  config_path = \"../d\"\n}}\ninputs = {{\n  {inputs}\n}}\n"
        );
        assert_eq!(
            result_of(&unit, &[]),
            format!("no source | {expected}"),
            "{inputs}"
        );
    }
}

#[test]
fn unknown_parts_of_generated_text_become_holes() {
    for (contents, expected) in [
        ("\"a = \\\"${run_cmd(\"x\")}\\\"\"", "a = \"unknownxqaq\""),
        (
            "\"${run_cmd(\"x\")}-${run_cmd(\"y\")}\"",
            "unknownxqaq-unknownxqbq",
        ),
        ("local.text", "b = unknownxqaq"),
        (
            "templatefile(\"t\", { x = run_cmd(\"x\") })",
            "t = unknownxqaq",
        ),
        (
            "jsonencode({ x = run_cmd(\"x\"), y = 1 })",
            "{\"x\":\"unknownxqaq\",\"y\":1}",
        ),
        ("format(\"%s-%s\", \"a\", run_cmd(\"x\"))", "a-unknownxqaq"),
        ("join(\",\", [\"a\", run_cmd(\"x\")])", "a,unknownxqaq"),
        (
            "\"%{ if run_cmd(\"x\") == \"a\" }b%{ endif }c\"",
            "unknownxqaqc",
        ),
        (
            "\"%{ for v in run_cmd(\"x\") }b%{ endfor }c\"",
            "unknownxqaqc",
        ),
        ("indent(2, \"a\\n${run_cmd(\"x\")}-\")", "a;   unknownxqaq-"),
        // Text that looks like a marker.
        ("\"unknownxq ${run_cmd(\"x\")} \"", "unknownxq unknownxxqaq"),
    ] {
        let unit = format!(
            "\n-- live/app/terragrunt.hcl\nlocals {{\n  text = \"b = ${{run_cmd(\"z\")}} \"\n}}\ngenerate \"g\" {{\n  path = \"g.tf\"\n  if_exists = \"skip\"\n  contents = {contents}\n}}\n-- live/app/t\nt = ${{x}} \n"
        );
        assert_eq!(
            result_of(&unit, &[]),
            format!("no source | g.tf: {expected}"),
            "{contents}"
        );
    }
}

#[test]
fn what_must_be_known_makes_the_unit_unknown() {
    let said = "cannot determine what the unit requires: ";
    for (unit, expected) in [
        (
            "terraform {\n  source = \"./${get_env(\"NOT_SET\")}\"\n}",
            ":2:12: {said}`terraform.source` depends on the environment variable `NOT_SET` (set the environment variable `NOT_SET`)",
        ),
        (
            "include {\n  path = run_cmd(\"x\")\n}",
            ":2:10: {said}the `path` of an `include` block depends on `run_cmd()`",
        ),
        (
            "locals {\n  c = read_terragrunt_config(run_cmd(\"x\"))\n}\nterraform {\n  source = local.c.locals.s\n}",
            ":5:12: {said}`terraform.source` depends on `run_cmd()`",
        ),
        (
            "terraform {\n  exclude_from_copy = [run_cmd(\"x\")]\n}",
            ":2:23: {said}`terraform.exclude_from_copy` depends on `run_cmd()`",
        ),
        (
            "generate \"g\" {\n  path = run_cmd(\"x\")\n  if_exists = \"skip\"\n  contents = \"\"\n}",
            ":2:10: {said}`path` of the `generate` block `g` depends on `run_cmd()`",
        ),
        (
            "generate \"g\" {\n  path = \"g.tf\"\n  if_exists = \"skip\"\n  contents = run_cmd(\"x\")\n}",
            ":4:14: {said}`contents` of the `generate` block `g` depends on `run_cmd()`",
        ),
        (
            "generate \"g\" {\n  path = \"g.tf\"\n  if_exists = \"skip\"\n  disable = run_cmd(\"x\") == \"\"\n  contents = \"\"\n}",
            ":4:13: {said}`disable` of the `generate` block `g` depends on `run_cmd()`",
        ),
    ] {
        let files = format!("\n-- live/app/terragrunt.hcl\n{unit}\n");
        let expected = expected.replace("{said}", said);
        assert_eq!(
            result_of(&files, &[]),
            format!("live/app/terragrunt.hcl{expected}")
        );
    }
}

#[test]
fn withheld_variables_are_unknown() {
    let tree = Tree::of(
        "\n-- live/app/terragrunt.hcl\nterraform {\n  source = \"./${get_env(\"NAME\", \"default\")}\"\n}\n",
    );
    let environment = [("NAME".to_owned(), EnvironmentValue::Withheld)];
    let options = UnitOptions {
        environment: environment.into(),
        working_directory: tree.root(),
        ..UnitOptions::default()
    };
    let reader = UnitReader::new(options, Arc::default());
    let outcome = reader.read(&tree.root().join("repo/live/app"));
    let Ok(UnitOutcome::Unknown(unknown)) = outcome else {
        panic!("known");
    };
    assert_eq!(
        unknown.hint.as_deref(),
        Some("permit the variable with `--allow-env NAME`")
    );
}
