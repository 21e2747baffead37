//! The blocks `oci_credentials` and `oci_default_credentials` (OpenTofu only): credentials for OCI registries.

use std::path::PathBuf;

use crate::cli_config::CliConfigError;
use crate::cli_config::decode::{FileDecoder, LabelledBlock, named, text_of};
use crate::cli_config::tree::{ConfigValue, Item};
use crate::oci::{CredentialSource, OciCredential, RepositoryPrefix};
use crate::span::{Place, Span};

/// An `oci_credentials` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OciCredentialsBlock {
    pub prefix: RepositoryPrefix,
    pub source: CredentialSource,
    pub place: Place,
}

/// The `oci_default_credentials` block: credentials for repositories without an `oci_credentials` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OciDefaultsBlock {
    /// Whether to search the files that Docker and Podman write.
    pub discover: bool,
    /// The files to search instead of those that Docker and Podman use by default.
    pub files: Option<Vec<PathBuf>>,
    /// The helper program for all registries.
    pub helper: Option<String>,
    pub place: Place,
}

/// The arguments of an `oci_credentials` block: a user name and a password, two tokens, or the name of a helper.
const CREDENTIAL_ARGUMENTS: [&str; 5] = [
    "username",
    "password",
    "access_token",
    "refresh_token",
    HELPER,
];

const HELPER: &str = "docker_credentials_helper";

impl FileDecoder<'_> {
    /// Decodes the blocks for OCI registries.
    pub(super) fn oci(&mut self, items: &[Item]) {
        for block in self.blocks(items, "oci_credentials") {
            match self.oci_credentials(&block) {
                Ok(decoded) => self.out.oci_credentials.push(decoded),
                Err(problem) => self.invalid_block(block.label.span, "oci_credentials", &problem),
            }
        }
        for item in named(items, "oci_default_credentials") {
            let name = "oci_default_credentials";
            let span = item.keys[0].span;
            if item.keys.len() > 1 {
                self.invalid_block(span, name, "it takes no labels");
            } else if let Some(body) = self.body(&[], &item.value, name) {
                match self.oci_defaults(&body, span) {
                    Ok(decoded) => self.out.oci_defaults.push(decoded),
                    Err(problem) => self.invalid_block(span, name, &problem),
                }
            }
        }
    }

    fn oci_credentials(&self, block: &LabelledBlock) -> Result<OciCredentialsBlock, String> {
        let label = &block.label.text;
        let prefix = RepositoryPrefix::parse(label).map_err(|error| error.to_string())?;
        let mut values = Vec::new();
        for name in CREDENTIAL_ARGUMENTS {
            values.push(string(&block.body, name)?);
        }
        let filled = |value: Option<String>| value.filter(|text| !text.is_empty());
        let source = match <[Option<String>; 5]>::try_from(values) {
            Ok([Some(username), Some(password), None, None, None]) if !username.is_empty() => {
                CredentialSource::Fixed(OciCredential::Password { username, password })
            }
            // The refresh token is never used, because access tokens are sent as is.
            Ok([None, None, token, Some(_), None]) if filled(token.clone()).is_some() => {
                CredentialSource::Fixed(OciCredential::AccessToken(token.unwrap_or_default()))
            }
            Ok([None, None, None, None, Some(name)]) => {
                check_helper(&name)?;
                if prefix.has_path() {
                    return Err(format!(
                        "`{HELPER}` needs a label without a path, because a helper has credentials for whole registries"
                    ));
                }
                CredentialSource::Helper(name)
            }
            _ => {
                return Err(format!(
                    "it must set `username` and `password`, or `access_token` and `refresh_token`, or `{HELPER}`"
                ));
            }
        };
        Ok(OciCredentialsBlock {
            prefix,
            source,
            place: self.source.place(block.label.span),
        })
    }

    fn oci_defaults(&self, body: &[Item], span: Span) -> Result<OciDefaultsBlock, String> {
        let discover = match named(body, "discover_ambient_credentials").last() {
            None => true,
            Some(item) => match item.value.value {
                ConfigValue::Bool(value) => value,
                _ => {
                    return Err(
                        "`discover_ambient_credentials` must be `true` or `false`".to_owned()
                    );
                }
            },
        };
        let files = match named(body, "docker_style_config_files").last() {
            None => None,
            Some(item) => {
                let names = self
                    .source
                    .strings("docker_style_config_files", &item.value);
                let names = names.map_err(|error| error.to_string())?;
                let directory = self.source.path.parent().unwrap_or(self.source.path);
                Some(names.iter().map(|name| directory.join(name)).collect())
            }
        };
        if files.is_some() && !discover {
            return Err(
                "`docker_style_config_files` has no effect if `discover_ambient_credentials` is `false`".to_owned(),
            );
        }
        let helper = string(body, HELPER)?;
        if let Some(name) = &helper {
            check_helper(name)?;
        }
        Ok(OciDefaultsBlock {
            discover,
            files,
            helper,
            place: self.source.place(span),
        })
    }

    fn invalid_block(&mut self, span: Span, name: &str, problem: &str) {
        self.out.errors.push(CliConfigError::Installation {
            place: Box::new(self.source.place(span)),
            problem: format!("this `{name}` block is ignored: {problem}"),
        });
    }
}

/// Returns the value of an argument, which may be a number.
fn string(body: &[Item], name: &str) -> Result<Option<String>, String> {
    let Some(item) = named(body, name).last() else {
        return Ok(None);
    };
    match text_of(&item.value.value) {
        Some(text) => Ok(Some(text.to_owned())),
        None => Err(format!(
            "`{name}` must be a string, not {}",
            item.value.value.kind()
        )),
    }
}

/// Fails unless the name can be part of the name of a program.
fn check_helper(name: &str) -> Result<(), String> {
    if name.is_empty() || name.contains(std::path::is_separator) {
        return Err(format!(
            "`{HELPER}` must be the part of a program name after `docker-credential-`, without a directory"
        ));
    }
    Ok(())
}
