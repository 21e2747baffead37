//! Values that Terraform gives.

use std::path::Path;

use super::Functions;
use crate::provider::Engine;
use crate::syntax::{self, EvalProblem, Scope, Value};

struct Only(Functions);

impl Scope for Only {
    fn reference(&self, root: &str, _: Option<&str>) -> Result<Value, EvalProblem> {
        Err(EvalProblem::VariablesNotAllowed(root.to_owned()))
    }

    fn check_function(&self, name: &str) -> Result<(), EvalProblem> {
        self.0.check(name)
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Result<Value, EvalProblem> {
        self.0.call(name, arguments)
    }
}

fn value(text: &str) -> Result<Value, EvalProblem> {
    let scope = Only(Functions::new(Path::new("."), Engine::Terraform));
    let tree =
        syntax::parse_expression(text).unwrap_or_else(|fault| panic!("{text}: {}", fault.problem));
    let checked = syntax::check_references(&tree, &scope);
    checked
        .and_then(|()| syntax::evaluate(&tree, &scope))
        .map_err(|fault| fault.problem)
}

#[test]
fn calls_have_the_values_that_terraform_gives() {
    for (call, expected) in [
        (r#"lower("ÀB")"#, r#""àb""#),
        (r#"upper("ab")"#, r#""AB""#),
        (r#"title("hello world")"#, r#""Hello World""#),
        (r#"trimspace(" a\n")"#, r#""a""#),
        (r#"chomp("a\r\n")"#, r#""a""#),
        (r#"trim("?!a?!", "!?")"#, r#""a""#),
        (r#"trimprefix("v1", "v")"#, r#""1""#),
        (r#"trimsuffix("a.git", ".git")"#, r#""a""#),
        (r#"strrev("abc")"#, r#""cba""#),
        (
            r#"startswith("abc", "ab") && endswith("abc", "bc") && strcontains("abc", "b")"#,
            "true",
        ),
        (r#"split(",", "a,b")"#, r#"["a", "b"]"#),
        (r#"split(",", "")"#, r#"[""]"#),
        (r#"join("-", ["a", 1], ["b"])"#, r#""a-1-b""#),
        (r#"replace("a.b.c", ".", "/")"#, r#""a/b/c""#),
        (r#"replace("a1b2", "/[0-9]/", "-")"#, r#""a-b-""#),
        (r#"substr("hello", 1, 3)"#, r#""ell""#),
        (r#"substr("hello", -3, -1)"#, r#""llo""#),
        (r#"indent(2, "a\nb")"#, r#""a\n  b""#),
        (
            r#"format("%s-%03d-%5s|%-3s|%%|%v|%q", "a", 7, "b", "c", true, "d")"#,
            r#""a-007-    b|c  |%|true|\"d\"""#,
        ),
        (
            r#"formatlist("%s/%s", "a", ["b", "c"])"#,
            r#"["a/b", "a/c"]"#,
        ),
        (r#"regex("([a-z]+)-([0-9]+)", "ab-12")"#, r#"["ab", "12"]"#),
        (r#"regex("(?P<x>b)", "abc").x"#, r#""b""#),
        (r#"regexall("[0-9]", "1a2")"#, r#"["1", "2"]"#),
        (r#"base64decode(base64encode("é"))"#, r#""é""#),
        (
            r#"sha256("a")"#,
            r#""ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb""#,
        ),
        (r#"urlencode("a b/é")"#, r#""a+b%2F%C3%A9""#),
        ("tostring(1.0)", r#""1""#),
        (r#"tonumber("2.50")"#, "2.5"),
        (r#"tobool("true")"#, "true"),
        ("tostring(null)", "null"),
        (r#"length([1, 2]) + length({ a = 1 }) + length("é")"#, "4"),
        (r#"coalesce(null, "", "a")"#, r#""a""#),
        ("coalescelist([], [1])", "[1]"),
        (r#"compact(["a", "", null])"#, r#"["a"]"#),
        ("concat([1], [2, 3])", "[1, 2, 3]"),
        ("contains([1, 2], 2)", "true"),
        ("distinct([1, 2, 1])", "[1, 2]"),
        ("element([1, 2, 3], 4)", "2"),
        ("flatten([[1], [[2], 3]])", "[1, 2, 3]"),
        (r#"index(["a", "b"], "b")"#, "1"),
        ("keys({ b = 1, a = 2 })", r#"["a", "b"]"#),
        ("values({ b = 1, a = 2 })", "[2, 1]"),
        (r#"lookup({ a = 1 }, "b", 2)"#, "2"),
        (
            "merge({ a = 1, b = 1 }, null, { a = 2 })",
            "{ a = 2, b = 1 }",
        ),
        ("one([])", "null"),
        ("range(1, 7, 3)", "[1, 4]"),
        ("range(-2)", "[0, -1]"),
        ("reverse([1, 2])", "[2, 1]"),
        ("slice([1, 2, 3], 1, 3)", "[2, 3]"),
        (r#"sort(["b", "a"])"#, r#"["a", "b"]"#),
        (r#"toset(["b", "a", "b"])"#, r#"["a", "b"]"#),
        (r#"zipmap(["a"], [1])"#, "{ a = 1 }"),
        ("alltrue([]) && !anytrue([])", "true"),
        ("setunion([1], [2, 1])", "[1, 2]"),
        ("setintersection([1, 2], [2, 3])", "[2]"),
        ("setsubtract([1, 2], [2])", "[1]"),
        ("abs(-1) + floor(1.5) + ceil(1.2) + signum(-7)", "3"),
        ("max(1, 3, 2) - min(4, 2)", "1"),
        ("sum([1, 2.5])", "3.5"),
        (r#"parseint("ff", 16)"#, "255"),
        (
            r#"jsondecode("{\"a\": [1, null, true]}").a"#,
            "[1, null, true]",
        ),
        (
            r#"jsonencode({ a = [1.5, "x"] })"#,
            r#""{\"a\":[1.5,\"x\"]}""#,
        ),
        (r#"basename("a/b/")"#, r#""b""#),
        (r#"dirname("a/b/c")"#, r#""a/b""#),
        (r#"dirname("a")"#, r#"".""#),
        (r#"templatestring("x$${a}", { a = 1 })"#, r#""x1""#),
        (r#"fileexists("no/such/file")"#, "false"),
    ] {
        let expected = value(expected).unwrap();
        assert_eq!(value(call), Ok(expected), "{call}");
    }
}

#[test]
fn calls_that_fail() {
    for call in [
        "lower()",
        "lower([])",
        "join(\",\", \"a\")",
        "element([], 0)",
        "lookup({}, \"a\")",
        "one([1, 2])",
        "range(100000)",
        "regex(\"(\", \"a\")",
        "regex(\"x\", \"a\")",
        "format(\"%s\")",
        "format(\"a\", 1)",
        "format(\"%9999999s\", 1)",
        "sum([])",
        "jsondecode(\"{\")",
        "base64decode(\"?\")",
        "parseint(\"z\", 10)",
        "file(\"no/such/file\")",
        "index([1], 2)",
        "slice([1], 0, 2)",
        "zipmap([\"a\"], [])",
        "tonumber(\"x\")",
        "coalesce(null)",
        "indent(100000, \"\\n\")",
        "templatestring(\"$${b}\", {})",
        "templatestring(\"$${templatestring(\\\"x\\\", {})}\", {})",
    ] {
        assert!(
            matches!(value(call), Err(EvalProblem::Function { .. })),
            "{call}: {:?}",
            value(call)
        );
    }
    assert!(matches!(
        value("md5(\"a\")"),
        Err(EvalProblem::UnsupportedFunction(_))
    ));
    assert!(matches!(
        value("format(\"%x\", 1)"),
        Err(EvalProblem::UnsupportedFunction(_))
    ));
    assert!(matches!(
        value("nofunc()"),
        Err(EvalProblem::NoSuchFunction(_))
    ));
    for call in [
        "uuid()",
        "timestamp()",
        "lower(timestamp())",
        "provider::a::b(1)",
    ] {
        assert_eq!(value(call), Ok(Value::Unknown), "{call}");
    }
}
