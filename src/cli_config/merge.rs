//! Several files into one configuration: the main file first, then those of the directory in name order.

use std::path::Path;

use crate::cli_config::decode::{self, FileSettings};
use crate::cli_config::{CliConfig, CliConfigError};

/// Joins files in the order in which they are added.
///
/// `host` and `credentials`: the later label wins. `plugin_cache_dir` and `registry_protocols`: the first value wins.
/// `provider_installation` and `credentials_helper`: the first block counts, each further one is an error.
#[derive(Debug, Default)]
pub struct Builder {
    config: CliConfig,
    errors: Vec<CliConfigError>,
}

impl Builder {
    /// Adds what the file at `path` says; `text` is its content.
    pub fn add(&mut self, path: &Path, text: &[u8]) {
        let file = decode::decode(path, text);
        self.errors.extend(file.errors.iter().cloned());
        self.merge(file);
    }

    /// Adds an error that came up before a file could be read.
    pub fn fail(&mut self, error: CliConfigError) {
        self.errors.push(error);
    }

    /// The configuration, and what is wrong with it.
    pub fn finish(self) -> (CliConfig, Vec<CliConfigError>) {
        (self.config, self.errors)
    }

    fn merge(&mut self, file: FileSettings) {
        let config = &mut self.config;
        config.hosts.extend(file.hosts);
        config.credentials.extend(file.credentials);
        if config.plugin_cache.dir.is_none() {
            config.plugin_cache.dir = file.plugin_cache_dir.filter(|dir| !dir.value.is_empty());
        }
        config.plugin_cache.may_break_lock_file |= file.may_break_lock_file;
        let protocols = &mut config.registry_protocols;
        let new = &file.registry_protocols;
        protocols.retry_count = protocols.retry_count.or(new.retry_count);
        protocols.request_timeout_seconds = protocols
            .request_timeout_seconds
            .or(new.request_timeout_seconds);
        let errors = &mut self.errors;
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
    place: impl Fn(&T) -> &crate::span::Place,
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
