//! HTTP validators: labels for the bytes that a server sent, with which a later request can check whether they have changed.
//!
//! An entity tag, weak or strong, is sent back as `If-None-Match`; without one, the last-modified date is sent back as
//! `If-Modified-Since`. Status 304 then means that the known bytes are still current. See RFC 9110, sections 8.8 and 13.1.
//!
//! A different server may use the same tag for different bytes. A validator is therefore sent only to the address that responded,
//! after all redirects. It contains a digest of that address rather than the address itself, which may contain secrets.

use std::fmt;
use std::time::{Duration, SystemTime};

use reqwest::Url;
use reqwest::header::{
    DATE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED,
};
use sha2::{Digest as _, Sha256};

use crate::provider::Digest;
use crate::redacted_url::without_user_info;

/// The maximum length of a validator in bytes. Longer ones are ignored; real ones are about 70 bytes long.
const MAX_VALIDATOR_BYTES: usize = 1024;

/// The precision of HTTP dates. If a file is sent within a second of its last change, a further change may leave its date the same.
const DATE_PRECISION: Duration = Duration::from_secs(1);

/// An entity tag or a date, and the address for which it is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpValidator {
    address: Digest,
    is_tag: bool,
    value: HeaderValue,
}

impl HttpValidator {
    /// Returns the usable validator in the headers of a response from `url`, if there is one.
    pub(super) fn of_response(url: &Url, headers: &HeaderMap) -> Option<Self> {
        let tag = headers.get(ETAG);
        let date = || headers.get(LAST_MODIFIED).filter(|_| is_old(headers));
        let value = tag.or_else(date)?;
        let is_kept = value.len() <= MAX_VALIDATOR_BYTES && value.to_str().is_ok();
        is_kept.then(|| Self {
            address: digest(url),
            is_tag: tag.is_some(),
            value: value.clone(),
        })
    }

    /// Whether this validator comes from a response from `url`.
    pub(super) fn is_for(&self, url: &Url) -> bool {
        self.address == digest(url)
    }

    /// Returns the header that requests the bytes only if they have changed.
    pub(super) fn header(&self) -> (HeaderName, HeaderValue) {
        let name = if self.is_tag {
            IF_NONE_MATCH
        } else {
            IF_MODIFIED_SINCE
        };
        (name, self.value.clone())
    }

    /// Parses the output of [`Display`](fmt::Display).
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.splitn(3, ' ');
        let address = Digest::parse_hex(words.next()?).ok()?;
        let is_tag = match words.next()? {
            "tag" => true,
            "date" => false,
            _ => return None,
        };
        let value = HeaderValue::from_str(words.next()?).ok()?;
        Some(Self {
            address,
            is_tag,
            value,
        })
    }
}

/// Formats a validator as one line: the digest of the address, `tag` or `date`, and the value.
impl fmt::Display for HttpValidator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_tag { "tag" } else { "date" };
        let value = self.value.to_str().unwrap_or_default();
        write!(f, "{} {kind} {value}", self.address)
    }
}

/// Whether enough time lies between the last change and the response for the date of the change to identify the bytes.
fn is_old(headers: &HeaderMap) -> bool {
    let time = |name: HeaderName| -> Option<SystemTime> {
        httpdate::parse_http_date(headers.get(name)?.to_str().ok()?).ok()
    };
    let age = time(LAST_MODIFIED)
        .zip(time(DATE))
        .and_then(|(changed, sent)| sent.duration_since(changed).ok());
    age.is_some_and(|age| age >= DATE_PRECISION)
}

/// The name prefix of the query parameters that sign a request to S3. Their values differ in each request.
const SIGNATURE: &str = "X-Amz-";

/// Returns the digest of an address. It covers the query, which may select the file, except for the parameters of an S3 signature.
fn digest(url: &Url) -> Digest {
    let mut url = without_user_info(url);
    if let Some(query) = url.query() {
        let parts = query.split('&').filter(|part| !part.starts_with(SIGNATURE));
        let query = parts.collect::<Vec<_>>().join("&");
        url.set_query((!query.is_empty()).then_some(&query));
    }
    Digest::new(Sha256::digest(url.as_str()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "Sat, 21 Nov 2026 12:00:00 GMT";
    const NEXT: &str = "Sat, 21 Nov 2026 12:00:01 GMT";

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn validator(pairs: &[(HeaderName, &str)]) -> Option<HttpValidator> {
        let pairs = pairs
            .iter()
            .map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()));
        HttpValidator::of_response(&url("https://h.test/m.zip?sig=s"), &pairs.collect())
    }

    #[test]
    fn tags_take_precedence_over_dates_and_recent_dates_are_ignored() {
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
            let found = validator(headers).map(|validator| validator.header());
            let expected =
                expected.map(|(name, value)| (name, HeaderValue::from_str(value).unwrap()));
            assert_eq!(found, expected, "{headers:?}");
        }
    }

    #[test]
    fn validators_are_for_one_address_and_do_not_name_it() {
        let validator = validator(&[(ETAG, "\"a b\"")]).unwrap();
        for same in [
            "https://h.test/m.zip?sig=s",
            "https://user:password@h.test:443/m.zip?sig=s#top",
        ] {
            assert!(validator.is_for(&url(same)), "{same}");
        }
        for other in [
            "https://h.test/m.zip?sig=t",
            "https://h.test/m.zip",
            "https://other.test/m.zip?sig=s",
        ] {
            assert!(!validator.is_for(&url(other)), "{other}");
        }
        let text = validator.to_string();
        assert!(!text.contains("h.test") && !text.contains("sig"), "{text}");
        assert_eq!(HttpValidator::parse(&text), Some(validator));
    }

    #[test]
    fn other_texts_are_invalid() {
        let digest = "0".repeat(64);
        for text in [
            String::new(),
            format!("{digest} tag"),
            format!("{digest} word \"a\""),
            format!("{digest} tag a\nb"),
            "0 tag \"a\"".to_owned(),
        ] {
            assert_eq!(HttpValidator::parse(&text), None, "{text}");
        }
    }
}
