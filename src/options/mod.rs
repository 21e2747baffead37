//! The options that can be set on the command line and in `.tflock.toml`. The table below declares each of them once.
//!
//! The clap arguments, the config file keys, the rows of `tflock config` and the effective values are generated from the table.
//! The command line takes precedence over config files, and config files over the default. [`Sourced`] records the source of an
//! effective value.
//!
//! To add an option, add an entry to the table, read [`EffectiveOptions`] where the value matters, and describe the option
//! in docs/reference/options.md.

#[macro_use]
mod layers;
mod arguments;
mod spec;
mod suggest;
mod value;

use regex::Regex;

use crate::locking::{Mismatch, Missing};
use crate::provider::{Engine, Platform};

pub use arguments::{LayeredArgs, RejectedArgument};
pub use spec::{INDEX, LIST, LOCK, MIRROR, OptionRow, Sourced, VERIFY, ValueOrigin};
pub use suggest::{nearest, quoted_list};
pub use value::{NumberUpTo, RejectedValue, Rejection, TomlValue, ValueError, strings};

use spec::OptionSpec;
use value::WordValue;

layered_options! {
    platforms: Vec<Platform> = OptionSpec {
        key: "platforms",
        option: "platform",
        commands: LOCK | VERIFY | MIRROR,
        heading: "What to lock",
        value_name: "OS_ARCH",
        help: "Include these platforms, such as `linux_amd64,darwin_arm64` (repeatable) [default: this machine's]",
        counts_if_untrusted: |_| true,
        ..OptionSpec::new(|| vec![Platform::current()])
    };
    ignore_paths: Vec<Regex> = OptionSpec {
        key: "ignore-paths",
        option: "ignore-path",
        short: Some('i'),
        commands: LOCK | VERIFY | MIRROR | LIST | INDEX,
        heading: "Which directories",
        value_name: "REGEX",
        help: "Skip paths that match this expression (repeatable)",
        counts_if_untrusted: |_| false,
        ..OptionSpec::new(Vec::new)
    };
    create: Create = OptionSpec {
        key: "create",
        option: "create",
        commands: LOCK,
        heading: "Which directories",
        value_name: "WHEN",
        help: "Create missing lock files",
        details: "`auto` creates one in each directory that is named on the command line and has a configuration. If `-r` found the \
        directory, or if one of its files was named instead, the directory must also require a provider, and no other directory in \
        the repository may call it as a local module",
        counts_if_untrusted: |create| *create != Create::Never,
        ..OptionSpec::new(|| Create::Auto)
    };
    engine: Option<Engine> = OptionSpec {
        key: "engine",
        option: "engine",
        commands: LOCK | VERIFY | MIRROR | LIST | INDEX,
        heading: "How configurations are read",
        value_name: "TOOL",
        help: "Follow the rules of this tool",
        counts_if_untrusted: |_| true,
        ..OptionSpec::new(|| None)
    };
    missing_platform: Missing = OptionSpec {
        key: "missing-platform",
        option: "missing-platform",
        commands: LOCK | VERIFY | MIRROR,
        heading: "What to lock",
        value_name: "WHAT",
        help: "Fail or warn if a version has no package for a requested platform",
        strictest: Some(Ord::cmp),
        counts_if_untrusted: |missing| *missing == Missing::Error,
        ..OptionSpec::new(|| Missing::Error)
    };
    missing_module: Missing = OptionSpec {
        key: "missing-module",
        option: "missing-module",
        commands: LOCK | VERIFY | MIRROR | LIST,
        heading: "How configurations are read",
        value_name: "WHAT",
        help: "Fail or warn if a called module cannot be fetched",
        details: "With `warn`, lock the known requirements, report the missing module, and prune nothing",
        strictest: Some(Ord::cmp),
        counts_if_untrusted: |missing| *missing == Missing::Error,
        ..OptionSpec::new(|| Missing::Error)
    };
    unknown_unit: Missing = OptionSpec {
        key: "unknown-unit",
        option: "unknown-unit",
        commands: LOCK | VERIFY | MIRROR | LIST,
        heading: "How configurations are read",
        value_name: "WHAT",
        help: "Fail or warn if the requirements of a Terragrunt unit are unknown",
        details: "They can depend on commands, secrets or the outputs of other units, none of which tflock uses. With `warn`, only complete the \
        entries of the unit's lock file",
        strictest: Some(Ord::cmp),
        counts_if_untrusted: |unknown| *unknown == Missing::Error,
        ..OptionSpec::new(|| Missing::Warn)
    };
    // `add` and `replace` are not allowed in a config file: they would silently record a re-uploaded package for every user.
    mismatch: Mismatch = OptionSpec {
        key: "mismatch",
        option: "mismatch",
        commands: LOCK,
        heading: "What to lock",
        value_name: "WHAT",
        help: "Fail, or add or replace hashes, if none of the recorded hashes of a kept version belong to it",
        details: "In that case, the package was uploaded again, or the lock file was tampered with",
        is_allowed_in_file: |mismatch| *mismatch == Mismatch::Error,
        counts_if_untrusted: |_| true,
        ..OptionSpec::new(|| Mismatch::Error)
    };
    prune: bool = OptionSpec {
        key: "prune",
        option: "prune",
        commands: LOCK,
        heading: "What to lock",
        help: "Remove entries that the configuration no longer requires",
        counts_if_untrusted: |prune| !prune,
        ..OptionSpec::new(|| false)
    };
    jobs: NumberUpTo<256> = OptionSpec {
        key: "jobs",
        option: "jobs",
        short: Some('j'),
        commands: LOCK | VERIFY | MIRROR | LIST | INDEX,
        heading: "Where packages come from",
        value_name: "N",
        help: "Process at most N packages at once; hashing uses all cores",
        strictest: Some(Ord::cmp),
        counts_if_untrusted: |_| true,
        ..OptionSpec::new(|| NumberUpTo(8))
    };
}

/// Whether a missing lock file is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Create {
    /// For directories named on the command line, and for discovered root modules that require providers.
    Auto,
    /// For every module directory.
    Always,
    /// For no directory.
    Never,
}

impl WordValue for Create {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("auto", Self::Auto, "For root modules"),
        ("always", Self::Always, "For every module directory"),
        ("never", Self::Never, "For no directory"),
    ];
}

impl WordValue for Option<Engine> {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        (
            "auto",
            None,
            "Decide for each directory by its lock file, `.tofu` files, version files and the rest of the tree",
        ),
        ("terraform", Some(Engine::Terraform), "Terraform"),
        ("tofu", Some(Engine::Tofu), "OpenTofu"),
    ];
}

impl WordValue for Missing {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("error", Self::Error, "The directory fails"),
        (
            "warn",
            Self::Warn,
            "Record what is known, and print a warning",
        ),
    ];
}

impl WordValue for Mismatch {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("error", Self::Error, "The directory fails"),
        (
            "add",
            Self::Add,
            "Add the correct hashes to the recorded ones, as `terraform providers lock` does",
        ),
        ("replace", Self::Replace, "Record only the correct hashes"),
    ];
}
