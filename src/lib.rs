//! tflock keeps `.terraform.lock.hcl` right for a whole monorepo, without Terraform.

#![cfg_attr(
    test,
    expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")
)]

pub mod cli;
pub mod cli_config;
pub mod config;
pub mod diagnostic;
pub mod lockfile;
pub mod locking;
pub mod package;
pub mod printer;
pub mod progress;
pub mod provider;
pub mod registry;
pub mod reporter;
pub mod settings;
pub mod span;
pub mod syntax;
