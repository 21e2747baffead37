//! Arguments and environment become settings: everything checked and typed, nothing left to look up later.

mod network;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::cli::{
    ColorChoice, CreateArg, EngineArg, LockArgs, MismatchArg, MissingArg, OutputArgs, SourceArg,
};
use crate::config::{ReadOptions, Tests, VariableOption};
use crate::locking::{
    Mismatch, Missing, Policy, Signers, TargetError, Trust, Upgrade, UpgradeTarget,
};
use crate::modules::GitSettings;
use crate::provider::{AddressError, Engine, Platform, PlatformError, ProviderAddr};
use crate::span::Explain;

pub use network::{Network, engine_of_base_url, network};

/// The environment of the process, captured once by `main`.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    /// The working directory, absolute.
    pub working_directory: PathBuf,
}

impl Environment {
    /// Takes variables as the system gives them; those that are not Unicode are left out, since none that tflock reads can
    /// be meant by them.
    pub fn new(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        working_directory: PathBuf,
    ) -> Self {
        let variables = variables
            .into_iter()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Self {
            variables,
            working_directory,
        }
    }

    /// The value of a variable, which may be empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// The value of a variable that is set and not empty.
    pub fn non_empty(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// All variables in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// What `tflock lock` is to do.
#[derive(Clone, Debug)]
pub struct LockSettings {
    /// What relative paths are relative to, absolute.
    pub working_directory: PathBuf,
    /// Directories and files as given.
    pub paths: Vec<PathBuf>,
    /// Look below them too.
    pub recursive: bool,
    /// Paths to skip.
    pub ignore_paths: Vec<Regex>,
    /// Whether a missing lock file is created.
    pub create: Create,
    /// What a lock contains.
    pub policy: Policy,
    /// The engine for all directories; `None`: decided for each.
    pub engine: Option<Engine>,
    /// Where packages come from.
    pub source: SourceChoice,
    /// When a module that is called cannot be had.
    pub missing_module: Missing,
    /// How root modules are read, but for the engine.
    reading: ReadOptions,
    /// How modules are fetched from repositories.
    pub git: GitSettings,
    /// Write nothing.
    pub check: bool,
    /// Show how lock files change.
    pub diff: bool,
    /// Packages in flight.
    pub jobs: usize,
}

/// Whether a missing lock file is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Create {
    /// For directories named on the command line, and for those found that are root modules with providers.
    Auto,
    /// For every module directory.
    Always,
    /// For none.
    Never,
}

/// Where packages come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceChoice {
    /// The origin registries, as for `providers lock`.
    Registry,
    /// What `provider_installation` in the CLI configuration says.
    Config,
    /// One directory.
    Filesystem(PathBuf),
    /// One mirror server.
    Network(String),
}

/// Why the command line cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// PATH does not exist, or cannot be looked at.
    #[error("cannot look at `{}`", path.display())]
    Path {
        /// As given.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// `--ignore-path` is no regular expression.
    #[error("cannot read `--ignore-path {pattern}`")]
    Pattern {
        /// As given.
        pattern: String,
        /// Where it is wrong.
        source: Box<regex::Error>,
    },
    /// `--platform` is no platform.
    #[error("cannot read `--platform {text}`")]
    Platform {
        /// As given.
        text: String,
        /// What is wrong with it.
        source: PlatformError,
    },
    /// `--upgrade` names no provider or no version.
    #[error("cannot read `--upgrade={text}`")]
    Upgrade {
        /// As given.
        text: String,
        /// What is wrong with it.
        source: Box<TargetError>,
    },
    /// `--var` without a value.
    #[error("cannot read `--var {text}`: it is not NAME=VALUE")]
    Variable {
        /// As given.
        text: String,
    },
    /// `TFREGISTRY_BASE_URL` cannot be used.
    #[error("cannot use `TFREGISTRY_BASE_URL={text}`: {problem}")]
    BaseUrl {
        /// The value.
        text: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// `--provider` names no provider.
    #[error("cannot read `--provider {text}`")]
    Provider {
        /// As given.
        text: String,
        /// What is wrong with it.
        source: Box<AddressError>,
    },
}

impl Explain for SettingsError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Platform { text, .. } => platform_hint(text),
            _ => None,
        }
    }
}

