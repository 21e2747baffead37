//! Selects the configuration files of a directory. See section 1 of docs/rules/config.md.
//!
//! Files are selected only by name. Primary files precede override files, and each group is sorted by name in byte order.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::access::{open_listed, read_limited};
use crate::provider::Engine;

use super::{ConfigError, is_variable_file};

/// The maximum size of a configuration file, in bytes. The largest generated configurations are a few megabytes long. Once
/// parsed, a file can take up ten times its size in memory.
pub(super) const MAX_FILE_SIZE: u64 = 16 << 20;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleFiles {
    /// In the order in which they are read.
    pub primary: Vec<PathBuf>,
    /// In the order in which they apply.
    pub overrides: Vec<PathBuf>,
    /// Whether the directory has files that set variables of a root module.
    pub has_variable_files: bool,
}

impl ModuleFiles {
    pub fn is_empty(&self) -> bool {
        self.primary.is_empty() && self.overrides.is_empty()
    }
}

/// The extensions of configuration files, longer ones first, and whether only OpenTofu reads them.
const EXTENSIONS: [(&str, bool); 4] = [
    (".tofu.json", true),
    (".tf.json", false),
    (".tofu", true),
    (".tf", false),
];

/// Whether the name has the extension of a configuration file. Unlike [`is_configuration`], this includes hidden files.
pub fn has_configuration_extension(name: &str) -> bool {
    EXTENSIONS
        .iter()
        .any(|(extension, _)| name.ends_with(extension))
}

/// Splits the name of a configuration file into stem and extension, and says whether only OpenTofu reads it.
fn split_name(name: &str) -> Option<(&str, &'static str, bool)> {
    let (extension, tofu) = EXTENSIONS
        .into_iter()
        .find(|(extension, _)| name.ends_with(extension))?;
    (!is_hidden(name)).then(|| (&name[..name.len() - extension.len()], extension, tofu))
}

/// Whether the name starts with a dot. Such files are ignored. Backup files of editors (`main.tf~`, `#main.tf#`) need no rule of their own,
/// because they do not have the extension of a configuration file.
pub(super) fn is_hidden(name: &str) -> bool {
    name.starts_with('.')
}

pub fn is_configuration(name: &str) -> bool {
    split_name(name).is_some()
}

pub fn is_tofu_only(name: &str) -> bool {
    split_name(name).is_some_and(|(_, _, tofu)| tofu)
}

fn is_override(stem: &str) -> bool {
    stem == "override" || stem.ends_with("_override")
}

/// Returns the sorted names of the entries in a directory, and whether each entry is a directory. A symlink to a directory counts as a
/// file, so reading it fails.
pub(super) fn list(directory: &Path) -> Result<Vec<(String, bool)>, ConfigError> {
    let failed = |source| ConfigError::ReadDirectory {
        path: directory.to_path_buf(),
        source,
    };
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // Entries whose names are not UTF-8 are skipped, because the names cannot be shown. Terraform would read such files.
        if let Ok(name) = entry.file_name().into_string() {
            names.push((name, entry.file_type().is_ok_and(|kind| kind.is_dir())));
        }
    }
    names.sort();
    Ok(names)
}

/// Returns the files in `directory` that `engine` reads. A directory without such files is a valid, empty module.
pub fn module_files(directory: &Path, engine: Engine) -> Result<ModuleFiles, ConfigError> {
    let names = select(list(directory)?, engine);
    let joined = |names: Vec<String>| names.iter().map(|name| directory.join(name)).collect();
    Ok(ModuleFiles {
        primary: joined(names.primary),
        overrides: joined(names.overrides),
        has_variable_files: names.has_variable_files,
    })
}

/// The files in a directory that an engine reads. Like [`ModuleFiles`], but with names instead of paths.
#[derive(Default)]
pub(super) struct ModuleFileNames {
    pub(super) primary: Vec<String>,
    pub(super) overrides: Vec<String>,
    pub(super) has_variable_files: bool,
}

