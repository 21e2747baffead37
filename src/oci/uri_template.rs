//! URI templates (RFC 6570, level 1) for `--oci-mirror`, as in `tofu providers lock -oci-mirror`.

use std::fmt::{self, Write as _};

use crate::oci::{RepositoryAddress, RepositoryAddressError};
use crate::provider::ProviderAddr;

/// A template such as `ghcr.io/acme/{namespace}-{type}`. Unknown variables are empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UriTemplate {
    text: String,
    parts: Vec<UriPiece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum UriPiece {
    Literal(String),
    Variable(String),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UriTemplateError {
    #[error("a brace is unmatched")]
    Brace,
    #[error(
        "`{{{0}}}` is not a variable: only names such as `{{namespace}}` are allowed in braces"
    )]
    Expression(String),
    #[error("`%` is not followed by two hexadecimal digits")]
    Percent,
    #[error("`{0}` is not allowed outside of braces")]
    Character(char),
}

impl UriTemplate {
    pub fn parse(text: &str) -> Result<Self, UriTemplateError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(start) = rest.find(['{', '}']) {
            let (literal, expression) = rest.split_at(start);
            parts.push(UriPiece::Literal(escape(literal)?));
            let inner = expression
                .strip_prefix('{')
                .ok_or(UriTemplateError::Brace)?;
            let (name, after) = inner.split_once('}').ok_or(UriTemplateError::Brace)?;
            if !is_name(name) {
                return Err(UriTemplateError::Expression(name.to_owned()));
            }
            parts.push(UriPiece::Variable(name.to_owned()));
            rest = after;
        }
        parts.push(UriPiece::Literal(escape(rest)?));
        Ok(Self {
            text: text.to_owned(),
            parts,
        })
    }

    /// Whether the template contains `{name}`.
    pub fn has_variable(&self, name: &str) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|part| matches!(part, UriPiece::Variable(found) if found == name))
    }

    /// Returns the template as a quoted HCL string for the CLI configuration.
    pub fn to_hcl(&self) -> String {
        let parts = self.parts.iter().map(|part| match part {
            // No escapes are needed: the characters that would need one in HCL are percent-encoded.
            UriPiece::Literal(text) => text.clone(),
            UriPiece::Variable(name)
                if ["hostname", "namespace", "type"].contains(&name.as_str()) =>
            {
                format!("${{{name}}}")
            }
            UriPiece::Variable(_) => String::new(),
        });
        format!("\"{}\"", parts.collect::<String>())
    }

    /// Returns the repository of a provider.
    pub fn expand(
        &self,
        provider: &ProviderAddr,
    ) -> Result<RepositoryAddress, RepositoryAddressError> {
        let value = |name: &str| match name {
            "hostname" => provider.hostname.as_ascii(),
            "namespace" => provider.namespace.as_str(),
            "type" => provider.type_name.as_str(),
            _ => "",
        };
        let parts = self.parts.iter().map(|part| match part {
            UriPiece::Literal(text) => text.clone(),
            UriPiece::Variable(name) => percent_encode(value(name), is_unreserved),
        });
        RepositoryAddress::parse(&parts.collect::<String>())
    }
}

impl fmt::Display for UriTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Whether the text is the name of a variable: letters, digits, `_` and percent-encoded bytes. RFC 6570 allows dots, too, but OpenTofu
/// does not.
fn is_name(text: &str) -> bool {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'%');
    !text.is_empty() && text.bytes().all(is_valid) && escape(text).is_ok()
}

/// Percent-encodes the characters of a literal that are not in ASCII. Characters that RFC 6570 does not allow in literals are errors.
fn escape(literal: &str) -> Result<String, UriTemplateError> {
    let is_forbidden = |c: &char| c.is_ascii_control() || " \"'<>\\^`|".contains(*c);
    if let Some(found) = literal.chars().find(is_forbidden) {
        return Err(UriTemplateError::Character(found));
    }
    let mut pieces = literal.split('%');
    let mut escaped = percent_encode(pieces.next().unwrap_or_default(), is_uri_byte);
    for piece in pieces {
        let digits = piece.get(..2).ok_or(UriTemplateError::Percent)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(UriTemplateError::Percent);
        }
        escaped.push('%');
        escaped.push_str(&percent_encode(piece, is_uri_byte));
    }
    Ok(escaped)
}

fn percent_encode(text: &str, is_plain: fn(u8) -> bool) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if is_plain(byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string never fails.
            let _ = write!(encoded, "%{byte:02x}");
        }
    }
    encoded
}

const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

fn is_uri_byte(byte: u8) -> bool {
    is_unreserved(byte) || b":/?#[]@!$&()*+,;=".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Engine;

    #[test]
    fn templates_of_level_1_are_expanded() {
        for (template, provider, expected) in [
            (
                "h.test/{namespace}/{type}",
                "acme/anvil",
                "h.test/acme/anvil",
            ),
            (
                "h.test:5000/{hostname}/{type}",
                "acme/anvil",
                "h.test:5000/registry.opentofu.org/anvil",
            ),
            ("h.test/x", "acme/anvil", "h.test/x"),
            ("h.test/{unknown}x/{type}", "acme/anvil", "h.test/x/anvil"),
            ("{namespace}.test/{type}", "acme/anvil", "acme.test/anvil"),
            (
                "h.test",
                "acme/anvil",
                "`h.test` has no repository name after the registry",
            ),
            (
                "h.test/{hostname}",
                "r.test:8080/acme/anvil",
                "`r.test%3a8080` is not a valid repository name: it must consist of lower-case letters, digits, separators and slashes",
            ),
            (
                "h.test/é{type}",
                "acme/anvil",
                "`%c3%a9anvil` is not a valid repository name: it must consist of lower-case letters, digits, separators and slashes",
            ),
            (
                "h.test/a b{type}",
                "acme/anvil",
                "` ` is not allowed outside of braces",
            ),
            (
                "h.test/{type}\\",
                "acme/anvil",
                "`\\` is not allowed outside of braces",
            ),
            ("h.test/{type", "acme/anvil", "a brace is unmatched"),
            ("h.test/type}", "acme/anvil", "a brace is unmatched"),
            (
                "h.test/{}",
                "acme/anvil",
                "`{}` is not a variable: only names such as `{namespace}` are allowed in braces",
            ),
            (
                "h.test/{+type}",
                "acme/anvil",
                "`{+type}` is not a variable: only names such as `{namespace}` are allowed in braces",
            ),
            (
                "h.test/{namespace,type}",
                "acme/anvil",
                "`{namespace,type}` is not a variable: only names such as `{namespace}` are allowed in braces",
            ),
            (
                "h.test/{a.b}{type}",
                "acme/anvil",
                "`{a.b}` is not a variable: only names such as `{namespace}` are allowed in braces",
            ),
            ("h.test/{a_b}{%61}{type}", "acme/anvil", "h.test/anvil"),
            (
                "h.test/%zz",
                "acme/anvil",
                "`%` is not followed by two hexadecimal digits",
            ),
        ] {
            let provider = ProviderAddr::parse(provider, Engine::Tofu).unwrap();
            let found =
                match UriTemplate::parse(template).map(|template| template.expand(&provider)) {
                    Ok(Ok(address)) => address.to_string(),
                    Ok(Err(error)) => error.to_string(),
                    Err(error) => error.to_string(),
                };
            assert_eq!(found, expected, "{template}");
        }
    }
}
