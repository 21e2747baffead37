//! Modules that test files run. See section 7 of docs/rules/config.md.

use std::sync::Arc;

use crate::config::{
    CallProblem, Evaluation, ModuleSource, ProviderBlock, Tests, call_target, test_files,
};
use crate::provider::Requirements;

use super::{CallSite, ModuleNode, Stopped, TreeReader};

impl TreeReader<'_> {
    pub(super) fn follow_test_runs(&mut self, root: &ModuleNode<'_>) {
        let Tests::Read { directory } = &self.options.tests else {
            return;
        };
        let tests = test_files::read(&root.location.directory(), directory, self.options.engine);
        self.root_module.warnings.extend(tests.warnings);
        self.errors.extend(tests.errors.into_iter().map(Arc::new));
        self.require_test_providers(&tests.providers, root);
        let caller = ModuleNode {
            instance: root.instance,
            location: root.location.clone(),
            key: String::new(),
            // A test may run the root module itself, which is not recursion.
            path_from_root: Vec::new(),
            evaluation: Evaluation::Literal,
        };
        for run in tests.runs {
            let site = CallSite {
                call: &run.call,
                key: run.key,
                caller: &caller,
            };
            // If the run is not followed, the error has already been recorded.
            let _ = self.follow_run(&site);
        }
    }

    fn follow_run(&mut self, site: &CallSite<'_>) -> Result<(), Stopped> {
        self.count_call(site)?;
        let caller = site.caller;
        let target = call_target::resolve(caller.instance, site.call, caller.evaluation)
            .map_err(|error| self.fail(error))?;
        if let ModuleSource::Remote(_) = target.source {
            let problem = CallProblem::RemoteRunModule(target.source.shown());
            return Err(self.fail(site.error(problem)));
        }
        let location = self.locate(site, &target)?;
        if matches!(target.source, ModuleSource::Local(_)) {
            self.add_local_module(&location);
        }
        let path = location.shown.to_string_lossy().into_owned();
        self.enter(site, location, path)?;
        Ok(())
    }

    /// Adds the requirements of `provider` blocks in test files, which only OpenTofu takes into account. Their local names refer
    /// to the providers of the root module.
    fn require_test_providers(&mut self, blocks: &[ProviderBlock], root: &ModuleNode<'_>) {
        let mut requirements = Requirements::default();
        for block in blocks {
            let module = root.instance.module;
            match module.address_of(&block.name, &block.range, self.options.engine) {
                Ok(address) => {
                    let version = block.version.clone().unwrap_or_default();
                    requirements.require(address, &version, Some(block.range.place()));
                }
                Err(error) => self.errors.push(Arc::new(error)),
            }
        }
        self.require(&requirements);
    }
}
