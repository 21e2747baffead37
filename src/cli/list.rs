//! `tflock list`.

use clap::{Args, ValueEnum};

use super::groups::{ReadingArgs, SourceArgs, TreeArgs};

pub(super) const EXAMPLES: &str = "\
Examples:
  Everything below this directory: what is a root, what it requires, what is locked and what there is:
      tflock list -r
  As a table for a pull request:
      tflock list -r --format markdown stacks
  As a page to keep open:
      tflock list -r --format html > providers.html
  Directories that have something newer within their constraints:
      tflock list -r --format json | jq -r '.directories[]
          | select(any(.providers[]; .state == \"outdated\")).path'";

/// Options of `tflock list`.
#[derive(Args, Clone, Debug)]
pub struct ListArgs {
    /// Which directories.
    #[command(flatten)]
    pub tree: TreeArgs,
    /// How configurations are read.
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// Where versions come from.
    #[command(flatten)]
    pub sources: SourceArgs,
    /// What the list is for
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "text",
        help_heading = "Output options"
    )]
    pub format: ListFormatArg,
}

/// Values of `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ListFormatArg {
    /// For people
    Text,
    /// For programs: one document, described in docs/reference/json.md
    Json,
    /// A table for pull requests and wikis
    Markdown,
    /// One page for a browser, which needs no network: a matrix to filter and sort
    Html,
}
