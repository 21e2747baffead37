//! Random expressions without variables.

use super::random::Random;

/// The type that an expression should have. Some generated expressions are intended to fail.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueType {
    Number,
    Text,
    Bool,
    List,
    Map,
    Any,
}

use ValueType::{Any, Bool, List, Map, Number, Text};

const NUMBERS: [&str; 32] = [
    "0",
    "1",
    "2",
    "3",
    "10",
    "-1",
    "-0",
    "0.5",
    "1.5",
    "-2.5",
    "1/3",
    "0.1",
    "100",
    "255",
    "1e3",
    "1.0",
    "9007199254740993",
    "1e-7",
    "12345678901234567890",
    "1e21",
    "0.1 + 0.2",
    "-7",
    "7.25",
    "1e100",
    "123456.789",
    "-1.5",
    "2.5",
    "3.5",
    "1E+2",
    "00.5",
    "4294967296",
    "18446744073709551616",
];
const TEXTS: [&str; 40] = [
    "",
    "a",
    "b",
    "ab",
    "A",
    "abc",
    "a,b,c",
    " x ",
    "é",
    "e\u{301}",
    "日本",
    "ß",
    "İ",
    "ǆ",
    "👩‍👩‍👧",
    "1",
    "-0",
    "01",
    "1.50",
    "true",
    "false",
    "null",
    "a b",
    "$${x}",
    "%%{x}",
    "\\n",
    "\\t a",
    "\\\"q\\\"",
    "\\u00e9",
    "${1}",
    "${true}x",
    "%{ if true }y%{ endif }",
    "a/b/../c",
    "Hello World",
    "x-y_z",
    "1e3",
    "[1]",
    "{\\\"a\\\":1}",
    "k: v",
    "%d",
];

/// The forms of an expression of each type, one per line. `<N>`, `<T>`, `<B>`, `<L>` and `<M>` stand for an expression of that type,
/// `<X>` for one of any type, `<n>` and `<t>` for a constant, `<i>` for a key, and `⏎` for a line break.
const FORMS: [(ValueType, &str); 5] = [
    (Number, include_str!("forms/number.txt")),
    (Text, include_str!("forms/text.txt")),
    (Bool, include_str!("forms/bool.txt")),
    (List, include_str!("forms/list.txt")),
    (Map, include_str!("forms/map.txt")),
];

/// Returns an expression of a type with at most this depth.
pub(super) fn expression(random: &mut Random, value: ValueType, depth: usize) -> String {
    let value = match value {
        Any => random.pick(&[Number, Text, Text, Bool, List, Map]),
        known if random.chance(3) => random.pick(&[known, Text, Number, Bool, List, Map]),
        known => known,
    };
    if depth == 0 || random.chance(12) {
        return leaf(random, value);
    }
    let form = random_form(random, value);
    fill(random, &form, depth - 1)
}

fn random_form(random: &mut Random, value: ValueType) -> String {
    let (_, forms) = FORMS
        .iter()
        .find(|(known, _)| *known == value)
        .expect("each type has forms");
    let forms: Vec<_> = forms.lines().collect();
    random.pick(&forms).replace('⏎', "\n")
}

fn leaf(random: &mut Random, value: ValueType) -> String {
    match value {
        Number => random.pick(&NUMBERS).to_owned(),
        Text | Any => format!("\"{}\"", random.pick(&TEXTS)),
        Bool => random.pick(&["true", "false", "null"]).to_owned(),
        List => random
            .pick(&[
                "[]",
                "[\"a\", \"b\"]",
                "[1, 2, 3]",
                "[\"b\", \"a\", \"b\"]",
                "[null]",
                "[1, \"a\", true]",
                "[\"1\", \"é\", \"\"]",
                "[[1], [2, 3]]",
                "null",
            ])
            .to_owned(),
        Map => random
            .pick(&[
                "{}",
                "{ a = 1 }",
                "{ a = \"x\", b = \"y\" }",
                "{ b = 1, a = \"2\" }",
                "{ a = null }",
                "{ \"é\" = true }",
                "{ a = { b = 1 } }",
            ])
            .to_owned(),
    }
}

/// Replaces the placeholders of a form, such as `<N>`, with random expressions.
fn fill(random: &mut Random, form: &str, depth: usize) -> String {
    let mut text = String::new();
    let mut rest = form;
    while let Some(start) = rest.find('<') {
        text.push_str(&rest[..start]);
        let place = rest.get(start..start + 3);
        let part = match place {
            Some("<N>") => expression(random, Number, depth),
            Some("<T>") => expression(random, Text, depth),
            Some("<B>") => expression(random, Bool, depth),
            Some("<L>") => expression(random, List, depth),
            Some("<M>") => expression(random, Map, depth),
            Some("<X>") => expression(random, Any, depth),
            Some("<n>") => random.pick(&NUMBERS).to_owned(),
            Some("<t>") => random.pick(&TEXTS).to_owned(),
            Some("<i>") => random
                .pick(&["a", "null", "true", "Key", "é", "a-b"])
                .to_owned(),
            _ => {
                text.push('<');
                rest = &rest[start + 1..];
                continue;
            }
        };
        text.push_str(&guarded(part));
        rest = &rest[start + 3..];
    }
    text + rest
}

/// Puts an expression with operators in parentheses, so that its parts stay together, and returns any other expression unchanged.
fn guarded(part: String) -> String {
    let is_operation = part.contains(' ') && !part.ends_with([')', ']', '}', '"', '\n']);
    if is_operation {
        format!("({part})")
    } else {
        part
    }
}

/// Returns the expression of a case.
pub(super) fn generate(seed: u64, number: u64) -> String {
    let random = &mut Random::of_case(seed, "values", number);
    let depth = random.between(1, 3);
    expression(random, Any, depth)
}
