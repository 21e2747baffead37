//! What can be wrong with a configuration.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::provider::{AddressError, ConstraintError, Engine};
use crate::span::{Explain, Place};
use crate::syntax::{EvalProblem, Exceeded, Refusal, SyntaxError, Value};

use super::root::is_missing_module;
use super::source::SourceError;

/// Why a directory cannot be read as a module, or its requirements are not known.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// A directory cannot be listed.
    #[error("cannot read the directory `{path}`")]
    ReadDirectory {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file cannot be read: a dangling link, a link to a directory, no permission.
    #[error("cannot read `{path}`")]
    ReadFile {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A variable file that is a link out of the repository.
    #[error(
        "cannot read `{path}`: it is a link that leads out of the repository; `--allow-read DIR` permits its target"
    )]
    LinkOutside {
        /// Which.
        path: PathBuf,
    },
    /// A file of the configuration is larger than tflock reads.
    #[error("`{path}` has more than {limit} bytes, the most that is read of a configuration file")]
    TooLarge {
        /// Which.
        path: PathBuf,
        /// The limit.
        limit: u64,
    },
    /// A syntax error.
    #[error(transparent)]
    Syntax(Box<SyntaxError>),
    /// A block or argument that is not as it must be.
    #[error("{problem}")]
    Invalid {
        /// Where.
        place: Box<Place>,
        /// What.
        problem: Box<Problem>,
    },
    /// An address that is none.
    #[error("invalid provider address")]
    Address {
        /// Where it is written.
        place: Box<Place>,
        /// What is wrong with it.
        source: Box<AddressError>,
    },
    /// A local name or resource type that cannot name a provider.
    #[error("`{name}` cannot be the name of a provider")]
    ProviderName {
        /// Where it is written.
        place: Box<Place>,
        /// The name.
        name: String,
        /// What is wrong with it.
        source: Box<AddressError>,
    },
    /// A version constraint that is none.
    #[error("invalid version constraint")]
    Constraint {
        /// Where it is written.
        place: Box<Place>,
        /// What is wrong with it.
        source: Box<ConstraintError>,
    },
    /// The manifest of installed modules is no JSON of its form.
    #[error("cannot read the manifest of installed modules `{path}`")]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// The manifest has a version that is none.
    #[error(
        "the manifest of installed modules `{path}` has the version `{version}` for `{key}`, which is none"
    )]
    ManifestVersion {
        /// The file.
        path: PathBuf,
        /// The module.
        key: String,
        /// Its version.
        version: String,
    },
    /// The manifest has a key twice.
    #[error("the manifest of installed modules `{path}` has `{key}` twice")]
    ManifestKey {
        /// The file.
        path: PathBuf,
        /// The module.
        key: String,
    },
    /// A module source that is none.
    #[error("invalid module source")]
    Source {
        /// Where it is written.
        place: Box<Place>,
        /// What is wrong with it.
        source: Box<SourceError>,
    },
    /// A source or version whose value is not known from the files.
    #[error("the {what} of module `{module}` is {found}")]
    UnknownCall {
        /// `source` or `version`.
        what: &'static str,
        /// The call.
        module: String,
        /// What its value is instead of a string.
        found: &'static str,
        /// Where it is written.
        place: Box<Place>,
    },
    /// A `version` beside a source that has no versions.
    #[error("module `{module}` has a `version`, but only modules from a registry have versions")]
    VersionWithoutRegistry {
        /// The call.
        module: String,
        /// Where the version is written.
        place: Box<Place>,
    },
    /// A directory that is called and does not exist.
    #[error("module `{module}` is in `{directory}`, which cannot be read")]
    NoModuleDirectory {
        /// The call.
        module: String,
        /// The directory.
        directory: PathBuf,
        /// Where it is called.
        place: Box<Place>,
        /// What the system says.
        source: io::Error,
    },
    /// A module that calls itself, directly or not.
    #[error("module `{module}` calls `{directory}`, which is being read because of this very call")]
    Recursion {
        /// The call.
        module: String,
        /// The directory.
        directory: PathBuf,
        /// Where it is called.
        place: Box<Place>,
    },
    /// Calls nested beyond the limit.
    #[error("module `{module}` is nested deeper than {limit} calls")]
    TooDeep {
        /// The call.
        module: String,
        /// The limit.
        limit: usize,
        /// Where it is called.
        place: Box<Place>,
    },
    /// More modules than the limit in one tree.
    #[error("the module calls below this one are more than {limit}")]
    TooMany {
        /// The limit.
        limit: usize,
        /// Where the limit was passed.
        place: Box<Place>,
    },
    /// A remote module that is not there.
    #[error("module `{module}` from `{source_text}` is not installed")]
    NotInstalled {
        /// The call.
        module: String,
        /// Its source.
        source_text: String,
        /// Where it is called.
        place: Box<Place>,
    },
    /// The manifest records another source for the call.
    #[error(
        "module `{module}` is installed from `{recorded}`, and the configuration now asks for `{wanted}`"
    )]
    SourceChanged {
        /// The call.
        module: String,
        /// What the manifest says.
        recorded: String,
        /// What the call says.
        wanted: String,
        /// Where it is called.
        place: Box<Place>,
    },
    /// The manifest records a version that the call does not allow.
    #[error(
        "module `{module}` is installed in version `{recorded}`, and the configuration now asks for `{wanted}`"
    )]
    VersionChanged {
        /// The call.
        module: String,
        /// What the manifest says.
        recorded: String,
        /// What the call says.
        wanted: String,
        /// Where it is called.
        place: Box<Place>,
    },
    /// A remote module that could not be had.
    #[error("cannot get module `{module}` from `{source_text}`")]
    Fetch {
        /// The call.
        module: String,
        /// Its source.
        source_text: String,
        /// Where it is called.
        place: Box<Place>,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
        /// What may help.
        hint: Option<String>,
    },
    /// A module that was fetched calls a directory outside of its package.
    #[error(
        "module `{module}` is called at `{path}`, which is outside of the package of its caller"
    )]
    LeavesPackage {
        /// The call.
        module: String,
        /// Its source.
        path: String,
        /// Where it is called.
        place: Box<Place>,
    },
    /// `--untrusted`, and a local module outside of the repository.
    #[error(
        "module `{module}` is called at `{path}`, which is outside of the repository, and this run is `--untrusted`"
    )]
    LeavesRepository {
        /// The call.
        module: String,
        /// Its source.
        path: String,
        /// Where it is called.
        place: Box<Place>,
    },
    /// A module that a test runs from elsewhere than a directory or registry.
    #[error("a test can run local modules and those of a registry, and `{source_text}` is neither")]
    RemoteRunModule {
        /// Its source.
        source_text: String,
        /// Where it is named.
        place: Box<Place>,
    },
    /// A failure whose text would show a value that is never shown.
    #[error("{failure}: {reason}")]
    Concealed {
        /// What could not be done.
        failure: String,
        /// Which attribute is not shown, and why.
        reason: String,
        /// What kind of trouble it is.
        code: &'static str,
        /// Whether a module is not there.
        is_missing: bool,
        /// Where.
        place: Box<Place>,
    },
    /// A variable file or option that cannot be read.
    #[error("cannot read the value of variables from {origin}")]
    Variables {
        /// The file, option or environment variable.
        origin: String,
        /// What is wrong.
        message: String,
    },
    /// Evaluating the sources and versions of module calls exceeds a budget.
    #[error("{budget}")]
    Exceeded {
        /// The expression that exceeds it.
        place: Box<Place>,
        /// The budget.
        budget: Exceeded,
    },
    /// An expression without a value.
    #[error("cannot tell the value of {what}")]
    Value {
        /// Which.
        what: &'static str,
        /// Where.
        place: Box<Place>,
        /// Why.
        source: Box<EvalProblem>,
    },
}

