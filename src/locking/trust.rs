//! What is asked of signatures beyond the engine's own rules.

use std::time::SystemTime;

use crate::package::{AuthenticityError, SignaturePolicy, VerifiedList};
use crate::provider::{Engine, ProviderAddr};

use super::record::PackageRecord;

/// What is asked of signatures beyond the engine's own rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// `OPENTOFU_ENFORCE_GPG_VALIDATION=true`: OpenTofu accepts no list without keys.
    pub enforce_validation: bool,
    /// `OPENTOFU_ENFORCE_GPG_EXPIRATION=true`: OpenTofu accepts nothing that has expired.
    pub enforce_expiration: bool,
    /// `--trust-registry-hashes`: what a registry reports in `packages` is recorded without a look at the packages.
    pub registry_hashes: bool,
}

impl Trust {
    /// What is recorded on the word of a registry alone, where that is trusted and given. Who demands signatures everywhere
    /// (`OPENTOFU_ENFORCE_GPG_VALIDATION`) does not take reports either, as in OpenTofu.
    pub(super) fn on_report(
        self,
        list: &VerifiedList,
    ) -> Result<Option<PackageRecord>, AuthenticityError> {
        if !self.registry_hashes || self.enforce_validation {
            return Ok(None);
        }
        let reported = list.reported()?;
        Ok(reported.map(|reported| PackageRecord::from_report(list, reported)))
    }

    /// The rules for one provider (docs/rules/registry.md 4 and 6).
    pub(super) fn policy(
        self,
        engine: Engine,
        address: &ProviderAddr,
        now: SystemTime,
    ) -> SignaturePolicy {
        let own_registry = address.hostname.as_ascii() == Engine::Tofu.default_host();
        SignaturePolicy {
            engine,
            now,
            keys_optional: engine == Engine::Tofu && own_registry,
            enforce_validation: self.enforce_validation,
            enforce_expiration: self.enforce_expiration,
        }
    }
}
