//! JSON syntax: bodies, blocks, and strings that are templates.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tflock::syntax::{Constants, JsonDocument, Strings, evaluate};

fuzz_target!(|text: &[u8]| {
    let Ok(document) = JsonDocument::parse("fuzz.tf.json", text.to_vec()) else {
        return;
    };
    let body = document.body();
    for labels in 0..3 {
        let _ = body.blocks("resource", labels);
    }
    for argument in body.arguments().unwrap_or_default() {
        for strings in [Strings::Plain, Strings::Templates] {
            if let Ok(expression) = document.expression(argument.value(), strings) {
                let _ = evaluate(&expression, &Constants);
            }
        }
    }
});
