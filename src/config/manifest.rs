//! Reads `modules.json`, in which `init` and `get` record the modules that they install. See section 8 of docs/rules/config.md.
//!
//! ```json
//! {"Modules":[{"Key":"net.dns","Source":"registry.terraform.io/acme/dns/any","Version":"1.2.3","Dir":".terraform/modules/net.dns"}]}
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::access::{confine, enclosing_tree};
use crate::provider::{Engine, ModuleVersion, ModuleVersionConstraints};
use crate::redacted_url::RedactedUrl;

use super::{CallProblem, ConfigError, Location, ModuleSource, clean, module_files};

const MANIFEST: &str = "modules/modules.json";

/// The directory of installed packages, relative to the data directory. Each package has its own directory, named after its key.
const PACKAGES: &str = "modules";

/// The installed modules by key. A key consists of the names of the calls from the root, joined by dots.
#[derive(Debug, Default)]
pub(super) struct Manifest {
    records: BTreeMap<String, InstalledModule>,
}

#[derive(Debug, Deserialize)]
struct ManifestDocument {
    #[serde(rename = "Modules", default)]
    modules: Vec<InstalledModule>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct InstalledModule {
    key: String,
    #[serde(default)]
    source: String,
    #[serde(default)]
    pub(super) version: String,
    #[serde(rename = "Dir", default)]
    pub(super) directory: PathBuf,
}

impl Manifest {
    /// Reads the manifest of a root module. If the file is missing or empty, the result has no records. If a symlink in the repository
    /// leads to a file outside the repository, the file is treated as missing.
    pub(super) fn read(data_directory: &Path) -> Result<Self, ConfigError> {
        let path = data_directory.join(MANIFEST);
        if confine(&path).is_err() {
            return Ok(Self::default());
        }
        let text = match module_files::read(&path) {
            Ok(text) => text,
            Err(error) if error.is_not_found() => Vec::new(),
            Err(error) => return Err(error),
        };
        if text.is_empty() {
            return Ok(Self::default());
        }
        let invalid = |reason| ConfigError::InvalidFile {
            what: "the manifest of installed modules",
            path: path.clone(),
            reason,
        };
        let document: ManifestDocument =
            serde_json::from_slice(&text).map_err(|error| invalid(error.to_string()))?;
        let mut records = BTreeMap::new();
        for record in document.modules {
            let InstalledModule { key, version, .. } = &record;
            if !version.is_empty() && ModuleVersion::parse(version).is_err() {
                let reason = format!("it has the invalid version `{version}` for `{key}`");
                return Err(invalid(reason));
            }
            if let Some(InstalledModule { key, .. }) = records.insert(key.clone(), record) {
                return Err(invalid(format!("it contains the key `{key}` twice")));
            }
        }
        Ok(Self { records })
    }

    pub(super) fn packages(data_directory: &Path) -> PathBuf {
        data_directory.join(PACKAGES)
    }

    pub(super) fn record(&self, key: &str) -> Option<&InstalledModule> {
        self.records.get(key)
    }
}

impl InstalledModule {
    /// Returns the directory in which `init` installs the package of this module.
    pub(super) fn package(&self, data_directory: &Path) -> PathBuf {
        Manifest::packages(data_directory).join(&self.key)
    }

    /// Returns the location of the module. `None` if it does not exist. Also `None` if it is outside both the repository of the root module
    /// and the data directory: `init` never installs modules there, so the record may come from an attacker.
    pub(super) fn locate(&self, root: &Path, data_directory: &Path) -> Option<Location> {
        let location = Location::new(&clean(&root.join(&self.directory))).ok()?;
        let tree = enclosing_tree(&root.canonicalize().ok()?);
        let installed = confine(data_directory).and_then(|path| Ok(path.canonicalize()?));
        let is_installed = installed.is_ok_and(|installed| location.real.starts_with(installed));
        (location.real.starts_with(tree) || is_installed).then_some(location)
    }

    /// Checks that the recorded source and version match a call. Without a recorded version, the call must not have `version`.
    pub(super) fn check(
        &self,
        source: &ModuleSource,
        versions: Option<&ModuleVersionConstraints>,
        engine: Engine,
    ) -> Result<(), CallProblem> {
        if ModuleSource::parse(&self.source, engine).as_ref() != Ok(source) {
            return Err(CallProblem::SourceChanged {
                recorded: RedactedUrl::with_revision(&self.source).to_string(),
                required: source.shown(),
            });
        }
        let is_allowed = |versions: &ModuleVersionConstraints| {
            ModuleVersion::parse(&self.version).is_ok_and(|version| versions.allows(&version))
        };
        match versions.filter(|versions| !is_allowed(versions)) {
            None => Ok(()),
            Some(versions) => Err(CallProblem::VersionChanged {
                recorded: self.version.clone(),
                required: versions.to_string(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(text: &str) -> Result<Manifest, ConfigError> {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("modules")).unwrap();
        std::fs::write(directory.path().join(MANIFEST), text).unwrap();
        Manifest::read(directory.path())
    }

    #[test]
    fn missing_and_empty_manifests_have_no_records() {
        assert!(
            Manifest::read(Path::new("/nonexistent"))
                .unwrap()
                .records
                .is_empty()
        );
        assert!(manifest("").unwrap().records.is_empty());
    }

    #[test]
    fn broken_manifests_are_errors() {
        for text in [
            "{",
            "\u{feff}{\"Modules\":[]}",
            r#"{"Modules":[{"Key":"a"},{"Key":"a"}]}"#,
            r#"{"Modules":[{"Key":"a","Version":"x"}]}"#,
        ] {
            assert!(manifest(text).is_err(), "{text}");
        }
    }

    #[test]
    fn records_are_checked_against_the_call() {
        let text = r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"m","Source":"acme/dns/any","Version":"1.2.3","Dir":"x","Other":1}]}"#;
        let manifest = manifest(text).unwrap();
        let record = manifest.record("m").unwrap();
        let source = |text: &str| ModuleSource::parse(text, Engine::Terraform).unwrap();
        let versions = |text: &str| ModuleVersionConstraints::parse(text).unwrap();
        let check = |text: &str, constraint: Option<&str>, engine| {
            record
                .check(&source(text), constraint.map(versions).as_ref(), engine)
                .is_ok()
        };
        assert!(check(
            "registry.terraform.io/acme/dns/any",
            Some("~> 1.0"),
            Engine::Terraform
        ));
        assert!(check("acme/dns/any", None, Engine::Terraform));
        assert!(!check("acme/dns/any", Some("~> 2.0"), Engine::Terraform));
        assert!(!check("acme/dns/other", None, Engine::Terraform));
        assert!(
            !check("acme/dns/any", None, Engine::Tofu),
            "the default hosts differ"
        );
    }
}
