//! Tests of the library and the binary through their public interfaces, in one test program.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[cfg(target_os = "linux")]
mod action;
mod cache;
mod config_file;
mod conformance;
mod documents;
mod entries;
mod faults;
mod first_run;
mod fixture;
mod fleet;
mod habits;
mod hostile;
mod hosts;
mod index;
mod init;
mod interrupt;
mod judges;
mod kill;
mod layers;
mod list;
mod min_age;
mod mirror;
mod modules;
mod network;
mod oci;
mod options;
mod page;
mod pages;
mod parity;
mod paths;
mod real;
mod registry;
mod reports;
mod rows;
mod secrets;
mod stacks;
mod terragrunt;
mod trust;
mod twins;
mod unreachable;
mod verify;
mod working_set;

/// The binary under test.
const TFLOCK: &str = env!("CARGO_BIN_EXE_tflock");
