//! The formats of OCI registries: names of repositories, manifests, authentication challenges, and files with credentials.
//!
//! OpenTofu stores providers and modules as OCI artifacts (see docs/rules/oci.md):
//!
//! ```text
//! tag 1.0.0 -> index manifest -> one manifest per platform -> one layer: the zip of the provider
//! tag 1.0.0 -> manifest -> one layer: the zip of the module
//! ```
//!
//! This module sends no requests; [`crate::registry`] does.

mod address;
mod artifact_writer;
mod auth_file;
mod challenge;
mod credential;
mod digest;
mod manifest;
mod problem;
mod uri_template;

pub use address::{
    RepositoryAddress, RepositoryAddressError, RepositoryPrefix, is_tag, version_tag,
};
pub use artifact_writer::{EMPTY_CONFIG, OciTarget, add_targets, target_manifest};
pub use auth_file::AuthFile;
pub use challenge::OciChallenge;
pub use credential::{CredentialMatch, CredentialSource, OciCredential, Specificity};
pub use digest::{DigestAlgorithm, OciDigest};
pub use manifest::{
    IMAGE_INDEX, IMAGE_MANIFEST, MODULE_ARTIFACT, OciDescriptor, OciIndex, OciManifest,
    OciPlatform, PROVIDER_ARTIFACT, TARGET_ARTIFACT, ZIP_LAYER,
};
pub use problem::OciProblem;
pub use uri_template::{UriTemplate, UriTemplateError};
