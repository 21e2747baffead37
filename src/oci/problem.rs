//! Reasons why an OCI artifact cannot be used.

use crate::oci::OciDigest;
use crate::redacted_url::RedactedUrl;

/// The maximum number of characters of a registry's text to show in a message.
const MAX_SHOWN: usize = 200;

/// The reason why an OCI artifact cannot be used or stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OciProblem {
    #[error("its artifact type is {}, not `{expected}`", shown(found))]
    ArtifactType {
        found: String,
        expected: &'static str,
    },
    #[error("its media type is {}, not `{expected}`", shown(found))]
    MediaType {
        found: String,
        expected: &'static str,
    },
    /// The JSON has the wrong structure.
    #[error("the manifest does not follow the specification: {0}")]
    Manifest(String),
    #[error("the manifest is too large: it has {size} bytes, and the limit is {limit} bytes")]
    TooLarge { size: u64, limit: u64 },
    #[error("the registry sent content with the digest `{found}`, not `{expected}`")]
    Digest {
        found: OciDigest,
        expected: OciDigest,
    },
    #[error("the registry sent {found} bytes, not {expected}")]
    Size { found: u64, expected: u64 },
    #[error("{} is not a valid digest of a supported algorithm", shown(.0))]
    InvalidDigest(String),
    #[error("its index manifest has a package entry without a platform")]
    NoPlatform,
    #[error("it has no manifests of provider packages")]
    NoTargets,
    #[error("it has several manifests for `{0}`")]
    SeveralTargets(String),
    #[error("its manifest has no layer of the media type `{0}`")]
    NoLayer(&'static str),
    #[error("its manifest has several layers of the media type `{0}`")]
    SeveralLayers(&'static str),
    #[error("its layer is for {}", shown(.0))]
    LayerPlatform(String),
    /// The list of tags continues on another server, or does not end.
    #[error("its list of tags {0}")]
    Tags(&'static str),
    /// The response to a request for an upload has no usable address.
    #[error("the registry accepted the upload request, but returned no upload address")]
    NoUpload,
    #[error("the registry returned an upload address on a different server: `{0}`")]
    UploadElsewhere(RedactedUrl),
    #[error("the registry stored `{found}` instead of `{expected}`")]
    Stored { found: String, expected: OciDigest },
    #[error("other processes changed its index manifest {0} times in a row")]
    Contended(usize),
}

/// Quotes a registry's text, shortened if it is long.
fn shown(text: &str) -> String {
    if text.is_empty() {
        return "missing".to_owned();
    }
    let start: String = text.chars().take(MAX_SHOWN).collect();
    let dots = if start.len() < text.len() { "..." } else { "" };
    format!("`{start}{dots}`")
}
