//! Native syntax: structure, expressions and their values.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tflock::syntax::{Body, Constants, Document, evaluate, parse_expression, parse_template};

fn exhaust(body: &Body<'_>) {
    for argument in body.arguments() {
        if let Ok(expression) = argument.expression() {
            let _ = evaluate(&expression, &Constants);
        }
    }
    // Blocks nest without bounds, this walk does not.
    for block in body.blocks() {
        let _ = block.labels().count();
        for inner in block.body().blocks() {
            let _ = inner.body().arguments().count();
        }
    }
}

fuzz_target!(|text: &[u8]| {
    if let Ok(document) = Document::parse("fuzz.tf", text.to_vec()) {
        exhaust(&document.body());
    }
    if let Ok(text) = std::str::from_utf8(text) {
        for expression in [parse_expression(text), parse_template(text)].into_iter().flatten() {
            let _ = evaluate(&expression, &Constants);
        }
    }
});
