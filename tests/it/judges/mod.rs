//! Independent judges: crates that others wrote for the same formats decide whether our own code reads them correctly.
//!
//! Each judge sees inputs made by a generator and the recorded files of `testdata`. Where a judge and our code differ for a
//! reason, the test names that difference, says which side Terraform takes, and shows that it is still there.

mod hcl;
mod versions;
mod walk;
#[cfg(unix)]
mod zip;
