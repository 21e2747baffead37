//! Remote modules from real git repositories and a real server, all on this machine.
//!
//! | what | test |
//! | --- | --- |
//! | `ref` as branch, tag, commit, abbreviated commit; `depth`; subdirectories, wildcards | `git::references_and_subdirectories` |
//! | one clone per source and run, which later calls share even if it failed | `git::each_repository_is_fetched_once` |
//! | no hooks, only allowed protocols (including in submodules and `insteadOf`), no symlinks out of the package | `git::*` |
//! | what failures of git say, and their hints | `git_failures::*` |
//! | Mercurial: sources as recorded, https, no hooks or extensions, failures and their hints | `mercurial::*` |
//! | zip, tar.gz, `archive=`, `checksum=`, subdirectories, `terraform-get` | `archives::forms`, `archives::pages_*` |
//! | archive formats, checksums and checksum lists, as recorded | `recorded::*` |
//! | paths and symlinks out of the package, zip bombs | `archives::entries_*`, `modules::archive` |
//! | S3 and Google Cloud Storage: addresses as recorded, credentials, attacks | `buckets::*` |
//! | versions, constraints, `X-Terraform-Get` and its relative forms, 200, 204, tokens | `registry::*` |
//! | what later runs use from the cache, and what they look up again | `kept::*` |
//! | which directories installed modules may call | `installed::*` |
//! | archives without a checksum: requested by each run, but sent only if they changed | `moving::*` |
//! | the version that an earlier run selected is stored for the report | `chosen::*` |
//! | 500 root modules with the same calls, parity with `get` of both tools, locations of errors | `binary::*` |

mod archives;
pub(crate) mod binary;
mod buckets;
mod chosen;
mod git;
#[cfg(unix)]
mod git_failures;
mod installed;
#[cfg(unix)]
mod kept;
mod mercurial;
#[cfg(unix)]
mod moving;
mod recorded;
mod registry;

use std::collections::BTreeMap;
#[cfg(unix)]
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use tflock::buckets::CloudEnvironment;
use tflock::cache::DiskCache;
use tflock::cli_config::Builder;
use tflock::config::{ModuleRequest, ModuleSource};
use tflock::git::GitSettings;
use tflock::mercurial::HgSettings;
use tflock::modules::{Fetcher, MAX_REPOSITORY_BYTES, ModuleError};
use tflock::provider::{Engine, ModuleVersionConstraints};
use tflock::registry::{RegistryClient, RegistrySettings};
use tflock::reporter;
use tflock::span::{Explain as _, Place};
use tflock_test_support::{FakeRegistry, error_chain};
use tokio::runtime::Runtime;

/// A fetcher with a server, a separate home directory, and a log of the runs of git.
struct ModuleSite {
    fetcher: Fetcher,
    registry: FakeRegistry,
    /// The home directory for git, which also contains the test's files.
    home: TempDir,
    runtime: Runtime,
    /// The CLI configuration.
    text: String,
    clouds: CloudEnvironment,
}

/// Creates a fetcher with the `host` and `credentials` blocks in `text`.
fn fetcher(home: &Path, runtime: &Runtime, text: &str, offline: bool) -> Fetcher {
    let mut settings = RegistrySettings::new(Engine::Terraform);
    settings.http.use_system_proxy = false;
    settings.http.offline = offline;
    settings.retries = Some(0);
    let mut builder = Builder::default();
    builder.add(Path::new("test.tfrc"), text.as_bytes());
    let (config, errors) = builder.finish();
    assert!(errors.is_empty(), "{errors:?}");
    settings.hosts.extend(config.hosts);
    settings.credentials.blocks.extend(config.credentials);
    let client = RegistryClient::new(settings, reporter::silent()).unwrap();
    let git = GitSettings::new(git_program(home), environment(home));
    let mercurial = HgSettings::new(mercurial::program(home), environment(home));
    let clients = move |_| client.clone();
    Fetcher::new(runtime.handle().clone(), clients, git, mercurial)
}

impl ModuleSite {
    fn start() -> Self {
        Self::with_cli_config(FakeRegistry::start(), "")
    }

    /// Creates a site with the `host` and `credentials` blocks in `text`.
    fn with_cli_config(registry: FakeRegistry, text: &str) -> Self {
        Self::with(registry, text, MAX_REPOSITORY_BYTES)
    }

