//! The CLI configuration of Terraform and OpenTofu: `.terraformrc`, `*.tfrc`, `*.tfrc.json`.
//!
//! The language is version 1 of HCL, or JSON in its place. The way of a file through this room:
//!
//! 1. [`places`] says which files an environment names, without looking at them;
//! 2. `scan` and `parse` (or `json`) turn a text into a `tree` of items;
//! 3. `decode` and `installation` turn the tree into settings of this one file;
//! 4. [`Builder`] joins the settings of all files into one [`CliConfig`].
//!
//! What cannot be read is collected as errors and the rest counts, because that is what both tools do: a broken line in
//! somebody's home directory must not stop a run that does not need it. Unknown attributes and blocks are ignored.

mod advice;
mod config;
mod decode;
mod error;
mod escape;
mod installation;
mod json;
mod load;
mod merge;
mod parse;
mod pattern;
pub mod places;
mod scan;
#[cfg(test)]
mod tests;
mod tree;

pub use advice::InstallationWarning;
pub use config::{
    CliConfig, CredentialsBlock, HelperBlock, HostBlock, Placed, PluginCache, RegistryProtocols,
};
pub use error::CliConfigError;
pub use installation::{DevOverride, Method, MethodKind, ProviderInstallation};
pub use load::{Loaded, load};
pub use merge::Builder;
pub use pattern::{Pattern, PatternProblem, Selector};
