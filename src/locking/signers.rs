//! The allowed signers of providers: the `[signers]` section of the config files.
//!
//! The keys that verify a checksum list come from the registry itself. A signature therefore protects against attackers between
//! the registry and the user, but not against the registry. If a user pins the fingerprint of an author's key, every list that
//! the registry sends must be signed by that key.
//!
//! Patterns work like those of `include` and `exclude` (see section 5 of docs/rules/mirrors.md), except that a pattern without a
//! host matches the default registries of both engines. If several patterns match a provider, only the narrowest counts:
//! `hashicorp/aws` takes precedence over `hashicorp/*`, which takes precedence over `*/*/*`. A pattern without fingerprints allows
//! no signer, so `"*/*/*" = []` rejects every provider that no other pattern matches. If no pattern matches, only the rules of the
//! engine apply. `[signers]` can only reject packages that the engine would accept.
//!
//! Several config files can apply to a directory. A package must satisfy all of them.

use std::collections::BTreeSet;
use std::fmt;

use crate::cli_config::Pattern;
use crate::package::Signer;
use crate::provider::{Engine, ProviderAddr};
use crate::span::{Explain, Place};

use super::fingerprint::{Fingerprint, SignersError};

/// The `[signers]` of all config files that apply to a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignerRules(Vec<Signers>);

impl SignerRules {
    /// Checks that every file allows `signer` for `provider`. `signer` is `None` if the package is unsigned. Returns the error
    /// of the first file that does not.
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

/// The `[signers]` of one config file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signers {
    /// Sorted from the narrowest to the broadest pattern.
    pins: Vec<SignerPin>,
}

/// An entry in `[signers]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignerPin {
    pub pattern: Pattern,
    /// The fingerprints of the allowed keys.
    pub fingerprints: BTreeSet<Fingerprint>,
    /// The position of the entry in the config file.
    pub place: Option<Place>,
}

/// The error for a package whose signer `[signers]` does not allow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct RefusedSigner {
    /// The `[signers]` entry that applies to the provider.
    pub pin: SignerPin,
    /// The key that signed the checksum list; `None` if the package is unsigned.
    pub found: Option<Fingerprint>,
}

impl fmt::Display for RefusedSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.found {
            Some(found) => write!(f, "its checksum list is signed by key {found}")?,
            None => write!(f, "it is not signed")?,
        }
        write!(f, ", but `[signers]`")?;
        if let Some(place) = &self.pin.place {
            write!(f, " ({place})")?;
        }
        write!(f, " pins `{}` to ", self.pin.pattern)?;
        let keys = self.pin.fingerprints.iter();
        match keys
            .map(|key| key.0.as_str())
            .collect::<Vec<_>>()
            .as_slice()
        {
            [] => write!(f, "no key"),
            [one] => write!(f, "key {one}"),
            several => write!(f, "the keys {}", several.join(", ")),
        }
    }
}

impl Explain for RefusedSigner {
    fn hint(&self) -> Option<String> {
        Some(match &self.found {
            Some(found) => format!(
                "if the authors announce this key outside the registry, add `{found}` to the entry for `{}`",
                self.pin.pattern
            ),
            None => "use a registry that signs its packages, or narrow the pattern: mirrors and registries without keys cannot \
                     prove who published a package"
                .to_owned(),
        })
    }
}

