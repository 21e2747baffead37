//! tflock keeps `.terraform.lock.hcl` right for a whole monorepo, without Terraform.
//!
//! This page is the map of the crate. Values flow one way:
//!
//! ```text
//! arguments, environment --> settings --> walk: module directories
//!                                           |
//!                         requirements of each root module   (config)
//!                                           |
//!        existing lock (lockfile) --> selections              (locking::select)
//!                                           |
//!                 packages: each asked for once, if at all    (locking::packages, cache, registry, package)
//!                                           |
//!                                 new locks                   (locking::evidence)
//!                                           |
//!                    bytes, compared and replaced whole       (lockfile::render, lockfile::save)
//!                                           |
//!                                      report                 (run)
//! ```
//!
//! # Rooms
//!
//! A room uses rooms below it, never beside or above; within the row of the command line only `run` may use the others
//! (`tests/it/layers.rs` holds the code to that).
//!
//! | row | rooms |
//! | --- | --- |
//! | the program | `main` |
//! | the command line | [`cli`] what was typed, [`settings`] what it means, [`run`] the commands, [`printer`] the only door to the terminal, [`progress`] bars |
//! | options | [`options`]: the options that `.tflock.toml` may set too, each declared once |
//! | the use case | [`locking`]: requirements and old locks become new locks; [`modules`]: remote modules become directories |
//! | the tree | [`walk`] finds module directories |
//! | the outside world | [`config`] what `.tf` files ask for, [`registry`] who has packages, [`lockfile`] the lock file format, [`git`] the program and what changed |
//! | packages on disk, reports | [`mirror`] a directory of packages, [`diagnostic`] findings, errors and warnings |
//! | formats and furniture | [`package`] what a package's bytes say, [`syntax`] HCL, [`cli_config`] `.terraformrc`, [`reporter`] what a run tells, [`owner`] temporary names, [`access`] which files repository content may name, [`parallel`] work on all cores |
//! | vocabulary | [`provider`]: addresses, versions, constraints, platforms, hashes |
//! | places | [`span`]: byte ranges, lines and columns; [`redacted_url`]: addresses without secrets; [`once_map`]: one job per key |
//! | words | [`code`]: the table of diagnostics; [`display`]: how messages write things |
//!
//! `config`, `registry`, `lockfile` and `cache` do not know each other; they meet in `locking` and `run` through `provider`'s types.
//! The core neither prints, reads the environment, nor exits: it takes values and a [`reporter::Reporter`], and returns
//! values.
//!
//! # Where to start reading
//!
//! [`run`] has the phases in order. The rules of the trade are in three places: [`provider`] (constraints and their order),
//! [`lockfile`] (the bytes of the file) and [`package`] (what may be recorded, and the hash of an unpacked zip).

#![cfg_attr(
    test,
    expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")
)]

pub mod access;
pub mod cache;
pub mod cli;
pub mod cli_config;
pub mod code;
pub mod config;
pub mod diagnostic;
pub mod display;
pub mod git;
pub mod lockfile;
pub mod locking;
pub mod mirror;
pub mod modules;
pub mod once_map;
pub mod options;
pub mod owner;
pub mod package;
pub mod parallel;
pub mod printer;
pub mod progress;
pub mod provider;
pub mod redacted_url;
pub mod registry;
pub mod reporter;
pub mod run;
pub mod settings;
pub mod span;
pub mod syntax;
pub mod walk;
