//! Options that several commands share. [`crate::options`] declares those that can also be set in `.tflock.toml`.

use std::path::PathBuf;

use clap::builder::Resettable;
use clap::{Args, ValueEnum};

use super::variables::VariableArgs;

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Which directories")]
pub struct TreeArgs {
    /// Directories to process, or files in them [default: .]
    #[arg(value_name = "PATH", help_heading = Resettable::Reset)]
    pub paths: Vec<PathBuf>,
    /// Process every directory below PATH
    #[arg(
        short,
        long,
        long_help = "Process every module directory and every lock file below PATH"
    )]
    pub recursive: bool,
    /// Process only directories affected by changes since REV
    #[arg(
        long,
        value_name = "REV",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        long_help = "Process only directories whose lock may be affected by changes since the commit REV to their own files, lock file, \
variable and test files, called local modules, `.tflock.toml` or version files. Uncommitted and untracked files count as changed. \
Without PATH, look below the working directory, as with -r [default: where HEAD diverged from the default branch]"
    )]
    pub changed: Option<String>,
    /// Process only the directories that failed in an earlier run, as listed in that run's `--format json` report
    #[arg(
        long,
        value_name = "REPORT",
        long_help = "Process only the directories that failed in an earlier run, as listed in that run's `--format json` report. \
Without PATH, look for them below the working directory, as with -r"
    )]
    pub failed: Option<PathBuf>,
}

/// The option of the commands that process only the named directories unless `--recursive` is given.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Which directories")]
pub struct CallersArgs {
    /// Also process every directory in the repository that calls a PATH directory as a local module, directly or indirectly
    #[arg(
        long,
        conflicts_with = "recursive",
        long_help = "Also process every directory in the repository that calls a PATH directory as a local module, \
directly or indirectly. Use this option in hooks that receive the names of the changed files"
    )]
    pub callers: bool,
}

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "How configurations are read")]
pub struct ReadingArgs {
    /// Skip modules that only test files run
    #[arg(long)]
    pub no_tests: bool,
    /// Look for test files in DIR, in addition to the directory of the root module [default: tests]
    #[arg(long, value_name = "DIR", conflicts_with = "no_tests")]
    pub test_directory: Option<PathBuf>,
    #[command(flatten)]
    pub variables: VariableArgs,
    #[command(flatten)]
    pub confinement: ConfinementArgs,
}

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "What the configuration may do")]
pub struct ConfinementArgs {
    /// Treat the repository as untrusted, like a stranger's pull request (same as `TFLOCK_UNTRUSTED=1`)
    #[arg(
        long,
        long_help = "Treat the content of the repository as untrusted, like a stranger's pull request. Registries and remote modules \
are requested only from --allow-host, credentials are sent to no other host, local modules must be inside the repository, file \
functions read only files that git tracks, the configuration sees no environment variables, `.terraform` is ignored, and \
`.tflock.toml` files in the tree can only make trust settings stricter. `TFLOCK_UNTRUSTED=1` does the same"
    )]
    pub untrusted: bool,
    /// With --untrusted: allow requests for registries and modules to this host (repeatable, comma lists accepted) [default:
    /// registry.terraform.io, registry.opentofu.org]
    #[arg(
        long = "allow-host",
        value_name = "HOST",
        value_delimiter = ',',
        long_help = "With --untrusted: allow requests for registries and modules to this host, with the credentials that are \
configured for it (repeatable, comma lists accepted). tflock also requests URLs that such a host returns, but without credentials \
[default: registry.terraform.io, registry.opentofu.org]"
    )]
    pub allow_hosts: Vec<String>,
    /// With --untrusted: let the configuration use this environment variable, such as `TF_VAR_region` (repeatable)
    #[arg(long = "allow-env", value_name = "NAME")]
    pub allow_env: Vec<String>,
    /// Give FILE precedence over every `.tflock.toml` in the tree
    #[arg(
        long,
        value_name = "FILE",
        long_help = "Give FILE, which has the format of a `.tflock.toml`, precedence over those in the tree, for every PATH. Its \
`[signers]` apply in addition to theirs; its `ignore-paths` are relative to the working directory. With --untrusted, only such \
a file, or the config files of the revision that --changed compares with, can loosen trust settings"
    )]
    pub config: Option<PathBuf>,
    /// Let functions read files in DIR, which may be outside of the repository (repeatable)
    #[arg(
        long,
        value_name = "DIR",
        long_help = "Let functions such as `file` read files in DIR if the source or version of a module depends on them, and let \
symlinks to variable files point there; DIR may be outside of the repository (repeatable)"
    )]
    pub allow_read: Vec<PathBuf>,
}

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Where packages come from")]
pub struct SourceArgs {
    /// Take packages from DIR, a filesystem mirror, instead of registries
    #[arg(long, value_name = "DIR", conflicts_with_all = ["net_mirror", "oci_mirror", "source"])]
    pub fs_mirror: Option<PathBuf>,
    /// Take packages from this network mirror instead of registries
    #[arg(long, value_name = "URL", conflicts_with_all = ["oci_mirror", "source"])]
    pub net_mirror: Option<String>,
    /// With OpenTofu: take packages from OCI repositories such as `ghcr.io/acme/{namespace}-{type}` instead of registries
    #[arg(
        long,
        value_name = "TEMPLATE",
        conflicts_with = "source",
        long_help = "With OpenTofu: take packages from OCI repositories instead of registries. TEMPLATE is a URI template (RFC 6570, \
level 1) with the variables `{hostname}`, `{namespace}` and `{type}`, such as `ghcr.io/acme/{namespace}-{type}`"
    )]
    pub oci_mirror: Option<String>,
    /// Take packages from origin registries, or follow `provider_installation` in the CLI configuration [default: registry]
    #[arg(long, value_name = "WHAT")]
    pub source: Option<SourceArg>,
    #[command(flatten)]
    pub cache: CacheArgs,
}

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Cache")]
pub struct CacheArgs {
    /// Send requests to registries even if the disk cache has all required data
    #[arg(long, conflicts_with_all = ["no_cache", "offline"])]
    pub refresh: bool,
    /// Do not use the disk cache
    #[arg(long)]
    pub no_cache: bool,
    /// Send no requests: use only the disk cache, mirrors on disk and existing lock files
    #[arg(long)]
    pub offline: bool,
}

#[derive(Args, Clone, Debug, Default)]
pub struct ReportArgs {
    /// Print the report in this format [default: text]
    #[arg(
        long,
        value_name = "FORMAT",
        help_heading = "Output options",
        long_help = "Print the report on stdout in this format; messages go to stderr [default: text]"
    )]
    pub format: Option<FormatArg>,
}

/// The values of `--format` for `lock` and `verify`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    /// Human-readable text
    Text,
    /// A JSON document with everything, for programs
    Json,
    /// Annotations and a job summary for GitHub Actions
    Github,
    /// SARIF 2.1.0 for code scanning
    Sarif,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SourceArg {
    /// The origin registries, as in `terraform providers lock`
    Registry,
    /// Mirrors and registries as in `terraform init`
    Config,
}
