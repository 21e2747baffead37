//! Files with credentials, as Docker and Podman write them: `config.json` and `auth.json`.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use crate::oci::{CredentialMatch, CredentialSource, OciCredential, RepositoryPrefix, Specificity};

/// The content of a file. Other fields are ignored.
#[derive(Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[derive(Default)]
pub struct AuthFile {
    auths: Option<BTreeMap<String, Option<AuthEntry>>>,
    /// Names of helper programs by registry.
    cred_helpers: Option<BTreeMap<String, Option<String>>>,
    /// The name of the helper program for all other registries.
    creds_store: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AuthEntry {
    /// `username:password` in base64.
    auth: Option<String>,
}

impl AuthFile {
    pub fn parse(text: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(text)
    }

    /// Returns the credentials for a repository. `place` names the file in messages. Entries without credentials, such as those
    /// that `docker login` leaves if a helper stores them, are skipped.
    pub fn matches(&self, registry: &str, name: &str, place: &str) -> Vec<CredentialMatch> {
        let found = |specificity, source| CredentialMatch {
            specificity,
            source,
            place: place.to_owned(),
        };
        let auths = self.auths.iter().flatten();
        let mut matches: Vec<_> = auths
            .filter_map(|(prefix, entry)| {
                let prefix = RepositoryPrefix::parse(prefix).ok()?;
                let specificity = prefix.specificity(registry, name)?;
                let credential = entry.as_ref()?.credential()?;
                Some(found(specificity, CredentialSource::Fixed(credential)))
            })
            .collect();
        let is_set = |helper: &&String| !helper.is_empty();
        let helpers = self.cred_helpers.as_ref();
        let helper = helpers.and_then(|helpers| helpers.get(registry)?.as_ref());
        let helper = helper.filter(is_set).cloned().map(CredentialSource::Helper);
        matches.extend(helper.map(|source| found(Specificity::Registry, source)));
        let store = self.creds_store.as_ref().filter(is_set);
        let store = store.cloned().map(CredentialSource::Helper);
        matches.extend(store.map(|source| found(Specificity::Global, source)));
        matches
    }
}

impl AuthEntry {
    fn credential(&self) -> Option<OciCredential> {
        let decoded = STANDARD.decode(self.auth.as_ref()?).ok()?;
        let text = String::from_utf8(decoded).ok()?;
        let (username, password) = text.split_once(':')?;
        Some(OciCredential::Password {
            username: username.to_owned(),
            password: password.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Describes the best match for the repository `h.test/a/b`.
    fn best(text: &str) -> String {
        let file = AuthFile::parse(text.as_bytes()).unwrap();
        match CredentialMatch::best(file.matches("h.test", "a/b", "f")).map(|best| best.source) {
            None => "none".to_owned(),
            Some(CredentialSource::Helper(name)) => format!("helper {name}"),
            Some(CredentialSource::Fixed(OciCredential::Password { username, password })) => {
                format!("{username} {password}")
            }
            Some(CredentialSource::Fixed(OciCredential::AccessToken(token))) => token,
        }
    }

    #[test]
    fn the_most_specific_entry_applies() {
        // `dTpw` is `u:p`, `djpxOnI=` is `v:q:r`, `dQ==` is `u`.
        for (text, expected) in [
            (r#"{"auths":{"h.test":{"auth":"dTpw"}}}"#, "u p"),
            (
                r#"{"auths":{"h.test":{"auth":"dTpw"},"h.test/a":{"auth":"djpxOnI="}}}"#,
                "v q:r",
            ),
            (
                r#"{"auths":{"h.test/a":{"auth":"dTpw"}},"credHelpers":{"h.test":"x"}}"#,
                "u p",
            ),
            (
                r#"{"auths":{"h.test":{"auth":"dTpw"}},"credHelpers":{"h.test":"x"}}"#,
                "u p",
            ),
            (
                r#"{"auths":{"h.test":{}},"credHelpers":{"h.test":"x"},"credsStore":"y"}"#,
                "helper x",
            ),
            (
                r#"{"auths":{"h.test":null,"h.test/a":{"auth":""}},"credsStore":"y"}"#,
                "helper y",
            ),
            (r#"{"auths":{"h.test":{"auth":"dQ=="}}}"#, "none"),
            (r#"{"auths":{"h.test":{"auth":"!"}}}"#, "none"),
            (
                r#"{"auths":{"https://h.test":{"auth":"dTpw"},"h.test/a/b/c":{"auth":"dTpw"}}}"#,
                "none",
            ),
            (
                r#"{"auths":null,"credHelpers":{"h.test":null},"credsStore":""}"#,
                "none",
            ),
            (r#"{"h.test":{"auth":"dTpw"},"HttpHeaders":{}}"#, "none"),
        ] {
            assert_eq!(best(text), expected, "{text}");
        }
        assert!(AuthFile::parse(b"[]x").is_err());
    }

    #[test]
    fn secrets_are_not_shown() {
        let credential = OciCredential::AccessToken("secret".to_owned());
        assert_eq!(format!("{credential:?}"), "OciCredential(redacted)");
    }
}
