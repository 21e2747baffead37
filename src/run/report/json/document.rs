//! The fields of the document, in the order of the output. `report-1.schema.json` describes them.

use serde::Serialize;

use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::display::portable_path;
use crate::span::Place;

#[derive(Serialize)]
pub(super) struct ReportDocument<'a> {
    pub(super) schema_version: u32,
    pub(super) tool: ToolDocument,
    pub(super) command: &'static str,
    pub(super) check: bool,
    pub(super) platforms: Vec<String>,
    pub(super) platforms_defaulted: bool,
    pub(super) summary: SummaryDocument,
    pub(super) directories: Vec<DirectoryDocument<'a>>,
    /// Warnings that belong to no directory.
    pub(super) diagnostics: Vec<DiagnosticDocument<'a>>,
}

#[derive(Serialize)]
pub(super) struct ToolDocument {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
}

#[derive(Serialize)]
pub(super) struct SummaryDocument {
    pub(super) directories: usize,
    pub(super) created: usize,
    pub(super) updated: usize,
    pub(super) unchanged: usize,
    pub(super) sound: usize,
    pub(super) flagged: usize,
    pub(super) skipped: usize,
    pub(super) failed: usize,
    pub(super) findings: usize,
    pub(super) packages_downloaded: u64,
    pub(super) bytes_downloaded: u64,
    pub(super) packages_from_index: usize,
    pub(super) index_records_added: u64,
    pub(super) seconds: f64,
}

#[derive(Serialize)]
pub(super) struct DirectoryDocument<'a> {
    pub(super) path: String,
    pub(super) lock_file: String,
    pub(super) engine: Option<&'static str>,
    pub(super) status: &'static str,
    pub(super) providers: Vec<ProviderDocument>,
    pub(super) moved_modules: Vec<MovedModuleDocument>,
    pub(super) findings: Vec<FindingDocument<'a>>,
    pub(super) unchecked: &'a [String],
    pub(super) diagnostics: Vec<DiagnosticDocument<'a>>,
    pub(super) diff: Option<&'a str>,
    pub(super) seconds: f64,
}

/// A module whose version differs from the one that `init` or an earlier run of tflock used.
#[derive(Serialize)]
pub(super) struct MovedModuleDocument {
    pub(super) call: String,
    pub(super) version: OldAndNew,
}

#[derive(Serialize)]
pub(super) struct ProviderDocument {
    pub(super) address: String,
    pub(super) status: &'static str,
    pub(super) version: OldAndNew,
    pub(super) constraints: OldAndNew,
    pub(super) hashes: HashesDocument,
    pub(super) packages: Vec<PackageDocument>,
}

/// An old and a new value. `null` if there is no entry or no constraint.
#[derive(Serialize)]
pub(super) struct OldAndNew {
    pub(super) old: Option<String>,
    pub(super) new: Option<String>,
}

#[derive(Serialize)]
pub(super) struct HashesDocument {
    pub(super) added: Vec<HashDocument>,
    pub(super) removed: Vec<HashDocument>,
    pub(super) kept: usize,
}

/// An added or removed hash, and its origin.
#[derive(Serialize)]
pub(super) struct HashDocument {
    pub(super) hash: String,
    pub(super) from: &'static str,
    /// The platform of the package from which the hash was computed.
    pub(super) platform: Option<String>,
    /// The key that signed the hash in a hash index.
    pub(super) index_key: Option<String>,
}

/// A package from which the entry was created or against which it was checked.
#[derive(Serialize)]
pub(super) struct PackageDocument {
    pub(super) platform: String,
    pub(super) h1: String,
    /// The key that signed the `h1` hash in a hash index. `None` if it is not from an index.
    pub(super) index_key: Option<String>,
    pub(super) bytes: Option<u64>,
    pub(super) vouched_by: &'static str,
    pub(super) signer: Option<SignerDocument>,
    pub(super) seconds: f64,
}

#[derive(Serialize)]
pub(super) struct SignerDocument {
    pub(super) key_id: String,
    pub(super) fingerprint: String,
    pub(super) tier: &'static str,
    pub(super) expired: Option<&'static str>,
}

#[derive(Serialize)]
pub(super) struct FindingDocument<'a> {
    code: Code,
    name: &'static str,
    message: &'a str,
    fix: Option<String>,
    provider: Option<String>,
    #[serde(flatten)]
    position: PositionDocument,
}

impl<'a> FindingDocument<'a> {
    pub(super) fn new(finding: &'a Diagnostic, directory: &str) -> Self {
        Self {
            code: finding.code,
            name: finding.code.name(),
            message: &finding.message,
            fix: finding.fix.as_ref().map(|fix| fix.text([directory])),
            provider: finding.provider.as_ref().map(ToString::to_string),
            position: PositionDocument::new(finding.place.as_ref()),
        }
    }
}

#[derive(Serialize)]
pub(in crate::run) struct DiagnosticDocument<'a> {
    severity: Severity,
    code: Code,
    message: &'a str,
    causes: &'a [String],
    hint: Option<&'a str>,
    #[serde(flatten)]
    position: Option<PositionDocument>,
}

impl<'a> DiagnosticDocument<'a> {
    pub(in crate::run) fn without_position(diagnostic: &'a Diagnostic) -> Self {
        Self {
            severity: diagnostic.severity,
            code: diagnostic.code,
            message: &diagnostic.message,
            causes: &diagnostic.causes,
            hint: diagnostic.hint.as_deref(),
            position: None,
        }
    }

    pub(super) fn new(diagnostic: &'a Diagnostic) -> Self {
        Self {
            position: Some(PositionDocument::new(diagnostic.place.as_ref())),
            ..Self::without_position(diagnostic)
        }
    }
}

/// A position in a file. Line and column are `null` if the position is the whole file.
#[derive(Serialize)]
struct PositionDocument {
    file: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
}

impl PositionDocument {
    fn new(place: Option<&Place>) -> Self {
        let known = |number: usize| (number > 0).then_some(number);
        Self {
            file: place.map(|place| portable_path(&place.path)),
            line: place.and_then(|place| known(place.line)),
            column: place.and_then(|place| known(place.column)),
        }
    }
}
