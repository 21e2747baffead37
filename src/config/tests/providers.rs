//! Sections 3 and 4: blocks that require a provider.

use super::{check, check_files, check_json};

#[test]
fn resources_imply_their_provider() {
    let q = Some("hashicorp/q");
    check(&[
        ("resource \"q_x\" \"a\" {\n}\n", q, q),
        ("data \"q_x\" \"a\" {\n}\n", q, q),
        ("ephemeral \"q_x\" \"a\" {\n}\n", q, q),
        ("resource \"q\" \"a\" {\n}\n", q, q),
        ("resource \"Q_x\" \"a\" {\n}\n", q, q),
        (
            "check \"c\" {\n data \"q_x\" \"a\" {\n }\n assert {\n }\n}\n",
            q,
            q,
        ),
        ("action \"q_x\" \"a\" {\n}\n", q, Some("")), // a block that OpenTofu does not know
        (
            "resource \"q_x\" \"a\" {\n provider = r\n}\n",
            Some("hashicorp/r"),
            Some("hashicorp/r"),
        ),
        (
            "resource \"q_x\" \"a\" {\n}\nresource \"q_x\" \"a\" {\n}\n",
            None,
            None,
        ),
        (
            "data \"q_x\" \"a\" {\n}\nresource \"q_x\" \"a\" {\n}\n",
            q,
            q,
        ),
        ("resource \"q_x\" {\n}\n", None, None),
        ("resource \"1x_y\" \"a\" {\n}\n", None, None),
        ("resource \"q_x\" \"a b\" {\n}\n", None, None),
        (
            "terraform {\n required_providers {\n  q = { source = \"t/z\" }\n }\n}\nresource \"q_x\" \"a\" {\n}\n",
            Some("t/z"),
            Some("t/z"),
        ),
    ]);
}

#[test]
fn types_that_name_no_provider_are_errors_unless_an_argument_does() {
    for name in ["_foo", "a b", "a--b_x", "-x", "a-_x"] {
        for kind in ["resource", "data", "ephemeral"] {
            let text = format!("{kind} \"{name}\" \"a\" {{\n}}\n");
            check(&[(&text, None, None)]);
        }
    }
    let text = "resource \"_foo\" \"a\" {\n provider = q\n}\n";
    check(&[(text, Some("hashicorp/q"), Some("hashicorp/q"))]);
}

#[test]
fn what_requires_nothing() {
    let none = Some("");
    check(&[
        ("resource \"terraform_data\" \"a\" {\n}\n", none, none),
        ("data \"terraform_remote_state\" \"a\" {\n}\n", none, none),
        ("provider \"terraform\" {\n}\n", none, none),
        ("removed {\n from = q_x.a\n}\n", none, none),
        ("moved {\n from = q_x.a\n to = q_x.b\n}\n", none, none),
        (
            "terraform {\n provider_meta \"q\" {\n }\n backend \"s3\" {\n }\n}\n",
            none,
            none,
        ),
        (
            "output \"o\" {\n value = provider::q::f(q_x.a)\n}\n",
            none,
            none,
        ),
        ("some_new_block \"x\" {\n  y {\n }\n}\n", none, none), // of a newer release
        (
            "resource \"tofu_x\" \"a\" {\n}\n",
            Some("hashicorp/tofu"),
            Some("hashicorp/tofu"),
        ),
    ]);
}

