//! The CLI configuration of Terraform and OpenTofu: `.terraformrc`, `*.tfrc` and `*.tfrc.json` files.
//!
//! The language is HCL 1 or JSON. The configuration is read in four steps:
//!
//! 1. [`places`] determines the paths of the files from the environment, without accessing the files;
//! 2. `scan` and `parse` (or `json`) parse a file into a `tree` of items;
//! 3. `decode` and `installation` convert the tree to the settings of that file;
//! 4. [`Builder`] merges the settings of all files into one [`CliConfig`].
//!
//! As in Terraform and OpenTofu, an invalid block or attribute is reported, and the rest of the configuration applies: a mistake in a
//! file in the home directory must not stop a run that does not need that setting. Unknown attributes and blocks are ignored.

mod advice;
mod config;
mod decode;
mod error;
mod escape;
mod installation;
mod json;
mod load;
mod merge;
mod oci;
mod parse;
mod pattern;
pub mod places;
mod repository_template;
mod scan;
#[cfg(test)]
mod tests;
mod tree;

pub use advice::InstallationWarning;
pub use config::{CliConfig, CredentialsBlock, HelperBlock, HostBlock, RegistryProtocols};
pub use error::CliConfigError;
pub use installation::{Method, MethodKind, ProviderInstallation};
pub use load::load;
pub use merge::Builder;
pub use oci::{OciCredentialsBlock, OciDefaultsBlock};
pub use pattern::{Pattern, PatternProblem, Selector};
pub use repository_template::RepositoryTemplate;
