//! Processes the record of one package. Each record is processed once, even if several registries publish the same zip.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::diagnostic::Diagnostic;
use crate::index::{
    HashRecord, KeyName, NoteError, RecordError, RecordKey, SignedNote, SignerKey, TrustedRecord,
    VerifierKey,
};
use crate::locking::{FalseRecord, Packages, SignedPackage};
use crate::once_map::OnceMap;
use crate::provider::{Digest, Engine, PackageId};
use crate::settings::IndexTask;

use super::error::{RecordProblem, RecordTaskError};
use super::record_access::{AccessKind, RecordAccess};
use super::report::{PackageOutcome, RecordSigner, RecordState};

pub(super) struct RecordWorker {
    pub(super) task: IndexTask,
    pub(super) keys: Vec<VerifierKey>,
    pub(super) packages: Arc<Packages>,
    pub(super) access: RecordAccess,
    pub(super) done: OnceMap<RecordKey, PackageOutcome>,
}

/// The error says why a record was not processed. It is `None` if the index is no longer used, which is reported once.
type TaskResult<T> = Result<T, Option<RecordProblem>>;

/// The result of processing the record of one package.
struct ProcessedRecord {
    state: RecordState,
    signers: Vec<RecordSigner>,
}

impl From<RecordState> for ProcessedRecord {
    fn from(state: RecordState) -> Self {
        let signers = Vec::new();
        Self { state, signers }
    }
}

impl RecordWorker {
    pub(super) async fn process(&self, engine: Engine, id: PackageId) -> PackageOutcome {
        let outcome = match self.packages.signed_package(engine, &id).await {
            Ok(Some(package)) => self.process_once(engine, &id, &package).await,
            Ok(None) => PackageOutcome::new(id, RecordState::Skipped),
            Err(failure) if failure.is_missing_platform() => {
                PackageOutcome::new(id, RecordState::Skipped)
            }
            Err(failure) => self.failed(id, Some(RecordProblem::Package(Arc::new(failure)))),
        };
        self.packages.finish_package();
        outcome
    }

    async fn process_once(
        &self,
        engine: Engine,
        id: &PackageId,
        package: &SignedPackage,
    ) -> PackageOutcome {
        let is_first = AtomicBool::new(false);
        let job = || async {
            is_first.store(true, Ordering::Relaxed);
            match self.process_record(engine, package).await {
                Ok(processed) => PackageOutcome {
                    signers: processed.signers,
                    ..PackageOutcome::new(id.clone(), processed.state)
                },
                Err(problem) => self.failed(id.clone(), problem),
            }
        };
        let outcome = self.done.get_or_init(package.key(), job).await;
        let state = match outcome.state {
            RecordState::Added | RecordState::Signed if !is_first.load(Ordering::Relaxed) => {
                RecordState::Present
            }
            state => state,
        };
        PackageOutcome {
            id: id.clone(),
            state,
            ..outcome
        }
    }

    fn failed(&self, id: PackageId, problem: Option<RecordProblem>) -> PackageOutcome {
        let state = match &problem {
            Some(RecordProblem::Invalid { .. } | RecordProblem::False(_)) => RecordState::Wrong,
            _ => RecordState::Failed,
        };
        let verb = match self.task {
            IndexTask::Fill(_) => "add",
            IndexTask::Check { .. } => "confirm",
            IndexTask::Sign(_) => "sign",
            IndexTask::Info => "read",
        };
        let diagnostic = problem.map(|problem| match problem {
            // This message names no package, so that the same failure for several packages is reported once.
            RecordProblem::Access(error) => Diagnostic::general(&*error),
            problem => Diagnostic::general(&RecordTaskError {
                verb,
                id: id.clone(),
                problem,
            }),
        });
        PackageOutcome {
            diagnostic,
            ..PackageOutcome::new(id, state)
        }
    }

    async fn process_record(
        &self,
        engine: Engine,
        package: &SignedPackage,
    ) -> TaskResult<ProcessedRecord> {
        let key = package.key();
        let Some(stored) = self
            .access
            .run(AccessKind::Read, self.access.store.read(&key))
            .await?
        else {
            return match &self.task {
                IndexTask::Fill(signer) => self.add(engine, package, signer).await,
                _ => Ok(RecordState::Missing.into()),
            };
        };
        match &self.task {
            IndexTask::Fill(signer) => {
                let own = std::slice::from_ref(signer.verifier());
                let opened = open(&stored, &key, own)?;
                Ok(opened
                    .map_or(RecordState::Unsigned, |_| RecordState::Present)
                    .into())
            }
            IndexTask::Check { sample } => match open(&stored, &key, &self.keys)? {
                Some(record) if includes(*sample, key.zh) => {
                    self.compare(engine, package, &record).await
                }
                Some(_) => Ok(RecordState::Present.into()),
                None => Ok(RecordState::Unsigned.into()),
            },
            IndexTask::Sign(signer) => match open(&stored, &key, &self.keys)? {
                Some(_) => self.sign(&key, &stored, signer).await,
                None => Ok(RecordState::Unsigned.into()),
            },
            IndexTask::Info => self.describe(&key, &stored),
        }
    }

