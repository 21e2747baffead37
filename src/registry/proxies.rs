//! The proxy for a request: whether its address is valid, and how messages name it.
//!
//! The HTTP client reads the proxy variables itself. This module applies the same rules, with the same library.

use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use url::Url;

use crate::registry::request_error::RequestFault;

/// An environment variable that sets a proxy. The type does not implement `Debug`, because the value may contain a password.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProxyVariable {
    /// The name of the variable, in the spelling in which it is set: in upper or lower case.
    pub name: String,
    /// The value, which may be empty.
    pub value: String,
}

#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProxyVariables {
    pub http: Option<ProxyVariable>,
    pub https: Option<ProxyVariable>,
    /// The variable `ALL_PROXY`, for requests to which the other two do not apply.
    pub all: Option<ProxyVariable>,
    /// The value of `NO_PROXY`.
    pub none: String,
}

/// The proxy that a request uses, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedProxy {
    /// Scheme, host and port, without credentials.
    pub address: String,
    /// The environment variable that sets the proxy.
    pub variable: String,
    pub has_credentials: bool,
}

impl UsedProxy {
    /// Returns the host and the port.
    pub(super) fn server(&self) -> &str {
        let rest = self.address.split_once("://");
        rest.map_or(&*self.address, |(_, server)| server)
    }
}

impl ProxyVariables {
    /// Checks that the address of the proxy for `url`, if any, is valid. The HTTP client would ignore an invalid address and connect
    /// directly.
    pub(super) fn check(&self, url: &Url) -> Result<(), RequestFault> {
        match self.variable(url) {
            Some(variable) if !is_valid_proxy(&variable.value) => Err(RequestFault::Proxy {
                variable: variable.name.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// Returns the proxy for `url`. `None` if the request is sent directly.
    pub(super) fn used(&self, url: &Url) -> Option<UsedProxy> {
        let variable = self.variable(url)?;
        let proxy = intercept(&variable.value, &self.none, url.as_str())?;
        Some(UsedProxy {
            address: proxy.uri().to_string().trim_end_matches('/').to_owned(),
            variable: variable.name.clone(),
            has_credentials: proxy.basic_auth().is_some() || proxy.raw_auth().is_some(),
        })
    }

    /// Returns the variable that sets the proxy for `url`, unless `NO_PROXY` covers the host.
    fn variable(&self, url: &Url) -> Option<&ProxyVariable> {
        let by_scheme = match url.scheme() {
            "https" => &self.https,
            _ => &self.http,
        };
        let mut set = [by_scheme, &self.all].into_iter().flatten();
        let variable = set.find(|variable| !variable.value.is_empty())?;
        let is_proxied = intercept("http://proxy.invalid", &self.none, url.as_str()).is_some();
        is_proxied.then_some(variable)
    }
}

/// Whether the HTTP client can use this proxy address.
fn is_valid_proxy(address: &str) -> bool {
    has_valid_port(address) && intercept(address, "", "http://host.invalid/").is_some()
}

/// Whether the port, if any, is valid. The HTTP client would ignore an invalid port and use the default port instead.
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

/// Returns the proxy at `address` if a request for `url` uses it. `none` lists the hosts that are reached without a proxy.
fn intercept(address: &str, none: &str, url: &str) -> Option<Intercept> {
    let matcher = Matcher::builder().all(address).no(none).build();
    matcher.intercept(&url.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxy_addresses_are_valid_if_the_client_can_use_them() {
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
            assert_eq!(is_valid_proxy(address), expected, "{address}");
        }
    }

    #[test]
    fn only_the_variable_for_a_request_is_checked() {
        let variable = |name: &str, value: &str| {
            let (name, value) = (name.to_owned(), value.to_owned());
            Some(ProxyVariable { name, value })
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
            let message = |name| format!("invalid proxy address in `{name}`");
            let found = variables.check(&Url::parse(url).unwrap()).err();
            let found = found.map(|fault| fault.to_string());
            assert_eq!(found, expected.map(message), "{url}");
        }
        let url = Url::parse("http://a.test").unwrap();
        assert!(ProxyVariables::default().check(&url).is_ok());
    }

    #[test]
    fn used_proxies_are_named_without_credentials() {
        let variable = |value: &str| {
            let (name, value) = ("https_proxy".to_owned(), value.to_owned());
            Some(ProxyVariable { name, value })
        };
        let url = Url::parse("https://a.test/").unwrap();
        for (value, address, server, has_credentials) in [
            (
                "http://p.test:8080/",
                "http://p.test:8080",
                "p.test:8080",
                false,
            ),
            ("p.test:8080", "http://p.test:8080", "p.test:8080", false),
            ("http://u:secret@p.test", "http://p.test", "p.test", true),
            (
                "socks5h://u:secret@p.test:1",
                "socks5h://p.test:1",
                "p.test:1",
                true,
            ),
        ] {
            let variables = ProxyVariables {
                https: variable(value),
                ..ProxyVariables::default()
            };
            let found = variables.used(&url).unwrap();
            assert_eq!(found.server(), server);
            let expected = UsedProxy {
                address: address.to_owned(),
                variable: "https_proxy".to_owned(),
                has_credentials,
            };
            assert_eq!(found, expected);
            let direct = ProxyVariables {
                none: "a.test".to_owned(),
                ..variables
            };
            assert_eq!(direct.used(&url), None);
        }
        assert_eq!(ProxyVariables::default().used(&url), None);
    }
}