    fn with(registry: FakeRegistry, text: &str, max_bytes: u64) -> Self {
        let home = TempDir::new().unwrap();
        let runtime = Runtime::new().unwrap();
        counting_git(home.path());
        let fetcher = fetcher(home.path(), &runtime, text, false);
        Self {
            fetcher: fetcher.with_max_repository_bytes(max_bytes),
            registry,
            home,
            runtime,
            text: text.to_owned(),
            clouds: CloudEnvironment::default(),
        }
    }

    /// Starts a run with these variables for object stores.
    fn set_clouds(&mut self, variables: &[(&str, &str)]) {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        self.clouds = CloudEnvironment {
            variables: variables.iter().map(owned).collect(),
            home: None,
        };
        self.run_again(false);
    }

    /// Starts another run with the same cache.
    fn run_again(&mut self, offline: bool) {
        self.run_with(offline, false);
    }

    /// Like [`ModuleSite::run_again`], optionally with `--refresh`.
    fn run_with(&mut self, offline: bool, refresh: bool) {
        let store = DiskCache::open(&self.home.path().join("cache")).unwrap();
        let fetcher = fetcher(self.home.path(), &self.runtime, &self.text, offline);
        let fetcher = fetcher.with_cache(Arc::new(store), refresh);
        self.fetcher = fetcher.with_clouds(self.clouds.clone());
    }

    /// Fetches a source. Returns its directory, or the error with its causes.
    fn fetch(&self, source: &str, versions: Option<&str>) -> Result<PathBuf, String> {
        let found = self.get(source, versions);
        found.map_err(|error| error_chain(&error))
    }

    /// Fetches a source that is refused. Returns the error with its causes and its hint.
    fn explained(&self, source: &str) -> String {
        let error = self.get(source, None).unwrap_err();
        let hint = error.hint().unwrap_or_default();
        format!("{} ({hint})", error_chain(&error))
    }

    fn get(&self, source: &str, versions: Option<&str>) -> Result<PathBuf, Arc<ModuleError>> {
        let source = ModuleSource::parse(source, Engine::Terraform).unwrap();
        let versions = versions.map(|text| ModuleVersionConstraints::parse(text).unwrap());
        let request = ModuleRequest {
            is_hidden: false,
            source: &source,
            versions: versions.as_ref(),
            root: Path::new("."),
            place: &Place::file(Path::new("main.tf")),
            engine: Engine::Terraform,
            confined_to: None,
        };
        self.fetcher.get(&request).map(|found| found.directory)
    }

    /// Fetches a source. Returns the text of `main.tf` in its directory, or the error.
    fn text(&self, source: &str) -> String {
        self.fetch(source, None).map_or_else(
            |error| error,
            |directory| fs::read_to_string(directory.join("main.tf")).unwrap(),
        )
    }

    /// Returns the arguments of each run of git.
    fn git_runs(&self) -> Vec<String> {
        let log = fs::read_to_string(self.home.path().join("git.log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    fn marker(&self) -> PathBuf {
        self.home.path().join("marker")
    }
}

fn environment(home: &Path) -> BTreeMap<String, String> {
    let path = std::env::var("PATH").unwrap();
    let own = [
        ("PATH", path.as_str()),
        ("HOME", home.to_str().unwrap()),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("SSL_CERT_FILE", &mercurial::authority(home)),
    ];
    own.map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

/// Writes a `git` program that logs its arguments and then runs the real git.
#[cfg(unix)]
fn counting_git(home: &Path) {
    counting(&git_program(home), &home.join("git.log"));
}

#[cfg(unix)]
fn git_program(home: &Path) -> PathBuf {
    home.join("counting-git")
}

/// Returns a `PATH` whose `git` logs its arguments in `log`. Creates `directory` for that program.
#[cfg(unix)]
fn git_on_path(directory: &Path, log: &Path) -> OsString {
    fs::create_dir(directory).unwrap();
    counting(&directory.join("git"), log);
    let path = std::env::var_os("PATH").unwrap();
    let others = std::env::split_paths(&path);
    std::env::join_paths(std::iter::once(directory.to_path_buf()).chain(others)).unwrap()
}

/// Writes a program that logs its arguments and then runs the git on the test's `PATH`.
#[cfg(unix)]
fn counting(program: &Path, log: &Path) {
    let git = tflock_test_support::require_or_skip("git", true).unwrap();
    let (log, git) = (log.display(), git.display());
    let commands = format!("echo \"$*\" >> '{log}'\nexec '{git}' \"$@\"");
    tflock_test_support::write_script(program, &commands);
}

#[cfg(not(unix))]
fn counting_git(_home: &Path) {}

#[cfg(not(unix))]
fn git_program(_home: &Path) -> PathBuf {
    PathBuf::from("git")
}
