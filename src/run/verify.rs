//! `tflock verify`: lock files against what the configuration requires and what packages are. Nothing is written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;

use crate::cli::VerifyArgs;
use crate::diagnostic::{Code, Diagnostic, Fix};
use crate::git::{IgnoredFile, find_ignored};
use crate::lockfile::FILE_NAME;
use crate::locking::{Audit, AuditTarget, Packages, audit};
use crate::modules::Fetcher;
use crate::printer::Printer;
use crate::settings::{Environment, OutputSettings, TreeSettings, VerifySettings};
use crate::span::Place;

use super::alive::Alive;
use super::callers::add_callers;
use super::lock::refuse_targets_of_nobody;
use super::read::{self, Directory, Task};
use super::report::{Detail, DirectoryReport, Fate, ProviderReport, RunReport};
use super::session::{Refused, Session};
use super::{A_DIRECTORY_FAILED, DONE, DRIFT, publish, under_way};

/// Runs `tflock verify`.
pub(super) fn command(
    args: &VerifyArgs,
    environment: &Environment,
    output: OutputSettings,
    printer: Printer,
) -> anyhow::Result<u8> {
    let alive = Alive::show(output);
    let mut settings =
        VerifySettings::resolve(args, environment).map_err(|error| Refused::because(&error))?;
    if args.tree.callers {
        add_callers(&mut settings.tree, environment).map_err(|error| Refused::because(&error))?;
    }
    let (tree, reporting) = (&settings.tree, settings.report.clone());
    let session = Session::open(environment, alive, printer, tree, &settings.sources)?;
    let work = Work {
        detail: Detail::for_report(reporting.format, output.verbosity),
        tree: settings.tree,
        packages: Arc::clone(&session.packages),
    };
    let fetcher = Arc::clone(&session.fetcher);
    session.run(
        verify(Arc::new(work), fetcher),
        |report| {
            let code = exit_code(&report);
            publish::publish(&report, code, &reporting, printer);
            code
        },
        "interrupted; nothing was written",
    )
}

fn exit_code(report: &RunReport) -> u8 {
    if report.count(Fate::Failed) > 0 {
        A_DIRECTORY_FAILED
    } else if report.findings() > 0 {
        DRIFT
    } else {
        DONE
    }
}

/// What all directories share.
struct Work {
    tree: TreeSettings,
    packages: Arc<Packages>,
    detail: Detail,
}

/// Reads all directories, asks git about their lock files, then audits each on its own.
async fn verify(work: Arc<Work>, fetcher: Arc<Fetcher>) -> anyhow::Result<RunReport> {
    let started = Instant::now();
    let reading = {
        let work = Arc::clone(&work);
        tokio::task::spawn_blocking(move || {
            let directories = read::all(&work.tree, &fetcher);
            let git = Git::ask(&work.tree, &directories);
            (directories, git)
        })
    };
    let (directories, git) = reading.await.context("reading the directories stopped")?;
    refuse_targets_of_nobody(&work.tree, &directories)?;
    let mut directories = under_way::each(directories, |directory| {
        let work = Arc::clone(&work);
        let said = git.of(&directory, &work.tree);
        async move { check(directory, said, &work).await }
    })
    .await?;
    directories.sort_by(|a, b| a.directory.cmp(&b.directory));
    let mut areas = work.tree.areas.iter();
    Ok(RunReport {
        command: "verify",
        directories,
        platforms: work.tree.platforms(),
        platforms_defaulted: areas.all(|area| area.policy.platforms_defaulted),
        downloaded: work.packages.downloaded(),
        elapsed: started.elapsed(),
        check: true,
    })
}

