//! Decides which engine a directory belongs to with `--engine auto`. See docs/reference/lock-files.md.
//!
//! The first of the following sources that names an engine decides: the header of the lock file; the addresses in it; what
//! Terragrunt runs in a unit; files that only OpenTofu reads; the nearest version file of a version manager; all lock files in
//! the tree, if they agree. The default is Terraform. The default for a Terragrunt unit is OpenTofu if it is installed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Serialize, Serializer};

use crate::parallel::lock;
use crate::provider::Engine;

/// The files that version managers read, and the engine that each implies.
pub(super) const VERSION_FILES: [(&str, Engine); 2] = [
    (".opentofu-version", Engine::Tofu),
    (".terraform-version", Engine::Terraform),
];

/// The engine of a directory, and why the directory belongs to it.
#[derive(Clone, Copy, Serialize)]
pub(super) struct DetectedEngine {
    #[serde(serialize_with = "serialize_text")]
    pub(super) engine: Engine,
    #[serde(rename = "engine_reason")]
    pub(super) reason: EngineReason,
}

/// Why a directory belongs to an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum EngineReason {
    /// The user chose it.
    #[serde(rename = "asked")]
    Requested,
    LockFile,
    /// The program that Terragrunt runs in the unit, according to the unit or an environment variable.
    Unit,
    /// Files that only OpenTofu reads.
    TofuFiles,
    /// A version file in the directory or above it.
    VersionFile,
    /// All lock files in the tree agree.
    Tree,
    /// Terragrunt runs OpenTofu if it is installed.
    Installed,
    /// The default, because nothing else decides.
    Default,
}

impl EngineReason {
    /// Returns a phrase for text reports.
    pub(super) const fn describe(self) -> &'static str {
        match self {
            Self::Requested => "as requested",
            Self::LockFile => "by its lock file",
            Self::Unit => "like its Terragrunt unit",
            Self::TofuFiles => "by its .tofu files",
            Self::VersionFile => "by a version file",
            Self::Tree => "like all lock files in the tree",
            Self::Installed => "like Terragrunt, because `tofu` is installed",
            Self::Default => "by default",
        }
    }
}

/// Serializes a value as its display text.
pub(super) fn serialize_text<S: Serializer>(
    value: &impl ToString,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&value.to_string())
}

/// Returns the engine that wrote a lock file, as shown by its header or, without a header, by its provider addresses.
pub(super) fn detect_from_lock(text: &str) -> Option<Engine> {
    let engines = [Engine::Terraform, Engine::Tofu];
    let header = text
        .trim_start_matches('\u{feff}')
        .lines()
        .take_while(|line| line.trim().is_empty() || line.starts_with('#'))
        .find_map(|line| {
            engines
                .into_iter()
                .find(|engine| line.contains(&format!("\"{} init\"", engine.program())))
        });
    header.or_else(|| {
        let names = |engine: Engine| text.contains(&format!("\"{}/", engine.default_host()));
        match engines.map(names) {
            [true, false] => Some(Engine::Terraform),
            [false, true] => Some(Engine::Tofu),
            _ => None,
        }
    })
}

/// Returns the engine that all of `engines` agree on, or `None` if they differ or `engines` is empty.
pub(super) fn agreed(mut engines: impl Iterator<Item = Engine>) -> Option<Engine> {
    let first = engines.next()?;
    engines.all(|engine| engine == first).then_some(first)
}

/// Finds the version files in module directories and their parents. Each directory is searched only once.
#[derive(Default)]
pub(super) struct VersionFiles {
    known: Mutex<HashMap<PathBuf, Option<Engine>>>,
}

impl VersionFiles {
    /// Returns the engine of the nearest version file, searching from `directory` up to `top`. Both paths are absolute. If a
    /// directory has both files, `.opentofu-version` takes precedence, because only OpenTofu version managers read it.
    pub(super) fn nearest(&self, directory: &Path, top: &Path) -> Option<Engine> {
        if let Some(known) = lock(&self.known).get(directory) {
            return *known;
        }
        let here = VERSION_FILES
            .into_iter()
            .find(|(name, _)| directory.join(name).is_file())
            .map(|(_, engine)| engine);
        let found = here.or_else(|| {
            let parent = directory.parent().filter(|_| directory != top)?;
            self.nearest(parent, top)
        });
        lock(&self.known).insert(directory.to_path_buf(), found);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_or_the_addresses_of_a_lock_file_decide() {
        let rows = [
            (
                "# This file is maintained automatically by \"tofu init\".\n",
                Some(Engine::Tofu),
            ),
            (
                "\u{feff}# This file is maintained automatically by \"terraform init\".\r\n",
                Some(Engine::Terraform),
            ),
            // The header takes precedence over addresses: OpenTofu keeps Terraform's entries in addition to its own.
            (
                "# by \"tofu init\".\nprovider \"registry.terraform.io/a/b\" {}\n",
                Some(Engine::Tofu),
            ),
            (
                "provider \"registry.opentofu.org/a/b\" {}\n",
                Some(Engine::Tofu),
            ),
            (
                "provider \"registry.terraform.io/a/b\" {}\n# \"tofu init\"\n",
                Some(Engine::Terraform),
            ),
            ("provider \"example.com/a/b\" {}\n", None),
            ("", None),
        ];
        for (text, expected) in rows {
            assert_eq!(detect_from_lock(text), expected, "{text}");
        }
    }

    #[test]
    fn conflicting_lock_files_do_not_determine_the_engine() {
        let (terraform, tofu) = (Engine::Terraform, Engine::Tofu);
        assert_eq!(agreed([tofu, tofu].into_iter()), Some(tofu));
        assert_eq!(agreed([tofu, terraform].into_iter()), None);
        assert_eq!(agreed([].into_iter()), None);
    }

    #[test]
    fn the_nearest_version_file_below_the_top_applies() {
        let tree = tempfile::tempdir().expect("a temporary directory");
        let (top, near) = (tree.path().join("repo"), tree.path().join("repo/a/b"));
        std::fs::create_dir_all(&near).expect("directories");
        std::fs::write(tree.path().join(".opentofu-version"), "").expect("a file");
        let files = VersionFiles::default;
        assert_eq!(files().nearest(&near, &top), None);
        std::fs::write(top.join(".opentofu-version"), "").expect("a file");
        assert_eq!(files().nearest(&near, &top), Some(Engine::Tofu));
        std::fs::write(top.join("a/.terraform-version"), "").expect("a file");
        assert_eq!(files().nearest(&near, &top), Some(Engine::Terraform));
    }
}
