//! The CLI configuration of Terraform and OpenTofu (`.terraformrc` and its kin).
