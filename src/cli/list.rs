//! The arguments of `tflock list`.

use clap::{Args, ValueEnum};

use crate::options::{LIST, LayeredArgs};

use super::groups::{CallersArgs, ReadingArgs, SourceArgs, TreeArgs};

pub(super) const EXAMPLES: &str = "\
Examples:
  List every root module below this directory, with its required, locked and available versions:
      tflock list -r
  Write a table for a pull request:
      tflock list -r --format markdown stacks
  Write a page for a browser:
      tflock list -r --format html > providers.html
  List directories with a newer version within their constraints:
      tflock list -r --format json | jq -r '.directories[]
          | select(any(.providers[]; .state == \"outdated\")).path'";

#[derive(Args, Clone, Debug)]
pub struct ListArgs {
    #[command(flatten)]
    pub tree: TreeArgs,
    #[command(flatten)]
    pub callers: CallersArgs,
    /// Print the list in this format
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "text",
        help_heading = "Output options"
    )]
    pub format: ListFormatArg,
    #[command(flatten)]
    pub layered: LayeredArgs<LIST>,
    #[command(flatten)]
    pub reading: ReadingArgs,
    #[command(flatten)]
    pub sources: SourceArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ListFormatArg {
    /// Human-readable text
    Text,
    /// A JSON document for programs, described in docs/reference/json.md
    Json,
    /// A table for pull requests and wikis
    Markdown,
    /// A self-contained page for a browser: a matrix to filter and sort
    Html,
}
