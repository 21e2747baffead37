//! The providers that a configuration requires, with their version constraints and declarations.

use std::collections::BTreeMap;

use super::{ProviderAddr, VersionConstraints};
use crate::span::Place;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requirement {
    /// The constraints of all modules on this provider.
    pub constraints: VersionConstraints,
    /// The position of the first declaration, in reading order.
    pub declared: Option<Place>,
    /// Whether the root module stores its state with this provider. If so, an upgrade of all providers keeps this provider's version.
    pub stores_state: bool,
}

impl Requirement {
    fn merge(&mut self, other: &Self) {
        self.constraints.merge(&other.constraints);
        if self.declared.is_none() {
            self.declared.clone_from(&other.declared);
        }
        self.stores_state |= other.stores_state;
    }
}

/// The providers that a root module and the modules that it calls require.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requirements {
    pub providers: BTreeMap<ProviderAddr, Requirement>,
}

impl Requirements {
    /// Adds a requirement that is declared at `place`. Identical constraints are recorded once.
    pub fn require(
        &mut self,
        address: ProviderAddr,
        constraints: &VersionConstraints,
        place: Option<Place>,
    ) {
        self.providers
            .entry(address)
            .or_default()
            .merge(&Requirement {
                constraints: constraints.clone(),
                declared: place,
                stores_state: false,
            });
    }

    pub fn merge(&mut self, other: &Self) {
        for (address, requirement) in &other.providers {
            self.providers
                .entry(address.clone())
                .or_default()
                .merge(requirement);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::provider::Engine;

    fn place(file: &str) -> Place {
        Place::file(Path::new(file))
    }

    fn requirements(list: &[(&str, &str, &str)]) -> Requirements {
        let mut requirements = Requirements::default();
        for (source, constraints, file) in list {
            let address = ProviderAddr::parse(source, Engine::Terraform).unwrap();
            let constraints = match *constraints {
                "" => VersionConstraints::default(),
                text => VersionConstraints::parse(text).unwrap(),
            };
            requirements.require(address, &constraints, Some(place(file)));
        }
        requirements
    }

    #[test]
    fn constraints_of_modules_are_combined() {
        let mut root = requirements(&[("t/p", "!= 9.0", "main.tf"), ("t/q", "", "main.tf")]);
        let child = requirements(&[("t/p", ">= 1.0, < 2.0", "child/main.tf")]);
        root.merge(&child);
        root.merge(&child);
        let address = ProviderAddr::parse("t/p", Engine::Terraform).unwrap();
        let requirement = &root.providers[&address];
        assert_eq!(
            requirement.constraints.to_string(),
            ">= 1.0.0, < 2.0.0, != 9.0.0"
        );
        assert_eq!(requirement.declared, Some(place("main.tf")));
        assert_eq!(root.providers.len(), 2);
    }

    #[test]
    fn the_first_declaration_is_recorded() {
        let mut requirements = requirements(&[("t/p", "~> 1.0", "a.tf"), ("T/P", ">= 1", "a.tf")]);
        let address = ProviderAddr::parse("t/p", Engine::Terraform).unwrap();
        requirements.require(address.clone(), &VersionConstraints::default(), None);
        let requirement = &requirements.providers[&address];
        assert_eq!(requirement.constraints.to_string(), ">= 1.0.0, ~> 1.0");
        assert_eq!(requirement.declared, Some(place("a.tf")));
    }
}
