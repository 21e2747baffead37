//! Who vouches for what was recorded, in words.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::change::short;
use super::{ProviderReport, RunReport};
use crate::lockfile::Change;
use crate::locking::Voucher;
use crate::package::{Lapse, Tier};
use crate::provider::{Platform, ProviderAddr, Version};

/// Who signed what was newly recorded; with more verbosity, all that was looked at.
pub(super) fn signers(report: &RunReport, verbosity: u8) -> String {
    let mut text = String::new();
    let mut signed: BTreeMap<Signed<'_>, BTreeSet<&Platform>> = BTreeMap::new();
    let providers = report.directories.iter();
    let providers = providers.flat_map(|directory| &directory.providers);
    for provider in providers.filter(|provider| verbosity > 0 || provider.has_moved()) {
        for (platform, record) in &provider.packages {
            let key = Signed {
                address: &provider.address,
                version: &provider.version,
                voucher: voucher(&record.voucher),
            };
            signed.entry(key).or_default().insert(platform);
        }
    }
    for (signed, platforms) in signed {
        let Signed {
            address,
            version,
            voucher,
        } = signed;
        // Short enough for 80 columns, unless more is asked for.
        let line = if verbosity == 0 {
            format!("{} {version}: {voucher}", short(address))
        } else {
            let platforms: Vec<String> = platforms.iter().map(ToString::to_string).collect();
            format!(
                "{address} {version}: {voucher}, for {}",
                platforms.join(", ")
            )
        };
        let _ = writeln!(
            text,
            "{:<width$} {line}",
            "verified",
            width = report.width()
        );
    }
    text
}

/// Who vouches for the packages of one version.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Signed<'a> {
    address: &'a ProviderAddr,
    version: &'a Version,
    voucher: String,
}

/// What vouches for a package, in words.
fn voucher(voucher: &Voucher) -> String {
    let signer = match voucher {
        Voucher::Signature(signer) => signer,
        Voucher::Report(Some(signer)) => {
            let by = self::voucher(&Voucher::Signature(signer.clone()));
            return format!("{by}; hashes on the word of its registry, packages not looked at");
        }
        Voucher::Report(None) => {
            return "on the word of its registry: not signed, packages not looked at".to_owned();
        }
        Voucher::Unsigned => return "not signed: its registry gives no keys".to_owned(),
        Voucher::MirrorHashes => return "by the hashes of its mirror".to_owned(),
        Voucher::Nothing => return "not verified: its mirror gives no hashes".to_owned(),
    };
    let tier = match signer.tier {
        Tier::HashiCorp => "HashiCorp",
        Tier::Partner => "a partner of HashiCorp",
        Tier::SelfSigned => "self-signed",
    };
    let lapse = match signer.lapse {
        None => "",
        Some(Lapse::Key) => ", key expired",
        Some(Lapse::Signature) => ", signature expired",
    };
    format!("signed by {} ({tier}{lapse})", signer.key_id)
}

impl ProviderReport {
    /// Whether its entry is new, or for another version than before.
    pub(super) fn has_moved(&self) -> bool {
        match &self.change {
            Some(Change::Added(_)) => true,
            Some(Change::Updated(update)) => update.version.is_some(),
            Some(Change::Removed(_)) | None => false,
        }
    }
}
