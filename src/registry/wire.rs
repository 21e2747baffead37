//! The JSON documents of registries and mirrors, and the rules for parsing them.
//!
//! Both engines parse JSON as Go does: field names are case-insensitive, `null` is treated as absent, and anything after the first
//! value is ignored. A byte order mark is an error.

use std::collections::BTreeMap;

use serde::de::value::MapDeserializer;
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny};
use serde_json::value::RawValue;

/// Parses the first JSON value of a body.
pub(super) fn read<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, serde_json::Error> {
    let mut values = serde_json::Deserializer::from_slice(body).into_iter();
    values
        .next()
        .unwrap_or_else(|| Err(serde_json::Error::custom("the body is empty")))
}

/// A structure whose field names are case-insensitive and whose `null` fields are treated as absent. If a name occurs in several
/// spellings, the one in lower case takes precedence.
#[derive(Debug, Default)]
pub(super) struct Fields<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Fields<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The map is sorted, so the lower-case spelling comes last and replaces the others.
        let written = BTreeMap::<String, &'de RawValue>::deserialize(deserializer)?;
        let present = written
            .into_iter()
            .filter(|(_, value)| value.get() != "null");
        let folded: BTreeMap<String, &RawValue> = present
            .map(|(name, value)| (name.to_lowercase(), value))
            .collect();
        let fields = MapDeserializer::<_, serde_json::Error>::new(folded.into_iter());
        T::deserialize(fields).map(Self).map_err(D::Error::custom)
    }
}

/// The response to `GET NAMESPACE/TYPE/versions`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct VersionList {
    pub(super) versions: Vec<Option<Fields<ListedVersion>>>,
    pub(super) warnings: Vec<Option<String>>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct ListedVersion {
    pub(super) version: String,
    pub(super) protocols: Vec<Option<String>>,
    pub(super) platforms: Vec<Option<Fields<ListedPlatform>>>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct ListedPlatform {
    pub(super) os: String,
    pub(super) arch: String,
}

/// The response to `GET NAMESPACE/TYPE/VERSION/download/OS/ARCH`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct PackageDescription<'a> {
    pub(super) protocols: Vec<Option<String>>,
    pub(super) os: String,
    pub(super) arch: String,
    pub(super) filename: String,
    pub(super) download_url: String,
    pub(super) shasum: String,
    pub(super) shasums_url: String,
    pub(super) shasums_signature_url: String,
    pub(super) signing_keys: Fields<SigningKeys>,
    /// OpenTofu's extension. It is parsed later and only for OpenTofu, because Terraform ignores it.
    #[serde(borrow)]
    pub(super) packages: Option<&'a RawValue>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct SigningKeys {
    pub(super) gpg_public_keys: Vec<Option<Fields<PublicKey>>>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct PublicKey {
    pub(super) ascii_armor: String,
    /// Terraform requires a string. OpenTofu ignores the value, whatever its type.
    pub(super) trust_signature: serde_json::Value,
}

/// An entry of OpenTofu's `packages` field.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct ReportedEntry {
    pub(super) hashes: Vec<Option<String>>,
    pub(super) package_size: i64,
}

/// The response to `GET NAMESPACE/NAME/SYSTEM/versions` of a module registry.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct ModuleList {
    pub(super) modules: Vec<Option<Fields<ListedModule>>>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct ListedModule {
    pub(super) versions: Vec<Option<Fields<ListedModuleVersion>>>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct ListedModuleVersion {
    pub(super) version: String,
}

/// The body of the response to `GET NAMESPACE/NAME/SYSTEM/VERSION/download` of a module registry.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct ModuleDownload {
    pub(super) location: String,
}

/// A network mirror's `index.json`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct MirrorIndex {
    /// The protocol does not define fields for these objects yet.
    pub(super) versions: BTreeMap<String, Option<Fields<IgnoredAny>>>,
}

/// A network mirror's `VERSION.json`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct MirrorArchives {
    pub(super) archives: BTreeMap<String, Option<Fields<MirrorArchive>>>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct MirrorArchive {
    pub(super) url: String,
    pub(super) hashes: Vec<Option<String>>,
}

/// The response of a server that issues tokens for OCI registries.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct TokenAnswer {
    pub(super) token: String,
    pub(super) access_token: String,
}

/// Returns the strings in a list; `null` becomes an empty string.
pub(super) fn strings(list: Vec<Option<String>>) -> Vec<String> {
    list.into_iter().map(Option::unwrap_or_default).collect()
}
