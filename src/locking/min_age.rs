//! `--min-age`: how long a version must have been published before it is an upgrade.
//!
//! A malicious version in a registry is usually discovered within days. To wait that long, tflock needs a date that the
//! registry cannot choose: the one inside the signature over the checksum list. If nothing is signed, the `Last-Modified`
//! header of the list is used. A version for which neither is known is skipped.

use std::fmt;
use std::time::Duration;

use crate::provider::{Version, newest};
use crate::registry::AvailableVersions;

use super::error::LockingProblem;
use super::note::Note;
use super::provider_task::ProviderTask;

const SECONDS_PER_DAY: u64 = 24 * 60 * 60;

/// How many versions are checked before the search ends: a year of daily releases. Each costs three requests.
const MAX_CHECKED: usize = 366;

/// Why the date of publication of a version is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undated {
    /// The version comes from a mirror.
    Mirror,
    /// There is no package for a requested platform, or the registry does not answer.
    Package,
    /// The checksum list or its signature cannot be downloaded.
    List,
    /// The signature is invalid.
    Signature,
    /// The list is unsigned, and the server sends no date.
    NoDate,
}

impl fmt::Display for Undated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mirror => "mirrors have no signed list",
            Self::Package => "there is no package for a requested platform",
            Self::List => "its checksum list cannot be downloaded",
            Self::Signature => "the signature over its checksum list is invalid",
            Self::NoDate => "its checksum list is not signed, and its server sends no date",
        })
    }
}

/// The newest version that is old enough, with notes about the newer ones that were skipped.
pub(super) struct OldEnoughVersion {
    pub(super) version: Version,
    pub(super) notes: Vec<Note>,
}

impl ProviderTask<'_> {
    /// The newest version that satisfies the constraints and has been published for `min_age`, or the locked version if it is
    /// newer: `--min-age` never moves a version back. `None` if no version satisfies the constraints.
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
        let platforms = &self.policy.platforms;
        let date = self
            .packages
            .list_date(self.engine, self.address, version, platforms)
            .await?;
        Ok(self.packages.age(date))
    }
}
