//! The `tflock verify` command: compares lock files with the configuration and with the packages. Writes no lock files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use crate::cli::VerifyArgs;
use crate::diagnostic::{Code, Diagnostic, Fix};
use crate::git::{IgnoredFile, find_ignored};
use crate::locking::{Audit, AuditTarget, Packages, audit};
use crate::printer::Printer;
use crate::settings::{TreeSettings, VerifySettings};
use crate::span::Place;

use super::callers::add_callers;
use super::directory_command::{self, DirectoryCommand};
use super::lock::check_targets_required;
use super::progress_guard::ProgressGuard;
use super::publish::publish;
use super::read::{ReadDirectory, Task};
use super::report::{Detail, DirectoryReport, Fate, ProviderReport, RunReport};
use super::session::Session;
use super::{CommandError, DONE, DRIFT, Invocation};

pub(super) fn command(args: &VerifyArgs, invocation: Invocation<'_>) -> Result<u8, CommandError> {
    let progress = ProgressGuard::show(invocation.output);
    let mut settings = VerifySettings::resolve(args, invocation.environment)?;
    if args.callers.callers {
        add_callers(&mut settings.tree, invocation.environment)?;
    }
    let session = Session::open(invocation, progress, &settings.tree, &settings.sources)?;
    let command = VerifyCommand {
        detail: Detail::for_report(settings.report.format, invocation.output.verbosity),
        packages: Arc::clone(&session.packages),
        settings,
    };
    directory_command::run(session, command)
}

struct VerifyCommand {
    settings: VerifySettings,
    packages: Arc<Packages>,
    detail: Detail,
}

/// For each repository, the lock files that git ignores, or git's error message.
type IgnoredLockFiles = BTreeMap<PathBuf, Result<BTreeMap<PathBuf, IgnoredFile>, String>>;

impl DirectoryCommand for VerifyCommand {
    type Survey = IgnoredLockFiles;
    type Outcome = DirectoryReport;
    type Report = RunReport;

    const INTERRUPTED: &'static str = "interrupted; nothing was written";

    fn tree(&self) -> &TreeSettings {
        &self.settings.tree
    }

    fn survey(&self, directories: &[ReadDirectory]) -> Result<IgnoredLockFiles, CommandError> {
        check_targets_required(self.tree(), directories)?;
        Ok(find_ignored_lock_files(self.tree(), directories))
    }

    async fn work_on(
        &self,
        directory: ReadDirectory,
        ignored: &IgnoredLockFiles,
    ) -> DirectoryReport {
        let started = Instant::now();
        let report = self.check(&directory, ignored).await;
        DirectoryReport {
            elapsed: started.elapsed(),
            ..report
        }
    }

    async fn report(
        self: Arc<Self>,
        directories: Vec<DirectoryReport>,
        _: &IgnoredLockFiles,
        started: Instant,
    ) -> Result<RunReport, CommandError> {
        let (check, tree) = (true, self.tree());
        let index = self.packages.finish_index().await;
        let downloaded = self.packages.downloaded();
        Ok(RunReport::new(
            "verify",
            check,
            directories,
            tree,
            downloaded,
            index,
            started,
        ))
    }

    fn publish(&self, report: &RunReport, printer: Printer) -> u8 {
        let code = if report.findings() > 0 { DRIFT } else { DONE };
        publish(report, code, &self.settings.report, printer)
    }
}

