//! Compares tflock's parsers with independent crates for the same formats.
//!
//! The inputs are generated files and the recorded files in `testdata`. If a crate and tflock differ, the test lists
//! the difference, says which of the two agrees with Terraform, and checks that the difference still exists.

mod hcl;
mod versions;
mod walk;
#[cfg(unix)]
mod zip;
