//! Who may sign for a provider: `[signers]` of the config files.
//!
//! The keys that prove a checksum list come from the registry itself, so a signature guards against everything between
//! registry and user, and not against the registry. Pinning the fingerprint of an author's key closes that gap: whatever
//! the registry then sends must be signed by that key.
//!
//! A pattern is one of `include` and `exclude` (docs/rules/mirrors.md 5), but one without a host means the default registries
//! of both engines. Of several that mean a provider the narrowest counts alone: `hashicorp/aws` beats `hashicorp/*`, which
//! beats `*/*/*`. A pattern with no fingerprints accepts nobody, so `"*/*/*" = []` refuses every provider that no other
//! pattern means. Where no pattern means a provider, the engine's own rules decide. Pins can only refuse; they accept nothing
//! that the engine would not.
//!
//! Several config files can apply to a directory. Each decides on its own, and a package must satisfy all of them.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::cli_config::{Pattern, PatternProblem};
use crate::package::Signer;
use crate::provider::{Engine, ProviderAddr};
use crate::span::{Explain, Place};

/// Fingerprints have 20 bytes (OpenPGP version 4) or 32 (version 6), in hex digits.
const FINGERPRINT_DIGITS: [usize; 2] = [40, 64];

/// The `[signers]` of all config files that apply to a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignerRules(Vec<Signers>);

impl SignerRules {
    /// Checks that every file lets `signer` sign for `provider`; no signer if nothing is signed. The error is that of the first
    /// file that refuses.
    pub fn check(
        &self,
        provider: &ProviderAddr,
        signer: Option<&Signer>,
    ) -> Result<(), Box<RefusedSigner>> {
        let mut files = self.0.iter();
        files.try_for_each(|signers| signers.check(provider, signer))
    }
}

impl FromIterator<Signers> for SignerRules {
    fn from_iter<I: IntoIterator<Item = Signers>>(signers: I) -> Self {
        Self(signers.into_iter().collect())
    }
}

/// Pinned keys of providers, by one config file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signers {
    /// The narrowest pattern first.
    pins: Vec<Pin>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pin {
    pattern: Pattern,
    fingerprints: BTreeSet<Fingerprint>,
    place: Option<Place>,
}

/// The fingerprint of a primary key, in upper-case hex digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fingerprint(String);

/// Why an entry of `[signers]` cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignersError {
    /// The key is no pattern.
    #[error("cannot read `{text}` as a pattern of providers")]
    Pattern {
        /// As written.
        text: String,
        /// What is wrong with it.
        #[source]
        problem: PatternProblem,
    },
    /// Another entry has the same pattern, perhaps in other letters.
    #[error("the signers of `{pattern}` are named twice")]
    Twice {
        /// The pattern.
        pattern: Pattern,
    },
    /// A value is no fingerprint.
    #[error("cannot read `{text}` as the fingerprint of a key: {problem}")]
    Fingerprint {
        /// As written.
        text: String,
        /// What is wrong with it.
        problem: &'static str,
    },
}

impl Explain for SignersError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Pattern { .. } => Some("patterns are `NAMESPACE/TYPE`, `HOST/NAMESPACE/*` and the like".to_owned()),
            Self::Fingerprint { .. } => Some(
                "`gpg --show-keys --fingerprint KEY.asc` prints it; `tflock lock -v` names the signer of each package"
                    .to_owned(),
            ),
            Self::Twice { .. } => None,
        }
    }
}

/// A package that nobody signed who may.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct RefusedSigner {
    /// The pattern that means the provider.
    pub pattern: Pattern,
    /// Who may sign.
    pub pinned: BTreeSet<Fingerprint>,
    /// Who signed; `None`: nobody.
    pub found: Option<Fingerprint>,
    /// Where the pattern is written.
    pub place: Option<Place>,
}

impl fmt::Display for RefusedSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.found {
            Some(found) => write!(f, "its checksum list is signed by key {found}")?,
            None => write!(f, "no signature vouches for it")?,
        }
        write!(f, ", and `[signers]`")?;
        if let Some(place) = &self.place {
            write!(f, " ({place})")?;
        }
        write!(f, " pins `{}` to ", self.pattern)?;
        let pinned: Vec<&str> = self.pinned.iter().map(|key| key.0.as_str()).collect();
        match pinned.as_slice() {
            [] => write!(f, "no key at all"),
            [one] => write!(f, "key {one}"),
            several => write!(f, "the keys {}", several.join(", ")),
        }
    }
}

impl Explain for RefusedSigner {
    fn hint(&self) -> Option<String> {
        Some(match &self.found {
            Some(found) => format!(
                "if the authors announce this key, elsewhere than in the registry, add `{found}` to the entry for `{}`",
                self.pattern
            ),
            None => "mirrors and registries without keys cannot prove who published a package: ask a registry that signs, \
                     or narrow the pattern"
                .to_owned(),
        })
    }
}

