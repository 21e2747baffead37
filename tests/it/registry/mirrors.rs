//! Network mirrors over TLS, and package sources with several installation methods.

use std::path::Path;

use serde_json::{Value, json};
use tflock::cli_config::Builder;
use tflock::provider::{Digest, Engine, Hash, PackageId, Platform};
use tflock::registry::{
    LocalPackage, MirrorHashError, MirrorPackage, NetworkMirror, PackageLocation, PackageSource,
    RegistryClient, RegistryError,
};
use tflock::span::Explain as _;
use tflock_test_support::{Document, FakeRegistry, Misbehave, TlsRegistry, assert_contains, table};

use super::{
    Waits, address, client, configure, linux, outcome, package_id, redirect, set_token, trusting,
};

const INDEX: &str = "/mirror/registry.terraform.io/acme/ledger/index.json";
const ARCHIVES: &str = "/mirror/registry.terraform.io/acme/ledger/1.0.0.json";

/// Starts a mirror with one package.
fn start() -> TlsRegistry {
    let site = TlsRegistry::start();
    let versions = json!({"1.0.0": {}, "v2": {}, "1.0": {}, "1.1.0-rc1": {"x": 1}});
    serve(&site, INDEX, &json!({ "versions": versions }));
    serve(&site, ARCHIVES, &archives("x.zip"));
    site
}

fn serve(site: &TlsRegistry, path: &str, value: &Value) {
    site.registry.serve(path, Document::json(value));
}

fn base(site: &TlsRegistry) -> String {
    format!("https://{}/mirror/", site.host)
}

fn client_of(site: &TlsRegistry) -> RegistryClient {
    client(trusting(&site.authority, &Waits::default()))
}

fn mirror(site: &TlsRegistry) -> NetworkMirror {
    NetworkMirror::new(client_of(site), &base(site), None).unwrap()
}

/// Requests the versions and then the package. Returns both results.
async fn versions_and_package(site: &TlsRegistry) -> (String, String) {
    let versions = mirror(site).versions(&address("acme/ledger")).await;
    (outcome(versions), outcome(package(site).await))
}

async fn package(site: &TlsRegistry) -> Result<MirrorPackage, RegistryError> {
    let id = package_id("acme/ledger", linux());
    mirror(site).package(&id).await
}

fn archives(url: &str) -> Value {
    json!({"archives": {"linux_amd64": {"url": url, "hashes": ["h1:x", "zh:y"]}, "darwin_arm64": null, "odd": {}}})
}

#[tokio::test]
async fn the_protocol() {
    let site = start();
    let mirror = mirror(&site);
    let provider = address("acme/ledger");
    let available = mirror.versions(&provider).await.unwrap();
    let versions: Vec<_> = available.versions().map(ToString::to_string).collect();
    assert_eq!(versions, ["1.0.0", "1.1.0-rc1"]);
    assert_eq!(available.invalid, ["v2"]);
    let id = package_id("acme/ledger", linux());
    let package = mirror.package(&id).await.unwrap();
    let expected = format!("{}registry.terraform.io/acme/ledger/x.zip", base(&site));
    assert_eq!(package.url.as_str(), expected);
    let hashes: Vec<_> = package.hashes.iter().map(Hash::as_str).collect();
    assert_eq!(hashes, ["h1:x", "zh:y"]);
    let platform = Platform::parse("darwin_arm64").unwrap();
    let darwin = PackageId { platform, ..id };
    let error = mirror.package(&darwin).await.unwrap_err();
    assert_contains(&error.hint().unwrap(), "published only for linux_amd64");
    let hits = site.registry.log().hits();
    assert_eq!(hits.len(), 2, "each document is requested once");
    for hit in hits {
        assert_eq!(hit.request.header("x-terraform-version"), Some("1.15.9"));
    }
}

#[tokio::test]
async fn hosts_are_written_in_ascii_with_their_port() {
    let site = start();
    let index = json!({"versions": {"1.0.0": {}}});
    let path = "/mirror/xn--bcher-kva.test:8080/acme/ledger/index.json";
    serve(&site, path, &index);
    let provider = address("bücher.test:8080/acme/ledger");
    assert_eq!(outcome(mirror(&site).versions(&provider).await), "ok");
}

