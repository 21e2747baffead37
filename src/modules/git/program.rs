//! One run of the `git` program.

use std::ffi::OsStr;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::git::{Finished, GIT_TIMEOUT, GitSettings, MAX_MEMORY, RunError, Scope, Taker};
use crate::modules::address::GitPackage;
use crate::modules::error::ModuleError;
use crate::redacted_url::{RedactedUrl, redact_line};

/// The most bytes of a repository on disk, history and work tree together. The largest repositories of modules have some
/// hundred megabytes with all of their history.
pub const MAX_REPOSITORY_BYTES: u64 = 2 << 30;

/// The most files and directories of a repository, and of all that git puts on disk for it. Linux has 90,000 files, and the
/// monorepos of large companies have some hundred thousand; git holds each in memory before it writes the first.
pub const MAX_REPOSITORY_ENTRIES: usize = 500_000;

/// The most bytes that a command may write that answers with a few lines.
const MAX_ANSWER: usize = 1 << 20;

/// How often it is looked how large the repository has become: a fast line fills a few hundred megabytes meanwhile.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// No more than this part of the time is spent on looking.
const LOOK_SHARE: u32 = 10;

/// As much of what git writes is repeated in an error.
const MAX_MESSAGE_LINES: usize = 3;

/// The most characters of such a line.
const MAX_LINE: usize = 300;

/// How a repository of this machine is served. The configuration of the repository could name programs that fetch what it
/// lacks; git has refused that since 2.45.1 only. A server on the other end of ssh would refuse such a command.
const LOCAL_SERVER: &str =
    "--upload-pack=GIT_ALLOW_PROTOCOL=none GIT_NO_LAZY_FETCH=1 git-upload-pack";

/// Where a repository grows, with all of its submodules, and how large it may become.
#[derive(Clone, Copy)]
pub(super) struct Bounds<'a> {
    pub(super) directory: &'a Path,
    pub(super) max_bytes: u64,
}

/// Git, for one repository.
pub(super) struct Git<'a> {
    settings: &'a GitSettings,
    package: &'a GitPackage,
    pub(super) bounds: Bounds<'a>,
}

impl<'a> Git<'a> {
    pub(super) const fn new(
        settings: &'a GitSettings,
        package: &'a GitPackage,
        bounds: Bounds<'a>,
    ) -> Self {
        Self {
            settings,
            package,
            bounds,
        }
    }

    /// Runs a command that takes its operands behind `--`. What git wrote.
    pub(super) async fn run(
        &self,
        scope: Scope<'_>,
        arguments: &[&str],
        operands: &[&OsStr],
    ) -> Result<String, ModuleError> {
        let mut output = Vec::new();
        let mut collect = |bytes: &[u8]| {
            output.extend_from_slice(bytes);
            if output.len() > MAX_ANSWER {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        };
        let finished = self.run_into(scope, arguments, operands, &mut collect);
        match finished.await {
            Ok(()) => Ok(String::from_utf8_lossy(&output).into_owned()),
            Err(Failure::Stopped) => Err(ModuleError::GitOutput {
                address: self.address(),
                limit: MAX_ANSWER,
            }),
            Err(Failure::Module(error)) => Err(error),
        }
    }

    /// Runs a command that speaks with the repository's server, whose address is its first operand.
    pub(super) async fn run_remote(
        &self,
        scope: Scope<'_>,
        arguments: &[&str],
        operands: &[&OsStr],
    ) -> Result<String, ModuleError> {
        let server = is_path(&self.package.url).then_some(LOCAL_SERVER);
        let arguments: Vec<&str> = arguments.iter().copied().chain(server).collect();
        self.run(scope, &arguments, operands).await
    }

    /// Runs a command and passes on what it writes.
    pub(super) async fn run_into(
        &self,
        scope: Scope<'_>,
        arguments: &[&str],
        operands: &[&OsStr],
        take: &mut Taker<'_>,
    ) -> Result<(), Failure> {
        tracing::debug!(address = %self.address(), "running git");
        let run_failed = |error| self.not_run(error);
        let command = self.command(scope, arguments, operands);
        let command = command.map_err(RunError::System).map_err(run_failed)?;
        let process = crate::git::run_into(command, Vec::new(), take);
        let finished = self.watched(process).await?.map_err(run_failed)?;
        if finished.status.success() {
            return Ok(());
        }
        Err(self.failed(&finished).into())
    }

    fn command(
        &self,
        scope: Scope<'_>,
        arguments: &[&str],
        operands: &[&OsStr],
    ) -> std::io::Result<Command> {
        // A submodule of a repository elsewhere has no business on this machine.
        let protocols = if self.package.is_local {
            "https:ssh:file"
        } else {
            "https:ssh"
        };
        let mut command = self.settings.command(protocols, scope)?;
        command.args(arguments);
        if !operands.is_empty() {
            command.arg("--").args(operands);
        }
        Ok(command)
    }

    /// Waits for a process as long as the repository is no larger than it may be.
    async fn watched<T>(&self, process: impl Future<Output = T>) -> Result<T, ModuleError> {
        let mut process = std::pin::pin!(process);
        let mut pause = LOOK_INTERVAL;
        loop {
            let done = tokio::time::timeout(pause, process.as_mut()).await;
            let started = Instant::now();
            self.check_size()?;
            pause = LOOK_INTERVAL.max(started.elapsed() * LOOK_SHARE);
            if let Ok(output) = done {
                return Ok(output);
            }
        }
    }

    fn check_size(&self) -> Result<(), ModuleError> {
        let Bounds {
            directory,
            max_bytes,
        } = self.bounds;
        match excess(directory, max_bytes, MAX_REPOSITORY_ENTRIES) {
            None => Ok(()),
            Some(Excess::Bytes) => Err(self.too_large()),
            Some(Excess::Entries) => Err(self.too_many_entries()),
        }
    }

    pub(super) fn too_large(&self) -> ModuleError {
        ModuleError::RepositoryTooLarge {
            address: self.address(),
            limit: self.bounds.max_bytes,
        }
    }

    pub(super) fn too_many_entries(&self) -> ModuleError {
        ModuleError::TooManyEntries {
            address: self.address(),
            limit: MAX_REPOSITORY_ENTRIES,
        }
    }

    fn not_run(&self, error: RunError) -> Failure {
        Failure::Module(match error {
            RunError::Stopped => return Failure::Stopped,
            RunError::System(source) => ModuleError::RunGit {
                program: self.settings.program.clone(),
                source,
            },
            RunError::TooMuchOutput { limit } => ModuleError::GitOutput {
                address: self.address(),
                limit,
            },
            RunError::Timeout => ModuleError::GitTimeout {
                address: self.address(),
                seconds: GIT_TIMEOUT.as_secs(),
            },
        })
    }

    fn failed(&self, finished: &Finished) -> ModuleError {
        let address = self.address();
        if is_out_of_memory(&finished.errors) {
            return ModuleError::GitMemory {
                address,
                limit: MAX_MEMORY,
            };
        }
        ModuleError::Git {
            what: self.what(),
            address,
            message: message(finished, &self.package.url),
        }
    }

    /// The repository, for messages.
    pub(super) fn address(&self) -> RedactedUrl {
        RedactedUrl::parse(&self.package.url)
    }

    fn what(&self) -> String {
        match &self.package.reference {
            Some(reference) => format!("`{reference}`"),
            None => "the default branch".to_owned(),
        }
    }
}

/// Why a run has no result.
pub(super) enum Failure {
    /// The output was not wanted any more.
    Stopped,
    /// Anything else.
    Module(ModuleError),
}

impl From<ModuleError> for Failure {
    fn from(error: ModuleError) -> Self {
        Self::Module(error)
    }
}

/// Whether an address is served by a process of this machine.
fn is_path(url: &str) -> bool {
    url.starts_with("file://") || Path::new(url).is_absolute()
}

/// Whether git, or a helper of it, met the limit of memory.
fn is_out_of_memory(errors: &[u8]) -> bool {
    let text = String::from_utf8_lossy(errors).to_lowercase();
    ["out of memory", "cannot allocate memory", "malloc failed"]
        .iter()
        .any(|sign| text.contains(sign))
}

/// What there is too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Excess {
    Bytes,
    Entries,
}

