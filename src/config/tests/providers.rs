//! Sections 3 and 4 of docs/rules/config.md: blocks that require a provider.

use super::{
    ReadOptions, Tree, check, check_files, check_json_rows, check_rows, parse_rows, requires,
};
use crate::provider::Engine;

#[test]
fn resources_imply_their_provider() {
    check_rows(
        r#"
        resource "q_x" "a" {\n}\n | hashicorp/q
        data "q_x" "a" {\n}\n | hashicorp/q
        ephemeral "q_x" "a" {\n}\n | hashicorp/q
        resource "q" "a" {\n}\n | hashicorp/q
        resource "Q_x" "a" {\n}\n | hashicorp/q
        check "c" {\n data "q_x" "a" {\n }\n assert {\n }\n}\n | hashicorp/q
        action "q_x" "a" {\n}\n | hashicorp/q | nothing // a block that OpenTofu does not know
        resource "q_x" "a" {\n provider = r\n}\n | hashicorp/r
        resource "q_x" "a" {\n}\nresource "q_x" "a" {\n}\n | -
        data "q_x" "a" {\n}\nresource "q_x" "a" {\n}\n | hashicorp/q
        resource "q_x" {\n}\n | -
        resource "1x_y" "a" {\n}\n | -
        resource "q_x" "a b" {\n}\n | -
        terraform {\n required_providers {\n  q = { source = "t/z" }\n }\n}\nresource "q_x" "a" {\n}\n | t/z
    "#,
    );
}

#[test]
fn types_are_folded_before_their_provider_is_looked_up() {
    let required = "terraform {\n required_providers {\n  foo = { source = \"t/f\" }\n  é = { source = \"t/e\" }\n }\n}\n";
    let both = Some("t/e, t/f");
    for name in ["Foo_x", "FOO", "ｆoo_x", "e\u{301}_x", "É_x"] {
        let rows = ["resource", "data", "ephemeral", "action"]
            .map(|kind| format!("{required}{kind} \"{name}\" \"a\" {{\n}}\n"));
        for text in &rows {
            check(&[(text, both, both)]);
        }
        let import = format!("{required}import {{\n to = {name}.a\n id = \"i\"\n}}\n");
        check(&[(&import, both, both)]);
    }
    check_rows(
        r#"
        resource "Terraform_data" "a" {\n}\n | nothing
        terraform {\n required_providers {\n  Foo = "1.0"\n }\n}\nresource "Foo_x" "a" {\n}\n | hashicorp/foo 1.0.0
    "#,
    );
}

#[test]
fn types_that_name_no_provider_are_errors_unless_an_argument_does() {
    for name in ["_foo", "a b", "a--b_x", "-x", "a-_x"] {
        for kind in ["resource", "data", "ephemeral"] {
            let text = format!("{kind} \"{name}\" \"a\" {{\n}}\n");
            check(&[(&text, None, None)]);
        }
    }
    check_rows(
        r#"
        resource "_foo" "a" {\n provider = q\n}\n | hashicorp/q
    "#,
    );
}

#[test]
fn blocks_that_require_nothing() {
    check_rows(
        r#"
        resource "terraform_data" "a" {\n}\n | nothing
        data "terraform_remote_state" "a" {\n}\n | nothing
        provider "terraform" {\n}\n | nothing
        removed {\n from = q_x.a\n}\n | nothing
        moved {\n from = q_x.a\n to = q_x.b\n}\n | nothing
        terraform {\n provider_meta "q" {\n }\n backend "s3" {\n }\n}\n | nothing
        output "o" {\n value = provider::q::f(q_x.a)\n}\n | nothing
        some_new_block "x" {\n  y {\n }\n}\n | nothing // a block of a future version
        resource "tofu_x" "a" {\n}\n | hashicorp/tofu
    "#,
    );
}

