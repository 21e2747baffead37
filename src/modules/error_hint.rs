//! The hints of errors of remote modules.

use crate::code::Code;
use crate::git::GitProblem;
use crate::mercurial::HgProblem;
use crate::provider::ModuleVersionConstraints;
use crate::span::{Explain, Place};

use super::{ModuleError, ModuleLimit, ObjectFault, VersionControl};

const INSTALL: &str =
    "run `init` or `get` in this directory first, so that the module is in `.terraform`";

const INSTALL_TRUSTED: &str = "if you trust the module, run `init` or `get` in this directory first, so that it is in `.terraform`";

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
        match self {
            Self::Registry(error) => error.hint(),
            Self::HostNotAllowed(host) => Some(format!(
                "if you trust this host, add `--allow-host {host}`, and also name every other host that the run requires"
            )),
            Self::NoVersion {
                constraints,
                newest,
                ..
            } => version_hint(constraints.as_ref(), newest.as_deref()),
            Self::Submodule { source, .. } => source.submodule_hint(),
            Self::Bucket { source, .. } => source.hint(),
            Self::ObjectRefused { fault, .. } => Some(fault.hint()),
            Self::Limit { limit, .. } => limit.hint().map(str::to_owned),
            error => {
                let hint = error.repository_hint().or_else(|| error.content_hint());
                hint.map(str::to_owned)
            }
        }
    }
}

impl ModuleError {
    /// Returns the hint for an error of a submodule.
    fn submodule_hint(&self) -> Option<String> {
        match self {
            Self::Git {
                problem: Some(GitProblem::UnknownReference),
                ..
            }
            | Self::Mercurial {
                problem: Some(HgProblem::UnknownRevision),
                ..
            } => Some(
                "push the commit to the repository of the submodule, or update the submodule to a commit that was pushed"
                    .to_owned(),
            ),
            error => error.hint(),
        }
    }

    /// Returns the hint for an error of a repository or its program.
    fn repository_hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Protocol { .. } => "write the address with `https://` or `ssh://`",
            Self::RunProgram {
                program: VersionControl::Git,
                ..
            } => {
                "install git, which modules in git repositories require, or run `init` or `get` of Terraform or OpenTofu first"
            }
            Self::RunProgram {
                program: VersionControl::Mercurial,
                ..
            } => {
                "install Mercurial, which sources that start with `hg::` require, or run `init` or `get` of Terraform or OpenTofu first"
            }
            Self::RepositoryTimeout { .. } => INSTALL_TRUSTED,
            Self::Git { problem, .. } => return problem.and_then(GitProblem::hint),
            Self::Mercurial { problem, .. } => return problem.map(HgProblem::hint),
            Self::OldMercurial { .. } => "install Mercurial 5.3 or later",
            Self::Subrepositories(_) => INSTALL,
            Self::NoSubmoduleAddress { .. } => {
                "add the submodule to `.gitmodules`, or remove it from the repository with `git rm --cached`"
            }
            Self::ShallowRepository { .. } => "run `git fetch --unshallow` in that repository",
            Self::EmptyRepository(_) => "push a commit, or correct the address",
            _ => return None,
        })
    }

    /// Returns the hint for an error of an archive, a bucket or an address.
    fn content_hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Unsupported(_) => INSTALL,
            Self::PlainHttp(_) => {
                "use https, or add `checksum=sha256:...` to the query of the source"
            }
            Self::NoRedirect(_) => {
                "specify the archive format with `?archive=zip`, or write `git::` before the address of a repository"
            }
            Self::NoObjects(_) => {
                "name a directory that contains objects; for an archive with another ending, specify its format, as in `?archive=zip`"
            }
            Self::NoOciArtifact(_) => {
                "push the module with this tag or digest, or name another one: without `tag` and `digest`, the tag is `latest`"
            }
            Self::OciWithTerraform(_) => {
                "if OpenTofu runs this configuration, pass `--engine tofu` or add an `.opentofu-version` file"
            }
            Self::NoChecksum(_) => {
                "write a line with the checksum and the name of the archive, as `sha256sum` prints it"
            }
            Self::Checksum { .. } => {
                "check whether the archive was replaced or a proxy rewrites downloads"
            }
            _ => return None,
        })
    }
}

impl ModuleLimit {
    fn hint(self) -> Option<&'static str> {
        match self {
            Self::ArchiveBytes(_)
            | Self::ChecksumListBytes(_)
            | Self::Objects(_)
            | Self::ObjectBytes(_)
            | Self::ObjectListBytes(_)
            | Self::Redirects(_) => None,
            Self::RepositoryBytes(_)
            | Self::RepositoryEntries(_)
            | Self::Submodules(_)
            | Self::ProgramOutputBytes(..)
            | Self::ProgramMemoryBytes(..) => Some(INSTALL_TRUSTED),
        }
    }
}

impl ObjectFault {
    fn hint(&self) -> String {
        match self {
            Self::Region => {
                "name the region of the bucket in the address, as in `s3-eu-west-1.amazonaws.com`"
                    .to_owned()
            }
            Self::Permission => {
                "check that the bucket and the object exist, and that your credentials allow reading and listing them"
                    .to_owned()
            }
            Self::Anonymous(origin) => format!(
                "if you trust this server, set `AWS_ENDPOINT_URL_S3={origin}`: only AWS and the endpoint in this variable get your credentials"
            ),
        }
    }
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
