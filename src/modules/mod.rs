//! Fetches remote modules without `init`: turns a module source into a directory.
//!
//! | step | file |
//! | --- | --- |
//! | a registry module is resolved to a version and an address | `versions` |
//! | the address is parsed; a web page may redirect to a different address | `address`, `resolve` |
//! | the package is fetched: a repository, an archive, a directory of objects, a layer in an OCI registry, or a local directory | `obtain`, `repository`, `git`, `mercurial`, `objects`, `oci`, `archive`, `tar`, `decompression`, `checksum`, `checksum_list` |
//! | the package is stored in the disk cache or in a temporary directory | `module_store`, `run_directory` |
//! | the subdirectory of the module is located in the package | `subdirectory` |
//! | the versions that a root module used are recorded for the report | `chosen_versions` |
//!
//! An untrusted pull request can control module sources. Git and Mercurial are limited to three protocols, run without prompts or hooks, and get few
//! environment variables; archives and repositories cannot create or name files outside their directory (`links`); an untrusted
//! configuration is confined to allowed hosts and its own repository (`confinement`); and every download has a size limit.

mod address;
mod archive;
mod checksum;
mod checksum_list;
mod chosen_versions;
mod confinement;
mod decompression;
mod error;
mod error_hint;
mod fetcher;
mod git;
mod links;
mod mercurial;
mod module_store;
mod objects;
mod obtain;
mod oci;
mod repository;
mod resolve;
mod run_directory;
mod subdirectory;
mod tar;
mod versions;

pub use archive::MAX_ARCHIVE_BYTES;
pub use error::{FetchStep, ModuleError, ModuleLimit, ObjectFault};
pub use fetcher::Fetcher;
pub use repository::{
    MAX_REPOSITORY_BYTES, MAX_REPOSITORY_ENTRIES, MAX_SUBMODULES, VersionControl,
};

// The submodules import these items from here.
use address::{ArchiveKind, ArchivePackage, ModulePackage, RemoteAddress};
use checksum::{Checksum, ChecksumSource};
use error::disk;
use module_store::ModuleStore;
use repository::RepositoryPackage;
