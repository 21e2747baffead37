//! The settings for Mercurial commands: the environment and the configuration.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::subprocess::ProgramSettings;

/// The settings for Mercurial commands. Mercurial inherits only the variables that it needs, and ignores the configuration of the
/// system, the user and repositories, which can name extensions and hooks.
#[derive(Clone, Debug)]
pub struct HgSettings {
    settings: ProgramSettings,
}

/// The configuration for every command. Servers and repositories cannot name other addresses to fetch from, and ssh never prompts.
const CONFIGURATION: [&str; 5] = [
    "ui.ssh=ssh -o BatchMode=yes",
    "ui.clonebundles=false",
    "ui.archivemeta=false",
    "subrepos.allowed=false",
    "worker.enabled=false",
];

/// The variables that Mercurial always gets. `HGRCSKIPREPO` disables the configuration in repositories since version 5.3.
const FIXED: [(&str, &str); 6] = [
    ("HGRCPATH", ""),
    ("HGRCSKIPREPO", "1"),
    ("HGPLAIN", "1"),
    ("HGENCODING", "utf-8"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("LC_ALL", "C"),
];

impl HgSettings {
    /// Creates settings for the program with this name or path. `environment` is the caller's environment.
    pub fn new(program: impl Into<PathBuf>, environment: BTreeMap<String, String>) -> Self {
        Self {
            settings: ProgramSettings::new(program, environment, &[], &[]),
        }
    }

    /// Returns the name or path of the program.
    pub fn program(&self) -> &Path {
        &self.settings.program
    }

    /// Returns settings without credentials, so that Mercurial cannot use the user's keys.
    pub fn anonymous(&self) -> Self {
        Self {
            settings: self.settings.anonymous(),
        }
    }

    /// Whether Mercurial runs without the user's credentials. It must then use https only.
    pub const fn is_anonymous(&self) -> bool {
        self.settings.is_anonymous()
    }

    /// Removes variables that refer to configuration inside one of `trees`, which are absolute and without symlinks. Relative paths in
    /// variables are resolved against `directory`, an absolute path.
    pub fn outside_of(self, trees: &[&Path], directory: &Path) -> Self {
        Self {
            settings: self.settings.outside_of(trees, directory),
        }
    }

    /// Builds a command to which the caller adds a subcommand and arguments. It starts in a directory that contains only an empty
    /// `.hg`, so all paths must be absolute.
    pub fn command(&self) -> io::Result<Command> {
        let mut variables = self.settings.variables();
        let fixed = FIXED.map(|(name, value)| (name.to_owned(), value.to_owned()));
        variables.extend(fixed);
        let (mut command, directory) = self.settings.command(variables)?;
        // Mercurial searches parent directories for a repository. Versions before 5.3 would read the configuration of that repository. The
        // search stops at this directory.
        fs::create_dir_all(directory.join(".hg"))?;
        command.arg("--noninteractive");
        for setting in CONFIGURATION {
            command.args(["--config", setting]);
        }
        Ok(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(settings: &HgSettings) -> BTreeMap<String, Option<String>> {
        let text = |text: &std::ffi::OsStr| text.to_string_lossy().into_owned();
        let command = settings.command().unwrap();
        let variables = command.get_envs();
        variables
            .map(|(name, value)| (text(name), value.map(text)))
            .collect()
    }

    #[test]
    fn configuration_and_credentials_of_the_caller() {
        let names = "HGRCPATH HGPLAIN HGRCSKIPREPO HG HGUSER EDITOR PYTHONPATH GIT_SSH_COMMAND HOME SSH_AUTH_SOCK https_proxy";
        let caller = names
            .split(' ')
            .map(|name| (name.to_owned(), "x".to_owned()));
        let settings = HgSettings::new("hg", caller.collect());
        let found = variables(&settings);
        let value = |name: &str| found.get(name).and_then(Option::as_deref);
        assert_eq!(value("HGRCPATH"), Some(""));
        assert_eq!(value("HGRCSKIPREPO"), Some("1"));
        for name in ["HOME", "SSH_AUTH_SOCK", "https_proxy"] {
            assert_eq!(value(name), Some("x"), "{name}");
        }
        for name in ["HG", "HGUSER", "EDITOR", "PYTHONPATH", "GIT_SSH_COMMAND"] {
            assert_eq!(value(name), None, "{name}");
        }
        let anonymous = settings.anonymous();
        let found = variables(&anonymous);
        assert!(!found.contains_key("SSH_AUTH_SOCK"));
        let command = anonymous.command().unwrap();
        let directory = command.get_current_dir().unwrap();
        assert_eq!(found["HOME"].as_deref(), directory.to_str());
    }

    #[test]
    fn hg_starts_in_a_directory_with_an_empty_repository() {
        let settings = HgSettings::new("hg", BTreeMap::new());
        let command = settings.command().unwrap();
        let directory = command.get_current_dir().unwrap();
        let mut entries = directory.read_dir().unwrap();
        assert_eq!(entries.next().unwrap().unwrap().file_name(), ".hg");
        assert!(entries.next().is_none());
        assert_eq!(directory.join(".hg").read_dir().unwrap().count(), 0);
    }
}