impl Signers {
    /// Adds an entry, written at `place`.
    pub fn pin<'a>(
        &mut self,
        pattern: &str,
        fingerprints: impl IntoIterator<Item = &'a str>,
        place: Option<Place>,
    ) -> Result<(), SignersError> {
        let parsed = Pattern::parse(pattern).map_err(|problem| SignersError::Pattern {
            text: pattern.to_owned(),
            problem,
        })?;
        if self.pins.iter().any(|pin| pin.pattern == parsed) {
            return Err(SignersError::Twice { pattern: parsed });
        }
        let fingerprints = fingerprints.into_iter().map(str::parse);
        let pin = Pin {
            pattern: parsed,
            fingerprints: fingerprints.collect::<Result<_, _>>()?,
            place,
        };
        let before = |other: &Pin| other.pattern.breadth() <= pin.pattern.breadth();
        let at = self.pins.partition_point(before);
        self.pins.insert(at, pin);
        Ok(())
    }

    /// Each pattern with the keys that may sign for it and the place where it is written, the narrowest first.
    pub fn pins(&self) -> impl Iterator<Item = (&Pattern, &BTreeSet<Fingerprint>, Option<&Place>)> {
        let pins = self.pins.iter();
        pins.map(|pin| (&pin.pattern, &pin.fingerprints, pin.place.as_ref()))
    }

    /// Whether nobody is pinned.
    pub fn is_empty(&self) -> bool {
        self.pins.is_empty()
    }

    /// Whether `signer` may sign for `provider`; no signer where nothing is signed.
    pub fn check(
        &self,
        provider: &ProviderAddr,
        signer: Option<&Signer>,
    ) -> Result<(), Box<RefusedSigner>> {
        // The tree chooses the engine of a directory, and so must not choose which registry a pattern without a host means.
        let engines = [Engine::Terraform, Engine::Tofu];
        let means = |pin: &&Pin| {
            engines
                .iter()
                .any(|engine| pin.pattern.matches(provider, *engine))
        };
        let Some(pin) = self.pins.iter().find(means) else {
            return Ok(());
        };
        let found = signer.map(|signer| Fingerprint(signer.fingerprint.clone()));
        if found
            .as_ref()
            .is_some_and(|found| pin.fingerprints.contains(found))
        {
            return Ok(());
        }
        Err(Box::new(RefusedSigner {
            pattern: pin.pattern.clone(),
            pinned: pin.fingerprints.clone(),
            found,
            place: pin.place.clone(),
        }))
    }
}

impl FromStr for Fingerprint {
    type Err = SignersError;

    /// Reads hex digits of either case, in groups as `gpg` prints them or not.
    fn from_str(text: &str) -> Result<Self, SignersError> {
        let digits: String = text.chars().filter(|digit| *digit != ' ').collect();
        let wrong = |problem| SignersError::Fingerprint {
            text: text.to_owned(),
            problem,
        };
        if !digits.chars().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(wrong("it is not made of hexadecimal digits"));
        }
        if digits.len() == 8 || digits.len() == 16 {
            return Err(wrong(
                "it is a key ID, which others can have made on purpose",
            ));
        }
        if !FINGERPRINT_DIGITS.contains(&digits.len()) {
            return Err(wrong("it has neither 40 nor 64 digits"));
        }
        Ok(Self(digits.to_ascii_uppercase()))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::Tier;
    use std::time::UNIX_EPOCH;

    const HASHICORP: &str = "C874011F0AB405110D02105534365D9472D7468F";
    const ACME: &str = "0123456789abcdef0123456789ABCDEF01234567";
    const OTHER: &str = "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF";

    fn signers(entries: &[(&str, &[&str])]) -> Signers {
        let mut signers = Signers::default();
        for (pattern, fingerprints) in entries {
            let place = Some(Place::file(std::path::Path::new(".tflock.toml")));
            signers
                .pin(pattern, fingerprints.iter().copied(), place)
                .unwrap();
        }
        signers
    }

    fn signer(fingerprint: &str) -> Signer {
        Signer {
            key_id: "the key ID is not looked at".to_owned(),
            fingerprint: fingerprint.to_ascii_uppercase(),
            tier: Tier::SelfSigned,
            signed_at: UNIX_EPOCH,
            lapse: None,
        }
    }

    fn address(text: &str) -> ProviderAddr {
        ProviderAddr::parse(text, Engine::Terraform).unwrap()
    }

    /// What may sign for whom: the narrowest pattern decides alone, in whatever order the entries stand.
    #[test]
    fn the_narrowest_pattern_decides() {
        let entries: &[(&str, &[&str])] = &[
            ("*/*/*", &[OTHER]),
            ("hashicorp/*", &[HASHICORP]),
            ("hashicorp/aws", &[ACME, HASHICORP]),
            ("example.com/*/*", &[]),
            ("registry.terraform.io/hashicorp/random", &[ACME]),
            ("hashicorp/random", &[OTHER]),
        ];
        let rows = [
            ("hashicorp/null", HASHICORP, true),
            ("hashicorp/null", OTHER, false),
            ("hashicorp/aws", ACME, true),
            ("hashicorp/aws", OTHER, false),
            ("hashicorp/random", ACME, true),
            ("hashicorp/random", OTHER, false),
            ("acme/anvil", OTHER, true),
            ("acme/anvil", ACME, false),
            ("example.com/acme/anvil", OTHER, false),
        ];
        let mut reversed = entries.to_vec();
        reversed.reverse();
        for signers in [signers(entries), signers(&reversed)] {
            for (provider, fingerprint, expected) in rows {
                let (provider, signer) = (address(provider), signer(fingerprint));
                let found = signers.check(&provider, Some(&signer));
                assert_eq!(found.is_ok(), expected, "{provider} {fingerprint}");
                assert!(
                    signers.check(&provider, None).is_err(),
                    "unsigned: {provider}"
                );
            }
        }
    }

