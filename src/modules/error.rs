//! Why a remote module cannot be had. Errors are kept with what was asked, so that all who ask learn the same: they are shared.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::package::PackageError;
use crate::provider::ModuleVersionConstraints;
use crate::redacted_url::RedactedUrl;
use crate::registry::{ModuleId, RegistryError};
use crate::span::Explain;

/// Why there is no directory for a module.
#[derive(Debug, thiserror::Error)]
pub enum ModuleError {
    /// The source is written in a way that nothing can be fetched from.
    #[error("`{address}` is no address that a module can be fetched from: {problem}")]
    Address {
        /// The source.
        address: RedactedUrl,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A kind of source or archive that tflock does not fetch.
    #[error("{what} are not supported")]
    Unsupported {
        /// Which, in the plural.
        what: &'static str,
    },
    /// A git address with a protocol that is not on the list of those allowed.
    #[error(
        "`{address}` is for the protocol `{protocol}`, and git may use https, ssh and file only"
    )]
    Protocol {
        /// The address.
        address: RedactedUrl,
        /// Its scheme.
        protocol: String,
    },
    /// `--untrusted`, and the host is not one of `--allow-host`.
    #[error("host `{host}` is not allowed, and this run is `--untrusted`")]
    HostNotAllowed {
        /// The host, with its port if it is written.
        host: String,
    },
    /// `--untrusted`, and the address is on this machine outside of the repository.
    #[error("`{address}` is outside of the repository, and this run is `--untrusted`")]
    OutsideRepository {
        /// The address.
        address: RedactedUrl,
    },
    /// A repository of which more arrives than any module has.
    #[error(
        "what git fetches from `{address}` is more than {limit} bytes, the most that is accepted"
    )]
    RepositoryTooLarge {
        /// The address.
        address: RedactedUrl,
        /// The limit.
        limit: u64,
    },
    /// A repository with more files and directories than any module has.
    #[error(
        "the repository at `{address}` has more than {limit} files and directories, the most that are accepted"
    )]
    TooManyEntries {
        /// The address.
        address: RedactedUrl,
        /// The limit.
        limit: usize,
    },
    /// Git writes on and on where a few lines are the answer.
    #[error("git answers for `{address}` with more than {limit} bytes, the most that are read")]
    GitOutput {
        /// The address.
        address: RedactedUrl,
        /// The limit.
        limit: usize,
    },
    /// Git needs more memory than it gets.
    #[error(
        "git ran out of memory with what is fetched from `{address}`: {limit} bytes are the most that it may use"
    )]
    GitMemory {
        /// The address.
        address: RedactedUrl,
        /// The limit of each process.
        limit: u64,
    },
    /// A repository with too many submodules, or with itself for one.
    #[error("`{address}` leads to more than {limit} submodules, the most that are fetched")]
    TooManySubmodules {
        /// The repository with the submodule that is one too many, without secrets.
        address: RedactedUrl,
        /// The limit.
        limit: usize,
    },
    /// A submodule without an address.
    #[error("`{address}` has a submodule `{path}` without an address in `.gitmodules`")]
    NoSubmoduleAddress {
        /// The address.
        address: RedactedUrl,
        /// The path of the submodule.
        path: String,
    },
    /// Somebody wants the run to end.
    #[error("the run was interrupted")]
    Interrupted,
    /// An archive that comes over plain http, where it could be altered on the way, without a checksum.
    #[error("`{address}` would be fetched over plain http")]
    PlainHttp {
        /// The address.
        address: RedactedUrl,
    },
    /// The registry has no version that the call allows.
    #[error("module `{module}` has no version that {wanted} allows", wanted = wanted(constraints.as_ref()))]
    NoVersion {
        /// The module.
        module: Box<ModuleId>,
        /// What the call says.
        constraints: Option<ModuleVersionConstraints>,
        /// The newest release that there is.
        newest: Option<String>,
    },
    /// The registry, or the server with the archive, did not give what was asked for.
    #[error(transparent)]
    Registry(Arc<RegistryError>),
    /// A web address that is no archive and names no source either.
    #[error("`{address}` is no archive and does not say where the module is")]
    NoRedirect {
        /// The address.
        address: RedactedUrl,
    },
    /// One address sends to the next, without an end.
    #[error("`{address}` leads on to more than {limit} other addresses")]
    TooManyRedirects {
        /// Where it began, without secrets.
        address: RedactedUrl,
        /// The limit.
        limit: usize,
    },
    /// `git` cannot be started.
    #[error("cannot run `{}`", program.display())]
    RunGit {
        /// The program.
        program: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// `git` failed.
    #[error("git cannot fetch {what} from `{address}`: {message}")]
    Git {
        /// What was to be fetched.
        what: String,
        /// The repository.
        address: RedactedUrl,
        /// What it wrote last.
        message: String,
    },
    /// `git` did not end.
    #[error("git did not fetch `{address}` within {seconds} s")]
    GitTimeout {
        /// The repository.
        address: RedactedUrl,
        /// The limit.
        seconds: u64,
    },
    /// The archive has another checksum than its address says.
    #[error("the archive from `{address}` has the checksum `{found}`, not `{expected}`")]
    Checksum {
        /// The address.
        address: RedactedUrl,
        /// As the address says.
        expected: String,
        /// What was computed.
        found: String,
    },
    /// The archive is larger than any module.
    #[error("the archive from `{address}` has more than {limit} bytes, the most that are fetched")]
    ArchiveTooLarge {
        /// The address.
        address: RedactedUrl,
        /// The limit.
        limit: u64,
    },
    /// The archive is a zip that cannot be unpacked.
    #[error("cannot unpack the archive from `{address}`")]
    Zip {
        /// The address.
        address: RedactedUrl,
        /// Why not.
        source: PackageError,
    },
    /// The archive is a tar that cannot be unpacked.
    #[error("cannot unpack the archive from `{address}`")]
    Tar {
        /// The address.
        address: RedactedUrl,
        /// Why not.
        source: TarError,
    },
    /// The subdirectory that the source names is not in the package.
    #[error("`{address}` has no directory `{subdirectory}`")]
    NoSubdirectory {
        /// The package.
        address: RedactedUrl,
        /// As written.
        subdirectory: String,
    },
    /// A pattern for the subdirectory that several directories match.
    #[error("`{address}` has {found} directories that match `{subdirectory}`, and one is needed")]
    AmbiguousSubdirectory {
        /// The package.
        address: RedactedUrl,
        /// As written.
        subdirectory: String,
        /// How many match.
        found: usize,
    },
    /// Something in the package leads out of it.
    #[error("`{path}` in `{address}` leads out of the module package")]
    Escapes {
        /// The package.
        address: RedactedUrl,
        /// The path in it.
        path: String,
    },
    /// The system refuses to hold the package.
    #[error("cannot keep the module in `{}`", path.display())]
    Disk {
        /// The file or directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The run is told to use no network.
    #[error("the network is switched off by `--offline`, and `{address}` is not on this machine")]
    Offline {
        /// The address.
        address: RedactedUrl,
    },
}

/// Why a tar archive cannot be unpacked.
#[derive(Debug, thiserror::Error)]
pub enum TarError {
    /// It is no tar, or no gzip, or breaks off.
    #[error("it cannot be read")]
    Read(#[source] io::Error),
    /// An entry's name leads out of the archive, or cannot be that of a file.
    #[error(transparent)]
    Entry(PackageError),
    /// A name of more bytes than [`MAX_PATH_BYTES`](crate::package::MAX_PATH_BYTES) allows.
    #[error("it has an entry whose name is too long")]
    NameTooLong,
    /// It has no entries.
    #[error("it is empty")]
    Empty,
    /// More entries than [`MAX_ENTRIES`](crate::package::MAX_ENTRIES).
    #[error("it has more than {limit} entries, the most that are unpacked")]
    TooManyEntries {
        /// The limit.
        limit: usize,
    },
    /// More content than any module has, or than its size accounts for.
    #[error("it unpacks to more than {limit} bytes, the most that are accepted for its size")]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// A file cannot be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

fn wanted(constraints: Option<&ModuleVersionConstraints>) -> String {
    constraints.map_or_else(
        || "a call without `version`".to_owned(),
        |constraints| format!("`{constraints}`"),
    )
}

impl From<RegistryError> for ModuleError {
    fn from(error: RegistryError) -> Self {
        Self::Registry(Arc::new(error))
    }
}

impl Explain for ModuleError {
    fn code(&self) -> &'static str {
        "module-unavailable"
    }

    fn place(&self) -> Option<&crate::span::Place> {
        match self {
            Self::Registry(error) => error.place(),
            _ => None,
        }
    }

    fn hint(&self) -> Option<String> {
        const INSTALL: &str = "run `init` or `get` in this directory first, so that the module is found in `.terraform`";
        const INSTALL_TRUSTED: &str = "if you trust the module, run `init` or `get` in this directory first, so that it is found in `.terraform`";
        let hint = match self {
            Self::Registry(error) => return error.hint(),
            Self::HostNotAllowed { host } => {
                return Some(format!(
                    "if this host may be trusted, allow it with `--allow-host {host}`, beside every other host that is needed"
                ));
            }
            Self::Unsupported { .. } => INSTALL,
            Self::RepositoryTooLarge { .. }
            | Self::TooManyEntries { .. }
            | Self::TooManySubmodules { .. }
            | Self::GitOutput { .. }
            | Self::GitMemory { .. }
            | Self::GitTimeout { .. } => INSTALL_TRUSTED,
            Self::NoVersion { newest, .. } => {
                let newest = newest.as_ref()?;
                return Some(format!("the newest release is {newest}"));
            }
            Self::Protocol { .. } => "write the address with `https://` or `ssh://`",
            Self::PlainHttp { .. } => {
                "use https, or add `checksum=sha256:...` to the query of the source"
            }
            Self::RunGit { .. } => {
                "modules from repositories need the `git` program; without it, run `init` or `get` first"
            }
            Self::Git { .. } => {
                "git is run without prompts: is access to this repository set up for this user, by a key or a credential helper?"
            }
            Self::NoRedirect { .. } => {
                "name the form of the archive with `?archive=zip`, or write `git::` in front of the address of a repository"
            }
            Self::Checksum { .. } => {
                "either the archive was replaced, or something on the way to it rewrites downloads"
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }
}
