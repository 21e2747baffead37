//! Black-box tests of the library and the binary: one test program.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod conformance;
mod fixture;
mod fleet;
mod kill;
mod interrupt;
mod layers;
mod network;
mod options;
mod parity;
mod real;
mod registry;
mod rows;

/// The binary under test.
const TFLOCK: &str = env!("CARGO_BIN_EXE_tflock");
