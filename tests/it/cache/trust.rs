//! Which cached responses tflock uses. It verifies them again at every use.

use tflock_test_support::{
    FakeRegistry, GpgHome, Misbehave, ProviderSpec, TestContext, TestSigner,
};

use super::{NOTHING, entries, lock, request_counts};
use crate::TFLOCK;

/// Starts a registry that offers the same version of the provider for every seed. The package's bytes depend on `seed`.
fn other(seed: &str) -> FakeRegistry {
    FakeRegistry::with(ProviderSpec::new("acme/anvil").seed(seed))
}

#[test]
fn cached_entries_are_not_used_for_another_registry() {
    let [first, second] = ["first", "second"].map(other);
    let context = TestContext::new(TFLOCK, &first);
    context.require("a", &[("acme/anvil", "1.0.0")]);
    lock(&context, "a").expect_success();
    let of_first = context.lock_file("a").unwrap();

    // The `host` block now redirects the same host to the second registry.
    context.set_cli_config(&second.cli_config());
    context.require("b", &[("acme/anvil", "1.0.0")]);
    lock(&context, "b").expect_success();
    let of_second = context.lock_file("b").unwrap();
    assert_ne!(of_first, of_second);
    assert!(of_second.contains(&second.package("acme/anvil", "1.0.0", "linux_amd64").h1));
    request_counts(&second);

    context.set_cli_config("");
    // `TFREGISTRY_BASE_URL` selects each registry by its URL. The cache key contains that URL, so entries from runs
    // with `host` blocks are used again.
    for (registry, expected) in [(&first, &of_first), (&second, &of_second)] {
        request_counts(registry);
        let base = registry.url("/registry.terraform.io/");
        context.require("c", &[("acme/anvil", "1.0.0")]);
        std::fs::remove_file(context.path("c/.terraform.lock.hcl")).unwrap_or_default();
        let arguments = "lock --platform linux_amd64,darwin_arm64 c";
        let run = context.command(arguments).env("TFREGISTRY_BASE_URL", &base);
        run.run().expect_success();
        assert_eq!(context.lock_file("c").as_ref(), Some(expected));
        assert_eq!(request_counts(registry), NOTHING);
    }
}

/// A locked version was published again with different bytes. Only a request to the registry reveals this.
#[test]
fn a_release_that_was_published_again_is_found_by_a_refresh() {
    let mut registry = other("first");
    let context = TestContext::new(TFLOCK, &registry);
    context.require("a", &[("acme/anvil", "1.0.0")]);
    lock(&context, "a").expect_success();
    let before = context.lock_file("a");
    registry.publish(ProviderSpec::new("acme/anvil").seed("second"));
    lock(&context, "a").expect_success();
    let outcome = lock(&context, "--refresh a").expect_code(1);
    outcome.assert_stderr("none of the hashes in the lock file match");
    assert_eq!(context.lock_file("a"), before);

    // This lock file is correct, but the cache is outdated. tflock sends a request before it reports foreign hashes.
    let fresh = TestContext::new(TFLOCK, &registry);
    fresh.require("a", &[("acme/anvil", "1.0.0")]);
    lock(&fresh, "--no-cache a").expect_success();
    context.write_lock_file("a", fresh.lock_file("a").unwrap());
    lock(&context, "a").expect_success();
    request_counts(&registry);
    lock(&context, "a").expect_success();
    assert_eq!(
        request_counts(&registry),
        NOTHING,
        "the new response is cached"
    );
}

/// Settings that became stricter also apply to cached entries.
#[test]
fn trust_settings_apply_to_cached_entries() {
    let mut registry = FakeRegistry::start();
    let unsigned = ProviderSpec::new("acme/anvil")
        .hosts(["registry.opentofu.org"])
        .advertised([])
        .versions(["1.0.0"]);
    registry.publish(unsigned);
    let context = TestContext::new(TFLOCK, &registry);
    context.require("a", &[("acme/anvil", "1.0.0")]);
    let run = |enforce: &str| {
        let arguments = "lock --engine tofu --platform linux_amd64 a";
        let program = context.command(arguments);
        program
            .env("OPENTOFU_ENFORCE_GPG_VALIDATION", enforce)
            .run()
    };
    run("false").expect_success();
    request_counts(&registry);
    run("false").expect_success();
    assert_eq!(request_counts(&registry), NOTHING);
    let refused = run("true").expect_code(1);
    assert!(request_counts(&registry) != NOTHING, "{refused}");
    run("false").expect_success();
    assert_eq!(
        request_counts(&registry),
        NOTHING,
        "the refused response has not replaced the cached one"
    );
}

