//! Modules that test files run. docs/rules/config.md 7.

use std::sync::Arc;

use crate::provider::Requirements;

use super::super::call_target::{self, Evaluation, Unresolved};
use super::super::error::ConfigError;
use super::super::module::Module;
use super::super::options::{ReadOptions, Tests};
use super::super::provider_blocks::ProviderBlock;
use super::super::source::ModuleSource;
use super::super::statics::{Environment, Instance};
use super::super::test_files::{self, RunModule};
use super::{Entered, Node, Stopped, TreeReader};

impl TreeReader<'_> {
    /// Modules that test files run.
    pub(super) fn tests(
        &mut self,
        instance: &Instance<'_>,
        root: &Node,
        environment: &Environment<'_>,
    ) {
        let Tests::Read { directory } = &self.options.tests else {
            return;
        };
        let found = test_files::read(&root.location.shown, directory, self.options.engine);
        self.found.warnings.extend(found.warnings);
        self.errors.extend(found.errors.into_iter().map(Arc::new));
        let required = provider_requirements(
            &found.providers,
            instance.module,
            self.options,
            &mut self.errors,
        );
        self.require(&required);
        for run in &found.runs {
            // Why it stopped is noted where it did.
            let _ = self.run_module(run, instance, root, environment);
        }
    }

    fn run_module(
        &mut self,
        run: &RunModule,
        instance: &Instance<'_>,
        root: &Node,
        environment: &Environment<'_>,
    ) -> Result<bool, Stopped> {
        self.count_call(&run.call, root, environment)?;
        let target = match call_target::resolve(instance, &run.call, Evaluation::Literal) {
            Ok(target) => target,
            Err(Unresolved::Error(error) | Unresolved::Unsupported(error)) => {
                return Err(self.fail(error));
            }
        };
        if let ModuleSource::Remote(_) = target.source {
            let source_text = target.source.shown();
            let place = Box::new(run.call.spot.place());
            return Err(self.fail(ConfigError::RemoteRunModule { source_text, place }));
        }
        let location = self.locate(
            &target,
            &run.key,
            &run.call.name,
            &run.call.spot,
            &root.location,
            environment,
        )?;
        if matches!(target.source, ModuleSource::Local(_)) {
            self.found.local_modules.insert(location.real.clone());
        }
        let path = location.shown.to_string_lossy().into_owned();
        let node = Node {
            location: root.location.clone(),
            key: String::new(),
            // The root itself may be run: it is not a call of its own.
            above: Vec::new(),
            evaluation: Evaluation::Literal,
        };
        self.enter(
            instance,
            &run.call,
            &node,
            environment,
            Entered {
                location,
                key: run.key.clone(),
                path,
            },
        )
    }
}

/// OpenTofu counts `provider` blocks of test files, whose names mean what they mean in the root module.
fn provider_requirements(
    blocks: &[ProviderBlock],
    module: &Module,
    options: &ReadOptions,
    errors: &mut Vec<Arc<ConfigError>>,
) -> Requirements {
    let mut requirements = Requirements::default();
    for block in blocks {
        match module.address_of(&block.name, &block.spot, options.engine) {
            Ok(address) => {
                let version = block.version.clone().unwrap_or_default();
                requirements.require(address, &version, Some(block.spot.place()));
            }
            Err(error) => errors.push(Arc::new(error)),
        }
    }
    requirements
}