/// What is wrong with a block or argument.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Problem {
    /// The wrong number of labels.
    #[error("a `{kind}` block has {wanted} labels, and this one has {found}")]
    Labels {
        /// The word it begins with.
        kind: String,
        /// How many it must have.
        wanted: usize,
        /// How many it has.
        found: usize,
    },
    /// A label that is no identifier.
    #[error("`{0}` is not a valid name")]
    Name(String),
    /// `required_providers` outside of a `terraform` block.
    #[error("a `required_providers` block belongs into a `terraform` block")]
    MisplacedRequiredProviders,
    /// A second `required_providers` block in a module.
    #[error("a module has one `required_providers` block; the first is at {first}")]
    SecondRequiredProviders {
        /// Where the first stands.
        first: Place,
    },
    /// A block in `required_providers`.
    #[error("`required_providers` holds arguments only, and this is a block")]
    BlockInRequiredProviders,
    /// An entry that is neither a string nor an object literal.
    #[error("a required provider is a version constraint or an object with `source` and `version`")]
    RequiredProvider,
    /// A key of an entry that is no constant string.
    #[error("the keys of a required provider are constant strings")]
    RequiredProviderKey,
    /// A key that an entry has not.
    #[error(
        "a required provider has no `{0}`, only `source`, `version` and `configuration_aliases`"
    )]
    UnknownRequiredProviderKey(String),
    /// `source` or `version` that is no string.
    #[error("`{0}` must be a constant string")]
    StringRequired(&'static str),
    /// `configuration_aliases` that is no list of references.
    #[error("`configuration_aliases` is a list of references such as `{0}.alias`")]
    ConfigurationAliases(String),
    /// A local name that is not in its normal form.
    #[error(
        "provider names are lower case letters, digits and dashes: write `{normal}` for `{name}`"
    )]
    NotNormalized {
        /// As written.
        name: String,
        /// As it should be.
        normal: String,
    },
    /// A `provider` argument that is no reference to a provider configuration.
    #[error("this must be a provider configuration such as `name` or `name.alias`")]
    ProviderReference,
    /// A `provider` argument with an index, to a provider without `for_each`.
    #[error("`{0}` has no `for_each`, so it takes no index")]
    IndexWithoutForEach(String),
    /// A `provider` argument without an index, to a provider with `for_each`.
    #[error("`{0}` has `for_each`, so it needs an index")]
    MissingIndex(String),
    /// An argument or block that is reserved in `provider` blocks.
    #[error("`{0}` is reserved in `provider` blocks")]
    Reserved(String),
    /// A `provider` block with `for_each` and without `alias`.
    #[error("a `provider` block with `for_each` needs an `alias`")]
    AliasRequired,
    /// An `alias` that is no constant identifier.
    #[error("`alias` must be a constant name")]
    Alias,
    /// `for_each` of a provider that is no map and no set.
    #[error("`for_each` of a provider must be a map or a set of strings")]
    ProviderForEach,
    /// Something declared twice.
    #[error("{what} is already declared at {first}")]
    Duplicate {
        /// What.
        what: String,
        /// Where first.
        first: Place,
    },
    /// An override of nothing.
    #[error("there is no {0} to override")]
    NothingToOverride(String),
    /// A block that override files cannot have.
    #[error("a `{0}` block cannot be in an override file")]
    NotInOverride(&'static str),
    /// An `import` without a target.
    #[error("an `import` block needs `to`, the address of a resource")]
    ImportTarget,
    /// An `import` without `id` and `identity`, or with both.
    #[error("an `import` block needs either `id` or `identity`")]
    ImportIdentity,
    /// An `import` whose `provider` contradicts the resource.
    #[error("the `provider` of an `import` block must be that of the resource it imports")]
    ImportProvider,
    /// An `import` in a module that is called.
    #[error("`import` blocks are for root modules, and this module is called")]
    ImportInChild,
    /// An argument that a block must have.
    #[error("a `{block}` block needs `{argument}`")]
    Missing {
        /// The kind of block.
        block: &'static str,
        /// The argument.
        argument: &'static str,
    },
    /// An argument that a block cannot have.
    #[error("a `{block}` block has no `{argument}`")]
    Unexpected {
        /// The kind of block.
        block: &'static str,
        /// The argument or block.
        argument: String,
    },
}

