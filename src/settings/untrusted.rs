//! The `--untrusted` option: the content of the repository is not trusted, because it may be a pull request from a fork.

use std::collections::BTreeSet;

use crate::cli::ConfinementArgs;
use crate::provider::{Engine, Hostname};
use crate::registry::AllowedHosts;

use super::{Environment, SettingsError};

/// The environment variable that has the same effect as `--untrusted`.
const VARIABLE: &str = "TFLOCK_UNTRUSTED";

/// The hosts and environment variables that the content of an untrusted repository may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untrusted {
    /// The registry and module hosts to which tflock may send requests.
    pub hosts: AllowedHosts,
    /// The names of the environment variables that configurations may use.
    pub environment: BTreeSet<String>,
}

impl Untrusted {
    /// Merges the command line and the environment. Returns `None` if the repository is trusted.
    pub fn resolve(
        args: &ConfinementArgs,
        environment: &Environment,
    ) -> Result<Option<Self>, SettingsError> {
        if !(args.untrusted || is_set(environment)?) {
            let options = [
                ("--allow-host", args.allow_hosts.is_empty()),
                ("--allow-env", args.allow_env.is_empty()),
            ];
            let without_effect = options.into_iter().find(|(_, is_unused)| !is_unused);
            return without_effect.map_or(Ok(None), |(option, _)| {
                Err(SettingsError::OnlyUntrusted { option })
            });
        }
        Ok(Some(Self {
            hosts: AllowedHosts::only(hosts(&args.allow_hosts)?),
            environment: args.allow_env.iter().cloned().collect(),
        }))
    }
}

/// Whether `TFLOCK_UNTRUSTED` marks the repository as untrusted. An unknown value is an error, so that a typo does not make the
/// repository trusted.
fn is_set(environment: &Environment) -> Result<bool, SettingsError> {
    match environment.get(VARIABLE).unwrap_or_default() {
        "1" | "true" => Ok(true),
        "" | "0" | "false" => Ok(false),
        other => Err(SettingsError::UntrustedVariable {
            value: other.to_owned(),
        }),
    }
}

/// Parses the values of `--allow-host`. Without values, returns the hosts of the public registries.
fn hosts(texts: &[String]) -> Result<Vec<Hostname>, SettingsError> {
    let public = [Engine::Terraform, Engine::Tofu].map(|engine| engine.default_host().to_owned());
    let texts = if texts.is_empty() { &public } else { texts };
    let parse = |text: &String| {
        Hostname::parse(text).map_err(|source| SettingsError::AllowHost {
            text: text.clone(),
            source: Box::new(source),
        })
    };
    texts.iter().map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(
        untrusted: bool,
        variable: Option<&str>,
        hosts: &[&str],
    ) -> Result<Option<Untrusted>, String> {
        let variables = variable.map(|value| (VARIABLE.into(), value.into()));
        let args = ConfinementArgs {
            untrusted,
            allow_hosts: hosts.iter().map(|&host| host.to_owned()).collect(),
            ..ConfinementArgs::default()
        };
        let environment = Environment::new(variables, "/here".into());
        Untrusted::resolve(&args, &environment).map_err(|error| error.to_string())
    }

    #[test]
    fn an_option_or_a_variable_enables_the_mode() {
        // option | variable | result
        for row in [
            "no  | unset | trusted",
            "yes | unset | untrusted",
            "no  | 1     | untrusted",
            "no  | true  | untrusted",
            "yes | 0     | untrusted",
            "no  | 0     | trusted",
            "no  | false | trusted",
            "no  |       | trusted",
            "no  | yes   | invalid value in `TFLOCK_UNTRUSTED=yes`: expected `1` or `0`",
        ] {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let variable = Some(cells[1]).filter(|value| *value != "unset");
            let found = match resolve(cells[0] == "yes", variable, &[]) {
                Ok(Some(_)) => "untrusted".to_owned(),
                Ok(None) => "trusted".to_owned(),
                Err(error) => error,
            };
            assert_eq!(found, cells[2], "{row}");
        }
    }

    #[test]
    fn named_hosts_replace_the_public_registries() {
        let allowed = |hosts: &[&str], host: &str| {
            let hosts = resolve(true, None, hosts).unwrap().unwrap().hosts;
            hosts.allows(&Hostname::parse(host).unwrap())
        };
        assert!(allowed(&[], "registry.terraform.io"));
        assert!(allowed(&[], "registry.opentofu.org"));
        assert!(!allowed(&[], "github.com"));
        assert!(allowed(&["github.com"], "github.com"));
        assert!(!allowed(&["github.com"], "registry.terraform.io"));
        assert_eq!(
            resolve(true, None, &["https://github.com"]),
            Err("invalid value in `--allow-host https://github.com`".to_owned())
        );
        assert_eq!(
            resolve(false, None, &["github.com"]),
            Err("cannot use `--allow-host` without `--untrusted`".to_owned())
        );
    }
}
