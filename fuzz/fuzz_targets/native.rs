//! Parses native syntax: structure, expressions and their values.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tflock::syntax::{
    Body, Constants, SourceFile, Strings, evaluate, parse_expression, parse_template,
};

fn exhaust(body: &Body<'_>) {
    for argument in body.arguments().unwrap_or_default() {
        if let Ok(expression) = argument.value().tree(Strings::Plain) {
            let _ = evaluate(&expression, &Constants(None));
        }
    }
    // Blocks can be nested to any depth, but this loop reads only two levels.
    for block in body.native_blocks() {
        for inner in block.body().native_blocks() {
            let _ = inner.body().arguments();
        }
    }
}

fuzz_target!(|text: &[u8]| {
    if let Ok(file) = SourceFile::parse("fuzz.tf", text.to_vec()) {
        exhaust(&file.body());
    }
    if let Ok(text) = std::str::from_utf8(text) {
        for expression in [parse_expression(text), parse_template(text)].into_iter().flatten() {
            let _ = evaluate(&expression, &Constants(None));
        }
    }
});
