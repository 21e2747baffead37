//! Reads Terraform Stacks. See section 10 of docs/rules/config.md.
//!
//! A stack declares the providers of all its components in its own `required_providers` block. The modules of the components are
//! therefore not read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::access::repository_root;
use crate::provider::{Engine, Requirements};
use crate::syntax::{Block, Body, ExprKind, SourceFile, SourceRange, Strings};

use super::required_providers::{self, RequiredProviders};
use super::{
    BlockProblem, ConfigError, ConfigErrors, ModuleSource, RootModule, clean, module_files,
};

/// Stacks are part of Terraform only.
const ENGINE: Engine = Engine::Terraform;

/// The extensions of stack files. Early versions of Stacks had the last two.
const EXTENSIONS: [&str; 4] = [
    ".tfcomponent.hcl",
    ".tfcomponent.json",
    ".tfstack.hcl",
    ".tfstack.json",
];

/// The maximum depth of embedded stacks. Terraform has the same limit.
const MAX_DEPTH: usize = 20;

pub fn is_stack_file(name: &str) -> bool {
    EXTENSIONS
        .iter()
        .any(|extension| name.ends_with(extension) && !module_files::is_hidden(name))
}

/// Reads the stack in `directory` and the local stacks that it embeds. An embedded stack with another kind of source counts as a missing
/// module.
pub fn read_stack(directory: &Path) -> Result<RootModule, Vec<Arc<ConfigError>>> {
    let real = directory.canonicalize();
    let real = real.unwrap_or_else(|_| directory.to_path_buf());
    let mut reader = StackReader {
        repository: repository_root(&real),
        requirements: Requirements::default(),
        root: RootModule::default(),
        errors: ConfigErrors::default(),
        read: BTreeSet::from([real]),
    };
    reader.read(directory, 0);
    if !reader.errors.0.is_empty() {
        return Err(reader.errors.0.into_iter().map(Arc::new).collect());
    }
    Ok(RootModule {
        requirements: Arc::new(reader.requirements),
        ..reader.root
    })
}

struct StackReader {
    /// The root of the repository, without symlinks. All embedded stacks must be inside it.
    repository: PathBuf,
    requirements: Requirements,
    root: RootModule,
    errors: ConfigErrors,
    /// The real directories of the stacks that have been read.
    read: BTreeSet<PathBuf>,
}

impl StackReader {
    fn read(&mut self, directory: &Path, depth: usize) {
        let names = module_files::list(directory);
        let names = self.errors.keep(names).unwrap_or_default();
        let mut first = None;
        for (name, _) in names
            .iter()
            .filter(|(name, is_dir)| !is_dir && is_stack_file(name))
        {
            let path = directory.join(name);
            let file =
                module_files::read(&path).and_then(|text| Ok(SourceFile::parse(path, text)?));
            if let Some(file) = self.errors.keep(file) {
                self.read_requirements(&file.body(), &mut first);
                self.read_calls(&file.body(), directory, depth);
            }
        }
    }

    /// Reads the `required_providers` block, which must be the only one of the stack.
    fn read_requirements(&mut self, body: &Body<'_>, first: &mut Option<SourceRange>) {
        for block in self.blocks(body, "required_providers", 0) {
            if let Some(first) = first {
                let first = first.place();
                let problem = BlockProblem::SecondRequiredProviders { first };
                self.errors.invalid(&block.range(), problem);
                continue;
            }
            *first = Some(block.range());
            let required = required_providers::read(&block, ENGINE, &mut self.errors);
            self.check_complete(&block, &required);
            for entry in required.entries.into_values() {
                let place = Some(entry.range.place());
                self.requirements
                    .require(entry.address, &entry.constraints, place);
            }
        }
    }

    /// Checks that each entry has a `source` and, unless the provider is built in, a `version`.
    fn check_complete(&mut self, block: &Block<'_>, required: &RequiredProviders) {
        for argument in block.body().arguments().unwrap_or_default() {
            let Some(entry) = required.entries.get(argument.name()) else {
                continue;
            };
            let tree = argument.value().tree(Strings::Plain).ok();
            let has = |name| match tree.as_ref().map(|tree| &tree.kind) {
                Some(ExprKind::Object(entries)) => {
                    let mut keys = entries.iter().map(|entry| &entry.key);
                    keys.any(|key| {
                        key.as_bare_name() == Some(name) || key.as_text().as_deref() == Some(name)
                    })
                }
                _ => false,
            };
            let needs_version = entry.address.is_lockable(ENGINE);
            for (name, is_needed) in [("source", true), ("version", needs_version)] {
                if is_needed && !has(name) {
                    let problem = BlockProblem::MissingInStack(name);
                    self.errors.invalid(&argument.range(), problem);
                }
            }
        }
    }

    /// Follows the calls of embedded stacks, and records the local modules of components.
    fn read_calls(&mut self, body: &Body<'_>, directory: &Path, depth: usize) {
        for block in self.blocks(body, "component", 1) {
            if let Some(path) = self.local_source(&block) {
                self.record_local(&clean(&directory.join(path)));
            }
        }
        for block in self.blocks(body, "stack", 1) {
            let Some(path) = self.local_source(&block) else {
                let error = block.invalid(BlockProblem::EmbeddedStack);
                self.root.missing.push(Arc::new(error));
                continue;
            };
            let path = clean(&directory.join(path));
            let real = self.record_local(&path);
            let is_outside = |real: &PathBuf| !real.starts_with(&self.repository);
            if real.as_ref().is_some_and(is_outside) {
                self.errors.add(block.invalid(BlockProblem::StackOutside));
            } else if depth == MAX_DEPTH {
                let problem = BlockProblem::StackDepth(MAX_DEPTH);
                self.errors.add(block.invalid(problem));
            } else if real.is_none_or(|real| self.read.insert(real)) {
                self.read(&path, depth + 1);
            }
        }
    }

    /// Records a local directory that the stack uses. Returns its real path if it exists.
    fn record_local(&mut self, path: &Path) -> Option<PathBuf> {
        let real = path.canonicalize().ok()?;
        self.root.local_modules.insert(real.clone());
        Some(real)
    }

    /// Returns the `source` of a block if it is a local path.
    fn local_source(&mut self, block: &Block<'_>) -> Option<PathBuf> {
        let value = self.errors.keep(block.body().value("source"))??;
        let tree = self.errors.keep(value.tree(Strings::Plain))?;
        let text =
            required_providers::string(&value, &tree, BlockProblem::StringRequired("source"));
        let text = self.errors.keep(text)?;
        match ModuleSource::parse(&text, ENGINE) {
            Ok(ModuleSource::Local(path)) => Some(PathBuf::from(path)),
            _ => None,
        }
    }

    fn blocks<'a>(&mut self, body: &Body<'a>, kind: &str, labels: usize) -> Vec<Block<'a>> {
        let blocks = body.labelled_blocks(kind, labels);
        self.errors.keep(blocks).unwrap_or_default()
    }
}
