//! The report of the commands below `tflock index`, as data, as text and as JSON. `index-1.schema.json` describes the JSON document.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde::Serialize;

use crate::diagnostic::{self, Diagnostic};
use crate::display::counted;
use crate::index::KeyName;
use crate::locking::Downloaded;
use crate::provider::PackageId;
use crate::run::report::{DiagnosticDocument, bytes, write_versions};

/// What a command found out about a record, or did with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RecordState {
    Added,
    Signed,
    /// The record is equal to what this run computed from the package.
    Checked,
    /// The index has a record, and one of the keys signed it.
    Present,
    Missing,
    /// None of the keys signed the record.
    Unsigned,
    /// The record contradicts the package, or it is malformed.
    Wrong,
    /// The registry has no such package, or does not sign its checksum list.
    Skipped,
    Failed,
}

impl RecordState {
    const ALL: [Self; 9] = [
        Self::Added,
        Self::Signed,
        Self::Checked,
        Self::Present,
        Self::Missing,
        Self::Unsigned,
        Self::Wrong,
        Self::Skipped,
        Self::Failed,
    ];

    /// Returns the word that reports use for the state.
    const fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Signed => "signed",
            Self::Checked => "checked",
            Self::Present => "present",
            Self::Missing => "missing",
            Self::Unsigned => "unsigned",
            Self::Wrong => "wrong",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
        }
    }

    /// Whether the text report names the packages in this state only with `--verbose`.
    const fn is_unremarkable(self) -> bool {
        matches!(self, Self::Checked | Self::Present | Self::Skipped)
    }
}

/// A key that claims to have signed a record. The signature of a trusted key has been verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RecordSigner {
    pub(super) key: KeyName,
    pub(super) is_trusted: bool,
}

#[derive(Clone, Debug)]
pub(super) struct PackageOutcome {
    pub(super) id: PackageId,
    pub(super) state: RecordState,
    /// Filled only by `tflock index info`.
    pub(super) signers: Vec<RecordSigner>,
    pub(super) diagnostic: Option<Diagnostic>,
}

impl PackageOutcome {
    pub(super) const fn new(id: PackageId, state: RecordState) -> Self {
        Self {
            id,
            state,
            signers: Vec::new(),
            diagnostic: None,
        }
    }
}

#[derive(Debug)]
pub(super) struct IndexReport {
    pub(super) command: &'static str,
    pub(super) index: String,
    /// The key that signs new records.
    pub(super) signer: Option<KeyName>,
    pub(super) outcomes: Vec<PackageOutcome>,
    /// Errors and warnings that belong to no package.
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) downloaded: Downloaded,
    pub(super) elapsed: Duration,
}

impl IndexReport {
    /// Sorts outcomes, which arrive in the order in which packages are finished.
    pub(super) fn sort(mut outcomes: Vec<PackageOutcome>) -> Vec<PackageOutcome> {
        outcomes.sort_by(|a, b| a.id.cmp(&b.id));
        outcomes
    }

    pub(super) fn count(&self, state: RecordState) -> usize {
        let outcomes = self.outcomes.iter();
        outcomes.filter(|outcome| outcome.state == state).count()
    }

    /// Returns all errors and warnings, with duplicates merged.
    pub(super) fn all_diagnostics(&self) -> Vec<Diagnostic> {
        let own = self.outcomes.iter();
        let own = own.filter_map(|outcome| outcome.diagnostic.as_ref());
        diagnostic::merge(own.chain(&self.diagnostics).cloned().collect())
    }

    pub(super) fn text(&self, verbosity: u8) -> String {
        let mut text = String::new();
        for state in RecordState::ALL {
            if verbosity > 0 || !state.is_unremarkable() {
                let outcomes = self.outcomes.iter();
                let ids = outcomes.filter(|outcome| outcome.state == state);
                write_versions(&mut text, state.name(), ids.map(|outcome| &outcome.id));
            }
        }
        for ((key, is_trusted), records) in self.signers() {
            let trusted = if is_trusted { "" } else { ", not trusted" };
            let records = counted(records, "record", "records");
            let _ = writeln!(text, "signed by {key} ({records}{trusted})");
        }
        let packages = counted(self.outcomes.len(), "package", "packages");
        let _ = write!(text, "{}: {packages}", self.index);
        let counts: Vec<String> = RecordState::ALL
            .into_iter()
            .filter(|state| self.count(*state) > 0)
            .map(|state| format!("{} {}", self.count(state), state.name()))
            .collect();
        if !counts.is_empty() {
            let _ = write!(text, ": {}", counts.join(", "));
        }
        if self.downloaded.packages > 0 {
            let _ = write!(text, "; {} downloaded", bytes(self.downloaded.bytes));
        }
        let _ = writeln!(text, "; {:.1} s", self.elapsed.as_secs_f64());
        if let (Some(signer), "fill", 1..) = (
            &self.signer,
            self.command,
            self.count(RecordState::Unsigned),
        ) {
            let _ = writeln!(
                text,
                "some records lack a signature by {signer}; add it with `tflock index sign`"
            );
        }
        text
    }

    /// Returns the number of records that each key signed.
    fn signers(&self) -> BTreeMap<(&KeyName, bool), usize> {
        let mut signers = BTreeMap::new();
        for RecordSigner { key, is_trusted } in
            self.outcomes.iter().flat_map(|outcome| &outcome.signers)
        {
            *signers.entry((key, *is_trusted)).or_default() += 1;
        }
        signers
    }

    /// Renders the JSON document, with a final newline.
    pub(super) fn json(&self) -> String {
        let packages = self.outcomes.iter().map(|outcome| IndexPackageDocument {
            provider: outcome.id.provider.to_string(),
            version: outcome.id.version.to_string(),
            platform: outcome.id.platform.to_string(),
            state: outcome.state.name(),
        });
        let signers = self.signers().into_iter();
        let signers = signers.map(|((key, trusted), records)| IndexSignerDocument {
            key: key.to_string(),
            trusted,
            records,
        });
        let diagnostics = self.all_diagnostics();
        let document = IndexDocument {
            schema_version: 1,
            command: self.command,
            index: &self.index,
            signing_key: self.signer.as_ref().map(KeyName::to_string),
            packages: packages.collect(),
            signers: signers.collect(),
            diagnostics: diagnostics
                .iter()
                .map(DiagnosticDocument::without_position)
                .collect(),
            bytes_downloaded: self.downloaded.bytes,
            seconds: self.elapsed.as_secs_f64(),
        };
        // Strings, numbers and lists can always be serialized.
        serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
    }
}

#[derive(Serialize)]
struct IndexDocument<'a> {
    schema_version: u32,
    command: &'static str,
    index: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    signing_key: Option<String>,
    packages: Vec<IndexPackageDocument>,
    signers: Vec<IndexSignerDocument>,
    diagnostics: Vec<DiagnosticDocument<'a>>,
    bytes_downloaded: u64,
    seconds: f64,
}

#[derive(Serialize)]
struct IndexPackageDocument {
    provider: String,
    version: String,
    platform: String,
    state: &'static str,
}

#[derive(Serialize)]
struct IndexSignerDocument {
    key: String,
    trusted: bool,
    records: usize,
}
