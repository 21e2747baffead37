//! The `version` of a module call: which recorded versions satisfy it, and which version is selected.

use std::fmt;

use super::ModuleVersion;
use crate::provider::Engine;
use crate::provider::constraint::{WrittenOperator, scan};
use crate::provider::error::ConstraintError;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ModuleConstraint {
    operator: WrittenOperator,
    boundary: ModuleVersion,
    /// The number of components in the version as it is written, such as 2 for `~> 1.2`.
    written: usize,
}

impl ModuleConstraint {
    fn holds(&self, version: &ModuleVersion) -> bool {
        let order = version.precedence(&self.boundary);
        match self.operator {
            WrittenOperator::Equal => order.is_eq(),
            WrittenOperator::NotEqual => order.is_ne(),
            WrittenOperator::Greater => order.is_gt() && self.admits_prerelease(version),
            WrittenOperator::GreaterOrEqual => order.is_ge() && self.admits_prerelease(version),
            WrittenOperator::Less => order.is_lt() && self.admits_prerelease(version),
            WrittenOperator::LessOrEqual => order.is_le() && self.admits_prerelease(version),
            WrittenOperator::Pessimistic => order.is_ge() && self.holds_pessimistically(version),
        }
    }

    /// Whether a range admits `version`. A prerelease is admitted only if the boundary of the range is a prerelease with the same
    /// numbers.
    fn admits_prerelease(&self, version: &ModuleVersion) -> bool {
        !version.is_prerelease()
            || (self.boundary.is_prerelease() && version.numbers == self.boundary.numbers)
    }

    /// Whether `~>` admits a version that is not below the boundary. All written numbers except the last must be equal. A boundary
    /// that is a prerelease admits no releases. A version with fewer numbers than the boundary is not admitted.
    fn holds_pessimistically(&self, version: &ModuleVersion) -> bool {
        let boundary = &self.boundary;
        let fixed = self.written - 1;
        self.admits_prerelease(version)
            && boundary.is_prerelease() == version.is_prerelease()
            && version.numbers.len() >= boundary.numbers.len()
            && version.numbers[..fixed] == boundary.numbers[..fixed]
            && version.numbers[boundary.numbers.len() - 1] >= *boundary.numbers.last().unwrap_or(&0)
    }
}

/// The constraints of a module call. There is at least one, because the empty string is an error.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModuleVersionConstraints {
    text: String,
    constraints: Vec<ModuleConstraint>,
}

impl ModuleVersionConstraints {
    /// Parses the string with the grammar in `constraint/grammar.rs`.
    pub fn parse(text: &str) -> Result<Self, ConstraintError> {
        let constraints = scan(text)?
            .iter()
            .map(|piece| ModuleConstraint {
                operator: piece.operator,
                boundary: ModuleVersion::from_scanned(&piece.version),
                written: piece.version.numbers.len(),
            })
            .collect();
        Ok(Self {
            text: text.trim().to_owned(),
            constraints,
        })
    }

    /// Whether a version recorded in the module manifest satisfies the constraints. [`newest_module`] has a stricter rule for
    /// prereleases.
    pub fn allows(&self, version: &ModuleVersion) -> bool {
        self.constraints
            .iter()
            .all(|constraint| constraint.holds(version))
    }

    /// Returns the version of the call if its only constraint has `=` or no operator.
    pub fn exact(&self) -> Option<&ModuleVersion> {
        match &self.constraints[..] {
            [only] if only.operator == WrittenOperator::Equal => Some(&only.boundary),
            _ => None,
        }
    }

    /// Returns a prerelease that one of the constraints names exactly, unless its version is the whole text. If there is anything else
    /// in the text, such as a second constraint, the prerelease may not be selected.
    pub fn prerelease_not_alone(&self) -> Option<String> {
        let names = |one: &&ModuleConstraint| {
            one.operator == WrittenOperator::Equal && one.boundary.is_prerelease()
        };
        let version = self.constraints.iter().find(names)?.boundary.to_string();
        (version != self.text).then_some(version)
    }