impl ConfigError {
    /// A problem at a place.
    pub(super) fn invalid(place: Place, problem: Problem) -> Self {
        Self::Invalid {
            place: Box::new(place),
            problem: Box::new(problem),
        }
    }
}

impl ConfigError {
    /// The same without the text of a source or version, which are not shown for this reason.
    pub(super) fn concealed(self, reason: &str) -> Self {
        let failure = match &self {
            Self::Source { .. } => "the module source is invalid".to_owned(),
            Self::Constraint { .. } => "the version constraint is invalid".to_owned(),
            Self::NoModuleDirectory { module, .. } => {
                format!("cannot read the directory of module `{module}`")
            }
            Self::NotInstalled { module, .. } => format!("module `{module}` is not installed"),
            Self::SourceChanged { module, .. } => {
                format!("module `{module}` is installed from another source")
            }
            Self::VersionChanged { module, .. } => {
                format!("module `{module}` is installed in another version")
            }
            Self::Fetch { module, .. } => format!("cannot get module `{module}`"),
            Self::LeavesPackage { module, .. } => {
                format!("module `{module}` is outside of the package of its caller")
            }
            // Their texts hold names and places only.
            _ => return self,
        };
        let place = self.place().cloned();
        Self::Concealed {
            failure,
            reason: reason.to_owned(),
            code: self.code(),
            is_missing: is_missing_module(&self),
            place: Box::new(place.unwrap_or_else(|| Place::file(Path::new("")))),
        }
    }
}