/// Whether there are more bytes or entries below `directory` than these. What vanishes meanwhile does not count.
fn excess(directory: &Path, max_bytes: u64, max_entries: usize) -> Option<Excess> {
    let mut waiting = vec![directory.to_path_buf()];
    let (mut bytes, mut entries) = (0_u64, 0_usize);
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            entries += 1;
            match entry.metadata() {
                Ok(found) if found.is_dir() => waiting.push(entry.path()),
                Ok(found) => bytes = bytes.saturating_add(found.len()),
                Err(_) => {}
            }
            if bytes > max_bytes {
                return Some(Excess::Bytes);
            }
            if entries > max_entries {
                return Some(Excess::Entries);
            }
        }
    }
    None
}

/// The last lines that git wrote, without control characters and without what the address must not show.
fn message(output: &Finished, url: &str) -> String {
    let text =
        String::from_utf8_lossy(&output.errors).replace(url, &RedactedUrl::parse(url).to_string());
    let lines = text.lines().map(|line| visible_line(line.trim()));
    let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    if lines.is_empty() {
        return output.status.to_string();
    }
    lines[lines.len().saturating_sub(MAX_MESSAGE_LINES)..].join("; ")
}

/// The beginning of a line, without control characters and without the user info of URLs.
fn visible_line(line: &str) -> String {
    let visible = line.chars().filter(|character| !character.is_control());
    redact_line(&visible.take(MAX_LINE).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_hold_no_secrets_and_no_control_characters() {
        for (line, expected) in [
            (
                "at 'https://u:p@g.test/r/': no",
                "at 'https://g.test/r/': no",
            ),
            ("remote: \u{1b}[31mred\u{7}", "remote: [31mred"),
        ] {
            assert_eq!(visible_line(line), expected);
        }
        assert_eq!(visible_line(&"x".repeat(999)).len(), MAX_LINE);
    }

    #[test]
    fn bytes_and_entries_are_counted() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("a/b")).unwrap();
        fs::write(directory.path().join("a/b/c"), "1234").unwrap();
        for (max_bytes, max_entries, expected) in [
            (4, 3, None),
            (3, 3, Some(Excess::Bytes)),
            (4, 2, Some(Excess::Entries)),
        ] {
            let found = excess(directory.path(), max_bytes, max_entries);
            assert_eq!(found, expected, "{max_bytes} {max_entries}");
        }
    }

    #[test]
    fn exhausted_memory_is_recognized() {
        for (text, expected) in [
            (
                "fatal: Out of memory, malloc failed (tried to allocate 65536 bytes)",
                true,
            ),
            ("fatal: mmap failed: Cannot allocate memory", true),
            ("fatal: repository 'x' does not exist", false),
        ] {
            assert_eq!(is_out_of_memory(text.as_bytes()), expected, "{text}");
        }
    }
}
