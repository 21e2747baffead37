//! Errors in the content of a block.

use thiserror::Error;

use crate::span::Place;

#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BlockProblem {
    #[error("incorrect number of labels for a `{kind}` block: expected {required}, found {found}")]
    Labels {
        kind: String,
        required: usize,
        found: usize,
    },
    #[error("`{0}` is not a valid name")]
    Name(String),
    #[error("a `required_providers` block must be inside a `terraform` block")]
    MisplacedRequiredProviders,
    #[error("a module can have only one `required_providers` block; the first one is at {first}")]
    SecondRequiredProviders { first: Place },
    #[error("`required_providers` must contain only arguments, but this is a block")]
    BlockInRequiredProviders,
    #[error("expected a version constraint or an object with `source` and `version`")]
    RequiredProvider,
    #[error("the keys of a required provider must be constant strings")]
    RequiredProviderKey,
    #[error(
        "`{0}` is not allowed in a required provider, only `source`, `version` and `configuration_aliases`"
    )]
    UnknownRequiredProviderKey(String),
    #[error("`{0}` must be a constant string")]
    StringRequired(&'static str),
    #[error("`configuration_aliases` must be a list of references such as `{0}.alias`")]
    ConfigurationAliases(String),
    #[error(
        "provider names must consist of lowercase letters, digits and dashes: write `{normal}` instead of `{name}`"
    )]
    NotNormalized { name: String, normal: String },
    #[error("this must be a reference to a provider configuration, such as `name` or `name.alias`")]
    ProviderReference,
    #[error("a reference to `{0}` must not have an index, because `{0}` has no `for_each`")]
    IndexWithoutForEach(String),
    #[error("a reference to `{0}` must have an index, because `{0}` has `for_each`")]
    MissingIndex(String),
    #[error("`{0}` is reserved in `provider` blocks")]
    Reserved(String),
    #[error("a `provider` block with `for_each` must have an `alias`")]
    AliasRequired,
    #[error("`alias` must be a constant string that is a valid name")]
    Alias,
    #[error("{what} is already declared at {first}")]
    Duplicate { what: String, first: Place },
    #[error("there is no {0} to override")]
    NothingToOverride(String),
    #[error("`{0}` blocks are not allowed in override files")]
    NotInOverride(&'static str),
    #[error("an `import` block must have a `to` argument with the address of a resource")]
    ImportTarget,
    #[error("an `import` block must have either `id` or `identity`")]
    ImportIdentity,
    #[error("the `provider` of an `import` block must match that of the imported resource")]
    ImportProvider,
    #[error("OpenTofu allows `import` blocks only in root modules, but this is a called module")]
    ImportInChild,
    #[error("a `module` block must have a `source`")]
    MissingSource,
    #[error("a required provider of a stack must have a `{0}`")]
    MissingInStack(&'static str),
    #[error(
        "cannot read the embedded stack: its `source` is not a local path, and tflock fetches no stacks"
    )]
    EmbeddedStack,
    #[error("cannot read the embedded stack: its directory is outside the repository")]
    StackOutside,
    #[error("cannot read the embedded stack: stacks are nested more than {0} levels deep")]
    StackDepth(usize),
    #[error("{0} is not allowed in an `action` block")]
    UnexpectedInAction(String),
}
