//! Stamps: by what a server said of the bytes it sent, it can be asked later whether they are still the same.
//!
//! An entity tag, weak or strong, goes back as `If-None-Match`; without one the date of the last change goes back as
//! `If-Modified-Since`. The answer 304 then stands for the bytes that are there already. Rules: RFC 9110, 8.8 and 13.1.
//!
//! A validator says something about one address only. So it remembers which one answered, after all redirects, and never goes
//! to another: there the same tag may stand for something else. What it remembers is a digest, since addresses may hold secrets.

use std::fmt;
use std::time::{Duration, SystemTime};

use reqwest::Url;
use reqwest::header::{
    DATE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED,
};
use sha2::{Digest as _, Sha256};

use crate::provider::Digest;
use crate::redacted_url::without_user_info;

/// Longer validators are not kept. Real ones have some 70 bytes.
const MAX_VALIDATOR_BYTES: usize = 1024;

/// Dates have seconds: what was sent within the second of its change may have changed once more in it.
const DATE_PRECISION: Duration = Duration::from_secs(1);

/// A validator, and the address for which it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    address: Digest,
    kind: Kind,
    value: HeaderValue,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Tag,
    Date,
}

impl Stamp {
    /// The stamp of an answer that `url` gave, if it has one.
    pub(super) fn of(url: &Url, headers: &HeaderMap) -> Option<Self> {
        let tag = headers.get(ETAG).map(|tag| (Kind::Tag, tag));
        let date = || headers.get(LAST_MODIFIED).filter(|_| is_old(headers));
        let (kind, value) = tag.or_else(|| date().map(|date| (Kind::Date, date)))?;
        let is_kept = value.len() <= MAX_VALIDATOR_BYTES && value.to_str().is_ok();
        is_kept.then(|| Self {
            address: digest(url),
            kind,
            value: value.clone(),
        })
    }

    /// Whether it holds for what `url` answers.
    pub(super) fn is_for(&self, url: &Url) -> bool {
        self.address == digest(url)
    }

    /// The header that asks for the bytes only if they are others now.
    pub(super) fn header(&self) -> (HeaderName, HeaderValue) {
        let name = match self.kind {
            Kind::Tag => IF_NONE_MATCH,
            Kind::Date => IF_MODIFIED_SINCE,
        };
        (name, self.value.clone())
    }

    /// Reads what [`Display`](fmt::Display) wrote.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.splitn(3, ' ');
        let address = Digest::parse_hex(words.next()?).ok()?;
        let kind = match words.next()? {
            "tag" => Kind::Tag,
            "date" => Kind::Date,
            _ => return None,
        };
        let value = HeaderValue::from_str(words.next()?).ok()?;
        Some(Self {
            address,
            kind,
            value,
        })
    }
}

/// One line: digest of the address, `tag` or `date`, the value.
impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Tag => "tag",
            Kind::Date => "date",
        };
        let value = self.value.to_str().unwrap_or_default();
        write!(f, "{} {kind} {value}", self.address)
    }
}

/// Whether the last change was long enough before the answer for its date to tell it from a later one.
fn is_old(headers: &HeaderMap) -> bool {
    let time = |name: HeaderName| -> Option<SystemTime> {
        httpdate::parse_http_date(headers.get(name)?.to_str().ok()?).ok()
    };
    let (changed, sent) = (time(LAST_MODIFIED), time(DATE));
    changed
        .zip(sent)
        .and_then(|(changed, sent)| sent.duration_since(changed).ok())
        .is_some_and(|age| age >= DATE_PRECISION)
}

/// The query is part of what is hashed: it may select another file.
fn digest(url: &Url) -> Digest {
    Digest::new(Sha256::digest(without_user_info(url).as_str()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "Sat, 21 Nov 2026 12:00:00 GMT";
    const NEXT: &str = "Sat, 21 Nov 2026 12:00:01 GMT";

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn stamp(pairs: &[(HeaderName, &str)]) -> Option<Stamp> {
        let pairs = pairs
            .iter()
            .map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()));
        Stamp::of(&url("https://h.test/m.zip?sig=s"), &pairs.collect())
    }

    #[test]
    fn tags_come_before_dates_and_young_dates_do_not_count() {
        let long = "x".repeat(MAX_VALIDATOR_BYTES + 1);
        for (headers, expected) in [
            (
                &[(ETAG, "\"a\""), (LAST_MODIFIED, FIRST), (DATE, NEXT)][..],
                Some((IF_NONE_MATCH, "\"a\"")),
            ),
            (&[(ETAG, "W/\"a\"")], Some((IF_NONE_MATCH, "W/\"a\""))),
            (
                &[(LAST_MODIFIED, FIRST), (DATE, NEXT)],
                Some((IF_MODIFIED_SINCE, FIRST)),
            ),
            (&[(LAST_MODIFIED, FIRST), (DATE, FIRST)], None),
            (&[(LAST_MODIFIED, NEXT), (DATE, FIRST)], None),
            (&[(LAST_MODIFIED, FIRST)], None),
            (&[(LAST_MODIFIED, "yesterday"), (DATE, NEXT)], None),
            (&[(ETAG, long.as_str())], None),
            (&[], None),
        ] {
            let found = stamp(headers).map(|stamp| stamp.header());
            let expected =
                expected.map(|(name, value)| (name, HeaderValue::from_str(value).unwrap()));
            assert_eq!(found, expected, "{headers:?}");
        }
    }

    #[test]
    fn stamps_are_for_one_address_and_do_not_name_it() {
        let stamp = stamp(&[(ETAG, "\"a b\"")]).unwrap();
        for same in [
            "https://h.test/m.zip?sig=s",
            "https://user:password@h.test:443/m.zip?sig=s#top",
        ] {
            assert!(stamp.is_for(&url(same)), "{same}");
        }
        for other in [
            "https://h.test/m.zip?sig=t",
            "https://h.test/m.zip",
            "https://other.test/m.zip?sig=s",
        ] {
            assert!(!stamp.is_for(&url(other)), "{other}");
        }
        let text = stamp.to_string();
        assert!(!text.contains("h.test") && !text.contains("sig"), "{text}");
        assert_eq!(Stamp::parse(&text), Some(stamp));
    }

    #[test]
    fn other_texts_are_no_stamps() {
        let digest = "0".repeat(64);
        for text in [
            String::new(),
            format!("{digest} tag"),
            format!("{digest} word \"a\""),
            format!("{digest} tag a\nb"),
            "0 tag \"a\"".to_owned(),
        ] {
            assert_eq!(Stamp::parse(&text), None, "{text}");
        }
    }
}
