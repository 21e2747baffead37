//! The settings for git commands: the environment, the configuration, and the repository.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::environment::{CONFIGURATION_PREFIXES, FIXED, INHERITED};
use crate::subprocess::ProgramSettings;

/// The settings for git commands. Git inherits only the variables that it needs.
#[derive(Clone, Debug)]
pub struct GitSettings {
    settings: ProgramSettings,
}

/// The repository that a git command uses. Git never searches parent directories for one, because a directory of the tree could be a
/// repository created by an attacker.
#[derive(Clone, Copy, Debug)]
pub enum GitTarget<'a> {
    /// A repository that the command creates.
    NewRepository,
    NoRepository,
    /// A known repository.
    Repository {
        /// The path of the repository's `.git`.
        git_dir: &'a Path,
        /// The root of the repository's work tree.
        work_tree: &'a Path,
    },
    /// The repository in this directory, which must have a `.git`. Git discovers the repository and therefore checks its owner, which
    /// git does not do for a repository named with `--git-dir`.
    Discovered(&'a Path),
}

/// The git configuration for every command. It disables implicit repositories, hooks, helpers, prompts and background work, and
/// aborts transfers that stall for 30 seconds. Git indexes packs while they arrive, with 4 threads, which means that memory use does
/// not depend on the machine.
const CONFIGURATION: [&str; 13] = [
    "safe.bareRepository=explicit",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.askPass=",
    "submodule.recurse=false",
    "advice.detachedHead=false",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=30",
    "gc.auto=0",
    "maintenance.auto=false",
    "fetch.recurseSubmodules=false",
    "fetch.unpackLimit=1",
    "pack.threads=4",
];

const EMPTY_FILE: &str = if cfg!(windows) { "NUL" } else { "/dev/null" };

impl GitSettings {
    /// Creates settings for the program with this name or path. `environment` is the caller's environment.
    pub fn new(program: impl Into<PathBuf>, environment: BTreeMap<String, String>) -> Self {
        Self {
            settings: ProgramSettings::new(
                program,
                environment,
                &INHERITED,
                &CONFIGURATION_PREFIXES,
            ),
        }
    }

    /// Returns the name or path of the program.
    pub fn program(&self) -> &Path {
        &self.settings.program
    }

    /// Returns settings without credentials: git uses no keys, credential helpers, netrc file or user configuration, which may contain
    /// credentials. The only permitted protocol is https, because ssh uses the user's keys.
    pub fn anonymous(&self) -> Self {
        let mut settings = self.settings.anonymous();
        settings.set("GIT_CONFIG_NOSYSTEM", "1");
        settings.set("GIT_CONFIG_GLOBAL", EMPTY_FILE);
        Self { settings }
    }

    /// Removes variables that refer to configuration inside one of `trees`, which are absolute and without symlinks. Relative paths in
    /// variables are resolved against `directory`, an absolute path.
    pub fn outside_of(self, trees: &[&Path], directory: &Path) -> Self {
        Self {
            settings: self.settings.outside_of(trees, directory),
        }
    }

    /// Builds a git command to which the caller adds a subcommand and arguments. `protocols` is a list separated by colons. The command
    /// starts in an empty directory, so all paths must be absolute.
    pub fn command(&self, protocols: &str, target: GitTarget<'_>) -> io::Result<Command> {
        let (mut command, directory) = self.settings.command(self.variables(protocols))?;
        command.env("GIT_CEILING_DIRECTORIES", ceilings(&directory, target));
        for setting in CONFIGURATION {
            command.args(["-c", setting]);
        }
        match target {
            GitTarget::NewRepository => {}
            // The directory does not exist, which prevents git from searching for a repository.
            GitTarget::NoRepository => {
                command.arg("--git-dir").arg(directory.join("none"));
            }
            GitTarget::Repository { git_dir, work_tree } => {
                command.arg("--git-dir").arg(git_dir);
                command.arg("--work-tree").arg(work_tree);
            }
            GitTarget::Discovered(top) => {
                command.arg("-C").arg(top);
            }
        }
        Ok(command)
    }

    /// Returns the environment variables for the git process. Git enforces `protocols` everywhere, including in redirects, submodules
    /// and the user's `url.*.insteadOf`.
    fn variables(&self, protocols: &str) -> BTreeMap<String, String> {
        let allowed = if self.settings.is_anonymous() {
            "https"
        } else {
            protocols
        };
        let mut variables = self.settings.variables();
        let fixed = FIXED.into_iter().chain([("GIT_ALLOW_PROTOCOL", allowed)]);
        variables.extend(fixed.map(|(name, value)| (name.to_owned(), value.to_owned())));
        if !variables.contains_key("GIT_SSH") {
            // Without `BatchMode`, ssh would prompt on the terminal if a host is unknown.
            let command = variables.entry("GIT_SSH_COMMAND".to_owned());
            command.or_insert_with(|| "ssh -o BatchMode=yes".to_owned());
        }
        variables
    }
}

