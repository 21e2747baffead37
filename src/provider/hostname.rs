//! Registry hostnames, with an optional port.
//!
//! The ASCII form of a host is used for comparing, sorting and connecting, the Unicode form for display. Labels in Punycode are
//! errors, so that users see the real name. Port 443 is the default and is omitted. Names are mapped with the IDNA lookup
//! profile (UTS 46, non-transitional, with the rules for hyphens, joiners and text direction) without length limits.

use std::fmt;

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};

use super::error::HostnameError;

/// The prefix of a label in Punycode.
const PUNYCODE_PREFIX: &str = "xn--";

const DEFAULT_PORT: u16 = 443;

/// The normalized host of a registry. Hosts are ordered by their ASCII form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hostname {
    /// For example `xn--bcher-kva.example:8443`. This is the first field, because it determines the order.
    ascii: String,
    /// For example `bücher.example:8443`.
    unicode: String,
}

impl Hostname {
    /// Parses a host as users write it, such as `example.com` or `Bücher.example:8443`.
    pub fn parse(text: &str) -> Result<Self, HostnameError> {
        let (name, port) = match text.split_once(':') {
            Some((name, port)) => (name, parse_port(port)?),
            None => (text, None),
        };
        check_labels(name)?;
        let (ascii, unicode) = normalize(name).ok_or(HostnameError::NotAHostname)?;
        check_reserved_hyphens(&unicode)?;
        let suffix = port.map(|port| format!(":{port}")).unwrap_or_default();
        Ok(Self {
            ascii: ascii + &suffix,
            unicode: unicode + &suffix,
        })
    }

    /// Returns the ASCII form for comparing, sorting and requests, with the port unless it is 443.
    pub fn as_ascii(&self) -> &str {
        &self.ascii
    }
}

/// Maps a name to ASCII and to Unicode. Returns `None` if it is invalid.
fn normalize(name: &str) -> Option<(String, String)> {
    let idna = Uts46::new();
    let (deny, length) = (AsciiDenyList::STD3, DnsLength::Ignore);
    // `check_reserved_hyphens` checks hyphens in the third and fourth positions.
    let hyphens = Hyphens::CheckFirstLast;
    let ascii = idna.to_ascii(name.as_bytes(), deny, hyphens, length).ok()?;
    let (unicode, valid) = idna.to_unicode(name.as_bytes(), deny, hyphens);
    valid.ok()?;
    Some((ascii.into_owned(), unicode.into_owned()))
}

/// Parses the port after the colon. Returns `None` for the default port. As in Terraform and OpenTofu, leading zeros and a plus sign
/// are accepted. Negative numbers, which both also accept, are errors here, because no connection is possible.
fn parse_port(text: &str) -> Result<Option<u16>, HostnameError> {
    let Ok(port) = text.parse() else {
        return Err(HostnameError::BadPort(text.to_owned()));
    };
    Ok((port != DEFAULT_PORT).then_some(port))
}

/// Checks that no label is empty or starts with the lower-case Punycode prefix. A final dot is permitted.
fn check_labels(name: &str) -> Result<(), HostnameError> {
    let labels = name.strip_suffix('.').unwrap_or(name);
    for label in labels.split('.') {
        if label.is_empty() {
            return Err(HostnameError::EmptyLabel);
        }
        if label.starts_with(PUNYCODE_PREFIX) {
            return Err(HostnameError::Punycode(label.to_owned()));
        }
    }
    Ok(())
}

/// Checks that no label has hyphens in both the third and the fourth position, which are reserved. Positions are counted in bytes, as
/// in Terraform and OpenTofu: `aé--b` is valid and `é--b` is invalid.
fn check_reserved_hyphens(unicode: &str) -> Result<(), HostnameError> {
    let reserved = |label: &str| label.as_bytes().get(2..4) == Some(b"--");
    if unicode.split('.').any(reserved) {
        return Err(HostnameError::NotAHostname);
    }
    Ok(())
}

