//! The registry client against a server whose responses are valid, unusual or invalid.
//!
//! The table shows which tests cover which rules for registries (docs/rules/registry.md: 1 discovery, 2 endpoints, 3
//! credentials, 6 OpenTofu). The rules on keys and lists in section 4 are tested in the package module. Unit tests are
//! listed with the path of their module.
//!
//! | section, row | test |
//! | --- | --- |
//! | 1 request: URL, `Accept`, credentials, once per host | `discovery::the_document_is_requested_once_with_the_hosts_token` |
//! | 1 200 and content types, 404, other statuses, size, BOM, text after the object | `discovery::answers` |
//! | 1 redirects: 3 (OpenTofu 9), other hosts, final URL | `discovery::redirects_*` |
//! | 1 four attempts, which failures are retried, waits, `Retry-After`, fixed numbers | `discovery::retries`, `discovery::waits` |
//! | 1 `providers.v1`: references, user info, query, trailing slash, null, `v2`, empty | `registry::discovery` |
//! | 1 `host` blocks: no request, unnamed services, relative values, labels | `discovery::host_blocks_replace_discovery`, `cli_config::merge` |
//! | 1 credentials depend on the host, not on the target | `credentials::tokens_go_to_the_right_hosts` |
//! | 2 versions: fields, case, null, BOM, text after, invalid and duplicate versions | `answers::version_lists`, `registry::metadata` |
//! | 2 versions: `warnings`, numbers beyond 64 bits | `registry::metadata` |
//! | 2 download: every field | `answers::descriptions` |
//! | 2 protocols and the suggested version | `answers::plugin_protocols`, `registry::metadata` |
//! | 2 statuses of versions, download, lists and signatures, packages | `answers::statuses`, `packages::statuses` |
//! | 2 redirects: 9, authorization for the same host only | `answers::redirects_are_followed_nine_times`, `credentials::tokens_go_to_the_right_hosts` |
//! | 2 retries: number, which errors, waits, `Retry-After` | `retries::*`, `registry::retry` |
//! | 2 timeout per request, none for packages | `retries::a_slow_document_times_out_and_is_retried`, `packages::a_package_may_take_its_time` |
//! | 2 package download retries (tflock: three, resumed) | `packages::*` |
//! | 2 headers: version, agent | `answers::requests_identify_the_client` |
//! | 2 certificates | `discovery::untrusted_certificates_are_refused` |
//! | 2 package: one GET, statuses, gzip, short body, user info, query, fragment | `packages::*` |
//! | 3 order of sources | `credentials::the_first_source_with_the_host_applies` |
//! | 3 `TF_TOKEN_*` | `registry::credentials` |
//! | 3 `credentials` blocks, `credentials.tfrc.json` | `cli_config::merge`, `cli_config::load` |
//! | 3 helper: command line, `{}`, failure, missing program, second block | `credentials::helper_*`, `cli_config::merge` |
//! | 3 which hosts receive tokens | `credentials::tokens_go_to_the_right_hosts` |
//! | 3 netrc: host with port, `default`, malformed, missing, engine | `packages::netrc_*`, `registry::netrc` |
//! | 5 each document is requested once | `answers::each_document_is_requested_once` |
//! | 6 `packages` | `registry::metadata`, `package::reported` |
//!
//! The next table does the same for mirrors (docs/rules/mirrors.md: sections 2, 3 and 5). Section 1 on recorded hashes
//! is covered by the tests of lock files.
//!
//! | section, row | test |
//! | --- | --- |
//! | 2 base URL: https, trailing slash | `mirrors::base_urls` |
//! | 2 documents, null archives, platforms | `mirrors::the_protocol`, `mirrors::content_types_and_bodies` |
//! | 2 host in ASCII with its port | `mirrors::hosts_are_written_in_ascii_with_their_port` |
//! | 2 content type | `mirrors::content_types_and_bodies` |
//! | 2 `url` against the final URL, five redirects, plain http for archives | `mirrors::five_redirects_*`, `mirrors::content_types_and_bodies` |
//! | 2 hashes | `mirrors::hashes_vouch_for_a_package_if_one_matches` |
//! | 2 statuses | `mirrors::statuses` |
//! | 2 credentials | `mirrors::tokens_depend_on_the_host_of_the_mirror` |
//! | 3 layout, every row except hashing | `registry::filesystem_mirror`, `mirrors::one_directory_or_one_mirror_can_be_the_only_source` |
//! | 5 locations | `cli_config::places`, `cli_config::load` |
//! | 5 merging, syntax | `cli_config::merge`, `cli_config::parse`, `cli_config::escape` |
//! | 5 `provider_installation`: form, patterns | `cli_config::merge`, `cli_config::pattern` |
//! | 5 `provider_installation`: order, union, absence, implied directories | `mirrors::methods_*`, `mirrors::nothing_falls_through_*`, `mirrors::implied_*` |
//!
//! `crate::faults` tests every fault with every kind of request.
//!
//! Where tflock deliberately differs from a rule, the test checks tflock's behavior: it makes three retries by default
//! instead of one (two for OpenTofu's packages), never uses plain http for discovery except on loopback, resumes
//! interrupted downloads, requests a redirect loop only once (Terraform requests a mirror twice), and retries
//! OpenTofu's discovery and mirrors like all documents.

