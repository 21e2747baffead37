//! Tokens: where they come from, in order: environment, `credentials` block, helper program. The first source that knows
//! the host decides, also when what it knows is that there is no token.

use std::collections::BTreeMap;
use std::fmt;

use reqwest::header::HeaderValue;

use crate::provider::Hostname;
use crate::registry::error::CredentialsError;
use crate::registry::helper;
use crate::registry::memo::OnceMap;
use crate::registry::settings::CredentialSettings;

/// A secret. Its text is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// The token with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The value of the header that sends it.
    pub(super) fn bearer(&self) -> Result<HeaderValue, CredentialsError> {
        let value = HeaderValue::from_str(&format!("Bearer {}", self.0));
        let mut value = value.map_err(|_secret| CredentialsError::Token)?;
        value.set_sensitive(true);
        Ok(value)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(redacted)")
    }
}

/// The tokens in `TF_TOKEN_*` variables, from all names and values of an environment.
///
/// The host follows the prefix: `__` stands for `-`, then `_` for `.`; case does not count; Unicode or Punycode; a port
/// after `:`. Names that give no host are ignored. An empty value is an empty token.
pub fn tokens_from_env<I>(variables: I) -> BTreeMap<Hostname, Token>
where
    I: IntoIterator<Item = (String, String)>,
{
    let hosts = variables.into_iter().filter_map(|(name, value)| {
        let host = name.strip_prefix("TF_TOKEN_")?;
        Some((token_host(host)?, Token::new(value)))
    });
    hosts.collect()
}

fn token_host(encoded: &str) -> Option<Hostname> {
    ascii_host(&encoded.replace("__", "-").replace('_', "."))
}

/// A host that may be written in Punycode, which addresses of providers may not be.
pub(super) fn ascii_host(text: &str) -> Option<Hostname> {
    let (name, port) = match text.split_once(':') {
        Some((name, port)) => (name, format!(":{port}")),
        None => (text, String::new()),
    };
    let (name, valid) = idna::domain_to_unicode(name);
    valid.ok()?;
    Hostname::parse(&(name + &port)).ok()
}

/// The tokens of a run.
#[derive(Debug)]
pub(super) struct Credentials {
    settings: CredentialSettings,
    helped: OnceMap<Hostname, Result<Option<Token>, CredentialsError>>,
}

impl Credentials {
    pub(super) fn new(settings: CredentialSettings) -> Self {
        Self {
            settings,
            helped: OnceMap::default(),
        }
    }

    /// The header that requests to services of `host` carry.
    pub(super) async fn header(
        &self,
        host: &Hostname,
    ) -> Result<Option<HeaderValue>, CredentialsError> {
        let token = self.token(host).await?;
        token.as_ref().map(Token::bearer).transpose()
    }

    async fn token(&self, host: &Hostname) -> Result<Option<Token>, CredentialsError> {
        if let Some(token) = self.settings.tokens.get(host) {
            return Ok(Some(token.clone()));
        }
        if let Some(block) = self.settings.blocks.get(host) {
            return Ok(block.token.as_ref().map(Token::new));
        }
        let Some(block) = &self.settings.helper else {
            return Ok(None);
        };
        let Some(program) = helper::find(block, &self.settings.plugin_directories) else {
            return Ok(None);
        };
        self.helped
            .get_or_init(host.clone(), || helper::ask(program, block, host))
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> Hostname {
        Hostname::parse(text).expect("a host")
    }

    #[test]
    fn variables_name_hosts() {
        let rows = [
            ("TF_TOKEN_app_terraform_io", Some("app.terraform.io")),
            ("TF_TOKEN_APP_Terraform_IO", Some("app.terraform.io")),
            ("TF_TOKEN_my__host_example", Some("my-host.example")),
            ("TF_TOKEN_h_test:8080", Some("h.test:8080")),
            ("TF_TOKEN_h_test:443", Some("h.test")),
            ("TF_TOKEN_127_0_0_1:8751", Some("127.0.0.1:8751")),
            ("TF_TOKEN_xn____bcher__kva_example", Some("bücher.example")),
            ("TF_TOKEN_xn--bcher-kva_example", Some("bücher.example")),
            ("TF_TOKEN_bücher_example", Some("bücher.example")),
            ("TF_TOKEN_localhost", Some("localhost")),
            ("TF_TOKEN_", None),
            ("TF_TOKEN_a b", None),
            ("TF_TOKEN__x", None),
            ("TF_TOKENS_a_b", None),
            ("tf_token_a_b", None),
        ];
        for (name, expected) in rows {
            let tokens = tokens_from_env([(name.to_owned(), "t".to_owned())]);
            let expected: Vec<_> = expected.map(host).into_iter().collect();
            assert_eq!(tokens.into_keys().collect::<Vec<_>>(), expected, "{name}");
        }
    }

    #[test]
    fn tokens_are_never_shown() {
        assert_eq!(format!("{:?}", Token::new("secret")), "Token(redacted)");
        let header = Token::new("secret").bearer().expect("a header");
        assert!(!format!("{header:?}").contains("secret"));
    }

    #[test]
    fn tokens_become_headers() {
        assert_eq!(Token::new("t").bearer().expect("a header"), "Bearer t");
        assert_eq!(Token::new("").bearer().expect("a header"), "Bearer ");
        assert!(matches!(
            Token::new("a\nb").bearer(),
            Err(CredentialsError::Token)
        ));
    }
}
