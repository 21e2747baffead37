//! What git and Mercurial have in common: packages in repositories, the access to their servers, and the limits of a fetch.

mod access;
mod disk_usage;
mod failure_message;
mod local_repository;

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

pub(super) use access::RepositoryAccess;
pub(super) use disk_usage::Excess;
pub(super) use failure_message::{describe_failure, is_out_of_memory};
pub(super) use local_repository::is_self_contained;

use crate::redacted_url::RedactedUrl;
use crate::subprocess::{MAX_MEMORY, PROCESS_TIMEOUT, RunError};

use super::{ModuleError, ModuleLimit};
use disk_usage::find_excess;

/// The maximum size of a repository on disk, in bytes, including its history and work tree. The largest module repositories take a few
/// hundred megabytes with their full history.
pub const MAX_REPOSITORY_BYTES: u64 = 2 << 30;

/// The maximum number of files and directories in a repository, including everything that the program writes for it. Linux has 90,000
/// files, and the monorepos of large companies have a few hundred thousand. Git holds all paths in memory before it writes the first
/// file.
pub const MAX_REPOSITORY_ENTRIES: usize = 500_000;

/// The maximum number of submodules or subrepositories in a package, including nested ones. A repository can be its own submodule.
pub const MAX_SUBMODULES: usize = 100;

/// The interval at which the size of the repository is measured. A fast connection can transfer a few hundred megabytes in this time.
const MEASURE_INTERVAL: Duration = Duration::from_secs(1);

/// The minimum ratio of the pause between two measurements to the duration of one measurement.
const MEASURE_SHARE: u32 = 10;

/// A program that fetches repositories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VersionControl {
    Git,
    Mercurial,
}

impl VersionControl {
    /// Returns the name of the query parameter for the revision.
    pub(super) const fn revision_parameter(self) -> &'static str {
        match self {
            Self::Git => "ref",
            Self::Mercurial => "rev",
        }
    }
}

impl fmt::Display for VersionControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Git => "git",
            Self::Mercurial => "hg",
        })
    }
}

/// A repository, and the commit to use.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RepositoryPackage {
    pub(super) program: VersionControl,
    /// The URL to pass to the program, which may contain user information.
    pub(super) url: String,
    /// A branch, tag, bookmark or commit; `None` for the default branch.
    pub(super) reference: Option<String>,
    pub(super) is_local: bool,
}

impl RepositoryPackage {
    pub(super) fn address(&self) -> RedactedUrl {
        RedactedUrl::parse(&self.url)
    }

    /// Describes the commit for messages.
    pub(super) fn describe_commit(&self) -> String {
        match &self.reference {
            Some(reference) => format!("`{reference}`"),
            None => "the default branch".to_owned(),
        }
    }

    pub(super) fn exceeded(&self, excess: Excess, limits: FetchLimits<'_>) -> ModuleError {
        self.limit(match excess {
            Excess::Bytes => ModuleLimit::RepositoryBytes(limits.max_bytes),
            Excess::Entries => ModuleLimit::RepositoryEntries(MAX_REPOSITORY_ENTRIES),
        })
    }

    pub(super) fn out_of_memory(&self) -> ModuleError {
        self.limit(ModuleLimit::ProgramMemoryBytes(self.program, MAX_MEMORY))
    }

    pub(super) fn limit(&self, limit: ModuleLimit) -> ModuleError {
        ModuleError::Limit {
            address: self.address(),
            limit,
        }
    }

    /// Converts the error of a program, found at `path`, that did not start or did not run to completion.
    pub(super) fn not_run(&self, path: &Path, error: RunError) -> ModuleError {
        match error {
            RunError::System(source) => ModuleError::RunProgram {
                program: self.program,
                path: path.to_path_buf(),
                source,
            },
            RunError::TooMuchOutput { limit } => {
                self.limit(ModuleLimit::ProgramOutputBytes(self.program, limit))
            }
            RunError::Timeout => ModuleError::RepositoryTimeout {
                program: self.program,
                address: self.address(),
                seconds: PROCESS_TIMEOUT.as_secs(),
            },
        }
    }
}

/// The directory to which a repository and all of its submodules are fetched, and the maximum size of that directory.
#[derive(Clone, Copy)]
pub(super) struct FetchLimits<'a> {
    pub(super) directory: &'a Path,
    pub(super) max_bytes: u64,
}

impl FetchLimits<'_> {
    /// Waits for a process to finish, and stops waiting as soon as the directory exceeds its limits.
    pub(super) async fn watch<T>(&self, process: impl Future<Output = T>) -> Result<T, Excess> {
        let mut process = std::pin::pin!(process);
        let mut pause = MEASURE_INTERVAL;
        loop {
            let ended = tokio::time::timeout(pause, process.as_mut()).await;
            let started = Instant::now();
            if let Some(excess) =
                find_excess(self.directory, self.max_bytes, MAX_REPOSITORY_ENTRIES)
            {
                return Err(excess);
            }
            pause = MEASURE_INTERVAL.max(started.elapsed() * MEASURE_SHARE);
            if let Ok(result) = ended {
                return Ok(result);
            }
        }
    }
}