impl Signers {
    /// Adds an entry from the config file. `place` is its position.
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
        let pin = SignerPin {
            pattern: parsed,
            fingerprints: fingerprints.collect::<Result<_, _>>()?,
            place,
        };
        let before = |other: &SignerPin| other.pattern.breadth() <= pin.pattern.breadth();
        let at = self.pins.partition_point(before);
        self.pins.insert(at, pin);
        Ok(())
    }

    /// Returns the entries, from the narrowest to the broadest pattern.
    pub fn pins(&self) -> &[SignerPin] {
        &self.pins
    }

    /// Checks that `signer` is allowed for `provider`. `signer` is `None` if the package is unsigned.
    pub fn check(
        &self,
        provider: &ProviderAddr,
        signer: Option<&Signer>,
    ) -> Result<(), Box<RefusedSigner>> {
        // The engine of a directory depends on repository content, so it must not decide which registry a pattern without a
        // host matches.
        let matches = |pin: &&SignerPin| {
            pin.pattern.matches(provider, Engine::Terraform)
                || pin.pattern.matches(provider, Engine::Tofu)
        };
        let Some(pin) = self.pins.iter().find(matches) else {
            return Ok(());
        };
        let found = signer.map(|signer| Fingerprint(signer.fingerprint.clone()));
        match &found {
            Some(key) if pin.fingerprints.contains(key) => Ok(()),
            _ => Err(Box::new(RefusedSigner {
                pin: pin.clone(),
                found,
            })),
        }
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
            key_id: "the key ID is ignored".to_owned(),
            fingerprint: fingerprint.to_ascii_uppercase(),
            tier: Tier::SelfSigned,
            signed_at: UNIX_EPOCH,
            lapse: None,
        }
    }

    fn address(text: &str) -> ProviderAddr {
        ProviderAddr::parse(text, Engine::Terraform).unwrap()
    }

    /// The order of the entries does not matter.
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
                let checked = signers.check(&provider, Some(&signer));
                assert_eq!(checked.is_ok(), expected, "{provider} {fingerprint}");
                let unsigned = signers.check(&provider, None);
                assert!(unsigned.is_err(), "unsigned: {provider}");
            }
        }
    }

    #[test]
    fn without_a_pattern_the_engine_decides() {
        let pinned = signers(&[("acme/*", &[ACME])]);
        let is_allowed =
            |signers: &Signers, text: &str| signers.check(&address(text), None).is_ok();
        assert!(is_allowed(&pinned, "hashicorp/aws"));
        assert!(is_allowed(&Signers::default(), "acme/anvil"));
        assert!(is_allowed(&pinned, "example.com/acme/anvil"));
    }

    #[test]
    fn a_pattern_without_a_host_matches_the_registries_of_both_engines() {
        let signers = signers(&[("acme/*", &[ACME])]);
        for engine in [Engine::Terraform, Engine::Tofu] {
            let provider = ProviderAddr::parse("acme/anvil", engine).unwrap();
            assert!(signers.check(&provider, None).is_err(), "{provider}");
            assert!(signers.check(&provider, Some(&signer(ACME))).is_ok());
        }
    }

    /// The files are in order from the root of the tree. The error has the pattern of the first file that refuses the signer.
    #[test]
    fn every_file_must_accept_the_signer() {
        type Entries<'a> = &'a [(&'a str, &'a [&'a str])];
        let namespace: Entries<'_> = &[("acme/*", &[ACME])];
        let other: Entries<'_> = &[("acme/*", &[OTHER])];
        let both: Entries<'_> = &[("acme/*", &[OTHER, ACME])];
        let provider: Entries<'_> = &[("acme/anvil", &[ACME])];
        let other_provider: Entries<'_> = &[("acme/anvil", &[OTHER])];
        let nothing: Entries<'_> = &[("*/*/*", &[])];
        let rows: [([Entries<'_>; 2], Option<&str>); 6] = [
            ([namespace, &[]], None),
            ([other, &[]], Some("acme/*")),
            ([other, both], Some("acme/*")),
            ([other, provider], Some("acme/*")),
            ([namespace, other_provider], Some("acme/anvil")),
            ([&[], nothing], Some("*/*/*")),
        ];
        for (files, expected) in rows {
            let rules: SignerRules = files.iter().map(|entries| signers(entries)).collect();
            let checked = rules.check(&address("acme/anvil"), Some(&signer(ACME)));
            let pattern = checked.err().map(|refused| refused.pin.pattern.to_string());
            assert_eq!(pattern.as_deref(), expected, "{files:?}");
        }
    }

    #[test]
    fn refusals_name_the_pin_and_the_signer() {
        let signers = signers(&[("acme/anvil", &[ACME]), ("*/*/*", &[])]);
        let refuse = |provider: &str, found: Option<&str>| {
            let found = found.map(signer);
            *signers
                .check(&address(provider), found.as_ref())
                .unwrap_err()
        };
        let pins = format!(
            "(.tflock.toml) pins `acme/anvil` to key {}",
            ACME.to_ascii_uppercase()
        );
        let other_key = refuse("acme/anvil", Some(OTHER));
        let signed_by =
            format!("its checksum list is signed by key {OTHER}, but `[signers]` {pins}");
        assert_eq!(other_key.to_string(), signed_by);
        assert!(other_key.hint().unwrap().contains(OTHER));
        let unsigned = refuse("acme/anvil", None).to_string();
        assert_eq!(
            unsigned,
            format!("it is not signed, but `[signers]` {pins}")
        );
        let no_key = refuse("acme/bolt", Some(OTHER)).to_string();
        assert!(
            no_key.ends_with("(.tflock.toml) pins `*/*/*` to no key"),
            "{no_key}"
        );
    }

    #[test]
    fn invalid_entries_are_refused() {
        let mut signers = signers(&[("acme/anvil", &[ACME])]);
        let grouped = "C874 011F 0AB4 0511 0D02  1055 3436 5D94 72D7 468F";
        assert_eq!(
            grouped.parse::<Fingerprint>().unwrap().to_string(),
            HASHICORP
        );
        let key_id = "invalid key fingerprint `34365D9472D7468F`: it is a key ID";
        let rows = [
            ("*", ACME, "invalid provider pattern `*`"),
            (
                "ACME/Anvil",
                ACME,
                "the signers of `acme/anvil` are listed twice",
            ),
            ("a/b", "34365D9472D7468F", key_id),
            (
                "a/b",
                "hashicorp",
                "it does not consist of hexadecimal digits",
            ),
            ("a/b", "ABCDEF", "it has neither 40 nor 64 digits"),
            ("a/b", "", "it has neither 40 nor 64 digits"),
        ];
        for (pattern, fingerprint, expected) in rows {
            let error = signers.pin(pattern, [fingerprint], None).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