/// Returns the list of directories at which git stops searching for a repository. Paths that contain the list separator are omitted,
/// because the list cannot represent them.
fn ceilings(directory: &Path, target: GitTarget<'_>) -> OsString {
    let work_tree = match target {
        GitTarget::Repository { work_tree, .. } | GitTarget::Discovered(work_tree) => {
            Some(work_tree)
        }
        GitTarget::NewRepository | GitTarget::NoRepository => None,
    };
    let parents = [Some(directory), work_tree]
        .into_iter()
        .flatten()
        .filter_map(Path::parent)
        .filter(|path| std::env::join_paths([path]).is_ok());
    std::env::join_paths(parents).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(caller: &[(&str, &str)]) -> BTreeMap<String, String> {
        let own = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
        let settings = GitSettings::new("git", caller.iter().map(own).collect());
        settings.variables("https:ssh")
    }

    #[test]
    fn only_needed_variables_are_inherited() {
        let inherited = "PATH HOME SSH_AUTH_SOCK https_proxy NO_PROXY GIT_CONFIG_KEY_0";
        let dropped = "GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PROXY_COMMAND GIT_CONFIG_PARAMETERS GIT_TRACE TF_TOKEN_x \
             AWS_SECRET_ACCESS_KEY LD_PRELOAD SSH_ASKPASS";
        let caller = format!("{inherited} {dropped}");
        let caller: Vec<_> = caller.split(' ').map(|name| (name, "x")).collect();
        let found = variables(&caller);
        for name in inherited.split(' ') {
            assert_eq!(found.get(name).map(String::as_str), Some("x"), "{name}");
        }
        for name in dropped.split(' ') {
            assert!(!found.contains_key(name), "{name}");
        }
    }

    #[test]
    fn the_caller_cannot_override_restrictions() {
        let found = variables(&[
            ("GIT_ALLOW_PROTOCOL", "ext"),
            ("GIT_TERMINAL_PROMPT", "1"),
            ("GIT_ASKPASS", "/bin/ask"),
        ]);
        assert_eq!(found["GIT_ALLOW_PROTOCOL"], "https:ssh");
        assert_eq!(found["GIT_TERMINAL_PROMPT"], "0");
        assert_eq!(found["GIT_ASKPASS"], "");
    }

    #[test]
    fn ssh_never_prompts_unless_the_user_set_a_command() {
        assert_eq!(variables(&[])["GIT_SSH_COMMAND"], "ssh -o BatchMode=yes");
        let own = variables(&[("GIT_SSH_COMMAND", "ssh -i key")]);
        assert_eq!(own["GIT_SSH_COMMAND"], "ssh -i key");
        assert!(!variables(&[("GIT_SSH", "plink")]).contains_key("GIT_SSH_COMMAND"));
    }

    #[test]
    fn anonymous_runs_have_no_credentials() {
        let names = "HOME SSH_AUTH_SOCK GIT_CONFIG_KEY_0 GIT_SSL_KEY XDG_CONFIG_HOME";
        let names = names.split(' ');
        let environment = names.clone().map(|name| (name.to_owned(), "x".to_owned()));
        let settings = GitSettings::new("git", environment.collect()).anonymous();
        let found = settings.variables("https:ssh:file");
        for name in names {
            assert!(!found.contains_key(name), "{name}");
        }
        assert_eq!(found["GIT_ALLOW_PROTOCOL"], "https");
        assert_eq!(found["GIT_CONFIG_GLOBAL"], EMPTY_FILE);
        let command = settings.command("https", GitTarget::NoRepository).unwrap();
        let (_, home) = command
            .get_envs()
            .find(|(name, _)| *name == "HOME")
            .unwrap();
        assert_eq!(home, command.get_current_dir().map(Path::as_os_str));
    }

    #[test]
    fn configuration_inside_the_tree_is_ignored() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path().canonicalize().unwrap();
        let tree = base.join("tree");
        std::fs::create_dir_all(tree.join("home")).unwrap();
        let inside = tree.join("home");
        let (inside, outside) = (inside.to_str().unwrap(), base.to_str().unwrap());
        for (name, value, expected) in [
            ("HOME", inside, None),
            ("HOME", "home", None),
            ("HOME", ".", None),
            ("HOME", "missing", None),
            ("HOME", outside, Some(outside)),
            ("HOME", "", Some("")),
            ("XDG_CONFIG_HOME", inside, None),
            ("GIT_CONFIG_GLOBAL", "home", None),
            ("GIT_CONFIG_GLOBAL", "", Some("")),
            ("GIT_SSL_CAINFO", "home", Some(inside)),
            ("GIT_SSL_CAINFO", inside, Some(inside)),
            ("USER", "home", Some("home")),
        ] {
            let environment = BTreeMap::from([(name.to_owned(), value.to_owned())]);
            let settings = GitSettings::new("git", environment).outside_of(&[&tree], &tree);
            let found = settings.variables("https").remove(name);
            assert_eq!(found.as_deref(), expected, "{name}={value}");
        }
    }

    #[test]
    fn git_starts_in_an_empty_directory_and_searches_for_no_repository() {
        let settings = GitSettings::new("git", BTreeMap::new());
        let (git_dir, work_tree) = (Path::new("/r/.git"), Path::new("/r"));
        for (target, expected) in [
            (GitTarget::NewRepository, vec![]),
            (GitTarget::NoRepository, vec!["--git-dir", "DIRECTORY/none"]),
            (
                GitTarget::Repository { git_dir, work_tree },
                vec!["--git-dir", "/r/.git", "--work-tree", "/r"],
            ),
            (GitTarget::Discovered(work_tree), vec!["-C", "/r"]),
        ] {
            let command = settings.command("https", target).unwrap();
            let directory = command.get_current_dir().unwrap();
            assert_eq!(directory.read_dir().unwrap().count(), 0);
            let shown = |text: &std::ffi::OsStr| {
                let text = text.to_string_lossy();
                text.replace(&*directory.to_string_lossy(), "DIRECTORY")
            };
            let arguments: Vec<String> = command.get_args().map(shown).collect();
            assert_eq!(arguments[..2], ["-c", "safe.bareRepository=explicit"]);
            assert_eq!(arguments[2 * CONFIGURATION.len()..], expected);
            let mut variables = command.get_envs();
            assert!(variables.any(|(name, value)| {
                name == "GIT_CEILING_DIRECTORIES" && value.is_some_and(|value| !value.is_empty())
            }));
        }
    }
}
