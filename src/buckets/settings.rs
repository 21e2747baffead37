//! How object stores are reached.

use crate::registry::HttpExchange;

/// How the user reaches object stores.
#[derive(Clone)]
pub struct StoreSettings {
    pub exchange: HttpExchange,
    /// The environment variables that configure the clients of object stores, such as `AWS_REGION`. They may contain credentials.
    pub variables: Vec<(String, String)>,
}

impl StoreSettings {
    /// Returns the value of a variable that is set and not empty.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        let mut variables = self.variables.iter();
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
            variables: variables.iter().map(owned).collect(),
        }
    }
}
