//! Errors of the content of a block.

use thiserror::Error;

use crate::span::Place;

/// An invalid block or argument.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BlockProblem {
    #[error("a `{kind}` block has {required} labels, and this one has {found}")]
    Labels {
        kind: String,
        required: usize,
        found: usize,
    },
    #[error("`{0}` is not a valid name")]
    Name(String),
    #[error("a `required_providers` block belongs in a `terraform` block")]
    MisplacedRequiredProviders,
    #[error("a module has one `required_providers` block; the first is at {first}")]
    SecondRequiredProviders { first: Place },
    #[error("`required_providers` takes only arguments, and this is a block")]
    BlockInRequiredProviders,
    #[error("a required provider is a version constraint or an object with `source` and `version`")]
    RequiredProvider,
    #[error("the keys of a required provider are constant strings")]
    RequiredProviderKey,
    #[error(
        "a required provider has no `{0}`, only `source`, `version` and `configuration_aliases`"
    )]
    UnknownRequiredProviderKey(String),
    #[error("`{0}` must be a constant string")]
    StringRequired(&'static str),
    #[error("`configuration_aliases` is a list of references such as `{0}.alias`")]
    ConfigurationAliases(String),
    #[error(
        "provider names are lower case letters, digits and dashes: write `{normal}` for `{name}`"
    )]
    NotNormalized { name: String, normal: String },
    #[error("this must be a provider configuration such as `name` or `name.alias`")]
    ProviderReference,
    #[error("`{0}` has no `for_each`, so it takes no index")]
    IndexWithoutForEach(String),
    #[error("`{0}` has `for_each`, so it needs an index")]
    MissingIndex(String),
    #[error("`{0}` is reserved in `provider` blocks")]
    Reserved(String),
    #[error("a `provider` block with `for_each` needs an `alias`")]
    AliasRequired,
    #[error("`alias` must be a constant name")]
    Alias,
    #[error("{what} is already declared at {first}")]
    Duplicate { what: String, first: Place },
    #[error("there is no {0} to override")]
    NothingToOverride(String),
    #[error("a `{0}` block cannot be in an override file")]
    NotInOverride(&'static str),
    #[error("an `import` block needs `to`, the address of a resource")]
    ImportTarget,
    #[error("an `import` block needs either `id` or `identity`")]
    ImportIdentity,
    #[error("the `provider` of an `import` block must be that of the resource it imports")]
    ImportProvider,
    #[error("`import` blocks are for root modules, and this module is called")]
    ImportInChild,
    #[error("a `module` block needs `source`")]
    MissingSource,
    #[error("an `action` block has no `{0}`")]
    UnexpectedInAction(String),
}
