//! Options of the command line that accept one of a few words.

use clap::ValueEnum;

/// Values of `--color`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
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

/// Values of `--source`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SourceArg {
    /// The origin registries, as in `terraform providers lock`
    Registry,
    /// Mirrors and registries as in `terraform init`
    Config,
}