    /// Whether these constraints can select this prerelease: they must consist of its version alone, with an optional `=`. The parser
    /// with which Terraform and OpenTofu look for prereleases rejects everything else, such as a space after `=`.
    pub fn select_prerelease(&self, version: &ModuleVersion, engine: Engine) -> bool {
        let written = self.text.strip_prefix('=').unwrap_or(&self.text);
        let bare = match engine {
            Engine::Terraform => written,
            Engine::Tofu => written.strip_prefix('v').unwrap_or(written),
        };
        let suffix = bare.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-.+".contains(c);
        let is_one = matches!(&self.constraints[..], [only] if only.written <= 3);
        is_one
            && suffix.len() < bare.len()
            && suffix.starts_with('-')
            && suffix.chars().all(is_plain)
            && self
                .exact()
                .is_some_and(|exact| exact.to_string() == version.to_string())
    }
}

/// Displays the constraints as written.
impl fmt::Display for ModuleVersionConstraints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Selects the newest version that the constraints allow. A prerelease is selected only if the constraints consist of it alone. Among
/// versions of equal precedence, selects the one whose text is last in byte order.
pub fn newest_module<'a>(
    versions: impl IntoIterator<Item = &'a ModuleVersion>,
    constraints: Option<&ModuleVersionConstraints>,
    engine: Engine,
) -> Option<&'a ModuleVersion> {
    let allowed = |version: &&ModuleVersion| match constraints {
        None => !version.is_prerelease(),
        Some(constraints) if version.is_prerelease() => {
            constraints.select_prerelease(version, engine)
        }
        Some(constraints) => constraints.allows(version),
    };
    versions.into_iter().filter(allowed).max_by(|a, b| {
        a.precedence(b)
            .then_with(|| a.to_string().cmp(&b.to_string()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> ModuleVersion {
        ModuleVersion::parse(text).unwrap()
    }

    fn constraints(text: &str) -> ModuleVersionConstraints {
        ModuleVersionConstraints::parse(text)
            .unwrap_or_else(|error| panic!("{error}: {}", error.problem))
    }

    #[test]
    fn the_second_parser_does_not_apply() {
        let valid = "v1.0.0|1.0.0.0|>=  1.0|=\t1.0|>= v1.0|1.0.0beta1|1.0.0-a~b|0x1|1e3|1.0.0-+a";
        for text in valid.split('|') {
            assert_eq!(constraints(text).to_string(), text);
        }
        for text in "|,|1.0,|1.*|^1.0|latest|1.0.0-a..b|9223372036854775808".split('|') {
            assert!(ModuleVersionConstraints::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn recorded_versions_are_checked() {
        for (text, allowed, refused) in [
            ("1.2.3", "1.2.3 v1.2.3 1.2.3+a 1.2.3.0", "1.2.4 1.2.3-a"),
            ("= 1.2", "1.2.0", "1.2.1"),
            ("!= 1.2.3", "1.2.4 1.2.3-a", "1.2.3 1.2.3+a"),
            ("> 1.0", "1.0.1 2.0.0", "1.0.0 0.9.0 2.0.0-a"),
            (">= 1.0", "1.0.0 2.0.0", "0.9.0 1.0.0-a 2.0.0-a"),
            ("< 2.0", "1.9.9", "2.0.0 1.0.0-a 2.0.0-a"),
            ("<= 2.0", "2.0.0 0.0.0", "2.0.1 2.0.0-a"),
            (
                ">= 1.0.0-b",
                "1.0.0-b 1.0.0-c 1.0.0 2.0.0",
                "1.0.0-a 1.0.1-c",
            ),
            ("> 1.0.0-b", "1.0.0-c 1.0.0", "1.0.0-b 1.0.1-c"),
            ("< 2.0.0-b", "2.0.0-a 1.0.0", "2.0.0-b 1.0.0-a"),
            ("<= 2.0.0-b", "2.0.0-b 2.0.0-a", "2.0.0-c 2.0.0"),
            ("~> 1", "1.0.0 1.9.9 2.0.0", "0.9.0 1.0.0-a"), // the only number is the last one
            ("~> 1.2", "1.2.0 1.9.0", "1.1.9 2.0.0 1.3.0-a"),
            ("~> 1.2.3", "1.2.3 1.2.9", "1.3.0 1.2.2 2.2.3"),
            (
                "~> 1.2.3.4",
                "1.2.3.4 1.2.3.9",
                "1.2.4 1.2.4.4 1.2.3.3 1.2.3",
            ),
            ("~> 1.2.0-b", "1.2.0-b 1.2.0-c", "1.2.0 1.2.1-c 1.2.0-a"),
            (">= 1, < 2", "1.5.0", "2.0.0 0.5.0"),
        ] {
            let constraints = constraints(text);
            for version in allowed.split(' ').map(version) {
                let is_allowed = constraints.allows(&version);
                assert!(is_allowed, "`{text}` should allow {version}");
            }
            for version in refused.split(' ').map(version) {
                let is_allowed = constraints.allows(&version);
                assert!(!is_allowed, "`{text}` should not allow {version}");
            }
        }
    }

    #[test]
    fn the_newest_release_is_selected() {
        let versions = "0.9.0 1.0.0 1.1.0-rc.1 1.1.0 2.0.0+a 2.0.0+b 3.0.0-beta1";
        let offer: Vec<ModuleVersion> = versions.split(' ').map(version).collect();
        for (text, selected) in [
            ("(absent)", "2.0.0+b"),
            ("~> 1.0", "1.1.0"),
            ("v1", "1.0.0"),
            ("> 5", "none"),
        ] {
            let constraints = (text != "(absent)").then(|| constraints(text));
            let newest = newest_module(&offer, constraints.as_ref(), Engine::Terraform);
            let found = newest.map_or_else(|| "none".into(), ModuleVersion::to_string);
            assert_eq!(found, selected, "{text}");
        }
    }

    /// As Terraform 1.15.9 and 1.16.0-rc2, and OpenTofu 1.12.6, selected from this list.
    #[test]
    fn prereleases_are_selected_only_if_they_are_named_alone() {
        let versions = "1.0.0 1.1.0-beta1 2.0.0-beta1 2.0.0-beta2 2.0.0-beta1+m";
        let offer: Vec<ModuleVersion> = versions.split(' ').map(version).collect();
        for (text, terraform, tofu) in [
            ("2.0.0-beta1", "2.0.0-beta1", "2.0.0-beta1"),
            ("= 2.0.0-beta1", "none", "none"),
            ("=2.0.0-beta1", "2.0.0-beta1", "2.0.0-beta1"),
            (" 2.0.0-beta1", "2.0.0-beta1", "2.0.0-beta1"),
            ("2.0.0-beta1 ", "2.0.0-beta1", "2.0.0-beta1"),
            ("v2.0.0-beta1", "none", "2.0.0-beta1"),
            ("= v2.0.0-beta1", "none", "none"),
            ("2.0.0-beta1, 2.0.0-beta1", "none", "none"),
            ("2.0.0-beta1,2.0.0-beta1", "none", "none"),
            (">= 2.0.0-beta1", "none", "none"),
            (">= 2.0.0-beta1, < 3", "none", "none"),
            ("~> 2.0.0-beta1", "none", "none"),
            ("~> 2.0.0-beta", "none", "none"),
            ("> 2.0.0-beta1", "none", "none"),
            ("< 2.0.0-beta2", "1.0.0", "1.0.0"),
            ("<= 2.0.0-beta1", "1.0.0", "1.0.0"),
            ("!= 1.0.0", "none", "none"),
            ("!= 2.0.0-beta1", "1.0.0", "1.0.0"),
            ("!= 1.0.0, 2.0.0-beta1", "none", "none"),
            ("2.0.0-beta1, >= 1.0", "none", "none"),
            (">= 1.0, 2.0.0-beta1", "none", "none"),
            ("2.0.0-beta2", "2.0.0-beta2", "2.0.0-beta2"),
            ("2.0-beta1", "2.0.0-beta1", "2.0.0-beta1"),
            ("2-beta1", "2.0.0-beta1", "2.0.0-beta1"),
            ("2.0.0-beta1+m", "2.0.0-beta1+m", "2.0.0-beta1+m"),
            ("2.0.0-beta1+q", "none", "none"),
            ("2.0.0.0-beta1", "none", "none"),
            ("02.0.0-beta1", "2.0.0-beta1", "2.0.0-beta1"),
            ("2.0.0beta1", "none", "none"),
            ("2.0.0-BETA1", "none", "none"),
            ("1.1.0-beta1", "1.1.0-beta1", "1.1.0-beta1"),
            ("2.0.0-beta01", "none", "none"),
            (">= 1.0", "1.0.0", "1.0.0"),
            ("~> 1.0", "1.0.0", "1.0.0"),
            ("> 0", "1.0.0", "1.0.0"),
            (">= 0-a", "1.0.0", "1.0.0"),
            ("!= 2.0.0-beta2, >= 2.0.0-beta1", "none", "none"),
            (">=2.0.0-beta1", "none", "none"),
            (">2.0.0-beta1", "none", "none"),
            ("~>2.0.0-beta1", "none", "none"),
            ("<=2.0.0-beta1", "1.0.0", "1.0.0"),
            ("<=2.0.0-beta2", "1.0.0", "1.0.0"),
            ("!=2.0.0-beta1", "1.0.0", "1.0.0"),
            ("<2.0.0-beta2", "1.0.0", "1.0.0"),
            ("=v2.0.0-beta1", "none", "2.0.0-beta1"),
            ("=\t2.0.0-beta1", "none", "none"),
            ("=2.0-beta1", "2.0.0-beta1", "2.0.0-beta1"),
            ("=2.0.0-beta1+m", "2.0.0-beta1+m", "2.0.0-beta1+m"),
            ("\t2.0.0-beta1", "2.0.0-beta1", "2.0.0-beta1"),
            (" =2.0.0-beta1", "2.0.0-beta1", "2.0.0-beta1"),
            ("=2.0.0-beta1 ", "2.0.0-beta1", "2.0.0-beta1"),
            ("  2.0.0-beta1  ", "2.0.0-beta1", "2.0.0-beta1"),
            ("v2.0-beta1", "none", "2.0.0-beta1"),
            ("=2.0.0.0-beta1", "none", "none"),
            ("=2.0.0beta1", "none", "none"),
            ("v2.0.0-beta1+m", "none", "2.0.0-beta1+m"),
            ("v2.0.0beta1", "none", "none"),
            ("= 2.0.0-beta1, =2.0.0-beta1", "none", "none"),
            ("=2.0.0-beta1,=2.0.0-beta1", "none", "none"),
            ("2.0.0-beta1,>=1.0", "none", "none"),
            ("v02.0.0-beta1", "none", "2.0.0-beta1"),
            ("=  2.0.0-beta1", "none", "none"),
        ] {
            let constraints = constraints(text);
            for (engine, expected) in [(Engine::Terraform, terraform), (Engine::Tofu, tofu)] {
                let newest = newest_module(&offer, Some(&constraints), engine);
                let found = newest.map_or_else(|| "none".into(), ModuleVersion::to_string);
                assert_eq!(found, expected, "{engine}: {text:?}");
            }
        }
    }

    #[test]
    fn prereleases_that_are_not_alone_are_found() {
        let found = |text| constraints(text).prerelease_not_alone();
        for text in ["= 2.0.0-b", "v2.0.0-b", "2.0.0-b, >= 1.0"] {
            assert_eq!(found(text).as_deref(), Some("2.0.0-b"), "{text}");
        }
        for text in ["2.0.0-b", ">= 2.0.0-b", "= 2.0.0"] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
