//! A root module of two files, the second after a NUL, for both engines: declarations, overrides, static evaluation.

#![no_main]

use std::fs;

use libfuzzer_sys::fuzz_target;
use tflock::config::{ModuleCache, ReadOptions, read_root};
use tflock::provider::Engine;

fuzz_target!(|input: &[u8]| {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut texts = input.splitn(2, |byte| *byte == 0);
    let first = texts.next().unwrap_or_default();
    let name = if first.starts_with(b"{") { "main.tf.json" } else { "main.tf" };
    fs::write(directory.path().join(name), first).expect("a file");
    if let Some(second) = texts.next() {
        fs::write(directory.path().join("main_override.tf"), second).expect("a file");
    }
    for engine in [Engine::Terraform, Engine::Tofu] {
        let _ = read_root(directory.path(), &ReadOptions::new(engine), &ModuleCache::new(), None);
    }
});
