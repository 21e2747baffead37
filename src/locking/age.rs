//! How long a version has been out: `--min-age`.
//!
//! A version that somebody slipped into a registry is usually found within days. Who waits that long before an upgrade needs
//! a date that the registry cannot choose: the one inside the signature over the checksum list. Where nothing is signed, the
//! `Last-Modified` of the list stands in for it. A version of which neither is known is not taken.

use std::fmt;
use std::time::{Duration, SystemTime};

use crate::provider::{Engine, Platform, ProviderAddr, Version, newest};
use crate::registry::{AvailableVersions, Located, PackageMeta};

use super::error::LockingProblem;
use super::note::Note;
use super::packages::{Packages, SHASUMS_LIMIT};
use super::work::Work;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// As many versions are looked at for one that is old enough: a year of daily releases. Each costs three requests.
const MAX_LOOKED_AT: usize = 366;

/// When the checksum list of a version was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dated {
    /// By its signature, or by its server.
    At(SystemTime),
    /// Nobody says.
    Unknown(Undated),
}

/// Why it is not known when a version was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undated {
    /// It comes from a mirror.
    Mirror,
    /// There is no package for any asked platform, or its registry does not answer.
    Package,
    /// The checksum list or its signature cannot be had.
    List,
    /// The signature does not hold.
    Signature,
    /// Nobody signed, and the server gives no date.
    Silence,
}

impl fmt::Display for Undated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mirror => "mirrors have no signed list",
            Self::Package => "no package for an asked platform can be looked at",
            Self::List => "its checksum list cannot be had",
            Self::Signature => "the signature over its checksum list does not hold",
            Self::Silence => "its checksum list is not signed, and its server gives no date",
        })
    }
}

/// The newest version that is old enough, and which ones are not.
pub(super) struct Settled {
    pub(super) version: Version,
    pub(super) notes: Vec<Note>,
}

impl Work<'_> {
    /// The newest version that fits and has been out for `least`, or the locked one if that comes first: nothing is ever
    /// moved back. `None` where nothing fits at all.
    pub(super) async fn settled(
        &self,
        listed: &AvailableVersions,
        least: Duration,
    ) -> Result<Option<Settled>, Box<LockingProblem>> {
        let (mut young, mut notes) = (Vec::new(), Vec::new());
        let constraints = &self.requirement.constraints;
        let locked = self.old.map(|lock| &lock.version);
        let mut left_out: Vec<&Version> = Vec::new();
        while left_out.len() < MAX_LOOKED_AT {
            let others = listed
                .versions()
                .filter(|version| !left_out.contains(version));
            let Some(candidate) = newest(others, constraints) else {
                break;
            };
            if locked != Some(candidate) {
                let platforms = &self.policy.platforms;
                let dated = self
                    .packages
                    .dated(self.engine, self.address, candidate, platforms);
                match dated.await {
                    Dated::At(date) if self.packages.age(date) < least => {
                        young.push(candidate.clone());
                        left_out.push(candidate);
                        continue;
                    }
                    Dated::At(_) => {}
                    Dated::Unknown(why) => {
                        notes.push(Note::AgeUnknown {
                            address: self.address.clone(),
                            version: candidate.clone(),
                            why,
                        });
                        left_out.push(candidate);
                        continue;
                    }
                }
            }
            if !young.is_empty() {
                notes.push(Note::Young {
                    address: self.address.clone(),
                    versions: young,
                    days: days(least),
                });
            }
            return Ok(Some(Settled {
                version: candidate.clone(),
                notes,
            }));
        }
        match left_out.first() {
            None => Ok(None),
            Some(newest) => Err(Box::new(LockingProblem::NothingSettled {
                newest: (*newest).clone(),
                days: days(least),
            })),
        }
    }
}

/// Whole days.
fn days(age: Duration) -> u64 {
    age.as_secs() / DAY.as_secs()
}

impl Packages {
    /// How long ago a moment was; none for one that is still to come.
    fn age(&self, date: SystemTime) -> Duration {
        self.now().duration_since(date).unwrap_or_default()
    }

    /// When the checksum list of a version was made, by the first of these platforms that it has a package for.
    async fn dated(
        &self,
        engine: Engine,
        address: &ProviderAddr,
        version: &Version,
        platforms: &[Platform],
    ) -> Dated {
        let key = (engine, address.clone(), version.clone(), platforms.to_vec());
        let job = || async move {
            let source = &self.source(engine).packages;
            for platform in platforms {
                match source.locate(address, version, platform).await {
                    Ok(Located::Registry(meta)) => {
                        let date = self.date_of_list(engine, &meta).await;
                        return date.map_or_else(Dated::Unknown, Dated::At);
                    }
                    Ok(Located::Mirror(_) | Located::Local(_)) => {
                        return Dated::Unknown(Undated::Mirror);
                    }
                    // What is wrong with a version that is taken all the same is told then.
                    Err(_) => {}
                }
            }
            Dated::Unknown(Undated::Package)
        };
        self.dates.get_or_init(key, job).await
    }

    async fn date_of_list(
        &self,
        engine: Engine,
        meta: &PackageMeta,
    ) -> Result<SystemTime, Undated> {
        let answer = self.answer(engine, meta).await;
        let answer = answer.map_err(|_failure| Undated::List)?;
        let list = self.verifier().verify(engine, &meta.package, &answer);
        let list = list.map_err(|_refusal| Undated::Signature)?;
        if let Some(signer) = list.signer() {
            return Ok(signer.signed_at);
        }
        let client = &self.source(engine).client;
        let modified = client.modified(&meta.shasums_url, SHASUMS_LIMIT).await;
        modified
            .map_err(|_failure| Undated::List)?
            .ok_or(Undated::Silence)
    }
}