#[tokio::test]
async fn base_urls() {
    let site = start();
    let provider = address("acme/ledger");
    let origin = format!("https://{}", site.host);
    let plain = site.registry.url("");
    for [base, expected] in table(
        "
        ORIGIN/mirror/        | ok
        ORIGIN/mirror/x       | ok
        ORIGIN/mirror/?a=b#c  | ok
        ORIGIN/mirror         | does not have provider
        PLAIN/mirror/         | it does not begin with `https://`
        mirror                | it is not a valid URL
        ",
    ) {
        let base = base.replace("ORIGIN", &origin).replace("PLAIN", &plain);
        let found = match NetworkMirror::new(client_of(&site), &base, None) {
            Ok(mirror) => outcome(mirror.versions(&provider).await),
            Err(error) => error.to_string(),
        };
        assert!(found.contains(expected), "{base}: {found}");
    }
}

#[tokio::test]
async fn statuses() {
    for [status, index, archives, requests] in table(
        "
        404 | mirror `https://localhost: | cannot list the archives of `registry.terraform.io/acme/ledger` 1.0.0 | 1
        401 | host `localhost:           | requires credentials      | 1
        403 | host `localhost:           | requires credentials      | 1
        429 | 429 Too Many Requests      | 429 Too Many Requests     | 4
        500 | 500 Internal Server Error  | 500 Internal Server Error | 4
        501 | 501 Not Implemented        | 501 Not Implemented       | 1
        204 | 204 No Content             | 204 No Content            | 1
        ",
    ) {
        let requests: usize = requests.parse().unwrap();
        let site = start();
        site.registry
            .misbehave(Misbehave::on("/mirror/*").status(status.parse().unwrap()));
        let (versions, package) = versions_and_package(&site).await;
        assert!(versions.contains(index), "{status}: {versions}");
        assert!(package.contains(archives), "{status}: {package}");
        assert_eq!(site.registry.log().total(), 2 * requests, "{status}");
    }
}

#[tokio::test]
async fn content_types_and_bodies() {
    for [content_type, body, expected] in table(
        r#"
        application/json; x=y | {"versions": {}}                   | ok
        text/json             | {"versions": {}}                   | the content type is `text/json`
                              | {"versions": {}}                   | the content type is ``
        application/json      | {"Versions":{"1.0.0":null}} text   | ok
        application/json      | {"versions":null}                  | ok
        application/json      | {}                                 | ok
        application/json      | {"versions":["1.0.0"]}             | the response does not follow the protocol
        application/json      | {"versions":{"1.0.0":5}}           | the response does not follow the protocol
        application/json      | nonsense                           | the response does not follow the protocol
        "#,
    ) {
        let document = Document::new(content_type, tflock_test_support::ResponseBody::bytes(body));
        let site = start();
        site.registry.serve(INDEX, document);
        let (found, _) = versions_and_package(&site).await;
        assert!(found.contains(expected), "{content_type} {body}: {found}");
    }
    let linux = |archive: Value| json!({"archives": {"linux_amd64": archive}});
    let wrong_hash = linux(json!({"url": "x", "hashes": ["nothing"]}));
    let no_address = "its `url` is not an http or https address";
    let no_package = "has no package for `linux_amd64`";
    for (value, expected) in [
        (archives("http://h.test/x.zip"), "ok"),
        (archives("ftp://h.test/x.zip"), no_address),
        (wrong_hash, "`nothing` is not a valid hash"),
        (linux(json!({"url": "x"})), "ok"),
        (linux(Value::Null), no_package),
        (json!({"archives": null}), no_package),
    ] {
        let site = start();
        serve(&site, ARCHIVES, &value);
        let (_, found) = versions_and_package(&site).await;
        assert!(found.contains(expected), "{value}: {found}");
    }
}

#[tokio::test]
async fn five_redirects_move_the_base_and_a_sixth_is_too_many() {
    for (length, expected) in [(5, "ok"), (6, "more than 5 redirects")] {
        let site = start();
        redirect(&site.registry, length, ARCHIVES, "/moved/doc.json");
        serve(&site, "/moved/doc.json", &archives("x.zip"));
        let found = package(&site).await;
        match &found {
            Ok(package) => assert_eq!(package.url.path(), "/moved/x.zip"),
            Err(_) => assert_eq!(length, 6),
        }
        assert!(outcome(found).ends_with(expected));
    }
}

#[tokio::test]
async fn tokens_depend_on_the_host_of_the_mirror() {
    let site = start();
    let elsewhere = start();
    serve(&elsewhere, "/away.json", &archives("x.zip"));
    let mut settings = trusting(&site.authority, &Waits::default());
    set_token(&mut settings, &site.host, "secret");
    set_token(&mut settings, "registry.terraform.io", "wrong");
    let plain = elsewhere.registry.url("/away.json");
    site.registry
        .misbehave(Misbehave::on(ARCHIVES).redirect(&plain));
    let mirror = NetworkMirror::new(client(settings), &base(&site), None).unwrap();
    mirror.versions(&address("acme/ledger")).await.unwrap();
    let id = package_id("acme/ledger", linux());
    mirror.package(&id).await.unwrap();
    let hits = site.registry.log().hits();
    for hit in hits {
        assert_eq!(hit.request.header("authorization"), Some("Bearer secret"));
    }
    let away = &elsewhere.registry.log().hits()[0];
    assert_eq!(away.request.header("authorization"), None);
}

#[tokio::test]
async fn hashes_vouch_for_a_package_if_one_matches() {
    let digest = Digest::new([7; 32]);
    let (zh, h1) = (Hash::zh(digest), Hash::h1(digest));
    let (zh, h1) = (zh.as_str(), h1.as_str());
    let rows: &[(&[&str], &str)] = &[
        (&[], ""),
        (&[zh], zh),
        (&[h1], h1),
        (&["h1:wrong", zh], zh),
        (&["zh:wrong", h1, "x:y"], h1),
        (&["zh:wrong"], "mismatch"),
        (&["h2:x", "ZH:y"], "unknown schemes"),
    ];
    for (hashes, expected) in rows {
        let site = start();
        let archive = json!({"url": "x", "hashes": hashes});
        serve(
            &site,
            ARCHIVES,
            &json!({"archives": {"linux_amd64": archive}}),
        );
        let package = package(&site).await.unwrap();
        let checked = package.check(digest, Some(&Hash::parse(h1).unwrap()));
        let found = match &checked {
            Ok(matching) => {
                let hashes: Vec<_> = matching.iter().map(Hash::as_str).collect();
                hashes.join(" ")
            }
            Err(MirrorHashError::UnknownSchemes(_)) => "unknown schemes".to_owned(),
            Err(MirrorHashError::Mismatch(_)) => "mismatch".to_owned(),
        };
        assert_eq!(found, *expected, "{hashes:?}");
    }
}

/// Builds a source from the text of a `provider_installation` block.
fn source(client: &RegistryClient, block: &str) -> PackageSource {
    let mut builder = Builder::default();
    builder.add(
        Path::new("test.tfrc"),
        format!("provider_installation {{\n{block}\n}}").as_bytes(),
    );
    let (config, errors) = builder.finish();
    assert!(errors.is_empty(), "{errors:?}");
    PackageSource::configured(client, &config.provider_installation.unwrap()).unwrap()
}

/// Creates a directory with these unpacked packages, given as `ADDRESS/VERSION/PLATFORM`.
fn directory(packages: &[&str]) -> tempfile::TempDir {
    let base = tempfile::tempdir().unwrap();
    for package in packages {
        std::fs::create_dir_all(base.path().join(package)).unwrap();
    }
    base
}

/// Returns the versions, or the error.
async fn versions(source: &PackageSource, provider: &str) -> String {
    match source.versions(&address(provider)).await {
        Ok(available) => {
            let mut versions: Vec<_> = available.versions().map(ToString::to_string).collect();
            versions.sort();
            versions.join(" ")
        }
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn methods_are_used_in_order_and_their_versions_united() {
    let site = start();
    let first = directory(&[
        "registry.terraform.io/acme/ledger/1.0.0/linux_amd64",
        "registry.terraform.io/acme/ledger/0.9.0/linux_amd64",
    ]);
    let second = directory(&[
        "registry.terraform.io/acme/ledger/1.0.0/linux_amd64",
        "registry.terraform.io/acme/ledger/1.0.0/darwin_arm64",
    ]);
    let block = format!(
        "filesystem_mirror {{ path = \"{}\" }}\nnetwork_mirror {{ url = \"{}\" }}\nfilesystem_mirror {{ path = \"{}\" exclude = [\"acme/anvil\"] }}",
        first.path().display(),
        base(&site),
        second.path().display()
    );
    let client = client_of(&site);
    let source = source(&client, &block);
    let found = versions(&source, "acme/ledger").await;
    assert_eq!(found, "0.9.0 1.0.0 1.1.0-rc1");
    let missing = versions(&source, "acme/anvil").await;
    let expected = "no source has provider `registry.terraform.io/acme/anvil`: searched `";
    assert_contains(&missing, expected);
    let excluded = second.path().display().to_string();
    assert!(!missing.contains(&excluded), "{missing}");
    let locate = async |platform: &str| {
        let id = package_id("acme/ledger", Platform::parse(platform).unwrap());
        source.locate(&id).await
    };
    let Ok(PackageLocation::Local(LocalPackage::Directory(path))) = locate("linux_amd64").await
    else {
        panic!("the package must come from the first method");
    };
    assert!(path.starts_with(first.path()));
    let Ok(PackageLocation::Local(LocalPackage::Directory(path))) = locate("darwin_arm64").await
    else {
        panic!("the package must come from the last method");
    };
    assert!(path.starts_with(second.path()));
    assert!(outcome(locate("windows_386").await).contains("has no package for `windows_386`"));
}

#[tokio::test]
async fn nothing_falls_through_to_an_excluded_registry() {
    let site = start();
    let client = client_of(&site);
    for [block, expected] in table(
        r#"
            direct { exclude = ["acme/*"] }  | no installation method in `provider_installation` includes provider
            direct { include = ["other/*"] } | no installation method in `provider_installation` includes provider
                                             | no installation method in `provider_installation` includes provider
        "#,
    ) {
        let source = source(&client, block);
        let found = versions(&source, "acme/ledger").await;
        assert!(found.contains(expected), "{block}: {found}");
    }
    assert_eq!(site.registry.log().total(), 0);
}

#[tokio::test]
async fn a_failing_method_is_an_error() {
    let site = start();
    site.registry.misbehave(Misbehave::on(INDEX).status(410));
    let empty = directory(&["registry.terraform.io/acme/ledger/1.0.0/linux_amd64"]);
    let block = format!(
        "network_mirror {{ url = \"{}\" }}\nfilesystem_mirror {{ path = \"{}\" }}",
        base(&site),
        empty.path().display()
    );
    let source = source(&client_of(&site), &block);
    let error = source.versions(&address("acme/ledger")).await.unwrap_err();
    assert_eq!(error.place().unwrap().line, 2, "the failing method");
    assert!(outcome::<()>(Err(error)).contains("410 Gone"));
}

#[tokio::test]
async fn implied_directories_come_before_the_registry() {
    let registry = FakeRegistry::start();
    let list = json!({"versions": [{"version": "5.0.0"}]});
    for name in ["ledger", "anvil"] {
        registry.serve(&format!("/r/acme/{name}/versions"), Document::json(&list));
    }
    let mut settings = super::settings(&Waits::default());
    let service = registry.url("/r/");
    configure(
        &mut settings,
        &format!(
            "host \"registry.terraform.io\" {{ services {{ providers.v1 = \"{service}\" }} }}"
        ),
    );
    let local = directory(&["registry.terraform.io/acme/ledger/1.0.0/linux_amd64"]);
    let directories = ["/nonexistent".into(), local.path().to_path_buf()];
    let source = PackageSource::implied(client(settings), directories);
    assert_eq!(versions(&source, "acme/ledger").await, "1.0.0");
    assert_eq!(versions(&source, "acme/anvil").await, "5.0.0");
    assert_eq!(registry.log().total(), 1);
}

#[tokio::test]
async fn one_directory_or_one_mirror_can_be_the_only_source() {
    let site = start();
    let local = directory(&["registry.terraform.io/acme/ledger/1.0.0/linux_amd64"]);
    let source = PackageSource::filesystem(Engine::Terraform, local.path());
    assert_eq!(versions(&source, "acme/ledger").await, "1.0.0");
    assert_eq!(versions(&source, "acme/anvil").await, "", "no version fits");
    let source = PackageSource::filesystem(Engine::Terraform, local.path().join("missing"));
    assert_contains(&versions(&source, "acme/ledger").await, "cannot search `");
    let source = PackageSource::network(client_of(&site), &base(&site)).unwrap();
    assert_eq!(versions(&source, "acme/ledger").await, "1.0.0 1.1.0-rc1");
    assert_contains(&versions(&source, "acme/anvil").await, "mirror `https://");
}
