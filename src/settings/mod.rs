//! Arguments and environment become settings: everything checked and typed, nothing left to look up later.

mod area;
mod cache;
mod config_file;
mod environment;
mod error;
mod governed;
mod in_force;
mod list;
mod lock;
mod mirror;
mod network;
mod output;
mod report;
mod sourced;
mod sources;
mod suggest;
mod untrusted;
mod verify;
mod working_set;

pub use area::{Area, Create, TreeSettings, config_files};
pub use cache::{CacheSettings, CacheUsage, cache_directory};
pub use config_file::{
    ConfigFile, ConfigFileError, ConfigFiles, ConfigTexts, NAME as CONFIG_FILE_NAME, ValueError,
};
pub use environment::Environment;
pub use error::SettingsError;
pub use in_force::{InForce, Typed};
pub use list::ListSettings;
pub use lock::{LockSettings, typed};
pub use mirror::{CliConfigTarget, MirrorSettings};
pub use network::{Network, engine_of_base_url, network};
pub use output::{OutputSettings, output};
pub use report::ReportSettings;
pub use sourced::{Origin, Sourced};
pub use sources::{SourceChoice, SourceSettings};
pub use untrusted::Untrusted;
pub use verify::VerifySettings;
pub use working_set::{ReportError, WorkingSet};

use crate::cli::MAX_JOBS;
