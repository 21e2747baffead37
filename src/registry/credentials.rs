//! API tokens for hosts, from environment variables, `credentials` blocks and a credentials helper, in this order of precedence.
//! The first source with an entry for the host is used, even if that entry contains no token.
//!
//! A credentials helper is a program: `terraform-credentials-NAME ARGS... get HOST` writes `{"token":"..."}` or `{}`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::HeaderValue;
use serde::Deserialize;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::cli_config::HelperBlock;
use crate::once_map::OnceMap;
use crate::provider::Hostname;
use crate::registry::request_error::CauseText;
use crate::registry::settings::CredentialSettings;

/// The time limit for a credentials helper, which may wait for the user to log in.
const HELPER_TIMEOUT: Duration = Duration::from_secs(60);

/// The maximum number of characters of a helper's error output to show in a message.
const MAX_HELPER_MESSAGE: usize = 400;

/// An API token. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiToken(String);

impl ApiToken {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    fn bearer(&self) -> Result<HeaderValue, CredentialsError> {
        let value = HeaderValue::from_str(&format!("Bearer {}", self.0));
        let mut value = value.map_err(|_secret| CredentialsError::Token)?;
        value.set_sensitive(true);
        Ok(value)
    }
}

impl fmt::Debug for ApiToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiToken(redacted)")
    }
}

/// The reason why the credentials for a host cannot be determined.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CredentialsError {
    /// The token contains characters that are invalid in a header.
    #[error("the token contains a line break or another character that cannot be sent")]
    Token,
    #[error("cannot run the credentials helper `{}`", program.display())]
    Run {
        program: PathBuf,
        #[source]
        source: Arc<std::io::Error>,
    },
    /// The helper exited with an error; `message` is its error output.
    #[error("credentials helper `{}` failed: {message}", program.display())]
    Failed { program: PathBuf, message: String },
    #[error("credentials helper `{}` did not finish within {seconds} s", program.display())]
    Timeout { program: PathBuf, seconds: u64 },
    /// The helper's output is not the expected JSON. The output is not shown, because it may contain a token.
    #[error("credentials helper `{}` did not write the expected JSON object", program.display())]
    Output {
        program: PathBuf,
        #[source]
        source: CauseText,
    },
    #[error("there is no program `{name}` in `PATH`")]
    NoProgram { name: String },
    /// A helper for OCI registries returned an identity token. Neither tflock nor OpenTofu supports such tokens.
    #[error("credentials helper `{}` returned an identity token, not a user name and password", program.display())]
    IdentityToken { program: PathBuf },
    #[error("cannot read `{}`", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: CauseText,
    },
}

/// Reads the tokens from the `TF_TOKEN_*` variables of an environment.
///
/// The host name follows the prefix, with `__` for `-`, `_` for `.`, and an optional `:PORT`. Case is ignored, and the name may be
/// in Unicode or Punycode. Variables without a valid host name are ignored. An empty value is an empty token.
pub fn tokens_from_env<I>(variables: I) -> BTreeMap<Hostname, ApiToken>
where
    I: IntoIterator<Item = (String, String)>,
{
    let hosts = variables.into_iter().filter_map(|(name, value)| {
        let host = name.strip_prefix("TF_TOKEN_")?;
        let host = ascii_host(&host.replace("__", "-").replace('_', "."))?;
        Some((host, ApiToken::new(value)))
    });
    hosts.collect()
}

/// Parses a host name. Punycode is allowed, unlike in a provider address.
pub(super) fn ascii_host(text: &str) -> Option<Hostname> {
    let (name, port) = match text.split_once(':') {
        Some((name, port)) => (name, format!(":{port}")),
        None => (text, String::new()),
    };
    let (name, valid) = idna::domain_to_unicode(name);
    valid.ok()?;
    Hostname::parse(&(name + &port)).ok()
}

#[derive(Debug)]
pub(super) struct Credentials {
    settings: CredentialSettings,
    from_helper: OnceMap<Hostname, Result<Option<ApiToken>, CredentialsError>>,
}

impl Credentials {
    pub(super) fn new(settings: CredentialSettings) -> Self {
        Self {
            settings,
            from_helper: OnceMap::default(),
        }
    }

    /// Returns the `Authorization` header for requests to services of `host`.
    pub(super) async fn header(
        &self,
        host: &Hostname,
    ) -> Result<Option<HeaderValue>, CredentialsError> {
        let token = self.token(host).await?;
        token.as_ref().map(ApiToken::bearer).transpose()
    }

    async fn token(&self, host: &Hostname) -> Result<Option<ApiToken>, CredentialsError> {
        if let Some(token) = self.settings.tokens.get(host) {
            return Ok(Some(token.clone()));
        }
        if let Some(block) = self.settings.blocks.get(host) {
            return Ok(block.token.as_ref().map(ApiToken::new));
        }
        let Some(block) = &self.settings.helper else {
            return Ok(None);
        };
        let Some(program) = find_helper(block, &self.settings.plugin_directories) else {
            return Ok(None);
        };
        let run = || token_from_helper(program, block, host);
        self.from_helper.get_or_init(host.clone(), run).await
    }
}

