//! The `tflock list` command: lists each directory, whether it is a root module and why, and the required, locked and newest
//! versions of its providers.
//!
//! Directories are read as for `tflock lock`. Then the versions of each provider are requested once. No package is downloaded.

mod gather;
mod json;
mod markdown;
mod page;
mod text;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use crate::cli::{ListArgs, ListFormatArg};
use crate::diagnostic::{self, Diagnostic};
use crate::display::visible_name;
use crate::locking::Packages;
use crate::printer::Printer;
use crate::provider::ProviderAddr;
use crate::settings::{ListSettings, TreeSettings};

use super::callers::{add_callers, describe_callers};
use super::directory_command::{self, DirectoryCommand};
use super::engine::{DetectedEngine, serialize_text};
use super::progress_guard::ProgressGuard;
use super::read::{self, ReadDirectory};
use super::session::Session;
use super::{A_DIRECTORY_FAILED, CommandError, DONE, Invocation};

/// The content of a list. `docs/reference/json.md` describes the JSON document that is derived from it.
struct DirectoryList {
    /// Sorted by path.
    directories: Vec<ListedDirectory>,
    diagnostics: Vec<Diagnostic>,
}

#[derive(Serialize)]
struct ListedDirectory {
    /// The path relative to the working directory, with `/`.
    path: String,
    #[serde(flatten)]
    role: Role,
    /// `None` if the lock file cannot be read.
    #[serde(flatten)]
    engine: Option<DetectedEngine>,
    /// The required and the locked providers, in lock file order.
    providers: Vec<ListedProvider>,
}

/// How `tflock lock` treats a directory, and why.
#[derive(Serialize)]
#[serde(tag = "role", rename_all = "kebab-case")]
enum Role {
    /// The directory has a lock file or gets one.
    Root {
        reason: RootReason,
    },
    /// Other directories call this directory as a local module.
    Module {
        /// The first caller, in path order.
        called_by: String,
        /// The number of callers in addition to the first.
        other_callers: usize,
    },
    /// The directory requires no providers that belong in a lock file.
    #[serde(rename = "no-provider")]
    RequiresNothing,
    /// The directory was named, but has neither configuration nor a lock file.
    #[serde(rename = "no-configuration")]
    Unconfigured,
    /// Terragrunt units include the file in the directory.
    Parent,
    /// A Terragrunt unit whose values only a stack sets.
    Template,
    /// A Terragrunt unit without a lock file, whose requirements are unknown.
    Unknown,
    /// `--ignore-path` excludes the directory.
    Ignored,
    Failed,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
enum RootReason {
    LockFile,
    /// The directory has a lock file but no configuration.
    LockFileOnly,
    Named,
    /// The directory requires providers, and no module calls it.
    NotCalled,
}

#[derive(Serialize)]
struct ListedProvider {
    #[serde(serialize_with = "serialize_text")]
    address: ProviderAddr,
    /// The constraints in the form that lock files record. `None` if the provider has no constraints.
    constraints: Option<String>,
    locked: Option<String>,
    /// The newest version that the constraints allow. `None` if they allow no version, or if the available versions are unknown.
    newest_allowed: Option<String>,
    /// The newest available version, whether or not the constraints allow it.
    newest: Option<String>,
    state: VersionState,
}

/// How the locked version relates to the constraints.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum VersionState {
    /// The locked version is the newest that the constraints allow.
    Current,
    /// The constraints allow a newer version.
    Outdated,
    /// The constraints do not allow the locked version.
    OutOfRange,
    /// The constraints allow the locked version, but the newest version is unknown.
    Fits,
    NotLocked,
    /// The configuration does not require the provider.
    NotRequired,
}

impl Role {
    /// Describes the role and the reason for it.
    fn describe(&self) -> String {
        let text = match self {
            Self::Root { reason } => return format!("root: {}", reason.describe()),
            Self::Module {
                called_by,
                other_callers,
            } => {
                let callers = describe_callers(&visible_name(called_by), *other_callers);
                return format!("module {callers}");
            }
            Self::RequiresNothing => "not a root: it requires no providers",
            Self::Unconfigured => "not a root: it has no configuration",
            Self::Parent => "not a root: units include it",
            Self::Template => "not a root: a stack sets its values",
            Self::Unknown => "not a root: its requirements are unknown",
            Self::Ignored => "ignored: `--ignore-path` or `ignore-paths` matches it",
            Self::Failed => "could not be read",
        };
        text.to_owned()
    }
}

impl RootReason {
    const fn describe(self) -> &'static str {
        match self {
            Self::LockFile => "it has a lock file",
            Self::LockFileOnly => "it has a lock file but no configuration",
            Self::Named => "it is named on the command line",
            Self::NotCalled => "it requires providers, and no module calls it",
        }
    }
}

pub(super) fn command(args: &ListArgs, invocation: Invocation<'_>) -> Result<u8, CommandError> {
    let progress = ProgressGuard::show(invocation.output);
    let mut settings = ListSettings::resolve(args, invocation.environment)?;
    if args.callers.callers {
        add_callers(&mut settings.tree, invocation.environment)?;
    }
    let session = Session::open(invocation, progress, &settings.tree, &settings.sources)?;
    let packages = Arc::clone(&session.packages);
    let command = ListCommand {
        packages: (!settings.sources.cache.offline).then_some(packages),
        settings,
    };
    directory_command::run(session, command)
}

struct ListCommand {
    settings: ListSettings,
    /// The source of the available versions. `None` with `--offline`.
    packages: Option<Arc<Packages>>,
}

impl DirectoryCommand for ListCommand {
    /// The directories that `--ignore-path` excludes.
    type Survey = BTreeSet<PathBuf>;
    type Outcome = ReadDirectory;
    type Report = DirectoryList;

    const INTERRUPTED: &'static str = "interrupted";

    fn tree(&self) -> &TreeSettings {
        &self.settings.tree
    }

    fn survey(&self, _: &[ReadDirectory]) -> Result<BTreeSet<PathBuf>, CommandError> {
        Ok(read::ignored(self.tree()))
    }

    async fn work_on(&self, directory: ReadDirectory, _: &BTreeSet<PathBuf>) -> ReadDirectory {
        directory
    }

    async fn report(
        self: Arc<Self>,
        directories: Vec<ReadDirectory>,
        ignored: &BTreeSet<PathBuf>,
        _: Instant,
    ) -> Result<DirectoryList, CommandError> {
        Ok(gather::gather(directories, ignored, self.packages.as_deref()).await)
    }

    fn publish(&self, list: &DirectoryList, printer: Printer) -> u8 {
        match self.settings.format {
            ListFormatArg::Text => printer.report(&text::render(list)),
            ListFormatArg::Json => printer.json(&json::render(list)),
            ListFormatArg::Html => printer.document(&page::render(list)),
            ListFormatArg::Markdown => printer.text(&markdown::render(list)),
        }
        for diagnostic in diagnostic::merge(list.diagnostics.clone()) {
            printer.diagnostic(&diagnostic);
        }
        let has_failed = |listed: &ListedDirectory| matches!(listed.role, Role::Failed);
        if list.directories.iter().any(has_failed) {
            A_DIRECTORY_FAILED
        } else {
            DONE
        }
    }
}
