//! Section 8 of docs/rules/config.md: static evaluation.

use super::super::{EnvironmentValue, ReadOptions, VariableOption};
use super::{ENGINES, Engine, check_files, requires, requires_with};

/// Returns a root module with this text, and the local modules `a` to `c`.
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

/// Checks rows of the form `source | module that Terraform finds | module that OpenTofu finds | remark`; `-` stands for an error.
fn check_sources(declarations: &str, rows: &str) {
    for row in rows.trim().lines() {
        let columns: Vec<&str> = row.split(" | ").map(str::trim).collect();
        let text = format!("{declarations}\n{}", call(columns[0]));
        check_found(files(&text), columns[1], columns[2]);
    }
}

/// Checks which of the modules `a` to `c` each engine finds; `-` stands for an error.
fn check_found(files: Vec<(&str, &str)>, terraform: &str, tofu: &str) {
    let full = |short: &str| (short != "-").then(|| format!("hashicorp/{short}"));
    let (terraform, tofu) = (full(terraform), full(tofu));
    check_files(&[(files, terraform.as_deref(), tofu.as_deref())]);
}

fn call(source: &str) -> String {
    format!("module \"m\" {{\n source = {source}\n}}\n")
}

/// Declares a constant variable `v` with these arguments, and a call with this source.
fn variable_and_call(arguments: &str, source: &str) -> String {
    format!(
        "variable \"v\" {{\n const = true\n{arguments}\n}}\n{}",
        call(source)
    )
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
  templates = {
    source = \"./$${name}\"
    value  = \"$${value}\"
    file   = \"$${file(\\\"main.tf\\\")}\"
    number = 5
  }
}
";

fn known(text: &str) -> EnvironmentValue {
    EnvironmentValue::Known(text.to_owned())
}

#[test]
fn references() {
    let rows = r#"
        "./${local.name}" | c | c
        "./${var.k}" | c | c
        "./${var.n}" | - | c | unknown to Terraform without `const`
        "./${var.none}" | - | -
        "./${var.undefined}" | - | -
        "./${local.undefined}" | - | -
        local.loop | - | -
        "./${q_x.a.id}" | - | -
        "./${local.from_resource}" | - | -
        local.known.a | c | - | OpenTofu rejects even unused references
        "${path.module}/c" | c | c
        "${path.root}/c" | c | c
        "${local.path}/c" | c | c
        terraform.workspace == "default" ? "./c" : "./a" | - | c
        true ? "./c" : "./${var.n}" | c | c
        true ? "./c" : q_x.a.id | - | -
        each.key | - | -
        null | - | -
        ["./c"] | - | -
        sensitive("./c") | - | -
        nonsensitive(sensitive("./c")) | c | c
    "#;
    check_sources(VARIABLES, rows);
}

#[test]
fn functions() {
    let rows = r#"
        format("./%s", lower("C")) | c | c
        join("/", [".", "c"]) | c | c
        "./${trimspace(file("name"))}" | c | c | relative to the root directory
        "./${jsondecode(file("t.json")).name}" | c | c
        try({}.x, "./c") | c | c
        try(var.undefined, "./c") | - | -
        coalesce("./c", var.n) | c | c
        core::format("./%s", "c") | c | c
        convert("./c", string) | c | -
        convert("./c", "string") | - | -
        nofunc() | - | -
        true ? "./c" : nofunc() | c | c
        true ? nofunc() : "./c" | - | -
        try(nofunc(), core::nofunc(), ns::f(), "./c") | c | c
        can(nofunc()) ? "./a" : "./c" | c | c
        try(provider::q::f(), "./c") | - | -
        try(convert("./a", string), "./c") | a | -
        assumestringprefix("./c", "./") | - | c | from 1.13 on
        timestamp() == "" ? "./a" : "./c" | - | c
        templatestring("./$${name}", { name = "c" }) | - | c
        templatestring(local.templates["source"], { name = "c" }) | c | c
        templatestring((local.templates.source), { name = "c" }) | - | c
        templatestring(local.templates.value, { value = true }) == "true" ? "./c" : "./a" | c | a
        try(templatestring("./a", {}), "./c") | c | a
        try(templatestring(local.templates.number, {}), "./c") | c | -
        try(templatestring(local.templates.value, { value = null }), "./c") | c | -
        try(templatestring(local.templates.file, {}), "./c") | c | -
        provider::q::f() | - | -
        can(var.n) ? "./c" : "./a" | - | c
        try(sensitive([1]).x, sensitive([1])[1], sensitive({ a = 1 })["b"], sensitive("a").b, "./c") | c | c
        try(sensitive({ x = "./a" }).x, "./c") | - | -
    "#;
    check_sources(VARIABLES, rows);
}

