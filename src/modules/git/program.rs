//! One run of the `git` program.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use tokio::process::Command;

use crate::git::GitSettings;
use crate::modules::address::{GitPackage, shown};
use crate::modules::error::ModuleError;

/// The most time for one run. The largest module repositories take a minute on a slow line.
pub const GIT_TIMEOUT: Duration = Duration::from_secs(600);

/// The most bytes of a repository on disk, history and work tree together. The largest repositories of modules have some
/// hundred megabytes with all of their history.
pub const MAX_REPOSITORY_BYTES: u64 = 2 << 30;

/// How often it is looked how large the repository has become: a fast line fills a few hundred megabytes meanwhile.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// As much of what git writes is repeated in an error.
const MAX_MESSAGE_LINES: usize = 3;

/// The most characters of such a line.
const MAX_LINE: usize = 300;

/// Git, for one repository.
pub(super) struct Git<'a> {
    settings: &'a GitSettings,
    package: &'a GitPackage,
    /// Where the repository grows.
    target: &'a Path,
    /// How large it may become.
    max_bytes: u64,
}

impl<'a> Git<'a> {
    pub(super) const fn new(
        settings: &'a GitSettings,
        package: &'a GitPackage,
        target: &'a Path,
        max_bytes: u64,
    ) -> Self {
        Self {
            settings,
            package,
            target,
            max_bytes,
        }
    }

    /// Runs a command that takes its operands behind `--`.
    pub(super) async fn run(
        &self,
        directory: Option<&Path>,
        arguments: &[&str],
        operands: &[&OsStr],
    ) -> Result<String, ModuleError> {
        let mut command = self.command(directory, arguments);
        if !operands.is_empty() {
            command.arg("--").args(operands);
        }
        self.finish(command).await
    }

    /// Runs a command that has no use for `--`. Its operands never come from outside in first place.
    pub(super) async fn run_plain(
        &self,
        directory: &Path,
        arguments: &[&str],
        operands: &[&OsStr],
    ) -> Result<String, ModuleError> {
        let mut command = self.command(Some(directory), arguments);
        command.args(operands);
        self.finish(command).await
    }

    fn command(&self, directory: Option<&Path>, arguments: &[&str]) -> Command {
        // A submodule of a repository elsewhere has no business on this machine.
        let protocols = if self.package.is_local {
            "https:ssh:file"
        } else {
            "https:ssh"
        };
        let mut command = Command::from(self.settings.command(protocols, directory));
        command.kill_on_drop(true);
        command.args(arguments);
        command
    }

    /// What git wrote.
    async fn finish(&self, mut command: Command) -> Result<String, ModuleError> {
        let address = || shown(&self.package.url);
        tracing::debug!(address = address(), "running git");
        // A process that is not waited for any more is killed.
        let output = tokio::time::timeout(GIT_TIMEOUT, self.watched(command.output())).await;
        let output = output.map_err(|_elapsed| ModuleError::GitTimeout {
            address: address(),
            seconds: GIT_TIMEOUT.as_secs(),
        })??;
        let output: Output = output.map_err(|source: io::Error| ModuleError::RunGit {
            program: self.settings.program.clone(),
            source,
        })?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(ModuleError::Git {
            what: self.what(),
            address: address(),
            message: message(&output, &self.package.url),
        })
    }

    /// Waits for a process as long as the repository is no larger than it may be.
    async fn watched<T>(&self, process: impl Future<Output = T>) -> Result<T, ModuleError> {
        let mut process = std::pin::pin!(process);
        loop {
            let done = tokio::time::timeout(LOOK_INTERVAL, process.as_mut()).await;
            if is_larger(self.target, self.max_bytes) {
                return Err(ModuleError::RepositoryTooLarge {
                    address: shown(&self.package.url),
                    limit: self.max_bytes,
                });
            }
            if let Ok(output) = done {
                return Ok(output);
            }
        }
    }

    fn what(&self) -> String {
        match &self.package.reference {
            Some(reference) => format!("`{reference}`"),
            None => "the default branch".to_owned(),
        }
    }
}

/// Whether the files below `directory` have more bytes than these. What vanishes meanwhile does not count.
fn is_larger(directory: &Path, limit: u64) -> bool {
    let mut waiting = vec![directory.to_path_buf()];
    let mut bytes = 0_u64;
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(found) if found.is_dir() => waiting.push(entry.path()),
                Ok(found) => bytes = bytes.saturating_add(found.len()),
                Err(_) => {}
            }
            if bytes > limit {
                return true;
            }
        }
    }
    false
}

/// The last lines that git wrote, without control characters and without what the address must not show.
fn message(output: &Output, url: &str) -> String {
    let text = String::from_utf8_lossy(&output.stderr).replace(url, &shown(url));
    let lines = text.lines().map(|line| without_user_info(line.trim()));
    let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    if lines.is_empty() {
        return output.status.to_string();
    }
    lines[lines.len().saturating_sub(MAX_MESSAGE_LINES)..].join("; ")
}

/// A line with `//user:password@` of any URL in it cut out.
fn without_user_info(line: &str) -> String {
    let visible: String = line
        .chars()
        .filter(|character| !character.is_control())
        .take(MAX_LINE)
        .collect();
    let mut shown = String::new();
    let mut rest = visible.as_str();
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        shown.push_str(before);
        let authority = after
            .find(|next: char| next == '/' || next.is_whitespace() || next == '\'')
            .unwrap_or(after.len());
        let secret = after[..authority].rfind('@').map_or(0, |end| end + 1);
        rest = &after[secret..];
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_hold_no_secrets_and_no_control_characters() {
        for (line, expected) in [
            (
                "fatal: unable to access 'https://u:p@g.test/r/': no",
                "fatal: unable to access 'https://g.test/r/': no",
            ),
            ("a https://t@h b ssh://g@h", "a https://h b ssh://h"),
            ("remote: \u{1b}[31mred\u{7}", "remote: [31mred"),
            ("plain @ text", "plain @ text"),
        ] {
            assert_eq!(without_user_info(line), expected);
        }
        assert_eq!(without_user_info(&"x".repeat(999)).len(), MAX_LINE);
    }
}
