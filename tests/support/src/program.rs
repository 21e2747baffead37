//! Commands that run in a clean environment, and their results.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A command to run. The [`TestContext`](crate::TestContext) that creates it sets the environment and the directory.
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

    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    pub fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.command.args(arguments);
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub fn env_remove(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    pub fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.command.current_dir(directory.into());
        self
    }

    /// Sets the standard input, which is empty by default.
    pub fn stdin(mut self, input: impl Into<Stdio>) -> Self {
        self.command.stdin(input);
        self
    }

    /// Runs the command to completion.
    pub fn run(mut self) -> Outcome {
        let output = self.command.output();
        let output =
            output.unwrap_or_else(|error| panic!("cannot run {:?}: {error}", self.command));
        self.outcome(output.status.code(), &output.stdout, &output.stderr)
    }

    /// Runs the command to completion with standard output redirected to `stdout`. The outcome has no standard output.
    pub fn run_into(mut self, stdout: impl Into<Stdio>) -> Outcome {
        self.command.stdout(stdout);
        self.run()
    }

    /// Runs the command to completion and measures its cost.
    pub fn measure(mut self) -> (Outcome, RunCost) {
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = Instant::now();
        let child = self.command.spawn();
        let mut child =
            child.unwrap_or_else(|error| panic!("cannot run {:?}: {error}", self.command));
        let (stdout, stderr) = (read(child.stdout.take()), read(child.stderr.take()));
        let mut peak_memory = 0;
        let status = loop {
            peak_memory = peak_memory.max(memory_of(child.id()).unwrap_or_default());
            if let Some(status) = child.try_wait().expect("the child was not waited for") {
                break status;
            }
            thread::sleep(SAMPLING_INTERVAL);
        };
        let cost = RunCost {
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

    /// Runs the command to completion with the output streams of this process. Returns whether it succeeded.
    pub fn show(mut self) -> bool {
        let status = self.command.status();
        let status =
            status.unwrap_or_else(|error| panic!("cannot run {:?}: {error}", self.command));
        status.success()
    }

    /// Starts the command with pipes for its output, for tests that read it while the command runs.
    pub fn spawn_piped(mut self) -> Child {
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        self.command
            .spawn()
            .unwrap_or_else(|error| panic!("cannot run {:?}: {error}", self.command))
    }

    /// Starts the command and discards its output, for tests that stop it.
    pub fn spawn(mut self) -> Child {
        self.command.stdout(Stdio::null()).stderr(Stdio::null());
        self.command
            .spawn()
            .unwrap_or_else(|error| panic!("cannot run {:?}: {error}", self.command))
    }
}

/// Waits until `condition` is true. Fails the test after a minute.
#[track_caller]
pub fn wait_until(condition: impl Fn() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(
            started.elapsed() < Duration::from_mins(1),
            "the condition was not met within a minute"
        );
        thread::sleep(Duration::from_millis(5));
    }
}

/// The maximum number of rows that [`check_rows`] checks concurrently.
const CONCURRENT_ROWS: usize = 8;

/// Checks rows of a table concurrently. Use it if checking a row involves pauses between attempts.
pub fn check_rows<T: Send>(rows: impl IntoIterator<Item = T>, check: impl Fn(T) + Sync) {
    let rows = Mutex::new(rows.into_iter().collect::<VecDeque<T>>());
    let next = || rows.lock().expect("not poisoned").pop_front();
    thread::scope(|scope| {
        for _ in 0..CONCURRENT_ROWS {
            scope.spawn(|| {
                while let Some(row) = next() {
                    check(row);
                }
            });
        }
    });
}

/// The interval at which the memory use of a command is sampled.
const SAMPLING_INTERVAL: Duration = Duration::from_millis(2);

/// Returns the memory peak of a running process in bytes, on systems that report it. After the process has ended, the
/// reported value would include memory of the parent process.
fn memory_of(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes << 10)
}

/// Reads a pipe to its end on a thread of its own, so that the child process never blocks on a full pipe.
fn read(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    let mut pipe = pipe.expect("the output is a pipe");
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // If reading fails, the bytes read so far are returned.
        drop(pipe.read_to_end(&mut bytes));
        bytes
    })
}

/// The cost of a command.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunCost {
    /// The wall time.
    pub wall: Duration,
    /// The peak resident memory in bytes, or 0 on systems that do not report it for running processes.
    pub peak_memory: u64,
}

/// The result of a command. In the output, `[ROOT]` replaces the path of the temporary tree, and `[PORT]` the port of
/// the registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The command line.
    pub command: String,
    /// The exit code. `None` if a signal ended the process.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Outcome {
    /// Fails the test and prints the output unless the exit code is `code`.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Self {
        assert!(self.code == Some(code), "expected exit code {code}\n{self}");
        self
    }

    /// Fails the test and prints the output unless the exit code is 0.
    #[track_caller]
    pub fn expect_success(self) -> Self {
        self.expect_code(0)
    }

    /// Parses standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{self}"))
    }

    /// Fails the test and prints the output unless standard output contains `part`.
    #[track_caller]
    pub fn assert_stdout(&self, part: &str) -> &Self {
        assert!(self.stdout.contains(part), "stdout lacks `{part}`\n{self}");
        self
    }

    /// Fails the test and prints the output unless standard output starts with `start`.
    #[track_caller]
    pub fn assert_stdout_starts(&self, start: &str) -> &Self {
        let is_right = self.stdout.starts_with(start);
        assert!(is_right, "stdout does not start with `{start}`\n{self}");
        self
    }

    /// Fails the test and prints the output unless standard error contains `part`.
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
