//! Attacks by the content of a repository: what a stranger's pull request can try where tflock runs in continuous
//! integration, one file per topic. The threat model is in `docs/security.md`.

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
