//! Manifests: which layer of an artifact is the package.
//!
//! Manifests may contain entries that OpenTofu does not define. tflock skips them. An index refers only to manifests and never to
//! another index, so references cannot form a cycle.

use serde::Deserialize;

use crate::oci::{OciDigest, OciProblem};
use crate::provider::Platform;

pub const IMAGE_INDEX: &str = "application/vnd.oci.image.index.v1+json";
pub const IMAGE_MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// The artifact type of the index manifest of a provider version.
pub const PROVIDER_ARTIFACT: &str = "application/vnd.opentofu.provider";

/// The artifact type of the manifest of a provider package for one platform.
pub const TARGET_ARTIFACT: &str = "application/vnd.opentofu.provider-target";

/// The artifact type of the manifest of a module package.
pub const MODULE_ARTIFACT: &str = "application/vnd.opentofu.modulepkg";

/// The media type of the layer that is a package.
pub const ZIP_LAYER: &str = "archive/zip";

/// A reference to a manifest or layer. Missing strings are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct OciDescriptor {
    #[serde(deserialize_with = "or_empty")]
    pub media_type: String,
    #[serde(deserialize_with = "or_empty")]
    pub artifact_type: String,
    #[serde(deserialize_with = "or_empty")]
    pub digest: String,
    pub size: u64,
    pub platform: Option<OciPlatform>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct OciPlatform {
    #[serde(deserialize_with = "or_empty")]
    pub os: String,
    #[serde(deserialize_with = "or_empty")]
    pub architecture: String,
    #[serde(rename = "os.version", deserialize_with = "or_empty")]
    pub os_version: String,
}

/// An index manifest: the manifests of one version for several platforms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct OciIndex {
    #[serde(deserialize_with = "or_empty")]
    pub media_type: String,
    #[serde(deserialize_with = "or_empty")]
    pub artifact_type: String,
    #[serde(deserialize_with = "or_empty")]
    pub manifests: Vec<OciDescriptor>,
}

/// A manifest: the layers of an artifact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct OciManifest {
    #[serde(deserialize_with = "or_empty")]
    pub media_type: String,
    #[serde(deserialize_with = "or_empty")]
    pub artifact_type: String,
    #[serde(deserialize_with = "or_empty")]
    pub layers: Vec<OciDescriptor>,
}

/// Treats `null` as absent, as Go does.
fn or_empty<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Default + Deserialize<'de>,
    D: serde::Deserializer<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl OciDescriptor {
    pub fn digest(&self) -> Result<OciDigest, OciProblem> {
        let digest = OciDigest::parse(&self.digest);
        digest.ok_or_else(|| OciProblem::InvalidDigest(self.digest.clone()))
    }

    /// Returns the platform of the package to which this descriptor refers. `None` if it does not refer to a provider package.
    pub fn target_platform(&self) -> Option<Platform> {
        let platform = self.platform.as_ref()?.platform()?;
        (self.artifact_type == TARGET_ARTIFACT).then_some(platform)
    }
}

impl OciPlatform {
    /// Returns the platform, or `None` if it is limited to a version of the operating system.
    fn platform(&self) -> Option<Platform> {
        self.os_version.is_empty().then(|| Platform {
            os: self.os.clone(),
            arch: self.architecture.clone(),
        })
    }
}

impl OciIndex {
    /// Parses the index manifest of a provider version.
    pub fn parse_provider(body: &[u8]) -> Result<Self, OciProblem> {
        let index: Self = parse(body)?;
        check_types(
            (&index.media_type, IMAGE_INDEX),
            (&index.artifact_type, PROVIDER_ARTIFACT),
        )?;
        Ok(index)
    }

    /// Returns the platforms that have a package.
    pub fn platforms(&self) -> impl Iterator<Item = Platform> {
        let targets = self.manifests.iter();
        targets.filter_map(OciDescriptor::target_platform)
    }

    /// Returns the manifest for a platform, or `None` if all manifests are for other platforms.
    pub fn target(&self, wanted: &Platform) -> Result<Option<&OciDescriptor>, OciProblem> {
        let mut found = None;
        let mut has_targets = false;
        for target in &self.manifests {
            if target.artifact_type != TARGET_ARTIFACT {
                continue;
            }
            check_media_type(&target.media_type, IMAGE_MANIFEST)?;
            let platform = target.platform.as_ref().ok_or(OciProblem::NoPlatform)?;
            has_targets = true;
            if platform.platform().as_ref() != Some(wanted) {
                continue;
            }
            if found.replace(target).is_some() {
                return Err(OciProblem::SeveralTargets(wanted.to_string()));
            }
        }
        if has_targets {
            Ok(found)
        } else {
            Err(OciProblem::NoTargets)
        }
    }
}

impl OciManifest {
    /// Parses the manifest of an artifact of this type.
    pub fn parse(body: &[u8], artifact_type: &'static str) -> Result<Self, OciProblem> {
        let manifest: Self = parse(body)?;
        check_types(
            (&manifest.media_type, IMAGE_MANIFEST),
            (&manifest.artifact_type, artifact_type),
        )?;
        Ok(manifest)
    }

    /// Returns the only layer that is a zip.
    pub fn zip_layer(&self) -> Result<&OciDescriptor, OciProblem> {
        let mut zips = self.layers.iter();
        let mut next = || zips.find(|layer| layer.media_type == ZIP_LAYER);
        match (next(), next()) {
            (None, _) => Err(OciProblem::NoLayer(ZIP_LAYER)),
            (Some(layer), None) => Ok(layer),
            (Some(_), Some(_)) => Err(OciProblem::SeveralLayers(ZIP_LAYER)),
        }
    }

    /// Returns the zip of a provider package. The layer need not name a platform, but if it does, the platform must match.
    pub fn provider_zip(&self, wanted: &Platform) -> Result<&OciDescriptor, OciProblem> {
        let layer = self.zip_layer()?;
        if let Some(OciPlatform {
            os, architecture, ..
        }) = &layer.platform
            && (*os != wanted.os || *architecture != wanted.arch)
        {
            return Err(OciProblem::LayerPlatform(format!("{os}_{architecture}")));
        }
        Ok(layer)
    }
}

pub(super) fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, OciProblem> {
    serde_json::from_slice(body).map_err(|error| OciProblem::Manifest(error.to_string()))
}

fn check_types(
    (media_type, expected_media): (&str, &'static str),
    (artifact_type, expected): (&str, &'static str),
) -> Result<(), OciProblem> {
    check_media_type(media_type, expected_media)?;
    if artifact_type == expected {
        return Ok(());
    }
    Err(OciProblem::ArtifactType {
        found: artifact_type.to_owned(),
        expected,
    })
}

fn check_media_type(found: &str, expected: &'static str) -> Result<(), OciProblem> {
    if found == expected {
        return Ok(());
    }
    Err(OciProblem::MediaType {
        found: found.to_owned(),
        expected,
    })
}
