//! A registry, a network mirror and an OCI mirror, and a complete run of `lock` against them: discovery, versions, description, checksum list,
//! signature, package, hashes and the new entry.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::json;
use tflock::locking::{
    EngineSource, LockJob, Mismatch, Missing, Packages, Policy, SignerRules, Trust, Upgrade,
    lock_directory,
};
use tflock::provider::{Engine, Hash, Platform, ProviderAddr, Requirements, VersionConstraints};
use tflock::registry::{PackageSource, Pause, RegistryClient, RegistrySettings, Roots};
use tflock::reporter;
use tflock_test_support::{
    Document, FakeOciRegistry, FakeRegistry, Misbehave, OciAccess, ProviderSpec, TestAuthority,
    error_chain,
};

/// The kind of request that receives a faulty response.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RequestKind {
    Discovery,
    Versions,
    Download,
    List,
    Signature,
    Package,
    /// A mirror's `index.json`.
    Index,
    /// A mirror's `VERSION.json`.
    Archives,
    /// A token for an OCI registry.
    Token,
    /// An OCI mirror's list of tags.
    Tags,
    /// The index manifest of a version in an OCI mirror.
    Manifest,
    /// The manifest of a platform in an OCI mirror.
    Target,
    /// A package in an OCI mirror.
    Blob,
}

pub(super) const KINDS: [RequestKind; 13] = [
    RequestKind::Discovery,
    RequestKind::Versions,
    RequestKind::Download,
    RequestKind::List,
    RequestKind::Signature,
    RequestKind::Package,
    RequestKind::Index,
    RequestKind::Archives,
    RequestKind::Token,
    RequestKind::Tags,
    RequestKind::Manifest,
    RequestKind::Target,
    RequestKind::Blob,
];

impl RequestKind {
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Discovery => "/.well-known/terraform.json",
            Self::Versions => "*/versions",
            Self::Download => "*/download/linux/amd64",
            Self::List => "*_SHA256SUMS",
            Self::Signature => "*_SHA256SUMS.sig",
            Self::Package => "*_linux_amd64.zip",
            Self::Index => "/mirror/*/index.json",
            Self::Archives => "/mirror/*/1.0.0.json",
            Self::Token => "/token",
            Self::Tags => "*/tags/list",
            Self::Manifest => "*/manifests/1.0.0",
            Self::Target => "*/manifests/sha256:*",
            Self::Blob => "*/blobs/*",
        }
    }

    /// Returns whether `word` is the name of this kind in a table.
    pub(super) fn is(self, word: &str) -> bool {
        format!("{self:?}").eq_ignore_ascii_case(word)
    }

    const fn is_of_mirror(self) -> bool {
        matches!(self, Self::Index | Self::Archives)
    }

    const fn is_of_oci(self) -> bool {
        matches!(
            self,
            Self::Token | Self::Tags | Self::Manifest | Self::Target | Self::Blob
        )
    }

    /// Whether the responses are the packages themselves.
    pub(super) const fn is_package(self) -> bool {
        matches!(self, Self::Package | Self::Blob)
    }
}

/// The timeout for each request and for a stalled response. Loopback is much faster, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(4);

/// The number of retries. It is low because each retry takes a whole timeout if the server does not respond.
const RETRIES: u32 = 1;

const NAME: &str = "acme/ledger";

/// A waiter that skips the pauses between attempts.
struct NoWaits;

impl Pause for NoWaits {
    fn pause(&self, _: Duration) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(std::future::ready(()))
    }
}

pub(super) struct LockedSite {
    registry: FakeRegistry,
    /// Has the same package, and requires a token.
    oci: FakeOciRegistry,
    client: RegistryClient,
    host: String,
}

impl LockedSite {
    pub(super) fn start(authority: &TestAuthority) -> Self {
        let mut registry = FakeRegistry::start();
        let host = registry.serve_tls(authority);
        let spec = ProviderSpec::new(NAME)
            .hosts([host.as_str()])
            .platforms(["linux_amd64"])
            .payload(20_000)
            .relative_urls();
        let oci = FakeOciRegistry::start(authority);
        oci.publish(NAME, &spec);
        oci.require(OciAccess::AnonymousToken);
        registry.publish(spec);
        let mirror = format!("/mirror/{host}/{NAME}");
        let package = format!(
            "/{host}/files/{NAME}/1.0.0/{}",
            registry.package(NAME, "1.0.0", "linux_amd64").filename
        );
        let archive =
            json!({"url": package, "hashes": [registry.package(NAME, "1.0.0", "linux_amd64").zh]});
        registry.serve(
            &format!("{mirror}/index.json"),
            Document::json(&json!({"versions": {"1.0.0": {}}})),
        );
        registry.serve(
            &format!("{mirror}/1.0.0.json"),
            Document::json(&json!({"archives": {"linux_amd64": archive}})),
        );
        Self {
            registry,
            oci,
            client: client(authority),
            host,
        }
    }

