//! Runs the `git` program, and uses it to get information about the user's repository.
//!
//! An untrusted pull request can control remote modules and the files of the tree, and a commit hook sets variables that select a
//! different repository. Git therefore runs in a controlled environment (`environment`, `settings`) with limits (`subprocess`).
//! `problem` recognizes the cause of a failure. Only one command, in `repository`, lets git discover a repository.

mod changed_files;
mod comparison_base;
mod environment;
mod error;
mod ignored_file;
mod problem;
mod repository;
mod revision;
mod settings;
mod tracked_files;

pub use changed_files::ChangedFiles;
pub use comparison_base::ComparisonBase;
pub use error::GitError;
pub use ignored_file::{IgnoredFile, find_ignored};
pub use problem::GitProblem;
pub use repository::parse_path;
pub use revision::Revision;
pub use settings::{GitSettings, GitTarget};
pub use tracked_files::TrackedFiles;
