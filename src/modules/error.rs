//! Errors of remote modules.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::buckets::BucketError;
use crate::code::Code;
use crate::git::GitProblem;
use crate::provider::ModuleVersionConstraints;
use crate::redacted_url::RedactedUrl;
use crate::registry::{ModuleId, RegistryError};
use crate::span::{Explain, Place};

/// The reason why a remote module cannot be fetched.
#[derive(Debug, thiserror::Error)]
pub enum ModuleError {
    #[error("`{address}` is not a valid module address: {problem}")]
    Address {
        address: RedactedUrl,
        problem: &'static str,
    },
    /// A kind of source or archive that tflock does not support. The name is in the plural.
    #[error("{0} are not supported")]
    Unsupported(&'static str),
    /// A git address whose protocol is not allowed.
    #[error("`{address}` uses the protocol `{protocol}`, but git may use only https, ssh and file")]
    Protocol {
        address: RedactedUrl,
        protocol: String,
    },
    /// The run is `--untrusted`, and `--allow-host` does not include the host. The value contains the port if the address has one.
    #[error("host `{0}` is not allowed, and this run is `--untrusted`")]
    HostNotAllowed(String),
    /// The run is `--untrusted`, and the address is on this machine outside the repository.
    #[error("`{0}` is outside of the repository, and this run is `--untrusted`")]
    OutsideRepository(RedactedUrl),
    #[error("{}", limit.message(address))]
    Limit {
        address: RedactedUrl,
        limit: ModuleLimit,
    },
    /// A submodule cannot be fetched.
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
    /// An archive at a plain http address without a checksum. It could be replaced in transit.
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
    #[error("cannot run `{}`", program.display())]
    RunGit { program: PathBuf, source: io::Error },
    #[error("git cannot {step} {what} from `{address}`: {message}")]
    Git {
        step: GitStep,
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
    #[error("git did not fetch `{address}` within {seconds} s")]
    GitTimeout { address: RedactedUrl, seconds: u64 },
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
    /// A server with buckets refuses a request.
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
    #[error("`{0}` lists no checksum of the archive")]
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

/// A step of fetching a module with git.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitStep {
    Fetch,
    CheckOut,
}

impl fmt::Display for GitStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fetch => "fetch",
            Self::CheckOut => "check out",
        })
    }
}

/// The reason why a server with buckets refuses a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectFault {
    /// The bucket is in another region than the address says.
    Region,
    /// The user may not read the object.
    Permission,
    /// The server got no credentials, because only the address names it. The value is its origin.
    Anonymous(String),
}

