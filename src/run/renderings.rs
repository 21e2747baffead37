//! Renders each distinct lock only once, because most lock files in a monorepo are identical.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::lockfile::Locks;
use crate::parallel::lock;
use crate::provider::Engine;

/// The maximum total size of the remembered files, in bytes. If all lock files differ, remembering them gains nothing.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The lock files rendered so far, shared by all threads.
#[derive(Default)]
pub(super) struct Renderings {
    known: Mutex<RenderedLocks>,
}

#[derive(Default)]
struct RenderedLocks {
    contents: HashMap<Engine, HashMap<Locks, Arc<[u8]>>>,
    size: usize,
}

impl Renderings {
    /// Returns the content of a lock file with `locks`, as `engine` writes it.
    pub(super) fn render(&self, locks: &Locks, engine: Engine) -> Arc<[u8]> {
        let known = lock(&self.known);
        if let Some(bytes) = known
            .contents
            .get(&engine)
            .and_then(|by_locks| by_locks.get(locks))
        {
            return Arc::clone(bytes);
        }
        // The mutex is not held during rendering, so two threads may render the same lock. That is harmless.
        drop(known);
        let bytes: Arc<[u8]> = locks.render(engine).into_bytes().into();
        let mut known = lock(&self.known);
        if known.size + bytes.len() <= MAX_BYTES {
            known.size += bytes.len();
            let by_locks = known.contents.entry(engine).or_default();
            by_locks.insert(locks.clone(), Arc::clone(&bytes));
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::lockfile;

    #[test]
    fn identical_locks_are_rendered_once_for_each_engine() {
        let renderings = Renderings::default();
        let locks = |version: &str| {
            let text = format!("provider \"example.com/a/b\" {{\n  version = \"{version}\"\n}}\n");
            let read = lockfile::parse(Path::new("l"), text.as_bytes(), Engine::Terraform);
            read.unwrap().locks
        };
        let first = renderings.render(&locks("1.0.0"), Engine::Terraform);
        assert_eq!(*first, *locks("1.0.0").render(Engine::Terraform).as_bytes());
        let again = renderings.render(&locks("1.0.0"), Engine::Terraform);
        assert!(Arc::ptr_eq(&first, &again));
        for (version, engine) in [("2.0.0", Engine::Terraform), ("1.0.0", Engine::Tofu)] {
            let other = renderings.render(&locks(version), engine);
            assert_eq!(*other, *locks(version).render(engine).as_bytes());
            assert_ne!(other, first);
        }
    }
}
