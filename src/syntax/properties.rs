//! Property tests: the parsers never panic, and the positions of errors are within the text.

use proptest::prelude::*;
use proptest::sample::select;

use super::{Constants, SourceFile, Strings, evaluate, parse_expression, parse_template};

/// Fragments of native syntax without whitespace. Random texts made of them get deep into the parser.
const WORDS: &str = r#"a b for in if else true null 1 1.5 1.2.3 "x" " ${ %{ ~} } { [ ] ( ) = == => : :: , . ... ? ! * / % + - < >=
 && || /* é $ $${ \ \n \u00e9 \q [*] .* .0 f( ' ;"#;

/// Fragments of native syntax that contain whitespace or control characters.
const BLANK_PIECES: &[&str] = &[
    "\n", "\r\n", "\r", " ", "\t", "\u{0}", "\u{feff}", "#c\n", "<<EOT\n", "<<-EOT\n", "EOT\n",
    "  EOT\n", "a = ", "b {\n", "}\n",
];
const LONG_PIECES: &[&str] = &[
    "/* c */",
    "%{ if a }",
    "%{ endif }",
    "%{ else }",
    "%{ for x in y }",
    "%{ endfor }",
    "block \"l\" {",
];

/// Fragments of JSON syntax.
const JSON_PIECES: &[&str] = &[
    "{", "}", "[", "]", ",", ":", "\"a\"", "\"//\"", "\"${1}\"", "\"", "1", "-1.5e3", "01", "true",
    "null", "nul", "\\u00e9", "\\ud800", " ", "\n", "{\"a\":", "é", "\u{0}",
];

fn native_pieces() -> Vec<&'static str> {
    let blank = BLANK_PIECES.iter().chain(LONG_PIECES).copied();
    WORDS.split_whitespace().chain(blank).collect()
}

fn soup(pieces: Vec<&'static str>) -> impl Strategy<Value = Vec<u8>> {
    let text = proptest::collection::vec(select(pieces), 0..40)
        .prop_map(|parts| parts.concat().into_bytes());
    let bytes = proptest::collection::vec(any::<u8>(), 0..60);
    prop_oneof![4 => text, 1 => bytes]
}

/// Reads and evaluates everything in a body.
fn exhaust(body: &super::Body<'_>) {
    for argument in body.arguments().expect("native syntax") {
        let value = argument.value();
        assert!(value.place().line > 0 && argument.place().line > 0 && !argument.name().is_empty());
        let expression = value
            .tree(Strings::Plain)
            .expect("its syntax was checked with the file, and nesting is shallow");
        // Whether evaluation succeeds does not matter.
        let _ = evaluate(&expression, &Constants(None));
    }
    for block in body.native_blocks() {
        let mut labels = block.labels().iter();
        assert!(labels.all(|label| label.span.start < label.span.end));
        exhaust(block.body());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn native_syntax(text in soup(native_pieces())) {
        match SourceFile::parse("a.tf", text.clone()) {
            Ok(file) => exhaust(&file.body()),
            Err(error) => prop_assert!(error.place.line > 0 && error.place.line <= text.len() + 1),
        }
    }

    #[test]
    fn expressions_and_templates(text in soup(native_pieces())) {
        let text = String::from_utf8_lossy(&text);
        for parsed in [parse_expression(&text), parse_template(&text)] {
            match parsed {
                Ok(expression) => drop(evaluate(&expression, &Constants(None))),
                Err(fault) => prop_assert!(fault.span.start <= fault.span.end && fault.span.start <= text.len()),
            }
        }
    }

    #[test]
    fn json(text in soup(JSON_PIECES.to_vec())) {
        if let Ok(file) = SourceFile::parse("a.tf.json", text) {
            let body = file.body();
            // Whether such blocks exist does not matter.
            let _ = (body.blocks("a", 2), body.names());
            for argument in body.arguments().unwrap_or_default() {
                for strings in [Strings::Plain, Strings::Templates] {
                    if let Ok(expression) = argument.value().tree(strings) {
                        let _ = evaluate(&expression, &Constants(None));
                    }
                }
            }
        }
    }
}
