//! Lock files that are written, each distinct content rendered once: in a monorepo most are the same.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::lockfile::Locks;
use crate::provider::Engine;

/// No more than this is remembered, in bytes of rendered files: where all lock files differ, remembering them gains nothing.
const MOST: usize = 16 * 1024 * 1024;

/// What has been rendered so far. It can be used from several threads at once.
#[derive(Default)]
pub(super) struct Renderings {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    contents: HashMap<Engine, HashMap<Locks, Arc<[u8]>>>,
    size: usize,
}

impl Renderings {
    /// The bytes of a lock file with `locks`, as `engine` writes it.
    pub(super) fn of(&self, locks: &Locks, engine: Engine) -> Arc<[u8]> {
        let known = self.lock();
        if let Some(bytes) = known.contents.get(&engine).and_then(|of| of.get(locks)) {
            return Arc::clone(bytes);
        }
        // Others render meanwhile; that two of them render the same once is no harm.
        drop(known);
        let bytes: Arc<[u8]> = locks.render(engine).into_bytes().into();
        let mut known = self.lock();
        if known.size + bytes.len() <= MOST {
            known.size += bytes.len();
            let of = known.contents.entry(engine).or_default();
            of.insert(locks.clone(), Arc::clone(&bytes));
        }
        bytes
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::lockfile;

    #[test]
    fn equal_locks_are_rendered_once_for_each_engine() {
        let renderings = Renderings::default();
        let locks = |version: &str| {
            let text = format!("provider \"example.com/a/b\" {{\n  version = \"{version}\"\n}}\n");
            let read = lockfile::parse(Path::new("l"), text.as_bytes(), Engine::Terraform);
            read.unwrap().locks
        };
        let first = renderings.of(&locks("1.0.0"), Engine::Terraform);
        assert_eq!(*first, *locks("1.0.0").render(Engine::Terraform).as_bytes());
        let again = renderings.of(&locks("1.0.0"), Engine::Terraform);
        assert!(Arc::ptr_eq(&first, &again));
        for (version, engine) in [("2.0.0", Engine::Terraform), ("1.0.0", Engine::Tofu)] {
            let other = renderings.of(&locks(version), engine);
            assert_eq!(*other, *locks(version).render(engine).as_bytes());
            assert_ne!(other, first);
        }
    }
}
