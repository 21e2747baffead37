//! Variables and functions. See docs/rules/terragrunt.md.

use super::*;

/// Returns the source of a unit.
fn source(expression: &str, rest: &str) -> String {
    let unit =
        format!("\n-- live/app/terragrunt.hcl\nterraform {{\n  source = {expression}\n}}\n{rest}");
    result_of(&unit, &[("SET", "value"), ("EMPTY", "")])
}

#[test]
fn functions_of_terragrunt() {
    let files = "-- live/app/empty.hcl\n-- live/region.hcl\nlocals {\n  name = \"r\"\n  original = get_original_terragrunt_dir()\n  own = get_terragrunt_dir()\n}\ninputs = {\n  list = [1, 2]\n}\n-- live/app/x.tfvars\na = [1, \"<b>\"]\nc = { d = true }\n";
    for (expression, expected) in [
        (
            "find_in_parent_folders(\"region.hcl\")",
            "@ROOT@/repo/live/region.hcl",
        ),
        (
            "find_in_parent_folders(\"live/region.hcl\")",
            "@ROOT@/repo/live/region.hcl",
        ),
        ("find_in_parent_folders(\"live\")", "@ROOT@/repo/live"),
        ("find_in_parent_folders(\"nope\", \"./d\")", "./d"),
        ("get_terragrunt_dir()", "@ROOT@/repo/live/app"),
        ("get_repo_root()", "@ROOT@/repo"),
        ("get_path_to_repo_root()", "../.."),
        ("get_path_from_repo_root()", "live/app"),
        ("path_relative_to_include()", "no source"),
        ("get_env(\"SET\")", "value"),
        ("\"./${get_env(\"EMPTY\", \"d\")}\"", "./"),
        ("get_env(\"NOT_SET\", \"d\")", "d"),
        ("get_terraform_command()", "init"),
        (
            "join(\",\", get_terraform_commands_that_need_vars())",
            "apply,console,destroy,import,plan,push,refresh",
        ),
        (
            "read_terragrunt_config(find_in_parent_folders(\"region.hcl\")).locals.name",
            "r",
        ),
        (
            "read_terragrunt_config(\"../region.hcl\").locals.original",
            "@ROOT@/repo/live/app",
        ),
        (
            "read_terragrunt_config(\"../region.hcl\").locals.own",
            "@ROOT@/repo/live",
        ),
        (
            "\"./${read_terragrunt_config(\"../region.hcl\").inputs.list[1]}\"",
            "./2",
        ),
        ("read_terragrunt_config(\"nope.hcl\", { a = \"d\" }).a", "d"),
        (
            "read_tfvars_file(\"x.tfvars\")",
            "{\"a\":[1,\"\\u003cb\\u003e\"],\"c\":{\"d\":true}}",
        ),
        (
            "try(read_terragrunt_config(\"../region.hcl\").inputs.nope, \"d\")",
            "d",
        ),
        (
            "\"./${length(merge(read_terragrunt_config(\"empty.hcl\").inputs, { a = 1 }))}\"",
            "./1",
        ),
        (
            "join(\",\", keys(read_terragrunt_config(\"../region.hcl\")))",
            "dependencies,dependency,download_dir,feature,generate,iam_assume_role_duration,iam_assume_role_session_name,iam_role,iam_web_identity_token,inputs,locals,terraform_binary,terraform_version_constraint,terragrunt_version_constraint",
        ),
        ("mark_as_read(\"./m\")", "./m"),
        (
            "mark_glob_as_read(\"*.tfvars\")[0]",
            "@ROOT@/repo/live/app/x.tfvars",
        ),
        (
            "constraint_check(\"1.2.3\", \"~> 1.2\") ? \"y\" : \"n\"",
            "y",
        ),
        ("startswith(\"ab\", \"a\") ? \"y\" : \"n\"", "y"),
        ("try(nope(), \"d\")", "d"),
        ("try(values.x, \"d\")", "d"),
    ] {
        let result = source(expression, files);
        let expected = expected.replace("@ROOT@/repo/", "");
        assert_eq!(result, expected, "{expression}");
    }
}

