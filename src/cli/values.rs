//! What options accept where a few words are all there is.

use clap::ValueEnum;

/// When output is colored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Values of `--create`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CreateArg {
    /// For root modules
    Auto,
    /// For every module directory
    Always,
    /// For none
    Never,
}

/// Values of `--mismatch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MismatchArg {
    /// The directory fails
    Error,
    /// Foreign hashes stay beside the right ones
    Add,
    /// Only the right hashes are recorded
    Replace,
}

/// Values of `--missing-platform` and its like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MissingArg {
    /// The directory fails
    Error,
    /// Record the rest and say so
    Warn,
}

/// Values of `--format`.
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

/// Values of `--source`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SourceArg {
    /// The origin registries, as `terraform providers lock` does
    Registry,
    /// Mirrors and registries as for `terraform init`
    Config,
}

/// Values of `--engine`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineArg {
    /// By the lock file, `.tofu` files, version files and the rest of the tree
    Auto,
    /// Terraform
    Terraform,
    /// OpenTofu
    Tofu,
}
