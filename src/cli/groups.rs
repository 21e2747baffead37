//! Options that several commands share. What `.tflock.toml` may say as well has no default here: settings join the two.

use std::path::PathBuf;

use clap::Args;
use clap::builder::Resettable;

use super::values::{EngineArg, FormatArg, MissingArg, SourceArg};

/// The most packages in flight that may be asked for: more than any registry likes to serve.
pub const MAX_JOBS: u16 = 256;

/// Which directories are worked on.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Which directories")]
pub struct TreeArgs {
    /// Directories, or files that stand for their directory [default: .]
    #[arg(value_name = "PATH", help_heading = Resettable::Reset)]
    pub paths: Vec<PathBuf>,
    /// Every module directory and every lock file below PATH
    #[arg(short, long)]
    pub recursive: bool,
    /// Skip paths that match this regular expression (repeatable)
    #[arg(short, long = "ignore-path", value_name = "REGEX")]
    pub ignore_paths: Vec<String>,
    /// Also every directory of the repository that reaches a named one through local module calls
    #[arg(
        long,
        conflicts_with = "recursive",
        long_help = "Also every directory of the repository that reaches a named one through local module calls, directly or not: \
for hooks that are given the files that changed, such as those of a module that others call"
    )]
    pub callers: bool,
    /// Only what can have changed since REV [default: where HEAD left the default branch]
    #[arg(
        long,
        value_name = "REV",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        long_help = "Only directories whose lock can have changed since the commit REV: their own files, lock file, variable and \
test files, the local modules that they reach, `.tflock.toml` and version files. What is not committed counts, and so do \
files that git does not know. Without REV: since HEAD left the default branch; without PATH: below the working directory, as \
with -r"
    )]
    pub changed: Option<String>,
    /// Only what failed in an earlier run, by its report of `--format json`
    #[arg(
        long,
        value_name = "REPORT",
        long_help = "Only what failed in an earlier run, by its report of `--format json`; without PATH: below the working directory, \
as with -r"
    )]
    pub failed: Option<PathBuf>,
}

/// The platforms that matter.
#[derive(Args, Clone, Debug, Default)]
pub struct PlatformArgs {
    /// Platform, as `linux_amd64` (repeatable, comma lists accepted) [default: this machine's]
    #[arg(
        long = "platform",
        value_name = "OS_ARCH",
        value_delimiter = ',',
        help_heading = "What to lock"
    )]
    pub platforms: Vec<String>,
}

/// How configurations are read.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "How configurations are read")]
pub struct ReadingArgs {
    /// Whose rules to follow; `auto` decides per directory [default: auto]
    #[arg(long, value_name = "TOOL")]
    pub engine: Option<EngineArg>,
    /// When a module that the configuration calls cannot be had [default: error]
    #[arg(
        long = "missing-module",
        value_name = "WHAT",
        long_help = "When a module that the configuration calls cannot be had. `error`: the directory fails; `warn`: go on with \
what is known, say what is not, and never prune [default: error]"
    )]
    pub missing_module: Option<MissingArg>,
    /// Leave out modules that only test files run
    #[arg(long)]
    pub no_tests: bool,
    /// Where test files lie, besides the root module's own directory [default: tests]
    #[arg(long, value_name = "DIR", conflicts_with = "no_tests")]
    pub test_directory: Option<PathBuf>,
    /// Value of a root variable, for module sources and versions that depend on it (repeatable)
    #[arg(long = "var", value_name = "NAME=VALUE")]
    pub variables: Vec<String>,
    /// File with values of root variables, relative to each root module (repeatable)
    #[arg(long = "var-file", value_name = "FILE")]
    pub variable_files: Vec<PathBuf>,
    /// What the configuration may do.
    #[command(flatten)]
    pub confinement: ConfinementArgs,
}

/// What the content of the repository may do.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "What the configuration may do")]
pub struct ConfinementArgs {
    /// Treat the repository as a stranger's pull request (also `TFLOCK_UNTRUSTED=1`)
    #[arg(
        long,
        long_help = "Treat the content of the repository as a stranger's pull request. Registries and remote modules are only \
fetched from --allow-host, credentials go to no other host, local modules stay inside the repository, file functions read only \
files that git tracks, environment variables are unknown to the configuration, `.terraform` is ignored, and of `.tflock.toml` \
only what tightens trust counts. `TFLOCK_UNTRUSTED=1` does the same"
    )]
    pub untrusted: bool,
    /// With --untrusted: ask registries and fetch modules on this host (repeatable, comma lists accepted) [default:
    /// registry.terraform.io, registry.opentofu.org]
    #[arg(
        long = "allow-host",
        value_name = "HOST",
        value_delimiter = ',',
        long_help = "With --untrusted: ask registries and fetch modules on this host, with the credentials that are set up for it \
(repeatable, comma lists accepted). Addresses that such a host answers with are followed, without credentials [default: \
registry.terraform.io, registry.opentofu.org]"
    )]
    pub allow_hosts: Vec<String>,
    /// With --untrusted: let the configuration use this environment variable, as `TF_VAR_region` (repeatable)
    #[arg(long = "allow-env", value_name = "NAME")]
    pub allow_env: Vec<String>,
    /// Config file that comes before every `.tflock.toml` of the tree
    #[arg(
        long,
        value_name = "FILE",
        long_help = "Config file in the form of `.tflock.toml` that comes before all those of the tree, for every PATH. Its \
`[signers]` apply beside theirs; its `ignore-paths` are relative to the working directory. With --untrusted only such a file, \
or those of the revision that --changed compares with, can loosen anything"
    )]
    pub config: Option<PathBuf>,
    /// Directory outside of the repository whose files functions may read (repeatable)
    #[arg(
        long,
        value_name = "DIR",
        long_help = "Directory outside of the repository from which functions such as `file` may read, when the source or version of a module depends on them, and to which links to variable files may lead (repeatable)"
    )]
    pub allow_read: Vec<PathBuf>,
}

/// Where packages come from, and how many at once.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Where packages come from")]
pub struct SourceArgs {
    /// Take packages from this directory, a filesystem mirror, instead of registries
    #[arg(long, value_name = "DIR", conflicts_with_all = ["net_mirror", "source"])]
    pub fs_mirror: Option<PathBuf>,
    /// Take packages from this network mirror instead of registries
    #[arg(long, value_name = "URL", conflicts_with = "source")]
    pub net_mirror: Option<String>,
    /// Origin registries, or what `provider_installation` in the CLI configuration says [default: registry]
    #[arg(long, value_name = "WHAT")]
    pub source: Option<SourceArg>,
    /// Packages in flight; hashing uses all cores [default: 8]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX_JOBS)))]
    pub jobs: Option<u16>,
    /// What earlier runs have learned.
    #[command(flatten)]
    pub cache: CacheArgs,
}

/// How the disk cache and the network are used.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Cache")]
pub struct CacheArgs {
    /// Ask the registries again although the disk cache has all that is needed
    #[arg(long, conflicts_with_all = ["no_cache", "offline"])]
    pub refresh: bool,
    /// Do without the disk cache
    #[arg(long)]
    pub no_cache: bool,
    /// Make no request: disk cache, mirrors on disk and existing lock files only
    #[arg(long)]
    pub offline: bool,
}

/// How a run is reported.
#[derive(Args, Clone, Debug, Default)]
pub struct ReportArgs {
    /// The report on stdout; messages go to stderr [default: text]
    #[arg(long, value_name = "FORMAT", help_heading = "Output options")]
    pub format: Option<FormatArg>,
}