impl From<SyntaxError> for ConfigError {
    fn from(error: SyntaxError) -> Self {
        Self::Syntax(Box::new(error))
    }
}

/// What permits a function to read a file elsewhere.
const ALLOW_READ: &str =
    "if its content may become part of an address, permit its directory with `--allow-read DIR`";

/// The same address on the other tool's default registry means that the other tool ran `init`.
fn installed_hint(recorded: &str, wanted: &str) -> String {
    let path = |text: &str| text.split_once('/').map(|(_, path)| path.to_owned());
    let other = [Engine::Terraform, Engine::Tofu]
        .into_iter()
        .find(|engine| recorded.starts_with(engine.default_host()));
    match other {
        Some(engine) if path(recorded) == path(wanted) => {
            format!(
                "`{engine} init` wrote `modules.json` in this directory; run the other tool's `init`, or choose `--engine {engine}`"
            )
        }
        _ => "run `init` or `get` in this directory again".to_owned(),
    }
}

impl Explain for ConfigError {
    fn code(&self) -> &'static str {
        match self {
            Self::ReadDirectory { .. }
            | Self::ReadFile { .. }
            | Self::LinkOutside { .. }
            | Self::TooLarge { .. } => "unreadable-file",
            Self::Syntax(_) => "syntax",
            Self::Constraint { .. } => "invalid-constraint",
            Self::NoModuleDirectory { .. }
            | Self::NotInstalled { .. }
            | Self::SourceChanged { .. }
            | Self::VersionChanged { .. }
            | Self::Fetch { .. }
            | Self::RemoteRunModule { .. } => "module-unavailable",
            Self::Concealed { code, .. } => code,
            _ => "configuration",
        }
    }

    fn place(&self) -> Option<&Place> {
        match self {
            Self::ReadDirectory { .. }
            | Self::ReadFile { .. }
            | Self::LinkOutside { .. }
            | Self::TooLarge { .. }
            | Self::Manifest { .. }
            | Self::ManifestVersion { .. }
            | Self::ManifestKey { .. }
            | Self::Variables { .. } => None,
            Self::Syntax(error) => Some(&error.place),
            Self::Invalid { place, .. }
            | Self::Address { place, .. }
            | Self::ProviderName { place, .. }
            | Self::Constraint { place, .. }
            | Self::Source { place, .. }
            | Self::UnknownCall { place, .. }
            | Self::VersionWithoutRegistry { place, .. }
            | Self::NoModuleDirectory { place, .. }
            | Self::Recursion { place, .. }
            | Self::TooDeep { place, .. }
            | Self::TooMany { place, .. }
            | Self::NotInstalled { place, .. }
            | Self::SourceChanged { place, .. }
            | Self::VersionChanged { place, .. }
            | Self::Fetch { place, .. }
            | Self::LeavesPackage { place, .. }
            | Self::LeavesRepository { place, .. }
            | Self::RemoteRunModule { place, .. }
            | Self::Concealed { place, .. }
            | Self::Exceeded { place, .. }
            | Self::Value { place, .. } => Some(place),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Syntax(error) => error.hint(),
            Self::Exceeded { budget, .. } => Some(budget.hint().to_owned()),
            Self::Fetch { hint, .. } => hint.clone(),
            Self::NotInstalled { .. } => {
                Some("run `init` or `get` in this directory first".to_owned())
            }
            Self::SourceChanged {
                recorded, wanted, ..
            } => Some(installed_hint(recorded, wanted)),
            Self::VersionChanged { .. } => {
                Some("run `init` or `get` in this directory again".to_owned())
            }
            Self::Value { source, .. } => match **source {
                EvalProblem::File {
                    refusal: Some(Refusal::Outside),
                    ..
                } => Some(ALLOW_READ.to_owned()),
                _ => None,
            },
            Self::UnknownCall { found, .. } if *found == Value::Unknown.type_name() => Some(
                "Terraform knows only variables with `const = true` here, and no resources"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}
