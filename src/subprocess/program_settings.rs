//! The settings for the commands of one program: its name or path, its environment, and its working directory.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::environment::{COMMON, InheritedVariable, PROXY_SUFFIX, VariableContent};
use super::working_directory::WorkingDirectory;

/// The program, environment and working directory for commands.
#[derive(Clone, Debug)]
pub struct ProgramSettings {
    /// The name or path of the program. A bare name is looked up in the `PATH` of the caller's environment.
    pub program: PathBuf,
    /// The caller's environment. The program inherits only the variables that it needs.
    environment: BTreeMap<String, String>,
    /// The variables that this program inherits in addition to the common ones.
    inherited: &'static [InheritedVariable],
    /// The prefixes of inherited variables that set configuration, which may contain credentials.
    prefixes: &'static [&'static str],
    is_anonymous: bool,
    working_directory: WorkingDirectory,
}

impl ProgramSettings {
    /// Creates settings for the program with this name or path. `environment` is the caller's environment. The program inherits the
    /// common variables, those in `inherited`, and those that start with one of `prefixes`.
    pub fn new(
        program: impl Into<PathBuf>,
        environment: BTreeMap<String, String>,
        inherited: &'static [InheritedVariable],
        prefixes: &'static [&'static str],
    ) -> Self {
        Self {
            program: program.into(),
            environment,
            inherited,
            prefixes,
            is_anonymous: false,
            working_directory: WorkingDirectory::default(),
        }
    }

    /// Returns settings without variables that give access to credentials. The home directory of the program is empty.
    pub fn anonymous(&self) -> Self {
        let mut anonymous = self.clone();
        anonymous.is_anonymous = true;
        let leads_to_credentials = |name: &str| {
            let name = name.to_ascii_uppercase();
            let is_credential = |(.., is_credential): &InheritedVariable| *is_credential;
            self.sets_configuration(&name) || self.find(&name).is_some_and(is_credential)
        };
        let environment = &mut anonymous.environment;
        environment.retain(|name, _| !leads_to_credentials(name));
        anonymous
    }

    /// Whether the program runs without the user's credentials.
    pub const fn is_anonymous(&self) -> bool {
        self.is_anonymous
    }

    /// Removes variables that refer to configuration inside one of `trees`, which are absolute and without symlinks. Relative paths in
    /// variables are resolved against `directory`, an absolute path.
    pub fn outside_of(mut self, trees: &[&Path], directory: &Path) -> Self {
        let is_inside = |path: &Path| {
            let real = path.canonicalize();
            let real = real.as_deref().unwrap_or(path);
            trees.iter().any(|tree| real.starts_with(tree))
        };
        let mut environment = std::mem::take(&mut self.environment);
        environment.retain(|name, value| {
            let found = self.find(&name.to_ascii_uppercase());
            let content = found.map_or(VariableContent::Other, |(_, content, _)| *content);
            if value.is_empty() || content == VariableContent::Other {
                return true;
            }
            let path = directory.join(&*value);
            if let Some(text) = path.to_str() {
                text.clone_into(value);
            }
            content != VariableContent::ConfigurationPath || !is_inside(&path)
        });
        self.environment = environment;
        self
    }

    /// Sets a variable of the caller's environment.
    pub fn set(&mut self, name: &str, value: &str) {
        self.environment.insert(name.to_owned(), value.to_owned());
    }

    /// Returns the variables that the program inherits.
    pub fn variables(&self) -> BTreeMap<String, String> {
        let is_inherited = |name: &str| {
            let name = name.to_ascii_uppercase();
            self.find(&name).is_some()
                || self.sets_configuration(&name)
                || name.ends_with(PROXY_SUFFIX)
        };
        let inherited = self.environment.iter();
        inherited
            .filter(|(name, _)| is_inherited(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    /// Builds a command with these environment variables. It starts in an empty directory, so all paths must be absolute. Returns the
    /// path of that directory as well.
    pub fn command(&self, variables: BTreeMap<String, String>) -> io::Result<(Command, PathBuf)> {
        let directory = self.working_directory.path()?;
        let mut command = Command::new(&self.program);
        command
            .current_dir(&directory)
            .env_clear()
            .envs(variables)
            .envs(self.is_anonymous.then_some(("HOME", &directory)));
        Ok((command, directory))
    }

    fn find(&self, name: &str) -> Option<&InheritedVariable> {
        let mut known = COMMON.iter().chain(self.inherited);
        known.find(|(inherited, ..)| *inherited == name)
    }

    fn sets_configuration(&self, name: &str) -> bool {
        self.prefixes.iter().any(|prefix| name.starts_with(prefix))
    }
}