#[test]
fn provider_arguments() {
    let rows = [
        ("foo", Some("hashicorp/foo"), Some("hashicorp/foo")),
        ("foo.bar", Some("hashicorp/foo"), Some("hashicorp/foo")),
        ("\"foo.bar\"", Some("hashicorp/foo"), Some("hashicorp/foo")),
        ("var.x", Some("hashicorp/var"), Some("hashicorp/var")),
        ("null", Some("hashicorp/null"), Some("hashicorp/null")),
        ("\"${foo.x}\"", None, None),
        ("foo[\"x\"]", None, None),
        ("foo.x.y", None, None),
        ("foo.x[*]", None, None),
        ("foo.x[0]", None, None), // no such provider block
        ("foo[0].x", None, None),
        ("true ? foo : bar", None, None),
        ("f(foo)", None, None),
        ("(foo)", None, None),
        ("FOO", None, None),
        ("1", None, None),
    ];
    for (argument, terraform, tofu) in rows {
        let text = format!("resource \"q_x\" \"a\" {{\n provider = {argument}\n}}\n");
        check(&[(&text, terraform, tofu)]);
    }
    check_json(&[
        (
            r#"{"resource": {"q_x": {"a": {"provider": "foo.bar"}}}}"#,
            Some("hashicorp/foo"),
            Some("hashicorp/foo"),
        ),
        (
            r#"{"resource": {"q_x": {"a": {"provider": "${foo.x}"}}}}"#,
            None,
            None,
        ),
        (
            r#"{"resource": {"q_x": {"a": {"provider": 1}}}}"#,
            None,
            None,
        ),
    ]);
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
    check(&[
        (block, None, Some("hashicorp/q")),
        ("provider \"q\" {\n for_each = toset([])\n}\n", None, None), // no alias
    ]);
    // An override file that does not speak of it leaves it.
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
    let q = Some("hashicorp/q");
    check(&[
        ("provider \"q\" {\n}\n", q, q),
        ("provider \"q\" {\n alias = \"x\"\n}\n", q, q),
        ("provider \"q\" {\n alias = \"x y\"\n}\n", None, None),
        (
            "provider \"q\" {\n version = \"~> 1.0\"\n}\n",
            Some("hashicorp/q ~> 1.0"),
            Some("hashicorp/q ~> 1.0"),
        ),
        (
            "provider \"q\" {\n version = 1.1\n}\n",
            Some("hashicorp/q 1.1.0"),
            Some("hashicorp/q 1.1.0"),
        ),
        ("provider \"q\" {\n version = null\n}\n", q, q),
        ("provider \"q\" {\n version = \"\"\n}\n", None, None),
        ("provider \"q\" {\n version = var.x\n}\n", None, None),
        ("provider \"q\" {\n region = var.undefined\n}\n", q, q),
        ("provider \"Q\" {\n}\n", None, None),
        ("provider \"p_q\" {\n}\n", None, None),
        ("provider \"q\" {\n}\nprovider \"q\" {\n}\n", None, None),
        (
            "provider \"q\" {\n alias = \"x\"\n}\nprovider \"q\" {\n alias = \"x\"\n}\n",
            None,
            None,
        ),
        (
            "provider \"q\" {\n}\nprovider \"q\" {\n alias = \"x\"\n}\n",
            q,
            q,
        ),
        ("provider \"q\" {\n count = 1\n}\n", None, None),
        ("provider \"q\" {\n depends_on = []\n}\n", None, None),
        ("provider \"q\" {\n source = \"t/q\"\n}\n", None, None),
        ("provider \"q\" {\n lifecycle {\n }\n}\n", None, None),
    ]);
}

#[test]
fn actions_in_terraform() {
    check(&[
        (
            "action \"q_x\" \"a\" {\n config {\n }\n}\n",
            Some("hashicorp/q"),
            Some(""),
        ),
        (
            "action \"q_x\" \"a\" {\n config {\n }\n config {\n }\n}\n",
            None,
            Some(""),
        ),
        (
            "action \"q_x\" \"a\" {\n lifecycle {\n }\n}\n",
            None,
            Some(""),
        ),
        (
            "action \"q_x\" \"a\" {\n depends_on = []\n}\n",
            None,
            Some(""),
        ),
        ("action \"_x\" \"a\" {\n}\n", None, Some("")),
        (
            "action \"q_x\" \"a\" {\n}\naction \"q_x\" \"a\" {\n}\n",
            None,
            Some(""),
        ),
        (
            "resource \"q_x\" \"a\" {\n lifecycle {\n  action_trigger {\n   actions = [action.r_x.a]\n  }\n }\n}\n",
            Some("hashicorp/q"),
            Some("hashicorp/q"),
        ),
    ]);
}

