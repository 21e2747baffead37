//! The `include` and `exclude` patterns, which select the providers to which an installation method applies.
//!
//! `NS/TYPE` refers to the engine's default host, and `HOST/NS/TYPE` to the given host. `*` can replace the type, the namespace and
//! type, or all three parts. Case is ignored. `exclude` takes precedence. Without `include`, the method applies to all providers.

use std::collections::BTreeSet;
use std::fmt;

use crate::provider::{AddressError, Engine, Hostname, ProviderAddr};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The host; `None` if it is `*`.
    host: Option<PatternHost>,
    /// The namespace; `None` if it is `*`.
    namespace: Option<String>,
    /// The type; `None` if it is `*`.
    type_name: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternHost {
    /// The engine's default host, because the pattern has no host part.
    Default,
    Named(Hostname),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternProblem {
    #[error("it must have two or three parts separated by slashes")]
    Parts,
    /// The pattern has the form `*/TYPE`.
    #[error("the namespace can be `*` only if the type is also `*`")]
    NamespaceAlone,
    /// The pattern has the form `*/NAMESPACE/TYPE`.
    #[error("the host can be `*` only if the namespace and the type are also `*`")]
    HostAlone,
    #[error("the parts without wildcards are not valid in a provider address")]
    Address(#[source] Box<AddressError>),
}

impl Pattern {
    pub fn parse(text: &str) -> Result<Self, PatternProblem> {
        let parts: Vec<&str> = text.split('/').collect();
        let (host, namespace, type_name) = match *parts.as_slice() {
            [namespace, type_name] => (None, namespace, type_name),
            [host, namespace, type_name] => (Some(host), namespace, type_name),
            _ => return Err(PatternProblem::Parts),
        };
        if host == Some("*") && (namespace != "*" || type_name != "*") {
            return Err(PatternProblem::HostAlone);
        }
        if namespace == "*" && type_name != "*" {
            return Err(PatternProblem::NamespaceAlone);
        }
        // The address parser checks the parts that are not `*`.
        let part = |part| if part == "*" { "any" } else { part };
        let mut source = format!("{}/{}", part(namespace), part(type_name));
        if let Some(host) = host.filter(|host| *host != "*") {
            source = format!("{host}/{source}");
        }
        let address = ProviderAddr::parse(&source, Engine::Terraform)
            .map_err(|error| PatternProblem::Address(Box::new(error)))?;
        Ok(Self {
            host: match host {
                None => Some(PatternHost::Default),
                Some("*") => None,
                Some(_) => Some(PatternHost::Named(address.hostname)),
            },
            namespace: (namespace != "*").then_some(address.namespace),
            type_name: (type_name != "*").then_some(address.type_name),
        })
    }

    pub fn matches(&self, provider: &ProviderAddr, engine: Engine) -> bool {
        let host = match &self.host {
            None => true,
            Some(PatternHost::Default) => provider.hostname.as_ascii() == engine.default_host(),
            Some(PatternHost::Named(host)) => *host == provider.hostname,
        };
        let part = |pattern: &Option<String>, part: &String| {
            pattern.as_ref().is_none_or(|pattern| pattern == part)
        };
        host && part(&self.namespace, &provider.namespace)
            && part(&self.type_name, &provider.type_name)
    }

    /// Returns how general the pattern is, where 0 means a single provider on a named host. If two different patterns match the same
    /// provider, the more specific one has the smaller breadth.
    pub fn breadth(&self) -> u8 {
        let host = match self.host {
            Some(PatternHost::Named(_)) => 0,
            Some(PatternHost::Default) => 1,
            None => 2,
        };
        host + 3 * (u8::from(self.namespace.is_none()) + u8::from(self.type_name.is_none()))
    }

    /// Returns whether the patterns name exactly one host, exactly one namespace and exactly one type. Parts that are `*` are
    /// ignored.
    pub(super) fn fixed_parts(patterns: &[Self], engine: Engine) -> [bool; 3] {
        let host = |pattern: &Self| {
            Some(match pattern.host.as_ref()? {
                PatternHost::Default => engine.default_host().to_owned(),
                PatternHost::Named(host) => host.as_ascii().to_owned(),
            })
        };
        let is_single = |part: &dyn Fn(&Self) -> Option<String>| {
            let values: BTreeSet<String> = patterns.iter().filter_map(part).collect();
            values.len() == 1
        };
        [
            is_single(&host),
            is_single(&|pattern| pattern.namespace.clone()),
            is_single(&|pattern| pattern.type_name.clone()),
        ]
    }

    /// Whether the pattern matches every provider that `other` matches.
    pub(super) fn covers(&self, other: &Self) -> bool {
        self.parts_match(other, false)
    }

    /// Whether there are providers that match both patterns.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.parts_match(other, true)
    }

    /// Whether each part of this pattern is `*` or equal to the same part of `other`. If `either` is set, parts that are `*` in
    /// `other` match, too.
    fn parts_match(&self, other: &Self, either: bool) -> bool {
        let part = |own: &Option<String>, other: &Option<String>| {
            own.is_none() || either && other.is_none() || own == other
        };
        (self.host.is_none() || either && other.host.is_none() || self.host == other.host)
            && part(&self.namespace, &other.namespace)
            && part(&self.type_name, &other.type_name)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            None => f.write_str("*/")?,
            Some(PatternHost::Default) => {}
            Some(PatternHost::Named(host)) => write!(f, "{host}/")?,
        }
        let part = |part: &Option<String>| part.clone().unwrap_or_else(|| "*".to_owned());
        write!(f, "{}/{}", part(&self.namespace), part(&self.type_name))
    }
}

