//! Repositories in OCI registries, as sources of providers and modules.
//!
//! | file | content |
//! | --- | --- |
//! | `repository` | requests for tags, manifests and blobs, and what is checked before their content is used |
//! | `authorization` | reactions to challenges: tokens, and which server gets which credentials |
//! | `credentials` | where the credentials for a repository come from |
//! | `mirror` | a provider mirror: versions are tags, packages are layers |
//! | `push` | uploads of blobs and manifests |
//! | `mirror_writer` | adds packages to a provider mirror |

mod authorization;
mod credentials;
mod mirror;
mod mirror_writer;
mod push;
mod repository;

pub use credentials::OciSettings;
pub use mirror::{OciMirror, OciPackage, RepositoryMapping};
pub use mirror_writer::OciMirrorWriter;
pub use repository::{OciManifestBody, OciRepository};

pub(super) use repository::OciState;
