//! The `tflock init` command: writes a `.tflock.toml` with the platforms, the engine and the ignored paths that the repository
//! suggests.
//!
//! | step | module |
//! | --- | --- |
//! | read the configuration of CI systems, scripts and hooks | [`automation`] |
//! | look at the directories and their lock files | [`modules`] |
//! | render the file, with the paths where each clue was found | [`config_text`] |

mod automation;
mod clues;
mod config_text;
mod modules;
mod write;

use std::io;
use std::path::{Path, PathBuf};

use crate::access::{LinkError, confine, repository_root};
use crate::cli::InitArgs;
use crate::display::shown_path;
use crate::provider::Platform;
use crate::settings::CONFIG_FILE_NAME;
use crate::span::Explain;

use super::{CommandError, DONE, Invocation};
use clues::Clues;

#[derive(Debug, thiserror::Error)]
enum InitError {
    #[error("cannot access `{}`", shown_path(path))]
    Directory { path: PathBuf, source: LinkError },
    #[error("cannot create `{}`: it already exists", shown_path(path))]
    Exists { path: PathBuf },
    #[error("cannot create `{}`", shown_path(path))]
    Write { path: PathBuf, source: io::Error },
}

impl Explain for InitError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Exists { .. } => Some(
                "edit the file, or run `tflock init --print` to see what a new one would contain"
                    .to_owned(),
            ),
            Self::Directory { .. } | Self::Write { .. } => None,
        }
    }
}

pub(super) fn command(args: &InitArgs, invocation: Invocation<'_>) -> Result<u8, CommandError> {
    let working_directory = &invocation.environment.working_directory;
    let directory = directory(args, working_directory)?;
    let file = directory.join(CONFIG_FILE_NAME);
    let shown = file.strip_prefix(working_directory).unwrap_or(&file);
    if !args.print && file.symlink_metadata().is_ok() {
        let path = shown.to_path_buf();
        return Err(InitError::Exists { path }.into());
    }
    let clues = find_clues(&directory);
    let printer = invocation.printer;
    for problem in &clues.unread {
        printer.message(&format!("not read: {problem}"));
    }
    let text = config_text::render(&clues);
    if args.print {
        printer.document(&text);
        return Ok(DONE);
    }
    write::create(&file, shown, &text)?;
    let next = "next, add missing platforms, run `tflock lock -r`, and commit everything";
    printer.report(&format!(
        "created {}:\n\n{text}\n{next}\n",
        shown_path(shown)
    ));
    Ok(DONE)
}

/// Returns the directory in which to create the file: the one that the user named, otherwise the root of the repository.
fn directory(args: &InitArgs, working_directory: &Path) -> Result<PathBuf, InitError> {
    let named = args.directory.as_deref();
    let failed = |source: LinkError| InitError::Directory {
        path: named.unwrap_or(Path::new(".")).to_path_buf(),
        source,
    };
    match named {
        None => {
            let here = working_directory.canonicalize();
            Ok(repository_root(
                &here.map_err(|error| failed(error.into()))?,
            ))
        }
        Some(named) => {
            let directory = confine(&working_directory.join(named)).map_err(failed)?;
            let metadata = directory.metadata().map_err(|error| failed(error.into()))?;
            if metadata.is_dir() {
                Ok(directory)
            } else {
                Err(failed(io::Error::from(io::ErrorKind::NotADirectory).into()))
            }
        }
    }
}

/// Collects the clues below `directory`, and those in the CI configuration, scripts and hooks of its repository.
fn find_clues(directory: &Path) -> Clues {
    let top = repository_root(directory);
    let mut clues = Clues::new(&top);
    automation::read(&top, &mut clues);
    modules::look_at(directory, &mut clues);
    clues.add_platform(Platform::current(), "this machine");
    clues
}
