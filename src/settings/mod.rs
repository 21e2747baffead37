//! Arguments and environment become settings: everything checked and typed, nothing left to look up later.

mod area;
mod environment;
mod error;
mod lock;
mod network;
mod output;
mod report;
mod sources;

pub use area::{Area, Create, TreeSettings};
pub use environment::Environment;
pub use error::SettingsError;
pub use lock::LockSettings;
pub use network::{Network, engine_of_base_url, network};
pub use output::{OutputSettings, output};
pub use report::ReportSettings;
pub use sources::{SourceChoice, SourceSettings};

use std::path::{Path, PathBuf};

/// The top of the repository that holds `directory` (absolute): its nearest ancestor with a `.git`, or the directory
/// itself where there is none.
pub fn repository_root(directory: &Path) -> PathBuf {
    directory
        .ancestors()
        .find(|ancestor| ancestor.join(".git").exists())
        .unwrap_or(directory)
        .to_path_buf()
}
