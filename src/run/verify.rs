//! `tflock verify`: compares lock files with what the configuration requires and with the packages. It writes nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use crate::cli::VerifyArgs;
use crate::diagnostic::{Code, Diagnostic, Fix};
use crate::git::{IgnoredFile, find_ignored};
use crate::lockfile::FILE_NAME;
use crate::locking::{Audit, AuditTarget, Packages, audit};
use crate::printer::Printer;
use crate::settings::{Environment, OutputSettings, TreeSettings, VerifySettings};
use crate::span::Place;

use super::callers::add_callers;
use super::directory_command::{self, DirectoryCommand};
use super::lock::check_targets_required;
use super::progress_guard::ProgressGuard;
use super::publish::publish;
use super::read::{ReadDirectory, Task};
use super::report::{Detail, DirectoryReport, Fate, ProviderReport, RunReport};
use super::session::{Refused, Session};
use super::{A_DIRECTORY_FAILED, DONE, DRIFT};

/// Runs `tflock verify`.
pub(super) fn command(
    args: &VerifyArgs,
    environment: &Environment,
    output: OutputSettings,
    printer: Printer,
) -> anyhow::Result<u8> {
    let progress = ProgressGuard::show(output);
    let mut settings =
        VerifySettings::resolve(args, environment).map_err(|error| Refused::because(&error))?;
    if args.tree.callers {
        add_callers(&mut settings.tree, environment).map_err(|error| Refused::because(&error))?;
    }
    let session = Session::open(
        environment,
        progress,
        printer,
        &settings.tree,
        &settings.sources,
    )?;
    let command = VerifyCommand {
        detail: Detail::for_report(settings.report.format, output.verbosity),
        packages: Arc::clone(&session.packages),
        settings,
        printer,
    };
    directory_command::run(session, command)
}

struct VerifyCommand {
    settings: VerifySettings,
    packages: Arc<Packages>,
    detail: Detail,
    printer: Printer,
}

impl DirectoryCommand for VerifyCommand {
    type Survey = GitAnswers;
    type Outcome = DirectoryReport;
    type Report = RunReport;

    const INTERRUPTED: &'static str = "interrupted; nothing was written";

    fn tree(&self) -> &TreeSettings {
        &self.settings.tree
    }

    fn survey(&self, directories: &[ReadDirectory]) -> anyhow::Result<GitAnswers> {
        check_targets_required(self.tree(), directories)?;
        Ok(GitAnswers::collect(self.tree(), directories))
    }

    async fn work_on(&self, directory: ReadDirectory, git: &GitAnswers) -> DirectoryReport {
        let started = Instant::now();
        let git = git.answer(&directory, self.tree());
        let report = self.check(&directory, git).await;
        DirectoryReport {
            elapsed: started.elapsed(),
            ..report
        }
    }

    async fn report(
        self: Arc<Self>,
        directories: Vec<DirectoryReport>,
        _: &GitAnswers,
        started: Instant,
    ) -> anyhow::Result<RunReport> {
        let check = true;
        let downloaded = self.packages.downloaded();
        Ok(RunReport::new(
            "verify",
            directories,
            self.tree(),
            downloaded,
            started,
            check,
        ))
    }

    fn publish(&self, report: &RunReport) -> u8 {
        let code = if report.count(Fate::Failed) > 0 {
            A_DIRECTORY_FAILED
        } else if report.findings() > 0 {
            DRIFT
        } else {
            DONE
        };
        publish(report, code, &self.settings.report, self.printer);
        code
    }
}

impl VerifyCommand {
    async fn check(&self, directory: &ReadDirectory, git: GitAnswer) -> DirectoryReport {
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
        match git {
            // Git may ignore a lock file that is not needed.
            GitAnswer::Ignored(finding) if old.is_some() || !findings.is_empty() => {
                findings.push(*finding);
            }
            GitAnswer::NotIgnored | GitAnswer::Ignored(_) => {}
            GitAnswer::Unknown(why) => {
                unchecked.push(format!("whether git ignores the lock file: {why}"));
            }
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
        for error in &errors {
            report
                .diagnostics
                .push(Diagnostic::of(error, &directory.path));
        }
        report.providers = ProviderReport::between(&job.old, &job.old, verified, self.detail);
        (report.findings, report.unchecked) = (findings, unchecked);
        report
    }
}

/// Which lock files git ignores, by repository; or why git could not say.
struct GitAnswers {
    by_repository: BTreeMap<PathBuf, Result<BTreeMap<PathBuf, IgnoredFile>, String>>,
}

/// Whether git ignores one lock file.
enum GitAnswer {
    NotIgnored,
    Ignored(Box<Diagnostic>),
    /// Git failed.
    Unknown(String),
}

impl GitAnswers {
    /// Runs git once per repository, whatever its number of directories.
    fn collect(tree: &TreeSettings, directories: &[ReadDirectory]) -> Self {
        let mut files: BTreeMap<&Path, Vec<PathBuf>> = BTreeMap::new();
        for directory in directories {
            let is_locked = matches!(directory.task, Task::Lock { .. });
            if is_locked && directory.repository.join(".git").exists() {
                let of_repository = files.entry(&directory.repository).or_default();
                of_repository.extend(lock_file_in_repository(directory, tree));
            }
        }
        let answer = |(repository, files): (&Path, Vec<PathBuf>)| {
            let ignored = find_ignored(&tree.git, repository, &files)
                .map(|all| {
                    all.into_iter()
                        .map(|ignored| (ignored.file.clone(), ignored))
                        .collect()
                })
                .map_err(|error| error.to_string());
            (repository.to_path_buf(), ignored)
        };
        Self {
            by_repository: files.into_iter().map(answer).collect(),
        }
    }

    fn answer(&self, directory: &ReadDirectory, tree: &TreeSettings) -> GitAnswer {
        let Some(answer) = self.by_repository.get(&directory.repository) else {
            return GitAnswer::NotIgnored;
        };
        let ignored = match answer {
            Ok(ignored) => ignored,
            Err(why) => return GitAnswer::Unknown(why.clone()),
        };
        let file = lock_file_in_repository(directory, tree);
        match file.and_then(|file| ignored.get(&file)) {
            Some(ignored) => GitAnswer::Ignored(Box::new(finding(ignored, directory, tree))),
            None => GitAnswer::NotIgnored,
        }
    }
}

/// The path of the lock file from the top of the repository, without links. `None` if it is outside.
fn lock_file_in_repository(directory: &ReadDirectory, tree: &TreeSettings) -> Option<PathBuf> {
    let top = std::fs::canonicalize(&directory.repository).ok()?;
    let absolute = tree.working_directory.join(&directory.path);
    let real = std::fs::canonicalize(absolute).ok()?;
    Some(real.strip_prefix(top).ok()?.join(FILE_NAME))
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
            "git ignores the lock file, by the pattern `{}`",
            ignored.pattern
        ),
        Fix::ByHand(format!(
            "remove the pattern, or add `!{FILE_NAME}` below it; then `git add` the lock file"
        )),
    )
}