    /// Adds a rule for faulty responses to this kind of request.
    pub(super) fn misbehave(&self, kind: RequestKind, rule: Misbehave) {
        if kind.is_of_oci() {
            self.oci.misbehave(rule);
        } else {
            self.registry.misbehave(rule);
        }
    }

    /// Locks the provider. Returns `locked`, or the error and its causes in one line. Panics if the recorded hashes are
    /// incorrect.
    pub(super) async fn lock(&self, kind: RequestKind) -> String {
        let packages = if kind.is_of_mirror() {
            PackageSource::network(
                self.client.clone(),
                &format!("https://{}/mirror/", self.host),
            )
            .unwrap()
        } else if kind.is_of_oci() {
            let template = format!("{}/{{namespace}}/{{type}}", self.oci.host());
            PackageSource::oci(self.client.clone(), &template).unwrap()
        } else {
            PackageSource::registry(self.client.clone())
        };
        let client = self.client.clone();
        let sources = BTreeMap::from([(Engine::Tofu, EngineSource { packages, client })]);
        let packages = Packages::new(
            sources,
            reporter::silent(),
            Trust::default(),
            SystemTime::now(),
            8,
        );
        match lock_directory(&self.job(), &policy(), &packages).await {
            Ok(outcome) => {
                let hashes: BTreeSet<String> = outcome.locks.providers[&self.address()]
                    .hashes
                    .iter()
                    .map(Hash::to_string)
                    .collect();
                assert_eq!(hashes, self.right_hashes(kind), "{kind:?}");
                "locked".to_owned()
            }
            Err(errors) => error_chain(&errors[0]),
        }
    }

    fn right_hashes(&self, kind: RequestKind) -> BTreeSet<String> {
        let facts = self.registry.package(NAME, "1.0.0", "linux_amd64");
        let mut hashes = BTreeSet::from([facts.h1.clone(), facts.zh.clone()]);
        if !kind.is_of_mirror() && !kind.is_of_oci() {
            hashes.insert(FakeRegistry::manifest_zh());
        }
        hashes
    }

    fn address(&self) -> ProviderAddr {
        ProviderAddr::parse(&format!("{}/{NAME}", self.host), Engine::Tofu).unwrap()
    }

    fn job(&self) -> LockJob {
        let mut requirements = Requirements::default();
        requirements.require(self.address(), &VersionConstraints::default(), None);
        LockJob {
            engine: Engine::Tofu,
            requirements: Arc::new(requirements),
            complete: true,
            lock_only: false,
            is_unit: false,
            old: Arc::default(),
            modules: None,
            places: BTreeMap::new(),
        }
    }
}

/// Creates a client that trusts the authority, connects to this machine only, and does not pause between attempts. It
/// uses OpenTofu's rules, under which discovery obeys the timeout.
fn client(authority: &TestAuthority) -> RegistryClient {
    let mut settings = RegistrySettings::new(Engine::Tofu);
    settings.http.use_system_proxy = false;
    settings.http.pause = Arc::new(NoWaits);
    settings.http.roots = Roots::Only(std::fs::read(authority.certificate_file()).unwrap());
    settings.http.stall_timeout = PATIENCE;
    settings.request_timeout = Some(PATIENCE);
    settings.retries = Some(RETRIES);
    settings.download_retries = Some(RETRIES);
    RegistryClient::new(settings, reporter::silent()).unwrap()
}

fn policy() -> Policy {
    Policy {
        platforms: vec![Platform::parse("linux_amd64").unwrap()],
        platforms_defaulted: false,
        upgrade: Upgrade::None,
        providers: Vec::new(),
        prune: false,
        mismatch: Mismatch::Error,
        missing_platform: Missing::Error,
        min_age: None,
        signers: SignerRules::default(),
    }
}
