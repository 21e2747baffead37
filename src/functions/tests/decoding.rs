//! Compares `csvdecode` and `yamldecode` with the results in Terraform 1.11.4.

use std::path::Path;

use super::{Functions, plain, value};
use crate::provider::Engine;
use crate::syntax::{EvalProblem, Value};

#[test]
fn tables_are_read_as_terraform_reads_them() {
    for (text, expected) in [
        (
            "a,b\n1,2\n3,4\n",
            r#"[{ a = "1", b = "2" }, { a = "3", b = "4" }]"#,
        ),
        ("a b, c\r\n1, 2\r\n", r#"[{ "a b" = "1", " c" = " 2" }]"#),
        ("a\n\nb\n", r#"[{ a = "b" }]"#),
        ("a\n\"x\"\"y\"\n", r#"[{ a = "x\"y" }]"#),
        ("a\n\"x\ny\"", r#"[{ a = "x\ny" }]"#),
        ("a,b\n,\n", r#"[{ a = "", b = "" }]"#),
        ("a", "[]"),
    ] {
        assert_eq!(
            decoded("csvdecode", text).map(plain),
            value(expected),
            "{text}"
        );
    }
}

#[test]
fn yaml_has_the_values_that_terraform_gives() {
    for (text, expected) in [
        ("~", "null"),
        ("{}", "{}"),
        ("---\na: 1\n...\n", "{ a = 1 }"),
        (
            "a: [1, two]\nb: {c, d: }",
            r#"{ a = [1, "two"], b = { c = null, d = null } }"#,
        ),
        ("a: |\n  text\n  more\n", r#"{ a = "text\nmore\n" }"#),
        ("a: >-\n  b\n  c\n", r#"{ a = "b c" }"#),
        (
            "- 1_000\n- 0x1F\n- 0o17\n- 017\n- 0b11",
            r#"["1_000", 31, 15, 17, "0b11"]"#,
        ),
        (
            "- 0x\n- -0x1F\n- 0o8\n- -017\n- +12",
            r#"["0x", "-0x1F", "0o8", -17, 12]"#,
        ),
        (
            "- 1.50\n- .5\n- 1.\n- 1e3\n- -.5\n- +.5e1\n- 1.e2",
            "[1.5, 0.5, 1, 1000, -0.5, 5, 100]",
        ),
        (
            "- .\n- 12e\n- 1_0.5\n- 190:20:30",
            r#"[".", "12e", "1_0.5", "190:20:30"]"#,
        ),
        (
            "- yes\n- on\n- y\n- True\n- tRue\n- off",
            r#"[true, true, true, true, "tRue", false]"#,
        ),
        (
            "- NULL\n- nUll\n- \"~\"\n- '1'\n- !!str 12",
            r#"[null, "nUll", "~", "1", "12"]"#,
        ),
        (
            "1.50: a\n0x10: b\ntrue: c",
            r#"{ "1.5" = "a", "16" = "b", "true" = "c" }"#,
        ),
        ("a: 1\na: 2", "{ a = 2 }"),
        (
            "- &x {a: 1}\n- *x\n- <<: *x\n  b: 2",
            "[{ a = 1 }, { a = 1 }, { a = 1, b = 2 }]",
        ),
        ("<<: {a: 1}\na: 2", "{ a = 2 }"),
        ("a: 2\n<<: {a: 1}", "{ a = 1 }"),
        ("- <<", r#"["<<"]"#),
    ] {
        assert_eq!(
            decoded("yamldecode", text).map(plain),
            value(expected),
            "{text}"
        );
    }
}

#[test]
fn yaml_aliases_have_a_limit() {
    let mut text = "- &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let alias = format!("*a{}", level - 1);
        let aliases = [alias.as_str(); 9].join(", ");
        text = format!("{text}- &a{level} [{aliases}]\n");
    }
    let unsupported = Err(EvalProblem::UnsupportedFunction("yamldecode".to_owned()));
    assert_eq!(decoded("yamldecode", &text), unsupported);
    let deep = "[".repeat(5000);
    assert!(decoded("yamldecode", &deep).is_err());
    assert_eq!(decoded("yamldecode", &"x".repeat(2 << 20)), unsupported);
}

/// Returns the result of calling a function with one string.
pub(super) fn decoded(function: &str, text: &str) -> Result<Value, EvalProblem> {
    Functions::new(Path::new("."), Engine::Terraform, super::budget())
        .call(function, &[text.into()])
}
