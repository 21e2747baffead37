//! The options for hash indexes, and the arguments of `tflock index`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::options::{INDEX, LayeredArgs};

use super::groups::ConfinementArgs;

pub(super) const EXAMPLES: &str = "\
Examples:
  Create a key that signs the records of an index:
      tflock index keygen example.com/index
  Add records for the providers in all lock files below the working directory:
      tflock index fill --index s3://my-bucket/tflock --platform linux_amd64,darwin_arm64
  Add records for all versions that a constraint allows, for all platforms:
      tflock index fill --index s3://my-bucket/tflock 'hashicorp/random@~> 3.6' hashicorp/null
  Download a tenth of the packages again, and compare them with their records:
      tflock index check --index s3://my-bucket/tflock --sample 10";

/// The locations of indexes, and the trusted keys.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Hash index")]
pub struct IndexAccessArgs {
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
}

/// The options of the commands that read an index or add records to it.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Hash index")]
pub struct IndexArgs {
    #[command(flatten)]
    pub access: IndexAccessArgs,
    /// Add records to the first index for the packages that this run downloads
    #[arg(
        long = "index-push",
        long_help = "Add records to the first index for the packages whose hashes this run computes itself, signed with the key in \
TFLOCK_INDEX_SIGNING_KEY"
    )]
    pub push: bool,
    /// Download PERCENT of the packages even if an index has them, and fail if a record is false
    #[arg(
        long = "index-audit",
        value_name = "PERCENT",
        value_parser = clap::value_parser!(u8).range(1..=100),
        conflicts_with = "no_download",
        long_help = "Download PERCENT of the packages even if an index has them, selected at random, and compare them with their \
records. If a record is false, the directories that need the package fail"
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
    /// Download packages that the first index lacks, and add their records
    ///
    /// Without ADDR, selects the versions in the lock files below PATH. Packages whose records exist are not downloaded, so a run that
    /// was interrupted can be repeated. Signs with the key in `TFLOCK_INDEX_SIGNING_KEY`.
    Fill(Box<IndexPackagesArgs>),
    /// Download packages, and compare them with their records
    ///
    /// Exits with code 3 if a record is false, missing, or not signed by an --index-key.
    Check {
        /// Download only PERCENT of the packages, always the same ones
        #[arg(
            long,
            value_name = "PERCENT",
            value_parser = clap::value_parser!(u8).range(1..=100),
            default_value = "100"
        )]
        sample: u8,
        #[command(flatten)]
        packages: Box<IndexPackagesArgs>,
    },
    /// Add a signature to records that an --index-key has signed
    ///
    /// Use this command to replace a key. Downloads no packages. Signs with the key in `TFLOCK_INDEX_SIGNING_KEY`.
    Sign(Box<IndexPackagesArgs>),
    /// Show how many packages have records, and which keys signed them
    Info(Box<IndexPackagesArgs>),
}

/// The packages that a subcommand of `tflock index` processes.
#[derive(Args, Clone, Debug)]
pub struct IndexPackagesArgs {
    /// Providers: the newest version, or all versions that CONSTRAINT allows [default: those in lock files]
    #[arg(value_name = "ADDR[@CONSTRAINT]")]
    pub providers: Vec<String>,
    /// Take the versions from the lock files below PATH (repeatable) [default: .]
    #[arg(
        long = "path",
        value_name = "PATH",
        help_heading = "Which directories",
        conflicts_with = "providers"
    )]
    pub paths: Vec<PathBuf>,
    /// Process every directory below PATH (always enabled)
    #[arg(short, long, help_heading = "Which directories")]
    pub recursive: bool,
    /// Process only packages for these platforms (repeatable, comma lists accepted) [default: all that are published]
    #[arg(
        long = "platform",
        value_name = "OS_ARCH",
        value_delimiter = ',',
        help_heading = "What to lock"
    )]
    pub platforms: Vec<String>,
    /// Print the report in this format
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "text",
        help_heading = "Output options"
    )]
    pub format: IndexFormatArg,
    #[command(flatten)]
    pub layered: LayeredArgs<INDEX>,
    #[command(flatten)]
    pub confinement: ConfinementArgs,
    #[command(flatten)]
    pub access: IndexAccessArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum IndexFormatArg {
    /// Human-readable text
    Text,
    /// A JSON document for programs
    Json,
}
