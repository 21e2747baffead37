//! The `git` program: how it is run, and what it knows of the user's own repository.
//!
//! It runs in an environment of its own (`environment`): remote modules come from whoever may open a pull request, and a
//! commit hook sets variables that mean another repository.

mod changes;
mod environment;
mod error;
mod ignored;

pub use changes::{Changes, Since};
pub use environment::GitSettings;
pub use error::GitError;
pub use ignored::{Ignored, ignored};