    async fn add(
        &self,
        engine: Engine,
        package: &SignedPackage,
        signer: &SignerKey,
    ) -> TaskResult<ProcessedRecord> {
        let _permit = self.access.start_addition().await.ok_or(None)?;
        let computed = self.packages.compute_hashes(engine, package).await;
        let key = package.key();
        let record = HashRecord {
            type_name: key.type_name.clone(),
            hashes: computed.map_err(RecordProblem::Package)?,
        };
        let note = record.sign(signer);
        let create = self.access.store.create(&key, &note);
        let is_new = self.access.run(AccessKind::Write, create).await?;
        Ok(if is_new {
            RecordState::Added
        } else {
            RecordState::Present
        }
        .into())
    }

    async fn compare(
        &self,
        engine: Engine,
        package: &SignedPackage,
        record: &TrustedRecord,
    ) -> TaskResult<ProcessedRecord> {
        let computed = self.packages.compute_hashes(engine, package).await;
        let computed = computed.map_err(RecordProblem::Package)?;
        FalseRecord::check(record, &package.key(), &computed).map_err(RecordProblem::False)?;
        Ok(RecordState::Checked.into())
    }

    /// Adds a signature to a record that a trusted key has signed.
    async fn sign(
        &self,
        key: &RecordKey,
        stored: &[u8],
        signer: &SignerKey,
    ) -> TaskResult<ProcessedRecord> {
        let mut note = parse(stored, key)?;
        let own = std::slice::from_ref(signer.verifier());
        if note.verify(own).is_ok() {
            return Ok(RecordState::Present.into());
        }
        let replaces_own = note.signers().any(|name| name == signer.verifier().name());
        if note.is_full() && !replaces_own {
            return Err(Some(RecordProblem::Full));
        }
        note.add_signature(signer);
        let replace = self.access.store.replace(key, &note);
        self.access.run(AccessKind::Write, replace).await?;
        Ok(RecordState::Signed.into())
    }

    fn describe(&self, key: &RecordKey, stored: &[u8]) -> TaskResult<ProcessedRecord> {
        let opened = open(stored, key, &self.keys)?;
        let note = parse(stored, key)?;
        let is_trusted = |name: &KeyName| self.keys.iter().any(|key| key.name() == name);
        let signer = |name: &KeyName| RecordSigner {
            key: name.clone(),
            is_trusted: is_trusted(name),
        };
        Ok(ProcessedRecord {
            state: opened.map_or(RecordState::Unsigned, |_| RecordState::Present),
            signers: note.signers().map(signer).collect(),
        })
    }
}

/// Returns the hashes in a record, or `None` if none of the keys signed it.
fn open(
    stored: &[u8],
    key: &RecordKey,
    trusted: &[VerifierKey],
) -> TaskResult<Option<TrustedRecord>> {
    match HashRecord::open(stored, key, trusted) {
        Ok(record) => Ok(Some(record)),
        Err(RecordError::Note(NoteError::Untrusted(_))) => Ok(None),
        Err(source) => Err(Some(invalid(key, source))),
    }
}

fn parse(stored: &[u8], key: &RecordKey) -> TaskResult<SignedNote> {
    let note = SignedNote::parse(stored);
    note.map_err(|source| Some(invalid(key, source.into())))
}

fn invalid(key: &RecordKey, source: RecordError) -> RecordProblem {
    let path = key.path();
    RecordProblem::Invalid { path, source }
}

/// Whether a sample of `percent` percent includes a package. The digest decides it, so the sample is the same in every run.
fn includes(percent: u8, zh: Digest) -> bool {
    let [a, b, c, d, ..] = *zh.as_bytes();
    u32::from_be_bytes([a, b, c, d]) % 100 < u32::from(percent)
}

#[cfg(test)]
mod tests {
    use sha2::{Digest as _, Sha256};

    use super::*;

    #[test]
    fn a_sample_has_about_its_share_and_all_of_a_smaller_one() {
        let digest = |number: u32| Digest::new(Sha256::digest(number.to_be_bytes()).into());
        let digests: Vec<Digest> = (0..10_000).map(digest).collect();
        for percent in [1, 10, 50, 100] {
            let share = digests.iter().filter(|zh| includes(percent, **zh)).count() * 100;
            let exact = digests.len() * usize::from(percent);
            assert!(share.abs_diff(exact) * 5 <= exact, "{percent}: {share}");
        }
        assert!(
            digests
                .iter()
                .all(|zh| !includes(10, *zh) || includes(20, *zh))
        );
    }
}