/// Platforms that providers are published for, for suggestions only: any other is asked for as it is.
const USUAL_PLATFORMS: [&str; 14] = [
    "darwin_amd64",
    "darwin_arm64",
    "freebsd_386",
    "freebsd_amd64",
    "freebsd_arm",
    "freebsd_arm64",
    "linux_386",
    "linux_amd64",
    "linux_arm",
    "linux_arm64",
    "openbsd_amd64",
    "windows_386",
    "windows_amd64",
    "windows_arm64",
];

/// The usual platform that `text` was probably meant to be: `linux-amd64`, `linux/arm64`, `macos_arm64`, `linux_x86_64`.
fn platform_hint(text: &str) -> Option<String> {
    let meant = text
        .to_lowercase()
        .replace("x86_64", "amd64")
        .replace("aarch64", "arm64")
        .replace("macos", "darwin")
        .replace("win64", "windows_amd64")
        .replace(['-', '/', ' '], "_");
    USUAL_PLATFORMS
        .contains(&meant.as_str())
        .then(|| format!("did you mean `{meant}`?"))
}

impl LockSettings {
    /// How root modules are read by the rules of `engine`.
    pub fn read_options(&self, engine: Engine) -> ReadOptions {
        ReadOptions {
            engine,
            ..self.reading.clone()
        }
    }

    /// Checks what was typed. `current` is the platform to lock for when none is named.
    pub fn resolve(
        args: &LockArgs,
        environment: &Environment,
        current: Platform,
    ) -> Result<Self, SettingsError> {
        for path in &args.paths {
            std::fs::metadata(path).map_err(|source| SettingsError::Path {
                path: path.clone(),
                source,
            })?;
        }
        let ignore_paths = args.ignore_paths.iter().map(|pattern| {
            Regex::new(pattern).map_err(|source| SettingsError::Pattern {
                pattern: pattern.clone(),
                source: Box::new(source),
            })
        });
        Ok(Self {
            working_directory: environment.working_directory.clone(),
            paths: args.paths.clone(),
            recursive: args.recursive,
            ignore_paths: ignore_paths.collect::<Result<_, _>>()?,
            create: match args.create {
                CreateArg::Auto => Create::Auto,
                CreateArg::Always => Create::Always,
                CreateArg::Never => Create::Never,
            },
            policy: policy(args, current)?,
            engine: match args.engine {
                EngineArg::Auto => None,
                EngineArg::Terraform => Some(Engine::Terraform),
                EngineArg::Tofu => Some(Engine::Tofu),
            },
            source: match (&args.fs_mirror, &args.net_mirror, args.source) {
                (Some(base), _, _) => SourceChoice::Filesystem(base.clone()),
                (None, Some(base), _) => SourceChoice::Network(base.clone()),
                (None, None, SourceArg::Registry) => SourceChoice::Registry,
                (None, None, SourceArg::Config) => SourceChoice::Config,
            },
            missing_module: missing(args.missing_module),
            reading: reading(args, environment)?,
            git: GitSettings {
                program: PathBuf::from("git"),
                environment: environment
                    .iter()
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .collect(),
            },
            check: args.check,
            diff: args.diff,
            jobs: usize::from(args.jobs),
        })
    }
}

fn policy(args: &LockArgs, current: Platform) -> Result<Policy, SettingsError> {
    for text in &args.providers {
        ProviderAddr::parse(text, Engine::Terraform).map_err(|source| SettingsError::Provider {
            text: text.clone(),
            source: Box::new(source),
        })?;
    }
    let named = platforms(&args.platforms)?;
    Ok(Policy {
        platforms_defaulted: named.is_empty(),
        platforms: if named.is_empty() {
            vec![current]
        } else {
            named
        },
        upgrade: upgrade(&args.upgrade)?,
        providers: args.providers.clone(),
        prune: args.prune,
        mismatch: match args.mismatch {
            MismatchArg::Error => Mismatch::Error,
            MismatchArg::Add => Mismatch::Add,
            MismatchArg::Replace => Mismatch::Replace,
        },
        missing_platform: missing(args.missing_platform),
        signers: Signers::default(),
    })
}

