//! Why a key or a signature is not valid at the time of verification.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::display::date;

/// Why a correct signature is not valid at the time of verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lapse {
    pub part: LapsedPart,
    pub period: ValidityPeriod,
}

/// The part of a signature that is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LapsedPart {
    /// The primary key or the signing key.
    Key,
    /// A signature by which the key certifies its own user ID or subkey.
    SelfSignature,
    /// The signature over the document.
    Signature,
}

/// The limit of a validity period that is violated at the time of verification: the period has ended, or it has not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValidityPeriod {
    Ended(SystemTime),
    Begins(SystemTime),
}

impl ValidityPeriod {
    /// Checks the validity period of something that was created at `created` and is valid for `lifetime` seconds. Returns the violated
    /// limit, or `None` if the period includes `now`. All times are in Unix seconds. A lifetime of 0 is unlimited.
    pub(super) fn without(now: u64, created: u64, lifetime: u64) -> Option<Self> {
        let end = created + lifetime;
        if created > now {
            Some(Self::Begins(time(created)))
        } else if lifetime > 0 && now > end {
            Some(Self::Ended(time(end)))
        } else {
            None
        }
    }
}

fn time(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

impl fmt::Display for ValidityPeriod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Ended(end) => write!(f, "expired on {}", date(end)),
            Self::Begins(begin) => write!(f, "is not valid before {}", date(begin)),
        }
    }
}
