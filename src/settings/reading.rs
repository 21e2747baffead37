//! Determines how configurations are read, based on options such as `--var` and environment variables such as `TF_VAR_*`.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::cli::{ConfinementArgs, ReadingArgs, VariableArg, VariableArgs};
use crate::config::{DEFAULT_TEST_DIRECTORY, EnvironmentValue, ReadOptions, Tests, VariableOption};
use crate::provider::Engine;

use super::{Environment, SettingsError, Untrusted};

/// The environment variable that selects the workspace.
const WORKSPACE: &str = "TF_WORKSPACE";

/// The maximum number of bytes to read from a pipe given as a `--var-file`.
const MAX_PIPED_BYTES: u64 = 16 << 20;

/// Returns the options for reading root modules. The caller sets the engine and the files that may be read.
pub(super) fn read_options(
    args: &ReadingArgs,
    environment: &Environment,
    untrusted: Option<&Untrusted>,
) -> Result<ReadOptions, SettingsError> {
    let environment_value = |name: &str, value: &str| match untrusted {
        Some(untrusted) if !untrusted.environment.contains(name) => EnvironmentValue::Withheld,
        _ => EnvironmentValue::Known(value.to_owned()),
    };
    let root_variable = |(variable, value): (&str, &str)| {
        let name = variable.strip_prefix("TF_VAR_")?;
        Some((name.to_owned(), environment_value(variable, value)))
    };
    let workspace = environment.non_empty(WORKSPACE);
    Ok(ReadOptions {
        data_directory: environment.non_empty("TF_DATA_DIR").map(PathBuf::from),
        workspace: workspace.map(|name| environment_value(WORKSPACE, name)),
        environment: environment.iter().filter_map(root_variable).collect(),
        variables: variables(&args.variables)?,
        tests: if args.no_tests {
            Tests::Skip
        } else {
            let directory = args.test_directory.clone();
            Tests::Read {
                directory: directory.unwrap_or_else(|| DEFAULT_TEST_DIRECTORY.into()),
            }
        },
        is_untrusted: untrusted.is_some(),
        ..ReadOptions::new(Engine::Terraform)
    })
}

/// Converts the `--var` and `--var-file` options, in the order in which they were given.
fn variables(args: &VariableArgs) -> Result<Vec<VariableOption>, SettingsError> {
    let convert = |argument: &VariableArg| match argument {
        VariableArg::Value(text) => variable_value(text),
        VariableArg::File(path) => variable_file(path),
    };
    args.0.iter().map(convert).collect()
}

fn variable_value(text: &str) -> Result<VariableOption, SettingsError> {
    let (name, value) = text.split_once('=').ok_or(SettingsError::Variable)?;
    if name.ends_with(' ') {
        return Err(SettingsError::Variable);
    }
    Ok(VariableOption::Value {
        name: name.to_owned(),
        text: value.to_owned(),
    })
}

/// Reads the content of a `--var-file` immediately if the path is absolute and not a regular file: a pipe, for example, can be read
/// only once, but each root module needs its content.
fn variable_file(path: &Path) -> Result<VariableOption, SettingsError> {
    let path = path.to_path_buf();
    let is_read_once = |metadata: std::fs::Metadata| !metadata.is_file() && !metadata.is_dir();
    if !path.is_absolute() || !path.metadata().is_ok_and(is_read_once) {
        return Ok(VariableOption::File(path));
    }
    let mut text = Vec::new();
    let read = File::open(&path).and_then(|file| {
        let size = file.take(MAX_PIPED_BYTES + 1).read_to_end(&mut text)?;
        if size as u64 > MAX_PIPED_BYTES {
            let message = format!("it is larger than {MAX_PIPED_BYTES} bytes");
            return Err(io::Error::other(message));
        }
        Ok(())
    });
    match read {
        Ok(()) => Ok(VariableOption::Content {
            path,
            text: text.into(),
        }),
        Err(error) => {
            let argument = format!("--var-file {}", path.display());
            Err(SettingsError::argument(argument, error))
        }
    }
}

/// Returns the directories named by `--allow-read`, absolute and without symlinks.
pub(super) fn allowed_directories(
    args: &ConfinementArgs,
    environment: &Environment,
) -> Result<Vec<PathBuf>, SettingsError> {
    let real_path = |path: &PathBuf| {
        let directory = environment.working_directory.join(path).canonicalize()?;
        std::fs::read_dir(&directory)?;
        Ok(directory)
    };
    let directory = |path: &PathBuf| {
        real_path(path).map_err(|source| SettingsError::AllowRead {
            path: path.clone(),
            source,
        })
    };
    args.allow_read.iter().map(directory).collect()
}
