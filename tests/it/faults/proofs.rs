//! Invalid proofs of a package: checksum lists, signatures, keys, and OpenTofu's `packages`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use tflock_test_support::{Document, FakeRegistry, Misbehave, ProviderSpec, TestSigner, table};

use super::whole::FaultSetup::{Publish, Recorded, Report};
use super::whole::{DOWNLOAD, LIST, PROVIDER, RunFault, fault, set};
use crate::conformance;

/// The columns: a recorded release and the error.
const RECORDED: &str = "
    acme/revoked 130         | was made by the revoked key
    acme/revokedthengood 132 | was made by the revoked key
    acme/expsig 104          | expired on Wed, 01 Jul 2020 00:00:00 GMT; the clock of this machine shows
    acme/futsig 100          | is not valid before
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

/// The columns: the name of a release in [`publish`], and the error.
const PUBLISHED: &str = "
    list of another release     | but the registry announced
    list with an extra line     | the signature by key
    list of 3 MB                | limit for checksum lists
    signed by an unlisted key   | the registry sent a different key
    no keys                     | the registry sent no signing keys
    invalid trust signature     | cannot verify HashiCorp's trust signature of key
    package changed in transit  | find out whether a proxy is rewriting downloads
    package of another provider | package has no executable whose name starts with `terraform-provider-ledger`
";

/// The columns: the fault, a pointer into the `packages` of OpenTofu's registry, the new value, and the result.
const REPORTS: &str = r#"
    packages: correct                   |                           |              | locks
    packages: another size              | /linux_amd64/package_size | 7            | bytes long, but the registry reported 7
    packages: a size in quotes          | /linux_amd64/package_size | "7"          | cannot parse the `packages` field of the registry's response
    packages: another checksum          | /linux_amd64/hashes       | ["zh:0000000000000000000000000000000000000000000000000000000000000000"] | the `packages` field of the registry's response is invalid
    packages: no checksum               | /linux_amd64/hashes       | ["h1:x"]     | has no `zh` hash
    packages: no scheme                 | /linux_amd64/hashes       | ["x"]        | it has a hash without a scheme
    packages: no entry for the platform |                           | {"linux_arm64": {"hashes": ["zh:0000000000000000000000000000000000000000000000000000000000000000"], "package_size": 7}} | it has no entry for `linux_amd64`
"#;

pub(super) fn faults() -> Vec<RunFault> {
    let mut faults = Vec::new();
    for [name, result] in table(PUBLISHED) {
        faults.push(fault(name, Publish(publish), result));
    }
    for [name, result] in table(RECORDED) {
        faults.push(RunFault {
            provider: name.split(' ').next().unwrap(),
            ..fault(name, Recorded(name), result)
        });
    }
    for [name, pointer, value, result] in table(REPORTS) {
        faults.push(RunFault {
            options: "--engine tofu",
            ..fault(name, Report(pointer, value), result)
        });
    }
    faults
}

fn publish(name: &str, registry: &mut FakeRegistry, spec: ProviderSpec) {
    let key = TestSigner::fixture();
    let spec = match name {
        "list of 3 MB" => spec.sums(|sums| sums.repeat(20_000).into_bytes()),
        "signed by an unlisted key" => spec.signed_by(&TestSigner::generated(7)).advertised([&key]),
        "no keys" => spec.advertised([]),
        "invalid trust signature" => spec.advertised([&key.with_trust_signature("vouched for")]),
        "package of another provider" => {
            let package = package_of_another_provider(registry);
            spec.archive("1.0.0", "linux_amd64", package)
        }
        _ => spec,
    };
    registry.publish(spec.clone());
    let list = registry.document(LIST).unwrap();
    match name {
        "list of another release" => {
            registry.publish(spec.seed("other"));
            registry.serve(LIST, list);
        }
        "list with an extra line" => {
            let changed = [&*list.body.to_vec(), b"00  evil.zip\n"].concat();
            registry.serve(LIST, Document::octets(changed));
        }
        "package changed in transit" => registry.misbehave(Misbehave::on("*.zip").flip(99)),
        _ => {}
    }
}

fn package_of_another_provider(registry: &mut FakeRegistry) -> Vec<u8> {
    registry.publish(ProviderSpec::new("acme/other").platforms(["linux_amd64"]));
    let files = "/registry.terraform.io/files/acme/other/1.0.0";
    let path = format!("{files}/terraform-provider-other_1.0.0_linux_amd64.zip");
    registry.document(&path).unwrap().body.to_vec()
}

/// Publishes a recorded release in the default registry, whichever registry it was recorded from.
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

/// Publishes the provider in OpenTofu's registry and changes one value in the registry's `packages` field.
pub(super) fn report(registry: &mut FakeRegistry, spec: ProviderSpec, pointer: &str, value: &str) {
    registry.publish(spec.hosts(["registry.opentofu.org"]));
    let facts = registry.package(PROVIDER, "1.0.0", "linux_amd64");
    let reported = json!({"hashes": [facts.zh, facts.h1], "package_size": facts.size});
    let path = DOWNLOAD.replace("registry.terraform.io", "registry.opentofu.org");
    registry.change_json(&path, |description| {
        description["packages"] = json!({"linux_amd64": reported});
        set(description, &format!("/packages{pointer}"), value);
    });
}
