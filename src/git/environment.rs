//! The environment that git runs in: nothing of the caller's but what it takes to reach and recognize servers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How to run git.
#[derive(Clone, Debug)]
pub struct GitSettings {
    /// The program; a bare name is looked for on the `PATH` of `environment`.
    pub program: PathBuf,
    /// The caller's environment. Only the variables that git needs are handed on.
    pub environment: BTreeMap<String, String>,
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

/// Settings for every run: no hooks, no helpers that watch or ask, and an end where nothing arrives for half a minute.
const SETTINGS: [&str; 8] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.askPass=",
    "submodule.recurse=false",
    "advice.detachedHead=false",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=30",
    "gc.auto=0",
];

/// Beginnings and ends of more such names.
const HANDED_ON_FROM: [&str; 3] = ["GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"];
const HANDED_ON_TO: &str = "_PROXY";

impl GitSettings {
    /// Git, ready to be given its arguments: in `directory` if there is one, with the protocols of this list, separated by
    /// colons.
    pub fn command(&self, protocols: &str, directory: Option<&Path>) -> Command {
        let mut command = Command::new(&self.program);
        command
            .env_clear()
            .envs(self.variables(protocols))
            .stdin(Stdio::null());
        if let Some(directory) = directory {
            command.arg("-C").arg(directory);
        }
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command
    }

    /// The variables of the child. `protocols` is the list that git itself enforces, also for what redirects, submodules and
    /// the user's `url.*.insteadOf` lead to.
    fn variables(&self, protocols: &str) -> BTreeMap<String, String> {
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
        let settings = GitSettings {
            program: PathBuf::from("git"),
            environment: caller.iter().map(own).collect(),
        };
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
}
