//! Evaluates two expressions, separated by a NUL, with all functions of both engines and without variables. Evaluation
//! must take little memory and time.
//!
//! No files are read or written. Run it with a memory limit far above the evaluation budget: `cargo +nightly fuzz run
//! evaluate -- -rss_limit_mb=600 -malloc_limit_mb=200 -timeout=5`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tflock::functions::evaluate_alone;
use tflock::provider::Engine;

/// Words in the names of functions that read files. Expressions that contain them are skipped.
const OF_FILES: [&str; 2] = ["file", "path"];

fuzz_target!(|input: &[u8]| {
    for text in input.splitn(2, |byte| *byte == 0) {
        let Ok(text) = std::str::from_utf8(text) else {
            continue;
        };
        if OF_FILES.iter().any(|name| text.contains(name)) {
            continue;
        }
        for engine in [Engine::Terraform, Engine::Tofu] {
            let _ = evaluate_alone(text, engine);
        }
    }
});
