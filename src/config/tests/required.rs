//! Sections 1 (encoding) and 2 of docs/rules/config.md: `required_providers`.

use super::{ENGINES, check, check_files, check_json, check_json_rows, parse_rows, requires};

/// Checks rows in which each text is the body of a `required_providers` block.
fn check_entries(rows: &str) {
    for (entry, terraform, tofu) in parse_rows(rows) {
        let text = format!("terraform {{\n required_providers {{\n{entry}\n}}\n}}\n");
        check(&[(&text, terraform.as_deref(), tofu.as_deref())]);
    }
}

#[test]
fn legacy_form() {
    check_entries(
        r#"
        p = "~> 1.0" | hashicorp/p ~> 1.0
        p = 1 | hashicorp/p 1.0.0 // a number is converted
        P = "~> 1.0" | hashicorp/p ~> 1.0
        p = "${1}.0" | hashicorp/p 1.0.0
        p = true ? "1.0" : "2.0" | hashicorp/p 1.0.0
        p = true ? "1.0" : var.x | hashicorp/p 1.0.0 // the branch that is not taken is not evaluated
        p = <<EOT\n~> 1.0\nEOT | hashicorp/p ~> 1.0
        p_q = "1.0" | -
        p = null | -
        p = true | -
        p = ["1.0"] | -
        p = var.x | -
        p = merge({}, {}) | -
        p = ({ source = "t/p" }) | -
        p = { for k, v in {} : k => v } | -
        p {\n} | -
        "p" = "1.0" | -
        p = "1.0"\np = "1.1" | -
        p = "" | -
        p = "1.x" | -
    "#,
    );
}

#[test]
fn object_form() {
    check_entries(
        r#"
        p = { source = "t/p", version = "~> 1.0" } | t/p ~> 1.0
        p = {} | hashicorp/p
        p = { version = "~> 1.0" } | hashicorp/p ~> 1.0
        p = { source = "t/${"p"}" } | t/p
        p = { "source" : "t/p", ("version") = "1.0" } | t/p 1.0.0
        p = {\n source = "t/p"\n source = "t/q"\n} | t/q // the last of several identical keys applies
        p = { version = "1.0", version = "2.0" } | hashicorp/p 2.0.0
        p-q = { source = "t/p" } | t/p
        é = { source = "t/p" } | t/p
        p = { source = "t/p", configuration_aliases = [p.a, p.b] } | t/p
        p = { configuration_aliases = [p.a[0]] } | hashicorp/p
        p = { configuration_aliases = [p[0].a] } | -
        null = { source = "t/p", configuration_aliases = [null.a] } | t/p
        p = { configuration_aliases = [q.a] } | -
        p = { configuration_aliases = ["p.a"] } | -
        p = { configuration_aliases = p.a } | -
        p = { other = 1 } | -
        p = { 1 = 2 } | -
        p = { (version) = "1.0" } | -
        p = { version = null } | -
        p = { version = 1 } | -
        p = { version = "" } | -
        p = { source = null } | -
        p = { source = var.x } | -
        P = { source = "t/p" } | -
        p_q = { source = "t/p" } | -
        p = { source = "t/p" }\nq = { source = "t/p" } | t/p
        p = { source = "t/p", version = ">= 1" }\nq = { source = "t/p", version = "< 2" } | t/p >= 1.0.0, < 2.0.0
    "#,
    );
}

#[test]
fn one_block_per_module() {
    let one = "terraform {\n required_providers {\n  p = {}\n }\n}\n";
    check(&[
        ("required_providers {\n p = {}\n}\n", None, None),
        (&format!("{one}{one}"), None, None),
        (
            "terraform {\n required_providers {\n }\n required_providers {\n }\n}\n",
            None,
            None,
        ),
        ("terraform \"x\" {\n}\n", None, None),
    ]);
    check_files(&[
        (vec![("a.tf", one), ("b.tf", one)], None, None),
        // OpenTofu ignores `a.tf` because of `a.tofu`.
        (
            vec![("a.tf", one), ("a.tofu", one)],
            Some("hashicorp/p"),
            Some("hashicorp/p"),
        ),
        (
            vec![("a.tf", one), ("b.tofu", one)],
            Some("hashicorp/p"),
            None,
        ),
    ]);
}

#[test]
fn json_strings_are_literal() {
    let rows = r#"
        {"p": "~> 1.0"} | hashicorp/p ~> 1.0
        {"p": 1} | hashicorp/p 1.0.0
        {"p": {"source": "t/p", "version": "~> 1.0"}} | t/p ~> 1.0
        {"p": {"configuration_aliases": ["p.a"]}} | hashicorp/p
        {"p": {"version": "${1}.0"}} | -
        {"p": {"source": "t/${\"p\"}"}} | -
        {"//": "x", "p": {}} | hashicorp/p
        {"p": {"//": "x"}} | -
        {"p": null} | -
        [{"p": {}}] | hashicorp/p
        [{"p": {}}, {"q": {}}] | - // two objects are two blocks
    "#;
    for (entries, expected, _) in parse_rows(rows) {
        let text = format!(r#"{{"terraform": {{"required_providers": {entries}}}}}"#);
        check_json(&[(&text, expected.as_deref(), expected.as_deref())]);
    }
}

#[test]
fn json_bodies() {
    let rows = r#"
        {"//": 1, "terraform": REQUIRED} | hashicorp/p
        [{"terraform": REQUIRED}, {}] | hashicorp/p
        {"terraform": [REQUIRED, {}]} | hashicorp/p
        {"terraform": null, "terraform": REQUIRED} | hashicorp/p
        {"terraform": {"//": 1, "required_providers": {"p": {}}}} | hashicorp/p
        {"resource": {"p_x": {"a": {}, "b": [{}, {}]}}} | - // `b` twice
        {"resource": {"p_x": {"a": null}}} | nothing
        {"resource": [{"p_x": {"a": {}}}, {"p_x": {"b": {}}}]} | hashicorp/p
        {"resource": {"//": {}}} | -
        {"resource": {"p_x": {}}} | - // no label
        {"resource": 1} | -
        {"a": 1,} | -
        nothing | -
    "#;
    check_json_rows(&rows.replace("REQUIRED", r#"{"required_providers": {"p": {}}}"#));
    check_json(&[("\u{feff}{}", None, None)]);
}

#[test]
fn encodings_of_native_files() {
    let found = Some("hashicorp/p");
    check(&[
        ("\u{feff}resource \"p_x\" \"a\" {\n}\n", found, found),
        ("resource \"p_x\" \"a\" {\r\n}\r\n", found, found),
        ("resource \"p_x\" \"a\" {\r}\r", None, None),
        ("# \u{0}\nresource \"p_x\" \"a\" {\n}\n", found, found),
        ("resource \"p_x\" \"a\" {\n}\n\u{0}\n", None, None),
    ]);
}

#[test]
fn errors_name_their_place() {
    for (text, expected) in [
        (
            "terraform {\n  required_providers {\n    p = { source = \"a/b/c/d\" }\n  }\n}\n",
            "main.tf:3:20: invalid provider address",
        ),
        (
            "terraform {\n  required_providers {\n    p = { version = \"1.x\" }\n  }\n}\n",
            "main.tf:3:21: invalid version constraint",
        ),
        (
            "resource \"p_x\" \"a\" {\n",
            "main.tf:1:20: unclosed configuration block",
        ),
        (
            "module \"m\" {\n}\n",
            "main.tf:1:8: a `module` block must have a `source`",
        ),
    ] {
        for engine in ENGINES {
            let error = requires(&[("main.tf", text)], engine).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