mod answers;
mod credentials;
mod discovery;
mod mirrors;
mod packages;
mod retries;

use std::future::Future;
use std::ops::RangeInclusive;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tflock::cli_config::Builder;
use tflock::provider::{Engine, Hostname, PackageId, Platform, ProviderAddr, Version};
use tflock::registry::{
    ApiToken, PackageMeta, Pause, RegistryClient, RegistryError, RegistrySettings, Roots,
};
use tflock::reporter;
use tflock_test_support::{FakeRegistry, Misbehave, TestAuthority, error_chain};

/// The pauses between attempts in milliseconds, which are recorded instead of waited for.
#[derive(Clone, Default)]
struct Waits(Arc<Mutex<Vec<u128>>>);

impl Waits {
    fn take(&self) -> Vec<u128> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Pause for Waits {
    fn pause(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.0.lock().unwrap().push(time.as_millis());
        Box::pin(std::future::ready(()))
    }
}

/// Returns settings for a client that connects to this machine only and never waits.
fn settings(waits: &Waits) -> RegistrySettings {
    let mut settings = RegistrySettings::new(Engine::Terraform);
    settings.http.use_system_proxy = false;
    settings.http.pause = Arc::new(waits.clone());
    settings
}

/// Returns settings whose `host` blocks redirect to the registry.
fn configured(registry: &FakeRegistry, waits: &Waits) -> RegistrySettings {
    let mut settings = settings(waits);
    configure(&mut settings, &registry.cli_config());
    settings
}

/// Returns settings that trust the certificate authority of a TLS registry.
fn trusting(authority: &TestAuthority, waits: &Waits) -> RegistrySettings {
    let mut settings = settings(waits);
    settings.http.roots = Roots::Only(std::fs::read(authority.certificate_file()).unwrap());
    settings
}

/// Adds the `host` and `credentials` blocks of a CLI configuration.
fn configure(settings: &mut RegistrySettings, text: &str) {
    let mut builder = Builder::default();
    builder.add(Path::new("test.tfrc"), text.as_bytes());
    let (config, errors) = builder.finish();
    assert!(errors.is_empty(), "{errors:?}");
    settings.hosts.extend(config.hosts);
    settings.credentials.blocks.extend(config.credentials);
    settings.credentials.helper = config.credentials_helper;
}

fn client(settings: RegistrySettings) -> RegistryClient {
    RegistryClient::new(settings, reporter::silent()).unwrap()
}

/// Creates a client whose `host` blocks redirect to the registry.
fn connect(registry: &FakeRegistry) -> RegistryClient {
    client(configured(registry, &Waits::default()))
}

/// Adds a token for a host.
fn set_token(settings: &mut RegistrySettings, name: &str, token: &str) {
    let tokens = &mut settings.credentials.tokens;
    tokens.insert(host(name), ApiToken::new(token));
}

/// Lists the versions of a provider and returns the outcome.
async fn list_versions(client: &RegistryClient, provider: &str) -> String {
    outcome(client.versions(&address(provider)).await)
}

/// Requests the description of `acme/ledger` 1.0.0.
async fn describe(client: &RegistryClient) -> Result<Arc<PackageMeta>, RegistryError> {
    client
        .package_meta(&package_id("acme/ledger", linux()))
        .await
}

/// Returns the ID of a package of version 1.0.0.
fn package_id(provider: &str, platform: Platform) -> PackageId {
    PackageId {
        provider: address(provider),
        version: version("1.0.0"),
        platform,
    }
}

/// Redirects requests for `first` to `last` in `length` steps, through the paths `/1`, `/2` and so on.
fn redirect(registry: &FakeRegistry, length: usize, first: &str, last: &str) {
    for step in 0..length {
        let from = if step == 0 {
            first.to_owned()
        } else {
            format!("/{step}")
        };
        let to = if step + 1 == length {
            last.to_owned()
        } else {
            format!("/{}", step + 1)
        };
        registry.misbehave(Misbehave::on(&from).redirect(&to));
    }
}

/// Returns whether there are as many pauses as ranges, and each pause is in its range.
fn fits(waits: &[u128], expected: &[RangeInclusive<u128>]) -> bool {
    let mut pairs = expected.iter().zip(waits);
    expected.len() == waits.len() && pairs.all(|(range, wait)| range.contains(wait))
}

fn address(text: &str) -> ProviderAddr {
    ProviderAddr::parse(text, Engine::Terraform).unwrap()
}

fn host(text: &str) -> Hostname {
    Hostname::parse(text).unwrap()
}

fn version(text: &str) -> Version {
    Version::parse(text).unwrap()
}

fn linux() -> Platform {
    Platform::parse("linux_amd64").unwrap()
}

/// Returns an error and its causes in one line, or `ok`.
fn outcome<T>(result: Result<T, RegistryError>) -> String {
    result.map_or_else(|error| error_chain(&error), |_| "ok".to_owned())
}
