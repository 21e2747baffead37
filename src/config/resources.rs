//! Reads resources and similar blocks, whose type implies a provider, and `import` blocks. See section 3 of docs/rules/config.md.

use crate::provider::Engine;
use crate::syntax::{Block, Expr, ExprKind, SourceRange, Strings};

use super::{BlockProblem, ConfigError, ProviderRef, provider_ref};

/// The kinds of blocks that have a type and a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ResourceKind {
    Managed,
    Data,
    Ephemeral,
    Action,
}

impl ResourceKind {
    pub(super) fn all(engine: Engine) -> impl Iterator<Item = Self> {
        let actions = engine.has_actions().then_some(Self::Action);
        [Self::Managed, Self::Data, Self::Ephemeral]
            .into_iter()
            .chain(actions)
    }

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Managed => "resource",
            Self::Data => "data",
            Self::Ephemeral => "ephemeral",
            Self::Action => "action",
        }
    }
}

/// A resource, data source, ephemeral resource or action.
#[derive(Clone, Debug)]
pub(super) struct Resource {
    pub(super) kind: ResourceKind,
    pub(super) type_name: String,
    pub(super) name: String,
    pub(super) provider: Option<ProviderRef>,
    pub(super) range: SourceRange,
}

#[derive(Clone, Debug)]
pub(super) struct Import {
    pub(super) kind: ResourceKind,
    pub(super) type_name: String,
    pub(super) name: String,
    pub(super) in_module: bool,
    /// Whether the target has an index or the block has `for_each`.
    pub(super) indexed: bool,
    pub(super) provider: Option<ProviderRef>,
    pub(super) range: SourceRange,
}

/// Returns the part of a resource type that is the provider's local name.
pub(super) fn provider_of_type(type_name: &str) -> &str {
    type_name
        .split_once('_')
        .map_or(type_name, |(provider, _)| provider)
}

pub(super) fn read(
    block: &Block<'_>,
    kind: ResourceKind,
    engine: Engine,
) -> Result<Resource, ConfigError> {
    let (type_name, name) = (block.name(0)?, block.name(1)?);
    if kind == ResourceKind::Action {
        check_action(block)?;
    }
    Ok(Resource {
        kind,
        type_name,
        name,
        provider: provider_ref::read(block.body(), engine)?,
        range: block.label_range(0),
    })
}

/// Checks that an `action` block has only known arguments, and at most one `config` block.
fn check_action(block: &Block<'_>) -> Result<(), ConfigError> {
    let unexpected = |range: &SourceRange, argument: &str| {
        let problem = BlockProblem::UnexpectedInAction(argument.to_owned());
        Err(ConfigError::invalid(range.place(), problem))
    };
    for (name, range) in block.body().names()? {
        if !["provider", "count", "for_each", "config"].contains(&name) {
            return unexpected(&range, &format!("`{name}`"));
        }
    }
    match block.body().labelled_blocks("config", 0)?.get(1) {
        None => Ok(()),
        Some(second) => unexpected(&second.range(), "a second `config` block"),
    }
}

pub(super) fn read_import(block: &Block<'_>, engine: Engine) -> Result<Import, ConfigError> {
    let body = block.body();
    let missing = || block.invalid(BlockProblem::ImportTarget);
    let to = body.argument("to")?.ok_or_else(missing)?.value();
    if body.argument("id")?.is_some() == body.argument("identity")?.is_some() {
        return Err(block.invalid(BlockProblem::ImportIdentity));
    }
    let invalid = || to.invalid(BlockProblem::ImportTarget);
    let tree = if to.is_json() {
        to.reference(BlockProblem::ImportTarget)?
    } else {
        to.tree(Strings::Plain)?
    };
    let mut names = Vec::new();
    let indexed = address_names(&tree, &mut names).ok_or_else(invalid)?;
    if matches!(names.first(), Some(&("null" | "true" | "false")))
        && !engine.imports_keyword_types()
    {
        return Err(invalid());
    }
    let mut names = names.as_slice();
    let mut in_module = false;
    while let ["module", _, rest @ ..] = names {
        in_module = true;
        names = rest;
    }
    let (kind, type_name, name) = match names {
        ["data", type_name, name] if engine.counts_all_imports() => {
            (ResourceKind::Data, type_name, name)
        }
        ["ephemeral", type_name, name] if engine.counts_all_imports() => {
            (ResourceKind::Ephemeral, type_name, name)
        }
        ["resource", type_name, name] if engine.has_resource_prefix() => {
            (ResourceKind::Managed, type_name, name)
        }
        [type_name, name] if !is_reserved(type_name, engine) => {
            (ResourceKind::Managed, type_name, name)
        }
        _ => return Err(invalid()),
    };
    let provider = provider_ref::read(body, engine)?;
    if in_module && provider.is_some() {
        return Err(block.invalid(BlockProblem::ImportProvider));
    }
    Ok(Import {
        kind,
        type_name: (*type_name).to_owned(),
        name: (*name).to_owned(),
        in_module,
        indexed: indexed || body.argument("for_each")?.is_some(),
        provider,
        range: to.range(),
    })
}

/// Returns whether a resource address cannot start with this type, because the same word starts another kind of address or reference.
fn is_reserved(type_name: &str, engine: Engine) -> bool {
    let reserved_in_terraform = [
        "arg",
        "count",
        "each",
        "lazy",
        "list",
        "local",
        "module",
        "path",
        "resource",
        "self",
        "template",
        "terraform",
        "var",
    ];
    matches!(type_name, "data" | "ephemeral")
        || (engine.has_resource_prefix() && reserved_in_terraform.contains(&type_name))
}

/// Collects the names in a resource address. Returns whether the address has indexes, or `None` if it is invalid.
fn address_names<'a>(expr: &'a Expr, names: &mut Vec<&'a str>) -> Option<bool> {
    match &expr.kind {
        ExprKind::Attribute(source, name) => {
            let indexed = address_names(source, names)?;
            names.push(name);
            Some(indexed)
        }
        ExprKind::Index(source, _) => address_names(source, names).map(|_| true),
        _ => {
            names.push(expr.as_bare_name()?);
            Some(false)
        }
    }
}