    #[test]
    fn without_a_pattern_the_engine_decides() {
        let signers = signers(&[("acme/*", &[ACME])]);
        assert!(signers.check(&address("hashicorp/aws"), None).is_ok());
        assert!(
            Signers::default()
                .check(&address("acme/anvil"), None)
                .is_ok()
        );
        assert!(
            signers
                .check(&address("example.com/acme/anvil"), None)
                .is_ok()
        );
    }

    /// Whatever engine the tree chooses for a directory.
    #[test]
    fn a_pattern_without_a_host_means_the_registries_of_both_engines() {
        let signers = signers(&[("acme/*", &[ACME])]);
        for engine in [Engine::Terraform, Engine::Tofu] {
            let provider = ProviderAddr::parse("acme/anvil", engine).unwrap();
            assert!(signers.check(&provider, None).is_err(), "{provider}");
            assert!(signers.check(&provider, Some(&signer(ACME))).is_ok());
        }
    }

    /// Further down is to the right; the refusal is that of the highest file.
    #[test]
    fn every_file_must_accept_the_signer() {
        type Entries<'a> = &'a [(&'a str, &'a [&'a str])];
        let rows: [(&[Entries<'_>], Option<&str>); 6] = [
            (&[&[("acme/*", &[ACME])], &[]], None),
            (&[&[("acme/*", &[OTHER])], &[]], Some("acme/*")),
            (
                &[&[("acme/*", &[OTHER])], &[("acme/*", &[OTHER, ACME])]],
                Some("acme/*"),
            ),
            (
                &[&[("acme/*", &[OTHER])], &[("acme/anvil", &[ACME])]],
                Some("acme/*"),
            ),
            (
                &[&[("acme/*", &[ACME])], &[("acme/anvil", &[OTHER])]],
                Some("acme/anvil"),
            ),
            (&[&[], &[("*/*/*", &[])]], Some("*/*/*")),
        ];
        for (files, expected) in rows {
            let rules: SignerRules = files.iter().map(|entries| signers(entries)).collect();
            let found = rules.check(&address("acme/anvil"), Some(&signer(ACME)));
            let pattern = found.err().map(|refused| refused.pattern.to_string());
            assert_eq!(pattern.as_deref(), expected, "{files:?}");
        }
    }

    #[test]
    fn refusals_name_the_pin_and_what_was_found() {
        let signers = signers(&[("acme/anvil", &[ACME]), ("*/*/*", &[])]);
        let refused = |provider: &str, found: Option<&str>| {
            let found = found.map(signer);
            *signers
                .check(&address(provider), found.as_ref())
                .unwrap_err()
        };
        let acme = ACME.to_ascii_uppercase();
        let error = refused("acme/anvil", Some(OTHER));
        assert_eq!(
            error.to_string(),
            format!(
                "its checksum list is signed by key {OTHER}, and `[signers]` (.tflock.toml) pins `acme/anvil` to key {acme}"
            )
        );
        assert!(error.hint().unwrap().contains(OTHER));
        assert_eq!(
            refused("acme/anvil", None).to_string(),
            format!(
                "no signature vouches for it, and `[signers]` (.tflock.toml) pins `acme/anvil` to key {acme}"
            )
        );
        assert!(
            refused("acme/bolt", Some(OTHER))
                .to_string()
                .ends_with("(.tflock.toml) pins `*/*/*` to no key at all")
        );
    }

    #[test]
    fn entries_that_are_refused() {
        let mut signers = signers(&[("acme/anvil", &[ACME])]);
        let grouped = "C874 011F 0AB4 0511 0D02  1055 3436 5D94 72D7 468F";
        assert_eq!(
            grouped.parse::<Fingerprint>().unwrap().to_string(),
            HASHICORP
        );
        let rows = [
            ("*", ACME, "cannot read `*` as a pattern of providers"),
            (
                "ACME/Anvil",
                ACME,
                "the signers of `acme/anvil` are named twice",
            ),
            (
                "a/b",
                "34365D9472D7468F",
                "cannot read `34365D9472D7468F` as the fingerprint of a key: it is a key ID",
            ),
            ("a/b", "hashicorp", "it is not made of hexadecimal digits"),
            ("a/b", "ABCDEF", "it has neither 40 nor 64 digits"),
            ("a/b", "", "it has neither 40 nor 64 digits"),
        ];
        for (pattern, fingerprint, expected) in rows {
            let error = signers.pin(pattern, [fingerprint], None).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
