//! A server that fails at random.

use serde_json::json;
use tflock_test_support::{Document, FakeRegistry, Misbehave};
use url::Url;

use super::{Waits, address, client};

#[tokio::test(flavor = "multi_thread")]
async fn one_request_in_twenty_may_fail() {
    let registry = FakeRegistry::start();
    let names: Vec<_> = (0..20).map(|index| format!("p{index}")).collect();
    for name in &names {
        let base = format!("/registry.terraform.io/v1/providers/acme/{name}");
        registry.serve(
            &format!("{base}/versions"),
            Document::json(&json!({"versions": [{"version": "1.0.0"}]})),
        );
        registry.serve(
            &format!("/files/{name}"),
            Document::octets(vec![7; 100_000]),
        );
    }
    // Each rule spoils one request; the requests between two of them are those that go well.
    for failure in 0..10 {
        let rule = match failure % 3 {
            0 => Misbehave::on("*").reset(),
            1 => Misbehave::on("*").status(503),
            _ => Misbehave::on("*").cut(10),
        };
        registry.misbehave(rule.skip(failure * 2).times(1));
    }
    let client = client(super::configured(&registry, &Waits::default()));
    let jobs = names.iter().map(|name| {
        let (client, registry) = (&client, &registry);
        async move {
            client
                .versions(&address(&format!("acme/{name}")))
                .await
                .unwrap();
            let url = Url::parse(&registry.url(&format!("/files/{name}"))).unwrap();
            let mut download = client.download(&url).await.unwrap();
            let mut size = 0;
            while let Some(piece) = download.chunk().await.unwrap() {
                size += piece.len();
            }
            size
        }
    });
    let sizes = futures_util::future::join_all(jobs).await;
    assert!(sizes.iter().all(|&size| size == 100_000), "{sizes:?}");
    let files = registry.log().bytes("/files/*");
    assert!(
        files < 20 * 100_000 + 1000,
        "no package came whole more than once: {files} bytes"
    );
}