#[test]
fn imports() {
    let import = |to: &str, more: &str| format!("import {{\n to = {to}\n id = \"i\"\n{more}}}\n");
    let resource = |argument: &str| format!("resource \"q_x\" \"a\" {{\n{argument}}}\n");
    let q = Some("hashicorp/q");
    for (text, terraform, tofu) in [
        (import("q_x.a", ""), q, q),
        (import("q_x.a[\"k\"]", ""), q, q),
        (import("q_x.a[each.key]", " for_each = {}\n"), q, q),
        (
            import("q_x.a", " provider = s\n"),
            Some("hashicorp/s"),
            Some("hashicorp/s"),
        ),
        (
            import("q_x.a", "") + &resource(" provider = r\n"),
            Some("hashicorp/r"),
            Some("hashicorp/q, hashicorp/r"),
        ),
        (
            import("q_x.a", " provider = r\n") + &resource(" provider = r\n"),
            Some("hashicorp/r"),
            Some("hashicorp/r"),
        ),
        (
            import("q_x.a", " provider = s\n") + &resource(" provider = r\n"),
            None,
            None,
        ),
        (
            import("q_x.a", " provider = s\n") + &resource(""),
            None,
            None,
        ),
        (import("module.m.q_x.a", ""), Some(""), q), // whatever it points to
        (import("module.m[0].q_x.a", ""), Some(""), q),
        (import("module.m.q_x.a", " provider = s\n"), None, None),
        (import("data.q_x.a", ""), None, q),
        (import("ephemeral.q_x.a", ""), None, q),
        (import("q_x", ""), None, None),
        (import("terraform_data.a", ""), Some(""), Some("")),
        (import("q_x.a", "") + &import("q_x.a", ""), None, None),
        ("import {\n to = q_x.a\n}\n".to_owned(), None, None),
        (
            "import {\n to = q_x.a\n id = 1\n identity = {}\n}\n".to_owned(),
            None,
            None,
        ),
        ("import {\n id = 1\n}\n".to_owned(), None, None),
    ] {
        check(&[(&text, terraform, tofu)]);
    }
    check_json(&[
        (r#"{"import": {"to": "q_x.a", "id": "i"}}"#, q, q),
        (
            r#"{"import": [{"to": "q_x.a[\"k\"]", "id": "i", "provider": "s.t"}]}"#,
            Some("hashicorp/s"),
            Some("hashicorp/s"),
        ),
    ]);
    let child = import("q_x.a", "");
    let files = vec![
        ("main.tf", "module \"m\" {\n source = \"./m\"\n}\n"),
        ("m/main.tf", child.as_str()),
    ];
    check_files(&[(files, None, None)]);
}

#[test]
fn addresses_of_the_engines() {
    let source = |source: &str| {
        format!(
            "terraform {{\n required_providers {{\n  p = {{ source = \"{source}\" }}\n }}\n}}\n"
        )
    };
    for (text, terraform, tofu) in [
        (source("terraform.io/builtin/x"), Some(""), Some("")),
        (
            source("opentofu.org/builtin/x"),
            Some("opentofu.org/builtin/x"),
            Some(""),
        ),
        (source("-/p"), Some(""), Some("")),
        (source("registry.terraform.io/-/p"), Some(""), None),
        (source("registry.opentofu.org/-/p"), None, Some("")),
        (source("example.com/-/p"), None, None),
        (
            source("hashicorp/terraform"),
            Some("hashicorp/terraform"),
            Some("hashicorp/terraform"),
        ),
        (
            source("host.example:8080/t/p"),
            Some("host.example:8080/t/p"),
            Some("host.example:8080/t/p"),
        ),
    ] {
        check(&[(&text, terraform, tofu)]);
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
            super::requires(&[(name, text)], super::Engine::Tofu).as_deref(),
            Ok("hashicorp/q")
        );
    }
    // So do files in which everything is wrong.
    assert!(super::requires(&[("main.tf", &native.repeat(2))], super::Engine::Tofu).is_err());
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
