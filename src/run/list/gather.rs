//! Builds the list from the directories that were read: their roles, their locked versions, and the available versions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::{StreamExt as _, stream};

use crate::diagnostic::Diagnostic;
use crate::display::portable_path;
use crate::locking::{LockJob, Packages};
use crate::provider::{Engine, ProviderAddr, Version, VersionConstraints, newest};
use crate::registry::{AvailableVersions, RegistryError};
use crate::walk::FoundBy;

use super::super::callers::SkipReason;
use super::super::read::{ReadDirectory, Task};
use super::{DirectoryList, ListedDirectory, ListedProvider, Role, RootReason, VersionState};

/// The maximum number of concurrent requests for version lists. The lists are small and come from a few hosts.
const MAX_REQUESTS: usize = 16;

/// The available versions of each provider whose registry responded.
type Versions = BTreeMap<(Engine, ProviderAddr), Arc<AvailableVersions>>;

/// Builds the list. `packages` supplies the available versions; if it is `None`, no requests are sent.
pub(super) async fn gather(
    directories: Vec<ReadDirectory>,
    ignored: &BTreeSet<PathBuf>,
    packages: Option<&Packages>,
) -> DirectoryList {
    let (versions, errors) = match packages {
        Some(packages) => versions(&directories, packages).await,
        None => Default::default(),
    };
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    let mut entries: Vec<ListedDirectory> = Vec::with_capacity(directories.len());
    for directory in directories {
        for (engine, address) in lockable(&directory) {
            if let Some(error) = errors.get(&(engine, address)) {
                diagnostics.push(Diagnostic::warn(error, &directory.path));
            }
        }
        entries.push(entry(&directory, &versions));
        diagnostics.extend(directory.diagnostics);
    }
    entries.extend(ignored.iter().map(|path| ListedDirectory {
        path: portable_path(path),
        role: Role::Ignored,
        engine: None,
        providers: Vec::new(),
    }));
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    DirectoryList {
        directories: entries,
        diagnostics,
    }
}

/// Requests the versions of each required or locked provider once.
async fn versions(
    directories: &[ReadDirectory],
    packages: &Packages,
) -> (Versions, BTreeMap<(Engine, ProviderAddr), RegistryError>) {
    let providers: BTreeSet<_> = directories.iter().flat_map(lockable).collect();
    let request = |(engine, address): (Engine, ProviderAddr)| async move {
        let listed = packages.versions(engine, &address).await;
        ((engine, address), listed)
    };
    let responses: Vec<_> = stream::iter(providers.into_iter().map(request))
        .buffer_unordered(MAX_REQUESTS)
        .collect()
        .await;
    let (mut versions, mut errors) = (Versions::new(), BTreeMap::new());
    for (key, response) in responses {
        match response {
            Ok(listed) => drop(versions.insert(key, listed)),
            Err(error) => drop(errors.insert(key, error)),
        }
    }
    (versions, errors)
}

/// Returns the providers that a directory requires or has locked, each paired with the engine of the directory.
fn lockable(directory: &ReadDirectory) -> BTreeSet<(Engine, ProviderAddr)> {
    let Some(job) = job(directory) else {
        return BTreeSet::new();
    };
    addresses(job)
        .into_iter()
        .map(|address| (job.engine, address.clone()))
        .collect()
}

fn job(directory: &ReadDirectory) -> Option<&LockJob> {
    match &directory.task {
        Task::Skip { job, .. } | Task::Lock { job, .. } => Some(job),
        Task::Fail => None,
    }
}

/// Returns the addresses of the locked providers, and of the required providers that the engine can lock.
fn addresses(job: &LockJob) -> BTreeSet<&ProviderAddr> {
    let required = job.requirements.providers.keys();
    required
        .filter(|address| address.is_lockable(job.engine))
        .chain(job.old.providers.keys())
        .collect()
}

fn entry(directory: &ReadDirectory, versions: &Versions) -> ListedDirectory {
    ListedDirectory {
        path: portable_path(&directory.path),
        role: role(directory),
        engine: directory.engine,
        providers: job(directory).map_or_else(Vec::new, |job| providers(job, versions)),
    }
}

fn role(directory: &ReadDirectory) -> Role {
    match &directory.task {
        Task::Fail => Role::Failed,
        Task::Skip { why, .. } => match why {
            SkipReason::Called { by, others } => Role::Module {
                called_by: portable_path(by),
                other_callers: *others,
            },
            SkipReason::NoConfiguration => Role::Unconfigured,
            SkipReason::Parent => Role::Parent,
            SkipReason::Template => Role::Template,
            SkipReason::UnknownUnit => Role::Unknown,
            SkipReason::RequiresNothing | SkipReason::CreationForbidden | SkipReason::NotKept => {
                Role::RequiresNothing
            }
        },
        Task::Lock { old, job } => Role::Root {
            reason: match (old, directory.found_by) {
                (Some(_), _) if job.lock_only => RootReason::LockFileOnly,
                (Some(_), _) => RootReason::LockFile,
                (None, FoundBy::DirectoryArgument) => RootReason::Named,
                (None, FoundBy::FileArgument | FoundBy::Walk) => RootReason::NotCalled,
            },
        },
    }
}

fn providers(job: &LockJob, versions: &Versions) -> Vec<ListedProvider> {
    let provider = |address: &ProviderAddr| {
        let required = job.requirements.providers.get(address);
        let constraints = required.map(|required| &required.constraints);
        let locked = job.old.providers.get(address).map(|lock| &lock.version);
        let listed = versions.get(&(job.engine, address.clone()));
        let best = |constraints: &VersionConstraints| {
            let listed = listed?;
            newest(listed.versions(), constraints).cloned()
        };
        let anything = VersionConstraints::default();
        let newest_allowed = best(constraints.unwrap_or(&anything));
        ListedProvider {
            address: address.clone(),
            constraints: constraints
                .filter(|constraints| !constraints.is_empty())
                .map(ToString::to_string),
            locked: locked.map(ToString::to_string),
            state: state(constraints, locked, newest_allowed.as_ref()),
            newest_allowed: newest_allowed.as_ref().map(ToString::to_string),
            newest: best(&anything).as_ref().map(ToString::to_string),
        }
    };
    addresses(job).into_iter().map(provider).collect()
}

fn state(
    constraints: Option<&VersionConstraints>,
    locked: Option<&Version>,
    newest_allowed: Option<&Version>,
) -> VersionState {
    match (constraints, locked, newest_allowed) {
        (None, _, _) => VersionState::NotRequired,
        (_, None, _) => VersionState::NotLocked,
        (Some(constraints), Some(locked), _) if !constraints.allows(locked) => {
            VersionState::OutOfRange
        }
        (_, _, None) => VersionState::Fits,
        (_, Some(locked), Some(newest)) if locked < newest => VersionState::Outdated,
        _ => VersionState::Current,
    }
}