#[test]
fn types_and_defaults() {
    let rows = r#"
        const = true; default = "c"; nullable = false | "./${var.v}" | c
        const = true; type = object({ x = optional(string, "c") }); default = {} | "./${var.v.x}" | c
        const = true; type = list(string); default = ["c"] | "./${var.v[0]}" | c
        const = true; type = number; default = "x" | "./${var.v}" | -
        const = true | "./${var.v}" | -
        const = true; sensitive = true; default = "c" | "./${var.v}" | -
        const = "true"; default = "c" | "./${var.v}" | c
        const = "yes"; default = "c" | "./${var.v}" | -
        const = null; default = "c" | "./c" | -
        const = false; default = "c" | "./${var.v}" | -
    "#;
    for row in rows.trim().lines() {
        let columns: Vec<&str> = row.split(" | ").map(str::trim).collect();
        let arguments = columns[0].replace("; ", "\n ");
        let variable = format!("variable \"v\" {{\n {arguments}\n}}\n");
        let text = variable + &call(columns[1]);
        check_found(files(&text), columns[2], columns[2]);
    }
}

#[test]
fn values_of_root_variables_lowest_first() {
    let text = variable_and_call(" default = \"default\"", "\"./${var.v}\"");
    let modules = [
        "default", "env", "tfvars", "json", "auto", "autojson", "var", "file",
    ];
    let modules = modules.map(|name| {
        let body = format!("resource \"{name}_x\" \"a\" {{\n}}\n");
        (format!("{name}/main.tf"), body)
    });
    let modules = modules
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()));
    let files: Vec<(&str, &str)> = modules.chain([("main.tf", text.as_str())]).collect();
    for engine in ENGINES {
        let mut options = ReadOptions::new(engine);
        let mut files = files.clone();
        let expect = |files: &[(&str, &str)], options: &ReadOptions, name: &str| {
            let expected = Ok(format!("hashicorp/{name}"));
            assert_eq!(requires_with(files, options), expected, "{engine}");
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
    let rows = r#"
        | "./${var.v}" | c | c
        type = string | "./${var.v}" | c | c
        type = string | "./${var.v}" | "c" | - | with its quotes
        type = list(string) | "./${var.v[0]}" | ["c"] | c
        type = any | "./${var.v}" | "c" | c
        type = list(string) | "./${var.v[0]}" | [c | -
    "#;
    for row in rows.trim_matches(['\n', ' ']).lines() {
        let columns: Vec<&str> = row.split('|').map(str::trim).collect();
        for engine in ENGINES {
            let mut options = ReadOptions::new(engine);
            let given = known(columns[2]);
            options.environment.insert("v".to_owned(), given);
            let text = variable_and_call(columns[0], columns[1]);
            let found = requires_with(&files(&text), &options);
            let is_c = found.as_deref() == Ok("hashicorp/c");
            assert_eq!(is_c, columns[3] == "c", "{row}: {found:?}");
        }
    }
}

#[test]
fn invalid_variable_files_are_errors_even_if_no_value_is_needed() {
    let needs = variable_and_call(" default = \"c\"", "\"./${var.v}\"");
    for engine in ENGINES {
        for (broken, message) in [
            ("v = ", "terraform.tfvars:1:"),
            (
                "b {\n}\n",
                "terraform.tfvars`: it contains a block, but a variable file may contain only arguments",
            ),
            (
                "v = 1\nv = 2\n",
                "terraform.tfvars:2:1: the variable file is invalid",
            ),
            ("v = other\n", "the value of `var.v` is not constant"),
            (
                "x = other\nv = [for a in b : a]\n",
                "the value of `var.v` is not constant",
            ),
        ] {
            let with = |text: &str| {
                let mut files = files(text);
                files.push(("terraform.tfvars", broken));
                requires(&files, engine)
            };
            let found = with(&needs).unwrap_err();
            assert!(found.contains(message), "{broken}: {found}");
            let unneeded = "variable \"v\" {\n}\nresource \"q_x\" \"a\" {\n}\n";
            let values_count = engine == Engine::Terraform || !message.contains("constant");
            for text in [unneeded.to_owned(), unneeded.to_owned() + &call("\"./c\"")] {
                assert_eq!(with(&text).is_err(), values_count, "{engine}: {broken}");
            }
            let constant = unneeded.replace('{', "{\n const = true");
            assert!(with(&constant).is_err(), "{engine}: {broken}");
            // A value of a variable that is not declared is ignored.
            let undeclared = with("").is_ok();
            assert_eq!(undeclared, message.contains("constant"), "{broken}");
        }
    }
}

#[test]
fn calls_give_values_to_child_modules() {
    let child = variable_and_call(" default = \"a\"", "\"../${var.v}\"");
    for (arguments, found) in [
        ("", "a"),
        (" v = \"b\"\n", "b"),
        (" v = local.name\n", "c"),
        (" _ {\n  v = \"b\"\n }\n", "b"),
        (" v = q_x.a.id\n", "-"),
    ] {
        let locals = "locals {\n name = \"c\"\n}\n";
        let text = format!("{locals}module \"m\" {{\n source = \"./child\"\n{arguments}}}\n");
        let mut tree = files(&text);
        tree.push(("child/main.tf", &child));
        check_found(tree, found, found);
    }
    // Environment variables have no effect on a child module.
    let mut options = ReadOptions::new(Engine::Terraform);
    options.environment.insert("v".to_owned(), known("c"));
    let text = call("\"./child\"");
    let mut tree = files(&text);
    tree.push(("child/main.tf", &child));
    assert_eq!(requires_with(&tree, &options).as_deref(), Ok("hashicorp/a"));
}

#[test]
fn the_workspace_of_tofu() {
    let text = call(r#""./${terraform.workspace == "w" ? "c" : "a"}""#);
    let mut options = ReadOptions::new(Engine::Tofu);
    let mut chosen = files(&text);
    chosen.push((".terraform/environment", "w"));
    let found = |files: &[_], options: &ReadOptions| requires_with(files, options).unwrap();
    assert_eq!(found(&files(&text), &options), "hashicorp/a");
    assert_eq!(found(&chosen, &options), "hashicorp/c");
    options.workspace = Some(known("other"));
    assert_eq!(found(&chosen, &options), "hashicorp/a");
}

#[test]
fn versions_may_be_expressions() {
    let record = r#"{"Modules":[{"Key":"m","Source":"acme/dns/any","Version":"1.2.3","Dir":"c"}]}"#;
    for (version, terraform, tofu) in [
        ("local.v", true, true),
        ("\"~> ${1}.2\"", true, true),
        ("null", true, true),
        ("path.module", false, false), // not a version constraint
        ("local.p == \".\" ? \"1.2.3\" : \"2\"", true, true),
        ("path.module == \".\" ? \"1.2.3\" : \"2\"", false, true),
        ("local.v2", false, false),
        ("\"\"", false, false),
    ] {
        let locals = "locals {\n v = \"1.2.3\"\n v2 = \"2.0\"\n p = path.module\n}\n";
        let source = format!("\"acme/dns/any\"\n version = {version}");
        let text = locals.to_owned() + &call(&source);
        let mut tree = files(&text);
        tree.push((".terraform/modules/modules.json", record));
        let expected = |fits: bool| fits.then_some("hashicorp/c");
        check_files(&[(tree, expected(terraform), expected(tofu))]);
    }
}

#[test]
fn null_is_a_value_where_it_is_allowed() {
    for (declaration, given, found) in [
        ("", "\"c\"", "c"),
        ("", "null", "-"),
        (" nullable = true\n", "null", "-"),
        (" nullable = false\n", "null", "a"),
        (" nullable = false\n", "\"c\"", "c"),
    ] {
        let arguments = format!(" default = \"a\"\n{declaration}");
        let text = variable_and_call(&arguments, "\"./${var.v}\"");
        let values = format!("v = {given}\n");
        let mut tree = files(&text);
        tree.push(("terraform.tfvars", &values));
        check_found(tree, found, found);
    }
}

#[test]
fn types_have_short_and_old_forms() {
    let rows = r#"
        (string) | "c" | "./${var.v}" | c
        list | ["c"] | "./${var.v[0]}" | c
        set | ["c"] | "./${one(var.v)}" | c
        map | { x = "c" } | "./${var.v.x}" | c
        any | ["c"] | "./${var.v[0]}" | c
        set(string) | ["c", "c"] | "./${one(var.v)}" | c
        tuple([string, bool]) | ["c", true] | "./${var.v[0]}" | c
        object({ x = optional(string, "a") }) | { x = "c" } | "./${var.v.x}" | c
        object({ x = optional(string, "c") }) | { x = null } | "./${var.v.x}" | c
        object({ x = string, y = string }) | { x = null, y = "c" } | "./${var.v.y}" | c
        "list" | ["c"] | "./${var.v[0]}" | c
        "map" | { x = "c" } | "./${var.v.x}" | c
        list | { x = 1 } | length(var.v) == 0 ? "./a" : "./c" | -
        map | ["c"] | length(var.v) == 0 ? "./a" : "./c" | -
        set | true | length(var.v) == 0 ? "./a" : "./c" | -
    "#;
    for row in rows.trim().lines() {
        let columns: Vec<&str> = row.split(" | ").map(str::trim).collect();
        let arguments = format!(" type = {}\n default = {}", columns[0], columns[1]);
        let text = variable_and_call(&arguments, columns[2]);
        check_found(files(&text), columns[3], columns[3]);
    }
}

#[test]
fn paths_of_modules_depend_on_their_calls() {
    let inner = call("path.module == \"up/in\" ? \"../../c\" : \"../../a\"");
    let outer = call("\"./up/./in/../in\"");
    let mut tree = files(&outer);
    tree.push(("up/in/main.tf", &inner));
    check_found(tree, "c", "c");
}

#[test]
fn the_working_directory_is_not_constant() {
    let rows = r#"
        basename(path.cwd) == "" ? "./a" : "./c" | c | c
        "./${path.nowhere}" | - | -
    "#;
    check_sources("", rows);
}

#[test]
fn unsupported_functions_fall_back_to_what_is_installed() {
    let text = call(r#""git::https://h/${cidrhost("10.0.0.0/8", 1)}""#);
    assert!(requires(&files(&text), Engine::Terraform).is_err());
    let record = r#"{"Modules":[{"Key":"m","Source":"git::https://h/10.0.0.1","Dir":"c"}]}"#;
    let mut tree = files(&text);
    tree.push((".terraform/modules/modules.json", record));
    let found = requires(&tree, Engine::Terraform);
    assert_eq!(found.as_deref(), Ok("hashicorp/c"));
}

#[test]
fn unsupported_functions_matter_only_where_their_value_does() {
    // Configurations often keep all settings of an environment in one object, and only some of them use unsupported functions.
    let locals =
        "locals {\n prod = {\n  net = cidrhost(\"10.0.0.0/8\", 1)\n  name = \"c\"\n }\n}\n";
    let rows = r#"
        "./${local.prod.name}" | c | c
        "./${[local.prod.name, local.prod.net][0]}" | c | c
        "./${coalesce(local.prod.name, local.prod.net)}" | c | c
        "./${local.prod.net}" | - | -
        "./${try(local.prod.net, "c")}" | - | -
        "./${can(local.prod.net) ? "c" : "a"}" | - | -
        "./${local.prod.name}${cidrhsot("10.0.0.0/8", 1)}" | - | -
    "#;
    check_sources(locals, rows);
}

#[test]
fn paths_of_modules_are_normalized() {
    let text = call("\"./me\u{301}\"");
    let mut tree = files(&text);
    tree.push(("m\u{e9}/main.tf", "resource \"c_x\" \"a\" {\n}\n"));
    check_found(tree, "c", "c");
}

#[test]
fn strings_in_json_are_templates() {
    let text = r#"{"locals": {"name": "c"}, "module": {"m": {"source": "./${local.name}"}}}"#;
    let mut tree = files("");
    tree.push(("x.tf.json", text));
    check_found(tree, "c", "c");
}
