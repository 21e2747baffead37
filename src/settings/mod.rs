//! Converts the command line, config files and the environment to checked, typed and complete settings.

mod cache;
mod config_file;
mod environment;
mod error;
mod index;
mod index_command;
mod list;
mod lock;
mod mirror;
mod network;
mod output;
mod path_group;
mod reading;
mod report;
mod sources;
mod tree;
mod units;
mod untrusted;
mod verify;
mod working_set;

pub use cache::{CacheSettings, CacheUsage, cache_directory};
pub use config_file::{
    ConfigFile, ConfigFileError, ConfigFiles, ConfigTexts, NAME as CONFIG_FILE_NAME,
};
pub use environment::Environment;
pub use error::SettingsError;
pub use index::{IndexSettings, IndexSettingsError};
pub use index_command::{IndexCommandSettings, IndexTask, IndexTaskKind, ProviderSelection};
pub use list::ListSettings;
pub use lock::{LockSettings, effective_options};
pub use mirror::{CliConfigTarget, MirrorSettings, MirrorTarget};
pub use network::{NetworkSettings, network_settings};
pub use output::OutputSettings;
pub use path_group::PathGroup;
pub use report::{ReportSettings, RepositoryPaths};
pub use sources::{SourceChoice, SourceSettings};
pub use tree::{Area, TreeSettings};
pub use units::{UnitSettings, engine_of_program};
pub use untrusted::Untrusted;
pub use verify::VerifySettings;
pub use working_set::{ReportError, WorkingSet};
