//! Writes the manifests of provider packages; see sections 2 and 4 of docs/rules/oci.md.

use std::collections::BTreeMap;

use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::oci::manifest::parse;
use crate::oci::{
    IMAGE_INDEX, IMAGE_MANIFEST, OciDescriptor, OciDigest, OciIndex, OciProblem, PROVIDER_ARTIFACT,
    TARGET_ARTIFACT, ZIP_LAYER,
};
use crate::provider::Platform;

/// The empty config blob. Manifests require a config, but provider packages have none.
pub const EMPTY_CONFIG: &[u8] = b"{}";

/// The media type of [`EMPTY_CONFIG`].
const EMPTY_TYPE: &str = "application/vnd.oci.empty.v1+json";

/// A manifest of a package for one platform, to which an index manifest can refer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OciTarget {
    pub digest: OciDigest,
    /// The size of the manifest in bytes.
    pub size: u64,
    /// Whether this target replaces a different entry for the same platform.
    pub replaces: bool,
}

/// Renders the manifest of a package: a zip of `size` bytes.
pub fn target_manifest(zip: &OciDigest, size: u64) -> Vec<u8> {
    let config = OciDigest::sha256_of(EMPTY_CONFIG);
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": IMAGE_MANIFEST,
        "artifactType": TARGET_ARTIFACT,
        "config": {
            "mediaType": EMPTY_TYPE,
            "digest": config.to_string(),
            "size": EMPTY_CONFIG.len(),
        },
        "layers": [{ "mediaType": ZIP_LAYER, "digest": zip.to_string(), "size": size }],
    });
    manifest.to_string().into_bytes()
}

/// Adds targets to the index manifest of a version, or creates the manifest if `index` is `None`. Keeps other entries, such as
/// signatures. `None` if the index manifest needs no change.
pub fn add_targets(
    index: Option<&[u8]>,
    targets: &BTreeMap<Platform, OciTarget>,
) -> Result<Option<Vec<u8>>, OciProblem> {
    let mut index: Value = match index {
        Some(body) => {
            OciIndex::parse_provider(body)?;
            parse(body)?
        }
        None => json!({
            "schemaVersion": 2,
            "mediaType": IMAGE_INDEX,
            "artifactType": PROVIDER_ARTIFACT,
        }),
    };
    let mut packages = BTreeMap::new();
    let mut others = Vec::new();
    let entries = match index["manifests"].take() {
        Value::Array(entries) => entries,
        _ => Vec::new(),
    };
    for entry in entries {
        let descriptor = OciDescriptor::deserialize(&entry).unwrap_or_default();
        match descriptor.target_platform() {
            Some(platform) => drop(packages.insert(platform, entry)),
            None => others.push(entry),
        }
    }
    let mut is_changed = false;
    for (platform, target) in targets {
        let digest = target.digest.to_string();
        let is_right = match packages.get(platform) {
            Some(entry) => !target.replaces || entry["digest"] == digest,
            None => false,
        };
        if is_right {
            continue;
        }
        is_changed = true;
        let entry = json!({
            "mediaType": IMAGE_MANIFEST,
            "artifactType": TARGET_ARTIFACT,
            "digest": digest,
            "size": target.size,
            "platform": { "os": platform.os, "architecture": platform.arch },
        });
        packages.insert(platform.clone(), entry);
    }
    index["manifests"] = packages.into_values().chain(others).collect();
    Ok(is_changed.then(|| index.to_string().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Describes an index manifest as `PLATFORM=START OF DIGEST`, or `ARTIFACT TYPE` for other entries.
    fn describe(index: &[u8]) -> String {
        let index: Value = serde_json::from_slice(index).unwrap();
        let entries = index["manifests"].as_array().unwrap().iter();
        let words = entries.map(|entry| match &entry["platform"]["os"] {
            Value::String(os) => format!("{os}={}", &entry["digest"].as_str().unwrap()[7..10]),
            _ => entry["artifactType"].as_str().unwrap().to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    fn targets(spec: &str, replaces: bool) -> BTreeMap<Platform, OciTarget> {
        let target = |word: &str| {
            let (os, content) = word.split_once('=').unwrap();
            let target = OciTarget {
                digest: OciDigest::sha256_of(content.as_bytes()),
                size: 1,
                replaces,
            };
            (Platform::parse(&format!("{os}_amd64")).unwrap(), target)
        };
        spec.split_whitespace().map(target).collect()
    }

    #[test]
    fn targets_are_added_in_the_order_of_platforms() {
        let linux = add_targets(None, &targets("linux=a", true))
            .unwrap()
            .unwrap();
        assert_eq!(describe(&linux), "linux=ca9");
        let mut signed: Value = serde_json::from_slice(&linux).unwrap();
        let signature = json!({ "artifactType": "application/x-signature" });
        signed["manifests"]
            .as_array_mut()
            .unwrap()
            .insert(0, signature);
        signed["annotations"] = json!({ "a": "b" });
        let signed = signed.to_string().into_bytes();
        // targets, whether they replace others, index afterwards
        for (spec, replaces, expected) in [
            ("", true, ""),
            ("linux=a", true, ""),
            ("linux=b", false, ""),
            ("linux=b", true, "linux=3e2 application/x-signature"),
            (
                "linux=b darwin=c",
                false,
                "darwin=2e7 linux=ca9 application/x-signature",
            ),
            (
                "windows=b darwin=c",
                true,
                "darwin=2e7 linux=ca9 windows=3e2 application/x-signature",
            ),
        ] {
            let changed = add_targets(Some(&signed), &targets(spec, replaces)).unwrap();
            let found = changed.as_deref().map(describe).unwrap_or_default();
            assert_eq!(found, expected, "{spec}");
            if let Some(changed) = changed {
                assert!(
                    String::from_utf8(changed)
                        .unwrap()
                        .contains(r#""annotations":{"a":"b"}"#)
                );
            }
        }
    }

    #[test]
    fn other_artifacts_are_not_changed() {
        let image = json!({ "mediaType": IMAGE_INDEX, "artifactType": "x", "manifests": [] });
        let found = add_targets(
            Some(image.to_string().as_bytes()),
            &targets("linux=a", true),
        );
        let error = found.unwrap_err().to_string();
        assert_eq!(
            error,
            "its artifact type is `x`, not `application/vnd.opentofu.provider`"
        );
    }
}
