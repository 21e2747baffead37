//! The registry with the providers that `testdata/modules` requires. Their contents are derived from seeds, so the
//! recorded lock files remain valid.

use tflock_test_support::{DEFAULT_HOSTS, FakeRegistry, ProviderSpec, RawEntry, RawZip};

/// Starts the registry of the parity tests.
pub(super) fn start() -> FakeRegistry {
    let mut registry = FakeRegistry::start();
    let default = |source: &str| ProviderSpec::new(source).hosts(DEFAULT_HOSTS);
    let anvil = [
        "0.9.0",
        "1.0.0",
        "1.1.0",
        "1.2.0-beta1",
        "2.0.0",
        "2.1.0-rc.1",
    ];
    registry.publish(default("acme/anvil").versions(anvil));
    // These versions are not sorted, and 1.10 is newer than 1.9.
    registry.publish(default("acme/bolt").versions(["1.10.0", "1.0.0", "1.9.0"]));
    registry.publish(default("acme/rivet"));
    // If constraints allow both versions, the tools select either one, and not always the same for each platform.
    registry.publish(default("acme/stamp").versions(["1.0.0", "1.0.0+build.7"]));
    registry.publish(default("hashicorp/null").versions(["3.1.1", "3.2.1"]));
    for host in ["bücher.example", "zzz.example"] {
        registry.publish(ProviderSpec::new("acme/quill").hosts([host]));
    }
    for host in ["registry.example", "registry.example:8443"] {
        registry.publish(ProviderSpec::new("acme/vise").hosts([host]));
    }
    registry.publish(ProviderSpec::new("registry.example/acme-co/vise"));
    registry.publish(with_directories(default("acme/crate")));
    // The checksum list has an invalid line, so only the checksum of each platform's own archive is recorded.
    registry.publish(default("acme/ledger").sums(|sums| format!("# signed\n{sums}").into_bytes()));
    // Only the inputs for OpenTofu require these providers.
    for source in
        ["anchor", "anvil", "beam", "bolt", "chain", "tofu"].map(|name| format!("hashicorp/{name}"))
    {
        registry.publish(default(&source));
    }
    let more = [
        "linux_amd64",
        "darwin_arm64",
        "windows_amd64",
        "freebsd_amd64",
    ];
    for source in [
        "registry.opentofu.org/acme/depot",
        "registry.example/acme/yard",
    ] {
        let spec = ProviderSpec::new(source).platforms(more);
        registry.publish(spec.reporting_packages());
    }
    registry
}

/// Publishes packages with directory entries, a name that is not normalized, and a duplicate name. `h1` is the hash of
/// the unpacked directory.
fn with_directories(mut spec: ProviderSpec) -> ProviderSpec {
    for platform in tflock_test_support::DEFAULT_PLATFORMS {
        let zip = RawZip::of([
            RawEntry::directory("docs/"),
            RawEntry::streamed("docs/index.md", "# Crate\n"),
            RawEntry::streamed("./NOTES", "first\n"),
            RawEntry::streamed("NOTES", format!("for {platform}\n")),
            RawEntry::streamed("terraform-provider-crate_v1.0.0", platform).mode(0o100_755),
        ]);
        spec = spec.archive("1.0.0", platform, zip.to_bytes());
    }
    spec
}
