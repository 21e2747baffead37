//! Runs the git commands for one package, with limits on size and time.

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::git::{
    GIT_TIMEOUT, GitSettings, GitTarget, MAX_MEMORY, ProcessOutput, RunError, run_collecting,
    run_streaming,
};
use crate::modules::{GitPackage, GitStep, ModuleError, ModuleLimit};
use crate::redacted_url::RedactedUrl;

use super::disk_usage::{Excess, find_excess};
use super::failure_message::{describe_failure, is_out_of_memory};

/// The maximum size of a repository on disk, in bytes, including its history and work tree. The largest module repositories take a few
/// hundred megabytes with their full history.
pub const MAX_REPOSITORY_BYTES: u64 = 2 << 30;

/// The maximum number of files and directories in a repository, including everything that git writes for it. Linux has 90,000 files,
/// and the monorepos of large companies have a few hundred thousand. Git holds all paths in memory before it writes the first file.
pub const MAX_REPOSITORY_ENTRIES: usize = 500_000;

/// The maximum output, in bytes, of a command that is expected to print only a few lines.
const MAX_OUTPUT: usize = 1 << 20;

/// The interval at which the size of the repository is measured. A fast connection can transfer a few hundred megabytes in this time.
const MEASURE_INTERVAL: Duration = Duration::from_secs(1);

/// The minimum ratio of the pause between two measurements to the duration of a measurement.
const MEASURE_SHARE: u32 = 10;

/// The server command for repositories on this machine. The configuration of such a repository could name programs that fetch missing
/// objects, which git refuses only since version 2.45.1. An ssh server would reject this command, so it is used only for local paths.
const LOCAL_SERVER: &str =
    "--upload-pack=GIT_ALLOW_PROTOCOL=none GIT_NO_LAZY_FETCH=1 git-upload-pack";

/// The directory to which a repository and all of its submodules are fetched, and the maximum size of that directory.
#[derive(Clone, Copy)]
pub(super) struct FetchLimits<'a> {
    pub(super) directory: &'a Path,
    pub(super) max_bytes: u64,
}

pub(super) struct GitRunner<'a> {
    pub(super) settings: &'a GitSettings,
    pub(super) package: &'a GitPackage,
    pub(super) limits: FetchLimits<'a>,
}

impl GitRunner<'_> {
    /// Runs a command with `operands` after `--`, and returns its standard output.
    pub(super) async fn run(
        &self,
        target: GitTarget<'_>,
        arguments: &[&str],
        operands: &[&OsStr],
    ) -> Result<String, ModuleError> {
        let command = self.command(target, arguments, operands)?;
        let process = run_collecting(command, Vec::new(), MAX_OUTPUT);
        let output = self.watch(process).await?;
        let stdout = self.successful(output)?.stdout;
        Ok(String::from_utf8_lossy(&stdout).into_owned())
    }

    /// Runs a command that contacts the repository's server. The first operand must be the address of the repository.
    pub(super) async fn run_remote(
        &self,
        target: GitTarget<'_>,
        arguments: &[&str],
        operands: &[&OsStr],
    ) -> Result<String, ModuleError> {
        let server = is_local_path(&self.package.url).then_some(LOCAL_SERVER);
        let arguments: Vec<&str> = arguments.iter().copied().chain(server).collect();
        self.run(target, &arguments, operands).await
    }

    /// Runs a command and passes its output to `sink`. An error returned by the sink stops the command.
    pub(super) async fn run_streaming(
        &self,
        target: GitTarget<'_>,
        arguments: &[&str],
        sink: &mut (dyn FnMut(&[u8]) -> Result<(), ModuleError> + Send),
    ) -> Result<(), ModuleError> {
        let command = self.command(target, arguments, &[])?;
        let mut refusal = None;
        let mut stop = |bytes: &[u8]| match sink(bytes) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                refusal = Some(error);
                ControlFlow::Break(())
            }
        };
        let process = run_streaming(command, Vec::new(), &mut stop);
        let output = self.watch(process).await?;
        match refusal {
            Some(error) => Err(error),
            None => output.map_or(Ok(()), |output| self.successful(output).map(drop)),
        }
    }

    fn command(
        &self,
        target: GitTarget<'_>,
        arguments: &[&str],
        operands: &[&OsStr],
    ) -> Result<Command, ModuleError> {
        tracing::debug!(address = %self.address(), "running git");
        // Only a repository on this machine may have submodules on this machine.
        let protocols = if self.package.is_local {
            "https:ssh:file"
        } else {
            "https:ssh"
        };
        let command = self.settings.command(protocols, target);
        let mut command = command.map_err(|error| self.not_run(error.into()))?;
        command.args(arguments);
        if !operands.is_empty() {
            command.arg("--").args(operands);
        }
        Ok(command)
    }

    /// Waits for a process to finish, and fails as soon as the repository exceeds its limits.
    async fn watch<T>(
        &self,
        process: impl Future<Output = Result<T, RunError>>,
    ) -> Result<T, ModuleError> {
        let FetchLimits {
            directory,
            max_bytes,
        } = self.limits;
        let mut process = std::pin::pin!(process);
        let mut pause = MEASURE_INTERVAL;
        loop {
            let ended = tokio::time::timeout(pause, process.as_mut()).await;
            let started = Instant::now();
            if let Some(excess) = find_excess(directory, max_bytes, MAX_REPOSITORY_ENTRIES) {
                return Err(self.exceeded(excess));
            }
            pause = MEASURE_INTERVAL.max(started.elapsed() * MEASURE_SHARE);
            if let Ok(result) = ended {
                return result.map_err(|error| self.not_run(error));
            }
        }
    }

    pub(super) fn exceeded(&self, excess: Excess) -> ModuleError {
        self.limit(match excess {
            Excess::Bytes => ModuleLimit::RepositoryBytes(self.limits.max_bytes),
            Excess::Entries => ModuleLimit::RepositoryEntries(MAX_REPOSITORY_ENTRIES),
        })
    }

    fn limit(&self, limit: ModuleLimit) -> ModuleError {
        ModuleError::Limit {
            address: self.address(),
            limit,
        }
    }

    fn not_run(&self, error: RunError) -> ModuleError {
        match error {
            RunError::System(source) => ModuleError::RunGit {
                program: self.settings.program.clone(),
                source,
            },
            RunError::TooMuchOutput { limit } => self.limit(ModuleLimit::GitOutputBytes(limit)),
            RunError::Timeout => ModuleError::GitTimeout {
                address: self.address(),
                seconds: GIT_TIMEOUT.as_secs(),
            },
        }
    }

    fn successful(&self, output: ProcessOutput) -> Result<ProcessOutput, ModuleError> {
        if output.status.success() {
            return Ok(output);
        }
        if is_out_of_memory(&output.stderr) {
            return Err(self.limit(ModuleLimit::GitMemoryBytes(MAX_MEMORY)));
        }
        let (problem, message) = describe_failure(&output, &self.package.url);
        Err(ModuleError::Git {
            step: GitStep::Fetch,
            what: match &self.package.reference {
                Some(reference) => format!("`{reference}`"),
                None => "the default branch".to_owned(),
            },
            address: self.address(),
            message,
            problem,
        })
    }

    fn address(&self) -> RedactedUrl {
        RedactedUrl::parse(&self.package.url)
    }
}

/// Whether the repository at this address is served by a process on this machine.
fn is_local_path(url: &str) -> bool {
    url.starts_with("file://") || Path::new(url).is_absolute()
}
