//! Section 8: static evaluation.

use super::super::{EnvironmentValue, ReadOptions, VariableOption};
use super::{ENGINES, Engine, check_files, requires, requires_with};

/// A root module that calls `./c` by what `text` says, and modules `a` to `e`.
fn files(text: &str) -> Vec<(&str, &str)> {
    vec![
        ("main.tf", text),
        ("a/main.tf", "resource \"a_x\" \"a\" {\n}\n"),
        ("b/main.tf", "resource \"b_x\" \"a\" {\n}\n"),
        ("c/main.tf", "resource \"c_x\" \"a\" {\n}\n"),
        ("name", "c"),
        ("t.json", "{\"name\": \"c\"}"),
    ]
}

/// Rows of a source, its declarations, and what the engines make of them; `"c"` is the module `c`.
fn check_sources(declarations: &str, rows: &[(&str, Option<&str>, Option<&str>)]) {
    for (source, terraform, tofu) in rows {
        let text = format!("{declarations}\nmodule \"m\" {{\n source = {source}\n}}\n");
        let full = |short: Option<&str>| short.map(|name| format!("hashicorp/{name}"));
        let (terraform, tofu) = (full(*terraform), full(*tofu));
        check_files(&[(files(&text), terraform.as_deref(), tofu.as_deref())]);
    }
}

const VARIABLES: &str = "
variable \"k\" {
  const = true
  default = \"c\"
}
variable \"n\" {
  default = \"c\"
}
variable \"none\" {
  type = string
}
locals {
  name = \"c\"
  known = { a = \"./c\", b = q_x.a.id }
  from_resource = q_x.a.id
  loop = local.loop
  path = path.module
}
";

fn known(text: &str) -> EnvironmentValue {
    EnvironmentValue::Known(text.to_owned())
}

#[test]
fn references() {
    let c = Some("c");
    check_sources(
        VARIABLES,
        &[
            ("\"./${local.name}\"", c, c),
            ("\"./${var.k}\"", c, c),
            ("\"./${var.n}\"", None, c), // unknown to Terraform without `const`
            ("\"./${var.none}\"", None, None),
            ("\"./${var.undefined}\"", None, None),
            ("\"./${local.undefined}\"", None, None),
            ("local.loop", None, None),
            ("\"./${q_x.a.id}\"", None, None),
            ("\"./${local.from_resource}\"", None, None),
            ("local.known.a", c, None), // OpenTofu refuses unused references too
            ("\"${path.module}/c\"", c, c),
            ("\"${path.root}/c\"", c, c),
            ("\"${local.path}/c\"", c, c),
            (
                "terraform.workspace == \"default\" ? \"./c\" : \"./a\"",
                None,
                c,
            ),
            ("true ? \"./c\" : \"./${var.n}\"", c, c),
            ("true ? \"./c\" : q_x.a.id", None, None),
            ("each.key", None, None),
            ("null", None, None),
            ("[\"./c\"]", None, None),
            ("sensitive(\"./c\")", None, None),
            ("nonsensitive(sensitive(\"./c\"))", c, c),
        ],
    );
}

#[test]
fn functions() {
    let c = Some("c");
    check_sources(
        VARIABLES,
        &[
            ("format(\"./%s\", lower(\"C\"))", c, c),
            ("join(\"/\", [\".\", \"c\"])", c, c),
            ("\"./${trimspace(file(\"name\"))}\"", c, c), // relative to the root directory
            ("\"./${jsondecode(file(\"t.json\")).name}\"", c, c),
            ("try({}.x, \"./c\")", c, c),
            ("try(var.undefined, \"./c\")", None, None),
            ("coalesce(\"./c\", var.n)", c, c),
            ("core::format(\"./%s\", \"c\")", c, c),
            ("convert(\"./c\", string)", c, None),
            ("nofunc()", None, None),
            ("true ? \"./c\" : nofunc()", None, None),
            ("timestamp() == \"\" ? \"./a\" : \"./c\"", None, c),
            ("templatestring(\"./$${name}\", { name = \"c\" })", c, c),
            ("provider::q::f()", None, None),
            ("can(var.n) ? \"./c\" : \"./a\"", None, c),
        ],
    );
}

#[test]
fn types_and_defaults() {
    let variable = |body: &str| format!("variable \"v\" {{\n const = true\n{body}\n}}\n");
    for (declaration, source, terraform, tofu) in [
        (
            variable(" default = \"c\"\n nullable = false"),
            "\"./${var.v}\"",
            Some("c"),
            Some("c"),
        ),
        (
            variable(" type = object({ x = optional(string, \"c\") })\n default = {}"),
            "\"./${var.v.x}\"",
            Some("c"),
            Some("c"),
        ),
        (
            variable(" type = list(string)\n default = [\"c\"]"),
            "\"./${var.v[0]}\"",
            Some("c"),
            Some("c"),
        ),
        (
            variable(" type = number\n default = \"x\""),
            "\"./${var.v}\"",
            None,
            None,
        ),
        (variable(""), "\"./${var.v}\"", None, None),
        (
            variable(" sensitive = true\n default = \"c\""),
            "\"./${var.v}\"",
            None,
            None,
        ),
        (
            "variable \"v\" {\n const = \"true\"\n default = \"c\"\n}\n".to_owned(),
            "\"./${var.v}\"",
            Some("c"),
            Some("c"),
        ),
        (
            "variable \"v\" {\n const = \"yes\"\n default = \"c\"\n}\n".to_owned(),
            "\"./${var.v}\"",
            None,
            None,
        ),
        (
            "variable \"v\" {\n const = null\n default = \"c\"\n}\n".to_owned(),
            "\"./c\"",
            None,
            None,
        ),
        (
            "variable \"v\" {\n const = false\n default = \"c\"\n}\n".to_owned(),
            "\"./${var.v}\"",
            None,
            None,
        ),
    ] {
        check_sources(&declaration, &[(source, terraform, tofu)]);
    }
}

#[test]
fn values_of_root_variables_lowest_first() {
    let text = "variable \"v\" {\n const = true\n default = \"default\"\n}\nmodule \"m\" {\n source = \"./${var.v}\"\n}\n";
    let modules = [
        "default", "env", "tfvars", "json", "auto", "autojson", "var", "file",
    ];
    let bodies: Vec<(String, String)> = modules
        .iter()
        .map(|name| {
            (
                format!("{name}/main.tf"),
                format!("resource \"{name}_x\" \"a\" {{\n}}\n"),
            )
        })
        .collect();
    let mut files: Vec<(&str, &str)> = vec![("main.tf", text)];
    files.extend(
        bodies
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str())),
    );
    for engine in ENGINES {
        let mut options = ReadOptions::new(engine);
        let mut files = files.clone();
        let expect = |files: &[(&str, &str)], options: &ReadOptions, name: &str| {
            assert_eq!(
                requires_with(files, options),
                Ok(format!("hashicorp/{name}")),
                "{engine}"
            );
        };
        expect(&files, &options, "default");
        options.environment.insert("v".to_owned(), known("env"));
        expect(&files, &options, "env");
        files.push(("terraform.tfvars", "v = \"tfvars\"\nother = file(\"x\")\n"));
        expect(&files, &options, "tfvars");
        files.push(("terraform.tfvars.json", "{\"v\": \"json\"}"));
        expect(&files, &options, "json");
        files.push(("a.auto.tfvars", "v = \"auto\"\n"));
        expect(&files, &options, "auto");
        files.push(("b.auto.tfvars.json", "{\"v\": \"autojson\"}"));
        expect(&files, &options, "autojson");
        options.variables.push(VariableOption::Value {
            name: "v".to_owned(),
            text: "var".to_owned(),
        });
        expect(&files, &options, "var");
        files.push(("x.tfvars", "v = \"file\"\n"));
        options
            .variables
            .push(VariableOption::File("x.tfvars".into()));
        expect(&files, &options, "file");
    }
}