/// Finds the helper program in the first directory that contains it. A missing program is ignored, as in both engines.
fn find_helper(block: &HelperBlock, directories: &[PathBuf]) -> Option<PathBuf> {
    let suffix = std::env::consts::EXE_SUFFIX;
    let name = format!("terraform-credentials-{}{suffix}", block.name);
    let mut programs = directories.iter().map(|directory| directory.join(&name));
    programs.find(|program| program.is_file())
}

async fn token_from_helper(
    program: PathBuf,
    block: &HelperBlock,
    host: &Hostname,
) -> Result<Option<ApiToken>, CredentialsError> {
    let mut args: Vec<&str> = block.args.iter().map(String::as_str).collect();
    args.extend(["get", host.as_ascii()]);
    let output = run_program(&program, &args, None).await?;
    let output: HelperOutput = helper_output(&program, &output)?;
    Ok(output.token.map(ApiToken::new))
}

/// Parses the output of a helper. Errors never contain the output, because it may contain a secret.
pub(super) fn helper_output<'a, T: Deserialize<'a>>(
    program: &Path,
    output: &'a Output,
) -> Result<T, CredentialsError> {
    let program = program.to_path_buf();
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(CredentialsError::Failed {
            message: message.trim().chars().take(MAX_HELPER_MESSAGE).collect(),
            program,
        });
    }
    serde_json::from_slice(&output.stdout).map_err(|error| {
        let (class, line, column) = (error.classify(), error.line(), error.column());
        CredentialsError::Output {
            program,
            source: CauseText::text(&format!("{class:?} error at {line}:{column}")),
        }
    })
}

/// Runs a helper program and returns its output. `input` is written to its standard input.
pub(super) async fn run_program(
    program: &Path,
    args: &[&str],
    input: Option<&str>,
) -> Result<Output, CredentialsError> {
    let output = async {
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // Writing fails if the program exits without reading its input. That is not an error.
            let _ = stdin.write_all(input.unwrap_or_default().as_bytes()).await;
        }
        child.wait_with_output().await
    };
    match tokio::time::timeout(HELPER_TIMEOUT, output).await {
        Ok(Ok(output)) => Ok(output),
        Ok(Err(source)) => Err(CredentialsError::Run {
            program: program.to_path_buf(),
            source: Arc::new(source),
        }),
        Err(_elapsed) => Err(CredentialsError::Timeout {
            program: program.to_path_buf(),
            seconds: HELPER_TIMEOUT.as_secs(),
        }),
    }
}

#[derive(Deserialize)]
struct HelperOutput {
    token: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> Hostname {
        Hostname::parse(text).unwrap()
    }

    #[test]
    fn variables_name_hosts() {
        let rows = [
            ("TF_TOKEN_app_terraform_io", Some("app.terraform.io")),
            ("TF_TOKEN_APP_Terraform_IO", Some("app.terraform.io")),
            ("TF_TOKEN_my__host_example", Some("my-host.example")),
            ("TF_TOKEN_h_test:8080", Some("h.test:8080")),
            ("TF_TOKEN_h_test:443", Some("h.test")),
            ("TF_TOKEN_127_0_0_1:8751", Some("127.0.0.1:8751")),
            ("TF_TOKEN_xn____bcher__kva_example", Some("bücher.example")),
            ("TF_TOKEN_xn--bcher-kva_example", Some("bücher.example")),
            ("TF_TOKEN_bücher_example", Some("bücher.example")),
            ("TF_TOKEN_localhost", Some("localhost")),
            ("TF_TOKEN_", None),
            ("TF_TOKEN_a b", None),
            ("TF_TOKEN__x", None),
            ("TF_TOKENS_a_b", None),
            ("tf_token_a_b", None),
        ];
        for (name, expected) in rows {
            let tokens = tokens_from_env([(name.to_owned(), "t".to_owned())]);
            let expected: Vec<_> = expected.map(host).into_iter().collect();
            assert_eq!(tokens.into_keys().collect::<Vec<_>>(), expected, "{name}");
        }
    }

    #[test]
    fn tokens_are_never_shown() {
        assert_eq!(
            format!("{:?}", ApiToken::new("secret")),
            "ApiToken(redacted)"
        );
        let header = ApiToken::new("secret").bearer().unwrap();
        assert!(!format!("{header:?}").contains("secret"));
    }

    #[test]
    fn tokens_become_headers() {
        assert_eq!(ApiToken::new("t").bearer().unwrap(), "Bearer t");
        assert_eq!(ApiToken::new("").bearer().unwrap(), "Bearer ");
        assert!(matches!(
            ApiToken::new("a\nb").bearer(),
            Err(CredentialsError::Token)
        ));
    }
}
