//! The `tflock index` command.

mod keygen;

use crate::cli::IndexCommand;

use super::{CommandError, Invocation};

pub(super) fn command(
    command: &IndexCommand,
    invocation: Invocation<'_>,
) -> Result<u8, CommandError> {
    match command {
        IndexCommand::Keygen { name } => keygen::command(name, invocation),
    }
}
