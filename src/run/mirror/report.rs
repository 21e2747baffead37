//! The report of `tflock mirror`, as data, as text and as JSON. `mirror-1.schema.json` describes the JSON document.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use crate::diagnostic::{self, Code, Diagnostic};
use crate::display::{counted, portable_path, visible_name};
use crate::locking::Downloaded;
use crate::mirror::{ListedPackage, UnlistedZip};
use crate::provider::{PackageId, Platform, ProviderAddr};
use crate::run::report::{DiagnosticDocument, Fate, bytes, write_versions};
use crate::settings::MirrorTarget;

use super::check::PackageFault;
use super::filler::PackageState;

#[derive(Clone, Debug)]
pub(super) struct DirectoryDone {
    /// The path as the user would write it.
    pub(super) path: PathBuf,
    /// What happened to the lock file. Without `--lock`, it is only read and remains unchanged.
    pub(super) fate: Fate,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The packages that the lock file names.
    pub(super) packages: Vec<PackageId>,
}

#[derive(Debug)]
pub(super) struct MirrorReport {
    pub(super) target: MirrorTarget,
    pub(super) check: bool,
    pub(super) directories: Vec<DirectoryDone>,
    /// Without `--check`: the packages that are in the mirror.
    pub(super) states: BTreeMap<PackageId, PackageState>,
    /// With `--check`: the packages with a fault.
    pub(super) faults: BTreeMap<PackageId, PackageFault>,
    pub(super) pruned: Vec<ListedPackage>,
    /// Damaged zips that the index leaves out.
    pub(super) unlisted: Vec<UnlistedZip>,
    /// Errors and warnings that belong to no directory.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The warnings about hash indexes. The session has printed them, so only the JSON document contains them.
    pub(super) index_warnings: Vec<Diagnostic>,
    pub(super) platforms: Vec<Platform>,
    pub(super) platforms_defaulted: bool,
    pub(super) downloaded: Downloaded,
    pub(super) elapsed: Duration,
}

impl MirrorReport {
    /// Returns whether a directory failed, or an error affects the whole mirror.
    pub(super) fn has_failed(&self) -> bool {
        let mut directories = self.directories.iter();
        directories.any(|directory| directory.fate == Fate::Failed)
            || self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// Returns whether the run added packages to the mirror.
    pub(super) fn has_grown(&self) -> bool {
        let mut states = self.states.values();
        states.any(|state| *state == PackageState::Added)
    }

    /// Returns the providers whose packages lock files name.
    pub(super) fn providers(&self) -> BTreeSet<ProviderAddr> {
        let packages = self.directories.iter().flat_map(|done| &done.packages);
        packages.map(|id| id.provider.clone()).collect()
    }

    /// Returns all errors and warnings, with duplicates merged.
    pub(super) fn all_diagnostics(&self) -> Vec<Diagnostic> {
        let unlisted = self.unlisted.iter().map(|unlisted| {
            let text = format!(
                "`{}` is damaged and was left out of the index: {}",
                unlisted.path.display(),
                unlisted.problem
            );
            Diagnostic::warning(Code::Mirror, text, None)
        });
        let diagnostics = self
            .directories
            .iter()
            .flat_map(|directory| &directory.diagnostics)
            .chain(&self.diagnostics)
            .cloned()
            .chain(unlisted)
            .collect();
        diagnostic::merge(diagnostics)
    }

    pub(super) fn text(&self, verbosity: u8) -> String {
        let mut text = String::new();
        let ids_in = |state: PackageState| {
            let states = self.states.iter();
            states
                .filter(move |(_, actual)| **actual == state)
                .map(|(id, _)| id)
        };
        for state in [
            PackageState::Kept,
            PackageState::Added,
            PackageState::Repaired,
        ] {
            if verbosity > 0 || state != PackageState::Kept {
                write_versions(&mut text, state.name(), ids_in(state));
            }
        }
        let pruned = self.pruned.iter().map(|listed| &listed.id);
        write_versions(&mut text, "pruned", pruned);
        let missing = self
            .faults
            .iter()
            .filter(|(_, fault)| **fault == PackageFault::Missing)
            .map(|(id, _)| id);
        write_versions(&mut text, "missing", missing);
        for (id, fault) in &self.faults {
            let (verb, Some(why)) = fault.describe() else {
                continue;
            };
            let _ = writeln!(
                text,
                "{verb:<9} {} {} ({}): {}",
                id.provider,
                id.version,
                id.platform,
                visible_name(why)
            );
        }
        self.write_summary(&mut text);
        text
    }

    fn write_summary(&self, text: &mut String) {
        let needed: BTreeSet<&PackageId> = self
            .directories
            .iter()
            .flat_map(|directory| &directory.packages)
            .collect();
        let with_locks = self.directories.iter();
        let with_locks = with_locks.filter(|directory| directory.fate != Fate::Skipped);
        let directories = counted(with_locks.count(), "directory", "directories");
        let packages = counted(needed.len(), "package", "packages");
        let states = self.states.values();
        let count = |state| states.clone().filter(|actual| **actual == state).count();
        let counts = [
            (count(PackageState::Kept), "already stored"),
            (count(PackageState::Added), "added"),
            (count(PackageState::Repaired), "repaired"),
            (self.faults.len(), "missing or damaged"),
            (self.pruned.len(), "pruned"),
        ];
        let parts: Vec<String> = counts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        let _ = write!(text, "{directories}, {packages}");
        if !parts.is_empty() {
            let _ = write!(text, ": {}", parts.join(", "));
        }
        if self.downloaded.packages > 0 {
            let _ = write!(text, "; {} downloaded", bytes(self.downloaded.bytes));
        }
        let _ = writeln!(text, "; {:.1} s", self.elapsed.as_secs_f64());
        if !self.faults.is_empty() {
            let _ = writeln!(text, "hint: run the same command without `--check`");
        }
        if let (true, Some(platform)) = (self.platforms_defaulted, self.platforms.first())
            && !needed.is_empty()
        {
            let _ = writeln!(
                text,
                "only for {platform}, the platform of this machine; request others with --platform"
            );
        }
    }

    /// Lists the packages in the mirror, then those with a fault.
    fn package_documents(&self) -> Vec<MirrorPackageDocument> {
        let package =
            |id: &PackageId, state: &'static str, problem: Option<&String>| MirrorPackageDocument {
                provider: id.provider.to_string(),
                version: id.version.to_string(),
                platform: id.platform.to_string(),
                path: self.target.location(id),
                state,
                problem: problem.cloned(),
            };
        let states = self.states.iter();
        let stored = states.map(|(id, state)| package(id, state.name(), None));
        let faults = self.faults.iter().map(|(id, fault)| {
            let (state, why) = fault.describe();
            package(id, state, why)
        });
        stored.chain(faults).collect()
    }

