//! The environment that git runs in: nothing of the caller's but what it takes to reach and recognize servers.
//!
//! Configuration is the user's and the system's, and that of a repository that is named. Git looks for no repository by itself:
//! a directory of the tree could be one that a stranger made.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::working_directory::WorkingDirectory;

/// How to run git.
#[derive(Clone, Debug)]
pub struct GitSettings {
    /// The program; a bare name is looked for on the `PATH` of `environment`.
    pub program: PathBuf,
    /// The caller's environment. Only the variables that git needs are handed on.
    environment: BTreeMap<String, String>,
    /// Whether git runs without the user's credentials and configuration.
    is_anonymous: bool,
    working_directory: WorkingDirectory,
}

/// Which repository a run of git is about.
#[derive(Clone, Copy, Debug)]
pub enum Scope<'a> {
    /// One that it creates.
    Created,
    /// None.
    Nothing,
    /// A known repository.
    Repository {
        /// Its `.git`.
        git_dir: &'a Path,
        /// The directory of its files.
        work_tree: &'a Path,
    },
    /// The one in this directory, which must have a `.git`. Git then checks its owner, as it does for no repository that
    /// is named.
    Discovered(&'a Path),
}

/// Variables that are handed on: where programs and the user's own settings are, which keys and certificates to use, and
/// how to get out. `GIT_CONFIG_*` is how continuous integration gives tokens to git.
const HANDED_ON: [&str; 38] = [
    "PATH",
    "PATHEXT",
    "SYSTEMROOT",
    "HOME",
    "HOMEDRIVE",
    "HOMEPATH",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMDATA",
    "USER",
    "USERNAME",
    "LOGNAME",
    "TMPDIR",
    "TEMP",
    "TMP",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_CACHE_HOME",
    "DBUS_SESSION_BUS_ADDRESS",
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_SSL_CERT",
    "GIT_SSL_KEY",
    "GIT_SSL_VERSION",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "NETRC",
    "GIT_EXEC_PATH",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
];