#[test]
fn provider_arguments() {
    let rows = r#"
        foo | hashicorp/foo
        foo.bar | hashicorp/foo
        "foo.bar" | hashicorp/foo
        var.x | hashicorp/var
        null | hashicorp/null
        null.x | hashicorp/null // keywords are names
        "true.x" | hashicorp/true
        null["x"] | -
        (null).x | -
        "${foo.x}" | -
        foo["x"] | -
        foo.x.y | -
        foo.x[*] | -
        foo.x[0] | - // no such provider block
        foo[0].x | -
        true ? foo : bar | -
        f(foo) | -
        (foo) | -
        FOO | -
        1 | -
    "#;
    for (argument, terraform, tofu) in parse_rows(rows) {
        let text = format!("resource \"q_x\" \"a\" {{\n provider = {argument}\n}}\n");
        check(&[(&text, terraform.as_deref(), tofu.as_deref())]);
    }
    check_json_rows(
        r#"
        {"resource": {"q_x": {"a": {"provider": "foo.bar"}}}} | hashicorp/foo
        {"resource": {"q_x": {"a": {"provider": "${foo.x}"}}}} | -
        {"resource": {"q_x": {"a": {"provider": 1}}}} | -
        {"resource": {"q_x": {"a": {"provider": "null.x"}}}} | hashicorp/null
        {"resource": {"q_x": {"a": {"provider": null}}}} | -
    "#,
    );
}

#[test]
fn provider_for_each_takes_and_needs_an_index() {
    let block = "provider \"q\" {\n alias = \"x\"\n for_each = toset([\"a\"])\n}\n";
    for (argument, tofu) in [
        ("q.x[\"a\"]", Some("hashicorp/q")),
        ("q.x[each.key]", Some("hashicorp/q")),
        ("q.x", None),
    ] {
        let text = format!("{block}resource \"q_x\" \"a\" {{\n provider = {argument}\n}}\n");
        check(&[(&text, None, tofu)]);
    }
    check_rows(
        r#"
        provider "q" {\n alias = "x"\n for_each = toset(["a"])\n}\n | - | hashicorp/q
        provider "q" {\n for_each = toset([])\n}\n | - // no alias
    "#,
    );
    // An override file without `for_each` does not remove it.
    let plain = "provider \"q\" {\n alias = \"x\"\n}\n";
    let resource = "resource \"q_x\" \"a\" {\n provider = q.x[\"a\"]\n}\n";
    for (base, over, tofu) in [
        (block, plain, Some("hashicorp/q")),
        (plain, block, Some("hashicorp/q")),
        (plain, plain, None),
    ] {
        let base = format!("{base}{resource}");
        let files = vec![("main.tf", base.as_str()), ("override.tf", over)];
        check_files(&[(files, None, tofu)]);
    }
}

#[test]
fn provider_blocks() {
    check_rows(
        r#"
        provider "q" {\n}\n | hashicorp/q
        provider "q" {\n alias = "x"\n}\n | hashicorp/q
        provider "q" {\n alias = "x y"\n}\n | -
        provider "q" {\n version = "~> 1.0"\n}\n | hashicorp/q ~> 1.0
        provider "q" {\n version = 1.1\n}\n | hashicorp/q 1.1.0
        provider "q" {\n version = null\n}\n | hashicorp/q
        provider "q" {\n version = ""\n}\n | -
        provider "q" {\n version = var.x\n}\n | -
        provider "q" {\n region = var.undefined\n}\n | hashicorp/q
        provider "Q" {\n}\n | -
        provider "p_q" {\n}\n | -
        provider "q" {\n}\nprovider "q" {\n}\n | -
        provider "q" {\n alias = "x"\n}\nprovider "q" {\n alias = "x"\n}\n | -
        provider "q" {\n}\nprovider "q" {\n alias = "x"\n}\n | hashicorp/q
        provider "q" {\n count = 1\n}\n | -
        provider "q" {\n depends_on = []\n}\n | -
        provider "q" {\n source = "t/q"\n}\n | -
        provider "q" {\n lifecycle {\n }\n}\n | -
    "#,
    );
}

#[test]
fn actions_in_terraform() {
    check_rows(
        r#"
        action "q_x" "a" {\n config {\n }\n}\n | hashicorp/q | nothing
        action "q_x" "a" {\n config {\n }\n config {\n }\n}\n | - | nothing
        action "q_x" "a" {\n lifecycle {\n }\n}\n | - | nothing
        action "q_x" "a" {\n depends_on = []\n}\n | - | nothing
        action "_x" "a" {\n}\n | - | nothing
        action "q_x" "a" {\n}\naction "q_x" "a" {\n}\n | - | nothing
        resource "q_x" "a" {\n lifecycle {\n  action_trigger {\n   actions = [action.r_x.a]\n  }\n }\n}\n | hashicorp/q
    "#,
    );
}

