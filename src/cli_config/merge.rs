//! Merges files into one configuration: first the main file, then the files in the configuration directory, sorted by name.

use std::path::Path;

use crate::cli_config::decode::{self, FileSettings};
use crate::cli_config::{CliConfig, CliConfigError};
use crate::provider::Engine;
use crate::span::Place;

/// Merges files in the order in which they are added.
///
/// - `host` and `credentials`: a later block replaces an earlier one with the same label.
/// - `plugin_cache_dir`, and each attribute of `registry_protocols`: the first value applies.
/// - `provider_installation`, `credentials_helper`, `oci_default_credentials`, and `oci_credentials` with the same label: the first
///   block applies, and each additional one is an error.
#[derive(Debug, Default)]
pub struct Builder {
    engine: Option<Engine>,
    config: CliConfig,
    errors: Vec<CliConfigError>,
}

impl Builder {
    /// Creates a builder for the settings of one engine. A default builder accepts those of both.
    pub fn for_engine(engine: Engine) -> Self {
        Self {
            engine: Some(engine),
            ..Self::default()
        }
    }

    /// Adds a file. `text` is its content, and `path` is used in error messages.
    pub fn add(&mut self, path: &Path, text: &[u8]) {
        let mut file = decode::decode(path, text, self.engine);
        self.errors.append(&mut file.errors);
        self.merge(file);
    }

    pub fn fail(&mut self, error: CliConfigError) {
        self.errors.push(error);
    }

    pub fn finish(self) -> (CliConfig, Vec<CliConfigError>) {
        (self.config, self.errors)
    }

    fn merge(&mut self, file: FileSettings) {
        let config = &mut self.config;
        config.hosts.extend(file.hosts);
        config.credentials.extend(file.credentials);
        if config.plugin_cache_dir.is_none() {
            config.plugin_cache_dir = file.plugin_cache_dir.filter(|dir| !dir.is_empty());
        }
        let (known, new) = (&mut config.registry_protocols, file.registry_protocols);
        let timeout = known.request_timeout_seconds;
        known.retry_count = known.retry_count.or(new.retry_count);
        known.request_timeout_seconds = timeout.or(new.request_timeout_seconds);
        let errors = &mut self.errors;
        for block in file.oci_credentials {
            let known = &mut config.oci_credentials;
            match known.iter().find(|known| known.prefix == block.prefix) {
                None => known.push(block),
                Some(first) => errors.push(CliConfigError::Repeated {
                    place: Box::new(block.place),
                    block: "oci_credentials",
                    first: Box::new(first.place.clone()),
                }),
            }
        }
        keep_first(
            &mut config.oci_defaults,
            file.oci_defaults,
            "oci_default_credentials",
            |block| &block.place,
            errors,
        );
        keep_first(
            &mut config.credentials_helper,
            file.helpers,
            "credentials_helper",
            |block| &block.place,
            errors,
        );
        keep_first(
            &mut config.provider_installation,
            file.installations,
            "provider_installation",
            |block| &block.place,
            errors,
        );
    }
}

fn keep_first<T>(
    kept: &mut Option<T>,
    found: Vec<T>,
    block: &'static str,
    place: impl Fn(&T) -> &Place,
    errors: &mut Vec<CliConfigError>,
) {
    for new in found {
        match kept {
            None => *kept = Some(new),
            Some(first) => errors.push(CliConfigError::Repeated {
                place: Box::new(place(&new).clone()),
                block,
                first: Box::new(place(first).clone()),
            }),
        }
    }
}
