//! `tflock list`: each directory, why it is or is not a root, and the required, locked and newest versions.
//!
//! Directories are read as for `tflock lock`. Then tflock requests the versions of each provider once. It downloads no package
//! and writes nothing.

mod gather;
mod json;
mod markdown;
mod page;
mod text;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use crate::cli::{ListArgs, ListFormatArg};
use crate::diagnostic::{self, Diagnostic};
use crate::display::visible_name;
use crate::locking::Packages;
use crate::printer::Printer;
use crate::provider::{Engine, ProviderAddr};
use crate::settings::{Environment, ListSettings, OutputSettings, TreeSettings};

use super::directory_command::{self, DirectoryCommand};
use super::engine::EngineReason;
use super::progress_guard::ProgressGuard;
use super::read::{self, ReadDirectory};
use super::session::{Refused, Session};
use super::{A_DIRECTORY_FAILED, DONE};

/// The content of a list.
struct DirectoryList {
    /// Sorted by path.
    directories: Vec<ListedDirectory>,
    /// Errors and warnings.
    diagnostics: Vec<Diagnostic>,
}

struct ListedDirectory {
    /// The path relative to the working directory, with `/`.
    path: String,
    role: Role,
    /// `None` if the lock file cannot be read.
    engine: Option<(Engine, EngineReason)>,
    /// The required and the locked providers, in the order of a lock file.
    providers: Vec<ListedProvider>,
}

/// How `tflock lock` treats a directory, and why.
enum Role {
    /// It has a lock file, or gets one.
    Root(RootReason),
    /// Other directories call it as a local module: the first of them, and the number of the others.
    Module { by: String, others: usize },
    /// It requires no provider that a lock file records.
    RequiresNothing,
    /// `--ignore-path` leaves it out.
    Ignored,
    /// It could not be read.
    Failed,
}

/// Why a directory is a root.
#[derive(Clone, Copy)]
enum RootReason {
    LockFile,
    /// It has a lock file, and no configuration.
    LockFileOnly,
    Named,
    /// It requires providers, and no module calls it.
    NotCalled,
}

/// A provider of a directory.
struct ListedProvider {
    address: ProviderAddr,
    /// The text that a lock file would record. `None` without constraints.
    constraints: Option<String>,
    locked: Option<String>,
    /// The newest version that the constraints allow. `None` if there is none, or if the registry sent no list of versions.
    newest_allowed: Option<String>,
    /// The newest version of all.
    newest: Option<String>,
    state: VersionState,
}

/// How the locked version relates to the constraints.
#[derive(Clone, Copy, PartialEq, Eq)]
enum VersionState {
    /// It is the newest that the constraints allow.
    Current,
    /// The constraints allow a newer one.
    Outdated,
    /// The constraints do not allow it.
    OutOfRange,
    /// The constraints allow it; the newest version is unknown.
    Fits,
    /// No version is locked.
    NotLocked,
    /// The configuration does not require the provider.
    NotRequired,
}

impl VersionState {
    const fn code(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Outdated => "outdated",
            Self::OutOfRange => "out-of-range",
            Self::Fits => "fits",
            Self::NotLocked => "not-locked",
            Self::NotRequired => "not-required",
        }
    }
}

impl Role {
    const fn code(&self) -> &'static str {
        match self {
            Self::Root(_) => "root",
            Self::Module { .. } => "module",
            Self::RequiresNothing => "no-provider",
            Self::Ignored => "ignored",
            Self::Failed => "failed",
        }
    }

    /// The role and its reason as text.
    fn describe(&self) -> String {
        match self {
            Self::Root(why) => format!("root: {}", why.describe()),
            Self::Module { by, others: 0 } => format!("module of {}", visible_name(by)),
            Self::Module { by, others } => {
                format!("module of {} and {others} more", visible_name(by))
            }
            Self::RequiresNothing => "no root: it requires no provider".to_owned(),
            Self::Ignored => "ignored: `--ignore-path` or `ignore-paths` matches it".to_owned(),
            Self::Failed => "could not be read".to_owned(),
        }
    }
}

impl RootReason {
    const fn code(self) -> &'static str {
        match self {
            Self::LockFile => "lock-file",
            Self::LockFileOnly => "lock-file-only",
            Self::Named => "named",
            Self::NotCalled => "not-called",
        }
    }

    const fn describe(self) -> &'static str {
        match self {
            Self::LockFile => "it has a lock file",
            Self::LockFileOnly => "it has a lock file, and no configuration",
            Self::Named => "it is named on the command line",
            Self::NotCalled => "it requires providers, and no module calls it",
        }
    }
}

/// Runs `tflock list`.
pub(super) fn command(
    args: &ListArgs,
    environment: &Environment,
    output: OutputSettings,
    printer: Printer,
) -> anyhow::Result<u8> {
    let progress = ProgressGuard::show(output);
    let settings =
        ListSettings::resolve(args, environment).map_err(|error| Refused::because(&error))?;
    let session = Session::open(
        environment,
        progress,
        printer,
        &settings.tree,
        &settings.sources,
    )?;
    let packages = Arc::clone(&session.packages);
    let command = ListCommand {
        packages: (!settings.sources.cache.offline).then_some(packages),
        settings,
        printer,
    };
    directory_command::run(session, command)
}

struct ListCommand {
    settings: ListSettings,
    /// The source of the available versions. `None` with `--offline`.
    packages: Option<Arc<Packages>>,
    printer: Printer,
}

impl DirectoryCommand for ListCommand {
    /// The directories that `--ignore-path` leaves out.
    type Survey = BTreeSet<PathBuf>;
    type Outcome = ReadDirectory;
    type Report = DirectoryList;

    const INTERRUPTED: &'static str = "interrupted";

    fn tree(&self) -> &TreeSettings {
        &self.settings.tree
    }

    fn survey(&self, _: &[ReadDirectory]) -> anyhow::Result<BTreeSet<PathBuf>> {
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
    ) -> anyhow::Result<DirectoryList> {
        Ok(gather::gather(directories, ignored, self.packages.as_deref()).await)
    }

    fn publish(&self, list: &DirectoryList) -> u8 {
        match self.settings.format {
            ListFormatArg::Text => self.printer.report(&text::render(list)),
            ListFormatArg::Json => self.printer.json(&json::render(list)),
            ListFormatArg::Html => self.printer.document(&page::render(list)),
            ListFormatArg::Markdown => self.printer.text(&markdown::render(list)),
        }
        for diagnostic in diagnostic::merge(list.diagnostics.clone()) {
            self.printer.diagnostic(&diagnostic);
        }
        let has_failed = |listed: &ListedDirectory| matches!(listed.role, Role::Failed);
        if list.directories.iter().any(has_failed) {
            A_DIRECTORY_FAILED
        } else {
            DONE
        }
    }
}
