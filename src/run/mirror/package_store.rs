//! The place where `tflock mirror` stores packages: a directory, or the repositories of an OCI registry.

use std::collections::{BTreeMap, BTreeSet};

use super::check::{PackageFault, check};
use super::filler::{MirrorFiller, PackageState};
use super::problem::MirrorProblem;
use super::pusher::MirrorPusher;
use crate::locking::SignerRules;
use crate::mirror::{MirrorDirectory, MirrorError};
use crate::provider::{Engine, Hash, PackageId};

pub(super) enum PackageStore {
    Directory {
        directory: MirrorDirectory,
        /// `None` with `--check`.
        filler: Option<MirrorFiller>,
    },
    Registry(MirrorPusher),
}

impl PackageStore {
    /// Stores a package or, with `--check`, checks it. `Some` is a fault that `--check` found.
    pub(super) async fn provide_or_check(
        &self,
        engine: Engine,
        id: &PackageId,
        locked: &BTreeSet<Hash>,
        signers: &SignerRules,
    ) -> Result<Option<PackageFault>, MirrorProblem> {
        match self {
            Self::Registry(pusher) => pusher.provide_or_check(engine, id, locked, signers).await,
            Self::Directory {
                filler: Some(filler),
                ..
            } => {
                let provided = filler.provide(engine, id, locked, signers).await;
                provided.map(|()| None)
            }
            Self::Directory { directory, .. } => {
                let (directory, id, locked) = (directory.clone(), id.clone(), locked.clone());
                let checked =
                    tokio::task::spawn_blocking(move || check(&directory, &id, &locked)).await;
                // Joining fails if the task panicked or the runtime is shutting down.
                Ok(checked.unwrap_or(Err(MirrorError::Interrupted))?)
            }
        }
    }

    /// Whether only OpenTofu can install providers from the mirror.
    pub(super) const fn is_only_for_tofu(&self) -> bool {
        matches!(self, Self::Registry(_))
    }

    /// Returns the filler of a directory. `None` for a registry, and with `--check`.
    pub(super) const fn filler(&self) -> Option<&MirrorFiller> {
        match self {
            Self::Directory { filler, .. } => filler.as_ref(),
            Self::Registry(_) => None,
        }
    }

    /// Returns how each package got into the mirror.
    pub(super) fn states(&self) -> BTreeMap<PackageId, PackageState> {
        match self {
            Self::Directory { filler, .. } => {
                let states = filler.as_ref().map(MirrorFiller::states);
                states.unwrap_or_default()
            }
            Self::Registry(pusher) => pusher.states(),
        }
    }
}
