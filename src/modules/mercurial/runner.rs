//! Runs the Mercurial commands for one package, with limits on size and time.

use std::ffi::OsStr;

use url::Url;

use crate::mercurial::{HgProblem, HgSettings};
use crate::modules::repository::{FetchLimits, describe_failure, is_out_of_memory};
use crate::modules::{FetchStep, ModuleError, ModuleLimit, RepositoryPackage, VersionControl};
use crate::redacted_url::RedactedUrl;
use crate::subprocess::{MAX_ERROR_TEXT, ProcessOutput, run_collecting};

/// The maximum output, in bytes, of a command. A clone prints a few lines, and the server can add more.
const MAX_OUTPUT: usize = 1 << 20;

/// The first version, as major and minor number, that can ignore the configuration of a repository on this machine.
const LEAST_LOCAL_VERSION: (u32, u32) = (5, 3);

/// The text that precedes the target of a redirect in the standard error of Mercurial.
const REDIRECT: &str = "real URL is ";

pub(super) struct HgRunner<'a> {
    pub(super) settings: &'a HgSettings,
    pub(super) package: &'a RepositoryPackage,
    pub(super) limits: FetchLimits<'a>,
}

impl HgRunner<'_> {
    /// Runs a command with `operands` after `--`, and returns its standard output.
    pub(super) async fn run(
        &self,
        arguments: &[&str],
        operands: &[&OsStr],
    ) -> Result<String, ModuleError> {
        let output = self.successful(arguments, operands).await?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs a command that contacts the repository's server. Fails if the server redirected it to an address without https, because an
    /// attacker could then replace the history in transit.
    pub(super) async fn run_remote(
        &self,
        arguments: &[&str],
        operands: &[&OsStr],
    ) -> Result<String, ModuleError> {
        let output = self.successful(arguments, operands).await?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        if let Some(address) = plain_http_redirect(&stderr) {
            return Err(ModuleError::Protocol {
                program: VersionControl::Mercurial,
                protocol: address.split(':').next().unwrap_or_default().to_owned(),
                address: RedactedUrl::parse(&address),
            });
        }
        // Only the end of standard error is retained, so the line about a redirect may be missing.
        if stderr.len() >= MAX_ERROR_TEXT && !self.package.is_local {
            let limit = ModuleLimit::ProgramOutputBytes(VersionControl::Mercurial, MAX_ERROR_TEXT);
            return Err(self.package.limit(limit));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Checks that this version of Mercurial can ignore the configuration of repositories on this machine, which can name programs.
    pub(super) async fn check_version(&self) -> Result<(), ModuleError> {
        let version = ["version", "--quiet", "--template={ver}"];
        let found = self.run(&version, &[]).await?;
        if parse_version(&found).is_some_and(|version| version >= LEAST_LOCAL_VERSION) {
            return Ok(());
        }
        let visible = found.chars().filter(|character| !character.is_control());
        Err(ModuleError::OldMercurial {
            address: self.package.address(),
            version: visible.take(40).collect(),
        })
    }

    async fn successful(
        &self,
        arguments: &[&str],
        operands: &[&OsStr],
    ) -> Result<ProcessOutput, ModuleError> {
        tracing::debug!(address = %self.package.address(), "running hg");
        let not_run = |error| self.package.not_run(self.settings.program(), error);
        let command = self.settings.command();
        let mut command = command.map_err(|error| not_run(error.into()))?;
        command.args(arguments);
        if !operands.is_empty() {
            command.arg("--").args(operands);
        }
        let process = run_collecting(command, Vec::new(), MAX_OUTPUT);
        let ended = self.limits.watch(process).await;
        let output = ended
            .map_err(|excess| self.package.exceeded(excess, self.limits))?
            .map_err(not_run)?;
        if output.status.success() {
            return Ok(output);
        }
        if is_out_of_memory(&output.stderr) {
            return Err(self.package.out_of_memory());
        }
        let (problem, message) = describe_failure(&output, &self.package.url, HgProblem::find);
        Err(ModuleError::Mercurial {
            step: FetchStep::Fetch,
            what: self.package.describe_commit(),
            address: self.package.address(),
            message,
            problem,
        })
    }
}

/// Returns the target of the first redirect that does not lead to an https address.
fn plain_http_redirect(stderr: &str) -> Option<String> {
    let mut targets = stderr.lines().filter_map(|line| line.split_once(REDIRECT));
    let is_plain = |address: &str| match Url::parse(address.trim()) {
        Ok(url) => url.scheme() != "https",
        Err(_not_a_url) => true,
    };
    let (_, address) = targets.find(|(_, address)| is_plain(address))?;
    let visible = address.chars().filter(|character| !character.is_control());
    Some(visible.collect())
}

/// Parses a version such as `6.3.2` or `5.9rc0+20210709`.
fn parse_version(text: &str) -> Option<(u32, u32)> {
    let (major, rest) = text.trim().split_once('.')?;
    let digits = rest.split(|character: char| !character.is_ascii_digit());
    let minor = digits.into_iter().next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        for (text, expected) in [
            ("6.3.2", Some((6, 3))),
            ("5.9rc0+20210709", Some((5, 9))),
            ("10.0\n", Some((10, 0))),
            ("unknown", None),
        ] {
            assert_eq!(parse_version(text), expected, "{text}");
        }
    }

    #[test]
    fn redirects_to_plain_http_are_found() {
        for (line, expected) in [
            (
                "real URL is http://h.test/r\n",
                Some("http://h.test/r".to_owned()),
            ),
            ("warning\nreal URL is https://h.test/r\n", None),
            ("real URL is \n", Some(String::new())),
            ("", None),
        ] {
            assert_eq!(plain_http_redirect(line), expected, "{line}");
        }
    }
}
