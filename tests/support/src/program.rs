//! Commands run in a clean environment, and what became of them.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A command to run; environment and directory are set by the [`TestContext`](crate::TestContext) that hands it out.
pub struct Program {
    command: Command,
    filters: Vec<(String, String)>,
}

impl Program {
    pub(crate) fn new(path: &Path, filters: Vec<(String, String)>) -> Self {
        let mut command = Command::new(path);
        command.env_clear().stdin(Stdio::null());
        Self { command, filters }
    }

    /// Adds an argument.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    /// Adds arguments.
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.command.args(arguments);
        self
    }

    /// Sets a variable.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Removes a variable.
    pub fn env_remove(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// Runs in this directory.
    pub fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.command.current_dir(directory.into());
        self
    }

    /// Runs it to its end.
    pub fn run(mut self) -> Outcome {
        let output = self.command.output();
        let output =
            output.unwrap_or_else(|error| panic!("cannot run {:?}: {error}", self.command));
        let filter = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            self.filters
                .iter()
                .fold(text, |text, (from, to)| text.replace(from, to))
        };
        Outcome {
            command: format!("{:?}", self.command),
            code: output.status.code(),
            stdout: filter(&output.stdout),
            stderr: filter(&output.stderr),
        }
    }

    /// Runs it to its end with the outputs of this process; whether it succeeded.
    pub fn show(mut self) -> bool {
        let status = self.command.status();
        let status =
            status.unwrap_or_else(|error| panic!("cannot run {:?}: {error}", self.command));
        status.success()
    }

    /// Starts it with both outputs discarded, for tests that end it early.
    pub fn spawn(mut self) -> Child {
        self.command.stdout(Stdio::null()).stderr(Stdio::null());
        self.command
            .spawn()
            .unwrap_or_else(|error| panic!("cannot run {:?}: {error}", self.command))
    }
}

/// How a command ended. In both texts the temporary tree is `[ROOT]` and the registry's port `[PORT]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What was run.
    pub command: String,
    /// The exit code; `None` after a signal.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Outcome {
    /// Fails the test, with all that was printed, unless the exit code is `code`.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Self {
        assert!(self.code == Some(code), "expected exit code {code}\n{self}");
        self
    }

    /// Fails the test, with all that was printed, unless the exit code is 0.
    #[track_caller]
    pub fn expect_success(self) -> Self {
        self.expect_code(0)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            command,
            code,
            stdout,
            stderr,
        } = self;
        write!(
            formatter,
            "{command}\nexit code {code:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}"
        )
    }
}