impl VerifyCommand {
    async fn check(
        &self,
        directory: &ReadDirectory,
        ignored: &IgnoredLockFiles,
    ) -> DirectoryReport {
        let (old, job) = match &directory.task {
            Task::Skip { .. } => return directory.report(Fate::Skipped),
            Task::Fail => return directory.report(Fate::Failed),
            Task::Lock { old, job } => (old, job),
        };
        let target = AuditTarget {
            job,
            text: old.as_deref(),
            file: &Place::file(&directory.lock_file()),
        };
        let Audit {
            mut findings,
            errors,
            mut unchecked,
            verified,
        } = audit(target, &directory.area.policy, &self.packages).await;
        match ignored_finding(ignored, directory, self.tree()) {
            // It is fine for git to ignore a lock file that is neither present nor required.
            Ok(finding) if old.is_some() || !findings.is_empty() => findings.extend(finding),
            Ok(_) => {}
            Err(why) => unchecked.push(format!("whether git ignores the lock file: {why}")),
        }
        let fate = match (errors.is_empty(), findings.is_empty(), old) {
            (false, ..) => Fate::Failed,
            (true, false, _) => Fate::Flagged,
            (true, true, Some(_)) => Fate::Sound,
            (true, true, None) => Fate::Skipped,
        };
        for finding in &mut findings {
            finding.directories.insert(directory.path.clone());
        }
        let mut report = directory.report(fate);
        report
            .diagnostics
            .extend(Diagnostic::all(&errors, &directory.path));
        report.providers = ProviderReport::between(&job.old, &job.old, verified, self.detail);
        (report.findings, report.unchecked) = (findings, unchecked);
        report
    }
}

/// Finds the lock files that git ignores, with a single git process per repository.
fn find_ignored_lock_files(tree: &TreeSettings, directories: &[ReadDirectory]) -> IgnoredLockFiles {
    let mut files: BTreeMap<&Path, Vec<PathBuf>> = BTreeMap::new();
    for directory in directories {
        let is_locked = matches!(directory.task, Task::Lock { .. });
        if is_locked && directory.repository.join(".git").exists() {
            let of_repository = files.entry(&directory.repository).or_default();
            of_repository.extend(lock_file_in_repository(directory, tree));
        }
    }
    let find = |(repository, files): (&Path, Vec<PathBuf>)| {
        let ignored = find_ignored(&tree.git, repository, &files);
        let by_file = |all: Vec<IgnoredFile>| {
            let by_file = all
                .into_iter()
                .map(|ignored| (ignored.file.clone(), ignored));
            by_file.collect()
        };
        let ignored = ignored.map(by_file).map_err(|error| error.to_string());
        (repository.to_path_buf(), ignored)
    };
    files.into_iter().map(find).collect()
}

/// Returns the finding if git ignores the lock file. `Err` contains git's error message.
fn ignored_finding(
    ignored: &IgnoredLockFiles,
    directory: &ReadDirectory,
    tree: &TreeSettings,
) -> Result<Option<Diagnostic>, String> {
    let Some(ignored) = ignored.get(&directory.repository) else {
        return Ok(None);
    };
    let ignored = ignored.as_ref().map_err(Clone::clone)?;
    let file = lock_file_in_repository(directory, tree);
    let ignored = file.and_then(|file| ignored.get(&file));
    Ok(ignored.map(|ignored| finding(ignored, directory, tree)))
}

/// Returns the path of the lock file relative to the repository root, with symlinks resolved. `None` if it is outside.
fn lock_file_in_repository(directory: &ReadDirectory, tree: &TreeSettings) -> Option<PathBuf> {
    let top = std::fs::canonicalize(&directory.repository).ok()?;
    let absolute = tree.working_directory.join(&directory.path);
    let real = std::fs::canonicalize(absolute).ok()?;
    Some(
        real.strip_prefix(top)
            .ok()?
            .join(directory.lock_file_name()),
    )
}

fn finding(ignored: &IgnoredFile, directory: &ReadDirectory, tree: &TreeSettings) -> Diagnostic {
    let source = directory.repository.join(&ignored.source);
    let shown = source.strip_prefix(&tree.working_directory);
    Diagnostic::finding(
        Code::AuditLockFileIgnored,
        Place {
            line: ignored.line,
            column: 1,
            width: ignored.pattern.chars().count().max(1),
            source_line: None,
            path: shown.unwrap_or(&source).to_path_buf(),
        },
        format!(
            "git ignores the lock file because of the pattern `{}`",
            ignored.pattern
        ),
        Fix::ByHand(format!(
            "remove the pattern, or add `!{}` below it; then `git add` the lock file",
            directory.lock_file_name()
        )),
    )
}
