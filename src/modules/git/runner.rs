//! Runs the git commands for one package, with limits on size and time.

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

use crate::git::{GitProblem, GitSettings, GitTarget};
use crate::modules::repository::{Excess, FetchLimits, describe_failure, is_out_of_memory};
use crate::modules::{FetchStep, ModuleError, RepositoryPackage};
use crate::subprocess::{ProcessOutput, RunError, run_collecting, run_streaming};

/// The maximum output, in bytes, of a command that is expected to print only a few lines.
const MAX_OUTPUT: usize = 1 << 20;

/// The command that serves repositories on this machine. The configuration of such a repository could name programs that fetch missing
/// objects. Git refuses to run them only since version 2.45.1, so the variables in this command prevent it. An ssh server would reject this
/// command, so it is used only for local paths.
const LOCAL_SERVER: &str =
    "--upload-pack=GIT_ALLOW_PROTOCOL=none GIT_NO_LAZY_FETCH=1 git-upload-pack";

pub(super) struct GitRunner<'a> {
    pub(super) settings: &'a GitSettings,
    pub(super) package: &'a RepositoryPackage,
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
        tracing::debug!(address = %self.package.address(), "running git");
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
        let ended = self.limits.watch(process).await;
        ended
            .map_err(|excess| self.exceeded(excess))?
            .map_err(|error| self.not_run(error))
    }

    pub(super) fn exceeded(&self, excess: Excess) -> ModuleError {
        self.package.exceeded(excess, self.limits)
    }

    fn not_run(&self, error: RunError) -> ModuleError {
        self.package.not_run(self.settings.program(), error)
    }

    fn successful(&self, output: ProcessOutput) -> Result<ProcessOutput, ModuleError> {
        if output.status.success() {
            return Ok(output);
        }
        if is_out_of_memory(&output.stderr) {
            return Err(self.package.out_of_memory());
        }
        let (problem, message) = describe_failure(&output, &self.package.url, GitProblem::find);
        Err(ModuleError::Git {
            step: FetchStep::Fetch,
            what: self.package.describe_commit(),
            address: self.package.address(),
            message,
            problem,
        })
    }
}

/// Whether the repository at this address is served by a process on this machine.
fn is_local_path(url: &str) -> bool {
    url.starts_with("file://") || Path::new(url).is_absolute()
}