#[test]
fn locals_are_evaluated_in_the_order_of_their_references() {
    for (locals, expected) in [
        ("a = local.b\n  b = local.c\n  c = \"x\"", "x"),
        ("a = local.b.c\n  b = { c = \"x\" }", "x"),
        ("a = try(local.b.nope, \"x\")\n  b = {}", "x"),
        ("a = [for local in [\"x\"] : local][0]", "x"),
        (
            "a = try(local.nope, \"x\")",
            "live/app/terragrunt.hcl:5:7: there is no `local.nope`",
        ),
        (
            "a = local.b\n  b = local.a",
            "live/app/terragrunt.hcl:5:7: this local depends on itself through `local.b`",
        ),
        (
            "a = dependency.d.outputs.x",
            "live/app/terragrunt.hcl:5:7: locals can refer to `local`, `include`, `feature` and `values`, but not to `dependency`",
        ),
        (
            "a = \"x\"\n  b = nope()",
            "live/app/terragrunt.hcl:6:7: cannot evaluate `b`: there is no function `nope`",
        ),
    ] {
        let rest = format!("locals {{\n  {locals}\n}}\n");
        assert_eq!(source("local.a", &rest), expected, "{locals}");
    }
}

#[test]
fn values_and_features() {
    let values = "-- live/app/terragrunt.values.hcl\nname = upper(\"x\")\n";
    assert_eq!(source("values.name", values), "X");
    assert_eq!(source("values.name", ""), "a template");
    assert_eq!(
        source("values.nope", values),
        "live/app/terragrunt.hcl:2:12: cannot evaluate `source`: there is no attribute or key `nope` in this value"
    );
    let feature = "feature \"f\" {\n  default = false\n}\n";
    let unit = format!(
        "\n-- live/app/terragrunt.hcl\n{feature}terraform {{\n  source = feature.f.value ? \"y\" : \"n\"\n}}\n"
    );
    for (given, expected) in [("g=1", "n"), ("f=true", "y"), ("g=1,f=true", "y")] {
        assert_eq!(
            result_of(&unit, &[("TG_FEATURE", given)]),
            expected,
            "{given}"
        );
    }
}

#[test]
fn messages_name_what_is_wrong() {
    for (unit, expected) in [
        ("nope = 1", ":1:8: Terragrunt has no argument `nope` here"),
        ("nope {}", ":1:1: `nope` blocks are not allowed here"),
        (
            "terraform \"x\" {}",
            ":1:1: incorrect number of labels for a `terraform` block: expected 0, found 1",
        ),
        ("include {}", ":1:1: the argument `path` is missing"),
        (
            "include {\n  path = \"\"\n}",
            ":2:10: the `path` of an `include` block is empty",
        ),
        (
            "include {\n  path = [1]\n}",
            ":2:10: the `path` of an `include` block must be a string",
        ),
        (
            "include {\n  path = \"nope.hcl\"\n}",
            ":2:10: cannot read `repo/live/app/nope.hcl`: No such file or directory (os error 2)",
        ),
        (
            "locals {\n  a = 1\n}\nlocals {}",
            ":4:1: only one `locals` block is allowed",
        ),
        ("inputs = [1]", ":1:10: `inputs` must be an object"),
        (
            "inputs = {\n  a = local.b\n}",
            ":2:7: cannot evaluate `inputs`: there is no local `b`",
        ),
        (
            "inputs = {\n  a = dependency.d.outputs\n}",
            ":2:7: cannot evaluate `inputs`: there is no `dependency` block `d`",
        ),
        (
            "dependencies {\n  paths = [\"../nope\"]\n}",
            ":2:11: a directory in `dependencies.paths` does not exist",
        ),
        (
            "terraform {\n  source = [1]\n}",
            ":2:12: `terraform.source` must be a string",
        ),
        (
            "terraform {\n  include_in_copy = \"x\"\n}",
            ":2:21: `include_in_copy` must be a list of strings",
        ),
        (
            "remote_state {\n  backend = \"local\"\n  config = {}\n  generate = { path = \"b.tf\" }\n}",
            ":4:14: `remote_state.generate` has no `if_exists`",
        ),
    ] {
        let files = format!("\n-- live/app/terragrunt.hcl\n{unit}\n");
        assert_eq!(
            result_of(&files, &[]),
            format!("live/app/terragrunt.hcl{expected}"),
            "{unit}"
        );
    }
}