#[test]
fn imports() {
    let import = |to: &str, more: &str| format!("import {{\n to = {to}\n id = \"i\"\n{more}}}\n");
    // The first column: the target, further arguments of the import and, if it is declared, the arguments of the resource
    // `q_x.a`.
    let rows = r#"
        q_x.a ; | hashicorp/q
        q_x.a["k"] ; | hashicorp/q
        q_x.a[each.key] ; for_each = {}\n | hashicorp/q
        null.a[null] ; | hashicorp/null | - // the tools refuse null as an index
        q_x.a[1.5] ; | hashicorp/q // the tools refuse fractions
        q_x.a ; provider = s\n | hashicorp/s
        q_x.a ; ; provider = r\n | hashicorp/r | hashicorp/q, hashicorp/r
        q_x.a ; provider = r\n ; provider = r\n | hashicorp/r
        q_x.a ; provider = s\n ; provider = r\n | -
        q_x.a ; provider = s\n ; | -
        module.m.q_x.a ; | nothing | hashicorp/q // OpenTofu counts every target
        module.m[0].q_x.a ; | nothing | hashicorp/q
        module.m.q_x.a ; provider = s\n | -
        data.q_x.a ; | - | hashicorp/q
        ephemeral.q_x.a ; | - | hashicorp/q
        q_x ; | -
        null.a ; | hashicorp/null | -
        "q_x.a" ; | - // a string only in JSON
        q_x.a ; provider = null.x\n | hashicorp/null
        q_x.a ; provider = s.t["k"]\n | - | hashicorp/s // the index is not checked
        resource.q_x.a ; | hashicorp/q | -
        module.m.resource.q_x.a ; | nothing | -
        resource.each.a ; | hashicorp/each | -
        each.a ; | - | hashicorp/each // Terraform reserves the word, and `count`, `local`, `path`, `self`, `var` ...
        module.m.path.a ; | - | hashicorp/path
        list.a ; | - | hashicorp/list
        data.a ; | -
        ephemeral.a ; | -
        provider_x.a ; | hashicorp/provider
        terraform_data.a ; | nothing
    "#;
    for (row, terraform, tofu) in parse_rows(rows) {
        let columns: Vec<&str> = row.split(';').map(|it| it.trim_matches(' ')).collect();
        let resource = |arguments| format!("resource \"q_x\" \"a\" {{\n{arguments}}}\n");
        let resource = columns.get(2).map(resource);
        let text = import(columns[0], columns[1]) + &resource.unwrap_or_default();
        check(&[(&text, terraform.as_deref(), tofu.as_deref())]);
    }
    let twice = import("q_x.a", "").repeat(2);
    check(&[(&twice, None, None)]);
    check_rows(
        r"
        import {\n to = q_x.a\n}\n | -
        import {\n to = q_x.a\n id = 1\n identity = {}\n}\n | -
        import {\n id = 1\n}\n | -
    ",
    );
    check_json_rows(
        r#"
        {"import": {"to": "q_x.a", "id": "i"}} | hashicorp/q
        {"import": [{"to": "q_x.a[\"k\"]", "id": "i", "provider": "s.t"}]} | hashicorp/s
    "#,
    );
}

#[test]
fn imports_in_called_modules() {
    let call = "module \"m\" {\n source = \"./m\"\n}\n";
    let names = |source: &str| {
        format!("terraform {{\n required_providers {{\n q = {{ source = \"{source}\" }}\n }}\n}}\n")
    };
    let import = |to: &str, more: &str| format!("import {{\n to = {to}\n id = \"i\"\n{more}}}\n");
    let resource = "resource \"q_x\" \"a\" {\n provider = r\n}\n";
    // The columns: the root module, the called module, and what Terraform finds. OpenTofu refuses all of them.
    for (root, called, found) in [
        (call.to_owned(), import("q_x.a", ""), Some("hashicorp/q")),
        (
            call.to_owned(),
            names("t/q") + &import("q_x.a", ""),
            Some("t/q"),
        ),
        // The local names of the root module do not apply.
        (
            names("t/q") + call,
            import("q_x.a", ""),
            Some("hashicorp/q, t/q"),
        ),
        (
            call.to_owned(),
            import("q_x.a", "provider = s.t\n"),
            Some("hashicorp/s"),
        ),
        (call.to_owned(), import("module.n.q_x.a", ""), Some("")),
        (
            import("q_x.a", "") + call,
            import("q_x.a", ""),
            Some("hashicorp/q"),
        ),
        (
            call.to_owned(),
            import("q_x.a", "") + resource,
            Some("hashicorp/r"),
        ),
        (
            call.to_owned(),
            import("q_x.a", "provider = s\n") + resource,
            None,
        ),
        (call.to_owned(), import("q_x.a", "").repeat(2), None),
    ] {
        let files = vec![("main.tf", root.as_str()), ("m/main.tf", called.as_str())];
        check_files(&[(files, found, None)]);
    }
    let files = [("main.tf", call), ("m/main.tf", &import("q_x.a", ""))];
    let error = requires(&files, Engine::Tofu).unwrap_err();
    assert_eq!(
        error,
        "m/main.tf:2:7: OpenTofu allows `import` blocks only in root modules, but this is a called module"
    );
}

