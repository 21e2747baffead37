//! Tests of accepted files.

mod faults;
mod properties;

use super::*;
use crate::lockfile::ProviderLock;
use crate::lockfile::tests::{address, locks};
use crate::provider::{Hash, Version, VersionConstraints};
use crate::span::Explain as _;

const BOTH: [Engine; 2] = [Engine::Terraform, Engine::Tofu];

fn read(text: impl AsRef<[u8]>, engine: Engine) -> Result<LockFile, Vec<ParseError>> {
    parse(Path::new("a/.terraform.lock.hcl"), text.as_ref(), engine)
}

/// Creates a provider block with this content.
fn block(content: &str) -> String {
    format!("provider \"registry.terraform.io/acme/a\" {{\n{content}\n}}\n")
}

/// Returns each error as `LINE:COLUMN: message: cause`.
fn errors(text: impl AsRef<[u8]>, engine: Engine) -> Vec<String> {
    let errors = read(text, engine).map_or_else(|errors| errors, |_| Vec::new());
    let shown = errors.iter().map(|error| {
        let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
        let deepest = std::error::Error::source(error)
            .and_then(std::error::Error::source)
            .map(|cause| format!(": {cause}"));
        let Place { line, column, .. } = error.place;
        format!(
            "{line}:{column}: {error}{}{}",
            cause.unwrap_or_default(),
            deepest.unwrap_or_default()
        )
    });
    shown.collect()
}

#[test]
fn forms_of_a_file() {
    let expected = locks(&[("acme/a", "1.0.0", "", "h1:x=")]);
    let plain = block("  version = \"1.0.0\"\n  hashes = [\"h1:x=\"]");
    for (name, text) in [
        ("plain", plain.clone()),
        ("a byte order mark", format!("\u{feff}{plain}")),
        ("CRLF", plain.replace('\n', "\r\n")),
        ("no final newline", plain.trim_end().to_owned()),
        (
            "comments",
            format!("# a\n// b\n/* c */ {}", plain.replace("[\"", "[ # d\n\"")),
        ),
        (
            "unquoted keyword, spaces",
            plain.replace("provider ", "provider   "),
        ),
        (
            "any order",
            block("hashes = [\"h1:x=\"]\nversion = \"1.0.0\""),
        ),
        (
            "a trailing comma, a duplicate",
            block("version = \"1.0.0\"\nhashes = [\"h1:x=\", \"h1:x=\",]"),
        ),
        (
            "empty constraints",
            block("version = \"1.0.0\"\nconstraints = \"\"\nhashes = [\"h1:x=\"]"),
        ),
        (
            "a template",
            block("version = \"1.${0}.0\"\nhashes = [\"${\"h1:x=\"}\"]"),
        ),
        (
            "a conditional",
            block("version = true ? \"1.0.0\" : \"2.0.0\"\nhashes = [false ? \"\" : \"h1:x=\"]"),
        ),
        (
            "arithmetic",
            block("version = \"${2 - 1}.0.0\"\nhashes = [\"h${1 * 1}:x=\"]"),
        ),
        (
            "an index, a `for`",
            block(
                "version = [\"1.0.0\"][0]\nhashes = [[for x in [\"h1:x=\"] : x][0], {a = \"h1:x=\"}.a]",
            ),
        ),
    ] {
        let file =
            read(&text, Engine::Terraform).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
        assert_eq!(file.locks, expected, "{name}");
        assert_eq!(file.modules, None);
        assert_eq!(
            file.places.keys().collect::<Vec<_>>(),
            [&address("acme/a")],
            "{name}"
        );
    }
    let one_line = "provider \"registry.terraform.io/acme/a\" { version = \"1.0.0\" }";
    assert_eq!(
        read(one_line, Engine::Terraform).unwrap().locks,
        locks(&[("acme/a", "1.0.0", "", "")])
    );
    for empty in ["", "\u{feff}", "# only\n// comments\n", "\n\n"] {
        assert_eq!(read(empty, Engine::Tofu).unwrap(), LockFile::default());
    }
}

