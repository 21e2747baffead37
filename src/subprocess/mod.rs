//! Runs programs of the user, such as git and Mercurial, in a controlled environment.
//!
//! An untrusted pull request can control what these programs fetch and the files of the tree. They start in an empty directory
//! (`working_directory`) with few variables (`environment`, `program_settings`), and with limits on time, memory and output (`process`,
//! `containment`). `ssh_problem` recognizes failures of ssh, which they use.

mod containment;
mod environment;
mod process;
mod program_settings;
mod ssh_problem;
mod working_directory;

pub use containment::MAX_MEMORY;
pub use environment::{InheritedVariable, VariableContent};
pub use process::{
    MAX_ERROR_TEXT, MAX_OUTPUT, OutputSink, PROCESS_TIMEOUT, ProcessOutput, RunError, run_blocking,
    run_collecting, run_streaming,
};
pub use program_settings::ProgramSettings;
pub use ssh_problem::SshProblem;
