//! The settings for requests to registries, from the CLI configuration and the environment.

use std::path::PathBuf;
use std::time::Duration;

use url::Url;

use crate::cli_config::{self, CliConfigError, ProviderInstallation};
use crate::provider::{Engine, Hostname, Platform};
use crate::registry::{
    AllowedHosts, BaseUrl, CredentialSettings, HttpSettings, OciSettings, ProxyVariable,
    ProxyVariables, RegistrySettings, Roots, SystemRoots, positive, tokens_from_env,
};

use super::{Environment, SettingsError};

/// The settings for one engine's requests to registries, and the errors in its CLI configuration.
#[derive(Debug)]
pub struct NetworkSettings {
    pub registry: RegistrySettings,
    /// The `provider_installation` block, for `--source config`.
    pub provider_installation: Option<ProviderInstallation>,
    /// The directories from which `init` takes packages if there is no `provider_installation` block.
    pub implied_mirrors: Vec<PathBuf>,
    /// The plugin cache. tflock never takes packages from it, but warns if a mirror uses the same directory.
    pub plugin_cache: Option<PathBuf>,
    /// Errors in the CLI configuration. As in Terraform, the run continues with the valid settings.
    pub errors: Vec<CliConfigError>,
}

/// Reads the CLI configuration of `engine` and merges it with the environment.
pub fn network_settings(
    environment: &Environment,
    engine: Engine,
) -> Result<NetworkSettings, SettingsError> {
    let places = places(environment);
    let (config, errors) = cli_config::load(&places, engine);
    let number = |name: &str| environment.get(name).and_then(positive);
    let protocols = &config.registry_protocols;
    let tofu_only = |value: Option<i64>| {
        let value = value.filter(|_| engine == Engine::Tofu)?;
        Some(u32::try_from(value.max(0)).unwrap_or(u32::MAX))
    };
    let registry = RegistrySettings {
        base_url: base_url(environment)?,
        allowed_hosts: AllowedHosts::all(),
        credentials: CredentialSettings {
            tokens: tokens_from_env(
                environment
                    .iter()
                    .map(|(name, value)| (name.to_owned(), value.to_owned())),
            ),
            blocks: config.credentials.clone(),
            helper: config.credentials_helper.clone(),
            plugin_directories: places.plugin_directories(engine, &Platform::current()),
        },
        netrc: netrc(environment),
        // A number below 1 means no retries in the CLI configuration, but the default number in the environment.
        retries: number("TF_REGISTRY_DISCOVERY_RETRY").or(tofu_only(protocols.retry_count)),
        download_retries: number("TF_PROVIDER_DOWNLOAD_RETRY"),
        request_timeout: number("TF_REGISTRY_CLIENT_TIMEOUT")
            .or(tofu_only(protocols.request_timeout_seconds).filter(|seconds| *seconds > 0))
            .map(|seconds| Duration::from_secs(u64::from(seconds))),
        http: http(environment),
        oci: OciSettings {
            blocks: config.oci_credentials,
            defaults: config.oci_defaults,
            usual_files: auth_files(environment),
            program_directories: program_directories(environment),
        },
        hosts: config.hosts.clone(),
        engine,
    };
    let plugin_cache = environment.non_empty("TF_PLUGIN_CACHE_DIR");
    let plugin_cache = plugin_cache.or(config.plugin_cache_dir.as_deref());
    Ok(NetworkSettings {
        plugin_cache: plugin_cache.map(PathBuf::from),
        provider_installation: config.provider_installation,
        implied_mirrors: places.implied_mirrors(engine, &environment.working_directory),
        registry,
        errors,
    })
}

/// Returns OpenTofu if the host in `TFREGISTRY_BASE_URL` is OpenTofu's registry, and otherwise `None`.
pub(super) fn engine_of_base_url(environment: &Environment) -> Option<Engine> {
    let url = environment.non_empty("TFREGISTRY_BASE_URL")?;
    let host = Url::parse(url).ok()?.host_str()?.to_owned();
    (host == Engine::Tofu.default_host()).then_some(Engine::Tofu)
}

