//! Attacks through the content of a repository, such as a stranger's pull request in continuous integration. Each topic
//! has its own file. `docs/security.md` describes the threat model.

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
#[cfg(unix)]
mod units;
mod untrusted;
