//! Sections 1 (encoding) and 2: `required_providers`.

use super::{ENGINES, check, check_files, check_json, requires};

/// Rows in which the engines agree: the body of `required_providers`, and what it requires.
fn check_entries(rows: &[(&str, Option<&str>)]) {
    for (entry, expected) in rows {
        let text = format!("terraform {{\n required_providers {{\n{entry}\n}}\n}}\n");
        check(&[(&text, *expected, *expected)]);
    }
}

#[test]
fn legacy_form() {
    check_entries(&[
        ("p = \"~> 1.0\"", Some("hashicorp/p ~> 1.0")),
        ("p = 1", Some("hashicorp/p 1.0.0")), // a number is converted
        ("P = \"~> 1.0\"", Some("hashicorp/p ~> 1.0")),
        ("p = \"${1}.0\"", Some("hashicorp/p 1.0.0")),
        ("p = true ? \"1.0\" : \"2.0\"", Some("hashicorp/p 1.0.0")),
        ("p = true ? \"1.0\" : var.x", Some("hashicorp/p 1.0.0")), // what is not taken is not looked at
        ("p = <<EOT\n~> 1.0\nEOT", Some("hashicorp/p ~> 1.0")),
        ("p_q = \"1.0\"", None),
        ("p = null", None),
        ("p = true", None),
        ("p = [\"1.0\"]", None),
        ("p = var.x", None),
        ("p = merge({}, {})", None),
        ("p = ({ source = \"t/p\" })", None),
        ("p = { for k, v in {} : k => v }", None),
        ("p {\n}", None),
        ("\"p\" = \"1.0\"", None),
        ("p = \"1.0\"\np = \"1.1\"", None),
        ("p = \"\"", None),
        ("p = \"1.x\"", None),
    ]);
}

#[test]
fn object_form() {
    check_entries(&[
        (
            "p = { source = \"t/p\", version = \"~> 1.0\" }",
            Some("t/p ~> 1.0"),
        ),
        ("p = {}", Some("hashicorp/p")),
        ("p = { version = \"~> 1.0\" }", Some("hashicorp/p ~> 1.0")),
        ("p = { source = \"t/${\"p\"}\" }", Some("t/p")),
        (
            "p = { \"source\" : \"t/p\", (\"version\") = \"1.0\" }",
            Some("t/p 1.0.0"),
        ),
        (
            "p = {\n source = \"t/p\"\n source = \"t/q\"\n}",
            Some("t/q"),
        ), // the last of a key wins
        (
            "p = { version = \"1.0\", version = \"2.0\" }",
            Some("hashicorp/p 2.0.0"),
        ),
        ("p-q = { source = \"t/p\" }", Some("t/p")),
        ("é = { source = \"t/p\" }", Some("t/p")),
        (
            "p = { source = \"t/p\", configuration_aliases = [p.a, p.b] }",
            Some("t/p"),
        ),
        (
            "p = { configuration_aliases = [p.a[0]] }",
            Some("hashicorp/p"),
        ),
        ("p = { configuration_aliases = [q.a] }", None),
        ("p = { configuration_aliases = [\"p.a\"] }", None),
        ("p = { configuration_aliases = p.a }", None),
        ("p = { other = 1 }", None),
        ("p = { 1 = 2 }", None),
        ("p = { (version) = \"1.0\" }", None),
        ("p = { version = null }", None),
        ("p = { version = 1 }", None),
        ("p = { version = \"\" }", None),
        ("p = { source = null }", None),
        ("p = { source = var.x }", None),
        ("P = { source = \"t/p\" }", None),
        ("p_q = { source = \"t/p\" }", None),
        (
            "p = { source = \"t/p\" }\nq = { source = \"t/p\" }",
            Some("t/p"),
        ),
        (
            "p = { source = \"t/p\", version = \">= 1\" }\nq = { source = \"t/p\", version = \"< 2\" }",
            Some("t/p >= 1.0.0, < 2.0.0"),
        ),
    ]);
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
        // What is hidden does not count.
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
    let rows = [
        (r#"{"p": "~> 1.0"}"#, Some("hashicorp/p ~> 1.0")),
        (r#"{"p": 1}"#, Some("hashicorp/p 1.0.0")),
        (
            r#"{"p": {"source": "t/p", "version": "~> 1.0"}}"#,
            Some("t/p ~> 1.0"),
        ),
        (
            r#"{"p": {"configuration_aliases": ["p.a"]}}"#,
            Some("hashicorp/p"),
        ),
        (r#"{"p": {"version": "${1}.0"}}"#, None),
        (r#"{"p": {"source": "t/${\"p\"}"}}"#, None),
        (r#"{"//": "x", "p": {}}"#, Some("hashicorp/p")),
        (r#"{"p": {"//": "x"}}"#, None),
        (r#"{"p": null}"#, None),
        (r#"[{"p": {}}]"#, Some("hashicorp/p")),
        (r#"[{"p": {}}, {"q": {}}]"#, None), // two objects are two blocks
    ];
    for (entries, expected) in rows {
        let text = format!(r#"{{"terraform": {{"required_providers": {entries}}}}}"#);
        check_json(&[(&text, expected, expected)]);
    }
}

#[test]
fn json_bodies() {
    let required = r#"{"required_providers": {"p": {}}}"#;
    let all = Some("hashicorp/p");
    for (text, expected) in [
        (format!(r#"{{"//": 1, "terraform": {required}}}"#), all),
        (format!(r#"[{{"terraform": {required}}}, {{}}]"#), all),
        (format!(r#"{{"terraform": [{required}, {{}}]}}"#), all),
        (
            format!(r#"{{"terraform": null, "terraform": {required}}}"#),
            all,
        ),
        (
            r#"{"terraform": {"//": 1, "required_providers": {"p": {}}}}"#.to_owned(),
            all,
        ),
        (
            r#"{"resource": {"p_x": {"a": {}, "b": [{}, {}]}}}"#.to_owned(),
            None,
        ), // `b` twice
        (r#"{"resource": {"p_x": {"a": null}}}"#.to_owned(), Some("")),
        (
            r#"{"resource": [{"p_x": {"a": {}}}, {"p_x": {"b": {}}}]}"#.to_owned(),
            all,
        ),
        (r#"{"resource": {"//": {}}}"#.to_owned(), None),
        (r#"{"resource": {"p_x": {}}}"#.to_owned(), None), // no label
        (r#"{"resource": 1}"#.to_owned(), None),
        ("\u{feff}{}".to_owned(), None),
        ("{\"a\": 1,}".to_owned(), None),
        (String::new(), None),
    ] {
        check_json(&[(&text, expected, expected)]);
    }
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
            "main.tf:1:8: a `module` block needs `source`",
        ),
    ] {
        for engine in ENGINES {
            let error = requires(&[("main.tf", text)], engine).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
