//! A large package from an OCI mirror, compared with the same package from a registry. Both servers use TLS.

use std::path::Path;

use tflock_test_support::{FakeOciRegistry, ProviderSpec, TestAuthority};

use super::fixture::{BenchFixture, size};
use super::measure::{BenchRow, table};

const SOURCE: &str = "acme/large";
const PLATFORM: [&str; 1] = ["linux_amd64"];

pub(super) fn run(tflock: &Path) {
    let authority = TestAuthority::create();
    let mut fixture = BenchFixture::new(&[]);
    let host = fixture.registry.serve_tls(&authority);
    let spec = ProviderSpec::new(SOURCE)
        .hosts([host.as_str()])
        .platforms(PLATFORM)
        .payload(size())
        .relative_urls();
    let oci = FakeOciRegistry::start(&authority);
    oci.publish(SOURCE, &spec);
    fixture.registry.publish(spec);
    fixture.require("one", &[(&format!("{host}/{SOURCE}"), "")]);
    let template = format!("{}/{{namespace}}/{{type}}", oci.host());
    let lock = |options: &[&str]| {
        let mut command = fixture.cold(tflock, &PLATFORM);
        command
            .args(["--engine", "tofu"])
            .args(options)
            .env("SSL_CERT_FILE", authority.certificate_file());
        command
    };
    let rows = [
        BenchRow::counted("from a registry", fixture.registry.log(), || lock(&[])),
        BenchRow::counted("from an OCI mirror", oci.log(), || {
            lock(&["--oci-mirror", &template])
        }),
    ];
    table("one package, from a registry and from an OCI mirror", &rows);
}
