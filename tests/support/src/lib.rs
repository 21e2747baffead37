//! What tflock's tests, benches and demo share.
//!
//! - [`FakeRegistry`]: a provider registry on loopback with signed packages, request log and misbehaviour.
//! - [`ProviderSpec`]: one provider to publish; [`SigningKey`], [`GpgHome`]: who signs it.
//! - [`RawZip`]: archives written byte by byte, for what no zip library would write.
//! - [`TestContext`]: a temporary tree, and `tflock`, `terraform` and `tofu` run in it.
//! - [`table`]: test cases, one per line; [`git`]: repositories to test with.
//!
//! Nothing here uses the product's code: hashes, archives and answers are made independently, so that a test
//! compares two opinions. Same input, same bytes: contents come from seeds and time stamps are fixed, which is
//! why lock files recorded once stay right.

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
mod payload;
mod program;
mod provider;
mod raw_zip;
mod registry;
mod release;
mod schema;
mod tls;
mod tool;

pub use archive::{Archive, ArchiveWriter};
pub use context::TestContext;
pub use document::{Body, Document};
pub use fixture::{assert_contains, multiline, table};
pub use git::{git, git_with_input};
pub use gpg::GpgHome;
pub use hash::{h1, sha256_hex};
pub use http::{Hit, Log, Misbehave, Request, Response};
pub use key::SigningKey;
pub use payload::Payload;
pub use program::{Cost, Outcome, Program};
pub use provider::{DEFAULT_PLATFORMS, ProviderSpec};
pub use raw_zip::{Descriptor, RawEntry, RawZip};
pub use registry::FakeRegistry;
pub use release::{MANIFEST, PackageFacts};
pub use schema::assert_described;
pub use tls::TestAuthority;
pub use tool::{require_or_skip, skip, terraform_on_path, tofu_on_path};
