//! Options that several commands share. [`crate::options`] declares those that `.tflock.toml` may set too.

use std::path::PathBuf;

use clap::builder::Resettable;
use clap::{Args, ValueEnum};

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Which directories")]
pub struct TreeArgs {
    /// Work on these directories, or on the directories of these files [default: .]
    #[arg(value_name = "PATH", help_heading = Resettable::Reset)]
    pub paths: Vec<PathBuf>,
    /// Work on every module directory and every lock file below PATH
    #[arg(short, long)]
    pub recursive: bool,
    /// Also work on every directory of the repository that reaches a named one through local module calls
    #[arg(
        long,
        conflicts_with = "recursive",
        long_help = "Also work on every directory of the repository that reaches a named one through local module calls, directly \
or not. Use it in hooks, which get the names of the changed files"
    )]
    pub callers: bool,
    /// Work only on directories that can have changed since REV [default: where HEAD left the default branch]
    #[arg(
        long,
        value_name = "REV",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        long_help = "Work only on directories whose lock can have changed since the commit REV, through their own files, lock file, \
variable and test files, local modules that they reach, `.tflock.toml` or version files. Uncommitted and untracked files count. \
Without PATH, work on everything below the working directory, as with -r [default: where HEAD left the default branch]"
    )]
    pub changed: Option<String>,
    /// Work only on directories that failed in an earlier run, according to its `--format json` report
    #[arg(
        long,
        value_name = "REPORT",
        long_help = "Work only on directories that failed in an earlier run, according to its `--format json` report. Without PATH, \
work on everything below the working directory, as with -r"
    )]
    pub failed: Option<PathBuf>,
}

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "How configurations are read")]
pub struct ReadingArgs {
    /// Leave out modules that only test files run
    #[arg(long)]
    pub no_tests: bool,
    /// Look for test files in DIR, besides the directory of the root module [default: tests]
    #[arg(long, value_name = "DIR", conflicts_with = "no_tests")]
    pub test_directory: Option<PathBuf>,
    /// Set a root variable, for module sources and versions that depend on it (repeatable)
    #[arg(long = "var", value_name = "NAME=VALUE")]
    pub variables: Vec<String>,
    /// Set the root variables in FILE, relative to each root module (repeatable)
    #[arg(long = "var-file", value_name = "FILE")]
    pub variable_files: Vec<PathBuf>,
    #[command(flatten)]
    pub confinement: ConfinementArgs,
}

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "What the configuration may do")]
pub struct ConfinementArgs {
    /// Treat the repository as a stranger's pull request (also `TFLOCK_UNTRUSTED=1`)
    #[arg(
        long,
        long_help = "Treat the content of the repository as a stranger's pull request. Registries and remote modules are \
requested only from --allow-host, credentials go to no other host, local modules stay inside the repository, file functions \
read only files that git tracks, environment variables are unknown to the configuration, `.terraform` is ignored, and \
`.tflock.toml` files of the tree can only tighten trust. `TFLOCK_UNTRUSTED=1` does the same"
    )]
    pub untrusted: bool,
    /// With --untrusted: request registries and modules from this host (repeatable, comma lists accepted) [default:
    /// registry.terraform.io, registry.opentofu.org]
    #[arg(
        long = "allow-host",
        value_name = "HOST",
        value_delimiter = ',',
        long_help = "With --untrusted: request registries and modules from this host, with the credentials that are configured \
for it (repeatable, comma lists accepted). tflock follows addresses that such a host answers with, without credentials \
[default: registry.terraform.io, registry.opentofu.org]"
    )]
    pub allow_hosts: Vec<String>,
    /// With --untrusted: let the configuration use this environment variable, such as `TF_VAR_region` (repeatable)
    #[arg(long = "allow-env", value_name = "NAME")]
    pub allow_env: Vec<String>,
    /// Use FILE before every `.tflock.toml` of the tree
    #[arg(
        long,
        value_name = "FILE",
        long_help = "Use FILE, which has the form of `.tflock.toml`, before those of the tree, for every PATH. Its `[signers]` apply \
beside theirs; its `ignore-paths` are relative to the working directory. With --untrusted only such a file, or those of the \
revision that --changed compares with, can loosen trust"
    )]
    pub config: Option<PathBuf>,
    /// Let functions read files in DIR, which may be outside of the repository (repeatable)
    #[arg(
        long,
        value_name = "DIR",
        long_help = "Let functions such as `file` read files in DIR if the source or version of a module depends on them, and let \
links to variable files lead there; DIR may be outside of the repository (repeatable)"
    )]
    pub allow_read: Vec<PathBuf>,
}

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Where packages come from")]
pub struct SourceArgs {
    /// Take packages from DIR, a filesystem mirror, instead of registries
    #[arg(long, value_name = "DIR", conflicts_with_all = ["net_mirror", "source"])]
    pub fs_mirror: Option<PathBuf>,
    /// Take packages from this network mirror instead of registries
    #[arg(long, value_name = "URL", conflicts_with = "source")]
    pub net_mirror: Option<String>,
    /// Take packages from origin registries, or as `provider_installation` in the CLI configuration says [default: registry]
    #[arg(long, value_name = "WHAT")]
    pub source: Option<SourceArg>,
    #[command(flatten)]
    pub cache: CacheArgs,
}

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Cache")]
pub struct CacheArgs {
    /// Send requests to registries even if the disk cache has everything that is needed
    #[arg(long, conflicts_with_all = ["no_cache", "offline"])]
    pub refresh: bool,
    /// Do not use the disk cache
    #[arg(long)]
    pub no_cache: bool,
    /// Send no request: use only the disk cache, mirrors on disk and existing lock files
    #[arg(long)]
    pub offline: bool,
}

#[derive(Args, Clone, Debug, Default)]
pub struct ReportArgs {
    /// Print the report on stdout in this format; messages go to stderr [default: text]
    #[arg(long, value_name = "FORMAT", help_heading = "Output options")]
    pub format: Option<FormatArg>,
}

/// Values of `--format` of `lock` and `verify`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    /// For people
    Text,
    /// For programs: one document with everything
    Json,
    /// For GitHub Actions: annotations, and a job summary
    Github,
    /// For code scanning: SARIF 2.1.0
    Sarif,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SourceArg {
    /// The origin registries, as in `terraform providers lock`
    Registry,
    /// Mirrors and registries as in `terraform init`
    Config,
}