/// Selects the files that `engine` reads among the sorted entries of a directory.
pub(super) fn select(entries: Vec<(String, bool)>, engine: Engine) -> ModuleFileNames {
    let mut files = ModuleFileNames {
        has_variable_files: entries.iter().any(|(name, _)| is_variable_file(name)),
        ..ModuleFileNames::default()
    };
    let names: Vec<String> = entries
        .into_iter()
        .filter(|(_, is_dir)| !is_dir)
        .map(|(name, _)| name)
        .collect();
    let hidden = hidden_names(&names, engine);
    for name in names {
        match split_name(&name) {
            _ if hidden.contains(&name) => {}
            Some((_, _, true)) if !engine.reads_tofu_files() => {}
            Some((stem, ..)) if is_override(stem) => files.overrides.push(name),
            Some(_) => files.primary.push(name),
            None => {}
        }
    }
    files
}

/// Returns the names that OpenTofu ignores because of another file: `x.tofu` hides `x.tf`, and `x.tofu.json` hides `x.tf.json`.
fn hidden_names(names: &[String], engine: Engine) -> BTreeSet<String> {
    if !engine.reads_tofu_files() {
        return BTreeSet::new();
    }
    let twins = names.iter().filter_map(|name| match split_name(name)? {
        (stem, ".tofu", _) => Some(format!("{stem}.tf")),
        (stem, ".tofu.json", _) => Some(format!("{stem}.tf.json")),
        _ => None,
    });
    twins.collect()
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, ConfigError> {
    read_up_to(path, MAX_FILE_SIZE)
}

pub(super) fn read_up_to(path: &Path, limit: u64) -> Result<Vec<u8>, ConfigError> {
    let failed = |source| ConfigError::ReadFile {
        path: path.to_path_buf(),
        source,
    };
    let (file, length) = open_listed(path).map_err(failed)?;
    let too_large = || ConfigError::TooLarge {
        path: path.to_path_buf(),
        limit,
    };
    let text = read_limited(file, length, limit).map_err(failed)?;
    text.ok_or_else(too_large)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_by(engine: Engine, names: &[&str]) -> (Vec<String>, Vec<String>) {
        let directory = tempfile::tempdir().unwrap();
        for name in names {
            match name.strip_suffix('/') {
                Some(name) => fs::create_dir(directory.path().join(name)).unwrap(),
                None => fs::write(directory.path().join(name), "").unwrap(),
            }
        }
        let files = module_files(directory.path(), engine).unwrap();
        let names = |paths: Vec<PathBuf>| {
            let names = paths
                .iter()
                .map(|path| path.file_name().unwrap().to_string_lossy().into_owned());
            names.collect()
        };
        (names(files.primary), names(files.overrides))
    }

    #[test]
    fn which_names_are_read_by_which_engine() {
        for (names, terraform, tofu) in [
            (
                &["a.tf", "b.tf.json"][..],
                &["a.tf", "b.tf.json"][..],
                &["a.tf", "b.tf.json"][..],
            ),
            (&["a.tofu", "b.tofu.json"], &[], &["a.tofu", "b.tofu.json"]),
            (&["a.tf", "a.tofu"], &["a.tf"], &["a.tofu"]),
            (
                &["a.tf.json", "a.tofu.json"],
                &["a.tf.json"],
                &["a.tofu.json"],
            ),
            (
                &["a.tf", "a.tofu.json"],
                &["a.tf"],
                &["a.tf", "a.tofu.json"],
            ), // `a.tofu.json` does not hide `a.tf`
            (&["A.tofu", "a.tf"], &["a.tf"], &["A.tofu", "a.tf"]),
            (&["a.tf", "a.tofu/"], &["a.tf"], &["a.tf"]), // a directory hides nothing
            (
                &[".a.tf", "b.tf~", "#c.tf#", "#d.tf", ".a.tofu", "a.tf"],
                &["#d.tf", "a.tf"],
                &["#d.tf", "a.tf"],
            ),
            (
                &[
                    "a.TF",
                    "a.tf.bak",
                    "a.hcl",
                    "a.tfvars",
                    "a.tfquery.hcl",
                    "a.tftest.hcl",
                    "a.tfmock.hcl",
                ],
                &[],
                &[],
            ),
            (&["x.tf/"], &[], &[]),
        ] {
            assert_eq!(read_by(Engine::Terraform, names).0, terraform, "{names:?}");
            assert_eq!(read_by(Engine::Tofu, names).0, tofu, "{names:?}");
        }
    }

    #[test]
    fn names_classify_files() {
        for (name, expected) in [
            ("main.tf", "configuration"),
            ("main.tofu", "configuration of OpenTofu"),
            ("main.tofu.json", "configuration of OpenTofu"),
            (".main.tofu", "nothing"),
            ("main.tftest.hcl", "test"),
            ("main.tofutest.json", "test"),
            ("terraform.tfvars", "values"),
            ("terraform.tfvars.json", "values"),
            ("a.auto.tfvars", "values"),
            ("a.auto.tfvars.json", "values"),
            ("a.tfvars", "nothing"),
        ] {
            let tests = crate::config::is_test_file(name);
            let values = is_variable_file(name);
            let found = match (is_configuration(name), is_tofu_only(name), tests, values) {
                (true, false, false, false) => "configuration",
                (true, true, false, false) => "configuration of OpenTofu",
                (false, false, true, false) => "test",
                (false, false, false, true) => "values",
                (false, false, false, false) => "nothing",
                other => panic!("{name}: {other:?}"),
            };
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn files_are_read_whole_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("main.tf");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read_up_to(&path, 5).unwrap(), b"12345");
        let error = read_up_to(&path, 4).unwrap_err().to_string();
        let expected = "main.tf`: it is larger than 4 bytes, the limit for configuration files";
        assert!(error.ends_with(expected), "{error}");
    }

    #[test]
    fn a_module_without_files_is_empty() {
        for (primary, overrides, is_empty) in [(0, 0, true), (1, 0, false), (0, 1, false)] {
            let files = ModuleFiles {
                primary: vec![PathBuf::from("main.tf"); primary],
                overrides: vec![PathBuf::from("override.tf"); overrides],
                has_variable_files: true,
            };
            assert_eq!(files.is_empty(), is_empty);
        }
    }

    #[test]
    fn override_files_come_after_the_others_in_byte_order() {
        let names = [
            "override.tf",
            "z_override.tf.json",
            "a_override.tf",
            "b.tf",
            "override.tofu",
            "myoverride.tf",
            // No two names differ only in case, because some file systems ignore case.
            "Z_Override.tf",
        ];
        let (primary, overrides) = read_by(Engine::Terraform, &names);
        assert_eq!(primary, ["Z_Override.tf", "b.tf", "myoverride.tf"]);
        assert_eq!(
            overrides,
            ["a_override.tf", "override.tf", "z_override.tf.json"]
        );
        let (_, overrides) = read_by(Engine::Tofu, &names);
        assert_eq!(
            overrides,
            ["a_override.tf", "override.tofu", "z_override.tf.json"]
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_to_files_are_read_and_other_links_fail() {
        let directory = tempfile::tempdir().unwrap();
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(target, directory.path().join(name)).unwrap();
        };
        fs::write(directory.path().join("real"), "a = 1").unwrap();
        fs::create_dir(directory.path().join("dir")).unwrap();
        link("real", "a.tf");
        link("nowhere", "b.tf");
        link("dir", "c.tf");
        let files = module_files(directory.path(), Engine::Terraform).unwrap();
        let readable: Vec<bool> = files
            .primary
            .iter()
            .map(|path| read(path).is_ok())
            .collect();
        assert_eq!(readable, [true, false, false]);
    }
}