/// The `include` and `exclude` patterns of one installation method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    /// The patterns of included providers. An empty list includes all providers.
    pub include: Vec<Pattern>,
    /// The patterns of excluded providers, which take precedence over `include`.
    pub exclude: Vec<Pattern>,
}

impl Selector {
    /// Whether the method applies to the provider.
    pub fn matches(&self, provider: &ProviderAddr, engine: Engine) -> bool {
        let any = |patterns: &[Pattern]| {
            patterns
                .iter()
                .any(|pattern| pattern.matches(provider, engine))
        };
        !any(&self.exclude) && (self.include.is_empty() || any(&self.include))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_terraform_matches_them() {
        let rows: &[(&str, &str, bool)] = &[
            ("acme/ledger", "acme/ledger", true),
            ("acme/ledger", "acme/other", false),
            ("ACME/Ledger", "acme/ledger", true),
            ("acme/*", "acme/anything", true),
            ("*/*", "acme/ledger", true),
            ("*/*", "example.com/acme/ledger", false),
            ("*/*/*", "example.com/acme/ledger", true),
            ("Example.com/acme/ledger", "example.com/acme/ledger", true),
            ("example.com/*/*", "example.com/acme/ledger", true),
            ("example.com/*/*", "example.net/acme/ledger", false),
            ("registry.terraform.io/acme/*", "acme/ledger", true),
            ("Acme_Co/*", "acme_co/ledger", true),
        ];
        for (pattern, address, expected) in rows {
            let parsed = Pattern::parse(pattern).expect("a pattern");
            let address = ProviderAddr::parse(address, Engine::Terraform).expect("an address");
            assert_eq!(
                parsed.matches(&address, Engine::Terraform),
                *expected,
                "{pattern} {address}"
            );
        }
    }

    #[test]
    fn a_pattern_without_a_host_means_the_default_host_of_the_engine() {
        let pattern = Pattern::parse("acme/ledger").expect("a pattern");
        let address = ProviderAddr::parse("registry.opentofu.org/acme/ledger", Engine::Tofu)
            .expect("an address");
        assert!(pattern.matches(&address, Engine::Tofu));
        assert!(!pattern.matches(&address, Engine::Terraform));
    }

    #[test]
    fn invalid_patterns_have_a_reason() {
        for (text, problem) in [
            ("*", PatternProblem::Parts),
            ("p", PatternProblem::Parts),
            ("a/b/c/d", PatternProblem::Parts),
            ("*/p", PatternProblem::NamespaceAlone),
            ("example.com/*/p", PatternProblem::NamespaceAlone),
            ("*/t/p", PatternProblem::HostAlone),
            ("*/*/p", PatternProblem::HostAlone),
        ] {
            assert_eq!(Pattern::parse(text), Err(problem), "{text}");
        }
        assert!(matches!(
            Pattern::parse("a b/c"),
            Err(PatternProblem::Address(_))
        ));
    }

    #[test]
    fn exclude_beats_include() {
        let patterns = |texts: &[&str]| {
            texts
                .iter()
                .map(|text| Pattern::parse(text).expect("a pattern"))
                .collect()
        };
        let selector = Selector {
            include: patterns(&["acme/*"]),
            exclude: patterns(&["acme/secret"]),
        };
        for (address, expected) in [
            ("acme/ledger", true),
            ("acme/secret", false),
            ("other/x", false),
        ] {
            let address = ProviderAddr::parse(address, Engine::Terraform).expect("an address");
            assert_eq!(
                selector.matches(&address, Engine::Terraform),
                expected,
                "{address}"
            );
        }
    }
}