fn places(environment: &Environment) -> cli_config::places::ConfigEnvironment {
    let path = |name: &str| environment.non_empty(name).map(PathBuf::from);
    cli_config::places::ConfigEnvironment {
        is_windows: cfg!(windows),
        home: environment.home(),
        app_data: path("APPDATA"),
        xdg_config_home: path("XDG_CONFIG_HOME"),
        xdg_data_home: path("XDG_DATA_HOME"),
        cli_config_file: path("TF_CLI_CONFIG_FILE"),
        terraform_config: path("TERRAFORM_CONFIG"),
    }
}

/// Returns settings that trust the system's certificates, or those named by `SSL_CERT_FILE` and `SSL_CERT_DIR`.
fn http(environment: &Environment) -> HttpSettings {
    let directories = environment.non_empty("SSL_CERT_DIR");
    HttpSettings {
        roots: Roots::System(SystemRoots {
            file: environment.non_empty("SSL_CERT_FILE").map(PathBuf::from),
            directories: directories.map(|list| list.split(':').map(PathBuf::from).collect()),
        }),
        proxies: proxies(environment),
        ..HttpSettings::default()
    }
}

/// Reads the proxy variables. Upper-case names take precedence, even if their values are empty.
fn proxies(environment: &Environment) -> ProxyVariables {
    let variable = |name: &str| {
        let names = [name.to_owned(), name.to_ascii_lowercase()];
        names.into_iter().find_map(|name| {
            let value = environment.get(&name)?.to_owned();
            Some(ProxyVariable { name, value })
        })
    };
    let none = variable("NO_PROXY").map(|variable| variable.value);
    ProxyVariables {
        http: variable("HTTP_PROXY"),
        https: variable("HTTPS_PROXY"),
        all: variable("ALL_PROXY"),
        none: none.unwrap_or_default(),
    }
}

/// Returns `NETRC`, or `.netrc` in the home directory (`_netrc` on Windows).
fn netrc(environment: &Environment) -> Option<PathBuf> {
    let name = if cfg!(windows) { "_netrc" } else { ".netrc" };
    let named = environment.non_empty("NETRC").map(PathBuf::from);
    named.or_else(|| environment.home().map(|home| home.join(name)))
}

/// Returns the files in which Podman and Docker store credentials for OCI registries, in the order in which OpenTofu reads them.
fn auth_files(environment: &Environment) -> Vec<PathBuf> {
    let home = environment.home();
    let dot_config = home.as_ref().map(|home| home.join(".config"));
    let runtime = match std::env::consts::OS {
        "linux" => environment.non_empty("XDG_RUNTIME_DIR").map(PathBuf::from),
        "macos" | "windows" => dot_config.clone(),
        _ => None,
    };
    let config = environment.non_empty("XDG_CONFIG_HOME").map(PathBuf::from);
    let podman = [runtime, config.or(dot_config)].into_iter().flatten();
    let mut files: Vec<_> = podman
        .map(|directory| directory.join("containers").join("auth.json"))
        .collect();
    files.dedup();
    let docker = home.map(|home| {
        [
            home.join(".docker").join("config.json"),
            home.join(".dockercfg"),
        ]
    });
    files.extend(docker.into_iter().flatten());
    files
}

/// Returns the absolute directories in `PATH`. Relative ones are ignored, because the choice of a program must not depend on the
/// working directory.
fn program_directories(environment: &Environment) -> Vec<PathBuf> {
    let path = environment.get("PATH").unwrap_or_default();
    std::env::split_paths(path)
        .filter(|directory| directory.is_absolute())
        .collect()
}

