//! Parses registry responses: version lists, and package descriptions with OpenTofu's `packages`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tflock::provider::{Engine, Platform, ProviderAddr, Version};
use tflock::registry::{AvailableVersions, PackageId, PackageMeta};
use url::Url;

fuzz_target!(|body: &[u8]| {
    let asked = PackageId {
        provider: ProviderAddr::parse("acme/ledger", Engine::Tofu).expect("an address"),
        version: Version::parse("1.0.0").expect("a version"),
        platform: Platform::parse("linux_amd64").expect("a platform"),
    };
    match AvailableVersions::parse(&asked.provider, body) {
        Ok(available) => {
            for version in available.versions() {
                let _ = available.platforms(version);
            }
        }
        Err(error) => drop(error.to_string()),
    }
    let base = Url::parse("https://registry.example/v1/providers/x").expect("a URL");
    match PackageMeta::parse(&asked, body, &base) {
        Ok(meta) => {
            assert!(matches!(meta.download_url.scheme(), "http" | "https"));
            let _ = meta.packages.map(|packages| packages.read());
        }
        Err(error) => drop(error.to_string()),
    }
});