impl ObjectFault {
    fn hint(&self) -> String {
        match self {
            Self::Region => {
                "name the region of the bucket in the address, as in `s3-eu-west-1.amazonaws.com`"
                    .to_owned()
            }
            Self::Permission => {
                "check that the bucket and the object exist, and that your credentials allow to read and to list them"
                    .to_owned()
            }
            Self::Anonymous(origin) => format!(
                "if you trust this server, set `AWS_ENDPOINT_URL_S3={origin}`: only AWS and the endpoint in this variable get your credentials"
            ),
        }
    }
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
    GitOutputBytes(usize),
    GitMemoryBytes(u64),
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
            Self::GitOutputBytes(limit) => {
                format!("git's output for `{address}` exceeds the limit of {limit} bytes")
            }
            Self::GitMemoryBytes(limit) => format!(
                "git ran out of memory while fetching `{address}`: the limit for each process is {limit} bytes"
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

/// Returns the hint for constraints that allow no version: how to select the prerelease that they name, or the newest release.
fn version_hint(
    constraints: Option<&ModuleVersionConstraints>,
    newest: Option<&str>,
) -> Option<String> {
    match constraints.and_then(ModuleVersionConstraints::prerelease_not_alone) {
        Some(version) => Some(format!(
            "to select a prerelease, write only its version: `version = \"{version}\"`"
        )),
        None => newest.map(|newest| format!("the newest release is {newest}")),
    }
}

impl ModuleError {
    /// Returns the hint for an error of a submodule.
    fn submodule_hint(&self) -> Option<String> {
        match self {
            Self::Git {
                problem: Some(GitProblem::UnknownReference),
                ..
            } => Some(
                "push the commit to the repository of the submodule, or update the submodule to a commit that was pushed"
                    .to_owned(),
            ),
            error => error.hint(),
        }
    }

    /// Changes the step of a failed git command to [`GitStep::CheckOut`].
    pub(super) fn in_checkout(mut self) -> Self {
        if let Self::Git { step, .. } = &mut self {
            *step = GitStep::CheckOut;
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

impl Explain for ModuleError {
    fn code(&self) -> Code {
        Code::ModuleUnavailable
    }

    fn place(&self) -> Option<&Place> {
        match self {
            Self::Registry(error) => error.place(),
            _ => None,
        }
    }

    fn hint(&self) -> Option<String> {
        const INSTALL: &str =
            "run `init` or `get` in this directory first, so that the module is in `.terraform`";
        const INSTALL_TRUSTED: &str = "if you trust the module, run `init` or `get` in this directory first, so that it is in `.terraform`";
        let hint = match self {
            Self::Registry(error) => return error.hint(),
            Self::HostNotAllowed(host) => {
                return Some(format!(
                    "if you trust this host, add `--allow-host {host}`, and also name every other host that the run requires"
                ));
            }
            Self::NoVersion {
                constraints,
                newest,
                ..
            } => return version_hint(constraints.as_ref(), newest.as_deref()),
            Self::Unsupported(_) => INSTALL,
            Self::Limit {
                limit:
                    ModuleLimit::ArchiveBytes(_)
                    | ModuleLimit::ChecksumListBytes(_)
                    | ModuleLimit::Objects(_)
                    | ModuleLimit::ObjectBytes(_)
                    | ModuleLimit::ObjectListBytes(_)
                    | ModuleLimit::Redirects(_),
                ..
            } => return None,
            Self::Limit { .. } | Self::GitTimeout { .. } => INSTALL_TRUSTED,
            Self::Protocol { .. } => "write the address with `https://` or `ssh://`",
            Self::PlainHttp(_) => {
                "use https, or add `checksum=sha256:...` to the query of the source"
            }
            Self::RunGit { .. } => {
                "install git, which modules in git repositories require, or run `init` or `get` first"
            }
            Self::Git {
                problem: Some(problem),
                ..
            } => return problem.hint().map(str::to_owned),
            Self::Submodule { source, .. } => return source.submodule_hint(),
            Self::NoSubmoduleAddress { .. } => {
                "add the submodule to `.gitmodules`, or remove it from the repository with `git rm --cached`"
            }
            Self::ShallowRepository { .. } => "run `git fetch --unshallow` in that repository",
            Self::EmptyRepository(_) => "push a commit, or correct the address",
            Self::NoRedirect(_) => {
                "specify the archive format with `?archive=zip`, or write `git::` before the address of a repository"
            }
            Self::Bucket { source, .. } => return source.hint(),
            Self::ObjectRefused { fault, .. } => return Some(fault.hint()),
            Self::NoObjects(_) => {
                "name a directory that contains objects; for an archive with another ending, specify its format, as in `?archive=zip`"
            }
            Self::NoOciArtifact(_) => {
                "push the module with this tag or digest, or name another one: without `tag` and `digest`, the tag is `latest`"
            }
            Self::OciWithTerraform(_) => {
                "if OpenTofu runs this configuration, pass `--engine tofu` or add a file `.opentofu-version`"
            }
            Self::NoChecksum(_) => {
                "write a line with the checksum and the name of the archive, as `sha256sum` prints it"
            }
            Self::Checksum { .. } => {
                "check whether the archive was replaced or a proxy rewrites downloads"
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }
}
