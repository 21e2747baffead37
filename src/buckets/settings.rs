//! Settings for requests to object stores.

use std::fmt;
use std::path::PathBuf;

use crate::registry::HttpExchange;

/// The settings for requests to object stores: tflock's HTTP client and the user's environment.
#[derive(Clone)]
pub struct StoreSettings {
    pub exchange: HttpExchange,
    pub environment: CloudEnvironment,
}

/// The settings of object stores in the user's environment.
#[derive(Clone, Default)]
pub struct CloudEnvironment {
    /// The variables that configure the clients of object stores, such as `AWS_REGION`. They may contain credentials.
    pub variables: Vec<(String, String)>,
    /// The home directory, with the configuration files of AWS.
    pub home: Option<PathBuf>,
}

impl fmt::Debug for CloudEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CloudEnvironment")
    }
}

impl StoreSettings {
    /// Returns the variables whose names start with `prefix` and that are not empty. CI systems often set unused variables to the
    /// empty text.
    pub(super) fn named<'a>(
        &'a self,
        prefix: &'a str,
    ) -> impl Iterator<Item = &'a (String, String)> {
        let variables = self.environment.variables.iter();
        variables.filter(move |(name, value)| name.starts_with(prefix) && !value.is_empty())
    }

    /// Returns the value of a variable that is set and not empty.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        let mut variables = self.environment.variables.iter();
        let (_, value) = variables.find(|(found, value)| found == name && !value.is_empty())?;
        Some(value)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::provider::Engine;
    use crate::registry::{RegistryClient, RegistrySettings};

    pub(crate) fn settings(variables: &[(&str, &str)]) -> StoreSettings {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let client = RegistrySettings::new(Engine::Terraform);
        let client = RegistryClient::new(client, crate::reporter::silent()).unwrap();
        StoreSettings {
            exchange: HttpExchange::new(&client),
            environment: CloudEnvironment {
                variables: variables.iter().map(owned).collect(),
                home: None,
            },
        }
    }
}
