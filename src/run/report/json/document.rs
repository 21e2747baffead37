//! The fields of the document, in the order in which they are written. `report-1.schema.json` says what each means.

use serde::Serialize;

/// The whole of it.
#[derive(Serialize)]
pub(super) struct Document {
    pub(super) schema_version: u32,
    pub(super) tool: Tool,
    pub(super) command: &'static str,
    pub(super) check: bool,
    pub(super) platforms: Vec<String>,
    pub(super) platforms_defaulted: bool,
    pub(super) summary: Summary,
    pub(super) directories: Vec<Directory>,
}

/// Who wrote it.
#[derive(Serialize)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
}

/// Sums over all directories.
#[derive(Serialize)]
pub(super) struct Summary {
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
    pub(super) seconds: f64,
}

/// One directory.
#[derive(Serialize)]
pub(super) struct Directory {
    pub(super) path: String,
    pub(super) lock_file: String,
    pub(super) engine: Option<&'static str>,
    pub(super) status: &'static str,
    pub(super) providers: Vec<Provider>,
    pub(super) moved_modules: Vec<Moved>,
    pub(super) findings: Vec<Found>,
    pub(super) unchecked: Vec<String>,
    pub(super) diagnostics: Vec<Trouble>,
    pub(super) diff: Option<String>,
    pub(super) seconds: f64,
}

/// A module that is read in another version than `init` installed.
#[derive(Serialize)]
pub(super) struct Moved {
    pub(super) call: String,
    pub(super) version: OldAndNew,
}

/// One entry of a lock file.
#[derive(Serialize)]
pub(super) struct Provider {
    pub(super) address: String,
    pub(super) status: &'static str,
    pub(super) version: OldAndNew,
    pub(super) constraints: OldAndNew,
    pub(super) hashes: Hashes,
    pub(super) packages: Vec<Package>,
}

/// `null` where there is no entry, or no constraint.
#[derive(Serialize)]
pub(super) struct OldAndNew {
    pub(super) old: Option<String>,
    pub(super) new: Option<String>,
}

/// What became of the hashes of an entry.
#[derive(Serialize)]
pub(super) struct Hashes {
    pub(super) added: Vec<RecordedHash>,
    pub(super) removed: Vec<RecordedHash>,
    pub(super) kept: usize,
}

/// A hash that came or went, and where it is from.
#[derive(Serialize)]
pub(super) struct RecordedHash {
    pub(super) hash: String,
    pub(super) from: &'static str,
    /// Of the package that it was taken over.
    pub(super) platform: Option<String>,
}

/// A package that was looked at.
#[derive(Serialize)]
pub(super) struct Package {
    pub(super) platform: String,
    pub(super) h1: String,
    pub(super) bytes: Option<u64>,
    pub(super) vouched_by: &'static str,
    pub(super) signer: Option<SignedBy>,
    pub(super) seconds: f64,
}

/// Whose signature vouches for a package.
#[derive(Serialize)]
pub(super) struct SignedBy {
    pub(super) key_id: String,
    pub(super) fingerprint: String,
    pub(super) tier: &'static str,
    pub(super) expired: Option<&'static str>,
}

/// A finding of `verify`.
#[derive(Serialize)]
pub(super) struct Found {
    pub(super) code: &'static str,
    pub(super) name: &'static str,
    pub(super) message: String,
    pub(super) fix: String,
    pub(super) provider: Option<String>,
    #[serde(flatten)]
    pub(super) position: Position,
}

/// Where something stands; line and column are `null` where the whole file is meant.
#[derive(Serialize)]
pub(super) struct Position {
    pub(super) file: Option<String>,
    pub(super) line: Option<usize>,
    pub(super) column: Option<usize>,
}

/// An error or a warning.
#[derive(Serialize)]
pub(super) struct Trouble {
    pub(super) severity: &'static str,
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) causes: Vec<String>,
    pub(super) hint: Option<String>,
    #[serde(flatten)]
    pub(super) position: Position,
}