#[test]
fn text_from_outside_is_a_string_or_an_expression_by_type() {
    let call = |constraint: &str, source: &str| {
        format!(
            "variable \"v\" {{\n const = true\n{constraint}\n}}\nmodule \"m\" {{\n source = {source}\n}}\n"
        )
    };
    for (constraint, source, text, is_c) in [
        ("", "\"./${var.v}\"", "c", true),
        (" type = string", "\"./${var.v}\"", "c", true),
        (" type = string", "\"./${var.v}\"", "\"c\"", false), // with its quotes
        (" type = list(string)", "\"./${var.v[0]}\"", "[\"c\"]", true),
        (" type = any", "\"./${var.v}\"", "\"c\"", true),
        (" type = list(string)", "\"./${var.v[0]}\"", "[c", false),
    ] {
        for engine in ENGINES {
            let mut options = ReadOptions::new(engine);
            options.environment.insert("v".to_owned(), known(text));
            let text = call(constraint, source);
            let found = requires_with(&files(&text), &options);
            assert_eq!(
                found.as_deref() == Ok("hashicorp/c"),
                is_c,
                "{constraint} {text}: {found:?}"
            );
        }
    }
}

#[test]
fn broken_variable_files_matter_where_a_value_is_needed() {
    let needs = "variable \"v\" {\n const = true\n default = \"c\"\n}\nmodule \"m\" {\n source = \"./${var.v}\"\n}\n";
    for engine in ENGINES {
        for broken in ["v = ", "b {\n}\n", "v = 1\nv = 2\n"] {
            let with = |text| {
                let mut files = files(text);
                files.push(("terraform.tfvars", broken));
                requires(&files, engine)
            };
            assert!(with(needs).is_err(), "{broken}");
            assert!(
                with("module \"m\" {\n source = \"./c\"\n}\n").is_ok(),
                "{broken}"
            );
        }
    }
}

