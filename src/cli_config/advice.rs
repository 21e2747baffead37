//! Warnings about valid `provider_installation` blocks that are probably mistakes. Terraform and OpenTofu do not report them.
//!
//! A mirror that is also the plugin cache offers unverified packages. If a mirror includes providers that `direct` does not exclude,
//! `init` also asks the registry, where an attacker may publish a higher version under the same name. Providers that `direct`
//! excludes and that no mirror includes cannot be installed.

use std::path::Path;

use crate::cli_config::installation::{Method, MethodKind, ProviderInstallation};
use crate::cli_config::pattern::Pattern;
use crate::code::Code;
use crate::span::{Explain, Place};

/// A probable mistake in a `provider_installation` block.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InstallationWarning {
    #[error("this mirror is also the plugin cache, whose packages are unverified")]
    MirrorIsCache { place: Box<Place> },
    #[error(
        "providers that match `{pattern}` may also be installed from their registry, because `direct` does not exclude them"
    )]
    NotExcluded { place: Box<Place>, pattern: String },
    #[error("`{pattern}` is excluded here, but no mirror includes it")]
    NotIncluded { place: Box<Place>, pattern: String },
    /// The pattern that a mirror includes and the one that `direct` excludes differ, although they should probably be the same.
    #[error(
        "this mirror includes `{included}`, but `direct` excludes `{excluded}`, which is different"
    )]
    AlmostEqual {
        place: Box<Place>,
        included: String,
        excluded: String,
    },
}

impl Explain for InstallationWarning {
    fn code(&self) -> Code {
        Code::CliConfiguration
    }

    fn place(&self) -> Option<&Place> {
        let (Self::MirrorIsCache { place }
        | Self::NotExcluded { place, .. }
        | Self::NotIncluded { place, .. }
        | Self::AlmostEqual { place, .. }) = self;
        Some(place)
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::NotExcluded { pattern, .. } => Some(format!(
                "add `exclude = [\"{pattern}\"]` to the `direct` block"
            )),
            _ => None,
        }
    }
}

impl ProviderInstallation {
    /// Returns the warnings about this block. `plugin_cache` is the directory of the plugin cache, if one is configured.
    pub fn warnings(&self, plugin_cache: Option<&Path>) -> Vec<InstallationWarning> {
        let mut warnings = Vec::new();
        for method in &self.methods {
            if let (MethodKind::FilesystemMirror { path }, Some(cache)) =
                (&method.kind, plugin_cache)
                && path.components().eq(cache.components())
            {
                let place = Box::new(method.place.clone());
                warnings.push(InstallationWarning::MirrorIsCache { place });
            }
        }
        let (direct, mirrors): (Vec<_>, Vec<_>) = self
            .methods
            .iter()
            .partition(|method| method.kind == MethodKind::Direct);
        if !direct.is_empty() && !mirrors.is_empty() {
            compare(&mirrors, &direct, &mut warnings);
        }
        warnings
    }
}

/// Compares the patterns of the mirrors with those of `direct`.
fn compare(mirrors: &[&Method], direct: &[&Method], warnings: &mut Vec<InstallationWarning>) {
    let included = patterns(mirrors, |method| &method.selector.include);
    let excluded = patterns(direct, |method| &method.selector.exclude);
    let takes_all = mirrors
        .iter()
        .any(|method| method.selector.include.is_empty());
    // Patterns that a mirror includes but `direct` does not exclude.
    let mut open = included.clone();
    open.retain(|(_, pattern)| direct.iter().any(|method| may_take(method, pattern)));
    // Patterns that `direct` excludes but no mirror includes.
    let mut lost = excluded;
    lost.retain(|(_, pattern)| {
        !takes_all && !included.iter().any(|(_, other)| other.overlaps(pattern))
    });
    let place = |method: &Method| Box::new(method.place.clone());
    for (method, pattern) in &open {
        let similar = lost
            .iter()
            .find(|(_, other)| differ_in_one_part(pattern, other));
        warnings.push(match similar {
            Some((_, other)) => InstallationWarning::AlmostEqual {
                place: place(method),
                included: pattern.to_string(),
                excluded: other.to_string(),
            },
            None => InstallationWarning::NotExcluded {
                place: place(method),
                pattern: pattern.to_string(),
            },
        });
    }
    for (method, pattern) in &lost {
        let mut open = open.iter();
        if !open.any(|(_, other)| differ_in_one_part(pattern, other)) {
            warnings.push(InstallationWarning::NotIncluded {
                place: place(method),
                pattern: pattern.to_string(),
            });
        }
    }
}

