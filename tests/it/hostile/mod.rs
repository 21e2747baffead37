//! Attacks by the content of a repository, such as a pull request from a stranger in continuous integration. Each topic
//! has one file. `docs/security.md` has the threat model.

mod bombs;
mod canary;
mod evaluation;
#[cfg(unix)]
mod excerpts;
#[cfg(unix)]
mod files;
#[cfg(unix)]
mod git;
#[cfg(unix)]
mod links;
#[cfg(unix)]
mod manifest;
mod network;
mod output;
mod printing;
mod races;
mod signers;
mod untrusted;
