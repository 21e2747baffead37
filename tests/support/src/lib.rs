//! Helpers for tflock's tests, benchmarks and demo.
//!
//! - [`FakeRegistry`]: a provider registry on loopback with signed packages, a request log and faulty responses.
//! - [`FakeOciRegistry`]: an OCI registry on loopback.
//! - [`ProviderSpec`]: a provider to publish. [`TestSigner`], [`GpgHome`]: who signs it.
//! - [`RawZip`]: archives that are written field by field, including invalid ones.
//! - [`TestContext`]: a temporary tree in which `tflock`, `terraform` and `tofu` are run.
//! - [`table`]: test cases, one per line. [`git`]: prepares repositories for tests.
//!
//! Nothing here uses tflock's code: hashes, archives and responses are computed independently, so that tests can
//! compare the results. Contents are derived from seeds, and timestamps are fixed. Therefore the same input always
//! yields the same bytes, and recorded lock files remain valid.

mod archive;
mod context;
mod document;
mod fixture;
mod git;
mod glob;
mod gpg;
mod hash;
mod http;
mod key;
mod oci;
mod payload;
mod program;
mod provider;
mod raw_zip;
mod registry;
mod release;
mod schema;
mod tls;
mod tool;

pub use archive::{ArchiveFacts, ArchiveWriter};
pub use context::TestContext;
pub use document::{Document, ResponseBody};
pub use fixture::{
    assert_contains, assert_ends, assert_recorded, assert_starts, error_chain, is_recording,
    multiline, table,
};
pub use git::{git, git_commit_all, git_with_input};
pub use gpg::GpgHome;
pub use hash::{h1, sha256_hex};
pub use http::{Hit, Log, Misbehave, ReceivedRequest, Response};
pub use key::TestSigner;
pub use oci::{FakeOciRegistry, OCI_PASSWORD, OCI_USER, OciAccess, OciObject};
pub use payload::Payload;
pub use program::{Outcome, Program, RunCost, check_rows, wait_until};
pub use provider::{DEFAULT_HOSTS, DEFAULT_PLATFORMS, ProviderSpec};
pub use raw_zip::{Descriptor, RawEntry, RawZip};
pub use registry::FakeRegistry;
pub use release::{MANIFEST, PackageFacts};
pub use schema::assert_described;
pub use tls::{Identity, IssuedCertificate, TestAuthority, TlsRegistry};
#[cfg(unix)]
pub use tool::{make_pipe, send_signal, write_script};
pub use tool::{require_or_skip, skip, terraform_on_path, tofu_on_path};
