//! Runs programs of the user, such as git and Mercurial, in a controlled environment.
//!
//! An untrusted pull request can control what these programs fetch, and the files in the tree. The programs therefore start in an empty
//! directory (`working_directory`) with few variables (`environment`, `program_settings`), and with limits on time, memory and output
//! (`process`, `containment`). `sign` and `ssh_problem` recognize the cause of a failure in their messages.

mod containment;
mod environment;
mod process;
mod program_settings;
mod sign;
mod ssh_problem;
mod working_directory;

pub use containment::MAX_MEMORY;
pub use environment::{InheritedVariable, VariableContent};
pub use process::{
    MAX_ERROR_TEXT, MAX_OUTPUT, OutputSink, PROCESS_TIMEOUT, ProcessOutput, RunError, run_blocking,
    run_collecting, run_streaming,
};
pub use program_settings::ProgramSettings;
pub use sign::find_sign;
pub use ssh_problem::SshProblem;
