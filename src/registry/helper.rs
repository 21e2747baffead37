//! Credentials helpers: `terraform-credentials-NAME ARGS... get HOST` writes `{"token":"..."}` or `{}`.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use tokio::process::Command;

use crate::cli_config::HelperBlock;
use crate::provider::Hostname;
use crate::registry::credentials::Token;
use crate::registry::error::CredentialsError;
use crate::registry::fault::Cause;

/// How long a helper may take. Some ask the user or a key store with a login of its own.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How much of a helper's complaint is shown, in characters.
const MAX_MESSAGE: usize = 400;

/// The helper's program in the first directory that has it. A missing program is ignored, as the engines do.
pub(super) fn find(block: &HelperBlock, directories: &[PathBuf]) -> Option<PathBuf> {
    let name = format!(
        "terraform-credentials-{}{}",
        block.name,
        std::env::consts::EXE_SUFFIX
    );
    directories
        .iter()
        .map(|directory| directory.join(&name))
        .find(|program| program.is_file())
}

/// Asks the helper for the host's token.
pub(super) async fn ask(
    program: PathBuf,
    block: &HelperBlock,
    host: &Hostname,
) -> Result<Option<Token>, CredentialsError> {
    let output = run(&program, block, host).await?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(CredentialsError::Failed {
            message: message.trim().chars().take(MAX_MESSAGE).collect(),
            program,
        });
    }
    let answer: Answer =
        serde_json::from_slice(&output.stdout).map_err(|error| CredentialsError::Output {
            program,
            source: Cause::text(&format!(
                "{:?} error at {}:{}",
                error.classify(),
                error.line(),
                error.column()
            )),
        })?;
    Ok(answer.token.map(Token::new))
}

async fn run(
    program: &Path,
    block: &HelperBlock,
    host: &Hostname,
) -> Result<Output, CredentialsError> {
    let child = Command::new(program)
        .args(&block.args)
        .arg("get")
        .arg(host.as_ascii())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(TIMEOUT, child).await;
    let output = output.map_err(|_elapsed| CredentialsError::Timeout {
        program: program.to_path_buf(),
        seconds: TIMEOUT.as_secs(),
    })?;
    output.map_err(|source| CredentialsError::Run {
        program: program.to_path_buf(),
        source: Arc::new(source),
    })
}

#[derive(Deserialize)]
struct Answer {
    token: Option<String>,
}
