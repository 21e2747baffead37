//! Units of a hostile pull request: they end in a named error within the budget, and nothing is executed or disclosed.

use std::time::{Duration, Instant};

use super::*;

/// A unit with these locals, which are its source.
fn locals(text: &str) -> String {
    format!(
        "\n-- live/app/terragrunt.hcl\nlocals {{\n{text}\n}}\nterraform {{\n  source = \"./${{length(jsonencode(local.last))}}\"\n}}\n"
    )
}

#[test]
fn evaluation_is_limited() {
    let doubled = (1..60).map(|at| format!("  l{at} = [local.l{0}, local.l{0}]\n", at - 1));
    let doubled = doubled.collect::<Vec<_>>().concat();
    let exponential = locals(&format!("  l0 = \"x\"\n{doubled}  last = local.l59"));
    let loops = locals(
        "  last = [for a in range(1000) : [for b in range(1000) : [for c in range(1000) : a]]]",
    );
    let text = locals(
        "  a = join(\"\", [for i in range(1000) : \"0123456789abcdef\"])\n  last = join(\"\", [for i in range(1000) : join(\"\", [for j in range(10) : local.a])])",
    );
    let template = "\n-- live/app/terragrunt.hcl\ngenerate \"g\" {\n  path = \"g.tf\"\n  if_exists = \"skip\"\n  contents = templatefile(\"t\", {})\n}\n-- live/app/t\n%{ for a in range(1000) }%{ for b in range(1000) }%{ for c in range(1000) }${a}%{ endfor }%{ endfor }%{ endfor }\n";
    let files = (0..100).map(|at| {
        format!(
            "\n-- live/app/f{at}.hcl\nlocals {{\n  v = read_terragrunt_config(\"f{}.hcl\")\n}}\n",
            at + 1
        )
    });
    let deep = files.collect::<Vec<_>>().concat();
    let deep = locals("  last = read_terragrunt_config(\"f0.hcl\")") + &deep;
    let exceeds = |text: &str| text.contains("evaluation exceeds ");
    let is_too_deep = |text: &str| text.contains("nested too deeply");
    for (unit, place, is_expected) in [
        (
            exponential.as_str(),
            "live/app/terragrunt.hcl:",
            &exceeds as &dyn Fn(&str) -> bool,
        ),
        (&loops, "live/app/terragrunt.hcl:2:", &exceeds),
        (&text, "live/app/terragrunt.hcl:3:", &exceeds),
        (template, "live/app/terragrunt.hcl:4:", &exceeds),
        (&deep, "live/app/terragrunt.hcl:2:", &is_too_deep),
    ] {
        let start = Instant::now();
        let result = result_of(unit, &[]);
        let shown: String = result.chars().take(3000).collect();
        assert!(shown.starts_with(place) && is_expected(&shown), "{shown}");
        assert!(start.elapsed() < Duration::from_secs(60), "{shown}");
    }
}

#[test]
fn files_that_read_each_other_are_an_error() {
    let itself = "the file reads itself, directly or through other files";
    for (files, expected) in [
        (
            "\n-- live/app/terragrunt.hcl\nlocals {\n  a = read_terragrunt_config(\"a.hcl\")\n}\n-- live/app/a.hcl\nlocals {\n  b = read_terragrunt_config(\"b.hcl\")\n}\n-- live/app/b.hcl\nlocals {\n  a = read_terragrunt_config(\"a.hcl\")\n}\n",
            itself,
        ),
        (
            "\n-- live/app/terragrunt.hcl\nlocals {\n  a = read_terragrunt_config(\"terragrunt.hcl\")\n}\n",
            itself,
        ),
        (
            "\n-- live/app/terragrunt.hcl\ninclude {\n  path = \"../root.hcl\"\n}\n-- live/root.hcl\nlocals {\n  a = read_terragrunt_config(\"app/terragrunt.hcl\")\n}\n",
            "cannot read `app/terragrunt.hcl`",
        ),
        (
            "\n-- live/app/terragrunt.hcl\ninclude {\n  path = \"terragrunt.hcl\"\n}\n",
            "an included file cannot include other files",
        ),
    ] {
        let result = result_of(files, &[]);
        assert!(result.contains(expected), "{result}");
    }
}

