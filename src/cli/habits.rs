//! Hints for users of Terraform and other tools, whose options start with one dash or have different names.

use std::ffi::{OsStr, OsString};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, FromArgMatches as _};

use super::Cli;

/// Options of other tools, each with the option of tflock to which the hint refers, and the hint. The second element is empty if the
/// hint refers to no option.
const FOREIGN_OPTIONS: [(&str, &str, &str); 29] = [
    ("C", "", DIRECTORY_HINT),
    ("all", "recursive", "use '--recursive'"),
    ("chdir", "", DIRECTORY_HINT),
    ("directory", "", DIRECTORY_HINT),
    ("dry-run", "check", "use '--check'"),
    ("exclude", "ignore-path", "use '--ignore-path'"),
    ("fix", "", "to correct lock files, use 'tflock lock'"),
    (
        "force",
        "refresh",
        "to ask the registries again, use '--refresh'",
    ),
    ("json", "format", "use '--format json'"),
    ("lockfile", "check", "to write nothing, use '--check'"),
    ("n", "check", "use '--check'"),
    ("no-color", "color", "use '--color never'"),
    ("o", "format", "use '--format'"),
    ("output", "format", "use '--format'"),
    ("parallelism", "jobs", "use '--jobs'"),
    ("plugin-dir", "fs-mirror", "use '--fs-mirror'"),
    ("write", "check", "omit it: only '--check' prevents writing"),
    ("backend", "", OMIT_HINT),
    ("backend-config", "", OMIT_HINT),
    ("enable-plugin-cache", "", OMIT_HINT),
    ("force-copy", "", OMIT_HINT),
    ("from-module", "", OMIT_HINT),
    ("get", "", OMIT_HINT),
    ("get-plugins", "", OMIT_HINT),
    ("input", "", OMIT_HINT),
    ("lock-timeout", "", OMIT_HINT),
    ("migrate-state", "", OMIT_HINT),
    ("reconfigure", "", OMIT_HINT),
    ("verify-plugins", "", OMIT_HINT),
];

const DIRECTORY_HINT: &str = "pass the directory as an argument: 'tflock lock DIR'";
const OMIT_HINT: &str = "omit it: tflock runs neither Terraform nor OpenTofu";

/// Commands of other tools, and what to run instead. The first match applies, so longer commands precede their first word.
const FOREIGN_COMMANDS: [(&[&str], &str); 11] = [
    (&["providers", "lock"], "tflock lock"),
    (&["providers", "mirror"], "tflock mirror"),
    (&["providers"], "tflock list"),
    (&["audit"], "tflock verify"),
    (&["check"], "tflock lock --check"),
    (&["diff"], "tflock lock --check --diff"),
    (&["outdated"], "tflock list"),
    (&["plan"], "tflock lock --check --diff"),
    (&["status"], "tflock lock --check --diff"),
    (&["upgrade"], "tflock lock --upgrade"),
    (&["validate"], "tflock verify"),
];

/// Parses the arguments of the process, the first of which is the name of the program.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    accept_other_spellings(&mut arguments);
    if command_hint(&arguments).is_none()
        && let Some(name) = find_single_dash(&arguments)
    {
        return Err(single_dash_error(&arguments, name));
    }
    let matches = super::program().try_get_matches_from(&arguments);
    let cli = matches.and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches));
    cli.map_err(|error| with_hint(error, &arguments))
}

/// Replaces `version`, `-version` and `-help`, which other tools accept, with `--version` and `--help`.
fn accept_other_spellings(arguments: &mut [OsString]) {
    if let Some(first) = arguments.get_mut(1)
        && (first == "version" || first == "-version")
    {
        *first = "--version".into();
    }
    let options = arguments.iter_mut().skip(1);
    for argument in options.take_while(|argument| *argument != "--") {
        if argument == "-help" {
            *argument = "--help".into();
        }
    }
}

/// Returns the name of the first long option with one dash, such as `-platform=linux_amd64`. clap would read it as several short
/// options, or as `-i` and its value.
fn find_single_dash(arguments: &[OsString]) -> Option<&str> {
    let options = arguments.iter().skip(1);
    let mut options = options.take_while(|argument| *argument != "--");
    options.find_map(|argument| {
        let name = option_name(argument.to_str()?, "-")?;
        let is_foreign = || FOREIGN_OPTIONS.iter().any(|(foreign, ..)| *foreign == name);
        let is_known = name.len() > 1 && (is_foreign() || super::has_option(name));
        is_known.then_some(name)
    })
}

