use std::rc::Rc;

use super::super::{parse_expression, parse_template};
use super::*;

/// A scope with `var.known`, `var.unknown` and the function `upper`.
struct Few;

impl EvalScope for Few {
    fn reference(&self, root: &str, attribute: Option<&str>) -> Result<Rc<Value>, EvalProblem> {
        match (root, attribute) {
            ("var", Some("known")) => Ok(Rc::new("k".into())),
            ("var", Some("unknown")) => Ok(Rc::new(Value::Unknown)),
            _ => Err(EvalProblem::Reference(format!("no {root}"))),
        }
    }

    fn budget(&self) -> Option<&EvalBudget> {
        None
    }

    fn check_function(&self, name: &str) -> Result<(), EvalProblem> {
        match name {
            "upper" | "try" | "can" | "core::try" => Ok(()),
            _ => Err(EvalProblem::NoSuchFunction(name.to_owned())),
        }
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Result<Value, EvalProblem> {
        match (name, arguments) {
            ("upper", [Value::String(text)]) => Ok(text.to_uppercase().into()),
            ("upper", [Value::Unknown]) => Ok(Value::Unknown),
            _ => Err(EvalProblem::Function {
                name: name.to_owned(),
                message: "no".to_owned(),
            }),
        }
    }
}

fn show(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Unknown | Value::Sensitive(_) => "?".to_owned(),
        Value::String(text) => format!("'{text}'"),
        Value::Bool(_) | Value::Number(_) => value.to_text().unwrap_or_default(),
        Value::List(elements) | Value::Set(elements) | Value::Tuple(elements) => format!(
            "[{}]",
            elements.iter().map(show).collect::<Vec<_>>().join(",")
        ),
        Value::Map(entries) | Value::Object(entries) => {
            let entries: Vec<_> = entries
                .iter()
                .map(|(key, value)| format!("{key}={}", show(value)))
                .collect();
            format!("{{{}}}", entries.join(","))
        }
    }
}

fn constant(text: &str) -> Result<String, EvalProblem> {
    let expr = parse_expression(text).unwrap_or_else(|fault| panic!("{text}: {}", fault.problem));
    evaluate(&expr, &Constants(None))
        .map(|value| show(&value))
        .map_err(|fault| fault.problem)
}

fn scoped(text: &str) -> Result<String, EvalProblem> {
    let expr = parse_expression(text).unwrap_or_else(|fault| panic!("{text}: {}", fault.problem));
    check_references(&expr, &Few)
        .and_then(|()| evaluate(&expr, &Few))
        .map(|value| show(&value))
        .map_err(|fault| fault.problem)
}

