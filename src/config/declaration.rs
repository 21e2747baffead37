//! The common interface of all declarations: a key that is unique in the module, and a name for messages.

use std::collections::BTreeMap;

use crate::syntax::SourceRange;

use super::{
    BlockProblem, ConfigError, ConfigErrors, Import, Local, ModuleCall, ProviderBlock, Resource,
    ResourceKind, Variable,
};

pub(super) type ResourceKey = (ResourceKind, String, String);

/// A block or value that a module may declare only once.
pub(super) trait Declaration {
    type Key: Ord;

    fn key(&self) -> Self::Key;

    /// Returns the name for messages.
    fn title(&self) -> String;

    fn range(&self) -> &SourceRange;
}

impl Declaration for ProviderBlock {
    type Key = (String, Option<String>);

    fn key(&self) -> Self::Key {
        (self.name.clone(), self.alias.clone())
    }

    fn title(&self) -> String {
        format!("provider `{}`", self.name)
    }

    fn range(&self) -> &SourceRange {
        &self.range
    }
}

impl Declaration for Resource {
    type Key = ResourceKey;

    fn key(&self) -> ResourceKey {
        (self.kind, self.type_name.clone(), self.name.clone())
    }

    fn title(&self) -> String {
        format!("{} `{}.{}`", self.kind.word(), self.type_name, self.name)
    }

    fn range(&self) -> &SourceRange {
        &self.range
    }
}

/// Makes it an error to import the same resource twice.
impl Declaration for &Import {
    type Key = ResourceKey;

    fn key(&self) -> ResourceKey {
        (self.kind, self.type_name.clone(), self.name.clone())
    }

    fn title(&self) -> String {
        format!("import of `{}.{}`", self.type_name, self.name)
    }

    fn range(&self) -> &SourceRange {
        &self.range
    }
}

macro_rules! named_declaration {
    ($($type:ty, $kind:literal;)*) => {$(
        impl Declaration for $type {
            type Key = String;

            fn key(&self) -> String {
                self.name.clone()
            }

            fn title(&self) -> String {
                format!(concat!($kind, " `{}`"), self.name)
            }

            fn range(&self) -> &SourceRange {
                &self.range
            }
        }
    )*};
}

named_declaration! {
    ModuleCall, "module";
    Variable, "variable";
    Local, "local";
}

pub(super) type DeclarationMap<D> = BTreeMap<<D as Declaration>::Key, D>;

/// Adds declarations. Reports an error for a key that is already declared.
pub(super) fn declare_all<D: Declaration>(
    declared: &mut DeclarationMap<D>,
    added: impl IntoIterator<Item = D>,
    errors: &mut ConfigErrors,
) {
    for declaration in added {
        let key = declaration.key();
        match declared.get(&key) {
            None => drop(declared.insert(key, declaration)),
            Some(first) if errors.has_room() => {
                let problem = BlockProblem::Duplicate {
                    what: declaration.title(),
                    first: first.range().place(),
                };
                errors.invalid(declaration.range(), problem);
            }
            Some(_) => {}
        }
    }
}

/// Returns the existing declaration that `declaration`, from an override file, changes.
pub(super) fn overridden<'a, D: Declaration>(
    declared: &'a mut DeclarationMap<D>,
    declaration: &D,
) -> Result<&'a mut D, ConfigError> {
    let missing = || {
        let problem = BlockProblem::NothingToOverride(declaration.title());
        ConfigError::invalid(declaration.range().place(), problem)
    };
    declared.get_mut(&declaration.key()).ok_or_else(missing)
}
