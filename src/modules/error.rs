//! Errors of remote modules.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::buckets::BucketError;
use crate::git::GitProblem;
use crate::mercurial::HgProblem;
use crate::provider::ModuleVersionConstraints;
use crate::redacted_url::RedactedUrl;
use crate::registry::{ModuleId, RegistryError};

use super::VersionControl;

/// The reason why a remote module cannot be fetched.
#[derive(Debug, thiserror::Error)]
pub enum ModuleError {
    #[error("`{address}` is not a valid module address: {problem}")]
    Address {
        address: RedactedUrl,
        problem: &'static str,
    },
    /// A kind of source or archive that tflock does not support, in the plural.
    #[error("{0} are not supported")]
    Unsupported(&'static str),
    /// The address of a repository whose protocol is not allowed.
    #[error(
        "`{address}` uses the protocol `{protocol}`, but {program} may use only https, ssh and file"
    )]
    Protocol {
        program: VersionControl,
        address: RedactedUrl,
        protocol: String,
    },
    /// The run is `--untrusted`, and `--allow-host` does not include the host. The value contains the port if the address has one.
    #[error("host `{0}` is not allowed with `--untrusted`")]
    HostNotAllowed(String),
    /// The address is on this machine outside the repository, and the run is `--untrusted`.
    #[error("`{0}` is outside the repository, which `--untrusted` does not allow")]
    OutsideRepository(RedactedUrl),
    /// A remote Mercurial repository must not read files of this machine.
    #[error("a remote repository has a subrepository on this machine: `{0}`")]
    LocalSubrepository(RedactedUrl),
    #[error("{}", limit.message(address))]
    Limit {
        address: RedactedUrl,
        limit: ModuleLimit,
    },
    #[error("cannot fetch submodule `{path}` of `{address}`")]
    Submodule {
        address: RedactedUrl,
        path: String,
        source: Box<Self>,
    },
    #[error("submodule `{path}` of `{address}` has no address in `.gitmodules`")]
    NoSubmoduleAddress { address: RedactedUrl, path: String },
    #[error("the run was interrupted")]
    Interrupted,
    /// An archive at a plain http address without a checksum. An attacker could replace it in transit.
    #[error("`{0}` would be fetched over plain http")]
    PlainHttp(RedactedUrl),
    #[error("module `{module}` has no version that {required} allows", required = required(constraints.as_ref()))]
    NoVersion {
        module: Box<ModuleId>,
        constraints: Option<ModuleVersionConstraints>,
        newest: Option<String>,
    },
    /// A request to a registry or to the server of an archive failed.
    #[error(transparent)]
    Registry(Arc<RegistryError>),
    /// A web address that is neither an archive nor a redirect to a module source.
    #[error("`{0}` is neither an archive nor a redirect to a module source")]
    NoRedirect(RedactedUrl),
    #[error("cannot run `{}`", path.display())]
    RunProgram {
        program: VersionControl,
        path: PathBuf,
        source: io::Error,
    },
    #[error("git cannot {step} {what} from `{address}`: {message}")]
    Git {
        step: FetchStep,
        what: String,
        address: RedactedUrl,
        /// The line of git's standard error that shows the problem, or its last lines.
        message: String,
        problem: Option<GitProblem>,
    },
    /// The repository is a clone without its full history, and lacks the commit.
    #[error("`{address}` is a shallow clone without the commit `{reference}`")]
    ShallowRepository {
        address: RedactedUrl,
        reference: String,
    },
    #[error("`{0}` has no commits")]
    EmptyRepository(RedactedUrl),
    #[error("hg cannot {step} {what} from `{address}`: {message}")]
    Mercurial {
        step: FetchStep,
        what: String,
        address: RedactedUrl,
        /// The line of standard error that shows the problem, or its last lines.
        message: String,
        problem: Option<HgProblem>,
    },
    /// This version of Mercurial reads the configuration of a repository on this machine, which can name programs to run.
    #[error(
        "cannot read `{address}` safely with hg {version}, which reads the configuration of repositories"
    )]
    OldMercurial {
        address: RedactedUrl,
        version: String,
    },
    /// A Mercurial repository with subrepositories in a form that tflock does not support.
    #[error("`{0}` has subrepositories of git or Subversion, or rules that rewrite their paths")]
    Subrepositories(RedactedUrl),
    #[error("{program} did not fetch `{address}` within {seconds} s")]
    RepositoryTimeout {
        program: VersionControl,
        address: RedactedUrl,
        seconds: u64,
    },
    #[error("the archive from `{address}` has the checksum `{found}`, not `{expected}`")]
    Checksum {
        address: RedactedUrl,
        expected: String,
        found: String,
    },
    /// The access to a bucket cannot be prepared.
    #[error("cannot access `{address}`")]
    Bucket {
        address: RedactedUrl,
        source: BucketError,
    },
    /// An object storage server refuses a request.
    #[error("{source}")]
    ObjectRefused {
        source: Box<Self>,
        fault: ObjectFault,
    },
    #[error("`{0}` has no objects: it is neither a directory nor an archive")]
    NoObjects(RedactedUrl),
    #[error("`{0}` does not exist in the OCI registry")]
    NoOciArtifact(RedactedUrl),
    #[error("`{0}` is in an OCI registry, and Terraform has no modules in OCI registries")]
    OciWithTerraform(RedactedUrl),
    #[error("`{0}` contains no checksum of the archive")]
    NoChecksum(RedactedUrl),
    #[error("cannot unpack the archive from `{address}`")]
    Unpack {
        address: RedactedUrl,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("`{address}` has no directory `{subdirectory}`")]
    NoSubdirectory {
        address: RedactedUrl,
        subdirectory: String,
    },
    #[error(
        "`{address}` has {found} directories that match `{subdirectory}`, but exactly one must match"
    )]
    AmbiguousSubdirectory {
        address: RedactedUrl,
        subdirectory: String,
        found: usize,
    },
    #[error("`{path}` in `{address}` points outside the module package")]
    Escapes { address: RedactedUrl, path: String },
    /// The directory of a `file://` address.
    #[error("cannot read the directory `{}`", path.display())]
    ReadDirectory { path: PathBuf, source: io::Error },
    #[error("cannot store the module in `{}`", path.display())]
    Disk { path: PathBuf, source: io::Error },
    /// The module is not on this machine, and `--offline` is set.
    #[error("`{0}` is not on this machine, and `--offline` forbids network access")]
    Offline(RedactedUrl),
}

