//! Invalid proofs of a package: lists, signatures, keys, and OpenTofu's `packages`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tflock_test_support::{Document, FakeRegistry, Misbehave, ProviderSpec, SigningKey, table};

use super::whole::Ends::{Locks, Refuses};
use super::whole::Prepare::{Publish, Recorded, Report};
use super::whole::{Case, DOWNLOAD, Ends, LIST, PROVIDER, Prepare, alter, case};
use crate::conformance;

/// A case with OpenTofu, which reads `packages` and requires it to match the package.
fn reported(name: &'static str, prepare: Prepare, ends: Ends) -> Case {
    Case {
        options: "--engine tofu",
        ..case(name, prepare, ends)
    }
}

/// Recorded releases, and the errors for them.
const RECORDED: &str = "
    acme/revoked 130         | was made by the revoked key
    acme/revokedthengood 132 | was made by the revoked key
    acme/expsig 104          | has expired, or was made in the future
    acme/expsigforged 112    | does not match
    acme/otherbytes 44       | does not match
    acme/emptysig 48         | cannot verify the checksum list
    acme/armored 50          | not a binary OpenPGP signature
    acme/badarmor 20         | signing key 1 of 1 is unusable
    acme/emptyarmor 18       | signing key 1 of 1 is unusable
    acme/badthengood 24      | signing key 1 of 2 is unusable
    acme/hripemd160 262      | cannot verify the checksum list
    acme/star 185            | checksum list has no SHA-256 checksum
    acme/dotslash 186        | checksum list has no SHA-256 checksum
    acme/empty 192           | checksum list has no SHA-256 checksum
    acme/wrongours 194       | but the registry announced
    acme/nul 195             | checksum list has no SHA-256 checksum
";

pub(super) fn cases() -> Vec<Case> {
    let recorded = table(RECORDED).into_iter().map(|[name, text]| Case {
        provider: name.split(' ').next().unwrap(),
        ..case(name, Recorded(name), Refuses(text))
    });
    published()
        .into_iter()
        .chain(recorded)
        .chain(reports())
        .collect()
}

fn published() -> Vec<Case> {
    vec![
        case(
            "list of another release",
            Publish(|registry, spec| {
                registry.publish(spec.clone().seed("other"));
                let other = registry.document(LIST).unwrap();
                registry.publish(spec);
                registry.serve(LIST, other);
            }),
            Refuses("but the registry announced"),
        ),
        case(
            "list with an extra line",
            Publish(|registry, spec| {
                registry.publish(spec);
                let list = registry.document(LIST).unwrap().body.to_vec();
                registry.serve(LIST, Document::octets([&*list, b"00  evil.zip\n"].concat()));
            }),
            Refuses("the signature by key"),
        ),
        case(
            "list of 3 MB",
            Publish(|registry, spec| {
                registry.publish(spec.sums(|sums| sums.repeat(20_000).into_bytes()));
            }),
            Refuses("limit for checksum lists"),
        ),
        case(
            "signed by an unlisted key",
            Publish(|registry, spec| {
                let known = SigningKey::fixture();
                let spec = spec.signed_by(&SigningKey::generated(7));
                registry.publish(spec.advertised([&known]));
            }),
            Refuses("the registry sent another key"),
        ),
        case(
            "no keys",
            Publish(|registry, spec| {
                registry.publish(spec.advertised([]));
            }),
            Refuses("the registry sent no signing keys"),
        ),
        case(
            "invalid trust signature",
            Publish(|registry, spec| {
                let key = SigningKey::fixture().with_trust_signature("vouched for");
                registry.publish(spec.advertised([&key]));
            }),
            Refuses("cannot verify the trust signature of key"),
        ),
        case(
            "package changed on the way",
            Publish(|registry, spec| {
                registry.publish(spec);
                registry.misbehave(Misbehave::on("*.zip").flip(99));
            }),
            Refuses("find out whether a proxy rewrites downloads"),
        ),
        case(
            "package of another provider",
            Publish(|registry, spec| {
                registry.publish(ProviderSpec::new("acme/other").platforms(["linux_amd64"]));
                let files = "/registry.terraform.io/files/acme/other/1.0.0";
                let other = format!("{files}/terraform-provider-other_1.0.0_linux_amd64.zip");
                let package = registry.document(&other).unwrap().body.to_vec();
                registry.publish(spec.archive("1.0.0", "linux_amd64", package));
            }),
            Refuses("package has no executable whose name starts with `terraform-provider-ledger`"),
        ),
    ]
}

fn reports() -> [Case; 7] {
    [
        reported("packages: as they should be", Report(|_| {}), Locks("")),
        reported(
            "packages: another size",
            Report(|packages| packages["linux_amd64"]["package_size"] = json!(7)),
            Refuses("bytes, but the registry reported 7"),
        ),
        reported(
            "packages: a size in quotes",
            Report(|packages| packages["linux_amd64"]["package_size"] = json!("7")),
            Refuses("the `packages` that the registry reports cannot be read"),
        ),
        reported(
            "packages: another checksum",
            Report(|packages| {
                packages["linux_amd64"]["hashes"] = json!([format!("zh:{}", "00".repeat(32))]);
            }),
            Refuses("registry reports its packages inconsistently"),
        ),
        reported(
            "packages: no checksum",
            Report(|packages| packages["linux_amd64"]["hashes"] = json!(["h1:x"])),
            Refuses("has no `zh` hash"),
        ),
        reported(
            "packages: no scheme",
            Report(|packages| packages["linux_amd64"]["hashes"] = json!(["x"])),
            Refuses("it has a hash without scheme"),
        ),
        reported(
            "packages: no entry for the platform",
            Report(|packages| *packages = json!({"linux_arm64": packages["linux_amd64"]})),
            Refuses("it has no entry for `linux_amd64`"),
        ),
    ]
}

/// Publishes a recorded release in the default registry, regardless of the registry in the recording.
pub(super) fn serve_recorded(registry: &FakeRegistry, name: &str) {
    let cases = conformance::cases("packages.jsonl");
    let case = cases.iter().find(|case| case["name"] == name).unwrap();
    let text = |field: &str| case[field].as_str().unwrap();
    let (provider, version) = (text("provider"), text("version"));
    let mut metadata = case["metadata"].clone();
    for (field, source) in [
        ("download_url", "package"),
        ("shasums_url", "sums"),
        ("shasums_signature_url", "signature"),
    ] {
        let path = format!("/recorded/{provider}/{source}");
        metadata[field] = json!(registry.url(&path));
        let bytes = STANDARD.decode(text(source)).unwrap();
        registry.serve(&path, Document::octets(bytes));
    }
    let base = format!("/registry.terraform.io/v1/providers/{provider}");
    let list = json!({"versions": [{"version": version}]});
    registry.serve(&format!("{base}/versions"), Document::json(&list));
    let description = format!("{base}/{version}/download/linux/amd64");
    registry.serve(&description, Document::json(&metadata));
}

/// Publishes the provider in OpenTofu's registry with a changed report on its package.
pub(super) fn report(registry: &mut FakeRegistry, spec: ProviderSpec, change: fn(&mut Value)) {
    registry.publish(spec.hosts(["registry.opentofu.org"]));
    let facts = registry.package(PROVIDER, "1.0.0", "linux_amd64");
    let own = json!({"hashes": [facts.zh, facts.h1], "package_size": facts.size});
    let mut packages = json!({"linux_amd64": own});
    change(&mut packages);
    let path = DOWNLOAD.replace("registry.terraform.io", "registry.opentofu.org");
    alter(registry, &path, |description| {
        description["packages"] = packages;
    });
}