#[test]
fn addresses_of_the_engines() {
    let rows = "
        terraform.io/builtin/x | nothing
        opentofu.org/builtin/x | opentofu.org/builtin/x | nothing
        -/p | nothing
        registry.terraform.io/-/p | nothing | -
        registry.opentofu.org/-/p | - | nothing
        example.com/-/p | -
        hashicorp/terraform | hashicorp/terraform
        host.example:8080/t/p | host.example:8080/t/p
    ";
    for (source, terraform, tofu) in parse_rows(rows) {
        let entry = format!("p = {{ source = \"{source}\" }}");
        let text = format!("terraform {{\n required_providers {{\n  {entry}\n }}\n}}\n");
        check(&[(&text, terraform.as_deref(), tofu.as_deref())]);
    }
}

#[test]
fn large_files_take_linear_time() {
    const COUNT: usize = 20_000;
    let each = |text: fn(usize) -> String, separator: &str| {
        (0..COUNT).map(text).collect::<Vec<_>>().join(separator)
    };
    let native = each(
        |at| format!("resource \"q_x\" \"r{at}\" {{\n  a = \"${{var.v}}\"\n}}\n"),
        "",
    );
    let members = each(|at| format!("\"r{at}\":{{\"a\":\"b\"}}"), ",");
    let json = format!("{{\"resource\":{{\"q_x\":{{{members}}}}}}}");
    let locals = each(|at| format!("\"l{at}\":{at}"), ",");
    let json_locals =
        format!("{{\"locals\":{{{locals}}},\"resource\":{{\"q_x\":{{\"a\":{{}}}}}}}}");
    for (name, text) in [
        ("main.tf", &native),
        ("main.tf.json", &json),
        ("main.tf.json", &json_locals),
    ] {
        assert_eq!(
            requires(&[(name, text)], Engine::Tofu).as_deref(),
            Ok("hashicorp/q")
        );
    }
    // Files with many errors also take linear time.
    assert!(requires(&[("main.tf", &native.repeat(2))], Engine::Tofu).is_err());
}

#[test]
fn imports_of_one_resource_differ_by_module_or_index() {
    let import = |to: &str| format!("import {{\n to = {to}\n id = \"1\"\n}}\n");
    let q = Some("hashicorp/q");
    for (first, second, terraform, tofu) in [
        ("q_x.a", "q_x.b", q, q),
        ("q_x.a", "q_x.a", None, None),
        ("q_x.a[\"x\"]", "q_x.a[\"y\"]", q, q),
        ("module.a.q_x.r", "module.b.q_x.r", Some(""), q),
    ] {
        let text = import(first) + &import(second);
        check(&[(&text, terraform, tofu)]);
    }
}

#[test]
fn a_provider_that_stores_the_state_is_marked_in_root_modules() {
    let store = "terraform {\n required_providers {\n q = { source = \"t/q\" }\n p = { source = \"t/p\" }\n }\n \
                 state_store \"q_fs\" {\n provider \"q\" {}\n }\n}\n";
    let call = "module \"m\" {\n source = \"./m\"\n}\n";
    let unrequired = "terraform {\n state_store \"q_fs\" {\n provider \"q\" {}\n }\n}\n";
    for (files, engine, expected) in [
        (vec![("main.tf", store)], Engine::Terraform, "t/q"),
        (vec![("main.tf", store)], Engine::Tofu, ""),
        (vec![("main.tf", unrequired)], Engine::Terraform, ""),
        (
            vec![("main.tf", call), ("m/main.tf", store)],
            Engine::Terraform,
            "",
        ),
    ] {
        let root = Tree::new(&files).read(&ReadOptions::new(engine)).unwrap();
        let providers = root.requirements.providers.iter();
        let marked = providers.filter(|(_, requirement)| requirement.stores_state);
        let marked: Vec<_> = marked
            .map(|(address, _)| format!("{}/{}", address.namespace, address.type_name))
            .collect();
        assert_eq!(marked.join(" "), expected, "{engine}: {files:?}");
    }
}
