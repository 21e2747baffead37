//! Every lock file that can be parsed can also be rendered. The rendered text parses to the same locks and renders to
//! the same text.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use tflock::lockfile::{LockChanges, parse};
use tflock::provider::Engine;

fuzz_target!(|text: &[u8]| {
    let path = Path::new("fuzz.hcl");
    for engine in [Engine::Terraform, Engine::Tofu] {
        let Ok(read) = parse(path, text, engine) else {
            continue;
        };
        let written = read.locks.render(engine);
        let again = parse(path, written.as_bytes(), engine).expect("rendered text can be parsed");
        assert_eq!(again.locks, read.locks);
        assert_eq!(again.locks.render(engine), written);
        assert!(LockChanges::between(&read.locks, &again.locks).is_empty());
    }
});
