//! The `--var` and `--var-file` options, whose order matters: later values take precedence.

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches};

#[derive(Clone, Debug)]
pub enum VariableArg {
    /// A `--var` option: `NAME=VALUE`.
    Value(String),
    File(PathBuf),
}

/// The `--var` and `--var-file` options in command-line order.
#[derive(Clone, Debug, Default)]
pub struct VariableArgs(pub Vec<VariableArg>);

#[derive(Args)]
struct UnorderedVariables {
    /// Set a root module variable, for module sources and versions that depend on it (repeatable)
    #[arg(long = "var", value_name = "NAME=VALUE")]
    variables: Vec<String>,
    /// Set the variables in FILE, a path relative to each root module (repeatable)
    #[arg(long = "var-file", value_name = "FILE")]
    variable_files: Vec<PathBuf>,
}

impl Args for VariableArgs {
    fn augment_args(command: Command) -> Command {
        UnorderedVariables::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        UnorderedVariables::augment_args_for_update(command)
    }
}

impl FromArgMatches for VariableArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let indices = |id| matches.indices_of(id).into_iter().flatten();
        let positions: Vec<usize> = indices("variables")
            .chain(indices("variable_files"))
            .collect();
        let unordered = UnorderedVariables::from_arg_matches(matches)?;
        let values = unordered.variables.into_iter().map(VariableArg::Value);
        let files = unordered.variable_files.into_iter().map(VariableArg::File);
        let mut ordered: Vec<_> = positions.into_iter().zip(values.chain(files)).collect();
        ordered.sort_by_key(|(position, _)| *position);
        Ok(Self(
            ordered.into_iter().map(|(_, argument)| argument).collect(),
        ))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