fn missing(arg: MissingArg) -> Missing {
    match arg {
        MissingArg::Error => Missing::Error,
        MissingArg::Warn => Missing::Warn,
    }
}

/// What is given from outside when configurations are read: `--var`, `--no-tests`, `TF_VAR_*` and their kin.
fn reading(args: &LockArgs, environment: &Environment) -> Result<ReadOptions, SettingsError> {
    let mut variables = Vec::new();
    for text in &args.variables {
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| SettingsError::Variable { text: text.clone() })?;
        variables.push(VariableOption::Value {
            name: name.to_owned(),
            text: value.to_owned(),
        });
    }
    let files = args.variable_files.iter().cloned();
    variables.extend(files.map(VariableOption::File));
    let named = |(name, value): (&str, &str)| {
        let name = name.strip_prefix("TF_VAR_")?;
        Some((name.to_owned(), value.to_owned()))
    };
    Ok(ReadOptions {
        data_directory: environment.non_empty("TF_DATA_DIR").map(PathBuf::from),
        workspace: environment.non_empty("TF_WORKSPACE").map(str::to_owned),
        environment: environment.iter().filter_map(named).collect(),
        variables,
        tests: if args.no_tests {
            Tests::Skip
        } else {
            Tests::Read {
                directory: args.test_directory.clone(),
            }
        },
        ..ReadOptions::new(Engine::Terraform)
    })
}

/// Each platform once, in the order given.
fn platforms(texts: &[String]) -> Result<Vec<Platform>, SettingsError> {
    let mut platforms = Vec::new();
    for text in texts {
        let platform = Platform::parse(text).map_err(|source| SettingsError::Platform {
            text: text.clone(),
            source,
        })?;
        if !platforms.contains(&platform) {
            platforms.push(platform);
        }
    }
    Ok(platforms)
}

/// `--upgrade` without a value means all, whatever else is named.
fn upgrade(texts: &[String]) -> Result<Upgrade, SettingsError> {
    if texts.is_empty() {
        return Ok(Upgrade::None);
    }
    if texts.iter().any(String::is_empty) {
        return Ok(Upgrade::All);
    }
    let target = |text: &String| {
        UpgradeTarget::parse(text).map_err(|source| SettingsError::Upgrade {
            text: text.clone(),
            source: Box::new(source),
        })
    };
    texts
        .iter()
        .map(target)
        .collect::<Result<_, _>>()
        .map(Upgrade::Named)
}

/// How much is printed and how, as far as arguments and environment decide it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputSettings {
    /// Only failures.
    pub quiet: bool,
    /// 0: the usual; 1 and more: details.
    pub verbosity: u8,
    /// Colors always or never; `None`: where a terminal shows them.
    pub styled: Option<bool>,
    /// Progress bars, where a terminal shows them.
    pub progress: bool,
}

/// `--quiet`, `--verbose`, `--color`, `NO_COLOR`, `TERM`, `CI`.
pub fn output(args: &OutputArgs, environment: &Environment) -> OutputSettings {
    let plain =
        environment.non_empty("NO_COLOR").is_some() || environment.get("TERM") == Some("dumb");
    OutputSettings {
        quiet: args.quiet,
        verbosity: args.verbose,
        styled: match args.color {
            ColorChoice::Always => Some(true),
            ColorChoice::Never => Some(false),
            ColorChoice::Auto => plain.then_some(false),
        },
        progress: !args.quiet && environment.non_empty("CI").is_none(),
    }
}

/// OpenTofu's switches for signatures, which count as exactly `true` only (spec: registry.md 6).
pub fn trust(environment: &Environment) -> Trust {
    let enforced = |name: &str| environment.get(name) == Some("true");
    Trust {
        enforce_validation: enforced("OPENTOFU_ENFORCE_GPG_VALIDATION"),
        enforce_expiration: enforced("OPENTOFU_ENFORCE_GPG_EXPIRATION"),
    }
}

/// The top of the repository that holds `directory` (absolute): its nearest ancestor with a `.git`, or the directory
/// itself where there is none.
pub fn repository_root(directory: &Path) -> PathBuf {
    directory
        .ancestors()
        .find(|ancestor| ancestor.join(".git").exists())
        .unwrap_or(directory)
        .to_path_buf()
}
