//! Section 6 of docs/rules/config.md: override files.

use super::{check_files, parse_rows, unescape};

/// Checks rows of the form `main.tf | override file | what Terraform finds | what OpenTofu finds`.
fn check_overrides(rows: &str) {
    for row in rows.trim().lines() {
        let (base, rest) = row.trim().split_once(" | ").unwrap();
        let base = unescape(base);
        let (change, terraform, tofu) = parse_rows(rest).remove(0);
        let files = vec![("main.tf", &*base), ("x_override.tf", &change)];
        check_files(&[(files, terraform.as_deref(), tofu.as_deref())]);
    }
}

#[test]
fn required_providers_are_replaced_entry_by_entry() {
    let block =
        |entries: &str| format!("terraform {{\n required_providers {{\n{entries}\n }}\n}}\n");
    let base = block("p = { source = \"t/p\", version = \"~> 1.0\" }");
    for (change, expected) in [
        (block("p = { source = \"t/q\" }"), "t/q"), // the constraint is replaced too
        (block("p = { version = \"~> 2.0\" }"), "hashicorp/p ~> 2.0"),
        (block("q = {}"), "hashicorp/q, t/p ~> 1.0"),
        (
            block("q = {}") + &block("q = { source = \"t/r\" }"),
            "t/p ~> 1.0, t/r",
        ), // several blocks are allowed
    ] {
        let files = vec![("main.tf", &*base), ("x_override.tf", &change)];
        check_files(&[(files, Some(expected), Some(expected))]);
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
    check_overrides(
        r#"
        provider "q" {\n version = "1.0"\n}\n | provider "q" {\n version = "2.0"\n}\n | hashicorp/q 2.0.0
        provider "q" {\n version = "1.0"\n}\n | provider "q" {\n}\n | hashicorp/q 1.0.0
        nothing | provider "q" {\n}\n | hashicorp/q
        nothing | provider "q" {\n alias = "x"\n}\n | -
        resource "q_x" "a" {\n}\n | resource "q_x" "a" {\n provider = r\n}\n | hashicorp/r
        resource "q_x" "a" {\n}\n | resource "q_x" "b" {\n}\n | -
        resource "q_x" "a" {\n}\n | data "q_x" "a" {\n}\n | -
        ephemeral "q_x" "a" {\n}\n | ephemeral "q_x" "a" {\n provider = r\n}\n | hashicorp/q | hashicorp/r
        nothing | ephemeral "q_x" "a" {\n}\n | nothing | -
        action "q_x" "a" {\n}\n | action "q_x" "a" {\n provider = r\n}\n | hashicorp/r | nothing
        nothing | action "q_x" "a" {\n}\n | - | nothing
        resource "q_x" "a" {\n}\n | check "c" {\n data "q_x" "a" {\n }\n}\n | -
        resource "q_x" "a" {\n}\n | import {\n to = q_x.b\n id = 1\n}\n | -
        resource "q_x" "a" {\n}\n | moved {\n from = q_x.b\n to = q_x.a\n}\n | -
        resource "q_x" "a" {\n}\n | removed {\n from = q_x.b\n}\n | hashicorp/q | -
        resource "q_x" "a" {\n}\n | language {\n}\n | hashicorp/q | -
        nothing | locals {\n a = 1\n}\n | -
        nothing | variable "a" {\n}\n | -
        nothing | module "m" {\n}\n | -
    "#,
    );
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
