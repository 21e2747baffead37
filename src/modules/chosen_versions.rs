//! Records the versions of registry modules that a root module used when its lock file was last correct.
//!
//! A call with a version range can later resolve to a newer version, which can change the lock file without a commit. `init` records
//! the versions in a manifest; without `init`, as in CI, tflock records them in the disk cache. Each root module that calls registry
//! modules has one record per engine. The records are used only for reports.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::cache::CacheKey;
use crate::config::{ChosenModule, MovedModule};
use crate::provider::Engine;

use super::Fetcher;
use super::module_store::key;

/// The age at which an unchanged record is written again. The cache keeps a record three times as long (`module_store`), so the
/// record of a root module that is processed once a month never expires.
const RENEWED_AFTER: Duration = Duration::from_secs(30 * 24 * 60 * 60);

#[derive(Deserialize, Serialize)]
struct ChosenVersions {
    /// When the record was written, in seconds since 1970.
    written: u64,
    /// The source and version of each module call.
    modules: BTreeMap<String, (String, String)>,
}

impl ChosenVersions {
    fn new(chosen: &BTreeMap<String, ChosenModule>, now: SystemTime) -> Self {
        let modules = chosen.iter().map(|(call, module)| {
            let ChosenModule { source, version } = module.clone();
            (call.clone(), (source, version))
        });
        Self {
            written: seconds(now),
            modules: modules.collect(),
        }
    }

    /// Whether this record has the same modules as `other` and is recent enough that it need not be written again.
    fn is_current(&self, other: &Self) -> bool {
        let age = other.written.checked_sub(self.written);
        self.modules == other.modules && age.is_some_and(|age| age < RENEWED_AFTER.as_secs())
    }
}

impl Fetcher {
    /// Finds the modules in `chosen` that had a different version when the lock file of the root module was last correct. `real` is
    /// the directory of the root module, a path without symlinks.
    pub fn moved_modules(
        &self,
        real: &Path,
        engine: Engine,
        chosen: &BTreeMap<String, ChosenModule>,
    ) -> Vec<MovedModule> {
        let Some(record) = self.chosen_versions(real, engine) else {
            return Vec::new();
        };
        let moved = |(call, now): (&String, &ChosenModule)| {
            let (source, version) = record.modules.get(call)?;
            (*source == now.source && *version != now.version).then(|| MovedModule {
                call: call.clone(),
                from: version.clone(),
                to: now.version.clone(),
            })
        };
        chosen.iter().filter_map(moved).collect()
    }

    /// Records the versions of the modules in `chosen`. Call this after the lock file of the root module was found to be correct. `real` is
    /// the directory of the root module, a path without symlinks.
    pub fn record_chosen_versions(
        &self,
        real: &Path,
        engine: Engine,
        chosen: &BTreeMap<String, ChosenModule>,
        now: SystemTime,
    ) {
        let record = ChosenVersions::new(chosen, now);
        let known = self.chosen_versions(real, engine);
        if known.is_some_and(|known| known.is_current(&record)) {
            return;
        }
        // This cannot fail, because strings and numbers can always be serialized.
        if let Ok(text) = serde_json::to_string(&record) {
            self.store.write(&record_key(real, engine), &text);
        }
    }

    /// Reads the record of a root module. `None` if it is missing or damaged.
    fn chosen_versions(&self, real: &Path, engine: Engine) -> Option<ChosenVersions> {
        let text = self.store.text(&record_key(real, engine))?;
        serde_json::from_str(&text).ok()
    }
}

fn record_key(real: &Path, engine: Engine) -> CacheKey {
    let path = real.to_string_lossy();
    key(&["chosen", engine.program(), &path])
}

fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(version: &str, days: u64) -> ChosenVersions {
        let (source, version) = ("acme/vpc/aws".to_owned(), version.to_owned());
        let chosen = [("vpc".to_owned(), ChosenModule { source, version })];
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(days * 24 * 60 * 60);
        ChosenVersions::new(&chosen.into(), now)
    }

    #[test]
    fn a_record_is_written_again_if_it_changed_or_is_old() {
        let known = record("3.1.0", 1_000);
        for (version, days, is_current) in [
            ("3.1.0", 1_000, true),
            ("3.1.0", 1_029, true),
            ("3.1.0", 1_030, false),
            ("3.2.0", 1_000, false),
            // The clock was set back since the record was written.
            ("3.1.0", 999, false),
        ] {
            let new = record(version, days);
            assert_eq!(known.is_current(&new), is_current, "{version} {days}");
        }
    }
}
