//! Which versions of registry modules a root module had when its lock was last right.
//!
//! A call that leaves a choice may mean another version tomorrow, and then a lock changes without any commit. `init` leaves a
//! manifest that remembers; where nobody runs it, as in CI, the disk cache does. One small file for each root module that
//! calls such a module, under its directory and engine. Nothing but the report depends on it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::cache::{Key, Kind};
use crate::config::{ChosenModule, MovedModule};
use crate::provider::Engine;

use super::fetcher::Fetcher;

/// After so long a record is written anew although it is still right. It is kept three times as long (`kept`), so a root
/// module that is looked at once a month is never forgotten.
const RENEWED_AFTER: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// What is remembered of a root module.
#[derive(Deserialize, Serialize)]
struct Record {
    /// When it was written, in seconds since 1970.
    written: u64,
    /// Source and version of each call.
    modules: BTreeMap<String, (String, String)>,
}

impl Record {
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

    /// Whether this says what `other` says, and is not about to be forgotten.
    fn serves_as(&self, other: &Self) -> bool {
        let age = other.written.checked_sub(self.written);
        self.modules == other.modules && age.is_some_and(|age| age < RENEWED_AFTER.as_secs())
    }
}

impl Fetcher {
    /// Which of the modules `chosen` for the root module in `real`, a path without links, had another version when its lock
    /// was last right.
    pub fn moved_since(
        &self,
        real: &Path,
        engine: Engine,
        chosen: &BTreeMap<String, ChosenModule>,
    ) -> Vec<MovedModule> {
        let Some(record) = self.recall(real, engine) else {
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

    /// Remembers what was chosen: the lock of the root module in `real` is right with it.
    pub fn remember(
        &self,
        real: &Path,
        engine: Engine,
        chosen: &BTreeMap<String, ChosenModule>,
        now: SystemTime,
    ) {
        let record = Record::new(chosen, now);
        let known = self.recall(real, engine);
        if known.is_some_and(|known| known.serves_as(&record)) {
            return;
        }
        // Texts and numbers: nothing that JSON could refuse.
        if let Ok(text) = serde_json::to_string(&record) {
            self.kept.write(&key(real, engine), &text);
        }
    }

    /// What is not what was written is as good as nothing.
    fn recall(&self, real: &Path, engine: Engine) -> Option<Record> {
        let text = self.kept.text(&key(real, engine))?;
        serde_json::from_str(&text).ok()
    }
}

fn key(real: &Path, engine: Engine) -> Key {
    let path = real.to_string_lossy();
    Key::new(Kind::Modules, &["chosen", engine.program(), &path])
}

fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(version: &str, days: u64) -> Record {
        let (source, version) = ("acme/vpc/aws".to_owned(), version.to_owned());
        let chosen = [("vpc".to_owned(), ChosenModule { source, version })];
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(days * 24 * 60 * 60);
        Record::new(&chosen.into(), now)
    }

    #[test]
    fn a_record_is_written_anew_when_it_changed_or_grew_old() {
        let known = record("3.1.0", 1_000);
        for (version, days, serves) in [
            ("3.1.0", 1_000, true),
            ("3.1.0", 1_029, true),
            ("3.1.0", 1_030, false),
            ("3.2.0", 1_000, false),
            // A clock that went back.
            ("3.1.0", 999, false),
        ] {
            let wanted = record(version, days);
            assert_eq!(known.serves_as(&wanted), serves, "{version} {days}");
        }
    }
}
