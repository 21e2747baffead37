//! The `tflock completions` and `tflock man` commands: print documents generated from the command-line definition.

use crate::cli::{CompletionsArgs, ManArgs};
use crate::printer::Printer;
use crate::span::Explain;

use super::{CommandError, DONE};

/// A request for the manual page of an unknown command. `names` are the known commands.
#[derive(Debug, thiserror::Error)]
#[error("cannot print the manual page: there is no such command")]
struct NoPage {
    names: Vec<String>,
}

impl Explain for NoPage {
    fn hint(&self) -> Option<String> {
        Some(format!(
            "use one of these commands: {}",
            self.names.join(", ")
        ))
    }
}

pub(super) fn completions(args: CompletionsArgs, printer: Printer) -> u8 {
    printer.document(&args.render());
    DONE
}

pub(super) fn man(args: &ManArgs, printer: Printer) -> Result<u8, CommandError> {
    let page = args.render().map_err(|names| NoPage { names })?;
    printer.document(&page);
    Ok(DONE)
}
