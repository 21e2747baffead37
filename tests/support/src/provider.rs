//! A provider to publish: its versions, platforms and contents.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::key::TestSigner;

/// The default platforms of a provider.
pub const DEFAULT_PLATFORMS: [&str; 3] = ["linux_amd64", "darwin_arm64", "windows_amd64"];

/// The default hosts of Terraform and OpenTofu.
pub const DEFAULT_HOSTS: [&str; 2] = ["registry.terraform.io", "registry.opentofu.org"];

/// A change to a checksum list before it is signed.
pub(crate) type ChangeSums = Arc<dyn Fn(String) -> Vec<u8> + Send + Sync>;

/// A provider to publish. Everything except its name has a default:
/// `registry.publish(ProviderSpec::new("acme/anvil").versions(["1.0.0", "1.1.0"]))`.
#[derive(Clone)]
pub struct ProviderSpec {
    pub(crate) namespace: String,
    pub(crate) type_name: String,
    pub(crate) hosts: Vec<String>,
    pub(crate) versions: Vec<String>,
    pub(crate) platforms: Vec<String>,
    pub(crate) absent: BTreeSet<(String, String)>,
    pub(crate) protocols: Vec<String>,
    pub(crate) warnings: Vec<String>,
    pub(crate) payload: u64,
    pub(crate) seed: String,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) archives: BTreeMap<(String, String), Vec<u8>>,
    pub(crate) key: TestSigner,
    pub(crate) signing_times: BTreeMap<String, SystemTime>,
    pub(crate) advertised: Option<Vec<TestSigner>>,
    pub(crate) change_sums: Option<ChangeSums>,
    pub(crate) relative_urls: bool,
    pub(crate) reports_packages: bool,
}

impl ProviderSpec {
    /// Creates a provider with version 1.0.0 for [`DEFAULT_PLATFORMS`]. `source` is `NAMESPACE/TYPE` for
    /// registry.terraform.io, or `HOST/NAMESPACE/TYPE`.
    pub fn new(source: &str) -> Self {
        let parts: Vec<_> = source.split('/').collect();
        let (host, namespace, type_name) = match parts[..] {
            [namespace, type_name] => ("registry.terraform.io", namespace, type_name),
            [host, namespace, type_name] => (host, namespace, type_name),
            _ => panic!("`{source}` is not [HOST/]NAMESPACE/TYPE"),
        };
        Self {
            namespace: namespace.to_owned(),
            type_name: type_name.to_owned(),
            hosts: vec![host.to_owned()],
            versions: vec!["1.0.0".to_owned()],
            platforms: DEFAULT_PLATFORMS.map(str::to_owned).to_vec(),
            absent: BTreeSet::new(),
            protocols: vec!["5.0".to_owned()],
            warnings: Vec::new(),
            payload: 1000,
            seed: String::new(),
            directory: None,
            archives: BTreeMap::new(),
            key: TestSigner::fixture(),
            signing_times: BTreeMap::new(),
            advertised: None,
            change_sums: None,
            relative_urls: false,
            reports_packages: false,
        }
    }

    /// Sets the hosts, written as users write them (in Unicode, with a port). The bytes of the packages are identical
    /// on all hosts.
    pub fn hosts<'a>(mut self, hosts: impl IntoIterator<Item = &'a str>) -> Self {
        self.hosts = hosts.into_iter().map(str::to_owned).collect();
        self
    }

    /// Sets the versions. Version lists and file names keep their order and spelling.
    pub fn versions<'a>(mut self, versions: impl IntoIterator<Item = &'a str>) -> Self {
        self.versions = versions.into_iter().map(str::to_owned).collect();
        self
    }

    pub fn platforms<'a>(mut self, platforms: impl IntoIterator<Item = &'a str>) -> Self {
        self.platforms = platforms.into_iter().map(str::to_owned).collect();
        self
    }

    /// Omits the package of `version` for `platform`.
    pub fn without(mut self, version: &str, platform: &str) -> Self {
        self.absent
            .insert((version.to_owned(), platform.to_owned()));
        self
    }

    /// Sets the plugin protocol versions.
    pub fn protocols<'a>(mut self, protocols: impl IntoIterator<Item = &'a str>) -> Self {
        self.protocols = protocols.into_iter().map(str::to_owned).collect();
        self
    }

    pub fn warning(mut self, warning: &str) -> Self {
        self.warnings.push(warning.to_owned());
        self
    }

    /// Sets the size of the executable in bytes.
    pub fn payload(mut self, size: u64) -> Self {
        self.payload = size;
        self
    }

    /// Sets the seed of the contents, for example to publish a version again with different contents.
    pub fn seed(mut self, seed: &str) -> Self {
        seed.clone_into(&mut self.seed);
        self
    }

    /// Uses the regular files of `directory` as contents for every version and platform.
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Uses these bytes as the package of `version` for `platform`.
    pub fn archive(mut self, version: &str, platform: &str, bytes: Vec<u8>) -> Self {
        self.archives
            .insert((version.to_owned(), platform.to_owned()), bytes);
        self
    }

    /// Signs this version with a signature of [`TestSigner::fixture`] that is this many days old.
    pub fn signed_days_ago(self, version: &str, days: u32) -> Self {
        let age = Duration::from_secs(u64::from(days) * 24 * 60 * 60);
        self.signed_at(version, SystemTime::now() - age)
    }

    /// Signs this version with a signature of [`TestSigner::fixture`] that states this creation time.
    pub fn signed_at(mut self, version: &str, time: SystemTime) -> Self {
        self.signing_times.insert(version.to_owned(), time);
        self
    }

    /// Signs with this key instead of [`TestSigner::fixture`], and lists the key in the responses.
    pub fn signed_by(mut self, key: &TestSigner) -> Self {
        self.key = key.clone();
        self
    }

    /// Lists these keys in the responses, regardless of which key signs.
    pub fn advertised<'a>(mut self, keys: impl IntoIterator<Item = &'a TestSigner>) -> Self {
        self.advertised = Some(keys.into_iter().cloned().collect());
        self
    }

    /// Applies `change` to the checksum list before it is signed.
    pub fn sums(mut self, change: impl Fn(String) -> Vec<u8> + Send + Sync + 'static) -> Self {
        self.change_sums = Some(Arc::new(change));
        self
    }

    /// Makes the URLs in responses relative.
    pub fn relative_urls(mut self) -> Self {
        self.relative_urls = true;
        self
    }

    /// Adds the field `packages` to the responses, as OpenTofu's registry does: the hashes and sizes for all platforms.
    pub fn reporting_packages(mut self) -> Self {
        self.reports_packages = true;
        self
    }

    /// Returns the name as `NAMESPACE/TYPE`.
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.namespace, self.type_name)
    }

    /// Returns the platforms for which `version` has a package.
    pub(crate) fn platforms_of(&self, version: &str) -> impl Iterator<Item = &String> {
        let absent = move |platform: &&String| {
            !self
                .absent
                .contains(&(version.to_owned(), (*platform).clone()))
        };
        self.platforms.iter().filter(absent)
    }
}

impl fmt::Debug for ProviderSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "ProviderSpec({} {:?})",
            self.name(),
            self.versions
        )
    }
}
