//! Sample reports for the tests of all renderers.

use std::collections::BTreeSet;

use super::*;
use crate::lockfile::Update;
use crate::locking::{Evidence, IndexUsage, ListedHashes, PackageForm, Voucher};
use crate::package::{Lapse, LapsedPart, Signer, Tier, ValidityPeriod};
use crate::provider::Hash;

pub(super) fn version(text: &str) -> Version {
    Version::parse(text).unwrap()
}

pub(super) fn address(source: &str) -> ProviderAddr {
    ProviderAddr::parse(source, Engine::Terraform).unwrap()
}

pub(super) fn lock(version: &str, constraints: &str, hashes: &[&str]) -> ProviderLock {
    ProviderLock {
        version: self::version(version),
        constraints: match constraints {
            "" => VersionConstraints::default(),
            text => VersionConstraints::parse(text).unwrap(),
        },
        hashes: self::hashes(hashes),
    }
}

pub(super) fn locks(entries: &[(&str, ProviderLock)]) -> Locks {
    Locks {
        providers: entries
            .iter()
            .map(|(source, lock)| (address(source), lock.clone()))
            .collect(),
    }
}

fn hashes(texts: &[&str]) -> BTreeSet<Hash> {
    texts
        .iter()
        .map(|text| Hash::parse(text).unwrap())
        .collect()
}

/// Returns a package that HashiCorp signed. Its checksum list has `zh:a` and `zh:b`; OpenTofu's registry reports `h1:reported`.
pub(super) fn record(h1: &str) -> Arc<PackageRecord> {
    let signer = Signer {
        key_id: "34365D9472D7468F".to_owned(),
        fingerprint: "C874011F0AB405110D02105534365D9472D7468F".to_owned(),
        tier: Tier::HashiCorp,
        signed_at: std::time::UNIX_EPOCH,
        lapse: Some(Lapse {
            part: LapsedPart::Key,
            period: ValidityPeriod::Ended(std::time::UNIX_EPOCH),
        }),
    };
    Arc::new(PackageRecord {
        evidence: Evidence {
            recorded: hashes(&[h1, "h1:reported", "zh:a", "zh:b"]),
            genuine: hashes(&[h1, "zh:a", "zh:b"]),
            listed: ListedHashes::Complete(hashes(&["zh:a", "zh:b"])),
        },
        voucher: Voucher::Signature(Box::new(signer)),
        h1: Hash::parse(h1).unwrap(),
        size: Some(12_345),
        elapsed: Duration::from_millis(250),
        form: PackageForm::Files("unpacked".into()),
        index_key: None,
    })
}

/// Returns an added provider with packages for two platforms.
pub(super) fn added(source: &str, version: &str) -> ProviderReport {
    let lock = lock(
        version,
        "~> 3.0",
        &["h1:darwin", "h1:linux", "h1:reported", "zh:a"],
    );
    ProviderReport {
        address: address(source),
        version: lock.version.clone(),
        constraints: lock.constraints.clone(),
        change: Some(Change::Added(lock)),
        place: None,
        kept: 0,
        packages: packages(),
    }
}

/// Returns a provider whose version changed.
pub(super) fn moved(source: &str, from: &str, to: &str) -> ProviderReport {
    let update = Update {
        version: Some((version(from), version(to))),
        hashes_added: hashes(&["h1:linux", "zh:b"]),
        hashes_removed: hashes(&["h1:old"]),
        ..Update::default()
    };
    ProviderReport {
        change: Some(Change::Updated(update)),
        kept: 2,
        ..added(source, to)
    }
}

fn packages() -> BTreeMap<Platform, Arc<PackageRecord>> {
    let rows = [("darwin_arm64", "h1:darwin"), ("linux_amd64", "h1:linux")];
    rows.map(|(platform, h1)| (Platform::parse(platform).unwrap(), record(h1)))
        .into()
}

pub(super) fn directory(path: &str, fate: Fate, providers: Vec<ProviderReport>) -> DirectoryReport {
    DirectoryReport {
        directory: path.into(),
        engine: (fate != Fate::Failed).then_some(Engine::Terraform),
        fate,
        skipped: (fate == Fate::Skipped).then_some(SkipReason::NoConfiguration),
        providers,
        moved_modules: Vec::new(),
        findings: Vec::new(),
        unchecked: Vec::new(),
        diff: None,
        diagnostics: Vec::new(),
        elapsed: Duration::from_millis(17),
    }
}

pub(super) fn report(directories: Vec<DirectoryReport>) -> RunReport {
    RunReport {
        command: "lock",
        directories,
        platforms: packages().into_keys().collect(),
        platforms_defaulted: false,
        downloaded: Downloaded {
            packages: 3,
            again: 1,
            bytes: 154_300_000,
        },
        index: IndexUsage::default(),
        elapsed: Duration::from_millis(1234),
        check: false,
    }
}
