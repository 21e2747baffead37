//! Black-box tests of the library and the binary: one test program.

mod conformance;