/// Audits one directory.
async fn check(directory: Directory, git: Said, work: &Work) -> DirectoryReport {
    let started = Instant::now();
    let (old, job) = match &directory.task {
        Task::Skip { .. } => return directory.report(Fate::Skipped),
        Task::Fail => return directory.report(Fate::Failed),
        Task::Lock { old, job } => (old, job),
    };
    let audited = AuditTarget {
        job,
        text: old.as_deref(),
        file: &Place::file(&directory.lock_file()),
    };
    let Audit {
        mut findings,
        errors,
        mut unchecked,
        verified,
    } = audit(audited, &directory.area.policy, &work.packages).await;
    match git {
        // Where no lock file is needed, it does not matter.
        Said::Ignored(finding) if old.is_some() || !findings.is_empty() => findings.push(*finding),
        Said::Nothing | Said::Ignored(_) => {}
        Said::Unknown(why) => {
            unchecked.push(format!("whether git ignores the lock file: {why}"));
        }
    }
    let fate = match (errors.is_empty(), findings.is_empty(), old) {
        (false, ..) => Fate::Failed,
        (true, false, _) => Fate::Flagged,
        (true, true, Some(_)) => Fate::Sound,
        (true, true, None) => Fate::Skipped,
    };
    let mut report = directory.report(fate);
    let errors = errors.iter();
    let errors = errors.map(|error| Diagnostic::of(error, &directory.path));
    report.diagnostics.extend(errors);
    for finding in &mut findings {
        finding.directories.insert(directory.path.clone());
    }
    report.providers = ProviderReport::between(&job.old, &job.old, verified, work.detail);
    (report.findings, report.unchecked) = (findings, unchecked);
    report.elapsed = started.elapsed();
    report
}

/// What git says of the lock files, one answer per repository.
struct Git {
    by_repository: BTreeMap<PathBuf, Result<BTreeMap<PathBuf, IgnoredFile>, String>>,
}

/// What git says of one lock file.
enum Said {
    /// Nothing against it.
    Nothing,
    /// It is ignored.
    Ignored(Box<Diagnostic>),
    /// Git could not be asked.
    Unknown(String),
}

impl Git {
    /// Asks once per repository, whatever its number of directories.
    fn ask(tree: &TreeSettings, directories: &[Directory]) -> Self {
        let mut files: BTreeMap<&Path, Vec<PathBuf>> = BTreeMap::new();
        for directory in directories {
            let is_locked = matches!(directory.task, Task::Lock { .. });
            if is_locked && directory.repository.join(".git").exists() {
                let of_repository = files.entry(&directory.repository).or_default();
                of_repository.extend(lock_file_in_repository(directory, tree));
            }
        }
        let answer = |(repository, files): (&Path, Vec<PathBuf>)| {
            let ignored = find_ignored(&tree.git, repository, &files);
            let ignored = ignored.map(|all| {
                let all = all.into_iter();
                all.map(|ignored| (ignored.file.clone(), ignored)).collect()
            });
            let ignored = ignored.map_err(|error| error.to_string());
            (repository.to_path_buf(), ignored)
        };
        Self {
            by_repository: files.into_iter().map(answer).collect(),
        }
    }

    fn of(&self, directory: &Directory, tree: &TreeSettings) -> Said {
        let Some(answer) = self.by_repository.get(&directory.repository) else {
            return Said::Nothing;
        };
        let ignored = match answer {
            Ok(ignored) => ignored,
            Err(why) => return Said::Unknown(why.clone()),
        };
        let file = lock_file_in_repository(directory, tree);
        match file.and_then(|file| ignored.get(&file)) {
            Some(ignored) => Said::Ignored(Box::new(finding(ignored, directory, tree))),
            None => Said::Nothing,
        }
    }
}

/// The lock file as git knows it: from the top of the repository, through no link. Nothing if it is not below it.
fn lock_file_in_repository(directory: &Directory, tree: &TreeSettings) -> Option<PathBuf> {
    let top = std::fs::canonicalize(&directory.repository).ok()?;
    let absolute = tree.working_directory.join(&directory.path);
    let real = std::fs::canonicalize(absolute).ok()?;
    Some(real.strip_prefix(top).ok()?.join(FILE_NAME))
}

fn finding(ignored: &IgnoredFile, directory: &Directory, tree: &TreeSettings) -> Diagnostic {
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