#[test]
fn constant_expressions() {
    for (text, expected) in [
        (r#""a""#, "'a'"),
        ("1.50", "1.5"),
        ("-1 + 2 * 3", "5"),
        (r#""1" + "2""#, "3"), // strings are converted
        (r#""${1}.0""#, "'1.0'"),
        (r#""${1}""#, "1"), // one interpolation keeps its type
        (r#""${true}x""#, "'truex'"),
        (r#"true ? "a" : "b""#, "'a'"),
        (r#"false ? 1 : "b""#, "'b'"),
        (r#"true ? 1 : "b""#, "'1'"), // the branches agree on a type
        ("!false && 1 < 2 || false", "true"),
        ("7 % 3 == 1", "true"),
        ("1 == \"1\"", "false"),
        ("[1, [2]][1][0]", "2"),
        ("{ a = 1, \"b\" : 2, (\"c\") = 3, a = 4 }", "{a=4,b=2,c=3}"), // the last duplicate key applies
        ("{ a = { b = [5] } }.a.b.0", "5"),
        ("[{ a = 1 }, { a = 2 }][*].a", "[1,2]"),
        ("[{ a = 1 }, { a = 2 }].*.a", "[1,2]"),
        ("true ? 1 : a.b", "1"), // only the selected branch is evaluated
        ("null[*]", "[]"),
        ("\"x\"[*]", "['x']"),
        ("[for i, x in [3, 4] : x + i if x > 3]", "[5]"),
        (
            "{for k, v in { a = 1, b = 1 } : v => k...}",
            "{1=['a','b']}",
        ),
        ("\"%{ for x in [1, 2] }<${x}>%{ endfor }\"", "'<1><2>'"),
        ("\"%{ if true }a%{ else }b%{ endif }\"", "'a'"),
        ("\"a %{~ if true ~} b %{~ endif ~} c\"", "'abc'"),
        (
            "<<-EOT\n    a\n      b\n\n    c\n  EOT\n",
            "'a\n  b\n\nc\n'",
        ),
        ("<<EOT\n x ${1}\nEOT\n", "' x 1\n'"),
        (
            "<<-EOT\n  %{ if true ~}\n  a\n  %{~ endif }\n  EOT\n",
            "'    a\n\n'",
        ),
    ] {
        assert_eq!(constant(text), Ok(expected.to_owned()), "{text}");
    }
}

#[test]
fn expressions_without_a_value() {
    use EvalProblem as P;
    for (text, expected) in [
        ("a", P::VariablesNotAllowed("a".to_owned())),
        ("false ? 1 : a.b", P::VariablesNotAllowed("a".to_owned())),
        ("f(1)", P::CallsNotAllowed("f".to_owned())),
        ("{ a = 1 }.b", P::NoSuchKey("b".to_owned())),
        ("[1][1]", P::NoSuchIndex("1".to_owned())),
        ("1 / 0", P::Arithmetic),
        (
            "\"x${null}\"",
            P::WrongType {
                wanted: "a string",
                found: "null",
            },
        ),
        (
            "\"x\" + 1",
            P::WrongType {
                wanted: "a number",
                found: "a string",
            },
        ),
        (
            "{for x in [1, 1] : x => x}",
            P::DuplicateKey("1".to_owned()),
        ),
    ] {
        assert_eq!(constant(text), Err(expected), "{text}");
    }
}

#[test]
fn unknown_values_spread_only_where_they_matter() {
    for (text, expected) in [
        ("true ? \"./a\" : var.unknown", "'./a'"),
        ("(var.unknown || true) ? 1 : 2", "1"),
        ("var.unknown && false", "false"),
        ("var.unknown == null", "?"),
        ("\"./${var.unknown}\"", "?"),
        ("{ x = var.unknown, y = 1 }.y", "1"),
        ("[var.unknown, 2][1]", "2"),
        ("can(var.unknown)", "?"),
        ("try(var.unknown, 1)", "?"),
        ("upper(var.unknown)", "?"),
        ("[for x in [var.unknown] : 1]", "[1]"),
        ("var.unknown + 1", "?"),
        ("var.unknown ? 1 : 2", "?"),
    ] {
        assert_eq!(scoped(text), Ok(expected.to_owned()), "{text}");
    }
}

#[test]
fn calls_and_references() {
    for (text, expected) in [
        ("upper(var.known)", "'K'"),
        ("upper([\"a\"]...)", "'A'"),
        ("try(upper(1), \"b\")", "'b'"),
        ("core::try({}.x, 2)", "2"),
        ("can(upper(1))", "false"),
        ("[for var in [{ known = 1 }] : var.known]", "[1]"), // a `for` variable shadows the root name
    ] {
        assert_eq!(scoped(text), Ok(expected.to_owned()), "{text}");
    }
    for text in [
        "try(var.nope, 1)",
        "true ? 1 : other.x",
        "try(nope(1), 1)",
        "upper(1)",
        "try(upper(1))",
    ] {
        assert!(scoped(text).is_err(), "{text}");
    }
}

#[test]
fn bare_templates() {
    for (text, expected) in [
        ("a${1}$", "'a1$'"),
        ("${[1]}", "[1]"),
        ("", "''"),
        ("$${a}\n\"b\\n", "'${a}\n\"b\\n'"),
    ] {
        let value = evaluate(&parse_template(text).unwrap(), &Constants(None)).unwrap();
        assert_eq!(show(&value), expected, "{text}");
    }
}

#[test]
fn the_deepest_tree_fits_on_a_small_stack() {
    let levels = crate::syntax::MAX_DEPTH - 1;
    let texts = [
        format!("{}1{}", "(".repeat(levels), ")".repeat(levels)),
        format!("{}1{}", "\"${".repeat(levels), "}\"".repeat(levels)),
        format!("{}1{}", "[for x in ".repeat(levels), " : x]".repeat(levels)),
        format!("{}1", "true ? 0 : ".repeat(levels)),
    ];
    let run = move || {
        texts.map(|text| {
            parse_expression(&text)
                .map(|expr| evaluate(&expr, &Constants(None)).is_ok())
                .is_ok()
        })
    };
    let thread = std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(run)
        .unwrap();
    assert_eq!(thread.join().unwrap(), [true; 4]);
}
