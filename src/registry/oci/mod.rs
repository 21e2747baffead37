//! Repositories in OCI registries, as sources of providers and modules.
//!
//! | file | content |
//! | --- | --- |
//! | `repository` | requests for tags, manifests and blobs, and what is checked before their content is used |
//! | `authorization` | reactions to challenges: tokens, and which server gets which credentials |
//! | `credentials` | where the credentials for a repository come from |
//! | `mirror` | a provider mirror: versions are tags, packages are layers |

mod authorization;
mod credentials;
mod mirror;
mod repository;

pub use credentials::OciSettings;
pub use mirror::{OciMirror, OciPackage, RepositoryMapping};
pub use repository::{OciManifestBody, OciRepository};

pub(super) use repository::OciState;
