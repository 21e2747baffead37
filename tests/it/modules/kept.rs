//! What later runs use from the cache: immutable packages are used again, branches and tags are looked up.

use std::fs;

use serde_json::json;
use tflock_test_support::{
    Document, FakeRegistry, Misbehave, RawEntry, RawZip, Response, assert_contains,
};

use super::ModuleSite;
use super::git::ModuleRepository;

/// Returns how many runs of git listed references and how many fetched, since the last call.
fn git_runs(site: &ModuleSite) -> (usize, usize) {
    let runs = site.git_runs();
    let count = |command: &str| runs.iter().filter(|run| run.contains(command)).count();
    let counts = (count("ls-remote"), count("clone") + count(" fetch "));
    fs::remove_file(site.home.path().join("git.log")).ok();
    counts
}

#[test]
fn branches_and_tags_are_looked_up_and_commits_are_not() {
    let repository = ModuleRepository::create();
    let first = repository.write("main.tf", "first").commit();
    repository.git("tag --annotate --message=x v1");
    let url = repository.url();
    let sources = [
        (format!("{url}?ref={first}"), (0, 0)),
        (format!("{url}?ref=v1"), (1, 0)),
        (format!("{url}?ref=main"), (1, 0)),
        (url.clone(), (1, 0)),
        (format!("{url}?ref={}", &first[..8]), (1, 0)),
    ];
    let mut site = ModuleSite::start();
    for (source, again) in &sources {
        site.run_again(false);
        assert_eq!(site.text(source), "first", "{source}");
        git_runs(&site);
        site.run_again(false);
        assert_eq!(site.text(source), "first", "{source}");
        assert_eq!(git_runs(&site), *again, "{source}");
    }
    repository.write("main.tf", "second").commit();
    let expected = ["first", "first", "second", "second", "first"];
    for ((source, _), expected) in sources.iter().zip(expected) {
        site.run_again(false);
        assert_eq!(site.text(source), expected, "{source}");
    }
}

#[test]
fn without_a_network_the_cached_commit_is_used() {
    let repository = ModuleRepository::create();
    repository.write("main.tf", "first").commit();
    let mut site = ModuleSite::start();
    site.run_again(false);
    assert_eq!(site.text(&repository.url()), "first");
    repository.write("main.tf", "second").commit();
    site.run_again(true);
    git_runs(&site);
    assert_eq!(site.text(&repository.url()), "first");
    assert_eq!(git_runs(&site), (0, 0));
}

#[test]
fn damaged_packages_are_fetched_again() {
    let repository = ModuleRepository::create();
    let commit = repository.write("main.tf", "first").commit();
    let source = format!("{}?ref={commit}", repository.url());
    let mut site = ModuleSite::start();
    site.run_again(false);
    let kept = site.fetch(&source, None).unwrap();
    let real = fs::canonicalize(site.home.path().join("cache")).unwrap();
    assert!(kept.starts_with(real), "{}", kept.display());
    for damage in ["", "first and more"] {
        fs::write(kept.join("main.tf"), damage).unwrap();
        git_runs(&site);
        site.run_again(false);
        assert_eq!(site.text(&source), "first", "{damage}");
        assert_eq!(git_runs(&site), (0, 1), "{damage}");
    }
    fs::write(kept.join("other.tf"), "").unwrap();
    site.run_again(false);
    assert_eq!(site.text(&source), "first");
    assert!(!kept.join("other.tf").exists());
}

#[test]
fn links_are_checked_again() {
    let repository = ModuleRepository::create();
    repository.write("main.tf", "x");
    let commit = repository.commit();
    let source = format!("{}?ref={commit}", repository.url());
    let mut site = ModuleSite::start();
    site.run_again(false);
    let kept = site.fetch(&source, None).unwrap();
    fs::remove_file(kept.join("main.tf")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", kept.join("main.tf")).unwrap();
    site.run_again(false);
    assert_eq!(site.text(&source), "x");
}

#[test]
fn archives_are_kept_by_their_checksum() {
    let mut site = ModuleSite::start();
    let bytes = RawZip::of([RawEntry::stored("main.tf", "x")]).to_bytes();
    let sum = tflock_test_support::sha256_hex(&bytes);
    site.registry.serve("/m.zip", Document::octets(bytes));
    let url = site.registry.url("/m.zip");
    let source = format!("{url}?checksum=sha256:{sum}");
    for _ in 0..2 {
        site.run_again(false);
        assert_eq!(site.text(&source), "x");
    }
    assert_eq!(site.registry.log().count("GET", "/m.zip"), 1);
}

/// Creates a site with one version of the module `modules.test/acme/dns/any`, whose `main.tf` contains the version.
fn with_module() -> ModuleSite {
    let registry = FakeRegistry::start();
    let text = format!(
        "host \"modules.test\" {{\n  services = {{\n    \"modules.v1\" = \"{}\"\n  }}\n}}\n",
        registry.url("/modules/")
    );
    let list = json!({"modules": [{"versions": [{"version": "1.0.0"}, {"version": "1.1.0"}]}]});
    registry.serve("/modules/acme/dns/any/versions", Document::json(&list));
    for version in ["1.0.0", "1.1.0"] {
        let archive = format!("/files/{version}.zip");
        let zip = RawZip::of([RawEntry::stored("main.tf", version)]);
        registry.serve(&archive, Document::octets(zip.to_bytes()));
        let answer = Response::status(204).body("");
        let answer = answer.with("X-Terraform-Get", &archive);
        let path = format!("/modules/acme/dns/any/{version}/download");
        registry.misbehave(Misbehave::on(&path).respond(answer));
    }
    ModuleSite::with_cli_config(registry, &text)
}

#[test]
fn versions_of_registries_are_kept() {
    let mut site = with_module();
    let source = "modules.test/acme/dns/any";
    for (versions, expected) in [
        ("1.0.0", &[][..]),
        ("~> 1.0", &["/modules/acme/dns/any/versions"]),
    ] {
        site.run_again(false);
        let first = site.fetch(source, Some(versions)).unwrap();
        let before = site.registry.log().hits().len();
        site.run_again(false);
        assert_eq!(site.fetch(source, Some(versions)).unwrap(), first);
        let requested: Vec<String> = site.registry.log().hits()[before..]
            .iter()
            .map(|hit| hit.request.path.clone())
            .collect();
        assert_eq!(requested, expected, "{versions}");
    }
}

#[test]
fn without_a_network_the_cached_list_is_used() {
    let mut site = with_module();
    let source = "modules.test/acme/dns/any";
    site.run_again(false);
    let first = site.fetch(source, Some("~> 1.0")).unwrap();
    let before = site.registry.log().hits().len();
    site.run_again(true);
    assert_eq!(site.fetch(source, Some("~> 1.0")).unwrap(), first);
    let missing = site.fetch(source, Some("1.0.0")).unwrap_err();
    assert_contains(&missing, "offline");
    assert_eq!(site.registry.log().hits().len(), before);
}