/// Returns the name of the option in `argument`, without its value, which may be a secret.
fn option_name<'a>(argument: &'a str, dashes: &str) -> Option<&'a str> {
    let name = argument.strip_prefix(dashes)?.split('=').next()?;
    (!name.starts_with('-')).then_some(name)
}

fn single_dash_error(arguments: &[OsString], name: &str) -> clap::Error {
    let command = named_command(arguments);
    let hint = option_hint(&command, name);
    let hint = hint.unwrap_or_else(|| format!("long options have two dashes: '--{name}'"));
    let mut error = clap::Error::new(ErrorKind::UnknownArgument).with_cmd(&command);
    let invalid = ContextValue::String(format!("-{name}"));
    error.insert(ContextKind::InvalidArg, invalid);
    insert_hint(&mut error, &command, hint);
    error
}

/// Replaces clap's suggestion if the unknown argument exists in another tool or in another command of tflock.
fn with_hint(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let invalid = match error.kind() {
        ErrorKind::UnknownArgument => error.get(ContextKind::InvalidArg),
        ErrorKind::InvalidSubcommand => error.get(ContextKind::InvalidSubcommand),
        _ => None,
    };
    let Some(ContextValue::String(invalid)) = invalid.cloned() else {
        return error;
    };
    let command = named_command(arguments);
    let hint = match (option_name(&invalid, "--"), option_name(&invalid, "-")) {
        (Some(name), _) => option_hint(&command, name),
        (None, Some(name)) => {
            foreign_option_hint(&command, name).or_else(|| short_option_hint(name))
        }
        (None, None) => command_hint(arguments),
    };
    if invalid.starts_with('-') {
        // clap suggests `-- --x`, but a path that starts with dashes is unlikely.
        error.remove(ContextKind::Suggested);
    }
    if let Some(hint) = hint {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::SuggestedSubcommand);
        insert_hint(&mut error, &command, hint);
    }
    error
}

fn insert_hint(error: &mut clap::Error, command: &Command, hint: String) {
    let usage = command.clone().render_usage();
    error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
    let hints = ContextValue::StyledStrs(vec![hint.into()]);
    error.insert(ContextKind::Suggested, hints);
}

/// Returns the hint for an option that `command` does not have. `None` if `command` has it, or if nothing is known about it.
fn option_hint(command: &Command, name: &str) -> Option<String> {
    if super::command_has_option(command, name) {
        return None;
    }
    if let Some(hint) = foreign_option_hint(command, name) {
        return Some(hint);
    }
    let program = super::program();
    let mut commands = program.get_subcommands();
    let other = commands.find(|other| super::command_has_option(other, name))?;
    let other = other.get_name();
    Some(format!("'--{name}' is an option of 'tflock {other}'"))
}

fn foreign_option_hint(command: &Command, name: &str) -> Option<String> {
    let mut options = FOREIGN_OPTIONS.iter();
    let (_, _, hint) = options.find(|(foreign, replacement, _)| {
        *foreign == name
            && (replacement.is_empty() || super::command_has_option(command, replacement))
    })?;
    Some((*hint).to_owned())
}

/// Returns the hint for a short option that only other commands have.
fn short_option_hint(name: &str) -> Option<String> {
    let program = super::program();
    let has_option = |command: &&Command| {
        let mut shorts = command.get_arguments().filter_map(clap::Arg::get_short);
        shorts.any(|short| name.chars().eq([short]))
    };
    let other = program.get_subcommands().find(has_option)?.get_name();
    Some(format!("'-{name}' is an option of 'tflock {other}'"))
}

fn command_hint(arguments: &[OsString]) -> Option<String> {
    let words = arguments.iter().skip(1).map(OsString::as_os_str);
    let words: Vec<&OsStr> = words.collect();
    let starts_with = |foreign: &[&str]| {
        let foreign: Vec<&OsStr> = foreign.iter().map(OsStr::new).collect();
        words.starts_with(&foreign)
    };
    let mut commands = FOREIGN_COMMANDS.iter();
    let (_, ours) = commands.find(|(foreign, _)| starts_with(foreign))?;
    Some(format!("use '{ours}'"))
}

/// Returns the subcommand that the arguments name, or the top-level command if they name none.
fn named_command(arguments: &[OsString]) -> Command {
    let mut program = super::program();
    // Completes the usage lines of the commands.
    program.build();
    let mut words = arguments.iter().skip(1);
    let named = words.find_map(|word| program.find_subcommand(word).cloned());
    named.unwrap_or(program)
}
