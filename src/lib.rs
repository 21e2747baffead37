//! tflock keeps the `.terraform.lock.hcl` files of a whole monorepo up to date, without Terraform.
//!
//! This page is the map of the crate. Data flows in one direction:
//!
//! ```text
//! arguments, environment, .tflock.toml  -->  settings                            (cli, options, settings)
//!     module directories below the paths                                         (walk)
//!         provider requirements of each root module                              (config, syntax, modules)
//!             existing lock files                                                (lockfile::parse)
//!                 selected versions                                              (locking::select)
//!                     packages: downloaded at most once, verified and hashed     (locking::packages, cache, registry, package)
//!                         new locks                                              (locking::evidence)
//!                             bytes, written if they changed                     (lockfile::render, lockfile::save)
//!                                 report                                         (run)
//! ```
//!
//! # Where to find what
//!
//! | question | start in |
//! | --- | --- |
//! | How does a command work, from start to finish? | [`run`]: `lock.rs`, `verify.rs`, `list/`, `mirror/` |
//! | Which options exist, and what are their defaults? | [`cli`], [`options`], [`settings`] |
//! | How is the configuration read and evaluated? | [`config`] (meaning), [`syntax`] (HCL and its JSON form), [`functions`] |
//! | How are Terragrunt units evaluated? | [`terragrunt`] |
//! | How are versions selected? | [`provider`] (constraints and their order), [`locking`] (selection) |
//! | What does a lock file look like, byte by byte? | [`lockfile`] |
//! | How is a package verified and hashed? | [`package`] |
//! | How do machines share package hashes? | [`index`], and `docs/reference/index-format.md` |
//! | How are requests to registries and mirrors sent? | [`registry`], [`cli_config`] (`.terraformrc`), [`cache`] |
//! | How are packages found in OCI registries? | [`oci`] (formats), [`registry`] (requests) |
//! | How are remote modules fetched? | [`modules`], [`git`], [`mercurial`] |
//! | What protects against a hostile pull request? | [`access`], [`subprocess`], [`modules`], and `docs/security.md` |
//! | Where do messages, findings and exit codes come from? | [`code`] (the table of codes), [`diagnostic`], [`locking`] (findings), [`run`] (reports) |
//!
//! # Layers
//!
//! A module uses only modules in lower layers. The exceptions are in the command-line layer: [`run`] uses all modules in its
//! layer, and [`settings`] uses [`cli`]. `tests/it/layers.rs` checks these rules.
//!
//! | layer | modules |
//! | --- | --- |
//! | program | `main` |
//! | command line | [`cli`]: arguments and help; [`settings`]: checked arguments, config files and environment; [`run`]: the commands; [`printer`]: all output; [`progress`]: progress bars |
//! | options | [`options`]: the table of the options that `.tflock.toml` can set too |
//! | directories, locking | [`walk`]: finds module directories; [`locking`]: computes new locks from requirements and old locks; [`modules`]: fetches remote modules into directories |
//! | units, hash index | [`terragrunt`]: evaluates Terragrunt units; [`index`]: signed package hashes that machines share |
//! | object stores | [`buckets`]: S3, Google Cloud Storage, Azure Blob Storage |
//! | inputs and outputs | [`config`]: configuration; [`registry`]: registries and network mirrors; [`lockfile`]: lock files; [`cache`]: the disk cache; [`git`], [`mercurial`]: the programs git and `hg` |
//! | packages on disk, reports, functions | [`mirror`]: filesystem mirrors; [`diagnostic`]: findings, errors and warnings; [`functions`]: the functions of expressions |
//! | formats and helpers | [`package`]: packages, checksums, signatures; [`cli_config`]: `.terraformrc`; [`reporter`]: progress events; [`temporary_file`]: names of temporary files, renaming; [`access`]: which files may be read; [`parallel`]: loops on all cores; [`subprocess`]: runs programs with limits |
//! | languages | [`syntax`]: HCL; [`oci`]: names, manifests and credentials of OCI registries |
//! | provider types | [`provider`]: addresses, versions, constraints, platforms, hashes |
//! | positions, addresses | [`span`]: byte ranges, lines and columns; [`redacted_url`]: addresses without secrets; [`once_map`]: runs one job per key |
//! | messages | [`code`]: the table of diagnostic codes; [`display`]: how messages write counts, paths and names |
//!
//! `config`, `registry`, `lockfile` and `cache` do not use each other. `locking` and `run` connect them with the types of `provider`.
//! Only the top two layers print, read the environment, or exit. All other code takes values and a [`reporter::Reporter`], and
//! returns values.

#![cfg_attr(
    test,
    expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")
)]

pub mod access;
pub mod buckets;
pub mod cache;
pub mod cli;
pub mod cli_config;
pub mod code;
pub mod config;
pub mod diagnostic;
pub mod display;
pub mod functions;
pub mod git;
pub mod index;
pub mod lockfile;
pub mod locking;
pub mod mercurial;
pub mod mirror;
pub mod modules;
pub mod oci;
pub mod once_map;
pub mod options;
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
pub mod subprocess;
pub mod syntax;
pub mod temporary_file;
pub mod terragrunt;
pub mod walk;
