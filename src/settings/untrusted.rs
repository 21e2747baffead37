//! `--untrusted`: the content of the repository is a stranger's, such as a pull request from a fork.

use std::collections::BTreeSet;

use crate::cli::ConfinementArgs;
use crate::provider::{Engine, Hostname};
use crate::registry::AllowedHosts;

use super::{Environment, SettingsError};

/// The variable that switches the mode on where the command line cannot be changed.
const VARIABLE: &str = "TFLOCK_UNTRUSTED";

/// What the content of a stranger's repository may still do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untrusted {
    /// Where registries and remote modules may be.
    pub hosts: AllowedHosts,
    /// The environment variables that evaluation may use.
    pub environment: BTreeSet<String>,
}

impl Untrusted {
    /// What was typed and what the environment says; `None` if the repository is trusted.
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

/// A value that is neither yes nor no is an error: the mode must not be off by mistake.
fn is_set(environment: &Environment) -> Result<bool, SettingsError> {
    match environment.get(VARIABLE).unwrap_or_default() {
        "1" | "true" => Ok(true),
        "" | "0" | "false" => Ok(false),
        other => Err(SettingsError::UntrustedVariable {
            value: other.to_owned(),
        }),
    }
}

/// The public registries unless the user names hosts.
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
    fn an_option_or_a_variable_switches_it_on() {
        for (option, variable, expected) in [
            (false, None, Ok(false)),
            (true, None, Ok(true)),
            (false, Some("1"), Ok(true)),
            (false, Some("true"), Ok(true)),
            (true, Some("0"), Ok(true)),
            (false, Some("0"), Ok(false)),
            (false, Some("false"), Ok(false)),
            (false, Some(""), Ok(false)),
            (
                false,
                Some("yes"),
                Err("cannot read `TFLOCK_UNTRUSTED=yes`: the values are `1` and `0`".to_owned()),
            ),
        ] {
            let found = resolve(option, variable, &[]).map(|found| found.is_some());
            assert_eq!(found, expected, "{option} {variable:?}");
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
            Err("cannot read `--allow-host https://github.com`".to_owned())
        );
        assert_eq!(
            resolve(false, None, &["github.com"]),
            Err("cannot use `--allow-host` without `--untrusted`".to_owned())
        );
    }
}
