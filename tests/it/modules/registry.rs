//! Modules from registries.

use serde_json::{Value, json};
use tflock_test_support::{Document, FakeRegistry, Misbehave, RawEntry, RawZip, Response, table};

use super::ModuleSite;

/// Creates a site with a registry for the host `modules.test`, and a token for it.
fn start() -> ModuleSite {
    let registry = FakeRegistry::start();
    let text = r#"
        host "modules.test" {
          services = { "modules.v1" = "URL" }
        }
        host "empty.test" {
          services = {}
        }
        credentials "modules.test" {
          token = "secret"
        }
    "#;
    let text = text.replace("URL", &registry.url("/modules/"));
    ModuleSite::with_cli_config(registry, &text)
}

fn list(site: &ModuleSite, module: &str, versions: &[&str]) {
    let versions = versions.iter().map(|version| json!({"version": version}));
    let list = json!({"modules": [{"versions": versions.collect::<Vec<Value>>()}]});
    let path = format!("/modules/{module}/versions");
    site.registry.serve(&path, Document::json(&list));
}

/// Sets the response to a request for the location of a module version.
fn locate(site: &ModuleSite, module: &str, version: &str, answer: Response) {
    let path = format!("/modules/{module}/{version}/download");
    site.registry
        .misbehave(Misbehave::on(&path).respond(answer));
}

fn no_content(location: &str) -> Response {
    Response::status(204)
        .body("")
        .with("X-Terraform-Get", location)
}

fn serve_zip(site: &ModuleSite, path: &str, text: &str) {
    let bytes = RawZip::of([
        RawEntry::stored("main.tf", text),
        RawEntry::stored("sub/main.tf", "sub"),
    ]);
    site.registry
        .serve(path, Document::octets(bytes.to_bytes()));
}

#[test]
fn versions_are_selected_and_requested_once() {
    let site = start();
    let versions = ["1.0.0", "1.2.0", "2.0.0-rc1", "v1.1", "x"];
    list(&site, "acme/dns/any", &versions);
    for version in ["1.0.0", "1.1.0", "1.2.0", "2.0.0-rc1"] {
        let path = format!("/files/{version}.zip");
        serve_zip(&site, &path, version);
        locate(&site, "acme/dns/any", version, no_content(&path));
    }
    for (constraints, expected) in [
        (None, "1.2.0"),
        (Some("~> 1.0.0"), "1.0.0"),
        (Some("< 1.2"), "1.1.0"),
        (Some("2.0.0-rc1"), "2.0.0-rc1"),
        (Some(">= 1.0, != 1.2"), "1.1.0"),
        (Some("~> 1.0"), "1.2.0"),
    ] {
        let directory = site.fetch("modules.test/acme/dns/any", constraints);
        let directory = directory.unwrap();
        let text = std::fs::read_to_string(directory.join("main.tf")).unwrap();
        assert_eq!(text, expected, "{constraints:?}");
    }
    let sub = site.fetch("modules.test/acme/dns/any//sub", None).unwrap();
    assert_eq!(std::fs::read_to_string(sub.join("main.tf")).unwrap(), "sub");
    let none = site.fetch("modules.test/acme/dns/any", Some("> 3"));
    let expected = "module `modules.test/acme/dns/any` has no version that `> 3` allows";
    assert_eq!(none.unwrap_err(), expected);
    let log = site.registry.log();
    assert_eq!(log.count("GET", "/modules/acme/dns/any/versions"), 1);
    for (path, count) in log.counts("*") {
        assert_eq!(count, 1, "{path}");
    }
}

#[test]
fn locations() {
    let site = start();
    serve_zip(&site, "/files/m.zip", "x");
    serve_zip(&site, "/modules/acme/near/any/m.zip", "near");
    let full = site.registry.url("/files/m.zip");
    let body = Response::status(200).body(json!({"location": full}).to_string());
    let empty = Response::status(200)
        .body("{}")
        .with("X-Terraform-Get", "/files/m.zip");
    let nowhere = Response::status(204).body("");
    let odd = no_content("s3::https://b.s3.amazonaws.com/m.zip");
    let rows = [
        ("absolute", no_content(&full), "x"),
        ("rooted", no_content("/files/m.zip"), "x"),
        ("near", no_content("../m.zip"), "near"),
        ("inner", no_content("/files/m.zip//sub"), "sub"),
        ("body", body, "x"),
        ("header", empty, "x"),
        ("nowhere", nowhere, "gives no download location for module"),
        (
            "gone",
            Response::status(404),
            "the server responded with 404",
        ),
        (
            "broken",
            Response::status(501),
            "the server responded with 501",
        ),
        ("odd", odd, "its host does not name a region"),
    ];
    for (name, answer, expected) in rows {
        let module = format!("acme/{name}/any");
        list(&site, &module, &["1.0.0"]);
        locate(&site, &module, "1.0.0", answer);
        let found = site.text(&format!("modules.test/{module}"));
        assert!(found.contains(expected), "{name}: {found}");
    }
}

#[test]
fn refusals() {
    let site = start();
    list(&site, "acme/none/any", &[]);
    let hollow = Document::json(&json!({"modules": []}));
    site.registry
        .serve("/modules/acme/hollow/any/versions", hollow);
    site.registry
        .misbehave(Misbehave::on("/modules/acme/denied/*").respond(Response::status(401)));
    for [source, expected] in table(
        "
            modules.test/acme/unknown/any | registry `modules.test` has no module
            modules.test/acme/hollow/any  | registry `modules.test` has no module
            modules.test/acme/none/any    | has no version that a call without `version` allows
            modules.test/acme/denied/any  | rejected the credentials
            empty.test/acme/dns/any       | host `empty.test` does not offer a module registry
        ",
    ) {
        let found = site.text(source);
        assert!(found.contains(expected), "{source}: {found}");
        assert_eq!(site.text(source), found);
    }
    let log = site.registry.log();
    assert_eq!(log.count("GET", "/modules/acme/unknown/any/versions"), 1);
}

#[test]
fn the_hosts_token_goes_to_its_registry_only() {
    let site = start();
    list(&site, "acme/dns/any", &["1.0.0"]);
    locate(&site, "acme/dns/any", "1.0.0", no_content("/files/m.zip"));
    serve_zip(&site, "/files/m.zip", "x");
    assert_eq!(site.text("modules.test/acme/dns/any"), "x");
    for hit in site.registry.log().hits() {
        let token = hit.request.header("authorization");
        let path = &hit.request.path;
        let expected = path.starts_with("/modules/").then_some("Bearer secret");
        assert_eq!(token, expected, "{path}");
    }
}