#[test]
fn values_are_kept_unchanged() {
    let text = block(
        "version = \"1.0.0-rc.1+x\"\nconstraints = \">= 1.0.0, < 2.0.0\"\nhashes = [\"xx:y\", \"ZH:aa\", \"zh:short\", \"h1:\", <<E\nh2:q\nE\n, \"a:\\n\\\"$${x}\"]",
    );
    let file = read(text, Engine::Terraform).unwrap();
    let lock = &file.locks.providers[&address("acme/a")];
    assert_eq!(
        (lock.version.to_string(), lock.constraints.to_string()),
        ("1.0.0-rc.1+x".into(), ">= 1.0.0, < 2.0.0".into())
    );
    let hashes: Vec<&str> = lock.hashes.iter().map(Hash::as_str).collect();
    assert_eq!(
        hashes,
        ["ZH:aa", "a:\n\"${x}", "h1:", "h2:q\n", "xx:y", "zh:short"]
    );
}

#[test]
fn blocks_have_places() {
    let text = format!(
        "# a\n{}\n{}",
        block("version = \"1.0.0\""),
        block("version = \"1.0.0\"").replace("acme/a", "acme/b")
    );
    let file = read(text, Engine::Terraform).unwrap();
    let places: Vec<String> = file.places.values().map(ToString::to_string).collect();
    assert_eq!(
        places,
        ["a/.terraform.lock.hcl:2:1", "a/.terraform.lock.hcl:6:1"]
    );
}

#[test]
fn module_blocks_are_counted() {
    let text = format!(
        "module \"x\" {{\n foo = bar()\n}}\nmodule \"y\" {{}}\n{}",
        block("version = \"1.0.0\"")
    );
    let file = read(text, Engine::Terraform).unwrap();
    let modules = file.modules.unwrap();
    let first = modules.first.to_string();
    assert_eq!(
        (first.as_str(), modules.count),
        ("a/.terraform.lock.hcl:1:1", 2)
    );
    assert_eq!(file.locks, locks(&[("acme/a", "1.0.0", "", "")]));
}

/// Without its `module` blocks, a file that is otherwise canonical is canonical.
#[test]
fn the_rest_of_a_file_with_module_blocks() {
    let locks = locks(&[("acme/a", "1.0.0", "", "h1:a"), ("acme/b", "1.0.0", "", "")]);
    let text = locks.render(Engine::Tofu);
    let block = "module \"m\" {\n  source = \"x\"\n}\n";
    let place = text.find("provider").unwrap();
    for (text, count) in [
        (format!("{text}\n{block}"), 1),
        (format!("{text}\n{block}\n{block}"), 2),
        (
            text.replacen("provider", &format!("{block}\nprovider"), 1),
            1,
        ),
        (text.replace("provider", &format!("{block}\nprovider")), 2),
        (format!("{}{block}", &text[..place]), 1),
    ] {
        let modules = read(&text, Engine::Tofu).unwrap().modules.unwrap();
        let rest = read(&*modules.rest, Engine::Tofu).unwrap();
        let canonical = rest.locks.render(Engine::Tofu);
        assert_eq!(String::from_utf8_lossy(&modules.rest), canonical);
        assert_eq!(modules.count, count);
    }
}

#[test]
fn the_header_names_the_engine_of_the_file() {
    for engine in BOTH {
        let text = Locks::default().render(engine);
        assert_eq!(read(&text, engine).unwrap().written_by, Some(engine));
        assert_eq!(
            written_by(format!("\u{feff}{}", text.replace('\n', "\r\n")).as_bytes()),
            Some(engine)
        );
        assert_eq!(written_by(format!("\n{text}").as_bytes()), None);
    }
    assert_eq!(written_by(b""), None);
    assert_eq!(
        written_by(b"# This file is maintained automatically by \"nobody init\"."),
        None
    );
}
