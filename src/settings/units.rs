//! The environment in which Terragrunt units are evaluated, and the engine that it selects (see section 8 of
//! docs/rules/terragrunt.md).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::config::EnvironmentValue;
use crate::provider::Engine;

use super::{Environment, Untrusted};

/// The environment variables that set the program that Terragrunt runs. The first one takes precedence.
const PROGRAM_VARIABLES: [&str; 2] = ["TG_TF_PATH", "TERRAGRUNT_TFPATH"];

/// The environment variables that replace the sources of units. They are for development, and lock files must not depend on them.
const SOURCE_VARIABLES: [&str; 4] = [
    "TG_SOURCE",
    "TERRAGRUNT_SOURCE",
    "TG_SOURCE_MAP",
    "TERRAGRUNT_SOURCE_MAP",
];

/// The environment in which Terragrunt units are evaluated.
#[derive(Clone, Debug, Default)]
pub struct UnitSettings {
    /// The variables that the configuration may read.
    pub environment: BTreeMap<String, EnvironmentValue>,
    /// The engine of the program that `TG_TF_PATH` or `TERRAGRUNT_TFPATH` names.
    pub engine: Option<Engine>,
    program_directories: Vec<PathBuf>,
    is_tofu_installed: OnceLock<bool>,
    ignored: Vec<&'static str>,
}

impl UnitSettings {
    pub(super) fn new(environment: &Environment, untrusted: Option<&Untrusted>) -> Self {
        let value = |(name, value): (&str, &str)| {
            let is_withheld =
                untrusted.is_some_and(|untrusted| !untrusted.environment.contains(name));
            let value = if is_withheld {
                EnvironmentValue::Withheld
            } else {
                EnvironmentValue::Known(value.to_owned())
            };
            (name.to_owned(), value)
        };
        let program = PROGRAM_VARIABLES
            .iter()
            .find_map(|name| environment.non_empty(name));
        let directories = environment.get("PATH").map(std::env::split_paths);
        let is_set = |name: &&str| environment.non_empty(name).is_some();
        Self {
            environment: environment.iter().map(value).collect(),
            engine: program.and_then(engine_of_program),
            program_directories: directories.into_iter().flatten().collect(),
            is_tofu_installed: OnceLock::new(),
            ignored: SOURCE_VARIABLES.into_iter().filter(is_set).collect(),
        }
    }

    /// Returns OpenTofu if it is installed, because Terragrunt prefers it if nothing else selects an engine.
    pub fn installed_engine(&self) -> Option<Engine> {
        let is_installed = self.is_tofu_installed.get_or_init(|| {
            let program = format!("tofu{}", std::env::consts::EXE_SUFFIX);
            let mut directories = self.program_directories.iter();
            directories.any(|directory| directory.join(&program).is_file())
        });
        is_installed.then_some(Engine::Tofu)
    }

    /// Returns a message for each variable that Terragrunt would use and tflock ignores.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        self.ignored.iter().map(|name| {
            format!("ignoring `{name}`: lock files are computed for the sources in the units")
        })
    }
}

/// Guesses the engine from the file name of a program. `None` if the name contains neither `tofu` nor `terraform`.
pub fn engine_of_program(path: &str) -> Option<Engine> {
    let name = Path::new(path).file_name()?.to_str()?;
    [Engine::Tofu, Engine::Terraform]
        .into_iter()
        .find(|engine| name.contains(engine.program()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_program_determines_its_engine() {
        for (path, expected) in [
            ("tofu", Some(Engine::Tofu)),
            ("/usr/local/bin/terraform", Some(Engine::Terraform)),
            ("/opt/tofu/terraform-1.9", Some(Engine::Terraform)),
            ("C:/bin/tofu.exe", Some(Engine::Tofu)),
            ("/opt/tofu/wrapper", None),
            ("", None),
        ] {
            assert_eq!(engine_of_program(path), expected, "{path}");
        }
    }
}