/// The cache contains no tokens, user names or signed URLs.
#[test]
fn no_secret_enters_the_cache() {
    let registry = other("first");
    registry.misbehave(Misbehave::on("*/download/*").rewrite(|body| {
        let mut description: serde_json::Value = serde_json::from_slice(&body).unwrap();
        for name in ["download_url", "shasums_url", "shasums_signature_url"] {
            let signed = format!("{}?X-Signature=SECRET", description[name].as_str().unwrap());
            description[name] = signed.into();
        }
        serde_json::to_vec(&description).unwrap()
    }));
    let context = TestContext::new(TFLOCK, &registry);
    context.require("a", &[("acme/anvil", "1.0.0")]);
    let base = registry
        .url("/registry.terraform.io/")
        .replace("http://", "http://SECRET:SECRET@");
    let arguments = "lock --platform linux_amd64,darwin_arm64 a";
    let run = context
        .command(arguments)
        .env("TF_TOKEN_registry_terraform_io", "SECRET");
    run.run().expect_success();
    let run = context.command(arguments).env("TFREGISTRY_BASE_URL", base);
    run.run().expect_success();
    let entries = entries(&context, "");
    assert!(entries.len() >= 4);
    for path in entries {
        let bytes = std::fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        for part in ["SECRET", "http"] {
            assert!(!text.contains(part), "{}:\n{text}", path.display());
        }
    }
}

/// Returns a tree locked with OpenTofu's rules and signed by `key`, with the `gpg` key ring that contains the key.
fn signed_by(
    key: impl FnOnce(&GpgHome) -> TestSigner,
) -> Option<(FakeRegistry, TestContext, ProviderSpec, GpgHome)> {
    let gpg = GpgHome::create()?;
    let key = key(&gpg);
    let spec = ProviderSpec::new("acme/anvil")
        .hosts(["registry.opentofu.org"])
        .signed_by(&key);
    let registry = FakeRegistry::with(spec.clone());
    let context = TestContext::new(TFLOCK, &registry);
    context.require("a", &[("acme/anvil", "1.0.0")]);
    Some((registry, context, spec, gpg))
}

/// A key that has expired since it was cached is treated as it would be in a download.
#[test]
fn an_expired_key_is_checked_at_each_use() {
    let expired = |gpg: &GpgHome| {
        // The key was created at this faked time and was valid for one day.
        let made = "--faked-system-time=20240102T000000";
        let generate = [
            "--passphrase",
            "",
            "--quick-generate-key",
            "old@tflock.example",
        ];
        let kind = ["ed25519", "sign", "1d"];
        gpg.run(&[&[made], &generate[..], &kind].concat(), b"");
        let export = ["--armor", "--no-emit-version", "--export"];
        let armor = gpg.run(&export, b"");
        let home = gpg.clone();
        TestSigner::custom(&String::from_utf8(armor).unwrap(), "", move |document| {
            let later = "--faked-system-time=20240102T010000";
            home.run(&[later, "--detach-sign", "--output", "-"], document)
        })
    };
    let Some((registry, context, _, _)) = signed_by(expired) else {
        return;
    };
    let run = |enforce: &str| {
        let lock = context.command("lock -v --engine tofu --platform linux_amd64 a");
        lock.env("OPENTOFU_ENFORCE_GPG_EXPIRATION", enforce).run()
    };
    for requests in [true, false] {
        let outcome = run("false").expect_success();
        outcome.assert_stderr("expired");
        assert_eq!(request_counts(&registry) != NOTHING, requests, "{outcome}");
    }
    let refused = run("true").expect_code(1);
    refused.assert_stderr(" expired on ");
}

/// The registry has revoked a key, but the cached key is not revoked. The next request to the registry reveals this.
#[test]
fn a_revoked_key_is_found_by_a_refresh_and_by_verify() {
    let Some((mut registry, context, spec, gpg)) = signed_by(|gpg| gpg.key("ed25519", "0")) else {
        return;
    };
    let run =
        |command: &str| context.run(&format!("{command} --engine tofu --platform linux_amd64 a"));
    run("lock").expect_success();
    registry.publish(spec.advertised([&revoked(&gpg)]));
    request_counts(&registry);
    run("lock").expect_success();
    assert_eq!(request_counts(&registry), NOTHING);
    for command in [
        "lock --refresh",
        "verify",
        "lock --no-cache --check --upgrade",
    ] {
        run(command).expect_code(1).assert_stderr("revoked");
    }
}

/// Returns the revoked key. It is revoked in a copy of the key ring, so the original ring can still sign.
fn revoked(gpg: &GpgHome) -> TestSigner {
    let listing = gpg.run(&["--with-colons", "--list-keys"], b"");
    let listing = String::from_utf8(listing).unwrap();
    let fingerprint = listing.lines().find_map(|line| line.strip_prefix("fpr:"));
    let fingerprint = fingerprint.unwrap().trim_matches(':');
    let name = format!("openpgp-revocs.d/{fingerprint}.rev");
    let certificate = std::fs::read_to_string(gpg.path().join(name)).unwrap();
    // gpg writes a colon before the armor to prevent an accidental import.
    let certificate = certificate.replace(":-----BEGIN", "-----BEGIN");
    let other = GpgHome::create().unwrap();
    other.run(&["--import"], &gpg.run(&["--export"], b""));
    other.run(&["--import"], certificate.as_bytes());
    let armor = other.run(&["--armor", "--no-emit-version", "--export"], b"");
    TestSigner::custom(&String::from_utf8(armor).unwrap(), "", |_| Vec::new())
}
