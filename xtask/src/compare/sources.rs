//! Random addresses of providers and modules.

use super::case::GeneratedCase;
use super::random::Random;
use super::source_text::{CaseFile, Literal, Node, json_string};

const LABELS: [&str; 8] = [
    "acme",
    "hashicorp",
    "t",
    "one",
    "p-q",
    "a1",
    "1x",
    "terraform",
];
const ODD_LABELS: [&str; 32] = [
    "",
    "-",
    "_",
    "p_q",
    "P",
    "ACME",
    "é",
    "É",
    "e\u{301}",
    "ｐ",
    "p--q",
    "-p",
    "p-",
    "p.q",
    "p q",
    " p",
    "p ",
    "terraform-p",
    "terraform-provider-p",
    "xn--caf-dma",
    "xn--dma",
    "builtin",
    "ß",
    "ǆ",
    "a\u{200d}b",
    "٠",
    "provider-p",
    "Terraform-Provider-p",
    "terraform-",
    "日本",
    "p\t",
    "İ",
];
const HOSTS: [&str; 6] = [
    "registry.terraform.io",
    "registry.opentofu.org",
    "example.com",
    "terraform.io",
    "opentofu.org",
    "example.com:8443",
];
const ODD_HOSTS: [&str; 29] = [
    "Registry.Terraform.IO",
    "registry.terraform.io:443",
    "example.com:0443",
    "example.com:08443",
    "localhost",
    "localhost:80",
    "127.0.0.1",
    "[::1]",
    "h",
    "a..b",
    ".example.com",
    "example.com.",
    "example.com:",
    "example.com:x",
    "example.com:99999",
    "example.com:65535",
    "example.com:0",
    "bücher.example",
    "BÜCHER.example",
    "xn--bcher-kva.example",
    "ß.example",
    "a_b.example",
    "-a.example",
    "https:",
    "example.com:443:1",
    "日本.example",
    "github.com",
    "example．com",
    "a.b.c.d.e.f",
];

/// Returns the source address of a provider.
pub(super) fn provider(random: &mut Random, odd: usize) -> String {
    let mut parts = Vec::new();
    let count = random.pick_odd(&[1, 2, 2, 2, 3, 3], odd / 3, &[0, 4]);
    if count >= 3 {
        parts.push(random.pick_odd(&HOSTS, odd, &ODD_HOSTS));
    }
    while parts.len() < count {
        parts.push(random.pick_odd(&LABELS, odd, &ODD_LABELS));
    }
    let mut text = parts.join("/");
    if random.chance(odd / 5) {
        text.push_str(random.pick(&["/", "//", " ", "\n", "?x", "//sub"]));
    }
    if random.chance(odd / 8) {
        text.insert_str(0, random.pick(&["/", " ", "./", "https://", "-/"]));
    }
    text
}

const MODULE_SOURCES: [&str; 43] = [
    "acme/net/any",
    "example.com/acme/net/any",
    "registry.terraform.io/acme/net/any",
    "Acme/Net/any",
    "acme/net/any//sub",
    "acme/net/any//sub/../x",
    "acme/net/any//../x",
    "example.com:8443/a/b/c",
    "github.com/o/r",
    "github.com/o/r//sub",
    "github.com/o/r.git",
    "github.com/o/r?ref=v1",
    "github.com/o/r//sub?ref=v1",
    "git@github.com:o/r.git",
    "git@github.com:o/r.git//sub?ref=x",
    "git::https://example.com/r.git",
    "git::https://example.com/r.git//a/b",
    "git::/srv/r",
    "git::ssh://git@example.com/r.git",
    "git::git@example.com:r.git",
    "git::file:///srv/r",
    "https://example.com/m.zip",
    "https://example.com/m.zip//sub",
    "https://example.com/m",
    "https://example.com/m?archive=zip",
    "http://example.com/m.tar.gz//x?checksum=md5:0",
    "s3::https://s3.amazonaws.com/b/k.zip",
    "s3-eu-west-1.amazonaws.com/b/k.zip",
    "gcs::https://www.googleapis.com/storage/v1/b/k",
    "hg::https://example.com/r",
    "gitlab.com/o/r",
    "gitlab.com/o/r.git//s",
    "/srv/module",
    "/srv/module//sub",
    "file:///srv/m",
    "./m",
    ".\\m",
    "m",
    ".",
    "..",
    "a/b",
    "a/b/c/d/e",
    "HTTPS://example.com/m.zip",
];
const ENDS: [&str; 24] = [
    "",
    "/",
    "//",
    "//a",
    "//a/../b",
    "//../b",
    "//a/../../b",
    "///a",
    "//./a",
    "?ref=v1",
    "?ref=v1&depth=1",
    "?archive=zip",
    "?",
    "#x",
    " ",
    "//a//b",
    ".git",
    ".git//a",
    "//*",
    "//a?ref=x",
    "?ref=%20",
    "%20",
    "é",
    "//..a",
];
const STARTS: [&str; 12] = [
    "git::",
    "GIT::",
    "s3::",
    "x::",
    "::",
    " ",
    "https://",
    "//",
    "git::https://",
    "file://",
    "http::",
    "git::git::",
];

