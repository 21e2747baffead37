//! The options for hash indexes, and the arguments of `tflock index`.

use clap::{Args, Subcommand};

pub(super) const EXAMPLES: &str = "\
Examples:
  Create a key that signs the records of an index:
      tflock index keygen example.com/index";

/// The options of the commands that read an index or add records to it.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Hash index")]
pub struct IndexArgs {
    /// Take hashes from this index, so that packages need not be downloaded (repeatable)
    #[arg(
        long = "index",
        value_name = "URL",
        long_help = "Take the hashes of packages from this index instead of downloading the packages: `s3://BUCKET/PREFIX`, `gs://`, `az://`, \
`https://` or `file://` (repeatable; the first index that has a package counts). Only records that an --index-key signed are used, and \
only for packages in a checksum list that the registry signed [default: TFLOCK_INDEX]"
    )]
    pub indexes: Vec<String>,
    /// Trust this key for records of the index: the key, or the path of its file (repeatable)
    #[arg(
        long = "index-key",
        value_name = "KEY",
        long_help = "Trust this key for records of the index: the key in the form NAME+HASH+KEY, or the path of its file, which must be \
outside of the repository (repeatable) [default: TFLOCK_INDEX_KEYS]"
    )]
    pub keys: Vec<String>,
    /// Add records to the first index for the packages that this run downloads
    #[arg(
        long = "index-push",
        long_help = "Add records to the first index for the packages whose hashes this run computes itself, signed with the key in \
TFLOCK_INDEX_SIGNING_KEY"
    )]
    pub push: bool,
    /// Download PERCENT of the packages all the same, and fail if a record is false
    #[arg(
        long = "index-audit",
        value_name = "PERCENT",
        value_parser = clap::value_parser!(u8).range(1..=100),
        conflicts_with = "no_download",
        long_help = "Download a random sample of the packages all the same, PERCENT of those that an index has. If a record is false, the \
directories that need the package fail"
    )]
    pub audit: Option<u8>,
    /// Fail rather than download a package
    #[arg(long)]
    pub no_download: bool,
}

#[derive(Args, Clone, Debug)]
pub struct IndexCommandArgs {
    #[command(subcommand)]
    pub command: IndexCommand,
}

#[derive(Clone, Debug, Subcommand)]
pub enum IndexCommand {
    /// Create a key that signs records, in two files in the working directory
    Keygen {
        /// The name of the key, such as `example.com/index`
        #[arg(value_name = "NAME")]
        name: String,
    },
}
