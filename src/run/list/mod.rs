//! `tflock list`: each directory, why it is or is not a root, what it requires, what is locked, and what there is.
//!
//! Directories are read as for `tflock lock`; then each registry is asked once per provider for its versions. Nothing is
//! downloaded and nothing written.

mod gather;
mod json;
mod markdown;
mod page;
mod text;

use std::sync::Arc;

use anyhow::Context as _;

use crate::cli::{ListArgs, ListFormatArg};
use crate::diagnostic::{self, Diagnostic};
use crate::locking::Packages;
use crate::modules::Fetcher;
use crate::printer::Printer;
use crate::provider::{Engine, ProviderAddr};
use crate::settings::{Environment, ListSettings, OutputSettings};
use crate::span::visible_name;

use super::alive::Alive;
use super::engine::Reason;
use super::session::{Refused, Session};
use super::{A_DIRECTORY_FAILED, DONE, read};

/// Everything that a list shows.
struct Listing {
    /// In the order of their paths.
    directories: Vec<Entry>,
    /// What went wrong, and what should be known.
    diagnostics: Vec<Diagnostic>,
}

/// One directory.
struct Entry {
    /// As the user would name it.
    path: String,
    role: Role,
    /// Unknown where even the lock file cannot be read.
    engine: Option<(Engine, Reason)>,
    /// What it requires and what it has locked, in the order of a lock file.
    providers: Vec<Provider>,
}

/// What a directory is to `tflock lock`, and why.
enum Role {
    /// It has a lock file, or gets one.
    Root(Why),
    /// Others call it as a local module: the first of them, and how many more there are.
    Module { by: String, others: usize },
    /// It requires no provider that could be locked.
    RequiresNothing,
    /// `--ignore-path` leaves it out.
    Ignored,
    /// It could not be read.
    Failed,
}

/// Why a directory is a root.
#[derive(Clone, Copy)]
enum Why {
    LockFile,
    /// A lock file beside no configuration.
    LockFileOnly,
    Named,
    /// It requires providers, and nobody calls it.
    NotCalled,
}

/// One provider in one directory.
struct Provider {
    address: ProviderAddr,
    /// As a lock file has them; none if there are none.
    constraints: Option<String>,
    locked: Option<String>,
    /// The newest version that the constraints allow, and the newest of all; none where the registry did not say.
    newest_allowed: Option<String>,
    newest: Option<String>,
    state: State,
}

/// How the locked version stands to what is required.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// It is the newest that the constraints allow.
    Current,
    /// The constraints allow a newer one.
    Outdated,
    /// The constraints do not allow it.
    OutOfRange,
    /// It fits; whether there is a newer one is not known.
    Fits,
    /// None is locked.
    NotLocked,
    /// One is locked, and the configuration does not require the provider.
    NotRequired,
}

impl State {
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

    /// What it is, and why, for a person.
    fn words(&self) -> String {
        match self {
            Self::Root(why) => format!("root: {}", why.words()),
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

impl Why {
    const fn code(self) -> &'static str {
        match self {
            Self::LockFile => "lock-file",
            Self::LockFileOnly => "lock-file-only",
            Self::Named => "named",
            Self::NotCalled => "not-called",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::LockFile => "it has a lock file",
            Self::LockFileOnly => "it has a lock file, and no configuration",
            Self::Named => "it is named on the command line",
            Self::NotCalled => "it requires providers, and nobody calls it",
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
    let alive = Alive::show(output);
    let settings =
        ListSettings::resolve(args, environment).map_err(|error| Refused::because(&error))?;
    let format = settings.format;
    let (tree, sources) = (&settings.tree, &settings.sources);
    let session = Session::open(environment, alive, printer, tree, sources)?;
    let (packages, fetcher) = (Arc::clone(&session.packages), Arc::clone(&session.fetcher));
    session.run(
        list(settings, packages, fetcher),
        |listing| show(&listing, format, printer),
        "interrupted",
    )
}

async fn list(
    settings: ListSettings,
    packages: Arc<Packages>,
    fetcher: Arc<Fetcher>,
) -> anyhow::Result<Listing> {
    let may_ask = !settings.sources.cache.offline;
    let reading = tokio::task::spawn_blocking(move || {
        let directories = read::all(&settings.tree, &fetcher);
        (directories, read::ignored(&settings.tree))
    });
    let (directories, ignored) = reading.await.context("reading the directories stopped")?;
    Ok(gather::gather(directories, &ignored, may_ask.then_some(&*packages)).await)
}

/// The list on stdout, what went wrong and what should be known on stderr.
fn show(listing: &Listing, format: ListFormatArg, printer: Printer) -> u8 {
    match format {
        ListFormatArg::Text => printer.report(&text::render(listing)),
        ListFormatArg::Json => printer.json(&json::render(listing)),
        ListFormatArg::Html => printer.document(&page::render(listing)),
        ListFormatArg::Markdown => printer.text(&markdown::render(listing)),
    }
    for diagnostic in diagnostic::merge(listing.diagnostics.clone()) {
        printer.diagnostic(&diagnostic);
    }
    let failed = |entry: &Entry| matches!(entry.role, Role::Failed);
    if listing.directories.iter().any(failed) {
        A_DIRECTORY_FAILED
    } else {
        DONE
    }
}