/// Settings for every run: no repositories but those that are named, no hooks, no helpers that watch or ask, no work in the
/// background, and an end where nothing arrives for half a minute. Packs are indexed as they come and with few threads, so
/// that memory does not depend on the machine.
const SETTINGS: [&str; 13] = [
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

/// Beginnings and ends of more such names.
const HANDED_ON_FROM: [&str; 3] = ["GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"];
const HANDED_ON_TO: &str = "_PROXY";

/// Variables that name the place of configuration or programs. If it is inside the tree, a stranger can write there.
const PLACES_OF_CONFIGURATION: [&str; 10] = [
    "HOME",
    "USERPROFILE",
    "XDG_CONFIG_HOME",
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMDATA",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_EXEC_PATH",
    "NETRC",
];

/// Variables that lead to credentials, or to configuration that may hold some.
const PLACES_OF_CREDENTIALS: [&str; 17] = [
    "HOME",
    "HOMEDRIVE",
    "HOMEPATH",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_CACHE_HOME",
    "DBUS_SESSION_BUS_ADDRESS",
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSL_CERT",
    "GIT_SSL_KEY",
    "NETRC",
];

/// A file without content.
const NULL_FILE: &str = if cfg!(windows) { "NUL" } else { "/dev/null" };

/// Variables that name the place of certificates, which the user may well keep in the tree.
const PLACES_OF_CERTIFICATES: [&str; 7] = [
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_SSL_CERT",
    "GIT_SSL_KEY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
];

impl GitSettings {
    /// Git by the name of its program, with the caller's environment.
    pub fn new(program: impl Into<PathBuf>, environment: BTreeMap<String, String>) -> Self {
        Self {
            program: program.into(),
            environment,
            is_anonymous: false,
            working_directory: WorkingDirectory::default(),
        }
    }

    /// The same without credentials: no keys, no helpers, no netrc, and no configuration, which may hold some. Only https is
    /// left, since ssh takes the user's keys by itself.
    pub fn anonymous(&self) -> Self {
        let mut anonymous = self.clone();
        anonymous.is_anonymous = true;
        anonymous.environment.retain(|name, _| {
            let name = name.to_ascii_uppercase();
            !PLACES_OF_CREDENTIALS.contains(&name.as_str())
                && !HANDED_ON_FROM.iter().any(|start| name.starts_with(start))
        });
        let nothing = [
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", NULL_FILE),
        ];
        let nothing = nothing.map(|(name, value)| (name.to_owned(), value.to_owned()));
        anonymous.environment.extend(nothing);
        anonymous
    }

    /// The same without variables that name a place of configuration inside one of `trees`, which are absolute and without
    /// links. Relative places start at `directory`, an absolute path.
    pub fn outside_of(mut self, trees: &[&Path], directory: &Path) -> Self {
        let is_inside = |place: &Path| {
            let real = place.canonicalize();
            let real = real.as_deref().unwrap_or(place);
            trees.iter().any(|tree| real.starts_with(tree))
        };
        self.environment.retain(|name, value| {
            let is_in = |list: &[&str]| list.contains(&name.to_ascii_uppercase().as_str());
            let is_configuration = is_in(&PLACES_OF_CONFIGURATION);
            if value.is_empty() || !(is_configuration || is_in(&PLACES_OF_CERTIFICATES)) {
                return true;
            }
            let place = directory.join(&*value);
            if let Some(text) = place.to_str() {
                text.clone_into(value);
            }
            !(is_configuration && is_inside(&place))
        });
        self
    }

    /// Git, ready to be given its arguments, with the protocols of this list, separated by colons. It starts in an empty
    /// directory: all paths must be absolute.
    pub fn command(&self, protocols: &str, scope: Scope<'_>) -> io::Result<Command> {
        let directory = self.working_directory.path()?;
        let mut command = Command::new(&self.program);
        command
            .current_dir(&directory)
            .env_clear()
            .envs(self.variables(protocols))
            .envs(self.is_anonymous.then_some(("HOME", &directory)))
            .env("GIT_CEILING_DIRECTORIES", ceilings(&directory, scope));
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        match scope {
            Scope::Created => {}
            // There is none, and so none is looked for.
            Scope::Nothing => {
                command.arg("--git-dir").arg(directory.join("none"));
            }
            Scope::Repository { git_dir, work_tree } => {
                command.arg("--git-dir").arg(git_dir);
                command.arg("--work-tree").arg(work_tree);
            }
            Scope::Discovered(top) => {
                command.arg("-C").arg(top);
            }
        }
        Ok(command)
    }

    /// The variables of the child. `protocols` is the list that git itself enforces, also for what redirects, submodules and
    /// the user's `url.*.insteadOf` lead to.
    fn variables(&self, protocols: &str) -> BTreeMap<String, String> {
        let protocols = if self.is_anonymous {
            "https"
        } else {
            protocols
        };
        let kept = self.environment.iter().filter(|(name, _)| is_kept(name));
        let mut variables: BTreeMap<_, _> = kept
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let fixed = [
            ("GIT_ALLOW_PROTOCOL", protocols),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ASKPASS", ""),
            ("SSH_ASKPASS_REQUIRE", "never"),
            ("GIT_TEMPLATE_DIR", ""),
            ("GIT_LFS_SKIP_SMUDGE", "1"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GCM_INTERACTIVE", "never"),
            ("LC_ALL", "C"),
        ];
        variables.extend(fixed.map(|(name, value)| (name.to_owned(), value.to_owned())));
        if !variables.contains_key("GIT_SSH") {
            // ssh would ask on the terminal whether to trust an unknown host.
            let command = variables.entry("GIT_SSH_COMMAND".to_owned());
            command.or_insert_with(|| "ssh -o BatchMode=yes".to_owned());
        }
        variables
    }
}

/// The directories that git must not look above for a repository. One with a separator in its name cannot be said.
fn ceilings(directory: &Path, scope: Scope<'_>) -> OsString {
    let work_tree = match scope {
        Scope::Repository { work_tree, .. } | Scope::Discovered(work_tree) => Some(work_tree),
        Scope::Created | Scope::Nothing => None,
    };
    let all = [Some(directory), work_tree].into_iter().flatten();
    let parents = all.filter_map(Path::parent);
    let sayable = parents.filter(|path| std::env::join_paths([path]).is_ok());
    std::env::join_paths(sayable).unwrap_or_default()
}

fn is_kept(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    HANDED_ON.contains(&name.as_str())
        || HANDED_ON_FROM.iter().any(|start| name.starts_with(start))
        || name.ends_with(HANDED_ON_TO)
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
    fn only_what_git_needs_is_handed_on() {
        let kept = [
            "PATH",
            "HOME",
            "SSH_AUTH_SOCK",
            "https_proxy",
            "NO_PROXY",
            "GIT_CONFIG_KEY_0",
        ];
        let dropped = [
            "GIT_DIR",
            "GIT_WORK_TREE",
            "GIT_INDEX_FILE",
            "GIT_PROXY_COMMAND",
            "GIT_CONFIG_PARAMETERS",
            "GIT_TRACE",
            "TF_TOKEN_x",
            "AWS_SECRET_ACCESS_KEY",
            "LD_PRELOAD",
            "SSH_ASKPASS",
        ];
        let all = kept.iter().chain(&dropped);
        let found = variables(&all.map(|name| (*name, "x")).collect::<Vec<_>>());
        for name in kept {
            assert_eq!(found.get(name).map(String::as_str), Some("x"), "{name}");
        }
        for name in dropped {
            assert!(!found.contains_key(name), "{name}");
        }
    }

    #[test]
    fn the_callers_values_do_not_loosen_anything() {
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
    fn ssh_asks_nothing_unless_the_user_has_a_command_of_their_own() {
        assert_eq!(variables(&[])["GIT_SSH_COMMAND"], "ssh -o BatchMode=yes");
        let own = variables(&[("GIT_SSH_COMMAND", "ssh -i key")]);
        assert_eq!(own["GIT_SSH_COMMAND"], "ssh -i key");
        assert!(!variables(&[("GIT_SSH", "plink")]).contains_key("GIT_SSH_COMMAND"));
    }

    #[test]
    fn anonymous_runs_have_no_credentials() {
        let names = [
            "HOME",
            "SSH_AUTH_SOCK",
            "GIT_CONFIG_KEY_0",
            "GIT_SSL_KEY",
            "XDG_CONFIG_HOME",
        ];
        let environment = names.map(|name| (name.to_owned(), "x".to_owned()));
        let settings = GitSettings::new("git", environment.into()).anonymous();
        let found = settings.variables("https:ssh:file");
        for name in names {
            assert!(!found.contains_key(name), "{name}");
        }
        assert_eq!(found["GIT_ALLOW_PROTOCOL"], "https");
        assert_eq!(found["GIT_CONFIG_GLOBAL"], NULL_FILE);
        let command = settings.command("https", Scope::Nothing).unwrap();
        let home = command
            .get_envs()
            .find(|(name, _)| *name == "HOME")
            .unwrap()
            .1;
        assert_eq!(home, command.get_current_dir().map(Path::as_os_str));
    }

    #[test]
    fn configuration_inside_the_tree_is_not_named() {
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
    fn git_starts_in_an_empty_directory_and_looks_for_no_repository() {
        let settings = GitSettings::new("git", BTreeMap::new());
        let (git_dir, work_tree) = (Path::new("/r/.git"), Path::new("/r"));
        for (scope, expected) in [
            (Scope::Created, vec![]),
            (Scope::Nothing, vec!["--git-dir", "DIRECTORY/none"]),
            (
                Scope::Repository { git_dir, work_tree },
                vec!["--git-dir", "/r/.git", "--work-tree", "/r"],
            ),
            (Scope::Discovered(work_tree), vec!["-C", "/r"]),
        ] {
            let command = settings.command("https", scope).unwrap();
            let directory = command.get_current_dir().unwrap();
            assert_eq!(directory.read_dir().unwrap().count(), 0);
            let shown = |text: &std::ffi::OsStr| {
                let text = text.to_string_lossy();
                text.replace(&*directory.to_string_lossy(), "DIRECTORY")
            };
            let arguments: Vec<String> = command.get_args().map(shown).collect();
            assert_eq!(arguments[..2], ["-c", "safe.bareRepository=explicit"]);
            assert_eq!(arguments[2 * SETTINGS.len()..], expected);
            let mut variables = command.get_envs();
            assert!(variables.any(|(name, value)| {
                name == "GIT_CEILING_DIRECTORIES" && value.is_some_and(|value| !value.is_empty())
            }));
        }
    }
}
