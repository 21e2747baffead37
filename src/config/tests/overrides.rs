//! Section 6: override files.

use super::check_files;

fn check_override(rows: &[(&str, &str, Option<&str>, Option<&str>)]) {
    for (base, change, terraform, tofu) in rows {
        check_files(&[(
            vec![("main.tf", base), ("x_override.tf", change)],
            *terraform,
            *tofu,
        )]);
    }
}

#[test]
fn required_providers_are_replaced_entry_by_entry() {
    let block =
        |entries: &str| format!("terraform {{\n required_providers {{\n{entries}\n }}\n}}\n");
    let base = block("p = { source = \"t/p\", version = \"~> 1.0\" }");
    for (change, expected) in [
        (block("p = { source = \"t/q\" }"), "t/q"), // no version is left
        (block("p = { version = \"~> 2.0\" }"), "hashicorp/p ~> 2.0"),
        (block("q = {}"), "hashicorp/q, t/p ~> 1.0"),
        (
            block("q = {}") + &block("q = { source = \"t/r\" }"),
            "t/p ~> 1.0, t/r",
        ), // several blocks
    ] {
        check_override(&[(&base, &change, Some(expected), Some(expected))]);
    }
}

#[test]
fn later_files_win() {
    let entry = |source: &str| {
        format!(
            "terraform {{\n required_providers {{\n  p = {{ source = \"{source}\" }}\n }}\n}}\n"
        )
    };
    let (main, first, second) = (entry("t/main"), entry("t/first"), entry("t/second"));
    check_files(&[
        (
            vec![
                ("main.tf", &main),
                ("a_override.tf", &first),
                ("override.tf", &second),
            ],
            Some("t/second"),
            Some("t/second"),
        ),
        (
            vec![
                ("main.tf", &main),
                ("b_override.tf", &second),
                ("a_override.tofu", &first),
            ],
            Some("t/second"),
            Some("t/second"),
        ),
        (
            vec![
                ("main.tf", &main),
                ("a_override.tf", &first),
                ("b_override.tofu", &second),
            ],
            Some("t/first"),
            Some("t/second"),
        ),
        (
            vec![
                ("main.tf", &main),
                ("override.tf", &first),
                ("override.tofu", &second),
            ],
            Some("t/first"),
            Some("t/second"),
        ),
    ]);
}

#[test]
fn blocks_in_override_files() {
    let q = Some("hashicorp/q");
    let r = Some("hashicorp/r");
    let resource = "resource \"q_x\" \"a\" {\n}\n";
    let check_block = "check \"c\" {\n data \"q_x\" \"a\" {\n }\n}\n";
    check_override(&[
        (
            "provider \"q\" {\n version = \"1.0\"\n}\n",
            "provider \"q\" {\n version = \"2.0\"\n}\n",
            Some("hashicorp/q 2.0.0"),
            Some("hashicorp/q 2.0.0"),
        ),
        (
            "provider \"q\" {\n version = \"1.0\"\n}\n",
            "provider \"q\" {\n}\n",
            Some("hashicorp/q 1.0.0"),
            Some("hashicorp/q 1.0.0"),
        ),
        ("", "provider \"q\" {\n}\n", q, q),
        ("", "provider \"q\" {\n alias = \"x\"\n}\n", None, None),
        (
            resource,
            "resource \"q_x\" \"a\" {\n provider = r\n}\n",
            r,
            r,
        ),
        (resource, "resource \"q_x\" \"b\" {\n}\n", None, None),
        (resource, "data \"q_x\" \"a\" {\n}\n", None, None),
        (
            "ephemeral \"q_x\" \"a\" {\n}\n",
            "ephemeral \"q_x\" \"a\" {\n provider = r\n}\n",
            q,
            r,
        ),
        ("", "ephemeral \"q_x\" \"a\" {\n}\n", Some(""), None),
        (
            "action \"q_x\" \"a\" {\n}\n",
            "action \"q_x\" \"a\" {\n provider = r\n}\n",
            r,
            Some(""),
        ),
        ("", "action \"q_x\" \"a\" {\n}\n", None, Some("")),
        (resource, check_block, None, None),
        (resource, "import {\n to = q_x.b\n id = 1\n}\n", None, None),
        (
            resource,
            "moved {\n from = q_x.b\n to = q_x.a\n}\n",
            None,
            None,
        ),
        (resource, "removed {\n from = q_x.b\n}\n", q, None),
        (resource, "language {\n}\n", q, None),
        ("", "locals {\n a = 1\n}\n", None, None),
        ("", "variable \"a\" {\n}\n", None, None),
        ("", "module \"m\" {\n}\n", None, None),
    ]);
}

#[test]
fn module_calls_are_overridden_argument_by_argument() {
    let base = "module \"m\" {\n source = \"./a\"\n}\n";
    let files = |change| {
        vec![
            ("main.tf", base),
            ("override.tf", change),
            ("a/main.tf", "resource \"a_x\" \"a\" {\n}\n"),
            ("b/main.tf", "resource \"b_x\" \"a\" {\n}\n"),
        ]
    };
    check_files(&[
        (
            files("module \"m\" {\n source = \"./b\"\n}\n"),
            Some("hashicorp/b"),
            Some("hashicorp/b"),
        ),
        (
            files("module \"m\" {\n}\n"),
            Some("hashicorp/a"),
            Some("hashicorp/a"),
        ),
        (files("module \"m\" {\n version = \"1.0\"\n}\n"), None, None), // a local module has no versions
        (
            files("module \"m\" {\n version = null\n}\n"),
            Some("hashicorp/a"),
            Some("hashicorp/a"),
        ),
    ]);
}