    /// Renders the JSON document, with a final newline.
    pub(super) fn json(&self) -> String {
        let directories = self.directories.iter();
        let directories = directories.map(|directory| MirrorDirectoryDocument {
            path: portable_path(&directory.path),
            fate: directory.fate.name(),
            diagnostics: diagnostic_documents(&directory.diagnostics),
        });
        let document = MirrorDocument {
            schema_version: 1,
            command: "mirror",
            check: self.check,
            mirror: self.target.to_string(),
            layout: self.target.layout(),
            platforms: self.platforms.iter().map(Platform::to_string).collect(),
            packages: self.package_documents(),
            pruned: self
                .pruned
                .iter()
                .map(|listed| portable_path(listed.package.path()))
                .collect(),
            directories: directories.collect(),
            diagnostics: diagnostic_documents(self.diagnostics.iter().chain(&self.index_warnings)),
            bytes_downloaded: self.downloaded.bytes,
            seconds: self.elapsed.as_secs_f64(),
        };
        // Strings, numbers and lists can always be serialized.
        serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
    }
}

fn diagnostic_documents<'a>(
    diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
) -> Vec<DiagnosticDocument<'a>> {
    let diagnostics = diagnostics.into_iter();
    diagnostics
        .map(DiagnosticDocument::without_position)
        .collect()
}

#[derive(Serialize)]
struct MirrorDocument<'a> {
    schema_version: u32,
    command: &'static str,
    check: bool,
    mirror: String,
    layout: &'static str,
    platforms: Vec<String>,
    packages: Vec<MirrorPackageDocument>,
    pruned: Vec<String>,
    directories: Vec<MirrorDirectoryDocument<'a>>,
    diagnostics: Vec<DiagnosticDocument<'a>>,
    bytes_downloaded: u64,
    seconds: f64,
}

#[derive(Serialize)]
struct MirrorPackageDocument {
    provider: String,
    version: String,
    platform: String,
    path: String,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

#[derive(Serialize)]
struct MirrorDirectoryDocument<'a> {
    path: String,
    fate: &'static str,
    diagnostics: Vec<DiagnosticDocument<'a>>,
}