/// Parses the address in `TFREGISTRY_BASE_URL`, which replaces the address of an engine's default registry (see
/// docs/reference/environment.md).
fn base_url(environment: &Environment) -> Result<Option<BaseUrl>, SettingsError> {
    let Some(text) = environment.non_empty("TFREGISTRY_BASE_URL") else {
        return Ok(None);
    };
    let invalid = |problem: &'static str| SettingsError::BaseUrl { problem };
    let Ok(mut url) = Url::parse(text) else {
        return Err(invalid("it is not a valid URL"));
    };
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid("it is not an http or https URL"));
    }
    if !url.path().ends_with('/') {
        url.set_path(&format!("{}/", url.path()));
    }
    let engine = engine_of_base_url(environment).unwrap_or(Engine::Terraform);
    let host = Hostname::parse(engine.default_host()).expect("the default hosts are valid");
    Ok(Some(BaseUrl { host, url }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the settings with these environment variables and without a CLI configuration file.
    fn registry(variables: &[(&str, &str)]) -> RegistrySettings {
        let fixed = [("TF_CLI_CONFIG_FILE", "/missing.tfrc"), ("HOME", "/home/u")];
        let variables = fixed.iter().chain(variables);
        let variables = variables.map(|(name, value)| (name.into(), value.into()));
        let environment = Environment::new(variables, "/here".into());
        let network = network_settings(&environment, Engine::Terraform).unwrap();
        network.registry
    }

    #[test]
    fn retries_and_timeouts_are_numbers_above_zero() {
        for text in ["3", "0", "-1", "x", ""] {
            let expected = (text == "3").then_some(3);
            let settings = registry(&[
                ("TF_REGISTRY_DISCOVERY_RETRY", text),
                ("TF_REGISTRY_CLIENT_TIMEOUT", text),
                ("TF_PROVIDER_DOWNLOAD_RETRY", text),
            ]);
            assert_eq!(settings.retries, expected, "{text}");
            assert_eq!(settings.download_retries, expected, "{text}");
            let timeout = expected.map(|seconds| Duration::from_secs(u64::from(seconds)));
            assert_eq!(settings.request_timeout, timeout, "{text}");
        }
    }

    /// A number below 1 means no retries in OpenTofu's configuration, but is ignored in the environment, which takes precedence.
    #[test]
    fn opentofu_has_a_settings_block_for_registries() {
        let rows = [
            ("retry_count = 5", "", Some(5), None),
            ("retry_count = 0", "", Some(0), None),
            ("retry_count = -1", "", Some(0), None),
            ("retry_count = 5", "2", Some(2), None),
            ("retry_count = 5", "0", Some(5), None),
            ("request_timeout_seconds = 7", "", None, Some(7)),
            ("request_timeout_seconds = 0", "", None, None),
        ];
        for (block, variable, retries, timeout) in rows {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(
                file.path(),
                format!("registry_protocols {{\n  {block}\n}}\n"),
            )
            .unwrap();
            let variables = [
                ("TF_CLI_CONFIG_FILE", file.path().to_str().unwrap()),
                ("TF_REGISTRY_DISCOVERY_RETRY", variable),
            ];
            let variables = variables.map(|(name, value)| (name.into(), value.into()));
            let environment = Environment::new(variables, "/here".into());
            for (engine, counts) in [(Engine::Tofu, true), (Engine::Terraform, false)] {
                let settings = network_settings(&environment, engine).unwrap().registry;
                let named = positive(variable);
                assert_eq!(
                    settings.retries,
                    if counts { retries } else { named },
                    "{block}"
                );
                let timeout = timeout.filter(|_| counts).map(Duration::from_secs);
                assert_eq!(settings.request_timeout, timeout, "{block}");
            }
        }
    }

    #[test]
    fn netrc_is_a_named_file_or_in_the_home_directory() {
        let at_home = if cfg!(windows) { "_netrc" } else { ".netrc" };
        let at_home = PathBuf::from("/home/u").join(at_home);
        for (variables, expected) in [
            (&[("NETRC", "/n")][..], PathBuf::from("/n")),
            (&[("NETRC", "")][..], at_home.clone()),
            (&[][..], at_home),
        ] {
            assert_eq!(registry(variables).netrc, Some(expected), "{variables:?}");
        }
    }

    #[test]
    fn tokens_and_authorities_are_variables() {
        let settings = registry(&[("TF_TOKEN_h_test", "t")]);
        let host = Hostname::parse("h.test").unwrap();
        assert!(settings.credentials.tokens.contains_key(&host));
        let roots = |file: &str, directories: &str| {
            let variables = [("SSL_CERT_FILE", file), ("SSL_CERT_DIR", directories)];
            match registry(&variables).http.roots {
                Roots::System(named) => named,
                Roots::Only(_) => panic!("nothing is read here"),
            }
        };
        assert_eq!(roots("", ""), SystemRoots::default(), "empty is not set");
        let named = SystemRoots {
            file: Some("/a.pem".into()),
            directories: Some(vec!["/b".into(), "/c".into()]),
        };
        assert_eq!(roots("/a.pem", "/b:/c"), named);
    }
}