/// Returns the source address of a module.
fn module(random: &mut Random) -> String {
    let mut text = random.pick(&MODULE_SOURCES).to_owned();
    if random.chance(45) {
        text.push_str(random.pick(&ENDS));
    }
    if random.chance(12) {
        text.insert_str(0, random.pick(&STARTS));
    }
    if random.chance(8) {
        text = text.to_uppercase();
    }
    text
}

/// Creates a root module with one provider address, or with one recorded module address.
pub(super) fn generate(random: &mut Random) -> GeneratedCase {
    if random.chance(45) {
        recorded_module(random)
    } else {
        addressed_providers(random)
    }
}

fn addressed_providers(random: &mut Random) -> GeneratedCase {
    let odd = random.pick(&[5, 20, 40]);
    let mut entries = Vec::new();
    for name in ["a", "b", "c"]
        .into_iter()
        .take(random.pick(&[1, 1, 1, 2, 3]))
    {
        let source = Literal::text(provider(random, odd));
        let object = Literal::Object(vec![("source".to_owned(), source)]);
        entries.push(Node::argument(name, object));
    }
    let block = Node::block("required_providers", &[], entries);
    let nodes = vec![Node::block("terraform", &[], vec![block])];
    let path = random.pick_odd(&["main.tf"], 20, &["main.tf.json"]);
    GeneratedCase::new(vec![CaseFile::new(path, nodes)])
}

/// Creates a module call and an entry for it in the module manifest. The tools accept the entry only if both addresses have the same
/// normal form.
fn recorded_module(random: &mut Random) -> GeneratedCase {
    let mut source = module(random);
    let is_local = ["./", "../", ".\\", "..\\"]
        .iter()
        .any(|start| source.starts_with(start));
    if is_local {
        // tflock does not look up local modules in the manifest.
        source = random.pick(&["./m", ".\\m", "./x/../m"]).to_owned();
    }
    let recorded = match random.below(10) {
        _ if is_local => source.clone(),
        0 => source.to_lowercase(),
        1 => format!("git::{source}"),
        2 => format!("registry.terraform.io/{source}"),
        3 => source.replace("//sub", ""),
        _ => source.clone(),
    };
    let call = Node::argument("source", Literal::text(source));
    let main = CaseFile::new("main.tf", vec![Node::block("module", &["m"], vec![call])]);
    let data = Node::block("data", &["acme_x", "y"], Vec::new());
    let child = CaseFile::new("m/main.tf", vec![data]);
    let manifest = format!(
        "{{\"Modules\":[{{\"Key\":\"\",\"Source\":\"\",\"Dir\":\".\"}},{{\"Key\":\"m\",\"Source\":{},\"Dir\":\"m\"{}}}]}}\n",
        json_string(&recorded),
        random.pick(&["", "", ",\"Version\":\"1.0.0\""]),
    );
    let manifest = CaseFile::of_lines(".terraform/modules/modules.json", &manifest);
    GeneratedCase::new(vec![main, child, manifest])
}