/// A step of fetching a module from a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchStep {
    Fetch,
    CheckOut,
}

impl fmt::Display for FetchStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fetch => "fetch",
            Self::CheckOut => "check out",
        })
    }
}

/// The reason why an object storage server refuses a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectFault {
    /// The bucket is not in the region that the address names.
    Region,
    /// The user may not read the object.
    Permission,
    /// The request was sent without credentials, because the server is named by the module address and not by the user. The value is
    /// the origin of the server.
    Anonymous(String),
}

/// A limit on fetched modules, with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleLimit {
    ArchiveBytes(u64),
    ChecksumListBytes(u64),
    /// The number of objects below a prefix.
    Objects(usize),
    /// The total size of the objects below a prefix.
    ObjectBytes(u64),
    /// The size of one page of a list of objects.
    ObjectListBytes(usize),
    RepositoryBytes(u64),
    RepositoryEntries(usize),
    Submodules(usize),
    ProgramOutputBytes(VersionControl, usize),
    ProgramMemoryBytes(VersionControl, u64),
    Redirects(usize),
}

impl ModuleLimit {
    fn message(self, address: &RedactedUrl) -> String {
        match self {
            Self::ArchiveBytes(limit) => {
                format!("the archive from `{address}` is larger than the limit of {limit} bytes")
            }
            Self::ChecksumListBytes(limit) => {
                format!("the checksum list `{address}` is larger than the limit of {limit} bytes")
            }
            Self::Objects(limit) => {
                format!("`{address}` exceeds the limit of {limit} objects")
            }
            Self::ObjectBytes(limit) => {
                format!("the objects in `{address}` are larger than the limit of {limit} bytes")
            }
            Self::ObjectListBytes(limit) => {
                format!(
                    "a page of the object list of `{address}` is larger than the limit of {limit} bytes"
                )
            }
            Self::RepositoryBytes(limit) => {
                format!("the repository at `{address}` is larger than the limit of {limit} bytes")
            }
            Self::RepositoryEntries(limit) => format!(
                "the repository at `{address}` exceeds the limit of {limit} files and directories"
            ),
            Self::Submodules(limit) => format!(
                "`{address}` exceeds the limit of {limit} submodules, including nested ones"
            ),
            Self::ProgramOutputBytes(program, limit) => {
                format!(
                    "the output of {program} for `{address}` exceeds the limit of {limit} bytes"
                )
            }
            Self::ProgramMemoryBytes(program, limit) => format!(
                "{program} ran out of memory while fetching `{address}`: the limit for each process is {limit} bytes"
            ),
            Self::Redirects(limit) => format!("`{address}` redirects more than {limit} times"),
        }
    }
}

fn required(constraints: Option<&ModuleVersionConstraints>) -> String {
    constraints.map_or_else(
        || "a call without `version`".to_owned(),
        |constraints| format!("`{constraints}`"),
    )
}

impl ModuleError {
    /// Changes the step of a failed command to [`FetchStep::CheckOut`].
    pub(super) fn in_checkout(mut self) -> Self {
        if let Self::Git { step, .. } | Self::Mercurial { step, .. } = &mut self {
            *step = FetchStep::CheckOut;
        }
        self
    }
}

/// Builds a [`ModuleError::Disk`] for `path`, for use with `map_err`.
pub(super) fn disk(path: &Path) -> impl Fn(io::Error) -> ModuleError + Copy + '_ {
    move |source| ModuleError::Disk {
        path: path.to_path_buf(),
        source,
    }
}

impl From<RegistryError> for ModuleError {
    fn from(error: RegistryError) -> Self {
        Self::Registry(Arc::new(error))
    }
}
