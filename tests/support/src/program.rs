//! Commands run in a clean environment, and their outcome.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

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
        self.outcome(output.status.code(), &output.stdout, &output.stderr)
    }

    /// Runs it to its end with standard output going to `stdout`, which the outcome then does not have.
    pub fn run_into(mut self, stdout: impl Into<Stdio>) -> Outcome {
        self.command.stdout(stdout);
        self.run()
    }

    /// Runs it to its end, and says what it took.
    pub fn measure(mut self) -> (Outcome, Cost) {
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = Instant::now();
        let child = self.command.spawn();
        let mut child =
            child.unwrap_or_else(|error| panic!("cannot run {:?}: {error}", self.command));
        let (stdout, stderr) = (read(child.stdout.take()), read(child.stderr.take()));
        let mut peak_memory = 0;
        let status = loop {
            peak_memory = peak_memory.max(memory_of(child.id()).unwrap_or_default());
            if let Some(status) = child.try_wait().expect("the child is ours") {
                break status;
            }
            thread::sleep(GLANCE);
        };
        let cost = Cost {
            wall: started.elapsed(),
            peak_memory,
        };
        let texts = [stdout, stderr].map(|reader| reader.join().expect("reading does not panic"));
        (self.outcome(status.code(), &texts[0], &texts[1]), cost)
    }

    fn outcome(&self, code: Option<i32>, stdout: &[u8], stderr: &[u8]) -> Outcome {
        let filter = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            self.filters
                .iter()
                .fold(text, |text, (from, to)| text.replace(from, to))
        };
        Outcome {
            command: format!("{:?}", self.command),
            code,
            stdout: filter(stdout),
            stderr: filter(stderr),
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

/// How often a running command is looked at.
const GLANCE: Duration = Duration::from_millis(2);

/// The most memory that a process has had so far, where the system says it: the figure that it gives at the end counts in
/// what the process had that started it.
fn memory_of(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes << 10)
}

/// Reads a pipe to its end, so that the child never blocks on a full pipe.
fn read(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    let mut pipe = pipe.expect("a pipe was asked for");
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before a failure is all there is.
        drop(pipe.read_to_end(&mut bytes));
        bytes
    })
}

/// What a command took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    /// From start to end.
    pub wall: Duration,
    /// Peak resident memory in bytes; 0 where the system does not tell it while a process runs.
    pub peak_memory: u64,
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

    /// Fails the test, with all that was printed, unless standard output contains `part`.
    #[track_caller]
    pub fn assert_stdout(&self, part: &str) -> &Self {
        assert!(self.stdout.contains(part), "stdout lacks `{part}`\n{self}");
        self
    }

    /// Fails the test, with all that was printed, unless standard error contains `part`.
    #[track_caller]
    pub fn assert_stderr(&self, part: &str) -> &Self {
        assert!(self.stderr.contains(part), "stderr lacks `{part}`\n{self}");
        self
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