#[test]
fn calls_give_values_to_child_modules() {
    let child = "variable \"v\" {\n const = true\n default = \"a\"\n}\nmodule \"x\" {\n source = \"../${var.v}\"\n}\n";
    for (arguments, terraform, tofu) in [
        ("", Some("hashicorp/a"), Some("hashicorp/a")),
        (" v = \"b\"\n", Some("hashicorp/b"), Some("hashicorp/b")),
        (
            " v = local.name\n",
            Some("hashicorp/c"),
            Some("hashicorp/c"),
        ),
        (
            " _ {\n  v = \"b\"\n }\n",
            Some("hashicorp/b"),
            Some("hashicorp/b"),
        ),
        (" v = q_x.a.id\n", None, None),
    ] {
        let text = format!(
            "locals {{\n name = \"c\"\n}}\nmodule \"m\" {{\n source = \"./child\"\n{arguments}}}\n"
        );
        let mut tree = files(&text);
        tree.push(("child/main.tf", child));
        check_files(&[(tree, terraform, tofu)]);
    }
    // What surrounds the run does not reach a child.
    let mut options = ReadOptions::new(Engine::Terraform);
    options.environment.insert("v".to_owned(), known("c"));
    let mut tree = files("module \"m\" {\n source = \"./child\"\n}\n");
    tree.push(("child/main.tf", child));
    assert_eq!(requires_with(&tree, &options).as_deref(), Ok("hashicorp/a"));
}

#[test]
fn the_workspace_of_tofu() {
    let text =
        "module \"m\" {\n source = \"./${terraform.workspace == \"w\" ? \"c\" : \"a\"}\"\n}\n";
    let mut options = ReadOptions::new(Engine::Tofu);
    assert_eq!(
        requires_with(&files(text), &options).as_deref(),
        Ok("hashicorp/a")
    );
    let mut chosen = files(text);
    chosen.push((".terraform/environment", "w"));
    assert_eq!(
        requires_with(&chosen, &options).as_deref(),
        Ok("hashicorp/c")
    );
    options.workspace = Some(known("other"));
    assert_eq!(
        requires_with(&chosen, &options).as_deref(),
        Ok("hashicorp/a")
    );
}

#[test]
fn versions_are_expressions_too() {
    let record = r#"{"Modules":[{"Key":"m","Source":"acme/dns/any","Version":"1.2.3","Dir":"c"}]}"#;
    for (version, terraform, tofu) in [
        ("local.v", true, true),
        ("\"~> ${1}.2\"", true, true),
        ("null", true, true),
        ("path.module", false, false), // no constraint
        ("local.p == \".\" ? \"1.2.3\" : \"2\"", true, true),
        ("path.module == \".\" ? \"1.2.3\" : \"2\"", false, true),
        ("local.v2", false, false),
        ("\"\"", false, false),
    ] {
        let text = format!(
            "locals {{\n v = \"1.2.3\"\n v2 = \"2.0\"\n p = path.module\n}}\nmodule \"m\" {{\n source = \"acme/dns/any\"\n version = {version}\n}}\n"
        );
        let mut tree = files(&text);
        tree.push((".terraform/modules/modules.json", record));
        let expected = |fits: bool| fits.then_some("hashicorp/c");
        check_files(&[(tree, expected(terraform), expected(tofu))]);
    }
}

#[test]
fn null_is_a_value_where_it_may_be_one() {
    for (declaration, given, expected) in [
        ("", "\"c\"", Some("c")),
        ("", "null", None),
        (" nullable = true\n", "null", None),
        (" nullable = false\n", "null", Some("a")),
        (" nullable = false\n", "\"c\"", Some("c")),
    ] {
        let text = format!(
            "variable \"v\" {{\n const = true\n default = \"a\"\n{declaration}}}\nmodule \"m\" {{\n source = \"./${{var.v}}\"\n}}\n"
        );
        let values = format!("v = {given}\n");
        let mut tree = files(&text);
        tree.push(("terraform.tfvars", &values));
        let expected = expected.map(|name| format!("hashicorp/{name}"));
        check_files(&[(tree, expected.as_deref(), expected.as_deref())]);
    }
}

