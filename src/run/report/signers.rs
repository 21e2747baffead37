//! Describes which keys signed the packages, as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::change::short;
use super::{ProviderReport, RunReport};
use crate::lockfile::Change;
use crate::locking::Voucher;
use crate::package::{Lapse, LapsedPart, Tier, ValidityPeriod};
use crate::provider::Platform;

/// Renders one line for each newly recorded version, which names its signer. With `-v`, includes every version whose packages were used.
pub(super) fn signers(report: &RunReport, verbosity: u8) -> String {
    let mut signed: BTreeMap<_, BTreeSet<&Platform>> = BTreeMap::new();
    let is_listed = |provider: &&ProviderReport| verbosity > 0 || provider.has_moved();
    for provider in report.providers().filter(is_listed) {
        for (platform, record) in &provider.packages {
            let key = (
                &provider.address,
                &provider.version,
                describe(&record.voucher),
            );
            signed.entry(key).or_default().insert(platform);
        }
    }
    let mut text = String::new();
    for ((address, version, voucher), platforms) in signed {
        // Without -v, the line fits into 80 columns.
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

/// Describes why a package is trusted.
fn describe(voucher: &Voucher) -> String {
    let signer = match voucher {
        Voucher::Signature(signer) => signer,
        Voucher::Report(Some(signer)) => {
            let by = describe(&Voucher::Signature(signer.clone()));
            return format!("{by}; hashes reported by its registry, packages not downloaded");
        }
        Voucher::Report(None) => {
            return "not signed; hashes reported by its registry, packages not downloaded"
                .to_owned();
        }
        Voucher::Unsigned => return "not signed: its registry publishes no keys".to_owned(),
        Voucher::MirrorHashes => return "compared with the hashes of its mirror".to_owned(),
        Voucher::Nothing => return "not verified: its mirror publishes no hashes".to_owned(),
    };
    let tier = match signer.tier {
        Tier::HashiCorp => "HashiCorp",
        Tier::Partner => "HashiCorp partner",
        Tier::SelfSigned => "self-signed",
    };
    let lapse = match signer.lapse {
        None => "",
        Some(lapse) => lapse_word(lapse),
    };
    format!("signed by {} ({tier}{lapse})", signer.key_id)
}

fn lapse_word(lapse: Lapse) -> &'static str {
    match (lapse.part, lapse.period) {
        (LapsedPart::Key, ValidityPeriod::Ended(_)) => ", key expired",
        (LapsedPart::Key, ValidityPeriod::Begins(_)) => ", key not yet valid",
        (_, ValidityPeriod::Ended(_)) => ", signature expired",
        (_, ValidityPeriod::Begins(_)) => ", signature not yet valid",
    }
}

impl ProviderReport {
    /// Returns whether the entry is new or has a different version than before.
    pub(super) fn has_moved(&self) -> bool {
        match &self.change {
            Some(Change::Added(_)) => true,
            Some(Change::Updated(update)) => update.version.is_some(),
            Some(Change::Removed(_)) | None => false,
        }
    }
}
