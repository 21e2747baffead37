//! Whether the environment names a proxy that can be used.
//!
//! The HTTP client reads the variables itself and connects directly if it cannot read one. That must not happen without a word,
//! so the same code is asked before: an unreadable variable fails each request that it is for.

use hyper_util::client::proxy::matcher::Matcher;
use url::Url;

use crate::registry::fault::Fault;

/// A variable that names a proxy. Its value may hold a password.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProxyVariable {
    /// The name, in the letters that are set.
    pub name: String,
    /// The value, which may be empty.
    pub value: String,
}

/// The variables that name proxies, each in the letters that take precedence.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProxyVariables {
    /// `HTTP_PROXY`.
    pub http: Option<ProxyVariable>,
    /// `HTTPS_PROXY`.
    pub https: Option<ProxyVariable>,
    /// `ALL_PROXY`, for what the others do not name.
    pub all: Option<ProxyVariable>,
    /// `NO_PROXY`.
    pub none: String,
}

impl ProxyVariables {
    /// Checks that the proxy for `url` can be read, if there is one.
    pub(super) fn check(&self, url: &Url) -> Result<(), Fault> {
        let own = match url.scheme() {
            "https" => &self.https,
            _ => &self.http,
        };
        let is_set = |variable: &&ProxyVariable| !variable.value.is_empty();
        let own = own.as_ref().filter(is_set);
        match own.or(self.all.as_ref().filter(is_set)) {
            Some(variable) if !self.is_direct(url) && !is_readable(&variable.value) => {
                Err(Fault::Proxy {
                    variable: variable.name.clone(),
                })
            }
            _ => Ok(()),
        }
    }

    /// Whether `NO_PROXY` names the host.
    fn is_direct(&self, url: &Url) -> bool {
        !applies("http://proxy.invalid", &self.none, url.as_str())
    }
}

/// Whether the client understands the address of a proxy.
fn is_readable(address: &str) -> bool {
    has_valid_port(address) && applies(address, "", "http://host.invalid/")
}

/// The client ignores a port that it cannot read, and would ask another one.
fn has_valid_port(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let after_brackets = host.rsplit_once(']').map_or(host, |(_, after)| after);
    let port = after_brackets.rsplit_once(':').map(|(_, port)| port);
    port.is_none_or(|port| port.parse::<u16>().is_ok())
}

/// Whether a request for `url` goes to the proxy at `address`.
fn applies(address: &str, none: &str, url: &str) -> bool {
    let matcher = Matcher::builder().all(address).no(none).build();
    url.parse()
        .is_ok_and(|url| matcher.intercept(&url).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_what_the_client_understands() {
        for (address, expected) in [
            ("http://proxy.test:8080", true),
            ("http://proxy.test:8080/", true),
            ("https://user:p%40ss@proxy.test", true),
            ("socks4a://proxy.test:1080", true),
            ("socks5h://[::1]:1080", true),
            ("proxy.test:8080", true),
            ("proxy.test", true),
            ("http://[::1]", true),
            ("http://[", false),
            ("socks6://x", false),
            ("ftp://proxy.test", false),
            (" http://proxy.test", false),
            ("http://proxy.test ", false),
            ("http://pro xy.test", false),
            ("http://proxy.test:99999", false),
            ("http://proxy.test:99999/", false),
            ("http://proxy.test:http", false),
            ("http://user:pass word@proxy.test", false),
            ("http:///x", false),
            ("/x", false),
            (" ", false),
        ] {
            assert_eq!(is_readable(address), expected, "{address}");
        }
    }

    #[test]
    fn only_the_variable_for_a_request_is_read() {
        let variable = |name: &str, value: &str| {
            Some(ProxyVariable {
                name: name.to_owned(),
                value: value.to_owned(),
            })
        };
        let variables = ProxyVariables {
            http: variable("http_proxy", "http://["),
            https: variable("HTTPS_PROXY", ""),
            all: variable("ALL_PROXY", "socks6://u:secret@x"),
            none: "direct.test, 10.0.0.0/8".to_owned(),
        };
        for (url, expected) in [
            ("http://a.test/x", Some("http_proxy")),
            ("https://a.test/x?y", Some("ALL_PROXY")),
            ("https://direct.test/x", None),
            ("http://sub.direct.test/x", None),
            ("http://10.1.2.3/", None),
        ] {
            let found = variables.check(&Url::parse(url).expect("a URL"));
            let text = found.err().map(|fault| fault.to_string());
            let expected =
                expected.map(|name| format!("cannot read the address of a proxy in `{name}`"));
            assert_eq!(text, expected, "{url}");
        }
        assert!(
            ProxyVariables::default()
                .check(&Url::parse("http://a.test").expect("a URL"))
                .is_ok()
        );
    }
}
