//! The sources of credentials for repositories, as in OpenTofu: `oci_credentials` blocks, `oci_default_credentials`, the files of
//! Docker and Podman, and helper programs. The most specific source applies, and the first of several equally specific ones.
//!
//! A helper is a program: `docker-credential-NAME get` reads `https://REGISTRY` and writes `{"Username":"..","Secret":".."}`.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::Deserialize;

use crate::cli_config::{OciCredentialsBlock, OciDefaultsBlock};
use crate::oci::{AuthFile, CredentialMatch, CredentialSource, OciCredential, Specificity};
use crate::once_map::OnceMap;
use crate::registry::credentials::{self, CredentialsError};
use crate::registry::request_error::CauseText;

/// The maximum size of a file with credentials.
const MAX_FILE: u64 = 1024 * 1024;

/// The message by which a helper reports that it has no credentials for the registry.
const NOT_FOUND: &str = "credentials not found in native keychain";

/// The user name by which a helper marks its secret as an identity token, which only some registries exchange for credentials.
const IDENTITY_TOKEN: &str = "<token>";

/// Where to look for credentials.
#[derive(Clone, Debug, Default)]
pub struct OciSettings {
    pub blocks: Vec<OciCredentialsBlock>,
    pub defaults: Option<OciDefaultsBlock>,
    /// The files that Docker and Podman write, in order of precedence. They need not exist.
    pub usual_files: Vec<PathBuf>,
    /// The directories in which to search for helper programs.
    pub program_directories: Vec<PathBuf>,
}

#[derive(Default)]
pub(super) struct OciCredentials {
    settings: OciSettings,
    files: OnceLock<Result<Vec<NamedAuthFile>, CredentialsError>>,
    /// The credentials from helper programs, by helper and registry.
    from_helpers: OnceMap<(String, String), Result<Option<OciCredential>, CredentialsError>>,
}

struct NamedAuthFile {
    path: String,
    file: AuthFile,
}

/// Credentials, and the name of their source for messages.
#[derive(Clone, Debug)]
pub(super) struct PlacedCredential {
    pub(super) credential: OciCredential,
    pub(super) place: String,
}

impl OciCredentials {
    pub(super) fn new(settings: OciSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// Returns the credentials for a repository. An empty name means the registry as a whole.
    pub(super) async fn find(
        &self,
        registry: &str,
        name: &str,
    ) -> Result<Option<PlacedCredential>, CredentialsError> {
        let Some(CredentialMatch { source, place, .. }) = self.choose(registry, name)? else {
            return Ok(None);
        };
        let credential = match source {
            CredentialSource::Fixed(credential) => Some(credential),
            CredentialSource::Helper(helper) => self.ask_helper(&helper, registry).await?,
        };
        Ok(credential.map(|credential| PlacedCredential { credential, place }))
    }

    fn choose(
        &self,
        registry: &str,
        name: &str,
    ) -> Result<Option<CredentialMatch>, CredentialsError> {
        let blocks = self.settings.blocks.iter().filter_map(|block| {
            Some(CredentialMatch {
                specificity: block.prefix.specificity(registry, name)?,
                source: block.source.clone(),
                place: format!("the `oci_credentials` block at {}", block.place),
            })
        });
        let defaults = self.settings.defaults.as_ref();
        let helper = defaults.and_then(|defaults| {
            Some(CredentialMatch {
                specificity: Specificity::Global,
                source: CredentialSource::Helper(defaults.helper.clone()?),
                place: format!("the `oci_default_credentials` block at {}", defaults.place),
            })
        });
        let files = self.files.get_or_init(|| self.settings.read_files());
        let files = files.as_ref().map_err(Clone::clone)?.iter();
        let in_files = files.flat_map(|NamedAuthFile { path, file }| {
            file.matches(registry, name, &format!("`{path}`"))
        });
        Ok(CredentialMatch::best(blocks.chain(helper).chain(in_files)))
    }

    async fn ask_helper(
        &self,
        helper: &str,
        registry: &str,
    ) -> Result<Option<OciCredential>, CredentialsError> {
        let key = (helper.to_owned(), registry.to_owned());
        let run = || async {
            let program = self.settings.find_program(helper)?;
            let address = format!("https://{registry}");
            let output = credentials::run_program(&program, &["get"], Some(&address)).await?;
            if !output.status.success() && is_not_found(&output.stdout, &output.stderr) {
                return Ok(None);
            }
            let answer: HelperAnswer = credentials::helper_output(&program, &output)?;
            if answer.username == IDENTITY_TOKEN {
                return Err(CredentialsError::IdentityToken { program });
            }
            Ok(Some(OciCredential::Password {
                username: answer.username,
                password: answer.secret,
            }))
        };
        self.from_helpers.get_or_init(key, run).await
    }
}

impl OciSettings {
    /// Reads the files with credentials. Files that the configuration names must be readable and valid; others are skipped.
    fn read_files(&self) -> Result<Vec<NamedAuthFile>, CredentialsError> {
        let defaults = self.defaults.as_ref();
        if defaults.is_some_and(|defaults| !defaults.discover) {
            return Ok(Vec::new());
        }
        if let Some(named) = defaults.and_then(|defaults| defaults.files.as_ref()) {
            return named.iter().map(|path| read(path)).collect();
        }
        let usual = self.usual_files.iter().filter_map(|path| {
            let file = read(path);
            if let Err(error) = &file
                && path.exists()
            {
                tracing::info!(path = %path.display(), %error, "skipped");
            }
            file.ok()
        });
        Ok(usual.collect())
    }

    fn find_program(&self, helper: &str) -> Result<PathBuf, CredentialsError> {
        let name = format!("docker-credential-{helper}{}", std::env::consts::EXE_SUFFIX);
        let mut programs = self
            .program_directories
            .iter()
            .map(|directory| directory.join(&name));
        let found = programs.find(|program| program.is_file());
        found.ok_or(CredentialsError::NoProgram { name })
    }
}

fn read(path: &Path) -> Result<NamedAuthFile, CredentialsError> {
    let error = |source: CauseText| CredentialsError::File {
        path: path.to_path_buf(),
        source,
    };
    let read = || -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        let file = fs::File::open(path)?;
        file.take(MAX_FILE + 1).read_to_end(&mut text)?;
        if text.len() as u64 > MAX_FILE {
            return Err(io::Error::other(format!(
                "it is larger than {MAX_FILE} bytes"
            )));
        }
        Ok(text)
    };
    let text = read().map_err(|source| error(CauseText::innermost(&source)))?;
    let file = AuthFile::parse(&text).map_err(|source| {
        // The message of the JSON parser may quote a secret.
        let (line, column) = (source.line(), source.column());
        error(CauseText::text(&format!("invalid JSON at {line}:{column}")))
    })?;
    Ok(NamedAuthFile {
        path: path.display().to_string(),
        file,
    })
}

fn is_not_found(stdout: &[u8], stderr: &[u8]) -> bool {
    [stdout, stderr]
        .iter()
        .any(|text| text.trim_ascii() == NOT_FOUND.as_bytes())
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct HelperAnswer {
    username: String,
    secret: String,
}