#[test]
fn types_have_short_and_old_forms() {
    for (declared, default, element) in [
        ("(string)", "\"c\"", "var.v"),
        ("list", "[\"c\"]", "var.v[0]"),
        ("set", "[\"c\"]", "one(var.v)"),
        ("map", "{ x = \"c\" }", "var.v.x"),
        ("any", "[\"c\"]", "var.v[0]"),
        ("set(string)", "[\"c\", \"c\"]", "one(var.v)"),
        ("tuple([string, bool])", "[\"c\", true]", "var.v[0]"),
        (
            "object({ x = optional(string, \"a\") })",
            "{ x = \"c\" }",
            "var.v.x",
        ),
        (
            "object({ x = optional(string, \"c\") })",
            "{ x = null }",
            "var.v.x",
        ),
        (
            "object({ x = string, y = string })",
            "{ x = null, y = \"c\" }",
            "var.v.y",
        ),
        ("\"list\"", "[\"c\"]", "var.v[0]"),
        ("\"map\"", "{ x = \"c\" }", "var.v.x"),
    ] {
        let text = format!(
            "variable \"v\" {{\n const = true\n type = {declared}\n default = {default}\n}}\nmodule \"m\" {{\n source = \"./${{{element}}}\"\n}}\n"
        );
        let both = Some("hashicorp/c");
        check_files(&[(files(&text), both, both)]);
    }
    for (declared, default) in [("list", "{ x = 1 }"), ("map", "[\"c\"]"), ("set", "true")] {
        let text = format!(
            "variable \"v\" {{\n const = true\n type = {declared}\n default = {default}\n}}\nmodule \"m\" {{\n source = length(var.v) == 0 ? \"./a\" : \"./c\"\n}}\n"
        );
        check_files(&[(files(&text), None, None)]);
    }
}

#[test]
fn modules_know_where_they_are_by_how_they_are_called() {
    let call = |name: &str, source: &str| format!("module \"{name}\" {{\n source = {source}\n}}\n");
    let inner = call("m", "path.module == \"up/in\" ? \"../../c\" : \"../../a\"");
    let outer = call("m", "\"./up/./in/../in\"");
    let mut tree = files(&outer);
    tree.push(("up/in/main.tf", &inner));
    let both = Some("hashicorp/c");
    check_files(&[(tree, both, both)]);
}

#[test]
fn the_directory_of_the_run_is_no_constant() {
    let text = "module \"m\" {\n source = basename(path.cwd) == \"\" ? \"./a\" : \"./c\"\n}\n";
    let both = Some("hashicorp/c");
    check_files(&[(files(text), both, both)]);
    let undeclared = "module \"m\" {\n source = \"./${path.nowhere}\"\n}\n";
    check_files(&[(files(undeclared), None, None)]);
}

#[test]
fn unsupported_functions_fall_back_to_what_is_installed() {
    let text = "module \"m\" {\n source = \"git::https://h/${cidrhost(\"10.0.0.0/8\", 1)}\"\n}\n";
    assert!(requires(&files(text), Engine::Terraform).is_err());
    let record = r#"{"Modules":[{"Key":"m","Source":"git::https://h/10.0.0.1","Dir":"c"}]}"#;
    let mut tree = files(text);
    tree.push((".terraform/modules/modules.json", record));
    assert_eq!(
        requires(&tree, Engine::Terraform).as_deref(),
        Ok("hashicorp/c")
    );
}

#[test]
fn unsupported_functions_matter_only_where_their_value_does() {
    let both = (Some("hashicorp/c"), Some("hashicorp/c"));
    for (source, (terraform, tofu)) in [
        // Networks and versions of an environment are often in one object.
        ("./${local.prod.name}", both),
        ("./${[local.prod.name, local.prod.net][0]}", both),
        ("./${coalesce(local.prod.name, local.prod.net)}", both),
        ("./${local.prod.net}", (None, None)),
        ("./${try(local.prod.net, \"c\")}", (None, None)),
        ("./${can(local.prod.net) ? \"c\" : \"a\"}", (None, None)),
        (
            "./${local.prod.name}${cidrhsot(\"10.0.0.0/8\", 1)}",
            (None, None),
        ),
    ] {
        let text = format!(
            "locals {{\n prod = {{\n  net = cidrhost(\"10.0.0.0/8\", 1)\n  name = \"c\"\n }}\n}}\nmodule \"m\" {{\n source = \"{source}\"\n}}\n"
        );
        check_files(&[(files(&text), terraform, tofu)]);
    }
}

#[test]
fn strings_in_json_are_templates_here() {
    let text = r#"{"locals": {"name": "c"}, "module": {"m": {"source": "./${local.name}"}}}"#;
    let mut tree = files("");
    tree.push(("x.tf.json", text));
    check_files(&[(tree, Some("hashicorp/c"), Some("hashicorp/c"))]);
}
