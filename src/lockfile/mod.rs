//! The dependency lock file `.terraform.lock.hcl`.
