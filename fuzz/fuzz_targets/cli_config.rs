//! Parses and merges two CLI configurations in HCL 1 or JSON, separated by a NUL.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use tflock::cli_config::Builder;

fuzz_target!(|input: &[u8]| {
    let mut builder = Builder::default();
    for text in input.splitn(2, |byte| *byte == 0) {
        builder.add(Path::new("fuzz.tfrc"), text);
    }
    let (_, errors) = builder.finish();
    for error in errors {
        let _ = error.to_string();
    }
});
