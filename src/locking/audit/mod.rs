//! Verifies a lock file: compares its entries with the configuration and with the packages.
//!
//! Nothing is written, and no recorded value is trusted. Checks that require network access are listed as unchecked if
//! `--offline` forbids it.

mod findings;
mod provider_audit;

use crate::display::counted;
use crate::lockfile::ProviderLock;
use crate::provider::{Platform, ProviderAddr};
use crate::span::Place;

use super::directory::{LockJob, VerifiedPackage};
use super::error::LockingError;
use super::join_bounded::join_bounded;
use super::packages::Packages;
use super::policy::{Policy, ProviderScope};
use super::provider_task::ProviderTask;
use crate::diagnostic::{Code, Diagnostic, Fix};
use provider_audit::ProviderAudit;

/// The result of verifying one lock file.
#[derive(Debug, Default)]
pub struct Audit {
    /// The findings about the lock file, sorted by position.
    pub findings: Vec<Diagnostic>,
    /// Why some providers could not be verified.
    pub errors: Vec<LockingError>,
    /// The checks that `--offline` prevented, as phrases that begin with "whether".
    pub unchecked: Vec<String>,
    /// The packages of the requested platforms.
    pub verified: Vec<VerifiedPackage>,
}

#[derive(Clone, Copy, Debug)]
pub struct AuditTarget<'a> {
    /// The root module, with the parsed lock file.
    pub job: &'a LockJob,
    /// The bytes of the lock file; `None` if it does not exist.
    pub text: Option<&'a [u8]>,
    /// The path of the lock file.
    pub file: &'a Place,
}

/// Verifies the lock file of one root module.
pub async fn audit(audited: AuditTarget<'_>, policy: &Policy, packages: &Packages) -> Audit {
    let job = audited.job;
    let scope = ProviderScope::new(policy, job.engine);
    let tasks: Vec<_> =
        ProviderTask::all(job, &job.old.providers, &scope, policy, packages).collect();
    let mut audit = Audit::default();
    let Some(text) = audited.text else {
        if let Some(first) = tasks.first() {
            let place = first.requirement.declared.as_ref().unwrap_or(audited.file);
            let required = counted(tasks.len(), "provider is", "providers are");
            audit.findings.push(Diagnostic::finding(
                Code::AuditNoLockFile,
                place.clone(),
                format!("there is no lock file, and {required} required"),
                Fix::lock([], requested_platforms(policy)),
            ));
        }
        return audit;
    };
    let mut audits = Vec::with_capacity(tasks.len());
    for task in tasks {
        match task.old {
            Some(lock) => audits.push(
                ProviderAudit {
                    task,
                    target: audited,
                    text,
                    lock,
                }
                .audit(),
            ),
            None => audit.findings.push(not_locked(audited, task)),
        }
    }
    for part in join_bounded(audits).await {
        audit.findings.extend(part.findings);
        audit.errors.extend(part.errors);
        audit.unchecked.extend(part.unchecked);
        audit.verified.extend(part.verified);
    }
    if !job.lock_only {
        audit.findings.extend(unrequired(audited, policy, &scope));
    }
    audit.findings.extend(not_canonical(audited, text, policy));
    audit.findings.extend(module_blocks(audited));
    audit.findings.sort_by(|a, b| order(a).cmp(&order(b)));
    audit
}

fn order(finding: &Diagnostic) -> impl Ord + '_ {
    (
        &finding.place,
        finding.code,
        &finding.provider,
        &finding.message,
    )
}

fn not_locked(audited: AuditTarget<'_>, task: ProviderTask<'_>) -> Diagnostic {
    let place = task.requirement.declared.as_ref().unwrap_or(audited.file);
    let message = format!("`{}` is required but not locked", task.address);
    let fix = Fix::lock([], requested_platforms(task.policy));
    Diagnostic {
        provider: Some(task.address.clone()),
        ..Diagnostic::finding(Code::AuditProviderNotLocked, place.clone(), message, fix)
    }
}

/// Reports a lock file that differs from what the engine would write. If only the line endings differ, the message explains how to
/// stop git from converting them.
fn not_canonical(audited: AuditTarget<'_>, text: &[u8], policy: &Policy) -> Option<Diagnostic> {
    let engine = audited.job.engine;
    let canonical = audited.job.old.render(engine);
    let modules = audited.job.modules.as_ref();
    let text = modules.map_or(text, |modules| &modules.rest);
    if canonical.as_bytes() == text {
        return None;
    }
    let mut message = format!("the file differs from what `{engine} init` would write");
    if canonical.replace('\n', "\r\n").as_bytes() == text {
        let name = engine.lock_file_name();
        let advice = format!("add `{name} text eol=lf` to `.gitattributes`");
        message += ": it has CRLF line endings (to stop git from converting them, ";
        message += &advice;
        message += ")";
    }
    let fix = Fix::lock([], requested_platforms(policy));
    Some(Diagnostic::finding(
        Code::AuditNotCanonical,
        audited.file.clone(),
        message,
        fix,
    ))
}

/// Reports `module` blocks, which the engines read but do not write.
fn module_blocks(audited: AuditTarget<'_>) -> Option<Diagnostic> {
    let modules = audited.job.modules.as_ref()?;
    let blocks = counted(modules.count, "`module` block", "`module` blocks");
    let message = format!(
        "the file has {blocks}: the next change removes them, because neither Terraform nor OpenTofu supports them yet"
    );
    let fix = "find out what wrote them, and delete them unless that program needs them";
    Some(Diagnostic::finding(
        Code::AuditModuleBlocks,
        modules.first.clone(),
        message,
        Fix::ByHand(fix.to_owned()),
    ))
}

/// Returns the platforms to name in a fix, or an empty list if the user requested none.
fn requested_platforms(policy: &Policy) -> &[Platform] {
    if policy.platforms_defaulted {
        &[]
    } else {
        &policy.platforms
    }
}

/// Reports entries that the configuration does not require.
fn unrequired(audited: AuditTarget<'_>, policy: &Policy, scope: &ProviderScope) -> Vec<Diagnostic> {
    let job = audited.job;
    let is_unrequired = |address: &ProviderAddr| {
        !job.requirements.providers.contains_key(address) && scope.includes(address)
    };
    let fix = if job.complete {
        Fix::lock(["--prune".to_owned()], requested_platforms(policy))
    } else {
        Fix::ByHand("make all modules available first: not all requirements are known".to_owned())
    };
    let finding = |(address, lock): (&ProviderAddr, &ProviderLock)| {
        let place = job.places.get(address).unwrap_or(audited.file).clone();
        let message = format!(
            "`{address}` {} is locked but not required by the configuration",
            lock.version
        );
        Diagnostic {
            provider: Some(address.clone()),
            ..Diagnostic::finding(Code::AuditEntryNotRequired, place, message, fix.clone())
        }
    };
    let entries = job.old.providers.iter();
    entries
        .filter(|(address, _)| is_unrequired(address))
        .map(finding)
        .collect()
}
