//! Runs the `hg` program of Mercurial.
//!
//! An untrusted pull request can control the addresses of modules. Mercurial therefore runs in a controlled environment, without the
//! configuration of users and repositories (`settings`), and with limits (`subprocess`). `problem` recognizes the cause of a failure.

mod problem;
mod settings;

pub use problem::HgProblem;
pub use settings::HgSettings;
