//! Compares tflock's own parsers with independent crates for the same formats.
//!
//! The inputs are generated files and the recorded files of `testdata`. If a crate and tflock differ for a reason, the
//! test lists the difference, says which of the two agrees with Terraform, and checks that the difference still exists.

mod hcl;
mod versions;
mod walk;
#[cfg(unix)]
mod zip;