#[test]
fn nothing_outside_the_repository_is_read() {
    let outside = "it is outside of the repository";
    for (expression, expected) in [
        ("read_terragrunt_config(\"/etc/passwd\")", outside),
        ("read_terragrunt_config(\"../../../secret.hcl\")", outside),
        ("read_terragrunt_config(\"link.hcl\")", outside),
        ("file(\"../../../secret.hcl\")", outside),
        ("templatefile(\"link.hcl\", {})", outside),
        ("try(file(\"/etc/passwd\"), \"x\")", outside),
        ("read_tfvars_file(\"../../../secret.hcl\")", outside),
        (
            "read_terragrunt_config(\"../../.git/config\", {})",
            "files in `.git` cannot be read by the configuration",
        ),
        // Whether a file exists is not disclosed either.
        (
            "find_in_parent_folders(\"secret.hcl\")",
            "there is no `secret.hcl` in any parent directory",
        ),
    ] {
        let unit = format!(
            "\n-- live/app/terragrunt.hcl\nlocals {{\n  v = {expression}\n}}\n-- live/root.hcl\n"
        );
        let tree = Tree::of(&unit);
        tree.write("secret.hcl", "locals {\n  secret = \"hunter2\"\n}\n");
        let link = tree.root().join("repo/live/app/link.hcl");
        #[cfg(unix)]
        std::os::unix::fs::symlink("../../../secret.hcl", link).unwrap();
        let errors = tree.evaluate(&[]).map(drop).unwrap_err();
        let shown = described(&errors);
        assert!(
            shown.contains(expected) && !shown.contains("hunter2"),
            "{expression}: {shown}"
        );
    }
    let tree =
        Tree::of("\n-- live/app/terragrunt.hcl\ninclude {\n  path = \"../../../secret.hcl\"\n}\n");
    tree.write("secret.hcl", "hunter2");
    let shown = described(&tree.evaluate(&[]).map(drop).unwrap_err());
    assert!(shown.ends_with(outside), "{shown}");
}

#[test]
fn nothing_is_executed() {
    let tree = Tree::of(
        r#"
-- live/app/terragrunt.hcl
include {
  path = "../root.hcl"
}
locals {
  a = run_cmd("touch", "@ROOT@/executed")
  b = sops_decrypt_file("secrets.yaml")
  c = get_aws_account_id()
}
terraform {
  source = "./m"
  before_hook "h" {
    commands = ["init"]
    execute  = ["touch", "@ROOT@/executed"]
  }
}
inputs = {
  a = local.a
}
-- live/root.hcl
locals {
  a = run_cmd("--terragrunt-quiet", "touch", "@ROOT@/executed")
}
"#,
    );
    let outcome = tree
        .evaluate(&[])
        .map_err(|errors| described(&errors))
        .unwrap();
    let UnitOutcome::Known(unit) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(summary(&unit), "./m | a = ?");
    assert_eq!(unit.hooks_before_init.len(), 1);
    assert!(!tree.root().join("executed").exists());
}

#[test]
fn values_of_the_environment_are_not_shown() {
    let environment = [("TOKEN", "hunter2")];
    for (expression, expected) in [
        (
            "{}[get_env(\"TOKEN\")]",
            "it depends on the environment variable `TOKEN`, whose value is not shown",
        ),
        (
            "file(get_env(\"TOKEN\"))",
            "`terraform.source` depends on the missing file",
        ),
        (
            "tonumber(get_env(\"TOKEN\"))",
            "the environment variable `TOKEN`",
        ),
        (
            "read_terragrunt_config(get_env(\"TOKEN\"))",
            "`read_terragrunt_config` cannot read a file whose path is not shown",
        ),
        (
            "find_in_parent_folders(get_env(\"TOKEN\"))",
            "the environment variable `TOKEN`",
        ),
    ] {
        let unit =
            format!("\n-- live/app/terragrunt.hcl\nterraform {{\n  source = {expression}\n}}\n");
        let result = result_of(&unit, &environment);
        assert!(
            result.contains(expected) && !result.contains("hunter2"),
            "{result}"
        );
    }
    let tree = Tree::of(
        "\n-- live/app/terragrunt.hcl\nterraform {\n  source = \"git::https://${get_env(\"TOKEN\")}@host/m\"\n}\n",
    );
    let Ok(UnitOutcome::Known(unit)) = tree.evaluate(&environment) else {
        panic!("unknown");
    };
    let hidden = unit.source.and_then(|source| source.hidden);
    assert_eq!(hidden.as_deref(), Some("the environment variable `TOKEN`"));
}
