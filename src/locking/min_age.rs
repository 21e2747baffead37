//! The `--min-age` option: how long a version must have been published before tflock upgrades to it.
//!
//! A malicious version in a registry is usually discovered within days. Waiting that long requires a date that the registry
//! cannot choose: the one inside the signature over the checksum list. If the list is unsigned, its `Last-Modified` header is
//! used. A version with neither date is skipped.

use std::time::{Duration, SystemTime};

use crate::provider::{Engine, Version, newest};
use crate::registry::{AvailableVersions, PackageLocation, PackageMeta};

use super::error::LockingProblem;
use super::note::Note;
use super::packages::{Packages, SHASUMS_LIMIT, VersionQuery};
use super::provider_task::ProviderTask;

const SECONDS_PER_DAY: u64 = 24 * 60 * 60;

/// The maximum number of versions to check: a year of daily releases. Each check takes three requests.
const MAX_CHECKED: usize = 366;

/// The reason why the publication date of a version is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undated {
    #[error("mirrors have no signed checksum list")]
    Mirror,
    /// Also the reason if the registry does not answer.
    #[error("there is no package for any requested platform")]
    Package,
    /// The checksum list or its signature cannot be downloaded.
    #[error("its checksum list cannot be downloaded")]
    List,
    #[error("the signature over its checksum list is invalid")]
    Signature,
    #[error("its checksum list is not signed, and the server of the list sends no date")]
    NoDate,
}

/// The newest version that is old enough, with notes about the newer ones that were skipped.
pub(super) struct OldEnoughVersion {
    pub(super) version: Version,
    pub(super) notes: Vec<Note>,
}

impl ProviderTask<'_> {
    /// Returns the newest version that satisfies the constraints and was published at least `min_age` ago, or the locked
    /// version if it is newer: `--min-age` never causes a downgrade. Returns `None` if no version satisfies the constraints.
    pub(super) async fn newest_old_enough(
        &self,
        listed: &AvailableVersions,
        min_age: Duration,
    ) -> Result<Option<OldEnoughVersion>, Box<LockingProblem>> {
        let days = min_age.as_secs() / SECONDS_PER_DAY;
        let locked = self.old.map(|lock| &lock.version);
        let (mut young, mut notes) = (Vec::new(), Vec::new());
        let mut skipped: Vec<&Version> = Vec::new();
        while skipped.len() < MAX_CHECKED {
            let others = listed
                .versions()
                .filter(|version| !skipped.contains(version));
            let Some(candidate) = newest(others, &self.requirement.constraints) else {
                break;
            };
            if locked != Some(candidate) {
                match self.age(candidate).await {
                    Ok(age) if age < min_age => {
                        young.push(candidate.clone());
                        skipped.push(candidate);
                        continue;
                    }
                    Ok(_) => {}
                    Err(why) => {
                        notes.push(Note::AgeUnknown {
                            address: self.address.clone(),
                            version: candidate.clone(),
                            why,
                        });
                        skipped.push(candidate);
                        continue;
                    }
                }
            }
            if !young.is_empty() {
                notes.push(Note::Young {
                    address: self.address.clone(),
                    versions: young,
                    days,
                });
            }
            let version = candidate.clone();
            return Ok(Some(OldEnoughVersion { version, notes }));
        }
        match skipped.first() {
            None => Ok(None),
            Some(newest) => Err(Box::new(LockingProblem::NothingOldEnough {
                newest: (*newest).clone(),
                days,
            })),
        }
    }

    async fn age(&self, version: &Version) -> Result<Duration, Undated> {
        let query = self.version_query(version, &self.policy.platforms);
        let date = self.packages.list_date(query).await?;
        // A list that was signed after the start of the run has the age zero.
        let started = self.packages.started;
        Ok(started.duration_since(date).unwrap_or_default())
    }
}

impl Packages {
    /// Returns when the checksum list of a version was signed or, if it is unsigned, last modified. Uses the list of the first
    /// platform that has a package.
    async fn list_date(&self, query: VersionQuery<'_>) -> Result<SystemTime, Undated> {
        let job = || async move {
            let source = &self.source(query.engine).packages;
            for platform in query.platforms {
                match source.locate(&query.package(platform)).await {
                    Ok(PackageLocation::Registry(meta)) => {
                        return self.date_of_list(query.engine, &meta).await;
                    }
                    Ok(
                        PackageLocation::Mirror(_)
                        | PackageLocation::Oci(_)
                        | PackageLocation::Local(_),
                    ) => {
                        return Err(Undated::Mirror);
                    }
                    // Ignored, because fetching the package fails with the same error if the version is selected anyway.
                    Err(_) => {}
                }
            }
            Err(Undated::Package)
        };
        self.memo.list_dates.get_or_init(query.key(), job).await
    }

    async fn date_of_list(
        &self,
        engine: Engine,
        meta: &PackageMeta,
    ) -> Result<SystemTime, Undated> {
        let answer = self.request_answer(engine, meta).await;
        let answer = answer.map_err(|_failure| Undated::List)?;
        let list = self.verifier.verify(engine, &meta.package, &answer);
        let list = list.map_err(|_refusal| Undated::Signature)?;
        if let Some(signer) = list.signer() {
            return Ok(signer.signed_at);
        }
        let client = &self.source(engine).client;
        let modified = client.modified(&meta.shasums_url, SHASUMS_LIMIT).await;
        modified
            .map_err(|_failure| Undated::List)?
            .ok_or(Undated::NoDate)
    }
}