fn patterns<'a>(
    methods: &[&'a Method],
    patterns_of: fn(&'a Method) -> &'a Vec<Pattern>,
) -> Vec<(&'a Method, &'a Pattern)> {
    methods
        .iter()
        .flat_map(|method| patterns_of(method).iter().map(|pattern| (*method, pattern)))
        .collect()
}

/// Whether `direct` applies to any of the providers that match the pattern.
fn may_take(direct: &Method, pattern: &Pattern) -> bool {
    let selector = &direct.selector;
    let excluded = selector.exclude.iter().any(|other| other.covers(pattern));
    let included =
        selector.include.is_empty() || selector.include.iter().any(|other| other.overlaps(pattern));
    included && !excluded
}

/// Whether the patterns differ in exactly one component, such as `internal.external.net/*/*` and `internal.example.net/*/*`.
fn differ_in_one_part(left: &Pattern, right: &Pattern) -> bool {
    let (left, right) = (left.to_string(), right.to_string());
    let left_parts: Vec<&str> = left.split(['/', '.']).collect();
    let right_parts: Vec<&str> = right.split(['/', '.']).collect();
    let pairs = left_parts.iter().zip(&right_parts);
    let differing = pairs.filter(|(left, right)| left != right).count();
    left_parts.len() == right_parts.len() && left_parts.len() > 2 && differing == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli_config::Builder;

    fn warnings(block: &str, cache: Option<&str>) -> Vec<String> {
        let mut builder = Builder::default();
        builder.add(
            Path::new("a"),
            format!("provider_installation {{\n{block}\n}}").as_bytes(),
        );
        let (config, errors) = builder.finish();
        assert!(errors.is_empty(), "{errors:?}");
        let found = config
            .provider_installation
            .expect("a block")
            .warnings(cache.map(Path::new));
        let lines = found
            .iter()
            .map(|warning| format!("{}: {warning}", warning.place().expect("a place").line));
        lines.collect()
    }

    #[test]
    fn a_mirror_that_is_also_the_plugin_cache() {
        let block = "filesystem_mirror { path = \"/cache/\" }";
        assert_eq!(
            warnings(block, Some("/cache")),
            ["2: this mirror is also the plugin cache, whose packages are unverified"]
        );
        assert!(warnings(block, Some("/other")).is_empty());
        assert!(warnings(block, None).is_empty());
    }

    #[test]
    fn patterns_that_do_not_fit_together() {
        let mirror = |include: &str| {
            format!("network_mirror {{ url = \"https://m/\" include = [{include}] }}\n")
        };
        let rows = [
            (
                mirror("\"h.test/*/*\"") + "direct { exclude = [\"h.test/*/*\"] }",
                vec![],
            ),
            (
                mirror("\"h.test/a/*\"") + "direct { exclude = [\"h.test/*/*\"] }",
                vec![],
            ),
            (
                mirror("\"h.test/*/*\"") + "direct { include = [\"acme/*\"] }",
                vec![],
            ),
            (mirror("\"h.test/*/*\""), vec![]),
            ("direct { exclude = [\"h.test/*/*\"] }".to_owned(), vec![]),
            (
                mirror("\"h.test/*/*\"") + "direct {}",
                vec![
                    "2: providers that match `h.test/*/*` may also be installed from their registry, because `direct` does not exclude them",
                ],
            ),
            (
                mirror("\"h.test/*/*\"") + "direct { exclude = [\"h.test/a/*\"] }",
                vec![
                    "2: providers that match `h.test/*/*` may also be installed from their registry, because `direct` does not exclude them",
                ],
            ),
            (
                mirror("\"acme/ledger\"")
                    + "direct { exclude = [\"acme/ledger\", \"h.test/*/*\"] }",
                vec!["3: `h.test/*/*` is excluded here, but no mirror includes it"],
            ),
            (
                mirror("\"internal.external.net/*/*\"")
                    + "direct { exclude = [\"internal.example.net/*/*\"] }",
                vec![
                    "2: this mirror includes `internal.external.net/*/*`, but `direct` excludes `internal.example.net/*/*`, which is different",
                ],
            ),
            (
                "filesystem_mirror { path = \"/x\" }\ndirect { exclude = [\"h.test/*/*\"] }"
                    .to_owned(),
                vec![],
            ),
        ];
        for (block, expected) in rows {
            assert_eq!(warnings(&block, None), expected, "{block}");
        }
    }
}
