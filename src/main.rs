//! The `tflock` program: parse, run, turn the outcome into an exit code.

fn main() {}
