//! The `git` program: how it is run, and what it knows of the user's own repository.
//!
//! It runs in an environment of its own (`environment`, `working_directory`): remote modules and the files of the tree come
//! from whoever may open a pull request, and a commit hook sets variables that mean another repository. What it takes is
//! bounded (`process`, `containment`). `repository` is the only place where git finds a repository by itself.

mod changes;
mod containment;
mod environment;
mod error;
mod ignored;
mod process;
mod repository;
mod revision;
mod working_directory;

pub use changes::{Changes, Since};
pub use containment::MAX_MEMORY;
pub use environment::{GitSettings, Scope};
pub use error::GitError;
pub use ignored::{Ignored, ignored};
pub use process::{
    Finished, GIT_TIMEOUT, MAX_ERROR_TEXT, MAX_OUTPUT, RunError, Taker, run, run_into,
};
pub use repository::path_of;
pub use revision::{Revision, TrackedFiles};