impl fmt::Display for Hostname {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.unicode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostnames_have_an_ascii_and_a_unicode_form() {
        for (text, ascii, unicode) in [
            ("example.com", "example.com", "example.com"),
            ("Registry.Example", "registry.example", "registry.example"),
            ("bücher.example", "xn--bcher-kva.example", "bücher.example"),
            (
                "BÜCHER.example:80",
                "xn--bcher-kva.example:80",
                "bücher.example:80",
            ),
            ("faß.example", "xn--fa-hia.example", "faß.example"), // not `fass`: non-transitional
            ("h。example", "h.example", "h.example"),             // ideographic full stop
            ("אב.example", "xn--4dbc.example", "אב.example"),
            ("aé--b.example", "xn--a--b-bpa.example", "aé--b.example"), // positions are counted in bytes
            ("XN--bcher-kva.test", "xn--bcher-kva.test", "bücher.test"), // only the lower-case prefix is an error
            ("example.com.", "example.com.", "example.com."),
            ("localhost", "localhost", "localhost"),
            ("127.0.0.1:5758", "127.0.0.1:5758", "127.0.0.1:5758"),
            ("example.com:443", "example.com", "example.com"),
            ("example.com:0443", "example.com", "example.com"),
            ("example.com:00080", "example.com:80", "example.com:80"),
            ("example.com:+80", "example.com:80", "example.com:80"),
            ("example.com:0", "example.com:0", "example.com:0"),
            ("h.test:65535", "h.test:65535", "h.test:65535"),
        ] {
            let host = Hostname::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(host.as_ascii(), ascii, "{text}");
            assert_eq!(host.to_string(), unicode, "{text}");
        }
    }

    #[test]
    fn the_default_port_is_omitted() {
        for (text, expected) in [
            ("bücher.example:8080", "xn--bcher-kva.example:8080"),
            ("example.com:443", "example.com"),
        ] {
            assert_eq!(Hostname::parse(text).unwrap().as_ascii(), expected);
        }
    }

    #[test]
    fn hosts_are_compared_and_hashed_by_their_ascii_form() {
        use std::hash::BuildHasher as _;

        let hosts = ["bücher.example", "BÜCHER.example:443", "zzz.example"]
            .map(|text| Hostname::parse(text).unwrap());
        let state = std::hash::RandomState::new();
        let hashes = hosts.each_ref().map(|host| state.hash_one(host));
        assert_eq!((&hosts[0], hashes[0]), (&hosts[1], hashes[1]));
        assert_ne!(hosts[0], hosts[2]);
        assert_ne!(hashes[0], hashes[2]);
        assert!(hosts[0] < hosts[2], "xn-- comes before z");
    }

    #[test]
    fn invalid_hostnames_are_errors() {
        use HostnameError::{BadPort, EmptyLabel, NotAHostname, Punycode};
        for (text, error) in [
            ("", EmptyLabel),
            (".", EmptyLabel),
            ("a..b", EmptyLabel),
            (".example", EmptyLabel),
            ("xn--caf-dma.com", Punycode("xn--caf-dma".into())),
            ("h:99999", BadPort("99999".into())),
            ("h:65536", BadPort("65536".into())),
            ("h:", BadPort(String::new())),
            ("h:x", BadPort("x".into())),
            ("h:-1", BadPort("-1".into())),
            ("h:80:90", BadPort("80:90".into())),
            ("h:٣", BadPort("٣".into())),
            ("[::1]", BadPort(":1]".into())),
            ("-a.example", NotAHostname),
            ("a-.example", NotAHostname),
            ("ab--c.example", NotAHostname),
            ("é--a.example", NotAHostname),
            ("a_b.example", NotAHostname),
            ("a b.example", NotAHostname),
            ("א1a.example", NotAHostname), // mixes text directions
        ] {
            assert_eq!(Hostname::parse(text).unwrap_err(), error, "{text}");
        }
    }
}
