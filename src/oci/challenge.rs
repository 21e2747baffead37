//! `WWW-Authenticate` headers: how a registry wants to be authenticated.

/// A challenge of a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OciChallenge {
    Basic,
    /// The registry requires a token, which the server at `realm` issues.
    Bearer {
        realm: String,
        service: Option<String>,
        /// The scopes that the request requires, separated by spaces.
        scope: Option<String>,
    },
}

impl OciChallenge {
    /// Parses a header with one challenge. `None` for other schemes, and for a `Bearer` challenge without a realm.
    pub fn parse(header: &str) -> Option<Self> {
        let (scheme, rest) = token(header);
        if scheme.eq_ignore_ascii_case("basic") {
            return Some(Self::Basic);
        }
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let (mut realm, mut service, mut scope) = (None, None, None);
        let mut rest = rest;
        while let Some((name, value, next)) = parameter(rest) {
            match name {
                "realm" => realm = Some(value),
                "service" => service = Some(value),
                "scope" => scope = Some(value),
                _ => {}
            }
            rest = next;
        }
        Some(Self::Bearer {
            realm: realm.filter(|realm| !realm.is_empty())?,
            service,
            scope,
        })
    }
}

/// Parses `NAME=VALUE` or `NAME="VALUE"` at the start of the text. Returns the name, the value, and the text after the following comma.
fn parameter(text: &str) -> Option<(&str, String, &str)> {
    let (name, rest) = token(text.trim_start());
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    if name.is_empty() {
        return None;
    }
    let (value, rest) = if let Some(rest) = rest.strip_prefix('"') {
        quoted(rest)?
    } else {
        let (value, rest) = token(rest);
        (value.to_owned(), rest)
    };
    let rest = rest.trim_start();
    Some((name, value, rest.strip_prefix(',').unwrap_or_default()))
}

/// Returns the text up to the closing quote, with escapes decoded, and the rest.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(characters.next()?.1),
            other => value.push(other),
        }
    }
    None
}

/// Splits off the longest prefix that is a token in the syntax of HTTP headers.
fn token(text: &str) -> (&str, &str) {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges() {
        for (header, expected) in [
            (r#"Basic realm="x""#, Some("basic")),
            ("BASIC", Some("basic")),
            (
                r#"Bearer realm="https://a/t",service="s",scope="repository:x:pull""#,
                Some("https://a/t|s|repository:x:pull"),
            ),
            (
                r#"bearer  service = s , realm="https://a/\"t", error="x,y""#,
                Some("https://a/\"t|s|"),
            ),
            (r#"Bearer realm="https://a/t" x"#, Some("https://a/t||")),
            (r#"Bearer realm="https://a/t"#, None),
            (r#"Bearer realm="""#, None),
            ("Bearer", None),
            ("Negotiate x", None),
            ("", None),
        ] {
            let found = OciChallenge::parse(header).map(|challenge| match challenge {
                OciChallenge::Basic => "basic".to_owned(),
                OciChallenge::Bearer {
                    realm,
                    service,
                    scope,
                } => {
                    format!(
                        "{realm}|{}|{}",
                        service.unwrap_or_default(),
                        scope.unwrap_or_default()
                    )
                }
            });
            assert_eq!(found.as_deref(), expected, "{header}");
        }
    }
}
