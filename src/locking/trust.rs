//! Signature rules in addition to those of the engine.

use std::time::SystemTime;

use crate::cache::PackageAnswer;
use crate::package::{
    AuthenticityError, PackageClaims, SignaturePolicy, VerifiedList, verify_list,
};
use crate::provider::{Engine, PackageId, ProviderAddr};

use super::record::PackageRecord;

/// The user's signature rules in addition to those of the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// `OPENTOFU_ENFORCE_GPG_VALIDATION=true`: OpenTofu rejects lists from a registry that has no keys for the provider.
    pub enforce_validation: bool,
    /// `OPENTOFU_ENFORCE_GPG_EXPIRATION=true`: OpenTofu rejects expired keys and signatures.
    pub enforce_expiration: bool,
    /// `--trust-registry-hashes`: hashes that a registry reports in `packages` are recorded without a download.
    pub registry_hashes: bool,
}

/// Verifies registry answers by the rules of one run.
#[derive(Clone, Copy)]
pub(super) struct Verifier {
    pub(super) trust: Trust,
}

impl Verifier {
    /// Verifies the signature over the checksum list, and the list's line for `package`.
    pub(super) fn verify(
        self,
        engine: Engine,
        package: &PackageId,
        answer: &PackageAnswer,
    ) -> Result<VerifiedList, AuthenticityError> {
        let claims = PackageClaims {
            platform: &package.platform,
            filename: &answer.filename,
            shasum: &answer.shasum,
            keys: &answer.keys,
            reported: &answer.reported,
        };
        let policy = self.policy(engine, &package.provider);
        verify_list(&claims, &answer.list, &answer.signature, &policy)
    }

    /// Creates the record of a package from its registry's report, without a download. Returns `None` unless
    /// `--trust-registry-hashes` is set and the registry reports the hashes. As in OpenTofu, `OPENTOFU_ENFORCE_GPG_VALIDATION`
    /// prevents this.
    pub(super) fn accept_report(
        self,
        list: &VerifiedList,
    ) -> Result<Option<PackageRecord>, AuthenticityError> {
        if !self.trust.registry_hashes || self.trust.enforce_validation {
            return Ok(None);
        }
        let reported = list.reported()?;
        Ok(reported.map(|reported| PackageRecord::from_report(list, reported)))
    }

    /// Returns the rules for one provider (see sections 4 and 6 of docs/rules/registry.md).
    fn policy(self, engine: Engine, provider: &ProviderAddr) -> SignaturePolicy {
        let is_opentofu_registry = provider.hostname.as_ascii() == Engine::Tofu.default_host();
        SignaturePolicy {
            engine,
            // Not the start of the run, because a version that is published during a long run has a later signature.
            now: SystemTime::now(),
            keys_optional: engine == Engine::Tofu && is_opentofu_registry,
            enforce_validation: self.trust.enforce_validation,
            enforce_expiration: self.trust.enforce_expiration,
        }
    }
}
