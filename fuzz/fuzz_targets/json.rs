//! Parses JSON syntax: bodies, blocks, and strings with templates.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tflock::syntax::{Constants, SourceFile, Strings, evaluate};

fuzz_target!(|text: &[u8]| {
    let Ok(file) = SourceFile::parse("fuzz.tf.json", text.to_vec()) else {
        return;
    };
    let body = file.body();
    for labels in 0..3 {
        let _ = body.blocks("resource", labels);
    }
    for argument in body.arguments().unwrap_or_default() {
        for strings in [Strings::Plain, Strings::Templates] {
            if let Ok(expression) = argument.value().tree(strings) {
                let _ = evaluate(&expression, &Constants(None));
            }
        }
    }
});
